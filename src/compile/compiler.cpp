// The client side of the compiler library: finds it, checks it, calls it.
#include "compile/compiler.hpp"

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <sdfg/error.hpp>

#include "compile/build_id.hpp"
#include "compile/helper.hpp"
#include "compile/locate.hpp"
#include "compile/service.hpp"

namespace sdfg::compiler {

namespace {

constexpr std::int64_t kForever = 1'000'000'000;  // seconds; longer limits would overflow the clock

// The documented singleton of this file: the opened library, kept for the life of the process.
struct Client {
  std::mutex mutex;
  std::atomic<CompilerService*> service{nullptr};
  int lanes = 0;
};

Client& client() {
  static Client* const instance = new Client;  // never destroyed: calls may come while the process exits
  return *instance;
}

// The dynamic linker has texts only.
bool is_short_of_memory(std::string_view reasons) {
  for (const std::string_view text : {"failed to map segment", "annot allocate memory", "out of memory",
                                      "cannot create TLS data structures", "cannot create shared object descriptor"}) {
    if (reasons.find(text) != std::string_view::npos) return true;
  }
  return false;
}

CompilerService* open_service() {
  std::string tried;
  void* library = nullptr;
  std::vector<std::string> paths = paths_beside_library(kServiceLibrary);
  paths.emplace_back(kServiceLibrary);  // wherever the dynamic linker finds it
  for (const std::string& path : paths) {
    // RTLD_LOCAL keeps its symbols to itself; RTLD_NODELETE because its lanes run until the process ends.
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library != nullptr) break;
    const char* reason = dlerror();
    tried += tried.empty() ? "" : "; ";
    tried += reason != nullptr ? reason : path;
  }
  if (library == nullptr && is_short_of_memory(tried)) {
    throw Error(ErrorClass::kResource, "there is no memory to map the compiler library (" + tried + ")", {},
                "raise the limit of address space (ulimit -v), or free memory");
  }
  if (library == nullptr) {
    throw Error(ErrorClass::kEnvironment, "the compiler library could not be opened (" + tried + ")", {},
                std::string(kServiceLibrary) + " has to lie in the folder of libsdfg.so");
  }
  const auto entry = reinterpret_cast<ServiceEntry>(dlsym(library, kServiceSymbol));
  CompilerService* service = entry != nullptr ? entry() : nullptr;
  if (service == nullptr || service->version() != kServiceVersion || service->build_id() != compiler_build_id()) {
    throw Error(ErrorClass::kEnvironment,
                std::string(kServiceLibrary) + " comes from another build than this library (" +
                    (service == nullptr ? std::string("it has no entry") : std::string(service->build_id())) +
                    " instead of " + compiler_build_id() + ")",
                {}, "install both libraries from the same build");
  }
  return service;
}

}  // namespace

CompilerService& compiler_service() {
  Client& state = client();
  if (CompilerService* service = state.service.load(std::memory_order_acquire)) return *service;
  const std::scoped_lock lock(state.mutex);
  if (CompilerService* service = state.service.load(std::memory_order_relaxed)) return *service;
  CompilerService* service = open_service();
  service->set_lane_limit(state.lanes);
  state.service.store(service, std::memory_order_release);
  return *service;
}

bool compiler_opened() noexcept {
  return client().service.load(std::memory_order_acquire) != nullptr;
}

int compile_lanes() {
  Client& state = client();
  const std::scoped_lock lock(state.mutex);
  return state.lanes;
}

void set_compile_lanes(int lanes) {
  Client& state = client();
  const std::scoped_lock lock(state.mutex);
  state.lanes = lanes;
  if (CompilerService* service = state.service.load(std::memory_order_relaxed)) service->set_lane_limit(lanes);
}

std::future<CompileResult> start_compile_host(CompileRequest request) {
  auto promise = std::make_shared<std::promise<CompileResult>>();
  std::future<CompileResult> future = promise->get_future();
  compiler_service().submit(request, [promise](CompileResult&& result) { promise->set_value(std::move(result)); });
  return future;
}

CompileResult compile_host(const CompileRequest& request, const CompileLimits& limits) {
  if (limits.helper) return compile_in_helper(request, limits.timeout_seconds);
  std::future<CompileResult> future = start_compile_host(request);
  // A lane can't be interrupted: on time-out it finishes in the background, and its result is dropped.
  const bool bounded = limits.timeout_seconds > 0 && limits.timeout_seconds < kForever;
  if (bounded && future.wait_for(std::chrono::seconds(limits.timeout_seconds)) == std::future_status::timeout) {
    CompileResult result;
    result.fault = Fault::kResource;
    result.timed_out = true;
    result.diagnostics.push_back(
        {Severity::kFatal, 0, 0,
         "the compilation took longer than " + std::to_string(limits.timeout_seconds) + " seconds"});
    return result;
  }
  return future.get();
}

std::vector<CompileResult> compile_host_all(std::span<const CompileRequest> requests, const CompileLimits& limits) {
  std::vector<CompileResult> results;
  if (limits.helper || limits.timeout_seconds > 0) {
    std::vector<std::future<CompileResult>> futures;
    for (const CompileRequest& request : requests) {
      futures.push_back(std::async(std::launch::async, [&request, &limits] { return compile_host(request, limits); }));
    }
    for (std::future<CompileResult>& future : futures) results.push_back(future.get());
    return results;
  }
  std::vector<std::future<CompileResult>> futures;
  for (const CompileRequest& request : requests) futures.push_back(start_compile_host(request));
  for (std::future<CompileResult>& future : futures) results.push_back(future.get());
  return results;
}

CompileLimits limits_of(const Options& resolved) {
  return {.helper = *resolved.compile_mode == CompileMode::kHelper, .timeout_seconds = *resolved.compile_timeout};
}

}  // namespace sdfg::compiler
