// Runs one graph on every target and compares with plain loops: the interpreter in several orders, compiled code at
// every effort.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "tasklet/value.hpp"

namespace sdfg::test {

// Arguments by name with memory of their own.
class Memory {
 public:
  template <typename T>
  Memory& array(const std::string& name, const std::vector<T>& contents) {
    Entry& e = entries_[name];
    e.type = kScalarTypeOf<T>;
    e.count = contents.size();
    // Room at both ends, in a pattern that shows stray writes.
    e.bytes.assign((e.count + 2 * kGuard) * sizeof(T), kGuardByte);
    for (std::size_t i = 0; i < e.count; ++i) {
      const T value = contents[i];
      std::memcpy(e.bytes.data() + (kGuard + i) * sizeof(T), &value, sizeof(T));
    }
    return *this;
  }
  template <typename T>
  Memory& value(const std::string& name, T v) {
    values_.erase(name);
    if constexpr (std::is_same_v<T, tasklet::Value>)
      values_.emplace(name, v);
    else if constexpr (std::is_same_v<T, bool>)
      values_.emplace(name, tasklet::Value::boolean(v));
    else if constexpr (std::is_integral_v<T>)
      values_.emplace(name, tasklet::Value::integer(v, kScalarTypeOf<T>));
    else
      values_.emplace(name, tasklet::Value::floating(static_cast<double>(v), kScalarTypeOf<T>));
    return *this;
  }
  // `alias` is another name for the memory of `of`, from an element on.
  Memory& alias(const std::string& name, const std::string& of, std::size_t from) {
    aliases_[name] = {of, from};
    return *this;
  }
  // Memory that is not compared: structures, tables of pointers. Made anew for each run from the memory of that run.
  Memory& raw(const std::string& name, std::function<void*(Memory&)> make) {
    raws_[name] = std::move(make);
    return *this;
  }
  Memory& function(const std::string& name, void (*f)()) {
    functions_[name] = f;
    return *this;
  }

  template <typename T>
  std::span<T> get(const std::string& name) {
    Entry& e = entry(name);
    return {reinterpret_cast<T*>(e.bytes.data()) + kGuard, e.count};
  }
  std::int64_t integer(const std::string& name) const { return values_.at(name).as_int(); }

  void* address(const std::string& name);
  // The arguments of a graph in its order: what the packed entry takes. The slots live in this object.
  void* const* pack(const ir::Graph& graph);
  // Where the contents differ, as text; empty: nowhere. Floating elements may differ by `tolerance` (relative, in units
  // of float64: narrower types get what their precision is worth).
  std::string difference(Memory& want, const std::function<double(const std::string& name)>& tolerance);

 private:
  static constexpr std::size_t kGuard = 8;
  static constexpr std::uint8_t kGuardByte = 0xC3;
  struct Entry {
    ScalarType type = ScalarType::kBool;
    std::size_t count = 0;
    std::vector<std::uint8_t> bytes;
  };
  Entry& entry(const std::string& name);

  std::map<std::string, Entry> entries_;
  std::map<std::string, tasklet::Value> values_;
  std::map<std::string, std::pair<std::string, std::size_t>> aliases_;
  std::map<std::string, std::function<void*(Memory&)>> raws_;
  std::map<std::string, void (*)()> functions_;
  std::vector<void*> pointers_;
  std::vector<std::array<std::byte, 16>> scalars_;
  std::vector<void*> packed_;
};

// One way to run a graph. Persistent containers live as long as the Runner.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual void run(Memory& memory) = 0;
};
struct Target {
  std::string name;
  std::function<std::unique_ptr<Runner>(const ir::Graph&)> prepare;
  bool exact = true;  // computes floating values as written, operation by operation: nothing fused or approximated
};
// All targets that this build and the variable SDFG_TEST_TARGETS (a list of names) offer.
const std::vector<Target>& targets();

inline constexpr double kExact = 0.0;  // integers; also floating results without rounding

// Numbers without pattern, the same on every platform; small integers and eighths, so that sums are exact.
template <typename T = double>
std::vector<T> numbers(std::int64_t count, std::uint64_t seed = 1) {
  std::vector<T> out(static_cast<std::size_t>(count));
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 12345;
  for (T& v : out) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto k = static_cast<std::int64_t>(state >> 33) % 97;
    if constexpr (std::is_same_v<T, bool>)
      v = k % 2 == 0;
    else if constexpr (std::is_unsigned_v<T>)
      v = static_cast<T>(k);
    else if constexpr (std::is_integral_v<T>)
      v = static_cast<T>(k - 48);
    else if constexpr (std::is_floating_point_v<T>)
      v = static_cast<T>(k - 48) / T{8};
    else
      v = T(static_cast<float>(k - 48) / 8.0F, static_cast<float>(k % 13) / 4.0F);
  }
  return out;
}
inline std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace sdfg::test
