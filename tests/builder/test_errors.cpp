// What the builder says at the call that is wrong: the whole text.
#include <catch2/catch.hpp>
#include <complex>
#include <optional>

#include "graph_text.hpp"

namespace test_errors {

using namespace sdfg;

namespace {

// The text of the error without line numbers; the file must be this one.
template <typename F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    CHECK((e.error_class() == ErrorClass::kUsage || e.error_class() == ErrorClass::kLimit));
    return std::regex_replace(std::string(e.what()), std::regex("test_errors\\.cpp:[0-9]+(:[0-9]+)?"), "HERE");
  }
  return "no error";
}

}  // namespace

TEST_CASE("a handle works only with its own builder") {
  Builder g("first"), h("second");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto M = h.symbol("M");
  auto B = h.array<double>("B", {M});
  CHECK(error_of([&] { A(0) = B(0); }) ==
        "usage error: the value belongs to graph 'second' and is used in graph 'first'\n  at HERE\n"
        "  hint: a handle works only with the builder that made it");
  CHECK(error_of([&] { A(M) = 1.0; }) ==
        "usage error: the index M belongs to graph 'second' and is used in graph 'first'\n  at HERE\n"
        "  hint: a handle works only with the builder that made it");
  CHECK(error_of([&] { static_cast<void>(N + M); }).starts_with("usage error: the index M belongs to graph 'second'"));
  CHECK(error_of([&] {
          static_cast<void>(A(0) + B(0));
        }).starts_with("usage error: the value belongs to graph 'second'"));
  CHECK(error_of([&] {
          A.copy(B);
        }).starts_with("usage error: 'B' belongs to graph 'second' and is used in graph 'first'"));
  CHECK(error_of([&] {
          g.map({"i", 0, M}, [](auto) {});
        }).starts_with("usage error: the index M belongs to graph 'second'"));
}

TEST_CASE("a handle ends with its scope") {
  Builder g("scopes");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  std::optional<Index> leaked;
  std::optional<Array<double, 0>> local;
  std::optional<Value<double>> value;
  g.map({"i", 0, N}, [&](auto i) {
    leaked = i;
    local.emplace(g.local("t", 1.0));
    value = A(i) + 1.0;
  });
  CHECK(error_of([&] { A(*leaked) = 1.0; }) ==
        "usage error: the index i is used after the end of the scope it belongs to: map 'i' at HERE\n  at HERE\n"
        "  hint: keep the value in a container declared outside, or use it inside the body");
  CHECK(error_of([&] {
          A(0) = *local;
        }).starts_with("usage error: 't' is used after the end of the scope it belongs to: map 'i'"));
  CHECK(error_of([&] { A(0) = *value; }).starts_with("usage error: the value is used after the end of the scope"));
  CHECK(error_of([&] { g.map({"k", 0, N}, [&](auto k) { A(k) = *leaked * 1.0; }); }) != "no error");
  CHECK(error_of([&] { A(0) = 1.0; }).starts_with("usage error: the builder of graph 'scopes' can't be used any more"));
}

TEST_CASE("a handle ends with its builder") {
  std::optional<Array<double, 1>> A;
  {
    Builder g("gone");
    A.emplace(g.array<double>("A", {3}));
  }
  CHECK(error_of([&] { (*A)(0) = 1.0; }) ==
        "usage error: a handle of graph 'gone' is used after its builder was destroyed\n  at HERE");
}

TEST_CASE("names") {
  Builder g("names");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  CHECK(error_of([&] { g.array<double>("A", {N}); }) ==
        "usage error: the name 'A' is taken by the container declared at HERE\n  at HERE\n"
        "  hint: declare parameters first, or choose another name");
  CHECK(
      error_of([&] { g.symbol("N"); }).starts_with("usage error: the name 'N' is taken by the parameter declared at"));
  CHECK(error_of([&] { g.symbol("a b"); }).starts_with("usage error: 'a b' is no name for a parameter"));
  CHECK(error_of([&] { g.symbol("if"); }).starts_with("usage error: 'if' is no name for a parameter"));
  CHECK(error_of([&] { Builder("3d"); }) ==
        "usage error: '3d' is no name for a graph\n  at HERE\n"
        "  hint: use letters, digits and underscores, not starting with a digit");
  CHECK(error_of([&] { Builder("or"); }) ==
        "usage error: 'or' is no name for a graph\n  at HERE\n"
        "  hint: 'or' is a word of the expression syntax; 'or_' would be a name");
  g.transient<double>("t");
  CHECK(error_of([&] {
          g.transient<double>("t");
        }).starts_with("usage error: the name 't' is declared twice in one scope, first at HERE"));
  CHECK(error_of([&] {
          g.map({"i", 0, N}, {"i", 0, N}, [](auto, auto) {});
        }).starts_with("usage error: the name 'i' is declared twice"));
}

