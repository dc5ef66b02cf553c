// Test cases of graphs: how to call one, with what, and what must come out.
#pragma once

#include <cstdint>
#include <map>
#include <sdfg/function.hpp>
#include <sdfg/graph.hpp>
#include <sdfg/options.hpp>
#include <string>
#include <vector>

#include "tasklet/value.hpp"
#include "tools/npy.hpp"

namespace sdfg::tools {

struct CaseArgument {
  enum class Role : std::uint8_t { kIn, kInOut, kOut, kScalar };
  std::string name;
  ScalarType type = ScalarType::kFloat64;
  std::vector<std::int64_t> shape;
  Role role = Role::kIn;
  tasklet::Value value;  // of a scalar
};

// The content of a case.json (format: README of the graph corpus).
struct Case {
  std::string kernel;
  std::map<std::string, std::int64_t> symbols;
  std::vector<CaseArgument> arguments;
  double rtol = 0, atol = 0;
};
Case read_case(const std::string& path);

enum class Runner : std::uint8_t { kInterpreter, kCompiled };

struct CaseResult {
  std::vector<std::string> mismatches;  // one sentence for each argument that differs
  double milliseconds = 0;              // of the call alone
  CompileStats stats;                   // of kCompiled
};

// Calls the graph with in_NAME.npy of `inputs` and compares with out_NAME.npy of `expected` (empty: nothing is
// compared). Results go to `write_to`, if not empty, as out_NAME.npy. Throws Error.
CaseResult run_case(const Graph& graph, const Case& c, const std::string& inputs, const std::string& expected,
                    Runner runner, const Options& options = {}, const std::string& write_to = {});

}  // namespace sdfg::tools
