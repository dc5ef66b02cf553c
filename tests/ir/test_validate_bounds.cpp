// Subsets that provably leave their container, writes that provably meet; and what may be right.
#include <catch2/catch.hpp>
#include <random>

#include "validation.hpp"

namespace test_validate_bounds {

using namespace sdfg;
using namespace sdfg::ir;
using symbolic::Expr;
using test::problems_of;
using test::usual;

TEST_CASE("subsets that leave their container are told with the range that leads there") {
  test::Hand h = usual();
  Map& m = h.map(h.g.body, {{"i", "1:N - 1"}, {"j", "1:M"}});
  h.compute(m.body, "o = p", {{"p", "A", "i, j"}}, {"o", "B", "i, j + 1"});
  Map& low = h.map(h.g.body, {{"i2", "0:N"}});
  h.compute(low.body, "o = p", {{"p", "A", "i2 - 1, 0"}}, {"o", "x", "i2"});
  h.compute(h.g.body, "o = p", {{"p", "A", "N, 0"}}, {"o", "x", "-1"});
  For& t = h.loop(h.g.body, "t", "N - 1", "t >= 0", "t - 1");
  h.compute(t.body, "o = p", {{"p", "x", "t"}}, {"o", "x", "N - t"});
  CHECK(problems_of(h.g) ==
        "subset-bounds: map 'i, j' writes B[i, j + 1] for j up to M - 1, outside B's extent M in dimension 1 (the "
        "map's upper bound "
        "for j would have to be M - 1)\n"
        "subset-bounds: map 'i2' reads A[i2 - 1, 0] for i2 down to 0, before A's first element in dimension 0 (the "
        "map's lower bound "
        "for i2 would have to be 1)\n"
        "subset-bounds: state reads A[N, 0], outside A's extent N in dimension 0\n"
        "subset-bounds: state writes x[-1], before x's first element in dimension 0\n"
        "subset-bounds: loop 't' writes x[N - t] for t down to 0, outside x's extent N in dimension 0 (the loop's "
        "lower bound for t "
        "would have to be 1)");
}

TEST_CASE("messages use the labels that the user gave") {
  test::Hand h = usual();
  Map& m = h.map(h.g.body, {{"i_7", "0:N"}});
  h.g.symbols.at("i_7").label = "i";
  h.g.containers.at("x").label = "my_x";
  h.compute(m.body, "o = 1.0", {}, {"o", "x", "i_7 + 1"});
  CHECK(problems_of(h.g) ==
        "subset-bounds: map 'i' writes my_x[i + 1] for i up to N - 1, outside my_x's extent N in dimension 0 (the "
        "map's upper bound "
        "for i would have to be N - 1)");
}

TEST_CASE("strides of ranges, offsets and whole ranges take part in bounds") {
  test::Hand h = usual();
  h.argument("f", "8");
  h.g.containers.at("f").layout = Layout::strided({8}, {1}, Expr(8), {-1});
  Map& even = h.map(h.g.body, {{"i", "0:9:2"}});
  h.compute(even.body, "o = 1.0", {}, {"o", "f", "i + 1"});  // 1, 3, ... 9: the last is element 8 of 0..7
  Map& fine = h.map(h.g.body, {{"k", "0:8:2"}});
  h.compute(fine.body, "o = 1.0", {}, {"o", "f", "k + 1"});  // 1, 3, 5, 7
  State& s = h.state(h.g.body);
  h.copy(s, h.access(s, "x"), "0:N", h.access(s, "A"), "0, 1:N + 1").dst_subset = test::Hand::subset("0, 0:M + 1");
  CHECK(problems_of(h.g) ==
        "subset-bounds: map 'i' writes f[i + 1] for i up to 8, outside f's extent 8 in dimension 0 (the map's upper "
        "bound for i would "
        "have to be 8)\n"
        "subset-bounds: state writes A[0, 0:M + 1], outside A's extent M in dimension 1");
}

TEST_CASE("what may be right is not reported") {
  test::Hand h = usual();
  h.symbol("K");
  // Unknown extents.
  h.compute(h.g.body, "o = p", {{"p", "x", "5"}}, {"o", "A", "K, 0"});
  // A guard that excludes the first iteration.
  Map& guarded = h.map(h.g.body, {{"i", "0:N"}});
  If& branch = h.branch(guarded.body, {"i > 0"});
  h.compute(branch.branches[0].body, "o = p", {{"p", "x", "i - 1"}}, {"o", "A", "i, 0"});
  // A triangle: the inner range is empty where the index would be outside.
  Map& triangle = h.map(h.g.body, {{"r", "0:N"}, {"c", "0:r"}});
  h.compute(triangle.body, "o = p", {{"p", "x", "r - 1"}}, {"o", "B", "r, 0"}, ReduceOp::kSum);
  // Dynamic, allow_oob.
  State& s = h.compute(h.g.body, "o = p[0]", {{"p", "x", "0:N + 1"}}, {"o", "s", "0"});
  s.edges[0].dynamic = true;
  State& a = h.compute(h.g.body, "o = p[0]", {{"p", "x", "0:N + 1"}}, {"o", "s", "0"});
  a.edges[0].allow_oob = true;
  // Left before the bad iteration.
  For& t = h.loop(h.g.body, "t", "0", "t <= N", "t + 1");
  If& leave = h.branch(t.body, {"t >= N"});
  Exit exit;
  exit.target = h.g.body.items.back()->id;
  h.append(leave.branches[0].body, std::move(exit));
  h.compute(t.body, "o = 1.0", {}, {"o", "x", "t"});
  // Empty subsets.
  Map& empty = h.map(h.g.body, {{"e", "0:N"}});
  h.compute(empty.body, "o = 1.0", {{"p", "x", "e + 1:N"}}, {"o", "A", "e, 0"});
  CHECK(problems_of(h.g) == "");
}

namespace {

void read_at(test::Hand& h, Sequence& where, const std::string& index, const std::string& container = "f") {
  h.compute(where, "o = p", {{"p", container, index}}, {"o", "s", "0"}, ReduceOp::kSum);
}

bool leaves_bounds(const Graph& g) {
  const std::vector<Problem> problems = validate(g);
  for (const Problem& p : problems) {
    INFO(p.message);
    REQUIRE(p.rule == Rule::kSubsetBounds);
  }
  return !problems.empty();
}

// N >= 1, L >= 41; f has 4 elements, x has N.
test::Hand with_bounds() {
  test::Hand h("g");
  h.argument("f", "4");
  h.argument("x", "N");
  h.argument("s", "1");
  for (const char* name : {"N", "L", "K", "M"}) h.symbol(name);
  h.g.symbols.at("N").lower = Expr(1);
  h.g.symbols.at("L").lower = Expr(41);
  return h;
}

}  // namespace

TEST_CASE("remainders, quotients, minima and selections that leave their container in every run are reported") {
  const auto reported = [](const std::string& range, const std::string& index, const std::string& container) {
    test::Hand h = with_bounds();
    read_at(h, h.map(h.g.body, {{"i", range}}).body, index, container);
    INFO(container << "[" << index << "] for i in " << range);
    return leaves_bounds(h.g);
  };
  CHECK(reported("0:L", "i % 5", "f"));
  CHECK_FALSE(reported("0:L", "i % 4", "f"));
  CHECK_FALSE(reported("0:K", "i % 5", "f"));  // K may be 1
  CHECK(reported("0:5", "i % 5", "f"));
  CHECK_FALSE(reported("0:4", "i % 5", "f"));
  CHECK(reported("4:5", "i % 5", "f"));
  CHECK(reported("K:K + 5", "i % 5", "f"));  // wherever it begins
  CHECK_FALSE(reported("K:K + 4", "i % 5", "f"));
  CHECK(reported("0:L", "(7 - i) % 5", "f"));
  CHECK(reported("0:L", "3 * i % 5", "f"));
  CHECK(reported("0:L", "2 * i % 10", "f"));
  CHECK(reported("0:L", "6 * i % 9", "f"));  // 0, 6, 3
  CHECK_FALSE(reported("0:L", "6 * i % 9 // 2", "f"));
  CHECK_FALSE(reported("0:L", "2 * i % 4", "f"));
  CHECK(reported("0:L", "-1 - i % 2", "f"));
  CHECK(reported("0:L", "3 - i % 5", "f"));
  CHECK_FALSE(reported("0:L", "3 - i % 4", "f"));
  CHECK(reported("0:L:3", "i % 5", "f"));
  CHECK_FALSE(reported("0:L:5", "i % 5", "f"));
  CHECK(reported("4:L:5", "i % 5", "f"));
  CHECK(reported("0:L", "i // 10", "f"));
  CHECK_FALSE(reported("0:40", "i // 10", "f"));
  CHECK_FALSE(reported("0:K", "i // 10", "f"));
  CHECK(reported("0:L", "2 - i // 10", "f"));
  CHECK(reported("0:M + 1", "(i + 40) // 10", "f"));
  CHECK(reported("0:N", "i % N + N", "x"));
  CHECK(reported("0:K", "i % N + N", "x"));
  CHECK(reported("0:K", "i % N - N", "x"));
  CHECK_FALSE(reported("0:K", "i % N", "x"));
  CHECK_FALSE(reported("0:K", "N - 1 - i % N", "x"));
  CHECK(reported("0:N", "N - i % N", "x"));
  CHECK(reported("0:N", "i % N + 1", "x"));
  CHECK(reported("0:N + 1", "i % (N + 1)", "x"));
  CHECK_FALSE(reported("0:K", "i % (N + 1)", "x"));
  CHECK(reported("0:N * 4 + 1", "i // N", "f"));
  CHECK_FALSE(reported("0:N * 4", "i // N", "f"));
  CHECK(reported("0:K", "max(i, N)", "x"));
  CHECK(reported("0:L", "min(i, 4)", "f"));
  CHECK_FALSE(reported("0:L", "min(i, 3)", "f"));
  CHECK(reported("0:L", "min(i, 50 - i) - 1", "f"));
  CHECK(reported("0:L", "max(i - 10, 10 - i) - 1", "f"));  // at 10 too low, elsewhere too high
  CHECK(reported("0:8", "3 if i == 5 else 4", "f"));
  CHECK_FALSE(reported("0:5", "7 if i == 5 else 3", "f"));
  CHECK(reported("0:6", "7 if i == 5 else 3", "f"));
  CHECK(reported("0:L", "7 if i == 30 else 3", "f"));
  CHECK_FALSE(reported("0:L", "7 if i == 50 else 3", "f"));
  CHECK_FALSE(reported("0:K", "i % M if M != 0 else 0", "x"));
}

TEST_CASE("an extreme remainder is told with the iteration that has it") {
  test::Hand h = with_bounds();
  read_at(h, h.map(h.g.body, {{"i", "0:L"}, {"j", "0:3"}}).body, "(i + j) % 5");
  read_at(h, h.map(h.g.body, {{"k", "0:N"}}).body, "k % N + N", "x");
  read_at(h, h.map(h.g.body, {{"l", "0:L"}}).body, "l // 10");
  const std::string problems = problems_of(h.g);
  INFO(problems);
  CHECK(problems.find("map 'i, j' reads f[(i + j) % 5] for ") != std::string::npos);
  CHECK(problems.find("map 'k' reads x[N + k % N], outside x's extent N in dimension 0") != std::string::npos);
  CHECK(problems.find("map 'l' reads f[l//10] for l up to L - 1, outside f's extent 4 in dimension 0") !=
        std::string::npos);
}

TEST_CASE("reads in conditions and assignments that leave their container in every run are reported") {
  test::Hand h = with_bounds();
  Map& m = h.map(h.g.body, {{"i", "0:N"}});
  h.branch(m.body, {"x[i + 1] > 0"});
  h.branch(m.body, {"i + 1 < N and x[i + 1] > 0", "x[i + 1] > 0"});
  h.assign(m.body, "k", "int(x[i])");
  h.assign(m.body, "l", "int(x[i - 1])");
  h.loop(m.body, "t", "int(x[i + N])", "t < 5", "t + 1");
  h.while_loop(m.body, "f[i % 4] > f[4 + i]");
  h.branch(h.g.body, {"x[0] > 0"});
  CHECK(problems_of(h.g) ==
        "subset-bounds: map 'i' reads x[i + 1] for i up to N - 1, outside x's extent N in dimension 0 (the map's upper "
        "bound for i would have to be N - 1)\n"
        "subset-bounds: map 'i' reads x[i - 1] for i down to 0, before x's first element in dimension 0 (the map's "
        "lower bound for i would have to be 1)\n"
        "subset-bounds: map 'i' reads x[N + i] for i up to N - 1, outside x's extent N in dimension 0 (the map's upper "
        "bound for i would have to be 0)\n"
        "subset-bounds: map 'i' reads f[i + 4] for i up to N - 1, outside f's extent 4 in dimension 0 (the map's upper "
        "bound for i would have to be 0)");
}

namespace {

class RandomIndex {
 public:
  explicit RandomIndex(std::uint32_t seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }

