// Tiled sums of products: what is recognised, what stays and why, and what the kernel is made of.
#include <catch2/catch.hpp>

#include "../support/make.hpp"
#include "ir/print.hpp"
#include "ir/validate.hpp"
#include "transform/gpu/kernels.hpp"
#include "transform/gpu/prepare.hpp"
#include "transform/gpu/tile_contractions.hpp"

namespace test_tile_contractions {

using namespace sdfg;
using namespace sdfg::test;
using namespace sdfg::transform;

namespace {

constexpr ScalarType kF = ScalarType::kFloat32;
constexpr ScalarType kD = ScalarType::kFloat64;

class Device : public Maker {
 public:
  ir::Container& on(const std::string& name, Type type, std::string_view shape) {
    ir::Container& c = array(name, std::move(type), shape);
    c.storage = ir::Storage::kGpuGlobal;
    return c;
  }
  Seq& kernel(const std::string& params, const std::string& ranges) {
    return map(body(), params, ranges, ir::Schedule::kDevice);
  }
  // Matrices of constant extents that can be multiplied, and one for their product.
  void operands(const Type& type = kF) {
    on("A", type, "256, 64");
    on("B", type, "64, 256");
    on("C", type, "256, 256");
  }
  // Their product as a map over all points.
  void product(const std::string& code = "o = a * b", const std::string& write = "C[i, j] | sum", Type type = kF) {
    operands(type);
    tasklet(kernel("i, j, k", "0:256, 0:256, 0:64"), code, {"a = A[i, k]", "b = B[k, j]"}, {"o = " + write});
  }
};

struct Result {
  bool changed = false;
  std::string why;
  std::vector<const ir::Map*> kernels;
};
Result tile(Device& m) {
  Result r;
  std::vector<std::string> lines;
  r.changed = tile_contractions(m.g, false, &lines);
  for (const std::string& l : lines) r.why += l + "\n";
  ir::check(m.g);
  ir::walk(m.g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    if (is_kernel(e)) r.kernels.push_back(&std::get<ir::Map>(e.kind));
  });
  return r;
}
bool says(const Result& r, const std::string& what) {
  return r.why.find(what) != std::string::npos;
}

int count(const ir::Graph& g, const std::function<bool(const ir::Element&)>& what) {
  int n = 0;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) { n += what(e) ? 1 : 0; });
  return n;
}

}  // namespace

TEST_CASE("a product of matrices becomes a kernel over tiles, through shared memory and registers") {
  Device m;
  m.product();
  const Result r = tile(m);
  INFO(r.why + ir::to_text(m.g));
  REQUIRE(r.changed);
  REQUIRE(r.kernels.size() == 1);
  CHECK(r.kernels[0]->params.size() == 2);
  CHECK(r.kernels[0]->gpu_block_size == std::vector<std::int64_t>{128, 1, 1});
  CHECK(holds(r.kernels[0]->body, ir::Schedule::kThreadBlock));
  CHECK(says(r, "a product of matrices by tiles of 64 x 64 x 16: rows i, columns j, summed k"));
  int shared = 0, registers = 0;
  for (const ir::Container& c : m.g.containers) {
    shared += c.storage == ir::Storage::kGpuShared ? 1 : 0;
    registers += c.storage == ir::Storage::kRegister ? 1 : 0;
  }
  CHECK(shared == 2);
  CHECK(registers == 7);
  // Tiles divide the extents: nothing is asked.
  CHECK(count(m.g, [](const ir::Element& e) { return std::holds_alternative<ir::If>(e.kind); }) == 0);
}

TEST_CASE("tiled kernels meet twice per step of the sum") {
  Device m;
  m.product();
  prepare_for_device(m.g, {}, {});
  const int barriers = count(m.g, [](const ir::Element& e) {
    const auto* s = std::get_if<ir::State>(&e.kind);
    return s != nullptr && s->barrier;
  });
  INFO(ir::to_text(m.g));
  CHECK(barriers == 3);  // the third: the result is read before and written after
  ir::check(m.g);
}

