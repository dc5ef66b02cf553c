// Passes for devices: what they leave in the graph.
#include <catch2/catch.hpp>

#include "../support/make.hpp"
#include "ir/print.hpp"
#include "ir/validate.hpp"
#include "library/expand.hpp"
#include "transform/gpu/decide_blocks.hpp"
#include "transform/gpu/insert_barriers.hpp"
#include "transform/gpu/kernels.hpp"
#include "transform/gpu/normalise_schedules.hpp"
#include "transform/gpu/order_dimensions.hpp"
#include "transform/gpu/place_memory.hpp"
#include "transform/gpu/plan_streams.hpp"
#include "transform/gpu/prepare.hpp"
#include "transform/gpu/split_reductions.hpp"
#include "transform/gpu/to_host.hpp"

namespace test_gpu {

using namespace sdfg;
using namespace sdfg::test;
using namespace sdfg::transform;

namespace {

constexpr ScalarType kD = ScalarType::kFloat64;

ir::Sequence& kernel(Maker& m, ir::Sequence& in, const std::string& params, const std::string& ranges) {
  return m.map(in, params, ranges, ir::Schedule::kDevice);
}

ir::Container& on_device(ir::Container& c) {
  c.storage = ir::Storage::kGpuGlobal;
  return c;
}

int barriers(const ir::Graph& g) {
  int n = 0;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* s = std::get_if<ir::State>(&e.kind);
    n += s != nullptr && s->barrier ? 1 : 0;
  });
  return n;
}

struct Issued {
  std::set<int> streams;
  int waits = 0, records = 0, host_waits = 0;
};
Issued issued(const ir::Graph& g) {
  Issued out;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    if (!e.issue) return;
    const auto* s = std::get_if<ir::State>(&e.kind);
    if (s == nullptr || !s->nodes.empty()) out.streams.insert(e.issue->stream);
    out.waits += static_cast<int>(e.issue->awaited_events.size());
    out.records += static_cast<int>(e.issue->recorded_events.size());
    out.host_waits += static_cast<int>(e.issue->host_waits.size());
  });
  return out;
}

const ir::Map& first_kernel(const ir::Graph& g) {
  const ir::Map* found = nullptr;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* m = std::get_if<ir::Map>(&e.kind);
    if (found == nullptr && m != nullptr && m->schedule == ir::Schedule::kDevice) found = m;
  });
  REQUIRE(found != nullptr);
  return *found;
}

}  // namespace

TEST_CASE("undecided maps that touch device memory become kernels, maps around kernels run in order") {
  Maker m;
  on_device(m.array("A", kD, "N"));
  m.symbol("N");
  auto& outer = m.map(m.body(), "t", "0:3");
  m.tasklet(m.map(outer, "i", "0:N"), "o = a + 1", {"a = A[i]"}, {"o = A[i]"});
  auto& k = kernel(m, m.body(), "j", "0:N");
  m.tasklet(m.map(k, "l", "0:2", ir::Schedule::kParallel), "o = a", {"a = A[j]"}, {"o = A[j]"});
  normalise_schedules(m.g);
  const auto& map = std::get<ir::Map>(m.g.body.items[0]->kind);
  CHECK(map.schedule == ir::Schedule::kDevice);  // all that it holds may run at once
  const auto& second = std::get<ir::Map>(m.g.body.items[1]->kind);
  CHECK(std::get<ir::Map>(second.body.items[0]->kind).schedule == ir::Schedule::kSequential);
}

TEST_CASE("a kernel alone in a kernel joins it; beside other work it runs in order") {
  Maker m;
  on_device(m.array("A", kD, "N, N"));
  m.symbol("N");
  auto& a = kernel(m, m.body(), "i", "0:N");
  m.tasklet(m.map(a, "j", "0:N", ir::Schedule::kDevice), "o = 1.0", {}, {"o = A[i, j]"});
  auto& b = kernel(m, m.body(), "k", "0:N");
  m.tasklet(m.map(b, "l", "0:N", ir::Schedule::kDevice), "o = 1.0", {}, {"o = A[k, l]"});
  m.tasklet(m.map(b, "p", "0:N", ir::Schedule::kDevice), "o = 2.0", {}, {"o = A[k, p]"});
  normalise_schedules(m.g);
  CHECK(std::get<ir::Map>(m.g.body.items[0]->kind).params == std::vector<std::string>{"i", "j"});
  const auto& second = std::get<ir::Map>(m.g.body.items[1]->kind);
  CHECK(second.params == std::vector<std::string>{"k"});
  CHECK(!holds(second.body, ir::Schedule::kDevice));
}