  Expr index(const std::vector<std::string>& symbols, int depth) {
    if (depth == 0 || below(6) == 0) {
      if (below(4) == 0) return between(-6, 6);
      return Expr::symbol(symbols[static_cast<std::size_t>(below(static_cast<int>(symbols.size())))]);
    }
    const auto part = [&] { return index(symbols, depth - 1); };
    switch (below(10)) {
      case 0: return part() + part();
      case 1: return part() - part();
      case 2: return part() * Expr(between(-3, 4));
      case 3: return symbolic::mod(part(), divisor(symbols));
      case 4: return symbolic::mod(part(), between(2, 7));
      case 5: return symbolic::floor_div(part(), divisor(symbols));
      case 6: return symbolic::ceil_div(part(), divisor(symbols));
      case 7: return symbolic::min(part(), part());
      case 8: return symbolic::max(part(), part());
      default:
        return below(2) == 0 ? symbolic::abs(part()) : symbolic::select(symbolic::le(part(), part()), part(), part());
    }
  }

 private:
  // Positive: N is at least 1.
  Expr divisor(const std::vector<std::string>& symbols) {
    const bool symbol = std::find(symbols.begin(), symbols.end(), "N") != symbols.end();
    if (symbol && below(2) == 0) return Expr::symbol("N") + Expr(between(0, 2));
    return between(1, 6);
  }

