// The interface between libsdfg and libsdfg-compiler, which holds Clang and is opened at the first cache miss.
//
// Both libraries come from one build: the client checks interface version and build id before it calls anything else.
// Nothing here throws across the boundary; failures are results.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compile/request.hpp"
#include "tasklet/analyse_cpp.hpp"

namespace sdfg::compiler {

inline constexpr std::uint32_t kServiceVersion = 4;
inline constexpr const char* kServiceSymbol = "sdfg_compiler_service";
inline constexpr const char* kServiceLibrary = "libsdfg-compiler.so";

class CompilerService {
 public:
  // First in the table, and never moved: called before the version is known to match.
  virtual std::uint32_t version() const noexcept = 0;
  virtual const char* build_id() const noexcept = 0;

  // At most this many lanes compile at once; 0 restores the default (usable cores, at most 8). Running lanes finish.
  virtual void set_lane_limit(int lanes) noexcept = 0;

  // Queues a request; `done` runs on a lane's thread (or on the caller's, if no lane can be started), exactly once.
  virtual void submit(const CompileRequest& request, std::function<void(CompileResult&&)> done) noexcept = 0;

  // Blocks while a lane reads the tasklet. Never fails; see tasklet::CppAnalyser.
  virtual tasklet::CppFacts analyse_cpp(const tasklet::CppTask& task) noexcept = 0;

 protected:
  ~CompilerService() = default;
};

using ServiceEntry = CompilerService* (*)();

}  // namespace sdfg::compiler
