// Keeps trace files and profiled programs until the process ends, and writes them then.
#include "jit/observe.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "base/log.hpp"
#include "jit/watch_calls.hpp"
#include "runtime/threads.hpp"
#include "runtime/trace_file.hpp"
#include "runtime/wait_word.hpp"

namespace sdfg::jit {

namespace {

// Never destroyed, since calls may run in other threads until the very end; its contents are written at exit.
struct Records {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<runtime::TraceFile>> traces;
  std::vector<std::shared_ptr<runtime::Program>> profiled;

  static Records& get() {
    static Records* const records = [] {
      auto* made = new Records;
      std::atexit([] { Records::get().write(); });
      return made;
    }();
    return *records;
  }

  std::shared_ptr<runtime::TraceFile> trace(const std::string& path) {
    const std::lock_guard lock(mutex);
    auto& slot = traces[path];
    if (!slot) slot = std::make_shared<runtime::TraceFile>(path);
    return slot;
  }

  void write() {
    const std::lock_guard lock(mutex);
    for (const auto& [path, file] : traces) {
      if (!file->write()) warn_once(Logger::kCall, "the trace file '" + path + "' could not be written");
    }
    for (const auto& program : profiled) {
      const std::string table = runtime::profile_table(*program);
      std::fputs(table.c_str(), stderr);
    }
  }
};

// Adds whole calls to the trace, and passes them on.
class TracedCalls final : public runtime::Program::CallObserver {
 public:
  TracedCalls(std::shared_ptr<runtime::TraceFile> file, std::string name,
              std::shared_ptr<runtime::Program::CallObserver> next)
      : file_(std::move(file)), name_(std::move(name)), next_(std::move(next)) {}

  std::shared_ptr<void> begin(void* const* arguments) override {
    auto call = std::make_shared<Call>();
    if (next_) call->next = next_->begin(arguments);
    call->begin = runtime::now_ns();
    return call;
  }
  void end(void* begun, void* const* arguments, bool failed) override {
    auto* call = static_cast<Call*>(begun);
    file_->add(name_, "call", runtime::thread_index(), call->begin, runtime::now_ns());
    if (next_) next_->end(call->next.get(), arguments, failed);
  }

 private:
  struct Call {
    std::int64_t begin = 0;
    std::shared_ptr<void> next;
  };
  std::shared_ptr<runtime::TraceFile> file_;
  std::string name_;
  std::shared_ptr<runtime::Program::CallObserver> next_;
};

}  // namespace

Instrumentation instrumentation(const Options& o) {
  Instrumentation out;
  out.calls = !o.trace->empty() || wants_interpreter(o);
  out.elements = !o.trace->empty() || o.profile->has(Profile::kTable);
  return out;
}

void observe(runtime::Program& program, const std::shared_ptr<runtime::Program>& keep, const ir::Graph& g,
             const Options& o) {
  std::shared_ptr<runtime::Program::CallObserver> observer;
  if (wants_interpreter(o)) observer = watch_calls(g, o);
  if (!o.trace->empty()) {
    auto file = Records::get().trace(*o.trace);
    observer = std::make_shared<TracedCalls>(file, g.name, std::move(observer));
    program.set_trace_sink([file, elements = program.info().elements](std::int32_t ordinal, int thread,
                                                                      std::int64_t begin, std::int64_t end) {
      if (ordinal >= 0 && static_cast<std::size_t>(ordinal) < elements.size())
        file->add(elements[static_cast<std::size_t>(ordinal)].what, "element", thread, begin, end);
    });
  }
  program.set_observer(std::move(observer));
  if (o.profile->has(Profile::kPerf)) runtime::append_perf_map(program.code(), g.name);
  if (o.profile->has(Profile::kTable)) {
    Records& records = Records::get();
    const std::lock_guard lock(records.mutex);
    records.profiled.push_back(keep);
  }
}

void write_records() {
  Records::get().write();
}

void trace_compilation(const Options& o, const std::string& graph, std::int64_t begin_ns, const CompileStats& stats) {
  if (o.trace->empty()) return;
  const auto file = Records::get().trace(*o.trace);
  file->add("compile " + graph, "compile", 0, begin_ns, begin_ns + stats.total_ns);
  std::int64_t at = begin_ns + stats.key_ns;
  const std::pair<const char*, std::int64_t> phases[] = {
      {"validate", stats.validate_ns},  {"passes", stats.passes_ns},      {"lower", stats.lower_ns},
      {"front end", stats.frontend_ns}, {"optimiser", stats.optimise_ns}, {"code generation", stats.codegen_ns},
      {"load", stats.load_ns}};
  for (const auto& [name, spent] : phases) {
    if (spent > 0) file->add(name, "compile", 0, at, at + spent);
    at += spent;
  }
}

}  // namespace sdfg::jit