TEST_CASE("results that make many blocks take large tiles, by type") {
  for (const auto& [type, text] : {std::pair{Type(kF), "128 x 128 x 16"}, std::pair{Type(kD), "128 x 64 x 8"},
                                   std::pair{Type(ScalarType::kComplex128), "64 x 64 x 8"}}) {
    Device m;
    m.on("A", type, "4096, 64");
    m.on("B", type, "64, 4096");
    m.on("C", type, "4096, 4096");
    m.tasklet(m.kernel("i, j, k", "0:4096, 0:4096, 0:64"), "o = a * b", {"a = A[i, k]", "b = B[k, j]"},
              {"o = C[i, j] | sum"});
    const Result r = tile(m);
    INFO(r.why);
    CHECK(says(r, std::string("tiles of ") + text));
  }
}

TEST_CASE("symbolic extents decide at run time between the tiles and the kernel as it was") {
  Device m;
  m.on("A", kF, "M, K");
  m.on("B", kF, "K, N");
  m.on("C", kF, "M, N");
  for (const char* s : {"M", "N", "K"}) m.symbol(s);
  m.tasklet(m.kernel("i, j, k", "0:M, 0:N, 0:K"), "o = a * b", {"a = A[i, k]", "b = B[k, j]"}, {"o = C[i, j] | sum"});
  const Result r = tile(m);
  INFO(r.why + ir::to_text(m.g));
  REQUIRE(r.changed);
  CHECK(r.kernels.size() == 3);
  CHECK(r.kernels.back()->params == std::vector<std::string>{"i", "j", "k"});
  CHECK(says(r, "where the extents are worth it at run time"));
}

TEST_CASE("convolutions are products of matrices with several dimensions to rows and sums") {
  Device m;
  m.on("X", kF, "8, 58, 58, 64");
  m.on("W", kF, "3, 3, 64, 64");
  m.on("Y", kF, "8, 28, 28, 64");
  m.tasklet(m.kernel("n, h, w, c, y, x, d", "0:8, 0:28, 0:28, 0:64, 0:3, 0:3, 0:64"), "o = a * b",
            {"a = X[n, 2 * h + y, 2 * w + x, d]", "b = W[y, x, d, c]"}, {"o = Y[n, h, w, c] | sum"});
  const Result r = tile(m);
  INFO(r.why);
  REQUIRE(r.changed);
  CHECK(says(r, "rows n h w, columns c, summed y x d"));
}

TEST_CASE("columns are what lies side by side in the result, operands change sides for it") {
  Device m;
  m.operands();
  m.tasklet(m.kernel("i, j, k", "0:256, 0:256, 0:64"), "o = a * b", {"a = A[i, k]", "b = B[k, j]"},
            {"o = C[j, i] | sum"});
  CHECK(says(tile(m), "rows j, columns i, summed k"));
}

TEST_CASE("batches, and dimensions of the result alone, are dimensions of the grid") {
  Device m;
  m.on("A", kF, "7, 256, 64");
  m.on("B", kF, "7, 64, 256");
  m.on("C", kF, "7, 256, 3, 256");
  m.tasklet(m.kernel("b, i, l, j, k", "0:7, 0:256, 0:3, 0:256, 0:64"), "o = u * v",
            {"u = A[b, i, k]", "v = B[b, k, j]"}, {"o = C[b, i, l, j] | sum"});
  const Result r = tile(m);
  INFO(r.why);
  REQUIRE(r.kernels.size() == 1);
  CHECK(r.kernels[0]->params.size() == 4);
  CHECK(says(r, "rows i, columns j, batch b l, summed k"));
}

TEST_CASE("small extents keep their kernel") {
  Device m;
  m.on("A", kF, "8, 64");
  m.on("B", kF, "64, 256");
  m.on("C", kF, "8, 256");
  m.tasklet(m.kernel("i, j, k", "0:8, 0:256, 0:64"), "o = a * b", {"a = A[i, k]", "b = B[k, j]"},
            {"o = C[i, j] | sum"});
  const Result r = tile(m);
  CHECK(!r.changed);
  CHECK(says(r, "too small"));
}

