// Canonical loops, and what holds at a place of the graph.
#include <catch2/catch.hpp>

#include "graphs.hpp"

namespace test_facts {

using namespace sdfg;
using namespace sdfg::ir;
using symbolic::Expr;
using symbolic::Truth;

namespace {

const Expr N = Expr::symbol("N");
const Expr M = Expr::symbol("M");

// "begin..end by step", or "none".
std::string view(const std::string& init, const std::string& condition, const std::string& update,
                 LoopForm form = LoopForm::kTestFirst) {
  test::Hand h("g");
  h.symbol("N");
  h.symbol("M");
  h.argument("x", "N", ScalarType::kInt64);
  const auto loop = canonical(h.loop(h.g.body, "i", init, condition, update, form));
  return loop ? loop->begin.str() + ".." + loop->end.str() + " by " + std::to_string(loop->step) : "none";
}

// Executes the loop as written and as its canonical view says.
std::vector<std::int64_t> run(const For& loop, const std::map<std::string, std::int64_t, std::less<>>& symbols) {
  std::vector<std::int64_t> seen;
  auto values = symbols;
  const auto eval = [&](const tasklet::Expr& e) { return symbolic::evaluate(*tasklet::to_symbolic(e), values); };
  values[loop.variable] = eval(loop.init);
  while (seen.size() < 100) {
    if (loop.form == LoopForm::kTestFirst && eval(loop.condition) == 0) break;
    seen.push_back(values[loop.variable]);
    if (loop.form == LoopForm::kTestThenUpdate && eval(loop.condition) == 0) break;
    values[loop.variable] = eval(loop.update);
    if (loop.form == LoopForm::kUpdateThenTest && eval(loop.condition) == 0) break;
  }
  return seen;
}

std::vector<std::int64_t> run(const CanonicalLoop& loop,
                              const std::map<std::string, std::int64_t, std::less<>>& symbols) {
  std::vector<std::int64_t> seen;
  const std::int64_t end = symbolic::evaluate(loop.end, symbols);
  for (std::int64_t i = symbolic::evaluate(loop.begin, symbols); loop.step > 0 ? i <= end : i >= end; i += loop.step)
    seen.push_back(i);
  return seen;
}

}  // namespace

TEST_CASE("counted loops have a canonical view") {
  CHECK(view("0", "i < N", "i + 1") == "0..N - 1 by 1");
  CHECK(view("0", "i <= N", "i + 2") == "0..N by 2");
  CHECK(view("M", "N > i", "1 + i") == "M..N - 1 by 1");
  CHECK(view("N - 1", "i >= 0", "i - 1") == "N - 1..0 by -1");
  CHECK(view("N - 1", "i > M", "i - 3") == "N - 1..M + 1 by -3");
  CHECK(view("0", "i < N and i <= M", "i + 1") == "0..min(M, N - 1) by 1");
  CHECK(view("0", "2 * i < N", "i + 1") == "0..(N + 1)//2 - 1 by 1");
  CHECK(view("0", "i != 8", "i + 1") == "0..7 by 1");
  CHECK(view("8", "i != 0", "i - 1") == "8..1 by -1");
}

TEST_CASE("other loops have none") {
  CHECK(view("0", "i < N", "i * 2") == "none");
  CHECK(view("0", "i < N", "i + M") == "none");
  CHECK(view("0", "i < N", "i - 1") == "none");
  CHECK(view("0", "i != N", "i + 1") == "none");
  CHECK(view("0", "i != 7", "i + 2") == "none");
  CHECK(view("0", "i < x[0]", "i + 1") == "none");
  CHECK(view("x[0]", "i < N", "i + 1") == "none");
  CHECK(view("0", "i < N or i < M", "i + 1") == "none");
  CHECK(view("0", "i * i < N", "i + 1") == "none");
}

TEST_CASE("a body that changes the bound has no canonical view") {
  test::Hand h("g");
  h.symbol("N");
  h.assign(h.g.body, "n", "N");
  For& loop = h.loop(h.g.body, "i", "0", "i < n", "i + 1");
  CHECK(canonical(loop).has_value());
  h.assign(loop.body, "n", "n - 1");
  CHECK_FALSE(canonical(loop).has_value());
}

TEST_CASE("the canonical view runs through the same values in every form") {
  for (const LoopForm form : {LoopForm::kTestFirst, LoopForm::kUpdateThenTest, LoopForm::kTestThenUpdate}) {
    for (const auto& [condition, update] : {std::pair<std::string, std::string>("i < N", "i + 1"),
                                            {"i <= N", "i + 3"},
                                            {"i > N", "i - 2"},
                                            {"3 * i >= N", "i - 1"},
                                            {"i < N and i < 5", "i + 2"}}) {
      test::Hand h("g");
      h.symbol("N");
      h.symbol("M");
      const For& loop = h.loop(h.g.body, "i", "M", condition, update, form);
      const auto view_of = canonical(loop);
      REQUIRE(view_of.has_value());
      for (std::int64_t n : {-3, -1, 0, 1, 2, 7}) {
        for (std::int64_t m : {-4, -1, 0, 1, 3, 7, 9}) {
          const std::map<std::string, std::int64_t, std::less<>> values{{"N", n}, {"M", m}};
          INFO(condition << "; " << update << " with N=" << n << " M=" << m);
          CHECK(run(loop, values) == run(*view_of, values));
        }
      }
    }
  }
}

TEST_CASE("extents of arguments are not negative, ranges bound their symbols") {
  const Graph g = test::jacobi_2d();
  const auto path = path_to(g, std::get<For>(g.body.items[0]->kind).body.items[1]->id);
  const symbolic::Facts facts = facts_at(g, path);
  CHECK(symbolic::is_nonnegative(N, facts) == Truth::kYes);
  CHECK(symbolic::is_nonnegative(M - 3, facts) == Truth::kYes);  // the map's range is not empty
  CHECK(symbolic::is_positive(Expr::symbol("i_1"), facts) == Truth::kYes);
  CHECK(symbolic::is_less(Expr::symbol("i_1"), N - 1, facts) == Truth::kYes);
  CHECK(symbolic::is_less(Expr::symbol("t"), Expr::symbol("T"), facts) == Truth::kYes);
  CHECK(symbolic::is_nonnegative(M - 3, facts_at(g, {})) == Truth::kUnknown);
  CHECK(symbolic::is_nonnegative(N, facts_at(g, {})) == Truth::kYes);
}

TEST_CASE("branch conditions hold inside, earlier ones do not") {
  test::Hand h("g");
  h.symbol("N");
  h.symbol("M");
  If& branch = h.branch(h.g.body, {"N < 4 and M < 2", "M > 8", "True"});
  for (If::Branch& b : branch.branches) h.state(b.body);
  const Element& e = *h.g.body.items[0];
  const auto at = [&](int k) {
    return facts_at(h.g, {&e, branch.branches[static_cast<std::size_t>(k)].body.items[0].get()});
  };
  CHECK(symbolic::is_less(N, 4, at(0)) == Truth::kYes);
  CHECK(symbolic::is_less(M, 2, at(0)) == Truth::kYes);
  CHECK(symbolic::is_less(M, 2, at(1)) == Truth::kNo);
  CHECK(symbolic::is_less_equal(M, 8, at(2)) == Truth::kYes);
  CHECK(symbolic::is_less(N, 4, at(2)) == Truth::kUnknown);
}

TEST_CASE("conditions over symbols that the body changes are not facts") {
  test::Hand h("g");
  h.symbol("N");
  h.assign(h.g.body, "k", "0");
  While& w = h.while_loop(h.g.body, "k < N and N > 5");
  h.assign(w.body, "k", "k + 1");
  h.state(w.body);
  const symbolic::Facts facts = facts_at(h.g, {h.g.body.items[1].get(), w.body.items[1].get()});
  CHECK(symbolic::is_less(Expr::symbol("k"), N, facts) == Truth::kUnknown);
  CHECK(symbolic::is_less(Expr(5), N, facts) == Truth::kYes);
}

TEST_CASE("map parameters with steps have a congruence") {
  test::Hand h("g");
  h.symbol("N");
  Map& m = h.map(h.g.body, {{"i", "0:N:4"}});
  h.state(m.body);
  const symbolic::Facts facts = facts_at(h.g, {h.g.body.items[0].get(), m.body.items[0].get()});
  CHECK(symbolic::is_multiple_of(Expr::symbol("i"), 4, facts) == Truth::kYes);
  CHECK(symbolic::is_nonnegative(Expr::symbol("i"), facts) == Truth::kYes);
}

TEST_CASE("assumptions of symbols are facts") {
  test::Hand h("g");
  h.symbol("N");
  h.g.symbols.at("N").lower = Expr(3);
  h.g.symbols.at("N").upper = Expr(9);
  CHECK(symbolic::constant_lower(N, base_facts(h.g)) == 3);
  CHECK(symbolic::constant_upper(N, base_facts(h.g)) == 9);
}

TEST_CASE("connector types follow their memlets") {
  test::Hand h("g");
  h.argument("x", "N", ScalarType::kFloat32);
  h.argument("n", "", ScalarType::kInt32);
  h.symbol("N");
  State& s = h.compute(h.g.body, "o = p[0] + q * N", {{"p", "x", "0:N"}, {"q", "n", ""}}, {"o", "x", "1"});
  const Node& t = s.nodes[0];
  CHECK(connector_type(h.g, s, t, "p", false) == Type::pointer(ScalarType::kFloat32));
  CHECK(connector_type(h.g, s, t, "q", false) == Type(ScalarType::kInt32));
  CHECK(connector_type(h.g, s, t, "o", true) == Type(ScalarType::kFloat32));
  const tasklet::TypeEnvironment env = type_environment(h.g, s, t);
  CHECK(env.name("N") == Type(ScalarType::kInt64));
  CHECK(env.element("p") == Type(ScalarType::kFloat32));
  CHECK_FALSE(env.element("q").has_value());
  CHECK_FALSE(env.name("x").has_value());
  std::get<Tasklet>(s.nodes[0].kind).inputs[0].type = Type::pointer(ScalarType::kInt8);
  CHECK(connector_type(h.g, s, t, "p", false) == Type::pointer(ScalarType::kInt8));
}

}  // namespace test_facts
