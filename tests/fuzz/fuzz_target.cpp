// libFuzzer's entry for the target SDFG_FUZZ_TARGET.
#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sdfg::fuzz::SDFG_FUZZ_TARGET({data, size});
  return 0;
}
