// Deterministic mutations of inputs: of their bytes, and of the values of a JSON text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sdfg::fuzz {

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

// Bytes changed, taken out, doubled, cut off, or taken over from another one of `all`.
Input mutated_bytes(Input in, const std::vector<Input>& all, Random& random);
// One or two values of well-formed JSON replaced by other ones, of the same text or odd in themselves, or taken out;
// anything else as it is.
Input mutated_json(const Input& in, Random& random);

}  // namespace sdfg::fuzz
