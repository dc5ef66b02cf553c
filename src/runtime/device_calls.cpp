// The device entries of the runtime ABI.
#include "runtime/device_calls.hpp"

#include "runtime/call_error.hpp"
#include "runtime/program.hpp"

namespace sdfg::runtime {

namespace {

void refuse(lower::CallState* call, std::int32_t ordinal) {
  set_cause({ErrorClass::kEnvironment, "this process has no device"});
  Program::report(call, lower::FailCode::kDevice, ordinal);
}

}  // namespace

std::int32_t DeviceCalls::device_begin(sdfg_call* call) {
  refuse(call, -1);
  return 0;
}

void* DeviceCalls::device_allocate(sdfg_call* call, std::int32_t, std::int64_t, std::int32_t ordinal) {
  refuse(call, ordinal);
  return nullptr;
}

void DeviceCalls::device_release(sdfg_call*, std::int32_t, void*) {}

void* DeviceCalls::device_persistent(sdfg_call* call, std::int32_t ordinal, std::int64_t, std::int32_t) {
  refuse(call, ordinal);
  return nullptr;
}

void* DeviceCalls::pinned_allocate(sdfg_call* call, std::int64_t, std::int32_t ordinal) {
  refuse(call, ordinal);
  return nullptr;
}

void DeviceCalls::pinned_release(sdfg_call*, void*) {}

void DeviceCalls::device_copy(sdfg_call* call, std::int32_t, const sdfg_copy*, std::int32_t ordinal) {
  refuse(call, ordinal);
}

void DeviceCalls::device_fill(sdfg_call* call, std::int32_t, void*, const void*, std::int64_t, const std::int64_t*,
                              std::int64_t, std::int32_t ordinal) {
  refuse(call, ordinal);
}

void DeviceCalls::device_launch(sdfg_call* call, std::int32_t, std::int32_t, const sdfg_launch*, void* const*,
                                std::int32_t ordinal) {
  refuse(call, ordinal);
}

void DeviceCalls::device_record(sdfg_call*, std::int32_t, std::int32_t) {}

void DeviceCalls::device_wait(sdfg_call*, std::int32_t, std::int32_t) {}

void DeviceCalls::device_synchronise(sdfg_call* call, std::int32_t, std::int32_t ordinal) {
  refuse(call, ordinal);
}

void DeviceCalls::device_call(sdfg_call* call, std::int32_t, std::int32_t, void* const*, std::int32_t ordinal) {
  refuse(call, ordinal);
}

}  // namespace sdfg::runtime