TEST_CASE("the order of the parameters") {
  Builder g("order");
  auto N = g.symbol("Nx");
  auto A = g.array<double>("A", {N});
  CHECK(error_of([&] { g.order({"A", "Ny"}); }) ==
        "usage error: 'Ny' in the order of the parameters is no parameter\n  at HERE\n  hint: did you mean 'Nx'?");
  CHECK(error_of([&] { g.order({"A"}); }).starts_with("usage error: the order of the parameters lacks 'Nx'"));
  CHECK(error_of([&] { g.order({"A", "A"}); }).starts_with("usage error: the parameter 'A' stands twice"));
  g.order({"Nx", "A"});
  CHECK(error_of([&] {
          g.symbol("M");
        }).starts_with("usage error: the parameter 'M' is declared after the order of the parameters was set"));
}

TEST_CASE("what complex values don't have is an error at the call") {
  Builder g("complex");
  auto N = g.symbol("N");
  auto A = g.array<std::complex<double>>("A", {N});
  auto B = g.array<std::complex<double>>("B", {N});
  const std::string one = " is not defined for arguments of types (complex128)\n  at HERE";
  const std::string two = " is not defined for arguments of types (complex128, complex128)\n  at HERE";
  CHECK(error_of([&] { B = floor(A); }) == "usage error: Function 'floor'" + one);
  CHECK(error_of([&] { B = erf(A); }) == "usage error: Function 'erf'" + one);
  CHECK(error_of([&] { B = sign(A); }) == "usage error: Function 'sign'" + one);
  CHECK(error_of([&] { B = atan2(A, A); }) == "usage error: Function 'atan2'" + two);
  CHECK(error_of([&] { B = sdfg::min(A, A); }) == "usage error: Function 'min'" + two);
  CHECK(error_of([&] { B = sdfg::max(A, A); }) == "usage error: Function 'max'" + two);
  CHECK(error_of([&] { B = floor_div(A, A); })
            .starts_with("usage error: Operator '//' is not defined for operands of types complex128 and complex128\n"
                         "  at HERE"));
  CHECK(error_of([&] { g.map({"i", 0, N}, [&](auto i) { B(i) = floor(A(i)); }); }) ==
        "usage error: Function 'floor'" + one + "\n  in map 'i' at HERE");
  // In a new builder, since the body above was left by an exception.
  Builder h("condition");
  auto C = h.array<std::complex<double>>("C", {3});
  CHECK(error_of([&] { h.if_(abs(floor(C(0))) > 1.0, [] {}); }) == "usage error: Function 'floor'" + one);
}

TEST_CASE("words that expressions read as constants are no names") {
  for (const std::string word : {"nan", "NaN", "inf", "oo", "zoo", "true", "false", "nullptr", "True", "None", "and"}) {
    CAPTURE(word);
    const std::string start = "usage error: '" + word + "' is no name";
    const std::string hint = "hint: '" + word + "' is a word of the expression syntax; '" + word + "_' would be a name";
    const auto refused = [&](auto&& declare) {
      Builder g("words");
      auto N = g.symbol("N");
      const std::string text = error_of([&] { declare(g, N); });
      CHECK(text.starts_with(start));
      CHECK(text.find(hint) != std::string::npos);
    };
    refused([&](Builder& g, Index&) { g.symbol(word); });
    refused([&](Builder& g, Index& N) { g.array<double>(word, {N}); });
    refused([&](Builder& g, Index& N) { g.transient<double>(word, {N}); });
    refused([&](Builder& g, Index&) { g.local(word, 1.0); });
    refused([&](Builder& g, Index&) { g.stream<double>(word); });
    refused([&](Builder& g, Index& N) { g.assign(word, N + 1); });
    refused([&](Builder& g, Index& N) { g.map({word, 0, N}, [](auto) {}); });
    refused([&](Builder& g, Index& N) { g.loop(word, 0, N, [](auto) {}); });
    Builder g("words");
    g.state("s", [&](State& s) {
      const std::string said = "usage error: '" + word + "' of tasklet 't' is no name for a connector";
      CHECK(error_of([&] { s.tasklet("t", {word}, {"y"}, "y = 1"); }).starts_with(said));
      CHECK(error_of([&] { s.tasklet("t", {}, {word}, "y = 1"); }).starts_with(said));
    });
  }
}

