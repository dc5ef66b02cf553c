// Builds a cc1-level invocation and runs Clang's front end, optimiser and code generation over an in-memory file.
#include "compile/clang/host_compiler.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include <clang/Basic/Stack.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/X86TargetParser.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <chrono>

#include "compile/clang/check_memory.hpp"
#include "compile/clang/compat.hpp"
#include "compile/clang/merge.hpp"
#include "compile/clang/partition.hpp"
#include "compile/clang/parts.hpp"

namespace sdfg::compiler {

namespace {

using Clock = std::chrono::steady_clock;

Severity severity_of(clang::DiagnosticsEngine::Level level) {
  switch (level) {
    case clang::DiagnosticsEngine::Ignored:
    case clang::DiagnosticsEngine::Note: return Severity::kNote;
    case clang::DiagnosticsEngine::Remark: return Severity::kRemark;
    case clang::DiagnosticsEngine::Warning: return Severity::kWarning;
    case clang::DiagnosticsEngine::Error: return Severity::kError;
    case clang::DiagnosticsEngine::Fatal: return Severity::kFatal;
  }
  return Severity::kFatal;
}

// Keeps every message with its line and column in the request's source.
class Collector final : public clang::DiagnosticConsumer {
 public:
  explicit Collector(std::vector<Diagnostic>& diagnostics) : diagnostics_(diagnostics) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    Diagnostic diagnostic;
    diagnostic.severity = severity_of(level);
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    diagnostic.text = std::string(text);
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      // Lines of the text as it was handed in: #line directives of foreign code must not mislead the source map.
      const clang::SourceManager& sources = info.getSourceManager();
      const clang::SourceLocation place = sources.getExpansionLoc(info.getLocation());
      if (sources.getFileID(place) == sources.getMainFileID()) {
        diagnostic.line = sources.getExpansionLineNumber(place);
        diagnostic.column = sources.getExpansionColumnNumber(place);
      }
    }
    diagnostics_.push_back(std::move(diagnostic));
  }

 private:
  std::vector<Diagnostic>& diagnostics_;
};

// The features of a request that its CPU's own list does not already give. Equivalent to passing all of them, but each
// one costs time in every compilation, and a host's list has nearly a hundred.
std::vector<std::string> deviations(const CompileRequest& request) {
  llvm::SmallVector<llvm::StringRef, 64> own;
  if (llvm::X86::parseArchX86(request.cpu, /*Only64Bit=*/true) == llvm::X86::CK_None) return request.features;
  llvm::X86::getFeaturesForCPU(request.cpu, own);
  llvm::StringMap<bool> complete;
  for (llvm::StringRef feature : own) {
    complete[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, true, complete);
  }
  std::vector<std::string> different;
  for (const std::string& feature : request.features) {
    if (feature.empty()) continue;
    const bool wanted = feature[0] == '+';
    if (complete.lookup(llvm::StringRef(feature).substr(1)) != wanted) different.push_back(feature);
  }
  return different;
}

// Checked code must keep the accesses that the text has: no vectors, no masks.
int level_of(const CompileRequest& request) {
  return request.checks == MemoryChecks::kNone ? request.opt_level : 1;
}

bool only_tidied(const CompileRequest& request) {
  return request.straight && request.opt_level > 0 && request.checks == MemoryChecks::kNone;
}

