// C++ tasklets as they stand: what their names mean, pointers with offsets, vectors, preprocessor lines, callbacks.
#include <string>
#include <vector>

#include "harness.hpp"
#include "ir/validate.hpp"

namespace test_cpp_tasklets {

using namespace sdfg;
using namespace sdfg::test;

namespace {

constexpr ScalarType kD = ScalarType::kFloat64;

ir::Tasklet& native(Maker& m, ir::Sequence& in, const std::string& text, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, const std::string& global_text = {}) {
  ir::Tasklet& t = m.tasklet(in, "pass_ = 0", inputs, outputs);
  t.code = {};
  t.code.language = tasklet::Language::kCpp;
  t.code.text = text;
  t.code.global_text = global_text;
  return t;
}

// On what compiles: the interpreter does not read C++.
void check_compiled(const Maker& m, const Memory& start, const Reference& reference) {
  ir::check(m.g);
  Memory want = start;
  reference(want);
  int ran = 0;
  for (const Target& target : targets()) {
    if (!target.name.starts_with("cpu-")) continue;
    INFO("target " << target.name);
    Memory got = start;
    target.prepare(m.g)->run(got);
    const std::string difference = got.difference(want, [](const std::string&) { return kRounded; });
    INFO(difference);
    CHECK(difference.empty());
    ++ran;
  }
  if (ran == 0) WARN("no compiled target was chosen");
}

Type four(ScalarType t) {
  return Type::vector(t, 4);
}

}  // namespace

TEST_CASE("a local of C++ text that is called like a container captures nothing", "[run]") {
  Maker m;
  m.symbol("N");
  m.array("arr", kD, "N + 1");
  m.array("out", kD, "N");
  auto& body = m.map(m.body(), "i", "0:N");
  // `arr` and `i` are what the accesses of x and y are made of.
  native(m, body, "double arr = 100; const int i = 3; y = x + arr * i;", {"x = arr[i + 1]"}, {"y = out[i]"});
  for (const std::int64_t n : {0, 1, 7}) {
    check_compiled(m, Memory().value("N", n).array("arr", numbers(n + 1)).array("out", numbers(n, 2)), [n](Memory& w) {
      for (std::int64_t i = 0; i < n; ++i) w.get<double>("out")[at(i)] = w.get<double>("arr")[at(i + 1)] + 300;
    });
  }
}

TEST_CASE("a pointer into the middle of a container is indexed from there", "[run]") {
  Maker m;
  m.symbol("N");
  m.array("a", kD, "N, 7");
  m.array("b", kD, "N, 5");
  auto& body = m.map(m.body(), "i", "0:N");
  native(m, body, "for (int k = 0; k < 3; ++k) q[k] = p[k] + 2 * p[k + 1];\n(q + 1)[2] = *p + *(p + 3);",
         {"p = a[i, 2:6]"}, {"q = b[i, 1:5]"});
  const std::int64_t n = 5;
  check_compiled(m, Memory().value("N", n).array("a", numbers(n * 7)).array("b", numbers(n * 5, 2)), [](Memory& w) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto p = [&](std::int64_t k) { return w.get<double>("a")[at(i * 7 + 2 + k)]; };
      for (std::int64_t k = 0; k < 3; ++k) w.get<double>("b")[at(i * 5 + 1 + k)] = p(k) + 2 * p(k + 1);
      w.get<double>("b")[at(i * 5 + 4)] = p(0) + p(3);
    }
  });
}

TEST_CASE("preprocessor lines may name connectors", "[run]") {
  Maker m;
  m.array("a", kD, "9");
  m.array("b", kD, "2");
  native(m, m.body(),
         "total = 0;\n#pragma omp simd reduction(+ : total)\nfor (int k = 0; k < 9; ++k) total += p[k];\n"
         "#define sdfg_test_twice(v) ((v) + (v))\ntwice = sdfg_test_twice(total);\n#undef sdfg_test_twice",
         {"p = a[0:9]"}, {"total = b[0]", "twice = b[1]"});
  check_compiled(m, Memory().array("a", numbers(9)).array("b", numbers(2)), [](Memory& w) {
    double sum = 0;
    for (const double v : w.get<double>("a")) sum += v;
    w.get<double>("b")[0] = sum;
    w.get<double>("b")[1] = 2 * sum;
  });
}

TEST_CASE("vector connectors move elements of a container of numbers", "[run]") {
  Maker m;
  m.symbol("N");
  m.array("a", kD, "4 * N");
  m.array("b", kD, "4, N");
  m.array("sum", kD, "4");
  auto& body = m.map(m.body(), "i", "0:N");
  // Neighbours in memory on one side, a column on the other.
  ir::Tasklet& t =
      native(m, body, "y = x * 2 + x[3]; z = x;", {"x = a[4 * i:4 * i + 4]"}, {"y = b[0:4, i]", "z = sum[0:4] | sum"});
  t.inputs[0].type = t.outputs[0].type = t.outputs[1].type = four(kD);
  for (const std::int64_t n : {0, 1, 5}) {
    check_compiled(
        m, Memory().value("N", n).array("a", numbers(4 * n)).array("b", numbers(4 * n, 2)).array("sum", numbers(4, 3)),
        [n](Memory& w) {
          const auto a = w.get<double>("a");
          for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t k = 0; k < 4; ++k) {
              w.get<double>("b")[at(k * n + i)] = 2 * a[at(4 * i + k)] + a[at(4 * i + 3)];
              w.get<double>("sum")[at(k)] += a[at(4 * i + k)];
            }
          }
        });
  }
}

