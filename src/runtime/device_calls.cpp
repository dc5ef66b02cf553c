// The device entries of the runtime ABI: each finds the call's state and turns what the device throws into a failure.
#include "runtime/device_calls.hpp"

#include <cstring>

#include "runtime/call_error.hpp"
#include "runtime/device_program.hpp"
#include "runtime/process.hpp"
#include "runtime/program.hpp"

namespace sdfg::runtime {

namespace {

using lower::CallState;
using lower::FailCode;

void report(CallState* call, std::int32_t ordinal, Error error) noexcept {
  set_cause(std::move(error));
  Program::report(call, FailCode::kDevice, ordinal);
}

// Runs an operation of a call; a failed call does nothing more on the device.
template <class Result, class Operation>
Result with(CallState* call, std::int32_t ordinal, Result failed, Operation&& operation) noexcept {
  if (call->device == nullptr && DeviceCalls::device_begin(call) == 0) return failed;
  if (call->status != 0) return failed;
  try {
    return operation(*static_cast<DeviceCall*>(call->device));
  } catch (const Error& error) {
    report(call, ordinal, error);
  } catch (const std::exception& error) {
    report(call, ordinal, Error(ErrorClass::kResource, error.what()));
  }
  return failed;
}

template <class Operation>
void run(CallState* call, std::int32_t ordinal, Operation&& operation) noexcept {
  with(call, ordinal, 0, [&](DeviceCall& state) {
    operation(state);
    return 0;
  });
}

}  // namespace

std::int32_t DeviceCalls::device_begin(sdfg_call* call) {
  if (call->device != nullptr) return 1;
  call->flags |= kCallUsesDevice;
  if (in_forked_child()) {
    Program::report(call, FailCode::kForkedChild, -1);
    return 0;
  }
  DeviceProgram* program = static_cast<Program*>(call->program)->device();
  if (program == nullptr) {
    report(call, -1, Error(ErrorClass::kInternal, "the program was loaded without a device"));
    return 0;
  }
  DeviceCall* state = nullptr;
  try {
    if (program->device().lost()) throw Error(ErrorClass::kDeviceLost, "the device was lost by an earlier call");
    state = program->acquire();
    state->begin();
    call->device = state;
    return 1;
  } catch (const Error& error) {
    report(call, -1, error);
  } catch (const std::exception& error) {
    report(call, -1, Error(ErrorClass::kResource, error.what()));
  }
  if (state != nullptr) {
    state->finish();
    program->give_back(state);
  }
  return 0;
}

void finish_device(CallState& call) noexcept {
  auto* state = static_cast<DeviceCall*>(call.device);
  DeviceProgram& program = state->program();
  if (std::optional<Error> fault = state->finish()) {
    // Of several failures the first that the program met stays: `report` keeps it.
    std::int32_t ordinal = -1;
    report(&call, ordinal, std::move(*fault));
  }
  program.give_back(state);
}

void* DeviceCalls::device_allocate(sdfg_call* call, std::int32_t stream, std::int64_t bytes, std::int32_t ordinal) {
  return with(call, ordinal, static_cast<void*>(nullptr),
              [&](DeviceCall& state) { return state.allocate(stream, bytes, ordinal); });
}

void DeviceCalls::device_release(sdfg_call* call, std::int32_t stream, void* memory) {
  if (memory == nullptr) return;
  run(call, -1, [&](DeviceCall& state) { state.release(stream, memory); });
}

void* DeviceCalls::device_persistent(sdfg_call* call, std::int32_t ordinal, std::int64_t bytes, std::int32_t zero) {
  return with(call, ordinal, static_cast<void*>(nullptr), [&](DeviceCall& state) -> void* {
    if (!Program::hold_instance(call, ordinal)) return nullptr;
    return state.program().persistent(state.stream(0), ordinal, bytes, zero != 0);
  });
}

void* DeviceCalls::pinned_allocate(sdfg_call* call, std::int64_t bytes, std::int32_t ordinal) {
  return with(call, ordinal, static_cast<void*>(nullptr),
              [&](DeviceCall& state) { return state.pinned_allocate(bytes, ordinal); });
}

void DeviceCalls::pinned_release(sdfg_call* call, void* memory) {
  if (memory == nullptr) return;
  run(call, -1, [&](DeviceCall& state) { state.pinned_release(memory); });
}

void DeviceCalls::device_copy(sdfg_call* call, std::int32_t stream, const sdfg_copy* copy, std::int32_t ordinal) {
  run(call, ordinal, [&](DeviceCall& state) { state.copy(stream, *copy, ordinal); });
}

void DeviceCalls::device_fill(sdfg_call* call, std::int32_t stream, void* memory, const void* value, std::int64_t width,
                              const std::int64_t* count, std::int64_t pitch, std::int32_t ordinal) {
  run(call, ordinal, [&](DeviceCall& state) {
    device::Fill fill;
    fill.memory = memory;
    fill.width = width;
    fill.count = {count[0], count[1]};
    fill.pitch = pitch;
    if (fill.empty()) return;
    if (width > 0 && width <= static_cast<std::int64_t>(fill.value.size()))
      std::memcpy(fill.value.data(), value, static_cast<std::size_t>(width));
    state.device().fill(state.stream(stream), fill, state.program().site(ordinal));
  });
}

void DeviceCalls::device_launch(sdfg_call* call, std::int32_t stream, std::int32_t kernel, const sdfg_launch* launch,
                                void* const* arguments, std::int32_t ordinal) {
  run(call, ordinal, [&](DeviceCall& state) { state.launch(stream, kernel, *launch, arguments); });
}

void DeviceCalls::device_record(sdfg_call* call, std::int32_t stream, std::int32_t event) {
  run(call, -1, [&](DeviceCall& state) { state.device().record(state.event(event), state.stream(stream)); });
}

void DeviceCalls::device_wait(sdfg_call* call, std::int32_t stream, std::int32_t event) {
  run(call, -1, [&](DeviceCall& state) { state.device().wait(state.stream(stream), state.event(event)); });
}

void DeviceCalls::device_synchronise(sdfg_call* call, std::int32_t stream, std::int32_t ordinal) {
  run(call, ordinal, [&](DeviceCall& state) { state.synchronise(stream, ordinal); });
}

void DeviceCalls::device_call(sdfg_call* call, std::int32_t stream, std::int32_t function, void* const* arguments,
                              std::int32_t ordinal) {
  run(call, ordinal, [&](DeviceCall& state) { state.call_library(stream, function, arguments, ordinal); });
}

std::int64_t DeviceCalls::device_repeat_begin(sdfg_call* call, std::int32_t stream, std::int64_t trips,
                                              std::int32_t ordinal) {
  return with(call, ordinal, std::int64_t{0},
              [&](DeviceCall& state) { return state.repeat_begin(stream, trips, ordinal); });
}

void DeviceCalls::device_repeat_end(sdfg_call* call) {
  run(call, -1, [](DeviceCall& state) { state.repeat_end(); });
}

}  // namespace sdfg::runtime