  std::mt19937 random_;
};

struct Loops {
  std::int64_t begin = 0, count = 0, step = 1;  // of i; j runs from 0 to i or to a constant
  std::optional<std::int64_t> inner;            // nothing: to i
};

}  // namespace

TEST_CASE("an index that is reported is outside somewhere in every run, and small constant loops are decided") {
  int told = 0, decided = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    RandomIndex random(seed);
    const bool symbolic_end = random.below(2) == 0;
    const bool two = random.below(2) == 0;
    const Loops loops{random.between(-5, 8), random.between(0, 20), random.between(1, 3),
                      random.below(2) == 0 ? std::optional<std::int64_t>(random.between(0, 6)) : std::nullopt};
    const std::int64_t least = random.between(1, 12);
    std::vector<std::string> symbols{"i"};
    if (two) symbols.emplace_back("j");
    if (symbolic_end) symbols.emplace_back("N");
    Expr index, extent;
    try {
      index = random.index(symbols, random.between(1, 3));
      extent = symbolic_end && random.below(2) == 0 ? Expr::symbol("N") : Expr(random.between(0, 9));
    } catch (const Error&) {
      continue;
    }
    const Expr begin = loops.begin;
    const Expr end = symbolic_end ? Expr::symbol("N") * random.between(1, 3) : begin + loops.count;

    test::Hand h("g");
    h.symbol("N");
    h.g.symbols.at("N").lower = Expr(least);
    h.argument("f", extent.str());
    h.argument("s", "1");
    Map& outer = h.map(h.g.body, {{"i", begin.str() + ":" + end.str() + ":" + std::to_string(loops.step)}});
    Sequence* body = &outer.body;
    if (two) body = &h.map(*body, {{"j", "0:" + (loops.inner ? std::to_string(*loops.inner) : "i + 1")}}).body;
    read_at(h, *body, index.str());
    const bool reported = leaves_bounds(h.g);

    INFO("seed " << seed << ": f[" << index.str() << "] of " << extent.str() << " for i in " << begin.str() << ":"
                 << end.str() << ":" << loops.step << (two ? " and j" : "") << ", N >= " << least);
    bool any_outside = false;
    for (std::int64_t n = least; n < least + 8; ++n) {
      std::map<std::string, std::int64_t, std::less<>> at{{"N", n}};
      const std::int64_t size = symbolic::evaluate(extent, at), stop = symbolic::evaluate(end, at);
      bool reached = false, outside = false;
      for (std::int64_t i = loops.begin; i < stop; i += loops.step) {
        at["i"] = i;
        for (std::int64_t j = 0; j < (two ? loops.inner.value_or(i + 1) : 1); ++j) {
          at["j"] = j;
          const std::int64_t value = symbolic::evaluate(index, at);
          reached = true;
          outside = outside || value < 0 || value >= size;
        }
      }
      any_outside = any_outside || outside;
      if (reported && reached) REQUIRE(outside);
    }
    told += reported ? 1 : 0;
    if (!symbolic_end && !two) {
      REQUIRE(reported == any_outside);
      decided += reported ? 1 : 0;
    }
  }
  CHECK(told > 500);
  CHECK(decided > 200);
}

