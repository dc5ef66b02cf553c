// libFuzzer's entries for the target SDFG_FUZZ_TARGET; with SDFG_FUZZ_JSON half of the mutations keep the text JSON.
#include <algorithm>

#include "mutate.hpp"
#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sdfg::fuzz::SDFG_FUZZ_TARGET({data, size});
  return 0;
}

#ifdef SDFG_FUZZ_JSON
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  if (seed % 2 == 0) {
    sdfg::fuzz::Random random(seed);
    const sdfg::fuzz::Input changed = sdfg::fuzz::mutated_json({data, data + size}, random);
    if (changed.size() <= most) {
      std::copy(changed.begin(), changed.end(), data);
      return changed.size();
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}
#endif