TEST_CASE("names of mathematical constants are names where they are declared") {
  Builder g("letters");
  auto A = g.array<double>("A", {2});
  for (const char* name : {"E", "I", "pi"}) {
    for (int k = 0; k < 2; ++k) {  // the second one gets a number in the graph
      g.loop(name, 0, 2, [&](auto) {
        g.state("s", [&](State& s) {
          auto t = s.tasklet("t", {}, {"y"}, "y = " + std::string(name));
          s.edge(t["y"], s.access(A), "0");
        });
      });
    }
  }
  const std::string text = g.graph().text();
  for (const char* name : {"E", "I", "pi"}) {
    CAPTURE(text);
    CHECK(text.find("y = " + std::string(name) + "_1") != std::string::npos);
  }
}

TEST_CASE("expressions that nest too deep are refused at the user's call") {
  Builder g("deep");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  CHECK(error_of([&] {
          Value<double> sum = A(0) + 1.0;
          for (int k = 0; k < 14000; ++k) sum = sum + A(0);
        }) ==
        "limit error: an expression nests more than 2000 operations\n  at HERE\n"
        "  hint: store parts of it in variables: auto part = g.local(\"part\", ...)");
  Value<double> sum = A(0) + 1.0;
  for (int k = 0; k < 150; ++k) sum = sum + A(0);
  CHECK(error_of([&] { g.if_(sum > 1.0, [] {}); }) ==
        "limit error: a condition or bound nests more than 100 operations\n  at HERE\n"
        "  hint: store its value in a variable first: auto value = g.local(\"value\", ...)");
}

TEST_CASE("extents that are too large together name the container") {
  Builder g("large");
  CHECK(error_of([&] { g.array<double>("A", {std::int64_t{1} << 40, std::int64_t{1} << 40}); }) ==
        "limit error: the size of 'A' is too large: 64-bit integer overflow in a symbolic expression: "
        "1099511627776 * 1099511627776\n  at HERE");
}

TEST_CASE("indices, extents and shapes that can't be right") {
  Builder g("shapes");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto A = g.array<double>("A", {N, 4});
  auto B = g.array<double>("B", {M, 4});
  CHECK(error_of([&] { A(0, 4) = 1.0; }) ==
        "usage error: the index 4 is outside extent 4 of 'A' in dimension 1\n  element of 'A' at HERE");
  CHECK(error_of([&] {
          A(N, 0) = 1.0;
        }).starts_with("usage error: the index N is outside extent N of 'A' in dimension 0"));
  CHECK(error_of([&] { A(-1, 0) = 1.0; }).starts_with("usage error: the index -1 is outside extent N"));
  CHECK(error_of([&] {
          g.array<double>("C", {N, -2});
        }).starts_with("usage error: extent -2 of 'C' in dimension 1 is negative"));
  CHECK(error_of([&] { A = B * 1.0; }) ==
        "usage error: a value of extent M is stored to extent N of 'A', and the two are not known to be equal\n  at "
        "HERE\n"
        "  hint: declare both arrays with the same symbol, or take a slice of known extent");
  CHECK(error_of([&] {
          static_cast<void>(A + B);
        }).starts_with("usage error: the extents N and M are not known to be equal"));
  CHECK(error_of([&] {
          static_cast<void>(A + A.slice(all, range(0, 3)));
        }).starts_with("usage error: the extents 4 and 3 differ"));
  CHECK(error_of([&] {
          static_cast<void>(matmul(A, A));
        }).starts_with("usage error: matmul multiplies rows of 4 elements by columns of N"));
  CHECK(error_of([&] {
          static_cast<void>(sum(A, 2));
        }).starts_with("usage error: axis 2 does not exist in an array with 2 dimensions"));
  CHECK(error_of([&] { static_cast<void>(sum(A, axes(0, -2))); }).starts_with("usage error: axis -2 is given twice"));
  CHECK(error_of([&] {
          static_cast<void>(transpose(A, {0, 0}));
        }).starts_with("usage error: the order of a transpose is no permutation"));
  CHECK(error_of([&] {
          static_cast<void>(A.slice(all, range(0, 4, 0)));
        }).starts_with("usage error: the step 0 of a slice is zero"));
  CHECK(error_of([&] {
          static_cast<void>(A.slice(all, range(0, 4, N)));
        }).starts_with("usage error: the step N of a slice is not a constant"));
  CHECK(error_of([&] {
          static_cast<void>(A.extent(2));
        }).starts_with("usage error: dimension 2 is asked of something with 2 dimensions"));
  CHECK(error_of([&] {
          A.copy(B);
        }).starts_with("usage error: a copy needs equal numbers of elements, but 'B[0:M, 0:4]' and 'A[0:N, 0:4]'"));
  CHECK(error_of([&] {
          g.view("V", A, {N * 2});
        }).starts_with("usage error: the view 'V' of 16*N bytes does not match 'A' of 32*N bytes"));
  CHECK(error_of([&] {
          g.array<double>("S", {N}, {.strides = {1, 2}});
        }).starts_with("usage error: 'S' has 1 dimensions, but 2 strides are given"));
  CHECK(error_of([&] {
          g.constant<double>("W", {2, 2}, {1, 2, 3});
        }).starts_with("usage error: the constant 'W' has 3 values for 4 elements"));
}