TEST_CASE("what no run gets to is not reported") {
  test::Hand h = usual();
  For& never = h.loop(h.g.body, "e", "0", "e < 0", "e + 1");
  h.compute(never.body, "o = p", {{"p", "x", "e % N"}}, {"o", "A", "e - 5, e % M"});
  For& outer = h.loop(h.g.body, "t", "0", "t < M", "t + 1");
  For& same = h.loop(outer.body, "u", "N", "u < N", "u + 1");
  h.compute(same.body, "o = p", {{"p", "x", "u - 1"}}, {"o", "x", "u"});
  For& back = h.loop(outer.body, "v", "N", "v < N - N", "v + 1");
  h.compute(back.body, "o = p", {{"p", "x", "v - 1"}}, {"o", "x", "v"});
  For& down = h.loop(outer.body, "w", "2", "w > 2", "w - 1");
  h.compute(down.body, "o = p", {{"p", "x", "w % N"}}, {"o", "x", "N + w"});
  Map& map = h.map(h.g.body, {{"i", "5:5"}});
  h.compute(map.body, "o = p", {{"p", "x", "i % N - N"}}, {"o", "s", "0"});
  // Every second point of nothing; an inner range that only outer ones make empty.
  Map& steps = h.map(h.g.body, {{"k", "N:N:2"}});
  h.compute(steps.body, "o = p", {{"p", "x", "k % 2 - 2"}}, {"o", "x", "k"});
  Map& nested = h.map(h.g.body, {{"r", "0:N"}, {"c", "r:0"}});
  h.compute(nested.body, "o = p", {{"p", "x", "c - N"}}, {"o", "B", "r, c % M"}, ReduceOp::kSum);
  // Conditions that never hold, and what follows one that always does.
  If& branch = h.branch(h.g.body, {"False", "True", "True"});
  h.compute(branch.branches[0].body, "o = p", {{"p", "x", "N"}}, {"o", "x", "-1"});
  h.compute(branch.branches[2].body, "o = p", {{"p", "x", "N"}}, {"o", "x", "-1"});
  // Copies of different sizes.
  For& copies = h.loop(h.g.body, "z", "1", "z < 1", "z + 1");
  State& s = h.state(copies.body);
  h.copy(s, h.access(s, "x"), "0:z", h.access(s, "A"), "0, 0:2 * z");
  CHECK(problems_of(h.g) == "");
}

