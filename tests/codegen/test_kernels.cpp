// Kernel text: goldens, and every kernel through NVRTC where it is installed.
#include <catch2/catch.hpp>

#include "codegen/device_text.hpp"
#include "lower/host.hpp"
#include "run_tools.hpp"
#include "support/graph_tools.hpp"
#include "support/nvrtc.hpp"
#include "transform/gpu/prepare.hpp"

using namespace sdfg;
using namespace sdfg::test;
using ir::ReduceOp;

namespace {

struct Emitted {
  std::string host, device, whole_device;
};

Emitted emit(const ir::Graph& g, const transform::DeviceOptions& options = {}) {
  ir::Graph work = g.clone();
  transform::prepare_for_device(work, {}, options);
  const lower::Lowered l = lower::lower_graph(work, {}, ir::ordinals(g));
  Emitted out;
  out.host = own_part(codegen::print(l.host).text);
  out.whole_device = codegen::print_device(l.device, codegen::DeviceDialect::kCuda).text;
  const std::size_t prelude = codegen::device_prelude(codegen::DeviceDialect::kCuda).size();
  std::size_t first = out.whole_device.size();
  for (const char* start : {"static __device__", "static __constant__", "extern \"C\" __global__"})
    first = std::min(first, out.whole_device.find(start, prelude));
  out.device = out.whole_device.substr(first);
  return out;
}

void check_nvrtc(const std::string& text) {
  const Nvrtc& nvrtc = Nvrtc::get();
  if (!nvrtc.present()) {
    WARN("NOTICE: NVRTC is not installed: the compilation of kernels is skipped");
    return;
  }
  for (const char* arch : {"sm_80", "sm_90", "sm_100"}) {
    INFO(arch << "\n" << text);
    CHECK(nvrtc.compile(text, arch) == "");
  }
}

void on_device(ir::Graph& g) {
  for (ir::Container& c : g.containers) {
    if (!c.is_scalar()) c.storage = ir::Storage::kGpuGlobal;
  }
}

}  // namespace

TEST_CASE("an element-wise device map is a kernel of a few lines") {
  ir::Graph g("axpy");
  array(g, "x", ScalarType::kFloat64, {"N"});
  array(g, "y", ScalarType::kFloat64, {"N"});
  scalar(g, "a", ScalarType::kFloat64, false);
  symbol(g, "N");
  ir::Element& m = map(g, g.body, {{"i", "0:N"}}, ir::Schedule::kDevice);
  compute(g, body(m), "axpy", "o = s * p + q", {{"s", "a", ""}, {"p", "x", "i"}, {"q", "y", "i"}}, {{"o", "y", "i"}});
  on_device(g);
  const Emitted e = emit(g);
  check_golden("axpy_kernel.cpp", e.device + "\n" + e.host);
  check_nvrtc(e.whole_device);
}
