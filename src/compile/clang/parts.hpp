// Optimises the parts of one module on several lanes at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/clang/clang.hpp"
#include "compile/clang/partition.hpp"
#include "compile/clang/submit.hpp"
#include "compile/request.hpp"

namespace sdfg::compiler {

// What a part needs to become code: the invocation of the whole, as it was before anything was hooked into it.
struct PartSettings {
  clang::CompilerInvocation invocation;
  clang::BackendAction action = clang::Backend_EmitObj;
  std::string name;
  bool report_missed_loops = true;  // "loop not vectorized" and the like, as warnings
};

struct PartResult {
  bool ok = false;
  Fault fault = Fault::kCode;
  std::vector<std::uint8_t> code;
  std::vector<Diagnostic> diagnostics;
  std::int64_t optimise_ns = 0, codegen_ns = 0;
};

// The parts from 1 on of one module. Lanes that have time take them, the largest first; the owner takes what is left
// when it has finished part 0 itself, so it never waits for a lane that has not begun.
class PartTeam {
 public:
  // `module` has been shared(); it is copied.
  PartTeam(const llvm::Module& module, Partition partition, PartSettings settings, const Submit& submit);
  // What nobody has begun is dropped.
  ~PartTeam();
  PartTeam(const PartTeam&) = delete;
  PartTeam& operator=(const PartTeam&) = delete;

  // Works on what is left, waits for the rest, and returns all in the order of the parts.
  std::vector<PartResult> finish();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sdfg::compiler
