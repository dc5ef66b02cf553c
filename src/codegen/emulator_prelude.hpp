// What stands in front of kernel text for the emulated device.
#pragma once

#include <string>

namespace sdfg::codegen {

// Gives every word of the vocabulary in codegen/device_text.hpp its meaning for the host's compiler with
// MemoryChecks::kKernel. Needs no headers; tasklet::cpp_helpers may follow it.
const std::string& emulator_prelude();

}  // namespace sdfg::codegen
