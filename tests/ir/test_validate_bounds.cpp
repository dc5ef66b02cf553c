// Subsets that provably leave their container, writes that provably meet; and what may be right.
#include <catch2/catch.hpp>

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
