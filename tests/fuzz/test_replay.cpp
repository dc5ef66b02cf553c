// Replays the committed seeds and a fixed number of deterministic mutations of each, so that every test run feeds the
// readers what no writer would write. Coverage-guided fuzzing of the same targets is a build of its own (SDFG_FUZZ).
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/cache_entry.hpp"
#include "targets.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Input = std::vector<std::uint8_t>;

// xorshift64*: the same sequence on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DULL;
  }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_;
};

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

// Bytes changed, taken out, doubled, cut off, or taken over from another seed.
Input mutated_bytes(Input in, const std::vector<Input>& all, Random& random) {
  static constexpr const char* kTokens[] = {"null",   "-1",   "0",           "99999999999999999999",
                                            "1e999",  "\"\"", "{}",          "[]",
                                            "\"$N\"", "N",    "\"\\u0000\"", "**",
                                            "//",     "(",    ")",           "=",
                                            ":",      ","};
  for (std::size_t rounds = 1 + random.below(4); rounds > 0; --rounds) {
    const std::size_t at = random.below(in.size());
    const auto here = in.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t length = std::min(in.size() - at, 1 + random.below(16));
    const auto there = here + static_cast<std::ptrdiff_t>(length);
    switch (random.below(7)) {
      case 0:
        if (!in.empty()) *here = static_cast<std::uint8_t>(random.next());
        break;
      case 1:
        if (!in.empty()) *here = static_cast<std::uint8_t>(*here ^ (1U << random.below(8)));
        break;
      case 2: in.erase(here, there); break;
      case 3: {
        const Input part(here, there);
        in.insert(here, part.begin(), part.end());
        break;
      }
      case 4: {
        const std::string token = kTokens[random.below(std::size(kTokens))];
        in.insert(here, token.begin(), token.end());
        break;
      }
      case 5: in.resize(at); break;
      default: {
        const Input& other = all[random.below(all.size())];
        const std::size_t from = random.below(other.size());
        const std::size_t count = std::min(other.size() - from, random.below(64));
        in.insert(here, other.begin() + static_cast<std::ptrdiff_t>(from),
                  other.begin() + static_cast<std::ptrdiff_t>(from + count));
        break;
      }
    }
  }
  return in;
}

void values_of(Json& j, std::vector<Json*>& out) {
  out.push_back(&j);
  if (j.is_structured()) {
    for (Json& child : j) values_of(child, out);
  }
}

// One or two values of well-formed JSON replaced by other ones, of the same file or odd in themselves, or taken out.
Input mutated_json(const Input& in, Random& random) {
  Json j = Json::parse(in.begin(), in.end(), nullptr, false);
  if (j.is_discarded()) return in;
  for (std::size_t rounds = 1 + random.below(2); rounds > 0; --rounds) {
    std::vector<Json*> all;
    values_of(j, all);
    Json& target = *all[random.below(all.size())];
    switch (random.below(8)) {
      case 0: target = nullptr; break;
      case 1: target = static_cast<std::int64_t>(random.next()); break;
      case 2: target = std::to_string(random.below(6)); break;
      case 3: target = Json::object(); break;
      case 4: target = Json::array(); break;
      case 5:
        if (target.is_structured() && !target.empty()) {
          auto it = target.begin();
          std::advance(it, static_cast<std::ptrdiff_t>(random.below(target.size())));
          target.erase(it);
        }
        break;
      case 6: target = static_cast<int>(random.below(8)); break;
      default: {
        const Json copy = *all[random.below(all.size())];
        target = copy;
        break;
      }
    }
  }
  const std::string text = j.dump();
  return {text.begin(), text.end()};
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
    const Input input = k % 3 == 0 ? mutated_bytes(seed, all, random) : mutated_json(seed, random);
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
