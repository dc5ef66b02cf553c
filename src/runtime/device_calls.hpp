// The device entries of the runtime ABI (lower/abi.hpp says what each does).
#pragma once

#include <cstdint>

#include "lower/abi.hpp"

namespace sdfg::runtime {

// None lets an exception out.
struct DeviceCalls {
  using sdfg_call = lower::CallState;
  using sdfg_copy = lower::DeviceCopy;
  using sdfg_launch = lower::DeviceLaunch;
  static std::int32_t device_begin(sdfg_call* call);
  static void* device_allocate(sdfg_call* call, std::int32_t stream, std::int64_t bytes, std::int32_t ordinal);
  static void device_release(sdfg_call* call, std::int32_t stream, void* memory);
  static void* device_persistent(sdfg_call* call, std::int32_t ordinal, std::int64_t bytes, std::int32_t zero);
  static void* pinned_allocate(sdfg_call* call, std::int64_t bytes, std::int32_t ordinal);
  static void pinned_release(sdfg_call* call, void* memory);
  static void device_copy(sdfg_call* call, std::int32_t stream, const sdfg_copy* copy, std::int32_t ordinal);
  static void device_fill(sdfg_call* call, std::int32_t stream, void* memory, const void* value, std::int64_t width,
                          const std::int64_t* count, std::int64_t pitch, std::int32_t ordinal);
  static void device_launch(sdfg_call* call, std::int32_t stream, std::int32_t kernel, const sdfg_launch* launch,
                            void* const* arguments, std::int32_t ordinal);
  static void device_record(sdfg_call* call, std::int32_t stream, std::int32_t event);
  static void device_wait(sdfg_call* call, std::int32_t stream, std::int32_t event);
  static void device_synchronise(sdfg_call* call, std::int32_t stream, std::int32_t ordinal);
  static void device_call(sdfg_call* call, std::int32_t stream, std::int32_t function, void* const* arguments,
                          std::int32_t ordinal);
  static std::int64_t device_repeat_begin(sdfg_call* call, std::int32_t stream, std::int64_t trips,
                                          std::int32_t ordinal);
  static void device_repeat_end(sdfg_call* call);
};

// What `finish` does for a call that used the device; see set_device_finish.
void finish_device(lower::CallState& call) noexcept;

}  // namespace sdfg::runtime