TEST_CASE("long sums of small results keep their kernel, whose threads share a sum") {
  Device m;
  m.on("A", kF, "64, 65536");
  m.on("B", kF, "64, 65536");
  m.on("C", kF, "64, 64");
  m.tasklet(m.kernel("i, j, k", "0:64, 0:64, 0:65536"), "o = a * b", {"a = A[i, k]", "b = B[j, k]"},
            {"o = C[i, j] | sum"});
  const Result r = tile(m);
  CHECK(!r.changed);
  CHECK(says(r, "too long"));
}

TEST_CASE("connectors named as the kernel's own symbols are would be") {
  Device m;
  m.operands();
  m.tasklet(m.kernel("i, j, k", "0:256, 0:256, 0:64"), "row = t * rows", {"t = A[i, k]", "rows = B[k, j]"},
            {"row = C[i, j] | sum"});
  CHECK(tile(m).changed);
}

TEST_CASE("block sizes and launch bounds set by hand keep their kernel, and the reason says so") {
  for (int what = 0; what < 3; ++what) {
    Device m;
    m.product();
    auto& map = std::get<ir::Map>(m.g.body.items.front()->kind);
    if (what == 0) map.gpu_block_size = {32, 4, 1};
    if (what == 1) map.gpu_launch_bounds = "128, 2";
    if (what == 2) map.gpu_max_registers = 64;
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(says(r, "set by hand"));
  }
}

