// The table of device programs, and the memory that they are called with.
#include "programs.hpp"

#include <complex>

#include "program_groups.hpp"
#include "symbolic/print.hpp"

namespace sdfg::test {

namespace {

template <typename T>
void fill(Memory& memory, const std::string& name, std::int64_t count, std::uint64_t seed) {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<bool> values;
    for (const std::int64_t v : numbers<std::int64_t>(count, seed)) values.push_back(v % 2 == 0);
    memory.array(name, values);
  } else {
    memory.array(name, numbers<T>(count, seed));
  }
}

}  // namespace

const std::vector<Program>& programs() {
  static const std::vector<Program> kAll = [] {
    std::vector<Program> all;
    for (const auto group : {map_programs, control_programs, memory_programs, repeat_programs, sum_programs,
                             block_programs, library_programs, contraction_programs}) {
      const std::vector<Program> some = group();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return kAll;
}

Made make(const Program& p) {
  std::string name = "p_";
  for (const char c : p.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  Gpu m(name);
  p.build(m);
  m.finish();
  return {std::move(m.g), std::move(m.arguments), std::move(m.values)};
}

Memory Made::memory(std::int64_t n) const {
  Memory out;
  const std::map<std::string, std::int64_t, std::less<>> symbols{{"N", n}, {"M", n + 3}, {"K", 5}};
  std::uint64_t seed = 1;
  for (const Gpu::Argument& a : arguments) {
    std::int64_t count = 1;
    for (const auto& e : Maker::extents(a.shape)) count *= symbolic::evaluate(e, symbols);
    ++seed;
    switch (a.type.scalar()) {
      case ScalarType::kBool: fill<bool>(out, a.name, count, seed); break;
      case ScalarType::kInt8: fill<std::int8_t>(out, a.name, count, seed); break;
      case ScalarType::kInt16: fill<std::int16_t>(out, a.name, count, seed); break;
      case ScalarType::kInt32: fill<std::int32_t>(out, a.name, count, seed); break;
      case ScalarType::kInt64: fill<std::int64_t>(out, a.name, count, seed); break;
      case ScalarType::kUInt8: fill<std::uint8_t>(out, a.name, count, seed); break;
      case ScalarType::kUInt16: fill<std::uint16_t>(out, a.name, count, seed); break;
      case ScalarType::kUInt32: fill<std::uint32_t>(out, a.name, count, seed); break;
      case ScalarType::kUInt64: fill<std::uint64_t>(out, a.name, count, seed); break;
      case ScalarType::kFloat32: fill<float>(out, a.name, count, seed); break;
      case ScalarType::kFloat64: fill<double>(out, a.name, count, seed); break;
      case ScalarType::kComplex64: fill<std::complex<float>>(out, a.name, count, seed); break;
      case ScalarType::kComplex128: fill<std::complex<double>>(out, a.name, count, seed); break;
      case ScalarType::kFloat16:
      case ScalarType::kBFloat16: break;
    }
  }
  for (const auto& [name, value] : symbols) {
    if (graph.symbols.contains(name)) out.value(name, value);
  }
  for (const auto& [name, value] : values) {
    const ir::Container* c = graph.containers.find(name);
    const Type& type = c != nullptr ? c->type : graph.symbols.at(name).type;
    if (is_floating(type.scalar()))
      out.value(name, tasklet::Value::floating(value, type.scalar()));
    else
      out.value(name,
                tasklet::Value::integer(static_cast<std::int64_t>(value), ScalarType::kInt64).cast(type.scalar()));
  }
  return out;
}

}  // namespace sdfg::test
