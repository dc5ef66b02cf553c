// Cutting of long functions: what becomes a function, what it is passed, what stays.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "codegen/print.hpp"
#include "lower/cut.hpp"

namespace test_cut {

using namespace sdfg;
using namespace sdfg::lower;

namespace {

// A loop of so much text that a few of them make a piece.
Statement loop(const Text& variable, const Text& target, const Text& value, Statements more = {}) {
  For f;
  f.type = "int64_t";
  f.variable = variable;
  f.begin = "0";
  f.bound = "N";
  f.body = std::move(more);
  f.body.push_back(statement(Store{target, "=", value + " + 0.0" + Text(900, '0')}));
  return statement(std::move(f));
}

struct Result {
  Text pieces, body;
};

Result cut_text(std::vector<Parameter> parameters, Statements statements) {
  Function f;
  f.name = "f";
  f.parameters = std::move(parameters);
  f.body = std::move(statements);
  int next = 0;
  Unit pieces, whole;
  pieces.functions = cut(f, [&](const Text& wish) { return wish + "_" + std::to_string(next++); });
  whole.functions.push_back(std::move(f));
  return {codegen::print(pieces, {}).text, codegen::print(whole, {}).text};
}

bool has(const Text& text, const Text& part) {
  return text.find(part) != Text::npos;
}

Declare declared(Text type, Text name, Text init, Text array = {}) {
  Declare d;
  d.type = std::move(type);
  d.name = std::move(name);
  d.init = std::move(init);
  d.array = std::move(array);
  return d;
}

const std::vector<Parameter> kParameters = {
    {"sdfg_call*", "call"}, {"double* __restrict", "A"}, {"const double* __restrict", "B"}, {"const int64_t", "N"}};

Statements many(const std::function<Statement(const Text&)>& make, int count = 40) {
  Statements out;
  for (int k = 0; k < count; ++k) out.push_back(make("i" + std::to_string(k)));
  return out;
}

}  // namespace

TEST_CASE("short functions stay whole") {
  const Result r =
      cut_text(kParameters, many([](const Text& i) { return loop(i, "A[" + i + "]", "B[" + i + "]"); }, 20));
  CHECK(r.pieces.empty());
}

TEST_CASE("pointers and constants are passed by value with their qualifiers") {
  const Result r = cut_text(kParameters, many([](const Text& i) { return loop(i, "A[" + i + "]", "B[" + i + "]"); }));
  CHECK(has(r.pieces, "static __attribute__((noinline)) void f_1_0(double* __restrict A, const double* __restrict B,"));
  CHECK(has(r.pieces, "const int64_t N) {"));
  CHECK(has(r.body, "f_1_0(A, B, N);"));
  CHECK_FALSE(has(r.pieces, "call"));
  CHECK(std::count(r.body.begin(), r.body.end(), '\n') < 12);
}

TEST_CASE("variables are passed by reference when they are set or have no value yet, else by value") {
  Statements s;
  s.push_back(statement(declared("double", "sum", "0.0")));
  s.push_back(statement(declared("double", "later", "")));
  s.push_back(statement(declared("double", "factor", "2.0")));
  s.push_back(statement(declared("double", "seen", "2.0")));
  s.push_back(statement(declared("double", "stack", "", "16")));
  for (Statement& one : many([](const Text& i) { return loop(i, "sum", "sum + factor * later * seen * stack[0]"); }))
    s.push_back(std::move(one));
  s.push_back(statement(Evaluate{"look(&seen)"}));
  const Result r = cut_text(kParameters, std::move(s));
  CHECK(has(r.pieces, "double& __restrict sum"));
  CHECK(has(r.pieces, "double& __restrict later"));
  CHECK(has(r.pieces, "const double factor"));
  CHECK(has(r.pieces, "double& seen"));
  CHECK(has(r.pieces, "double* __restrict stack"));
}

TEST_CASE("beside a view nothing is restrict") {
  Statements s;
  s.push_back(statement(declared("double*", "view", "&A[3]")));
  for (Statement& one : many([](const Text& i) { return loop(i, "A[" + i + "]", "view[" + i + "]"); }))
    s.push_back(std::move(one));
  const Result r = cut_text(kParameters, std::move(s));
  CHECK(has(r.pieces, "(double* A, const int64_t N, double* view)"));
}

TEST_CASE("a return of the function is told by the piece") {
  const auto failing = [](const Text& i) {
    If test;
    test.branches.push_back({"A[0] < 0", {statement(Return{})}});
    return loop(i, "A[" + i + "]", "B[" + i + "]", {statement(std::move(test))});
  };
  const Result r = cut_text(kParameters, many(failing));
  CHECK(has(r.pieces, "static __attribute__((noinline)) bool f_1_0("));
  CHECK(has(r.pieces, "if (A[0] < 0) return true;"));
  CHECK(has(r.pieces, "  return false;\n"));
  CHECK(has(r.body, "if (f_1_0(A, B, N)) return;"));
}

TEST_CASE("what jumps elsewhere, owns memory or declares a type stays") {
  Statements s = many([](const Text& i) { return loop(i, "A[" + i + "]", "B[" + i + "]", {statement(Goto{"out"})}); });
  s.push_back(statement(Label{"out"}));
  CHECK(cut_text(kParameters, std::move(s)).pieces.empty());

  s.clear();
  s.push_back(statement(Evaluate{"typedef double __attribute__((may_alias)) other"}));
  s.push_back(statement(declared("other*", "p", "(other*)A")));
  for (Statement& one : many([](const Text& i) { return loop(i, "A[" + i + "]", "p[" + i + "]"); }))
    s.push_back(std::move(one));
  CHECK(cut_text(kParameters, std::move(s)).pieces.empty());

  s.clear();
  for (int k = 0; k < 40; ++k) {
    Declare owner = declared("const sdfg_owned", "m" + std::to_string(k), "call, N");
    owner.is_constructor = true;
    s.push_back(statement(std::move(owner)));
    s.push_back(loop("i" + std::to_string(k), "A[0]", "B[0]"));
  }
  CHECK(cut_text(kParameters, std::move(s)).pieces.empty());
}

TEST_CASE("a declaration moves with all its uses or stays") {
  Statements s;
  for (int k = 0; k < 40; ++k) {
    const Text n = std::to_string(k);
    Declare d = declared("double", "v" + n, "B[" + n + "]");
    d.is_const = true;
    s.push_back(statement(std::move(d)));
    s.push_back(loop("i" + n, "A[i" + n + "]", "v" + n));
  }
  s.push_back(statement(Store{"A[0]", "=", "v0"}));
  const Result r = cut_text(kParameters, std::move(s));
  CHECK(has(r.body, "const double v0 = B[0];"));
  CHECK_FALSE(has(r.body, "const double v5 ="));
  CHECK(has(r.pieces, "const double v5 = B[5];"));
}

namespace {

// A loop over `i` whose body is so many statements `B[i] = A[i] * k`.
For long_loop(int count, LoopHints hints) {
  For f;
  f.type = "int64_t";
  f.variable = "i";
  f.begin = "0";
  f.bound = "N - 1";
  f.hints = std::move(hints);
  for (int k = 0; k < count; ++k)
    f.body.push_back(statement(Store{"A[i]", "=", "A[i] * " + std::to_string(k) + ".0 + B[i]"}));
  return f;
}
Result cut_loop(For f) {
  Statements s;
  s.push_back(statement(std::move(f)));
  return cut_text(kParameters, std::move(s));
}
LoopHints vectors(bool parallel) {
  LoopHints h;
  h.parallel = parallel;
  h.simd = true;
  return h;
}

}  // namespace

TEST_CASE("strips of a long vector loop go through parts of its body") {
  for (const bool parallel : {false, true}) {
    const Result r = cut_loop(long_loop(400, vectors(parallel)));
    CHECK(has(r.body, parallel ? "#pragma omp parallel for" : "f("));
    CHECK_FALSE(has(r.body, "simd"));
    CHECK(has(r.body, "for (int64_t i_from_0 = 0; i_from_0 < N - 1; i_from_0 += 64)"));
    CHECK(has(r.body, "const int64_t i_to_1 = (N - 1) - i_from_0 > 64 ? i_from_0 + 64 : (N - 1);"));
    CHECK(has(r.body, "f_1_2(A, B, i_from_0, i_to_1);"));
    CHECK(has(r.body, "f_2_3(A, B, i_from_0, i_to_1);"));
    CHECK(has(r.pieces, "#pragma omp simd"));
    CHECK(has(r.pieces, "for (int64_t i = i_from_0; i < i_to_1; ++i)"));
    CHECK(has(r.pieces, "A[i] = A[i] * 399.0 + B[i];"));
    CHECK_FALSE(has(r.body, "A[i]"));
  }
  // Braces around all of it, and variables that belong to one part each.
  For f = long_loop(0, vectors(true));
  Scope braces;
  for (int k = 0; k < 300; ++k) {
    const Text name = "t" + std::to_string(k);
    braces.body.push_back(statement(declared("double", name, "B[i] + " + std::to_string(k))));
    braces.body.push_back(statement(Store{"A[i]", "=", "A[i] * " + name}));
  }
  f.body.push_back(statement(std::move(braces)));
  const Result r = cut_loop(std::move(f));
  CHECK(has(r.body, "f_1_2(A, B, i_from_0, i_to_1);"));
  CHECK(has(r.pieces, "double t299 = B[i] + 299;"));
  CHECK_FALSE(has(r.body, "t0"));
}

TEST_CASE("what iterations of a vector loop share, or pass on in variables, keeps its body whole") {
  CHECK(cut_loop(long_loop(150, vectors(false))).pieces.empty());  // short
  LoopHints reduces = vectors(false);
  reduces.reductions = {{"+", "sum"}};
  CHECK(cut_loop(long_loop(400, reduces)).pieces.empty());
  LoopHints collapsed = vectors(true);
  collapsed.collapse = 2;
  CHECK(cut_loop(long_loop(400, collapsed)).pieces.empty());
  For jumps = long_loop(400, vectors(false));
  If test;
  test.branches.push_back({"A[i] < 0", {statement(Continue{})}});
  jumps.body.push_back(statement(std::move(test)));
  CHECK(cut_loop(std::move(jumps)).pieces.empty());
  For local = long_loop(400, vectors(false));
  local.body.insert(local.body.begin(), statement(declared("double", "t", "B[i]")));
  local.body.push_back(statement(Store{"A[i]", "+=", "t"}));
  CHECK(cut_loop(std::move(local)).pieces.empty());
  // A variable around the loop that an iteration sets.
  Statements s;
  s.push_back(statement(declared("double", "seen", "0.0")));
  For sets = long_loop(400, vectors(false));
  sets.body.push_back(statement(Store{"seen", "=", "A[i]"}));
  s.push_back(statement(std::move(sets)));
  CHECK(cut_text(kParameters, std::move(s)).pieces.empty());
}

TEST_CASE("the body of a long parallel loop is cut like a function") {
  LoopHints threads;
  threads.parallel = true;
  const Result r = cut_loop(long_loop(1000, threads));
  CHECK(has(r.body, "#pragma omp parallel for"));
  CHECK(has(r.body, "for (int64_t i = 0; i < N - 1; ++i)"));
  CHECK(has(r.body, "f_1_0(A, B, i);"));
  CHECK(has(r.pieces, "void f_1_0(double* __restrict A, const double* __restrict B, const int64_t i)"));
  // Loops that are collapsed stay nested.
  threads.collapse = 2;
  For outer;
  outer.type = "int64_t";
  outer.variable = "j";
  outer.begin = "0";
  outer.bound = "N";
  outer.hints = threads;
  outer.body.push_back(statement(long_loop(1000, {})));
  const Result c = cut_loop(std::move(outer));
  CHECK(has(c.body, "for (int64_t j = 0; j < N; ++j)"));
  CHECK(has(c.body, "for (int64_t i = 0; i < N - 1; ++i)"));
  CHECK(has(c.body, "f_1_0(A, B, i);"));
}

}  // namespace test_cut
