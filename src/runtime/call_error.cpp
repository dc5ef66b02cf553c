// Texts of call failures and the per-thread error state.
#include "runtime/call_error.hpp"

#include <utility>

#include "base/log.hpp"

namespace sdfg::runtime {
namespace {

using lower::FailCode;

struct ThreadErrors {
  std::optional<Error> error;
  std::optional<CallFailure> failure;
  std::optional<Error> cause;
};
#ifdef __clang__  // a thread's own objects end with the thread
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wexit-time-destructors"
#endif
thread_local ThreadErrors thread_errors;
#ifdef __clang__
#pragma clang diagnostic pop
#endif

std::string number(const CallFailure& failure, std::size_t index) {
  return index < failure.values.size() ? std::to_string(failure.values[index]) : std::string("?");
}

std::string name_of(std::int64_t ordinal, std::span<const Error::Place> elements) {
  if (static_cast<std::size_t>(ordinal) < elements.size()) {
    const std::string& what = elements[static_cast<std::size_t>(ordinal)].what;
    if (!what.empty()) return what;
  }
  return "element " + std::to_string(ordinal);
}

std::string subject(const CallFailure& failure, std::span<const Error::Place> elements) {
  return failure.ordinal < 0 ? "the program" : name_of(failure.ordinal, elements);
}

// The element whose ordinal is one of the values; -1 is what passes made.
std::string named(const CallFailure& failure, std::size_t index, std::span<const Error::Place> elements) {
  if (index >= failure.values.size() || failure.values[index] < 0) return "a temporary";
  return name_of(failure.values[index], elements);
}

struct Sentence {
  ErrorClass error_class = ErrorClass::kLaunch;
  std::string text;
  std::string hint;
};

std::string because(const CallFailure& failure) {
  return failure.cause ? ": " + failure.cause->message() : std::string();
}

Sentence sentence(const CallFailure& failure, const std::string& it, std::span<const Error::Place> elements) {
  switch (failure.code) {
    case FailCode::kNone: return {ErrorClass::kInternal, "a failure without a code was reported", ""};
    case FailCode::kOutOfMemory:
      return {ErrorClass::kResource, "no memory: " + it + " needs " + number(failure, 0) + " bytes", ""};
    case FailCode::kNegativeExtent:
      // Where extents were taken to be those of arguments, only their product is seen.
      if (number(failure, 0).starts_with('-')) {
        return {ErrorClass::kLaunch,
                it + " would have " + number(failure, 1) + (number(failure, 0) == "-1" ? " elements" : " bytes") +
                    ": an extent is negative",
                "the values given for the graph's symbols make the extent negative"};
      }
      return {ErrorClass::kLaunch,
              it + " would have the extent " + number(failure, 1) + " in dimension " + number(failure, 0),
              "the values given for the graph's symbols make the extent negative"};
    case FailCode::kOverflow:
      return {ErrorClass::kLimit, "the size of " + it + " overflows a 64-bit integer",
              "the values given for the graph's symbols are too large"};
    case FailCode::kOutOfBounds:
      return {ErrorClass::kLaunch,
              "the index " + number(failure, 1) + " is outside the extent " + number(failure, 2) + " of " + it +
                  " in dimension " + number(failure, 0),
              ""};
    case FailCode::kZeroStep:
      return {ErrorClass::kLaunch, it + " has the step " + number(failure, 0) + ", which never reaches its end", ""};
    case FailCode::kStreamFull:
      return {
          ErrorClass::kLaunch,
          it + " is full" + (number(failure, 0) == "0" ? "" : ": it has room for " + number(failure, 0) + " elements"),
          "give it a larger capacity, or none, and it grows"};
    case FailCode::kNegativeCapacity:
      return {ErrorClass::kLaunch, it + " would have the capacity " + number(failure, 0),
              "the values given for the graph's symbols make the capacity negative; 0 means no limit"};
    case FailCode::kStreamEmpty: return {ErrorClass::kLaunch, it + " is popped while it is empty", ""};
    case FailCode::kAssertion: {
      std::string text = "an assertion failed in " + it;
      for (std::size_t i = 0; i < failure.values.size(); ++i)
        text += (i == 0 ? " (values " : ", ") + number(failure, i);
      return {ErrorClass::kLaunch, text + (failure.values.empty() ? "" : ")"), ""};
    }
    case FailCode::kUninitialised:
      return {ErrorClass::kLaunch,
              "an element of " + it + " is read before it is written: flat index " + number(failure, 0), ""};
    case FailCode::kRace:
      return {ErrorClass::kLaunch,
              "two iterations of a parallel map touch the same element of " + it +
                  " and at least one writes it: flat index " + number(failure, 0),
              ""};
    case FailCode::kNotFinite:
      return {ErrorClass::kLaunch,
              "a value that is no number (NaN) was written to " + named(failure, 1, elements) + " by " + it +
                  ": flat index " + number(failure, 0),
              ""};
    case FailCode::kCallback:
      return {failure.cause ? failure.cause->error_class() : ErrorClass::kLaunch,
              "an exception left a callback called by " + it + because(failure),
              failure.cause ? failure.cause->hint() : ""};
    case FailCode::kDevice:
      return {failure.cause ? failure.cause->error_class() : ErrorClass::kLaunch,
              "a device operation failed in " + it + because(failure), failure.cause ? failure.cause->hint() : ""};
    case FailCode::kWorkspace:
      return {ErrorClass::kUsage,
              it + " lies in an external workspace of at least " + number(failure, 0) + " bytes, but the one set has " +
                  number(failure, 1),
              "call set_workspace with a buffer of workspace_size() bytes before the call"};
    case FailCode::kLibrary:
      return {ErrorClass::kEnvironment, "a library function needed by " + it + " is not available" + because(failure),
              failure.cause ? failure.cause->hint() : ""};
    case FailCode::kForkedChild:
      return {ErrorClass::kUsage, "a compiled function was called in a forked child of the process",
              "start workers before the first use of sdfg, or exec after fork"};
    case FailCode::kRecursion:
      return {ErrorClass::kUsage, "a function with persistent containers was called from inside its own call, at " + it,
              "make a second Function of the graph for the inner call"};
    case FailCode::kObserver:
      return {failure.cause ? failure.cause->error_class() : ErrorClass::kInternal,
              failure.cause ? failure.cause->message() : "what watches the calls of " + it + " found one wrong",
              failure.cause ? failure.cause->hint() : ""};
  }
  return {ErrorClass::kInternal, "failure code " + std::to_string(static_cast<int>(failure.code)) + " is unknown", ""};
}

}  // namespace

Error describe(const CallFailure& failure, std::span<const Error::Place> elements, const std::string& graph) {
  Sentence said = sentence(failure, subject(failure, elements), elements);
  std::vector<Error::Place> places;
  if (failure.ordinal >= 0 && static_cast<std::size_t>(failure.ordinal) < elements.size()) {
    places.push_back(elements[static_cast<std::size_t>(failure.ordinal)]);
  }
  if (failure.cause) places.insert(places.end(), failure.cause->places().begin(), failure.cause->places().end());
  if (!graph.empty()) places.push_back({"graph '" + graph + "'", {}});
  return {said.error_class, std::move(said.text), std::move(places), std::move(said.hint)};
}

void warn_of_new_size(std::span<const Error::Place> elements, const std::string& graph, std::int32_t ordinal) {
  warn_once(Logger::kCall, (ordinal < 0 ? std::string("a container") : name_of(ordinal, elements)) + " of graph '" +
                               graph + "' is persistent and has another size in this call than in the last one: what " +
                               "it held is gone, and it starts anew");
}

const Error* last_error() noexcept {
  return thread_errors.error ? &*thread_errors.error : nullptr;
}

const CallFailure* last_failure() noexcept {
  return thread_errors.failure ? &*thread_errors.failure : nullptr;
}

void clear_last_error() noexcept {
  thread_errors.error.reset();
  thread_errors.failure.reset();
}

void set_last_error(Error error) noexcept {
  thread_errors.failure.reset();
  thread_errors.error.emplace(std::move(error));
}

void set_last_error(Error error, CallFailure failure) noexcept {
  thread_errors.error.emplace(std::move(error));
  thread_errors.failure.emplace(std::move(failure));
}

void set_cause(Error error) noexcept {
  thread_errors.cause.emplace(std::move(error));
}

std::optional<Error> take_cause() noexcept {
  return std::exchange(thread_errors.cause, std::nullopt);
}

}  // namespace sdfg::runtime