TEST_CASE("scalars of kernels: device memory alone, or a twin with copies around the kernels that write it") {
  for (const bool host_reads : {false, true}) {
    Maker m;
    on_device(m.array("A", kD, "N"));
    m.array("R", kD, "1");
    m.scalar("s", kD);
    m.symbol("N");
    m.tasklet(kernel(m, m.body(), "i", "0:N"), "o = a", {"a = A[i]"}, {"o = s | sum"});
    if (host_reads) m.tasklet(m.body(), "o = v", {"v = s"}, {"o = R[0]"});
    place_host_containers(m.g);
    CHECK((m.g.containers.at("s").storage == ir::Storage::kGpuGlobal) == !host_reads);
    CHECK(m.g.body.items.size() == (host_reads ? 4u : 1u));
  }
}

TEST_CASE("memory of a kernel moves out with a slice per point when it has no constant size") {
  Maker m;
  on_device(m.array("A", kD, "N"));
  m.symbol("N");
  m.symbol("K");
  auto& b = m.block(kernel(m, m.body(), "i, j", "0:N, 2:N:3"));
  m.transient("small", kD, "4", &b);
  m.transient("large", kD, "K", &b);
  m.tasklet(b.body, "o = 1.0", {}, {"o = small[0]"});
  m.tasklet(b.body, "o = a", {"a = small[0]"}, {"o = large[K - 1]"});
  place_kernel_memory(m.g);
  CHECK(m.g.containers.at("small").storage == ir::Storage::kRegister);
  const ir::Container& large = m.g.containers.at("large");
  CHECK(large.storage == ir::Storage::kGpuGlobal);
  CHECK(large.rank() == 3);
  const std::string text = ir::to_text(m.g);
  INFO(text);
  CHECK(text.find("large[i, (j + 1)//3 - 1, K - 1]") != std::string::npos);
}

TEST_CASE("points of a sequential map that use the same memory of a kernel are iterations of loops") {
  for (const bool two : {false, true}) {
    Maker m;
    on_device(m.array("A", kD, "N, K, 5"));
    m.symbol("N");
    m.symbol("K");
    auto& points = m.map(kernel(m, m.body(), "i", "0:N"), two ? "j, k" : "j", two ? "0:K, 0:5:2" : "0:K",
                         ir::Schedule::kSequential);
    auto& b = m.block(points);
    m.transient("large", kD, "K", &b);
    m.tasklet(b.body, "o = 1.0", {}, {"o = large[0]"});
    m.tasklet(b.body, "o = v", {"v = large[0]"}, {two ? "o = A[i, j, k]" : "o = A[i, j, 0]"});
    ir::check(m.g);
    place_kernel_memory(m.g);
    ir::check(m.g);
    const std::string text = ir::to_text(m.g);
    INFO(text);
    CHECK(m.g.containers.at("large").rank() == 2);
    CHECK(m.g.symbols.at("j").binder == ir::BinderKind::kLoopVariable);
    int loops = 0;
    ir::walk(m.g.body, [&](const ir::Element& e, const ir::Ancestors&) {
      loops += std::holds_alternative<ir::For>(e.kind) ? 1 : 0;
    });
    CHECK(loops == (two ? 2 : 1));
  }
}

TEST_CASE("an expansion leaves no scalar code on the host that writes device memory") {
  Maker m;
  on_device(m.array("A", kD, "N"));
  on_device(m.array("R", kD, "3"));
  m.symbol("N");
  m.library(m.body(), ir::Reduce{ir::ReduceOp::kSum, {}, {0}, tasklet::Value::floating(0.0)}, {"_in = A"},
            {"_out = R[1]"});
  ir::check(m.g);
  library::expand_library_nodes(m.g, {}, nullptr);
  INFO(ir::to_text(m.g));
  ir::check(m.g);
  CHECK(first_kernel(m.g).gpu_block_size == std::vector<std::int64_t>{1, 1, 1});
}

TEST_CASE("kernels accumulate plainly only where no two elements share a place") {
  using symbolic::Expr;
  const Expr n = Expr::symbol("N"), s = Expr::symbol("S");
  struct Case {
    ir::Extents strides;
    int least;  // S
    bool plain;
  };
  const Case cases[] = {{{n, 1}, 0, true},  {{1, n}, 0, true},      {{2 * n, 2}, 0, true}, {{-1 * n, 1}, 1, true},
                        {{s, 1}, 0, false}, {{n * s, s}, 0, false}, {{n * s, s}, 1, true}, {{n + s, 1}, 0, true},
                        {{1, 1}, 0, false}, {{0, 1}, 0, false},     {{1, s}, 5, false},    {{n, -1}, 1, true}};
  for (const Case& c : cases) {
    Maker m;
    on_device(m.array("A", kD, "N, N")).layout = ir::Layout::strided({n, n}, c.strides);
    m.symbol("N");
    m.symbol("S");
    m.g.symbols.find("N")->lower = Expr(1);
    m.g.symbols.find("S")->lower = Expr(c.least);
    m.tasklet(kernel(m, m.body(), "i, j", "0:N, 0:N"), "o = 1.0", {}, {"o = A[i, j] | sum"});
    prepare_for_device(m.g, {}, {});
    INFO(ir::to_text(m.g));
    ir::walk(m.g.body, [&](const ir::Element& e, const ir::Ancestors&) {
      const auto* state = std::get_if<ir::State>(&e.kind);
      if (state == nullptr) return;
      for (const ir::Memlet& edge : state->edges) {
        if (edge.wcr) CHECK(edge.wcr->lowering == (c.plain ? ir::WcrLowering::kPlain : ir::WcrLowering::kAtomic));
      }
    });
  }
}