TEST_CASE("constants that don't fit") {
  Builder g("constants");
  auto I = g.array<std::int8_t>("I", {4});
  auto U = g.array<std::uint16_t>("U", {4});
  auto F = g.array<float>("F", {4});
  CHECK(error_of([&] { I(0) = 128; }) == "usage error: the constant 128 does not fit in int8\n  at HERE");
  CHECK(error_of([&] {
          I(0) = I(1) + 1000;
        }).starts_with("usage error: the constant 1000 does not fit in int8\n  at HERE"));
  CHECK(error_of([&] { U = -1; }).starts_with("usage error: the constant -1 does not fit in uint16\n  at HERE"));
  CHECK(error_of([&] { F(0) = 1e300; }).starts_with("usage error: the constant"));
  CHECK(error_of([&] {
          static_cast<void>(Index(std::uint64_t{1} << 63));
        }).starts_with("limit error: the index 9223372036854775808 does not fit"));
}

TEST_CASE("maps and loops that can't be meant") {
  Builder g("loops");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  CHECK(error_of([&] { g.map({"i", 0, N, -1}, [](auto) {}); }) ==
        "usage error: the range 'i' of a map has step -1, but steps of maps are positive\n  at HERE\n"
        "  hint: the points of a map have no order; use g.loop to count down");
  CHECK(error_of([&] {
          g.loop("i", 0, N, 0, [](auto) {});
        }).starts_with("usage error: the loop 'i' has step 0 and would never end"));
  CHECK(error_of([&] { g.break_(); }) == "usage error: break_() stands outside of any loop\n  at HERE");
  CHECK(error_of([&] { g.continue_(); }).starts_with("usage error: continue_() stands outside of any loop"));
  std::string in_map, in_loop_map, returned, assigned, declared, left;
  auto k = g.assign("k", 0);
  g.loop("t", 0, N, [&](auto) {
    g.map({"i", 0, N}, [&](auto) {
      in_map = error_of([&] { g.break_(); });
      returned = error_of([&] { g.return_(); });
      assigned = error_of([&] { g.assign(k, 1); });
      declared = error_of([&] { g.array<double>("B", {N}); });
    });
  });
  CHECK(in_map ==
        "usage error: break_() would leave a map, whose points have no order\n  at HERE\n  in map 'i' at HERE\n  in "
        "loop 't' at HERE\n"
        "  hint: use a loop, or continue_() to end this point");
  CHECK(returned.starts_with("usage error: return_() stands inside a map, whose other points would still run"));
  CHECK(assigned.starts_with("usage error: 'k' is assigned inside a map, but belongs to the code around it"));
  CHECK(declared.starts_with("usage error: the argument 'B' is declared inside a body"));
  CHECK(error_of([&] { g.assign(N, 1); }).starts_with("usage error: 'N' is assigned, but it is a parameter"));
  CHECK(error_of([&] { g.assign(k + 1, 1); }).starts_with("usage error: 'k + 1' is assigned, but it is an expression"));
  std::optional<BlockHandle> block;
  g.block("b", [&](auto handle) { block = handle; });
  CHECK(error_of([&] { g.leave(*block); }).starts_with("usage error: leave() names a block that is not open here"));
}

