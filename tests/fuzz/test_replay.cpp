// Replays the committed seeds and a fixed number of deterministic mutations of each, so that every test run feeds the
// readers what no writer would write. The loader is fuzzed with coverage as well (coverage/), the others in a build of
// its own (SDFG_FUZZ).
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "mutate.hpp"
#include "runtime/cache_entry.hpp"
#include "targets.hpp"

namespace {

namespace fs = std::filesystem;
using sdfg::fuzz::Input;
using sdfg::fuzz::Random;

Input read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<Input> seeds(const std::string& target) {
  std::vector<Input> out;
  if (target == "cache_entry") {
    sdfg::runtime::CacheEntry e;
    out.push_back(sdfg::runtime::encode_entry(e));
    e.input_record = {1, 2, 3};
    e.metadata.assign(300, 7);
    e.payloads = {{sdfg::compiler::CodeKind::kHostObject, "", Input(100, 1)},
                  {sdfg::compiler::CodeKind::kHostObject, "kernels", Input(10, 2)}};
    e.source = std::string(5000, 'x') + "int main() {}";
    e.source_map.assign(64, 9);
    e.producer = "sdfg";
    out.push_back(sdfg::runtime::encode_entry(e));
    return out;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(SDFG_SOURCE_DIR) / "tests" / "fuzz" / "seeds" / target))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& f : files) out.push_back(read(f));
  return out;
}

void replay(const sdfg::fuzz::Target& target, std::size_t mutations) {
  const std::vector<Input> all = seeds(target.name);
  REQUIRE(!all.empty());
  for (const Input& seed : all) {
    target.feed(seed);
    for (std::size_t n = 0; n < seed.size(); n += 1 + seed.size() / 50)
      target.feed(sdfg::fuzz::Bytes(seed).subspan(0, n));
  }
  std::size_t fed = 0;
  for (std::size_t k = 0; k < mutations; ++k) {
    Random random(k);
    const Input& seed = all[k % all.size()];
    const Input input =
        k % 3 == 0 ? sdfg::fuzz::mutated_bytes(seed, all, random) : sdfg::fuzz::mutated_json(seed, random);
    INFO(target.name << ", mutation " << k);
    CHECK_NOTHROW(target.feed(input));
    ++fed;
  }
  CHECK(fed == mutations);
}

}  // namespace

TEST_CASE("the loader takes anything") {
  replay(sdfg::fuzz::kTargets[0], 3000);
}

TEST_CASE("the cache takes anything") {
  replay(sdfg::fuzz::kTargets[1], 4000);
}

TEST_CASE("the variables take anything") {
  replay(sdfg::fuzz::kTargets[2], 4000);
}
