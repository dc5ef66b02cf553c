// The helper process: reads requests from its standard input, a socket, and answers them until it closes.
#include <unistd.h>

#include <exception>
#include <sdfg/error.hpp>

#include "compile/compiler.hpp"
#include "compile/wire.hpp"

int main() {
  using namespace sdfg::compiler;
  std::vector<std::uint8_t> message;
  while (receive_frame(STDIN_FILENO, message, 0) == Received::kFrame) {
    const std::optional<CompileRequest> request = request_from_bytes(message);
    if (!request) return 2;
    CompileResult result;
    try {
      result = compile_host(*request);
    } catch (const sdfg::Error& error) {
      result.fault = error.error_class() == sdfg::ErrorClass::kResource ? Fault::kResource : Fault::kEnvironment;
      result.diagnostics.push_back({Severity::kFatal, 0, 0, error.message()});
    } catch (const std::exception& error) {  // no memory, no thread
      result.fault = Fault::kResource;
      result.diagnostics.push_back({Severity::kFatal, 0, 0, error.what()});
    }
    if (!send_frame(STDIN_FILENO, to_bytes(result))) return 1;
  }
  return 0;
}