TEST_CASE("conditions") {
  Builder g("conditions");
  auto I = g.array<std::int64_t>("I", {4});
  CHECK(
      error_of([&] {
        g.while_(I(I(0)) > 0, [] {});
      }).starts_with("usage error: the condition of this loop uses something that was computed once, before the loop"));
  Builder h("chain");
  auto J = h.array<std::int64_t>("J", {4});
  auto chain = h.if_(J(0) > 0, [] {});
  J(1) = 2;
  CHECK(error_of([&] { chain.else_([] {}); }).starts_with("usage error: the branch does not follow its if_ directly"));
  auto other = h.if_(J(0) > 0, [] {});
  auto between = J(J(0)) + 1;
  other.else_if(between > 0, [] {});
  CHECK(
      error_of([&] { J(2) = between; }).starts_with("usage error: the value was made between an if_ and its else_if"));
  CHECK(error_of([&] {
          h.for_("i", 0, [&](auto i) { return J(J(i)) > 0; }, [](auto i) { return i + 1; }, [] {});
        }).starts_with("usage error: the condition of this loop reads an index or bound from a container"));
}

TEST_CASE("what can't be stored to, and how") {
  Builder g("stores");
  auto a = g.scalar<double>("a");
  auto w = g.constant<double>("w", {1, 2});
  auto c = g.array<std::complex<double>>("c");
  auto d = g.array<double>("d");
  CHECK(error_of([&] { a = 1.0; }) ==
        "usage error: 'a' is stored to, but it is a scalar parameter, passed by value\n  at HERE\n"
        "  hint: declare it with array<T>(\"a\"), which passes a pointer, or copy it to a local");
  CHECK(error_of([&] { w(0) = 1.0; }).starts_with("usage error: 'w' is stored to, but it is a constant"));
  CHECK(error_of([&] {
          c.accumulate(Reduce::max, c);
        }).starts_with("usage error: values of type complex128 can't be accumulated by max"));
  CHECK(error_of([&] {
          d.accumulate(Reduce::bit_and, d);
        }).starts_with("usage error: values of type float64 can't be accumulated by bitwise and"));
  CHECK(error_of([&] {
          static_cast<void>(pow(cast<int>(d), -1));
        }).starts_with("usage error: an integer is raised to the power -1"));
}

TEST_CASE("sizes of arguments use parameters only") {
  Builder g("sizes");
  auto n = g.array<std::int64_t>("n");
  auto e = g.extent_of(n);
  CHECK(error_of([&] {
          g.array<double>("A", {e});
        }).starts_with("usage error: the layout of 'A' uses 'n_extent', which is not a parameter"));
}

TEST_CASE("a graph is taken only when its bodies have ended") {
  Builder g("open");
  auto N = g.symbol("N");
  std::string text;
  g.map({"i", 0, N}, [&](auto) { text = error_of([&] { builder::graph_of(g); }); });
  CHECK(text.starts_with("usage error: graph 'open' is taken while a body is still open"));
  CHECK_THROWS_AS(g.map({"i", 0, N}, [&](auto) { throw std::runtime_error("mine"); }), std::runtime_error);
  CHECK(error_of([&] { builder::graph_of(g); }) ==
        "usage error: the builder of graph 'open' can't be used any more: an exception left one of its bodies");
}

