// The prelude of kernel text for the emulator's host compiler.
#include "codegen/device_text.hpp"

namespace sdfg::codegen {

const std::string& emulated_prelude() {
  static const std::string text;
  return text;
}

}  // namespace sdfg::codegen
