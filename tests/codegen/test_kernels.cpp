// Kernel text: goldens, and every kernel through NVRTC where it is installed.
#include <catch2/catch.hpp>

#include "codegen/device_text.hpp"
#include "lower/host.hpp"
#include "run_tools.hpp"
#include "support/graph_tools.hpp"
#include "support/nvrtc.hpp"
#include "transform/gpu/prepare.hpp"

namespace test_kernels {

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
  std::size_t first = out.whole_device.size();
  for (const char* start : {"static __device__", "static __constant__", "extern \"C\" __global__"})
    first = std::min(first, out.whole_device.find(start));
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

TEST_CASE("a stencil takes x along the last dimension and strides along y") {
  ir::Graph g = jacobi_2d();
  on_device(g);
  ir::walk(g.body, [&](ir::Element& e) {
    if (auto* m = std::get_if<ir::Map>(&e.kind)) m->schedule = ir::Schedule::kDevice;
  });
  const Emitted e = emit(g, {.block = {32, 4, 1}});
  check_golden("jacobi_2d_kernels.cpp", e.device + "\n" + e.host);
  check_nvrtc(e.whole_device);
}

TEST_CASE("a sum is a partial result per thread, folded per block, one atomic operation each") {
  ir::Graph g("sum");
  array(g, "A", ScalarType::kFloat32, {"M", "N"});
  scalar(g, "s", ScalarType::kFloat32, false).storage = ir::Storage::kGpuGlobal;
  symbol(g, "M");
  symbol(g, "N");
  ir::Element& m = map(g, g.body, {{"i", "0:M"}, {"j", "0:N"}}, ir::Schedule::kDevice);
  compute(g, body(m), "add", "o = a", {{"a", "A", "i, j"}}, {accumulate("o", "s", "", ReduceOp::kSum)});
  on_device(g);
  const Emitted e = emit(g);
  check_golden("sum_kernel.cpp", e.device + "\n" + e.host);
  check_nvrtc(e.whole_device);
}

TEST_CASE("phases of a block that share memory have barriers between them, around loops as well") {
  ir::Graph g("tiles");
  array(g, "A", ScalarType::kFloat64, {"N"});
  array(g, "B", ScalarType::kFloat64, {"N"});
  symbol(g, "N");
  ir::Element& blocks = map(g, g.body, {{"b", "0:N:32"}}, ir::Schedule::kDevice);
  auto& block = std::get<ir::Block>(g.append(body(blocks), ir::Block{}).kind);
  ir::Container& tile = transient(g, "tile", ScalarType::kFloat64, {"32"});
  tile.storage = ir::Storage::kGpuShared;
  std::erase(g.locals, "tile");
  block.locals.push_back("tile");
  ir::Element& t = loop(g, block.body, "t", "0", "t < 3", "t + 1");
  ir::Element& load = map(g, body(t), {{"i", "0:Min(32, N - b)"}}, ir::Schedule::kThreadBlock);
  compute(g, body(load), "load", "o = a", {{"a", "A", "b + i"}}, {{"o", "tile", "i"}});
  ir::Element& use = map(g, body(t), {{"j", "0:Min(32, N - b)"}}, ir::Schedule::kThreadBlock);
  compute(g, body(use), "use", "o = a + p", {{"a", "tile", "Min(31, N - b - 1) - j"}, {"p", "B", "b + j"}},
          {{"o", "B", "b + j"}});
  on_device(g);
  tile.storage = ir::Storage::kGpuShared;
  const Emitted e = emit(g);
  check_golden("tiles_kernel.cpp", e.device + "\n" + e.host);
  check_nvrtc(e.whole_device);
}

}  // namespace test_kernels