std::vector<std::string> arguments(const CompileRequest& request) {
  const int level = only_tidied(request) ? 0 : level_of(request);
  std::vector<std::string> args = {
      "-triple", request.triple, "-std=c++20", "-x", "c++", "-emit-obj", "-O" + std::to_string(level),
      // No directory is searched and no header exists; the text brings what it needs.
      "-nostdsysteminc", "-nobuiltininc", "-nostdinc++", "-fgnuc-version=4.2.1",
      // Loaded anywhere by JITLink. GOT loads must not become relaxable: LLVM 22 mis-relaxes them for low addresses.
      "-mrelocation-model", "pic", "-pic-level", "2", "-mcmodel=small", "-mrelax-relocations=no",
      // The host's profilers walk frame pointers; nothing unwinds through generated code.
      "-mframe-pointer=all", "-fno-rtti", "-fno-threadsafe-statics", "-discard-value-names", "-disable-llvm-verifier",
      "-fbracket-depth", "2048", "-ferror-limit", "50", "-fdebug-compilation-dir=.", "-target-cpu", request.cpu};
  // The levels x86-64-v2 to v4 say what may be used, not what is fast.
  const bool is_level = request.cpu.starts_with("x86-64");
  args.insert(args.end(), {"-tune-cpu", is_level ? std::string("generic") : request.cpu});
  args.emplace_back("-fwrapv");  // the meaning that the interpreter gives to integer arithmetic
  for (const std::string& feature : deviations(request)) {
    args.insert(args.end(), {"-target-feature", feature});
  }
  if (only_tidied(request)) args.emplace_back("-disable-O0-optnone");
  if (level >= 2) args.insert(args.end(), {"-vectorize-loops", "-vectorize-slp"});
  const FpOptions& fp = request.fp;
  args.emplace_back(std::string("-ffp-contract=") + (fp.approximate ? "fast" : fp.contract ? "on" : "off"));
  if (fp.reassociate) args.insert(args.end(), {"-mreassociate", "-fno-signed-zeros"});
  if (fp.finite) args.insert(args.end(), {"-menable-no-infs", "-menable-no-nans"});
  if (fp.approximate) args.insert(args.end(), {"-freciprocal-math", "-fapprox-func"});
  args.emplace_back(request.openmp ? "-fopenmp" : "-fopenmp-simd");
  if (request.debug_info || request.checks != MemoryChecks::kNone) {
    args.insert(args.end(), {"-debug-info-kind=line-tables-only", "-dwarf-version=5", "-debugger-tuning=gdb"});
  }
  args.insert(args.end(), request.flags.begin(), request.flags.end());
  return args;
}

std::unique_ptr<clang::FrontendAction> action_for(CodeKind kind) {
  switch (kind) {
    case CodeKind::kHostObject: return std::make_unique<clang::EmitObjAction>();
    case CodeKind::kHostAssembly: return std::make_unique<clang::EmitAssemblyAction>();
    case CodeKind::kHostIr: return std::make_unique<clang::EmitLLVMAction>();
    case CodeKind::kCubin:
    case CodeKind::kPtx: return nullptr;
  }
  return nullptr;
}

CompileResult failure(std::string text) {
  CompileResult result;
  result.diagnostics.push_back({Severity::kError, 0, 0, std::move(text)});
  return result;
}

// Parts of one program at most. More would balance no better on the lanes that there are (at most 8).
constexpr int kMostParts = 8;

clang::BackendAction backend_action(CodeKind kind) {
  switch (kind) {
    case CodeKind::kHostObject: return clang::Backend_EmitObj;
    case CodeKind::kHostAssembly: return clang::Backend_EmitAssembly;
    case CodeKind::kHostIr: return clang::Backend_EmitLL;
    case CodeKind::kCubin:
    case CodeKind::kPtx: break;
  }
  return clang::Backend_EmitNothing;
}

// Text of all parts in one; objects stay apart.
void add_part(CompileResult& result, CodeKind kind, std::vector<std::uint8_t> code, std::size_t part,
              std::size_t parts) {
  if (kind == CodeKind::kHostObject) {
    result.more.push_back(std::move(code));
    return;
  }
  const std::string head = std::string(kind == CodeKind::kHostIr ? "\n; " : "\n# ") + "part " +
                           std::to_string(part + 1) + " of " + std::to_string(parts) + "\n";
  result.payload.insert(result.payload.end(), head.begin(), head.end());
  result.payload.insert(result.payload.end(), code.begin(), code.end());
}

std::int64_t nanoseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}

}  // namespace

void initialise_llvm(void (*on_fatal)(void*, const char*, bool), void (*on_no_memory)(void*, const char*, bool)) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();
  llvm::install_fatal_error_handler(on_fatal);
  llvm::install_bad_alloc_error_handler(on_no_memory);
}

void prepare_thread() {
  clang::noteBottomOfStack();
}

