// Compiles emitted text with the installed Clang, loads it and calls it with a runtime of a few lines.
#pragma once

#include <string>
#include <vector>

#include "codegen/print.hpp"
#include "ir/graph.hpp"
#include "lower/options.hpp"
#include "transform/lower_prepare/options.hpp"

namespace sdfg::test {

struct RunOptions {
  transform::PrepareOptions prepare;
  lower::LowerOptions lower;
  std::string optimisation = "-O2";
};

// What the small runtime saw.
struct Report {
  int allocations = 0;
  int live = 0;  // allocated and not released
  int finished = 0;
  std::int32_t code = 0;  // of the first failure
  std::int32_t ordinal = -1;
  std::vector<std::int64_t> values;
};

class Compiled {
 public:
  explicit Compiled(const ir::Graph& g, const RunOptions& options = {});
  ~Compiled();
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  const std::string& text() const { return source_.text; }
  const codegen::Source& source() const { return source_; }
  // sdfg_packed with the addresses of the arguments.
  std::int32_t packed(std::vector<void*> arguments);
  template <typename... Args>
  std::int32_t operator()(Args... args) {
    before_call();
    return reinterpret_cast<std::int32_t (*)(Args...)>(entry_)(args...);
  }
  const Report& report() const;

 private:
  void before_call();
  codegen::Source source_;
  void* library_ = nullptr;
  void* entry_ = nullptr;
  void* packed_ = nullptr;
};

std::string emitted(const ir::Graph& g, const RunOptions& options = {});
// Compares with tests/golden/<name>; with SDFG_UPDATE_GOLDEN set it writes the file instead.
void check_golden(const std::string& name, const std::string& text);
// The text without the ABI and helper functions: from the first index helper or function on.
std::string own_part(const std::string& text);

}  // namespace sdfg::test