TEST_CASE("what is wrong whatever is known is told also where no run gets to") {
  test::Hand h = usual();
  For& never = h.loop(h.g.body, "e", "0", "e < 0", "e + 1");
  h.compute(never.body, "o = p", {{"p", "x", "0, e"}}, {"o", "s", "0"});
  CHECK(problems_of(h.g).find("subset-rank: ") == 0);
}

TEST_CASE("a range that may be empty hides nothing") {
  test::Hand h = usual();
  For& maybe = h.loop(h.g.body, "e", "0", "e < M - N", "e + 1");
  h.compute(maybe.body, "o = p", {{"p", "x", "e - 1"}}, {"o", "s", "0"});
  If& branch = h.branch(h.g.body, {"N > 3", "True"});
  h.compute(branch.branches[1].body, "o = p", {{"p", "x", "N"}}, {"o", "s", "0"});
  CHECK(problems_of(h.g) ==
        "subset-bounds: loop 'e' reads x[e - 1] for e down to 0, before x's first element in dimension 0 (the loop's "
        "lower bound for e would have to be 1)\n"
        "subset-bounds: state reads x[N], outside x's extent N in dimension 0");
}

TEST_CASE("iterations of a map that write the same elements are reported") {
  test::Hand h = usual();
  Map& m = h.map(h.g.body, {{"i", "0:N"}, {"j", "0:M"}});
  h.compute(m.body, "o = p", {{"p", "A", "i, j"}}, {"o", "x", "i"});
  Map& overlap = h.map(h.g.body, {{"k", "0:N - 1"}});
  State& s = h.state(overlap.body);
  h.copy(s, h.access(s, "A"), "k, 0:2", h.access(s, "x"), "k:k + 2");
  CHECK(problems_of(h.g) ==
        "write-conflict: iterations of map 'i, j' that differ in j write the same elements x[i] without a WCR "
        "(accumulate (+= in the "
        "builder), or declare x inside the map)\n"
        "write-conflict: iterations of map 'k' that differ in k write overlapping elements x[k:k + 2] without a WCR "
        "(accumulate (+= in "
        "the builder), or declare x inside the map)");
}

