// A shared list of parts, of which each lane takes the next; every part lives in a context of its own.
#include "compile/clang/parts.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>

#include "compile/clang/compat.hpp"

namespace sdfg::compiler {

namespace {

using Clock = std::chrono::steady_clock;

// Messages of the optimiser and of code generation; without a handler LLVM would print them.
class Messages final : public llvm::DiagnosticHandler {
 public:
  Messages(std::vector<Diagnostic>& diagnostics, const PartSettings& settings)
      : diagnostics_(diagnostics), settings_(settings) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    const bool missed = info.getKind() == llvm::DK_OptimizationFailure;
    if (info.getSeverity() != llvm::DS_Error &&
        (info.getSeverity() != llvm::DS_Warning || (missed && !settings_.report_missed_loops)))
      return true;
    Diagnostic diagnostic;
    diagnostic.severity = info.getSeverity() == llvm::DS_Error ? Severity::kError : Severity::kWarning;
    llvm::raw_string_ostream text(diagnostic.text);
    llvm::DiagnosticPrinterRawOStream printer(text);
    info.print(printer);
    if (missed) {
      const auto& loop = static_cast<const llvm::DiagnosticInfoOptimizationFailure&>(info);
      llvm::StringRef file;
      unsigned line = 0, column = 0;
      if (loop.isLocationAvailable()) loop.getLocation(file, line, column);
      if (file == settings_.name) {
        diagnostic.line = line;
        diagnostic.column = column;
      }
    }
    diagnostics_.push_back(std::move(diagnostic));
    return true;
  }

 private:
  std::vector<Diagnostic>& diagnostics_;
  const PartSettings& settings_;
};

// What clang itself reports about the options of a part; the front end has reported the same before.
class Silence final : public clang::DiagnosticConsumer {};

PartResult compile_part(llvm::StringRef bitcode, const Partition& partition, const PartSettings& settings, int part) {
  const Clock::time_point begin = Clock::now();
  PartResult result;
  const auto fail = [&](std::string text) {
    result.diagnostics.push_back({Severity::kError, 0, 0, std::move(text)});
    return std::move(result);
  };
  llvm::LLVMContext context;
  context.setDiscardValueNames(true);
  context.setDiagnosticHandler(std::make_unique<Messages>(result.diagnostics, settings));
  // Bodies that other parts own are never read.
  auto loaded = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bitcode, settings.name), context);
  if (!loaded) return fail(llvm::toString(loaded.takeError()));
  const std::unique_ptr<llvm::Module> module = std::move(*loaded);
  if (llvm::Error error = keep_part(*module, partition, part)) return fail(llvm::toString(std::move(error)));
  if (llvm::Error error = module->materializeAll()) return fail(llvm::toString(std::move(error)));

  auto invocation = std::make_shared<clang::CompilerInvocation>(settings.invocation);
  Clock::time_point optimised = begin;
  watch_optimiser(*invocation, [](llvm::Module&) {}, [&] { optimised = Clock::now(); });
  Silence silence;
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  const auto instance = make_instance(std::move(invocation), files, silence);
  if (!instance->createTarget()) return fail("the target is not known any more");
  llvm::SmallVector<char, 0> output;
  clang::emitBackendOutput(*instance, instance->getCodeGenOpts(), instance->getTarget().getDataLayoutString(),
                           module.get(), settings.action, files, std::make_unique<llvm::raw_svector_ostream>(output));
  const bool said = std::any_of(result.diagnostics.begin(), result.diagnostics.end(),
                                [](const Diagnostic& d) { return d.severity == Severity::kError; });
  if (output.empty() || silence.getNumErrors() > 0) {
    return said ? std::move(result) : fail("a part of the program gave no output");
  }
  result.ok = !said;
  result.code.assign(output.begin(), output.end());
  const auto nanoseconds = [](Clock::duration d) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
  };
  result.optimise_ns = nanoseconds(optimised - begin);
  result.codegen_ns = nanoseconds(Clock::now() - optimised);
  return result;
}

}  // namespace

struct PartTeam::State {
  Partition partition;
  PartSettings settings;
  std::string bitcode;
  std::mutex mutex;
  std::condition_variable finished;
  std::size_t next = 0;             // into partition.order
  std::vector<PartResult> results;  // by part, from 1 on
  std::size_t done = 0;
  bool dropped = false;

  // A part that nobody works on yet; 0: none.
  int take() {
    const std::scoped_lock lock(mutex);
    return dropped || next == partition.order.size() ? 0 : partition.order[next++];
  }
  void put(int part, PartResult result) {
    const std::scoped_lock lock(mutex);
    results[static_cast<std::size_t>(part) - 1] = std::move(result);
    ++done;
    finished.notify_all();
  }
  void work(const std::function<void(int)>& begun) {
    while (const int part = take()) {
      begun(part);
      PartResult result;
      try {
        result = compile_part(bitcode, partition, settings, part);
      } catch (const std::bad_alloc&) {
        result = PartResult();
        result.fault = Fault::kResource;
        result.diagnostics.push_back({Severity::kFatal, 0, 0, "there was no memory left for the compiler"});
      } catch (const std::exception& error) {
        result = PartResult();
        result.diagnostics.push_back({Severity::kFatal, 0, 0, error.what()});
      }
      put(part, std::move(result));
      begun(0);
    }
  }
};

PartTeam::PartTeam(const llvm::Module& module, Partition partition, PartSettings settings, const Submit& submit)
    : state_(std::make_shared<State>()) {
  state_->partition = std::move(partition);
  state_->settings = std::move(settings);
  state_->results.resize(state_->partition.order.size());
  llvm::raw_string_ostream stream(state_->bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  stream.flush();
  if (!submit) return;
  for (std::size_t i = 0; i < state_->partition.order.size(); ++i) {
    // What the lane works on, for its failure: written and read by that lane only.
    auto current = std::make_shared<int>(0);
    submit([state = state_, current] { state->work([&](int part) { *current = part; }); },
           [state = state_, current](Fault fault, std::string reason) {
             if (*current == 0) return;  // nothing was begun: the owner does it
             PartResult result;
             result.fault = fault;
             result.diagnostics.push_back({Severity::kFatal, 0, 0, std::move(reason)});
             state->put(*current, std::move(result));
           });
  }
}

PartTeam::~PartTeam() {
  const std::scoped_lock lock(state_->mutex);
  state_->dropped = true;
}

std::vector<PartResult> PartTeam::finish() {
  state_->work([](int) {});
  std::unique_lock lock(state_->mutex);
  state_->finished.wait(lock, [this] { return state_->done == state_->results.size(); });
  return std::move(state_->results);
}

}  // namespace sdfg::compiler