TEST_CASE("what is not a sum of products of two operands stays, with a reason where it looked like one") {
  SECTION("another accumulation") {
    for (const char* op : {"min", "max", "product"}) {
      Device m;
      m.product("o = a * b", std::string("C[i, j] | ") + op);
      const Result r = tile(m);
      CHECK(!r.changed);
      CHECK(says(r, "not by sums"));
    }
  }
  SECTION("half precision") {
    Device m;
    m.product("o = a * b", "C[i, j] | sum", ScalarType::kFloat16);
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(says(r, "float16"));
  }
  SECTION("an index that is not affine") {
    Device m;
    m.operands();
    m.tasklet(m.kernel("i, j, k", "0:256, 0:256, 0:64"), "o = a * b", {"a = A[i, k]", "b = B[(k + j) % 64, j]"},
              {"o = C[i, j] | sum"});
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(says(r, "not affine"));
  }
  SECTION("a result that is an operand") {
    Device m;
    m.on("A", kF, "256, 256");
    m.on("B", kF, "256, 256");
    m.tasklet(m.kernel("i, j, k", "0:256, 0:256, 0:256"), "o = a * b", {"a = A[i, k]", "b = B[k, j]"},
              {"o = B[i, j] | sum"});
    CHECK(!tile(m).changed);
  }
  SECTION("a result that may share memory with an operand") {
    Device m;
    m.product();
    m.g.containers.at("C").may_alias = true;
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(says(r, "'C' may share memory"));
  }
  SECTION("a range that depends on a parameter") {
    Device m;
    m.on("A", kF, "256, 256");
    m.on("B", kF, "256, 256");
    m.on("C", kF, "256, 256");
    m.tasklet(m.kernel("i, j, k", "0:256, 0:256, 0:i + 1"), "o = a * b", {"a = A[i, k]", "b = B[k, j]"},
              {"o = C[i, j] | sum"});
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(says(r, "depends on 'i'"));
  }
  SECTION("elements in which points meet") {
    Device m;
    m.on("A", kF, "256, 64");
    m.on("B", kF, "64, 256");
    m.on("C", kF, "512");
    m.tasklet(m.kernel("i, j, k", "0:256, 0:256, 0:64"), "o = a * b", {"a = A[i, k]", "b = B[k, j]"},
              {"o = C[i + j] | sum"});
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(says(r, "different elements"));
  }
  SECTION("a place computed inside") {
    Device m;
    m.operands();
    m.on("P", ScalarType::kInt64, "256");
    m.assigned("p");
    auto& k = m.kernel("i, j, k", "0:256, 0:256, 0:64");
    m.assign(k, {{"p", "P[k]"}});
    m.tasklet(k, "o = a * b", {"a = A[i, p]", "b = B[p, j]"}, {"o = C[i, j] | sum"});
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(says(r, "several elements stand where one should add up the products"));
  }
  SECTION("a vector as an operand") {
    Device m;
    m.on("A", kF, "256, 64");
    m.on("x", kF, "64");
    m.on("y", kF, "256");
    m.tasklet(m.kernel("i, k", "0:256, 0:64"), "o = a * b", {"a = A[i, k]", "b = x[k]"}, {"o = y[i] | sum"});
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(says(r, "one operand alone"));
  }
  SECTION("code that uses a parameter") {
    Device m;
    m.product("o = a * b * k");
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(says(r, "computes with the parameter 'k'"));
  }
  SECTION("three operands") {
    Device m;
    m.on("A", kF, "256, 64");
    m.on("B", kF, "64, 256");
    m.on("w", kF, "64");
    m.on("C", kF, "256, 256");
    m.tasklet(m.kernel("i, j, k", "0:256, 0:256, 0:64"), "o = a * x * b", {"a = A[i, k]", "b = B[k, j]", "x = w[k]"},
              {"o = C[i, j] | sum"});
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(r.why == "map 'i, j, k': no tiles: its products read 3 elements that move with it, not two\n");
  }
  SECTION("operands in the memory of the host") {
    Device m;
    m.product();
    m.g.containers.at("B").storage = ir::Storage::kPinned;
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(r.why == "map 'i, j, k': no tiles: the operand 'B' is not in device memory\n");
  }
  SECTION("a local of several elements as the sum") {
    Device m;
    m.operands();
    auto& block = m.block(m.kernel("i, j", "0:256, 0:256"));
    m.transient("t", kF, "2", &block);
    m.tasklet(block.body, "o = 0", {}, {"o = t[0]"});
    m.tasklet(m.map(block.body, "k", "0:64", ir::Schedule::kSequential), "o = a * b", {"a = A[i, k]", "b = B[k, j]"},
              {"o = t[0] | sum"});
    m.tasklet(block.body, "o = p", {"p = t[0]"}, {"o = C[i, j]"});
    const Result r = tile(m);
    INFO(r.why);
    CHECK(!r.changed);
    CHECK(r.why == "map 'i, j': no tiles: the sum 't' is a local of several elements\n");
  }
  SECTION("threads by hand") {
    Device m;
    m.operands();
    auto& threads = m.map(m.kernel("i", "0:256"), "j", "0:256", ir::Schedule::kThreadBlock);
    m.tasklet(m.map(threads, "k", "0:64", ir::Schedule::kSequential), "o = a * b", {"a = A[i, k]", "b = B[k, j]"},
              {"o = C[i, j] | sum"});
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(r.why == "map 'i': no tiles: its thread-block maps were written by hand\n");
  }
  SECTION("a write without accumulation") {
    Device m;
    m.on("A", kF, "256");
    m.on("B", kF, "256");
    m.on("C", kF, "256, 256");
    m.tasklet(m.kernel("i, j", "0:256, 0:256"), "o = a * b", {"a = A[i]", "b = B[j]"}, {"o = C[i, j]"});
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(r.why.empty());
  }
}

TEST_CASE("kernels that add up no products of two elements get no line") {
  const auto silent = [](const char* params, const char* ranges, const char* code, std::vector<std::string> reads,
                         const char* write) {
    Device m;
    for (const char* name : {"A", "B", "C"}) m.on(name, kF, "64, 64");
    m.on("s", kF, "1");
    m.tasklet(m.kernel(params, ranges), code, reads, {write});
    const Result r = tile(m);
    INFO(code << ": " << r.why);
    CHECK(!r.changed);
    CHECK(r.why.empty());
  };
  silent("i, j", "0:64, 0:64", "o = a * b", {"a = A[i, j]", "b = B[i, j]"}, "o = C[i, j]");
  silent("i, j", "0:64, 0:64", "o = c + a * b", {"a = A[i, j]", "b = B[j, i]", "c = C[i, j]"}, "o = C[i, j]");
  silent("i, j", "0:64, 0:64", "o = a * b", {"a = A[i, j]", "b = B[i, j]"}, "o = C[i, j] | sum");
  silent("i, j", "0:64, 0:64", "o = a", {"a = A[i, j]"}, "o = s[0] | sum");
  silent("i, j", "0:64, 0:64", "o = a * a", {"a = A[i, j]"}, "o = s[0] | sum");
  silent("i, j", "0:64, 0:64", "o = 2 * a", {"a = A[i, j]"}, "o = C[i, 0] | sum");
  silent("i, j", "0:64, 0:64", "o = a + b", {"a = A[i, j]", "b = B[i, j]"}, "o = C[i, 0] | sum");
  silent("i, j", "1:63, 1:63", "o = 0.25 * (a + b)", {"a = A[i - 1, j]", "b = A[i, j + 1]"}, "o = C[i, j]");
}