TEST_CASE("writes that may be apart are no conflict") {
  test::Hand h = usual();
  // Accumulation.
  Map& sum = h.map(h.g.body, {{"i", "0:N"}});
  h.compute(sum.body, "o = p", {{"p", "x", "i"}}, {"o", "s", "0"}, ReduceOp::kSum);
  // A container of the body.
  Map& own = h.map(h.g.body, {{"i2", "0:N"}});
  Block& b = h.block(own.body);
  h.transient("t", "", ScalarType::kFloat64, &b);
  h.compute(b.body, "o = 1.0", {}, {"o", "t", ""});
  // An index that is computed.
  Map& indirect = h.map(h.g.body, {{"i3", "0:N"}});
  h.assign(indirect.body, "k", "i3 * 2 % N");
  h.compute(indirect.body, "o = 1.0", {}, {"o", "x", "k"});
  // Tiles.
  Map& tiles = h.map(h.g.body, {{"b", "0:N:32"}});
  Map& inner = h.map(tiles.body, {{"e", "b:min(b + 32, N)"}});
  h.compute(inner.body, "o = 1.0", {}, {"o", "x", "e"});
  // One iteration writes.
  Map& guarded = h.map(h.g.body, {{"i4", "0:N"}});
  If& branch = h.branch(guarded.body, {"i4 == 0"});
  h.compute(branch.branches[0].body, "o = 1.0", {}, {"o", "s", "0"});
  // A single point.
  Map& one = h.map(h.g.body, {{"i5", "3:4"}});
  h.compute(one.body, "o = 1.0", {}, {"o", "s", "0"});
  // A view of each iteration's own part.
  Map& views = h.map(h.g.body, {{"i6", "0:N"}});
  Block& vb = h.block(views.body);
  h.view("row", "M", "A", "i6, 0:M", &vb);
  h.compute(vb.body, "o = 1.0", {}, {"o", "row", "0"});
  CHECK(problems_of(h.g) == "");
}

TEST_CASE("a view of one place is a conflict on what it shows") {
  test::Hand h = usual();
  Map& m = h.map(h.g.body, {{"i", "0:N"}});
  Block& b = h.block(m.body);
  h.view("row", "M", "A", "0, 0:M", &b);
  h.compute(b.body, "o = 1.0", {}, {"o", "row", "0"});
  CHECK(problems_of(h.g) ==
        "write-conflict: iterations of map 'i' that differ in i write the same elements row[0] without a WCR "
        "(accumulate (+= in the "
        "builder), or declare row inside the map)");
}

}  // namespace test_validate_bounds