TEST_CASE("vector connectors of tasklets in Python syntax", "[run]") {
  Maker m;
  m.symbol("N");
  m.array("a", ScalarType::kInt32, "4 * N");
  m.array("b", kD, "4 * N");
  m.array("c", ScalarType::kInt32, "N, 8");
  auto& body = m.map(m.body(), "i", "0:N");
  ir::Tasklet& line = m.tasklet(body, "y = x * 3 + 1", {"x = a[4 * i:4 * i + 4]"}, {"y = c[i, 0:8:2]"});
  line.inputs[0].type = line.outputs[0].type = four(ScalarType::kInt32);
  ir::Tasklet& several =
      m.tasklet(body, "t = x * x\ny = t + x", {"x = b[4 * i:4 * i + 4]"}, {"y = b[4 * i:4 * i + 4]"});
  several.inputs[0].type = several.outputs[0].type = four(kD);
  for (const std::int64_t n : {1, 5}) {
    check(m,
          Memory()
              .value("N", n)
              .array("a", numbers<std::int32_t>(4 * n))
              .array("b", numbers(4 * n))
              .array("c", numbers<std::int32_t>(8 * n, 2)),
          [n](Memory& w) {
            for (std::int64_t i = 0; i < n; ++i) {
              for (std::int64_t k = 0; k < 4; ++k) {
                w.get<std::int32_t>("c")[at(8 * i + 2 * k)] = w.get<std::int32_t>("a")[at(4 * i + k)] * 3 + 1;
                double& b = w.get<double>("b")[at(4 * i + k)];
                b = b * b + b;
              }
            }
          });
  }
}

namespace {

double* kept = nullptr;

void keep(double* where, std::int64_t value) {
  kept = where;
  where[1] = static_cast<double>(value);  // beyond the first element
}
void set_once(double* where) {
  *where = 42;
}

}  // namespace

TEST_CASE("a callback gets the address that an output pointer stands for", "[run]") {
  Maker m;
  m.array("a", kD, "6");
  m.array("b", kD, "3");
  m.symbol("f", Type::callback({}, {Type::pointer(kD), Type(ScalarType::kInt64)}));
  m.symbol("g", Type::callback({}, {Type::pointer(kD)}));
  native(m, m.body(), "f(out, 7);", {}, {"out = a[2:6]"});
  native(m, m.body(), "g(&one);", {}, {"one = b[1]"});
  for (const Target& target : targets()) {
    if (!target.name.starts_with("cpu-")) continue;
    INFO("target " << target.name);
    Memory got;
    got.array("a", numbers(6)).array("b", numbers(3));
    got.function("f", reinterpret_cast<void (*)()>(&keep)).function("g", reinterpret_cast<void (*)()>(&set_once));
    target.prepare(m.g)->run(got);
    CHECK(kept == got.get<double>("a").data() + 2);
    CHECK(got.get<double>("a")[3] == 7);
    CHECK(got.get<double>("b")[1] == 42);
    CHECK(got.get<double>("b")[0] == numbers(3)[0]);
  }
}

TEST_CASE("a parameter of a lambda that is called like a connector is the lambda's", "[run]") {
  Maker m;
  m.symbol("N");
  m.array("a", kD, "N");
  m.array("b", kD, "N");
  auto& body = m.map(m.body(), "i", "0:N");
  native(m, body, "auto twice = [](double x) { return 2 * x; };\ny = twice(10) + x + twice(x);", {"x = a[i]"},
         {"y = b[i]"});
  const std::int64_t n = 11;
  check_compiled(m, Memory().value("N", n).array("a", numbers(n)).array("b", numbers(n, 2)), [](Memory& w) {
    for (std::int64_t i = 0; i < n; ++i) w.get<double>("b")[at(i)] = 20 + 3 * w.get<double>("a")[at(i)];
  });
}

namespace {

int ended = 0;
void count_end() {
  ++ended;
}

}  // namespace

TEST_CASE("init code runs once before the calls of a program, exit code once after them", "[run]") {
  Maker m;
  m.array("b", ScalarType::kInt64, "1");
  m.symbol("done", Type::callback({}, {}));
  m.g.code.host = "static long calls; static void (*at_end)();";
  m.g.code.init = "calls += 100;";
  m.g.code.exit = "if (at_end) at_end();\n";
  native(m, m.body(), "at_end = done; y = ++calls;", {}, {"y = b[0]"});
  ir::check(m.g);
  for (const Target& target : targets()) {
    if (!target.name.starts_with("cpu-")) continue;
    INFO("target " << target.name);
    ended = 0;
    std::unique_ptr<Runner> runner = target.prepare(m.g);
    Memory got;
    got.array("b", std::vector<std::int64_t>{0}).function("done", &count_end);
    for (std::int64_t call = 1; call <= 3; ++call) {
      runner->run(got);
      CHECK(got.get<std::int64_t>("b")[0] == 100 + call);
    }
    CHECK(ended == 0);
    runner.reset();
    CHECK(ended == 1);
  }
}

TEST_CASE("init code that needs an argument of a call is refused", "[run]") {
  Maker m;
  m.symbol("N");
  m.array("b", kD, "N");
  m.g.code.init = "long n = N;";
  for (const Target& target : targets()) {
    if (!target.name.starts_with("cpu-")) continue;
    try {
      target.prepare(m.g);
      FAIL("was compiled");
    } catch (const Error& e) {
      CHECK(e.error_class() == ErrorClass::kGraph);
      CHECK(e.message().find("init code") != std::string::npos);
      CHECK(e.message().find("'N'") != std::string::npos);
    }
  }
}

}  // namespace test_cpp_tasklets