TEST_CASE("states by hand") {
  Builder g("states");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N, 3});
  auto I = g.array<std::int64_t>("index", {N});
  g.state("s", [&](State& s) {
    auto a = s.access(A);
    auto t = s.tasklet("t", {"x"}, {"y"}, "y = x + N");
    CHECK(error_of([&] { s.access("B"); }).starts_with("usage error: there is no container 'B' here"));
    CHECK(error_of([&] { s.edge(a, t["z"], "0, 0"); }) ==
          "usage error: the tasklet 't' has no input connector 'z'\n  at HERE\n  in state 's' at HERE\n  hint: did you "
          "mean 'x'?");
    CHECK(error_of([&] {
            s.edge(a, t["x"], "0");
          }).starts_with("usage error: the subset \"0\" has 1 dimensions, but 'A' has 2"));
    CHECK(error_of([&] {
            s.edge(a, t["x"], "0, M");
          }).starts_with("usage error: the subset \"0, M\" uses 'M', which is no symbol here"));
    CHECK(error_of([&] {
            s.edge(a, t["x"], "0, index[0]");
          }).starts_with("usage error: the subset \"0, index[0]\" reads a container"));
    CHECK(error_of([&] {
            s.edge(a, t["x"], "0, (");
          }).starts_with("usage error: the subset \"0, (\" of 'A' can't be read: "));
    CHECK(error_of([&] {
            s.edge(a, t["x"], I(0));
          }).starts_with("usage error: the subset is one of 'index', but the edge ends at 'A'"));
    CHECK(error_of([&] {
            s.edge(a, t, "0, 0");
          }).starts_with("usage error: an edge at the tasklet 't' names no connector"));
    CHECK(error_of([&] {
            s.edge(a["x"], t["x"], "0, 0");
          }).starts_with("usage error: the access node of 'A' has no connector 'x'"));
    CHECK(error_of([&] {
            s.edge(a, t["x"], Memlet("0, 0").wcr(Reduce::sum));
          }).starts_with("usage error: a WCR is given for an edge that does not end"));
    CHECK(error_of([&] {
            s.edge(t["y"], a, Memlet("0, 0").wcr("a + c"));
          }).starts_with("usage error: the WCR \"a + c\" uses 'c'"));
    CHECK(error_of([&] {
            s.tasklet("u", {"x"}, {"y"}, "y = q");
          }).starts_with("usage error: the tasklet 'u' uses 'q', which is no connector, local or symbol"));
    CHECK(error_of([&] {
            s.tasklet("u", {"x"}, {"y"}, "y = A");
          }).starts_with("usage error: the tasklet 'u' uses the container 'A' directly"));
    CHECK(error_of([&] {
            s.tasklet("u", {"x"}, {"y"}, "y = (");
          }).starts_with("usage error: the code of tasklet 'u' can't be read: "));
    CHECK(error_of([&] {
            s.tasklet("u", {"x"}, {"y"}, "z = x");
          }).starts_with("usage error: the tasklet 'u' never assigns its output 'y'"));
    CHECK(error_of([&] {
            s.tasklet("u", {"x"}, {"x"}, "x = 1");
          }).starts_with("usage error: the tasklet 'u' has two connectors 'x'"));
    CHECK(error_of([&] {
            s.tasklet("u", {"N"}, {"y"}, "y = 1");
          }).starts_with("usage error: the connector 'N' of tasklet 'u' has the name of a symbol"));
    CHECK(error_of([&] {
            s.tasklet("u", {"x"}, {"y"}, "y = blah(x)");
          }).starts_with("usage error: the tasklet 'u' calls 'blah'"));
    CHECK(error_of([&] { A(0, 0) = 1.0; }).starts_with("usage error: a statement stands inside the body of a state"));
    CHECK(error_of([&] {
            g.transient<double>("q");
          }).starts_with("usage error: 'q' is declared inside the body of a state"));
    s.edge(a, t["x"], "0, 0");
    s.edge(t["y"], s.access(A), "0, 1");
  });
}