TEST_CASE("barriers stand between phases that share memory, and nowhere else") {
  const auto count = [](const std::function<void(Maker&, ir::Block&)>& fill) {
    Maker m;
    on_device(m.array("A", kD, "N"));
    m.symbol("N");
    auto& b = m.block(kernel(m, m.body(), "b", "0:N:32"));
    m.transient("t", kD, "32", &b).storage = ir::Storage::kGpuShared;
    m.transient("u", kD, "32", &b).storage = ir::Storage::kGpuShared;
    fill(m, b);
    insert_barriers(m.g);
    return barriers(m.g);
  };
  const auto threads = [](Maker& m, ir::Sequence& in, const std::string& p) -> ir::Sequence& {
    return m.map(in, p, "0:32", ir::Schedule::kThreadBlock);
  };
  // Write, then read.
  CHECK(count([&](Maker& m, ir::Block& b) {
          m.tasklet(threads(m, b.body, "i"), "o = a", {"a = A[b + i]"}, {"o = t[i]"});
          m.tasklet(threads(m, b.body, "j"), "o = a", {"a = t[31 - j]"}, {"o = A[b + j]"});
        }) == 1);
  // Nothing in common.
  CHECK(count([&](Maker& m, ir::Block& b) {
          m.tasklet(threads(m, b.body, "i"), "o = 1.0", {}, {"o = t[i]"});
          m.tasklet(threads(m, b.body, "j"), "o = 2.0", {}, {"o = u[j]"});
        }) == 0);
  // Read, then write; around the back edge of the loop.
  CHECK(count([&](Maker& m, ir::Block& b) {
          auto& l = m.loop(b.body, "k", "0", "k < 3", "k + 1");
          m.tasklet(threads(m, l, "i"), "o = a", {"a = A[b + i]"}, {"o = t[i]"});
          m.tasklet(threads(m, l, "j"), "o = a", {"a = t[31 - j]"}, {"o = u[j]"});
        }) == 2);
  // A condition on what a thread wrote.
  CHECK(count([&](Maker& m, ir::Block& b) {
          m.tasklet(b.body, "o = 1.0", {}, {"o = t[0]"});
          auto& i = m.if_(b.body, {"t[0] > 0"});
          m.tasklet(threads(m, i.branches[0].body, "j"), "o = 2.0", {}, {"o = u[j]"});
        }) == 1);
}

TEST_CASE("sums over some dimensions leave the kernel's dimensions") {
  Maker m;
  on_device(m.array("A", kD, "M, N"));
  on_device(m.array("R", kD, "M"));
  on_device(m.array("C", kD, "N"));
  m.symbol("M");
  m.symbol("N");
  m.tasklet(kernel(m, m.body(), "i, j", "0:M, 0:N"), "o = a", {"a = A[i, j]"}, {"o = R[i] | sum"});
  m.tasklet(kernel(m, m.body(), "k, l", "0:M, 0:N"), "o = a", {"a = A[k, l]"}, {"o = C[l] | sum"});
  split_reductions(m.g);
  const auto& rows = std::get<ir::Map>(m.g.body.items[0]->kind);
  CHECK(rows.params == std::vector<std::string>{"i"});
  CHECK(std::get<ir::Map>(rows.body.items[0]->kind).schedule == ir::Schedule::kThreadBlock);  // neighbours lie along j
  const auto& columns = std::get<ir::Map>(m.g.body.items[1]->kind);
  CHECK(columns.params == std::vector<std::string>{"l"});
  CHECK(std::get<ir::Map>(columns.body.items[0]->kind).schedule == ir::Schedule::kSequential);
}

TEST_CASE("the dimension of neighbours in memory comes last") {
  Maker m;
  on_device(m.array("A", kD, ir::Layout::column_major(Maker::extents("M, N"))));
  m.symbol("M");
  m.symbol("N");
  m.tasklet(kernel(m, m.body(), "i, j", "0:M, 0:N"), "o = a + 1", {"a = A[i, j]"}, {"o = A[i, j]"});
  order_dimensions(m.g);
  CHECK(first_kernel(m.g).params == std::vector<std::string>{"j", "i"});
}

