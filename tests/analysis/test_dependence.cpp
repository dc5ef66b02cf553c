// Dependence between iterations: what is proven, what is refuted, what stays unknown.
#include <catch2/catch.hpp>

#include "analysis/dependence.hpp"
#include "analysis/work.hpp"
#include "support/graph_tools.hpp"

namespace test_dependence {

using namespace sdfg;
using namespace sdfg::test;
using symbolic::Truth;

namespace {

// A map over `dims` with one tasklet that reads and writes the given subsets of A; the answer for the dimensions from
// `first` on.
Truth carried(const std::vector<std::string>& shape, const std::vector<std::pair<std::string, std::string>>& dims,
              const std::vector<std::string>& reads, const std::vector<std::string>& writes, std::size_t first = 0,
              const std::vector<std::pair<std::string, std::string>>& inner = {}) {
  ir::Graph g("g");
  array(g, "A", ScalarType::kFloat64, shape);
  for (const char* s : {"M", "N", "K"}) symbol(g, s);
  ir::Element& m = map(g, g.body, dims);
  ir::Sequence* where = &body(m);
  if (!inner.empty()) where = &body(map(g, *where, inner));
  std::vector<Port> in, out;
  std::string code;
  for (const std::string& r : reads) in.push_back({"r" + std::to_string(in.size()), "A", r});
  for (const std::string& w : writes) {
    out.push_back({"w" + std::to_string(out.size()), "A", w});
    code += out.back().connector + " = 1.0\n";
  }
  compute(g, *where, "t", code, in, out);
  const auto& the_map = std::get<ir::Map>(m.kind);
  const symbolic::Facts facts = ir::facts_inside(g, ir::base_facts(g), m, the_map.body);
  return analysis::carried(g, analysis::accesses_of(g, the_map.body), analysis::parameters_of(the_map, first), facts)
      .truth;
}

using Dims = std::vector<std::pair<std::string, std::string>>;
const Dims kI = {{"i", "0:N"}};
const Dims kIJ = {{"i", "0:M"}, {"j", "0:N"}};

}  // namespace

TEST_CASE("iterations with elements of their own are independent") {
  CHECK(carried({"N"}, kI, {}, {"i"}) == Truth::kNo);
  CHECK(carried({"N"}, kI, {"i"}, {"i"}) == Truth::kNo);
  CHECK(carried({"M", "N"}, kIJ, {"i, j"}, {"i, j"}) == Truth::kNo);
  CHECK(carried({"N", "M"}, kIJ, {"j, i"}, {"j, i"}) == Truth::kNo);
  CHECK(carried({"2*N"}, kI, {"2*i + 1"}, {"2*i"}) == Truth::kNo);
  CHECK(carried({"M", "N"}, kI, {"1:M, i"}, {"0, i"}) == Truth::kNo);
}

TEST_CASE("neighbours, shared elements and overlapping strides are not") {
  CHECK(carried({"N"}, kI, {"i + 1"}, {"i"}) == Truth::kUnknown);
  CHECK(carried({"N"}, kI, {"i - 1"}, {"i"}) == Truth::kUnknown);
  CHECK(carried({"M + N"}, kIJ, {}, {"i + j"}) == Truth::kUnknown);
  CHECK(carried({"2*N + 2"}, kI, {}, {"2*i", "i + 1"}) == Truth::kUnknown);
  CHECK(carried({"N"}, {{"i", "0:8"}}, {}, {"0"}) == Truth::kYes);
  CHECK(carried({"M", "N"}, kIJ, {"j, i"}, {"i, j"}) == Truth::kUnknown);
  CHECK(carried({"2*N + 2"}, kI, {}, {"2*i:2*i + 3"}) == Truth::kUnknown);
}

TEST_CASE("only the asked dimensions differ") {
  CHECK(carried({"M"}, kIJ, {}, {"i"}) != Truth::kNo);
  CHECK(carried({"N"}, kIJ, {}, {"j"}, 1) == Truth::kNo);
  CHECK(carried({"M", "N"}, kIJ, {"i - 1, j"}, {"i, j"}, 1) == Truth::kNo);
  CHECK(carried({"M", "N"}, kIJ, {"i, j - 1"}, {"i, j"}, 1) == Truth::kUnknown);
}

TEST_CASE("blocks and flattened indices are separated by their strides") {
  CHECK(carried({"16*N"}, kI, {}, {"16*i:16*i + 16"}) == Truth::kNo);
  CHECK(carried({"16*N"}, kI, {}, {"16*i + q"}, 0, {{"q", "0:16"}}) == Truth::kNo);
  CHECK(carried({"16*N"}, kI, {}, {"16*i + q"}, 0, {{"q", "0:17"}}) == Truth::kUnknown);
  CHECK(carried({"M*N"}, kIJ, {}, {"N*i + j"}) == Truth::kNo);
  CHECK(carried({"M*N"}, kIJ, {"N*i + j"}, {"N*i + j"}, 1) == Truth::kNo);
  CHECK(carried({"2*N"}, {{"i", "0:2*N:2"}}, {"i + 1"}, {"i"}) == Truth::kNo);
}

TEST_CASE("halves of a container lie apart") {
  CHECK(carried({"2*N"}, kI, {"N + i"}, {"i"}) == Truth::kNo);
  CHECK(carried({"2*N"}, kI, {"N:2*N"}, {"i"}) == Truth::kNo);
  CHECK(carried({"2*N"}, kI, {"N - 1:2*N"}, {"i"}) == Truth::kUnknown);
}

TEST_CASE("views count for what they show") {
  ir::Graph g("g");
  array(g, "A", ScalarType::kFloat64, {"M", "N"});
  symbol(g, "M");
  symbol(g, "N");
  ir::Container& v = container(g, "v", ScalarType::kFloat64, ir::Layout::strided(extents({"M"}), extents({"N"})), true);
  v.kind = ir::ContainerKind::kView;
  v.viewed = "A";
  v.viewed_subset = subset("0:M, 1");
  g.locals.push_back("v");
  ir::Element& m = map(g, g.body, {{"i", "0:M"}});
  compute(g, body(m), "same row", "o = x", {{"x", "A", "i, 0"}}, {{"o", "v", "i"}});
  const auto answer = [&] {
    const auto& the_map = std::get<ir::Map>(m.kind);
    const symbolic::Facts facts = ir::facts_inside(g, ir::base_facts(g), m, the_map.body);
    return analysis::carried(g, analysis::accesses_of(g, the_map.body), analysis::parameters_of(the_map), facts).truth;
  };
  const analysis::AccessSet set = analysis::accesses_of(g, std::get<ir::Map>(m.kind).body);
  REQUIRE(set.accesses.size() == 2);
  CHECK(set.accesses[1].container == "A");
  CHECK(set.accesses[1].placed);
  CHECK(set.accesses[1].subset.str() == "i, 1");
  CHECK(answer() == Truth::kNo);
  compute(g, body(m), "next row", "o = x", {{"x", "A", "i + 1, 1"}}, {{"o", "v", "i"}});
  CHECK(answer() == Truth::kUnknown);
}

TEST_CASE("locals of the body, aliases and unknown code") {
  ir::Graph g("g");
  array(g, "A", ScalarType::kFloat64, {"N"}).may_alias = true;
  array(g, "B", ScalarType::kFloat64, {"N"}).may_alias = true;
  symbol(g, "N");
  ir::Element& m = map(g, g.body, kI);
  ir::Element& b = g.append(body(m), ir::Block());
  container(g, "t", ScalarType::kFloat64, ir::Layout(), true).kind = ir::ContainerKind::kScalar;
  std::get<ir::Block>(b.kind).locals.push_back("t");
  compute(g, body(b), "local", "o = 1.0", {}, {{"o", "t", ""}});
  const auto answer = [&] {
    const auto& the_map = std::get<ir::Map>(m.kind);
    return analysis::carried(g, analysis::accesses_of(g, the_map.body), analysis::parameters_of(the_map),
                             ir::base_facts(g));
  };
  CHECK(answer().truth == Truth::kNo);
  compute(g, body(b), "aliases", "o = x", {{"x", "A", "i"}}, {{"o", "B", "i"}});
  CHECK(answer().truth == Truth::kUnknown);
  CHECK(answer().reason.find("share memory") != std::string::npos);
}

TEST_CASE("accesses that are alike are looked at once, others up to a limit") {
  ir::Graph g("g");
  array(g, "A", ScalarType::kFloat64, {"N", "N"});
  array(g, "B", ScalarType::kFloat64, {"N"});
  symbol(g, "N");
  symbol(g, "k", ir::BinderKind::kAssigned);
  ir::Element& m = map(g, g.body, kI);
  const auto answer = [&] {
    const auto& the_map = std::get<ir::Map>(m.kind);
    return analysis::carried(g, analysis::accesses_of(g, the_map.body), analysis::parameters_of(the_map),
                             ir::facts_inside(g, ir::base_facts(g), m, the_map.body));
  };
  for (int n = 0; n < 500; ++n) compute(g, body(m), "t", "o = x", {{"x", "B", "i"}}, {{"o", "A", "i, 0"}});
  const analysis::AccessSet set = analysis::accesses_of(g, body(m));
  const analysis::DistinctAccesses kinds = analysis::distinct(set);
  CHECK(set.accesses.size() == 1000);
  CHECK(kinds.first == std::vector<std::size_t>{0, 1});
  CHECK(kinds.kind[998] == 0);
  CHECK(kinds.kind[999] == 1);
  CHECK(answer().truth == Truth::kNo);
  // The same place under a loop, and beside an assignment, are others.
  ir::Element& l = loop(g, body(m), "t", "0", "t < 3", "t + 1");
  compute(g, body(l), "t", "o = x", {{"x", "B", "i"}}, {{"o", "A", "i, 0"}});
  ir::Element& b = g.append(body(m), ir::Block());
  ir::Assign a;
  a.items = {{"k", expression("i")}};
  g.append(body(b), std::move(a));
  compute(g, body(b), "t", "o = x", {{"x", "B", "i"}}, {{"o", "A", "i, 0"}});
  CHECK(analysis::distinct(analysis::accesses_of(g, body(m))).first.size() == 6);
  CHECK(answer().truth == Truth::kNo);
  for (int n = 1; n < 300; ++n) compute(g, body(m), "t", "o = 1.0", {}, {{"o", "A", "i, " + std::to_string(n)}});
  CHECK(answer().truth == Truth::kUnknown);
  CHECK(answer().reason.find("too many") != std::string::npos);
}

TEST_CASE("an index by data is unknown, an index by an assigned symbol too") {
  ir::Graph g("g");
  array(g, "A", ScalarType::kFloat64, {"N"});
  array(g, "p", ScalarType::kInt64, {"N"});
  symbol(g, "N");
  symbol(g, "k", ir::BinderKind::kAssigned);
  ir::Element& m = map(g, g.body, kI);
  ir::Assign a;
  a.items = {{"k", expression("p[i]")}};
  g.append(body(m), std::move(a));
  compute(g, body(m), "scatter", "o = 1.0", {}, {{"o", "A", "k"}});
  const auto& the_map = std::get<ir::Map>(m.kind);
  CHECK(
      analysis::carried(g, analysis::accesses_of(g, the_map.body), analysis::parameters_of(the_map), ir::base_facts(g))
          .truth == Truth::kUnknown);
}

TEST_CASE("work multiplies trip counts from outside to inside") {
  ir::Graph g("g");
  array(g, "A", ScalarType::kFloat64, {"N"});
  symbol(g, "M");
  symbol(g, "N");
  ir::Element& m = map(g, g.body, {{"i", "1:N-1"}, {"j", "0:M:2"}});
  ir::Element& l = loop(g, body(m), "k", "0", "k < 8", "k + 1");
  compute(g, body(l), "t", "o = 1.0", {}, {{"o", "A", "i"}});
  const auto work = analysis::work_of(std::get<ir::Map>(m.kind), ir::base_facts(g));
  REQUIRE(work);
  REQUIRE(work->size() == 3);
  CHECK(work->front().str() == "N - 2");
  CHECK(symbolic::evaluate(symbolic::product(*work), {{"N", 12}, {"M", 7}}) == 10 * 4 * 8);
  // A triangular nest has no amount over outer symbols alone.
  ir::Element& t = map(g, g.body, {{"p", "0:N"}, {"q", "0:p"}});
  compute(g, body(t), "t", "o = 1.0", {}, {{"o", "A", "p"}});
  CHECK(!analysis::work_of(std::get<ir::Map>(t.kind), ir::base_facts(g)));
}

}  // namespace test_dependence
