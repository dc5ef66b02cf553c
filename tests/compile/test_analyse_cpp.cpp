// What is found out about C++ tasklets.
#include <catch2/catch.hpp>

#include "compile/analyse_cpp.hpp"

namespace test_analyse_cpp {

using sdfg::ScalarType;
using sdfg::Type;
using sdfg::compiler::analyse_cpp;
using sdfg::tasklet::CppFacts;
using sdfg::tasklet::CppName;
using sdfg::tasklet::CppTask;
using Names = std::vector<std::string>;
using Role = CppName::Role;

namespace {

// Connectors: values a, b in; value c out; pointers p in, q out; symbol N.
CppFacts facts_of(std::string text, std::string global_text = {}, Type element = ScalarType::kFloat64) {
  CppTask task;
  task.text = std::move(text);
  task.global_text = std::move(global_text);
  task.names = {{"a", element, Role::kInput, false},  {"b", element, Role::kInput, false},
                {"c", element, Role::kOutput, false}, {"p", element, Role::kInput, true},
                {"q", element, Role::kOutput, true},  {"N", ScalarType::kInt64, Role::kSymbol, false}};
  return analyse_cpp(task);
}

}  // namespace

TEST_CASE("a plain assignment reads its right side and writes its left") {
  const CppFacts facts = facts_of("c = a + sin(b) * N;");
  CHECK(facts.reads == Names{"N", "a", "b"});
  CHECK(facts.writes == Names{"c"});
  CHECK(facts.free_names == Names{"sin"});
  CHECK_FALSE(facts.side_effects);
  CHECK_FALSE(facts.has_preprocessor);
}

TEST_CASE("a compound assignment reads and writes") {
  const CppFacts facts = facts_of("c += a; ++q[2];");
  CHECK(facts.reads == Names{"a", "c", "q"});
  CHECK(facts.writes == Names{"c", "q"});
}

TEST_CASE("pointers are followed through arithmetic, subscripts and casts") {
  const CppFacts facts = facts_of("*(q + N) = p[3]; (&q[1])[2] = *p;");
  CHECK(facts.writes == Names{"q"});
  CHECK(facts.reads == Names{"N", "p"});
  CHECK(facts_of("((float*)q)[0] = 1;").writes == Names{"q"});
}

TEST_CASE("a pointer handed on may be read and written, unless it points to const") {
  const CppFacts facts = facts_of("use(q); look(p);", "void use(double*); void look(const double*);");
  CHECK(facts.reads == Names{"p", "q"});
  CHECK(facts.writes == Names{"q"});
  CHECK(facts.side_effects);
  CHECK(facts.free_names == Names{"look", "use"});
}

TEST_CASE("an alias counts as reading and writing") {
  const CppFacts facts = facts_of("double* r = q; r[0] = a; const double* s = p; c = s[1];");
  CHECK(facts.writes == Names{"c", "q"});
  CHECK(facts.reads == Names{"a", "p", "q"});
  CHECK(facts.locals == Names{"r", "s"});
}

TEST_CASE("a local variable is no free name, and hides nothing outside its scope") {
  const CppFacts facts = facts_of("for (int i = 0; i < 4; ++i) { double t = p[i]; q[i] = t * A; }");
  CHECK(facts.locals == Names{"i", "t"});
  CHECK(facts.free_names == Names{"A"});
}

TEST_CASE("a parameter of a lambda that is called like a connector is not the connector") {
  const CppFacts facts = facts_of("auto f = [](double a) { return a * 2; }; c = f(b);");
  CHECK(facts.reads == Names{"b"});
  CHECK(facts.writes == Names{"c"});
  CHECK_FALSE(facts.side_effects);
}

TEST_CASE("a lambda's use of a captured connector is seen") {
  const CppFacts facts = facts_of("auto f = [&](int i) { q[i] = p[i]; }; f(3);");
  CHECK(facts.reads == Names{"p"});
  CHECK(facts.writes == Names{"q"});
}

TEST_CASE("members and qualified names are no free names") {
  const CppFacts facts = facts_of("c = dace::math::exp(a) + std::max(a, b);");
  CHECK(facts.free_names == Names{"dace", "std"});
  CHECK(facts.reads == Names{"a", "b"});
  CHECK_FALSE(facts.side_effects);
}

TEST_CASE("complex numbers are values like others") {
  const CppFacts facts = facts_of("c = a * dace::complex128(0, 1); c += b;", {}, ScalarType::kComplex128);
  CHECK(facts.reads == Names{"a", "b", "c"});
  CHECK(facts.writes == Names{"c"});
  CHECK_FALSE(facts.side_effects);
}

TEST_CASE("what does more than computing has side effects") {
  CHECK(facts_of("printf(\"%f\", a);").side_effects);
  CHECK(facts_of("static int n = 0; ++n; c = a;").side_effects);
  CHECK(facts_of("asm volatile(\"\"); c = a;").side_effects);
  CHECK(facts_of("counter = 1; c = a;", "int counter;").side_effects);
  CHECK(facts_of("if (a > 0) return; c = a;").side_effects);
  CHECK_FALSE(facts_of("if (a > 0) c = a; else c = b;").side_effects);
}

TEST_CASE("text that can't be understood is answered on the safe side") {
  const CppFacts facts = facts_of("cblas_ddot(N, p, 1, __state->handle, q); c = a;");
  CHECK(facts.reads == Names{"N", "a", "c", "p", "q"});
  CHECK(facts.writes == Names{"c", "p", "q"});
  CHECK(facts.side_effects);
  CHECK(facts.free_names == Names{"__state", "cblas_ddot"});
  CHECK(facts_of("((((").side_effects);
}

TEST_CASE("a preprocessor line is noticed, and nothing is concluded from the rest") {
  const CppFacts facts = facts_of("#pragma omp atomic\nc += a;");
  CHECK(facts.has_preprocessor);
  CHECK(facts.side_effects);
  CHECK(facts_of("c = a; // # no line of its own").has_preprocessor == false);
}

TEST_CASE("a name in a comment or a string is not mentioned") {
  const CppFacts facts = facts_of("c = a; /* b */ const char* t = \"p\"; (void)t;");
  CHECK(facts.reads == Names{"a"});
}

}  // namespace test_analyse_cpp
