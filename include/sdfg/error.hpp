/// Errors of the library: one exception type, a closed set of classes, and where the user's code caused it.
#pragma once

#include <cstdint>
#include <sdfg/export.hpp>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sdfg {

/// What kind of thing went wrong. The set is closed; see README "Errors" for what a program can do about each.
enum class ErrorClass : std::uint8_t {
  kUsage,        ///< a call that the API does not allow (wrong handle, wrong signature, wrong option value)
  kGraph,        ///< the graph or `.sdfg` file breaks a rule
  kLimit,        ///< a documented limit was passed (overflow of 64-bit integers, nesting depth, sizes)
  kCompile,      ///< generated or user-supplied code did not compile
  kLoad,         ///< compiled code could not be loaded
  kLaunch,       ///< a kernel or a call failed
  kDeviceLost,   ///< the GPU is gone for this process
  kResource,     ///< out of memory, threads, disk or time
  kEnvironment,  ///< a missing or unsuitable component of the machine (driver, NVRTC, CPU feature)
  kInternal,     ///< a bug of this library; please report it
};

/// The name of a class as it starts an error's text: "usage", "graph", ..., "device lost".
SDFG_EXPORT std::string_view to_string(ErrorClass error_class) noexcept;

/// A place in the user's program or in the file a graph came from. `line` 0 means "unknown".
struct SDFG_EXPORT SourceLocation {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  SourceLocation() = default;
  SourceLocation(std::string file_name, std::uint32_t line_number, std::uint32_t column_number = 0)
      : file(std::move(file_name)), line(line_number), column(column_number) {}
  /// The call site that a defaulted `std::source_location` parameter captured.
  SourceLocation(const std::source_location& where)  // NOLINT(google-explicit-constructor): a plain translation
      : file(where.file_name()), line(where.line()), column(where.column()) {}

  bool known() const noexcept { return line != 0; }
  /// "file:line:column", without the folder; empty when unknown.
  std::string str() const;
  bool operator==(const SourceLocation&) const = default;
};

/// The one exception type of the library.
///
/// `what()` is the whole text: "<class> error: <message>", then one indented line per place, then "hint: ..." if there
/// is one.
class SDFG_EXPORT Error : public std::runtime_error {
 public:
  /// One line of context: "in map", "in loop 't'", "element expression", with where it was written.
  struct Place {
    std::string what;
    SourceLocation location;
    bool operator==(const Place&) const = default;
  };

  Error(ErrorClass error_class, std::string message, std::vector<Place> places = {}, std::string hint = {});

  ErrorClass error_class() const noexcept { return class_; }
  /// The sentence alone, with the values involved.
  const std::string& message() const noexcept { return message_; }
  /// Innermost first: the element that is wrong, then what encloses it.
  const std::vector<Place>& places() const noexcept { return places_; }
  /// The next step, when one is known.
  const std::string& hint() const noexcept { return hint_; }

 private:
  ErrorClass class_;
  std::string message_;
  std::vector<Place> places_;
  std::string hint_;
};

}  // namespace sdfg
