// Tiled sums of products that make many blocks, once each, and what explain() says about them.
#include <catch2/catch.hpp>
#include <sdfg/compile.hpp>

#include "compiled.hpp"
#include "interpret/interpreter.hpp"
#include "program_groups.hpp"

namespace test_contractions {

using namespace sdfg;
using namespace sdfg::test;

namespace {

Options emulated() {
  return options_on(DeviceChoice::Kind::kEmulated);
}

std::string difference(const Made& made, const AnyFunction& f, std::int64_t n, double tolerance) {
  Memory want = made.memory(n), got = made.memory(n);
  const ir::Graph graph = made.graph.clone();
  interpret::Instance instance(graph, {});
  instance.run(interpret::Arguments::from_packed(made.graph, want.pack(made.graph)));
  f.call_packed(got.pack(made.graph));
  return got.difference(want, [&](const std::string&) { return tolerance; });
}

}  // namespace

// Seventeen summed places are a whole step and a rest.
TEST_CASE("results of many blocks in large tiles") {
  const Made made = make({"many blocks", [&](Gpu& m) {
                            m.in("A", kF32, "130, N + 3, 17");
                            m.in("B", kF32, "130, N + 17, 17");
                            m.inout("C", kF32, "130, N + 3, N + 17");
                            symbols(m, {"N"});
                            m.tasklet(m.kernel("b, i, j, k", "0:130, 0:N + 3, 0:N + 17, 0:17"), "o = x * y",
                                      {"x = gA[b, i, k]", "y = gB[b, j, k]"}, {"o = gC[b, i, j] | sum"});
                          }});
  const AnyFunction f = compiled(made.graph, emulated());
  CHECK(f.explain().find("tiles of 128 x 128 x 16") != std::string::npos);
  CHECK(difference(made, f, 33, 1e-4).empty());
}

TEST_CASE("explain names rows, columns and sums of a convolution, or why it has no tiles") {
  const auto convolution = [](bool by_hand) {
    return make({"convolution", [=](Gpu& m) {
                   m.in("X", kF32, "2, N + 2, N + 2, 8");
                   m.in("W", kF32, "3, 3, 8, 32");
                   m.inout("Y", kF32, "2, N, N, 32");
                   symbols(m, {"N"});
                   auto& e = m.map_element(m.body(), "n, h, w, c, y, x, d", "0:2, 0:N, 0:N, 0:32, 0:3, 0:3, 0:8",
                                           ir::Schedule::kDevice);
                   if (by_hand) std::get<ir::Map>(e.kind).gpu_block_size = {32, 4, 1};
                   m.tasklet(Maker::body_of(e), "o = a * b", {"a = gX[n, h + y, w + x, d]", "b = gW[y, x, d, c]"},
                             {"o = gY[n, h, w, c] | sum"});
                 }});
  };
  const std::string tiled = compiled(convolution(false).graph, emulated()).explain();
  INFO(tiled);
  CHECK(tiled.find("map 'n, h, w, c, y, x, d': a product of matrices by tiles of") != std::string::npos);
  CHECK(tiled.find("rows n h w, columns c, summed y x d") != std::string::npos);
  const std::string kept = compiled(convolution(true).graph, emulated()).explain();
  CHECK(kept.find("no tiles: its block size or launch bounds were set by hand") != std::string::npos);
  Options off = emulated();
  off.skip_passes = std::vector<std::string>{"tile_contractions"};
  CHECK(compiled(convolution(false).graph, off).explain().find("tiles") == std::string::npos);
}

}  // namespace test_contractions