TEST_CASE("products that a point stores before it sums them become part of the sum") {
  Device m;
  m.on("X", kF, "2, 66, 66, 16");
  m.on("W", kF, "3, 3, 16, 64");
  m.on("Y", kF, "2, 64, 64, 64");
  auto& block = m.block(m.map(m.kernel("h", "0:64"), "w", "0:64", ir::Schedule::kSequential));
  m.transient("products", kF, "2, 3, 3, 16, 64", &block);
  m.tasklet(m.map(block.body, "n, y, x, d, c", "0:2, 0:3, 0:3, 0:16, 0:64", ir::Schedule::kSequential), "o = a * b",
            {"a = X[n, h + y, w + x, d]", "b = W[y, x, d, c]"}, {"o = products[n, y, x, d, c]"});
  m.tasklet(m.map(block.body, "n1, c1", "0:2, 0:64", ir::Schedule::kSequential), "o = 0", {}, {"o = Y[n1, h, w, c1]"});
  m.tasklet(m.map(block.body, "n2, c2, y2, x2, d2", "0:2, 0:64, 0:3, 0:3, 0:16", ir::Schedule::kSequential), "o = p",
            {"p = products[n2, y2, x2, d2, c2]"}, {"o = Y[n2, h, w, c2] | sum"});
  const Result r = tile(m);
  INFO(r.why + ir::to_text(m.g));
  REQUIRE(r.changed);
  CHECK(says(r, "rows h w n2, columns c2, summed y2 x2 d2"));
  CHECK(count(m.g, [](const ir::Element& e) {
          const auto* b = std::get_if<ir::Block>(&e.kind);
          return b != nullptr && std::ranges::find(b->locals, "products") != b->locals.end();
        }) == 0);
}

TEST_CASE("optimisation level 0 and a skipped pass leave the kernel") {
  for (const bool skipped : {false, true}) {
    Device m;
    m.product();
    DeviceOptions options;
    options.opt_level = skipped ? 3 : 0;
    PassSelection selection;
    if (skipped) selection.skip = {"tile_contractions"};
    prepare_for_device(m.g, {}, options, selection);
    for (const ir::Container& c : m.g.containers) CHECK(c.storage != ir::Storage::kGpuShared);
  }
}

TEST_CASE("a result whose elements share places is not computed by tiles") {
  for (const auto& [first, second] : {std::pair{1, 1}, {1, 0}, {0, 1}, {2, 1}}) {
    Device m;
    m.product();
    m.g.containers.find("C")->layout = ir::Layout::strided({256, 256}, {first, second});
    const Result r = tile(m);
    CHECK(!r.changed);
    CHECK(says(r, "elements of 'C' may share a place"));
  }
  Device apart;
  apart.product();
  apart.g.containers.find("C")->layout = ir::Layout::strided({256, 256}, {3, 800});
  CHECK(tile(apart).changed);
}

TEST_CASE("whether a symbolic stride keeps the elements of a result apart is decided at run time") {
  Device m;
  m.symbol("S");
  m.product();
  m.g.containers.find("C")->layout = ir::Layout::strided({256, 256}, {symbolic::Expr::symbol("S"), 1});
  const Result r = tile(m);
  CHECK(r.changed);
  CHECK(says(r, "where the extents are worth it at run time"));
  CHECK(ir::to_text(m.g).find("S >= 256") != std::string::npos);
}

}  // namespace test_tile_contractions
