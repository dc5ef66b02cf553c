// Failures of running generated code: what `fail` records, the Error it becomes, and each thread's last one.
#pragma once

#include <cstdint>
#include <optional>
#include <sdfg/error.hpp>
#include <span>
#include <string>
#include <vector>

#include "lower/abi.hpp"

namespace sdfg::runtime {

// The first failure of one call. Meaning of `values`: lower::FailCode.
struct CallFailure {
  lower::FailCode code = lower::FailCode::kNone;
  std::int32_t ordinal = -1;
  std::vector<std::int64_t> values;
  std::optional<Error> cause;  // of kCallback, kDevice, kLibrary: what the callback, device or library said
};

// The sentence for a failure. `elements[ordinal]` names the element and the user's line; `graph` may be empty.
Error describe(const CallFailure& failure, std::span<const Error::Place> elements, const std::string& graph);

// A persistent container gets memory of another size than in the last call, so what it held is gone: said once for
// each.
void warn_of_new_size(std::span<const Error::Place> elements, const std::string& graph, std::int32_t ordinal);

// The error of the last call on this thread that failed, nullptr if none since the last clear. Per thread; no locks.
const Error* last_error() noexcept;
// Its raw form, so that a Function shared by equal graphs can describe it with its own names; nullptr if last_error()
// did not come from `fail`.
const CallFailure* last_failure() noexcept;
void clear_last_error() noexcept;
void set_last_error(Error error) noexcept;
void set_last_error(Error error, CallFailure failure) noexcept;

// What a trampoline or the device room caught on this thread; the next `fail` with kCallback, kDevice or kLibrary on
// this thread takes it as the cause.
void set_cause(Error error) noexcept;
std::optional<Error> take_cause() noexcept;

}  // namespace sdfg::runtime
