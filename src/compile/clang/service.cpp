// The one exported symbol of libsdfg-compiler.
#include "compile/service.hpp"

#include <exception>
#include <future>
#include <memory>
#include <new>
#include <sdfg/export.hpp>

#include "compile/build_id.hpp"
#include "compile/clang/cpp_analysis.hpp"
#include "compile/clang/host_compiler.hpp"
#include "compile/clang/lanes.hpp"

namespace sdfg::compiler {

namespace {

class Service final : public CompilerService {
 public:
  std::uint32_t version() const noexcept override { return kServiceVersion; }
  const char* build_id() const noexcept override { return compiler_build_id().c_str(); }
  void set_lane_limit(int lanes) noexcept override { Lanes::instance().set_limit(lanes); }
  void submit(const CompileRequest& request, std::function<void(CompileResult&&)> done) noexcept override {
    // Shared by the two ends of the job, of which one is called.
    auto report = std::make_shared<std::function<void(CompileResult&&)>>(std::move(done));
    Lanes::instance().submit(
        [request, report] {
          CompileResult result;
          try {
            result = compile_source(request, &share_work);
          } catch (const std::bad_alloc&) {
            result = failure(Fault::kResource, "there was no memory left for the compiler");
          } catch (const std::exception& error) {
            result = failure(Fault::kCode, error.what());
          }
          (*report)(std::move(result));
        },
        [report](Fault fault, const std::string& reason) { (*report)(failure(fault, reason)); });
  }
  tasklet::CppFacts analyse_cpp(const tasklet::CppTask& task) noexcept override {
    auto promise = std::make_shared<std::promise<tasklet::CppFacts>>();
    std::future<tasklet::CppFacts> future = promise->get_future();
    Lanes::instance().submit(
        [task, promise] { promise->set_value(facts_from_syntax(task)); },
        [task, promise](Fault, const std::string&) { promise->set_value(facts_from_tokens(task)); });
    return future.get();
  }

 private:
  static void share_work(std::function<void()> work, JobFailed failed) {
    Lanes::instance().submit_part(std::move(work), std::move(failed), &warm_up);
  }
  // What LLVM sets up at first use is set up by one thread.
  static void warm_up() {
    CompileRequest request;
    request.name = "warm_up.cpp";
    request.source = "void f(double* x, long n) { for (long i = 0; i < n; ++i) x[i] += 1; }";
    request.triple = "x86_64-pc-linux-gnu";
    request.cpu = "x86-64";
    compile_source(request);
  }
  static CompileResult failure(Fault fault, std::string text) {
    CompileResult result;
    result.fault = fault;
    result.diagnostics.push_back({Severity::kFatal, 0, 0, std::move(text)});
    return result;
  }
};

}  // namespace

}  // namespace sdfg::compiler

extern "C" SDFG_EXPORT sdfg::compiler::CompilerService* sdfg_compiler_service() {
  static auto* const service = new sdfg::compiler::Service;  // lanes may be at work when the process ends
  return service;
}
