// The canonical form: equal for graphs that differ in names, ids and places only; different for every meaningful
// change.
#include <catch2/catch.hpp>
#include <chrono>
#include <set>

#include "graphs.hpp"
#include "ir/digest.hpp"
#include "ir/print.hpp"

namespace test_digest {

using namespace sdfg;
using namespace sdfg::ir;
using symbolic::Expr;

namespace {

// A graph in which every kind of element, node and container occurs.
Graph everything() {
  test::Hand h("everything");
  h.argument("A", "N, M");
  h.argument("B", "N, M");
  h.symbol("N");
  h.symbol("M");
  Container& members = h.argument("st", "", {});
  members.kind = ContainerKind::kStructure;
  members.members.push_back(test::Hand::describe("x", ScalarType::kFloat64, "N"));
  Container& keep = h.transient("keep", "N");
  keep.lifetime = Lifetime::kPersistent;
  h.g.locals.clear();
  Container& table = h.transient("table", "2");
  table.constant = std::vector<std::uint8_t>(16, 1);
  h.g.locals.clear();
  h.transient("tmp", "N");
  Container& stream = h.transient("queue", "");
  stream.kind = ContainerKind::kStream;
  h.view("row", "M", "A", "0, 0:M");

  h.assign(h.g.body, "k", "N + 1");
  Block& block = h.block(h.g.body);
  h.transient("inner", "k", ScalarType::kFloat64, &block);
  For& loop = h.loop(block.body, "t", "0", "t < M", "t + 1");
  Map& map = h.map(loop.body, {{"i", "0:N"}, {"j", "0:M:2"}});
  State& s = h.compute(map.body, "o = p + 1.5", {{"p", "A", "i, j"}}, {"o", "B", "i, j"}, ReduceOp::kSum);
  (void)s;
  map.reductions.push_back({"keep", ReduceOp::kMax});
  If& branch = h.branch(loop.body, {"t < 3 and A[0, t] > 0.0", "True"});
  Exit exit;
  exit.target = block.body.items.front()->id;
  h.append(branch.branches[0].body, std::move(exit));
  h.append(branch.branches[1].body, Return{});
  While& w = h.while_loop(h.g.body, "keep[0] < 1.0");
  State& copies = h.state(w.body);
  h.copy(copies, h.access(copies, "tmp"), "0:N", h.access(copies, "keep"), "0:N");
  Fill fill;
  fill.value = tasklet::Value::floating(2.0);
  const Id f = h.library(copies, fill, {}, {"_out"});
  h.write(copies, f, "_out", h.access(copies, "row"), "0:M");
  h.bind("w", BinderKind::kMapParameter);
  h.g.containers.insert([] {
    Container e = test::Hand::describe("e", ScalarType::kFloat64, "");
    e.transient = true;
    return e;
  }());
  Consume c;
  c.stream = "queue";
  c.element = "e";
  c.worker = "w";
  c.num_workers = 4;
  h.append(h.g.body, std::move(c));
  return std::move(h.g);
}

template <typename T>
T& first(Sequence& s) {
  T* found = nullptr;
  walk(s, [&](Element& e) {
    if (found == nullptr) found = std::get_if<T>(&e.kind);
  });
  REQUIRE(found != nullptr);
  return *found;
}

Memlet& wcr_memlet(Graph& g) {
  for (Memlet& m : first<State>(g.body).edges) {
    if (m.wcr) return m;
  }
  throw std::logic_error("no WCR");
}

Tasklet& tasklet_of(Graph& g) {
  return std::get<Tasklet>(first<State>(g.body).nodes.front().kind);
}

State& last_state(Graph& g) {
  State* last = nullptr;
  walk(g.body, [&](Element& e) {
    if (auto* s = std::get_if<State>(&e.kind)) last = s;
  });
  return *last;
}

using Mutation = std::pair<const char*, std::function<void(Graph&)>>;

}  // namespace

TEST_CASE("a clone has the same digest") {
  const Graph g = everything();
  CHECK(digest(g) == digest(g.clone()));
  CHECK(to_text(g) == to_text(g.clone()));
}

TEST_CASE("names of binders and transients, labels, places, ids and the graph's name are not part of the digest") {
  const Graph g = everything();
  Graph other = g.clone();
  other.name = "another";
  // Everything renamed: z... sorts differently among the parameters than before.
  symbolic::Substitution symbols;
  for (const auto& [from, to] :
       std::map<std::string, std::string>{{"i", "zi"}, {"j", "aj"}, {"t", "A_t"}, {"k", "Zk"}, {"w", "_w"}}) {
    symbols.emplace(from, Expr::symbol(to));
    other.symbols.rename(from, to);
  }
  substitute_symbols(other, other.body, symbols);
  for (const auto& [from, to] : std::map<std::string, std::string>{{"tmp", "a_tmp"},
                                                                   {"inner", "zz"},
                                                                   {"keep", "K"},
                                                                   {"row", "r"},
                                                                   {"queue", "q"},
                                                                   {"e", "aa"},
                                                                   {"table", "constants"}}) {
    other.containers.rename(from, to);
    rename_containers(other, other.body, {{from, to}});
    for (std::string& name : other.locals) {
      if (name == from) name = to;
    }
    walk(other.body, [&, f = from, t = to](Element& e) {
      if (auto* b = std::get_if<Block>(&e.kind)) {
        for (std::string& name : b->locals) {
          if (name == f) name = t;
        }
      }
      if (auto* c = std::get_if<Consume>(&e.kind); c != nullptr && c->element == f) c->element = t;
    });
  }
  walk(other.body, [&](Element& e) {
    e.label = "renamed";
    e.location = SourceLocation("elsewhere.cpp", 77);
  });
  for (Container& c : other.containers) c.label = "label";
  CHECK(digest(other) == digest(g));
}

TEST_CASE("the insertion order of the tables is not part of the digest") {
  const Graph g = everything();
  Graph other = g.clone();
  std::vector<Container> containers;
  for (const Container& c : g.containers) containers.push_back(c);
  std::vector<Symbol> symbols;
  for (const Symbol& s : g.symbols) symbols.push_back(s);
  other.containers = {};
  other.symbols = {};
  for (auto it = containers.rbegin(); it != containers.rend(); ++it) other.containers.insert(*it);
  for (auto it = symbols.rbegin(); it != symbols.rend(); ++it) other.symbols.insert(*it);
  CHECK(digest(other) == digest(g));
}

TEST_CASE("fresh ids give the same digest, exits included") {
  Graph g = everything();
  const Digest before = digest(g);
  Sequence fresh;
  for (const auto& item : g.body.items) fresh.items.push_back(clone_renamed(g, *item));
  g.body = std::move(fresh);
  // The old declarations are left in the tables: only what is used counts, except for graph-wide transients.
  Graph other = everything();
  for (const char* name : {"i", "j", "t", "w"}) g.symbols.erase(name);
  for (const char* name : {"inner", "e"}) g.containers.erase(name);
  CHECK(digest(g) == before);
}

TEST_CASE("every meaningful change changes the digest") {
  const Mutation mutations[] = {
      {"parameter name",
       [](Graph& g) {
         g.containers.rename("A", "A2");
         rename_containers(g, g.body, {{"A", "A2"}});
         g.parameters[0] = "A2";
         g.containers.at("row").viewed = "A2";
       }},
      {"parameter order", [](Graph& g) { std::swap(g.parameters[0], g.parameters[1]); }},
      {"host code", [](Graph& g) { g.code.host = "int x;"; }},
      {"device code", [](Graph& g) { g.code.device = "int x;"; }},
      {"init code", [](Graph& g) { g.code.init = "int x;"; }},
      {"exit code", [](Graph& g) { g.code.exit = "int x;"; }},
      {"element type", [](Graph& g) { g.containers.at("tmp").type = ScalarType::kFloat32; }},
      {"kind", [](Graph& g) { g.containers.at("tmp").kind = ContainerKind::kReference; }},
      {"extent", [](Graph& g) { g.containers.at("tmp").layout = Layout::packed({Expr::symbol("M")}); }},
      {"strides", [](Graph& g) { g.containers.at("tmp").layout = Layout::strided({Expr::symbol("N")}, {2}); }},
      {"offset",
       [](Graph& g) {
         g.containers.at("tmp").layout = Layout::strided({Expr::symbol("N")}, {1}, Expr::symbol("N"), {1});
       }},
      {"size", [](Graph& g) { g.containers.at("tmp").layout = Layout::strided({Expr::symbol("N")}, {1}, Expr(99)); }},
      {"start",
       [](Graph& g) {
         g.containers.at("tmp").layout = Layout::strided({Expr::symbol("N")}, {1}, Expr::symbol("N"), {}, 1);
       }},
      {"storage", [](Graph& g) { g.containers.at("tmp").storage = Storage::kHeap; }},
      {"lifetime", [](Graph& g) { g.containers.at("keep").lifetime = Lifetime::kExternal; }},
      {"alias", [](Graph& g) { g.containers.at("A").may_alias = true; }},
      {"zeroed", [](Graph& g) { g.containers.at("tmp").zeroed = true; }},
      {"alignment", [](Graph& g) { g.containers.at("tmp").alignment = 32; }},
      {"viewed", [](Graph& g) { g.containers.at("row").viewed = "B"; }},
      {"window", [](Graph& g) { g.containers.at("row").viewed_subset = test::Hand::subset("1, 0:M"); }},
      {"capacity", [](Graph& g) { g.containers.at("queue").buffer_size = 8; }},
      {"member name", [](Graph& g) { g.containers.at("st").members[0].name = "y"; }},
      {"member type", [](Graph& g) { g.containers.at("st").members[0].type = ScalarType::kInt8; }},
      {"constant", [](Graph& g) { (*g.containers.at("table").constant)[3] = 7; }},
      {"symbol type", [](Graph& g) { g.symbols.at("N").type = ScalarType::kInt32; }},
      {"symbol bound", [](Graph& g) { g.symbols.at("N").lower = Expr(1); }},
      {"symbol upper bound", [](Graph& g) { g.symbols.at("N").upper = Expr(1); }},
      {"binder type", [](Graph& g) { g.symbols.at("i").type = ScalarType::kInt32; }},
      {"graph locals", [](Graph& g) { std::swap(g.locals.front(), g.locals.back()); }},
      {"assigned value", [](Graph& g) { first<Assign>(g.body).items[0].value = tasklet::parse_expression("N + 2"); }},
      {"block locals",
       [](Graph& g) {
         first<Block>(g.body).locals.push_back(g.locals.back());
         g.locals.pop_back();
       }},
      {"loop start", [](Graph& g) { first<For>(g.body).init = tasklet::parse_expression("1"); }},
      {"loop condition", [](Graph& g) { first<For>(g.body).condition = tasklet::parse_expression("t < N"); }},
      {"loop update", [](Graph& g) { first<For>(g.body).update = tasklet::parse_expression("t + 2"); }},
      {"loop form", [](Graph& g) { first<For>(g.body).form = LoopForm::kTestThenUpdate; }},
      {"loop unroll", [](Graph& g) { first<For>(g.body).unroll = true; }},
      {"loop unroll factor", [](Graph& g) { first<For>(g.body).unroll_factor = 4; }},
      {"while condition",
       [](Graph& g) { first<While>(g.body).condition = tasklet::parse_expression("keep[1] < 1.0"); }},
      {"while form", [](Graph& g) { first<While>(g.body).test_first = false; }},
      {"branch condition",
       [](Graph& g) { first<If>(g.body).branches[0].condition = tasklet::parse_expression("t < 4"); }},
      {"branch order", [](Graph& g) { std::swap(first<If>(g.body).branches[0], first<If>(g.body).branches[1]); }},
      {"map range", [](Graph& g) { first<Map>(g.body).ranges[0].begin = 1; }},
      {"map step", [](Graph& g) { first<Map>(g.body).ranges[1].step = 3; }},
      {"map parameters", [](Graph& g) { std::swap(first<Map>(g.body).params[0], first<Map>(g.body).params[1]); }},
      {"map schedule", [](Graph& g) { first<Map>(g.body).schedule = Schedule::kParallel; }},
      {"map unroll", [](Graph& g) { first<Map>(g.body).unroll = true; }},
      {"map collapse", [](Graph& g) { first<Map>(g.body).collapse = 2; }},
      {"map threads", [](Graph& g) { first<Map>(g.body).num_threads = 2; }},
      {"map omp schedule", [](Graph& g) { first<Map>(g.body).omp_schedule = OmpSchedule::kGuided; }},
      {"map chunk", [](Graph& g) { first<Map>(g.body).omp_chunk = 2; }},
      {"map simd", [](Graph& g) { first<Map>(g.body).simd = true; }},
      {"map reduction", [](Graph& g) { first<Map>(g.body).reductions[0].op = ReduceOp::kMin; }},
      {"map reduction container", [](Graph& g) { first<Map>(g.body).reductions[0].container = "tmp"; }},
      {"block size", [](Graph& g) { first<Map>(g.body).gpu_block_size = {32}; }},
      {"launch bounds", [](Graph& g) { first<Map>(g.body).gpu_launch_bounds = "128"; }},
      {"registers", [](Graph& g) { first<Map>(g.body).gpu_max_registers = 64; }},
      {"exit kind", [](Graph& g) { first<Exit>(g.body).kind = Exit::Kind::kContinue; }},
      {"exit target", [](Graph& g) { first<Exit>(g.body).target = g.body.items[1]->id; }},
      {"consume workers", [](Graph& g) { first<Consume>(g.body).num_workers = 5; }},
      {"consume chunk", [](Graph& g) { first<Consume>(g.body).chunk_size = 2; }},
      {"consume condition", [](Graph& g) { first<Consume>(g.body).condition = tasklet::parse_expression("True"); }},
      {"consume schedule", [](Graph& g) { first<Consume>(g.body).schedule = Schedule::kParallel; }},
      {"consume stream", [](Graph& g) { first<Consume>(g.body).stream = "tmp"; }},
      {"access", [](Graph& g) { std::get<Access>(first<State>(g.body).nodes[1].kind).data = "B"; }},
      {"node order", [](Graph& g) { std::swap(first<State>(g.body).nodes[0], first<State>(g.body).nodes[1]); }},
      {"tasklet code", [](Graph& g) { tasklet_of(g).code.body = tasklet::parse_body("o = p + 1.25"); }},
      {"tasklet language",
       [](Graph& g) {
         tasklet_of(g).code.language = tasklet::Language::kCpp;
         tasklet_of(g).code.text = "o = p + 1.5;";
       }},
      {"tasklet global code", [](Graph& g) { tasklet_of(g).code.global_text = "int f();"; }},
      {"side effects", [](Graph& g) { tasklet_of(g).side_effects = false; }},
      {"connector type", [](Graph& g) { tasklet_of(g).inputs[0].type = ScalarType::kFloat32; }},
      {"connector name", [](Graph& g) { tasklet_of(g).inputs[0].name = "q"; }},
      {"memlet subset", [](Graph& g) { wcr_memlet(g).dst_subset = test::Hand::subset("i, j + 1"); }},
      {"memlet connector", [](Graph& g) { wcr_memlet(g).src_connector = "x"; }},
      {"memlet end", [](Graph& g) { wcr_memlet(g).dst = first<State>(g.body).nodes[1].id; }},
      {"wcr", [](Graph& g) { wcr_memlet(g).wcr.reset(); }},
      {"wcr operation", [](Graph& g) { wcr_memlet(g).wcr->op = ReduceOp::kMax; }},
      {"wcr lowering", [](Graph& g) { wcr_memlet(g).wcr->lowering = WcrLowering::kAtomic; }},
      {"custom wcr",
       [](Graph& g) {
         wcr_memlet(g).wcr->op = ReduceOp::kCustom;
         wcr_memlet(g).wcr->custom = tasklet::parse_expression("a + b * 2");
       }},
      {"dynamic", [](Graph& g) { wcr_memlet(g).dynamic = true; }},
      {"allow_oob", [](Graph& g) { wcr_memlet(g).allow_oob = true; }},
      {"set_reference", [](Graph& g) { last_state(g).edges[0].set_reference = true; }},
      {"fill value",
       [](Graph& g) {
         std::get<Fill>(std::get<Library>(last_state(g).nodes[2].kind).op).value = tasklet::Value::floating(2.5);
       }},
      {"fill type",
       [](Graph& g) {
         std::get<Fill>(std::get<Library>(last_state(g).nodes[2].kind).op).value = tasklet::Value::integer(2);
       }},
      {"library operation", [](Graph& g) { std::get<Library>(last_state(g).nodes[2].kind).op = Transpose{}; }},
      {"library implementation",
       [](Graph& g) { std::get<Library>(last_state(g).nodes[2].kind).implementation = "pure"; }},
      {"element removed", [](Graph& g) { g.body.items.pop_back(); }},
      {"element order", [](Graph& g) { std::swap(g.body.items[2], g.body.items[3]); }},
  };
  std::map<Digest, std::string> seen;
  seen.emplace(digest(everything()), "unchanged");
  for (const auto& [name, mutate] : mutations) {
    Graph g = everything();
    mutate(g);
    const auto [at, is_new] = seen.emplace(digest(g), name);
    INFO(name << " gives the digest of " << at->second);
    CHECK(is_new);
  }
}

TEST_CASE("properties of library operations are part of the digest") {
  std::vector<LibraryOp> ops;
  ops.emplace_back(MatMul{});
  ops.emplace_back(Gemm{});
  ops.emplace_back(Gemm{true, false, 1.0, 0.0});
  ops.emplace_back(Gemm{false, true, 1.0, 0.0});
  ops.emplace_back(Gemm{false, false, 2.0, 0.0});
  ops.emplace_back(Gemm{false, false, 1.0, 1.0});
  ops.emplace_back(Gemm{false, false, 1.0, std::complex<double>(0.0, 1.0)});
  ops.emplace_back(BatchedMatMul{});
  ops.emplace_back(Gemv{});
  ops.emplace_back(Gemv{true, 1.0, 0.0});
  ops.emplace_back(Ger{});
  ops.emplace_back(Ger{2.0});
  ops.emplace_back(Dot{});
  ops.emplace_back(Axpy{});
  ops.emplace_back(Axpy{3.0});
  ops.emplace_back(Syrk{});
  ops.emplace_back(Syrk{true, true, 1.0, 0.0});
  ops.emplace_back(Syrk{false, false, 1.0, 0.0});
  ops.emplace_back(Einsum{"ij,jk->ik", 1.0, 0.0});
  ops.emplace_back(Einsum{"ij,kj->ik", 1.0, 0.0});
  for (int k = 0; k < 4; ++k) {
    Reduce r;
    r.op = k == 0 ? ReduceOp::kSum : ReduceOp::kMax;
    if (k >= 2) r.axes = {1};
    if (k == 3) r.identity = tasklet::Value::floating(0.0);
    ops.emplace_back(r);
  }
  ops.emplace_back(Copy{});
  ops.emplace_back(Transpose{});
  ops.emplace_back(TensorTranspose{{0, 1}, 1.0, 0.0});
  ops.emplace_back(TensorTranspose{{1, 0}, 1.0, 0.0});
  ops.emplace_back(TensorDot{{0}, {1}, {}});
  ops.emplace_back(TensorDot{{1}, {0}, {}});
  ops.emplace_back(TensorDot{{1}, {0}, {1, 0}});
  ops.emplace_back(Cholesky{});
  ops.emplace_back(Cholesky{false});
  ops.emplace_back(Potrf{});
  ops.emplace_back(Potrf{false});
  ops.emplace_back(Getrf{});
  ops.emplace_back(Getrs{});
  ops.emplace_back(Solve{});
  ops.emplace_back(Inv{});
  ops.emplace_back(Inv{true});
  ops.emplace_back(Fft{});
  ops.emplace_back(Fft{true, 1, false});
  ops.emplace_back(Fft{false, 2, false});
  ops.emplace_back(Fft{false, 1, true});
  ops.emplace_back(Csrmv{});
  ops.emplace_back(Csrmv{1.0, 0.0, true});
  ops.emplace_back(Csrmm{});
  ops.emplace_back(Csrmm{1.0, 0.0, false, true});
  ops.emplace_back(Scan{ReduceOp::kSum, false, 0});
  ops.emplace_back(Scan{ReduceOp::kSum, true, 0});
  ops.emplace_back(Scan{ReduceOp::kSum, false, 1});
  ops.emplace_back(ArgReduce{});
  ops.emplace_back(ArgReduce{false, {}});
  ops.emplace_back(ArgReduce{true, 1});
  ops.emplace_back(UnknownLibrary{"a.B", "{}"});
  ops.emplace_back(UnknownLibrary{"a.B", "{1}"});
  std::set<Digest> seen;
  for (const LibraryOp& op : ops) {
    test::Hand h("g");
    State& s = h.state(h.g.body);
    h.library(s, op, {}, {});
    seen.insert(digest(h.g));
    CHECK_FALSE(name_of(op).empty());
  }
  CHECK(seen.size() == ops.size());
}

TEST_CASE("ordinals are pre-order and start with the parameters") {
  const Graph g = test::axpy();
  const Ordinals o = ordinals(g);
  CHECK(o.containers == std::vector<std::string>{"x", "y", "a"});
  CHECK(o.of_container.at("y") == 1);
  CHECK(o.ids.front() == g.body.items.front()->id);
  CHECK(o.ids.size() == 11);
  for (std::size_t k = 0; k < o.ids.size(); ++k) CHECK(o.of_id.at(o.ids[k]) == static_cast<int>(k));
}

TEST_CASE("the digest of a graph with thirty maps takes well under a millisecond", "[speed]") {
  test::Hand h("many");
  h.argument("A", "N, M");
  h.argument("B", "N, M");
  h.symbol("N");
  h.symbol("M");
  for (int k = 0; k < 30; ++k) {
    const std::string i = "i" + std::to_string(k);
    const std::string j = "j" + std::to_string(k);
    Map& m = h.map(h.g.body, {{i, "1:N - 1"}, {j, "1:M - 1"}});
    h.compute(m.body, "o = 0.2 * (c + w + e + n + s)",
              {{"c", "A", i + ", " + j},
               {"w", "A", i + ", " + j + " - 1"},
               {"e", "A", i + ", " + j + " + 1"},
               {"n", "A", i + " - 1, " + j},
               {"s", "A", i + " + 1, " + j}},
              {"o", "B", i + ", " + j});
  }
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    (void)digest(h.g);
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  WARN("digest of 30 maps: " << best << " ms");
  CHECK(best < 20.0);  // a bound that also holds for unoptimised builds under load
}

}  // namespace test_digest
