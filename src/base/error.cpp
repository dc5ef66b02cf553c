// The text of errors: class, sentence, places and hint.
#include <sdfg/error.hpp>

namespace sdfg {

namespace {

std::string whole_text(ErrorClass error_class, const std::string& message, const std::vector<Error::Place>& places,
                       const std::string& hint) {
  std::string text(to_string(error_class));
  text += " error: ";
  text += message;
  for (const Error::Place& place : places) {
    text += "\n  ";
    text += place.what;
    if (place.location.known()) {
      if (!place.what.empty()) text += ' ';
      text += "at ";
      text += place.location.str();
    }
  }
  if (!hint.empty()) {
    text += "\n  hint: ";
    text += hint;
  }
  return text;
}

}  // namespace

std::string_view to_string(ErrorClass error_class) noexcept {
  switch (error_class) {
    case ErrorClass::kUsage: return "usage";
    case ErrorClass::kGraph: return "graph";
    case ErrorClass::kLimit: return "limit";
    case ErrorClass::kCompile: return "compile";
    case ErrorClass::kLoad: return "load";
    case ErrorClass::kLaunch: return "launch";
    case ErrorClass::kDeviceLost: return "device lost";
    case ErrorClass::kResource: return "resource";
    case ErrorClass::kEnvironment: return "environment";
    case ErrorClass::kInternal: return "internal";
  }
  return "internal";
}

std::string SourceLocation::str() const {
  if (!known()) return {};
  std::string text = file.substr(file.find_last_of('/') + 1);
  text += ':';
  text += std::to_string(line);
  if (column != 0) {
    text += ':';
    text += std::to_string(column);
  }
  return text;
}

Error::Error(ErrorClass error_class, std::string message, std::vector<Place> places, std::string hint)
    : std::runtime_error(whole_text(error_class, message, places, hint)),
      class_(error_class),
      message_(std::move(message)),
      places_(std::move(places)),
      hint_(std::move(hint)) {}

}  // namespace sdfg