TEST_CASE("calls of other graphs") {
  Builder inner("inner");
  auto n = inner.symbol("n"), m = inner.symbol("m");
  auto X = inner.array<double>("X", {n, n});
  X = 1.0 * m;
  Builder g("outer");
  auto N = g.symbol("N"), M = g.symbol("M");
  auto A = g.array<double>("A", {N, N});
  auto R = g.array<double>("R", {N, M});
  auto F = g.array<float>("F", {N, N});
  CHECK(error_of([&] { g.call(inner, {{"X", A}}); }) ==
        "usage error: the symbol 'm' of graph 'inner' is not bound and is no extent of a bound array\n  at HERE\n"
        "  hint: bind it to an index: {\"m\", ...}");
  CHECK(error_of([&] {
          g.call(inner, {{"m", 2}});
        }).starts_with("usage error: the parameter 'X' of graph 'inner' is not bound"));
  CHECK(error_of([&] {
          g.call(inner, {{"X", A}, {"k", 2}});
        }).starts_with("usage error: graph 'inner' has no parameter 'k'"));
  CHECK(error_of([&] {
          g.call(inner, {{"X", A}, {"X", A}});
        }).starts_with("usage error: the parameter 'X' of graph 'inner' is bound twice"));
  CHECK(error_of([&] { g.call(inner, {{"X", F}, {"m", 1}}); })
            .starts_with("usage error: the parameter 'X' of graph 'inner' is float64 with 2 dimensions, but its "
                         "argument is float32"));
  CHECK(error_of([&] { g.call(inner, {{"X", R}, {"m", 1}}); })
            .starts_with(
                "usage error: the parameter 'X' of graph 'inner' has extent N in dimension 1, but its argument has M"));
  CHECK(error_of([&] { g.call(inner, {{"X", A}, {"n", M}, {"m", 1}}); })
            .starts_with(
                "usage error: the parameter 'X' of graph 'inner' has extent M in dimension 0, but its argument has N"));
  CHECK(error_of([&] { g.call(g, {}); }).starts_with("usage error: graph 'outer' calls itself"));
}

TEST_CASE("a symbol that the extents of a call don't tell is named, with the extents and what to write") {
  Builder inner("inner");
  auto M = inner.symbol("M");
  inner.array<double>("X", {2 * M + 1});
  Builder g("outer");
  auto N = g.symbol("N");
  auto A = g.array<double>("A", {N});
  auto four = g.array<double>("four", {4});
  CHECK(error_of([&] { g.call(inner, {{"X", four}}); }) ==
        "usage error: no value of the symbol 'M' of graph 'inner' fits the extents: the parameter 'X' has extent "
        "2*M + 1 in dimension 0, and its argument has 4\n  at HERE");
  CHECK(error_of([&] { g.call(inner, {{"X", A}}); }) ==
        "usage error: the symbol 'M' of graph 'inner' does not follow from the extents: the parameter 'X' has extent "
        "2*M + 1 in dimension 0, and its argument has N, but N - 1 is not known to be a multiple of 2\n  at HERE\n"
        "  hint: declare the argument with an extent of the form 2*M + 1, or bind it to an index: {\"M\", ...}");
  Builder product("product");
  auto P = product.symbol("P"), Q = product.symbol("Q");
  product.array<double>("X", {P * Q});
  CHECK(error_of([&] { g.call(product, {{"X", A}}); }) ==
        "usage error: the symbol 'P' of graph 'product' does not follow from the extents: the parameter 'X' has extent "
        "P*Q in dimension 0, and its argument has N\n  at HERE\n  hint: bind it to an index: {\"P\", ...}");
  Builder square("square");
  auto S = square.symbol("S");
  square.array<double>("X", {S * S});
  CHECK(error_of([&] { g.call(square, {{"X", A}}); }) ==
        "usage error: the symbol 'S' of graph 'square' does not follow from the extents: the parameter 'X' has extent "
        "S**2 in dimension 0, and its argument has N\n  at HERE\n  hint: bind it to an index: {\"S\", ...}");
}

TEST_CASE("an index of an array of queues that is out of range names the place of the call") {
  Builder g("queues");
  auto Q = g.stream<std::int64_t>("Q", {2});
  auto R = g.stream<double>("R", {2, 3});
  CHECK(error_of([&] { Q(2).push(1); }) ==
        "usage error: the index 2 is outside extent 2 of 'Q' in dimension 0\n  element of 'Q' at HERE");
  CHECK(error_of([&] { R(1, -1).push(1.0); }) ==
        "usage error: the index -1 is outside extent 3 of 'R' in dimension 1\n  element of 'R' at HERE");
  CHECK(error_of([&] { static_cast<void>(R.at({0, 3}).pop()); }) ==
        "usage error: the index 3 is outside extent 3 of 'R' in dimension 1\n  element of 'R' at HERE");
  CHECK_NOTHROW(R(1, 2).push(1.0));
}

}  // namespace test_errors
