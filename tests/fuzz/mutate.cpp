// What a mutation may do, chosen by chance.
#include "mutate.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace sdfg::fuzz {

namespace {

using Json = nlohmann::json;

void values_of(Json& j, std::vector<Json*>& out) {
  out.push_back(&j);
  if (j.is_structured()) {
    for (Json& child : j) values_of(child, out);
  }
}

}  // namespace

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

}  // namespace sdfg::fuzz