CompileResult compile_source(const CompileRequest& request, const Submit& submit) {
  const Clock::time_point begin = Clock::now();
  std::unique_ptr<clang::FrontendAction> action = action_for(request.kind);
  if (!action) return failure("the host compiler was asked for device code");
  if (request.opt_level < 0 || request.opt_level > 3) {
    return failure("the optimisation level " + std::to_string(request.opt_level) + " is outside 0 to 3");
  }

  CompileResult result;
  Collector collector(result.diagnostics);
  const std::string name = request.name.empty() ? "generated.cpp" : request.name;
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  files->addFile(name, 0, llvm::MemoryBuffer::getMemBuffer(request.source, name));

  const std::vector<std::string> texts = arguments(request);
  std::vector<const char*> args;
  args.reserve(texts.size());
  for (const std::string& text : texts) args.push_back(text.c_str());

  auto invocation = std::make_shared<clang::CompilerInvocation>();
  clang::DiagnosticOptions diagnostic_options;
  auto diagnostics = clang::CompilerInstance::createDiagnostics(*files, diagnostic_options, &collector,
                                                                /*ShouldOwnClient=*/false);
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, args, *diagnostics)) {
    if (result.diagnostics.empty()) return failure("the compiler refused its flags");
    return result;
  }
  // Not through the arguments: a name may look like a flag.
  invocation->getFrontendOpts().Inputs = {clang::FrontendInputFile(name, clang::InputKind(clang::Language::CXX))};
  invocation->getDiagnosticOpts().ShowCarets = false;

  Clock::time_point front_end = begin;
  Clock::time_point optimised = begin;
  PartSettings settings;
  if (request.divide) {
    settings.invocation = *invocation;
    settings.action = backend_action(request.kind);
    settings.name = name;
    settings.report_missed_loops =
        std::find(request.flags.begin(), request.flags.end(), "-Wno-pass-failed") == request.flags.end();
  }
  std::unique_ptr<PartTeam> team;
  const auto prepare = [&](llvm::Module& module) {
    front_end = Clock::now();
    forget_openmp(module);
    merge_equal_functions(module);
    if (!request.divide || request.checks != MemoryChecks::kNone) return;
    Partition parts = partition(module, request.opt_level, kMostParts);
    if (parts.parts == 1) return;
    share(module, parts);
    team = std::make_unique<PartTeam>(module, parts, std::move(settings), submit);
    llvm::cantFail(keep_part(module, parts, 0));  // fails at reading only, and all has been read
  };
  if (only_tidied(request)) tidy(*invocation);
  watch_optimiser(*invocation, prepare, [&] { optimised = Clock::now(); });

  if (request.checks != MemoryChecks::kNone) {
    change_optimised(*invocation, [&request](llvm::Module& module) {
      check_memory(module, request.checks);
      if (!request.debug_info) llvm::StripDebugInfo(module);
    });
  }

  auto instance = make_instance(std::move(invocation), std::move(files), collector);
  llvm::SmallVector<char, 0> output;
  instance->setOutputStream(std::make_unique<llvm::raw_svector_ostream>(output));
  const bool done = instance->ExecuteAction(*action);
  action.reset();
  result.ok = done && !instance->getDiagnostics().hasErrorOccurred() && !output.empty();
  instance.reset();
  std::int64_t optimise_ns = nanoseconds(front_end, optimised);
  std::int64_t codegen_ns = nanoseconds(optimised, Clock::now());
  if (result.ok) result.payload.assign(output.begin(), output.end());
  if (team && result.ok) {
    std::vector<PartResult> parts = team->finish();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      result.ok = result.ok && parts[i].ok;
      if (!parts[i].ok && parts[i].fault != Fault::kCode) result.fault = parts[i].fault;
      result.diagnostics.insert(result.diagnostics.end(), parts[i].diagnostics.begin(), parts[i].diagnostics.end());
      optimise_ns += parts[i].optimise_ns;
      codegen_ns += parts[i].codegen_ns;
      add_part(result, request.kind, std::move(parts[i].code), i + 1, parts.size() + 1);
    }
  }
  team.reset();
  const Clock::time_point end = Clock::now();

  if (!result.ok) {
    if (result.diagnostics.empty())
      result.diagnostics.push_back({Severity::kError, 0, 0, "the compiler gave no output"});
    result.payload.clear();
    result.more.clear();
    return result;
  }
  // Parts run side by side: what passed on the clock is shared out as their work was.
  const std::int64_t passed = nanoseconds(front_end, end);
  const double share_of_optimiser =
      static_cast<double>(optimise_ns) / static_cast<double>(std::max<std::int64_t>(optimise_ns + codegen_ns, 1));
  const auto optimising = static_cast<std::int64_t>(static_cast<double>(passed) * share_of_optimiser);
  result.times = {
      {"frontend", nanoseconds(begin, front_end)}, {"optimise", optimising}, {"codegen", passed - optimising}};
  return result;
}

}  // namespace sdfg::compiler