TEST_CASE("block sizes come from the map, the thread-block maps inside, or the default") {
  const auto size_of = [](const std::function<void(Maker&)>& fill, transform::DeviceOptions options = {}) {
    Maker m;
    on_device(m.array("A", kD, "N, N"));
    m.symbol("N");
    fill(m);
    decide_blocks(m.g, options);
    return first_kernel(m.g).gpu_block_size;
  };
  using Size = std::vector<std::int64_t>;
  const auto plain = [](Maker& m) { m.tasklet(kernel(m, m.body(), "i", "0:N"), "o = 1.0", {}, {"o = A[i, 0]"}); };
  CHECK(size_of(plain) == Size{128, 1, 1});
  CHECK(size_of(plain, {.block = {16, 16, 1}}) == Size{256, 1, 1});  // one dimension: all along x
  CHECK(size_of([](Maker& m) {
          auto& k = kernel(m, m.body(), "b", "0:N:32");
          m.tasklet(m.map(k, "i, j", "b:min(N, b + 32), 0:4", ir::Schedule::kThreadBlock), "o = 1.0", {},
                    {"o = A[i, j]"});
        }) == Size{4, 32, 1});
}

TEST_CASE("streams: independent work overlaps, dependent work does not; the host waits where it reads") {
  const auto plan = [](int streams, bool host_reads) {
    Maker m;
    for (const char* x : {"A", "B", "C"}) {
      m.array(x, kD, "N");
      on_device(m.transient("g" + std::string(x), kD, "N"));
    }
    m.array("R", kD, "1");
    m.symbol("N");
    for (const std::string x : {"A", "B"}) {
      m.copy(m.body(), x, "g" + x);
      m.tasklet(kernel(m, m.body(), "i" + x, "0:N"), "o = a + 1", {"a = g" + x + "[i" + x + "]"},
                {"o = g" + x + "[i" + x + "]"});
    }
    m.tasklet(kernel(m, m.body(), "j", "0:N"), "o = a + b", {"a = gA[j]", "b = gB[j]"}, {"o = gC[j]"});
    m.copy(m.body(), "gC", "C");
    if (host_reads) m.tasklet(m.body(), "o = c", {"c = C[0]"}, {"o = R[0]"});
    plan_streams(m.g, {.streams = streams});
    return issued(m.g);
  };
  CHECK(plan(0, false).streams == std::set<int>{0, 1});
  CHECK(plan(0, false).waits > 0);
  CHECK(plan(1, false).streams == std::set<int>{0});
  CHECK(plan(1, false).waits + plan(1, false).records == 0);
  CHECK(plan(-1, false).streams == std::set<int>{-1});
  CHECK(plan(0, false).host_waits == 0);  // the end of a call waits by itself
  CHECK(plan(0, true).host_waits == 1);
}

TEST_CASE("a wait in a loop stands where the host reads, for every iteration") {
  Maker m;
  m.array("A", kD, "N");
  on_device(m.transient("d", kD, "N"));
  m.symbol("N");
  auto& t = m.loop(m.body(), "t", "0", "t < 3", "t + 1");
  m.tasklet(m.map(t, "j", "0:N"), "o = a + 1", {"a = A[j]"}, {"o = A[j]"});
  m.copy(t, "A", "d");
  m.tasklet(kernel(m, t, "i", "0:N"), "o = a * 2", {"a = d[i]"}, {"o = d[i]"});
  m.copy(t, "d", "A");
  plan_streams(m.g, {});
  const auto& loop = std::get<ir::For>(m.g.body.items[0]->kind);
  REQUIRE(loop.body.items.front()->issue);
  CHECK(loop.body.items.front()->issue->host_waits == std::vector<int>{0});
  CHECK(issued(m.g).host_waits == 1);
}

TEST_CASE("as maps of the host, registers of a block have one element per thread") {
  Maker m;
  m.array("C", ScalarType::kInt64, "N");
  m.symbol("N");
  auto& b = m.block(kernel(m, m.body(), "b", "0:N:8"));
  m.scalar("mine", ScalarType::kInt64, &b).storage = ir::Storage::kRegister;
  m.tasklet(m.map(b.body, "i", "0:8", ir::Schedule::kThreadBlock), "o = i", {}, {"o = mine"});
  m.tasklet(m.map(b.body, "j", "0:8", ir::Schedule::kThreadBlock), "o = v", {"v = mine"}, {"o = C[b + j]"});
  to_host(m.g);
  CHECK(!transform::uses_device(m.g));
  CHECK(m.g.containers.at("mine").rank() == 1);
  CHECK(m.g.containers.at("mine").layout.shape()[0] == symbolic::Expr(8));
}

}  // namespace test_gpu
