// The one exported symbol of libsdfg-compiler.
#include "compile/service.hpp"

#include <sdfg/export.hpp>

#include "compile/build_id.hpp"
#include "compile/clang/lanes.hpp"

namespace sdfg::compiler {

namespace {

class Service final : public CompilerService {
 public:
  std::uint32_t version() const noexcept override { return kServiceVersion; }
  const char* build_id() const noexcept override { return compiler_build_id().c_str(); }
  void set_lane_limit(int lanes) noexcept override { Lanes::instance().set_limit(lanes); }
  void submit(const CompileRequest& request, std::function<void(CompileResult&&)> done) noexcept override {
    Lanes::instance().submit(request, std::move(done));
  }
};

}  // namespace

}  // namespace sdfg::compiler

extern "C" SDFG_EXPORT sdfg::compiler::CompilerService* sdfg_compiler_service() {
  static sdfg::compiler::Service service;
  return &service;
}
