// The table of device programs.
#include "programs.hpp"

#include <complex>
#include <set>

#include "symbolic/print.hpp"

namespace sdfg::test {

namespace {

constexpr ScalarType kF64 = ScalarType::kFloat64;
constexpr ScalarType kF32 = ScalarType::kFloat32;
constexpr ScalarType kI64 = ScalarType::kInt64;
constexpr ScalarType kI32 = ScalarType::kInt32;
constexpr double kSums = 1e-9;  // another order of additions

void symbols(Gpu& m, const std::set<std::string>& names) {
  for (const char* s : {"N", "M", "K"}) {
    if (names.contains(s)) m.symbol(s);
  }
}

// One kernel over whole arrays: A (and B) in, C out.
Program elementwise(const std::string& name, const std::string& code, const Type& type, double tolerance = 0) {
  return {name,
          [=](Gpu& m) {
            m.in("A", type, "N");
            m.in("B", type, "N");
            m.inout("C", type, "N");
            symbols(m, {"N"});
            m.tasklet(m.kernel("i", "0:N"), code, {"a = gA[i]", "b = gB[i]"}, {"o = gC[i]"});
          },
          tolerance};
}

// A map of some rank with a distinct value per point.
Program ranked(int rank) {
  return {"rank " + std::to_string(rank), [=](Gpu& m) {
            static const char* const kShapes[] = {"", "N", "M, N", "K, M, N", "2, K, 3, N", "2, 3, K, 2, N"};
            static const char* const kParams[] = {"", "i", "i, j", "i, j, k", "i, j, k, l", "i, j, k, l, o"};
            const std::string shape = kShapes[rank], params = kParams[rank];
            m.inout("C", kI64, shape);
            symbols(m, {"N", "M", "K"});
            std::string ranges, index, value;
            for (const auto& e : Maker::extents(shape)) ranges += (ranges.empty() ? "0:" : ", 0:") + e.str();
            std::int64_t weight = 1;
            for (const char c : params) {
              if (c == ',' || c == ' ') continue;
              value += std::string(value.empty() ? "" : " + ") + c + " * " + std::to_string(weight);
              weight *= 1000;
            }
            m.tasklet(m.kernel(params, ranges), "r = c + " + value, {"c = gC[" + params + "]"},
                      {"r = gC[" + params + "]"});
          }};
}

// All of A into one element of S.
Program whole_reduction(const std::string& op, const Type& type, double tolerance = 0) {
  return {"reduce " + op + " " + type.str(),
          [=](Gpu& m) {
            m.in("A", type, "M, N");
            m.inout("S", type, "1");
            symbols(m, {"M", "N"});
            // Factors near one: no order of them overflows.
            const bool factors = op == "product" && is_floating(type.scalar());
            m.tasklet(m.kernel("i, j", "0:M, 0:N"), factors ? "o = 1 + a / 256" : "o = a", {"a = gA[i, j]"},
                      {"o = gS[0] | " + op});
          },
          tolerance};
}

Program atomics(const std::string& op, const Type& type, double tolerance = 0) {
  return {"scatter " + op + " " + type.str(),
          [=](Gpu& m) {
            m.in("A", type, "N");
            m.inout("S", type, "7");
            symbols(m, {"N"});
            m.tasklet(m.kernel("i", "0:N"), "o = a", {"a = gA[i]"}, {"o = gS[i % 7] | " + op});
          },
          tolerance};
}

std::vector<Program> all() {
  std::vector<Program> p;
  const auto add = [&](std::string name, std::function<void(Gpu&)> build, double tolerance = 0) -> Program& {
    p.push_back({std::move(name), std::move(build), tolerance});
    return p.back();
  };

  // ---- element-wise, types
  p.push_back(elementwise("axpy", "o = 2.5 * a + b", kF64, 1e-12));
  p.push_back(elementwise("mathematics", "o = sqrt(abs(a)) + sin(b) * exp(-abs(a))", kF64, 1e-9));
  p.push_back(elementwise("float32", "o = a * b - a", kF32, 1e-12));
  p.push_back(elementwise("int32", "o = a * b + a // 3", kI32));
  p.push_back(elementwise("int64 division", "o = (a // 7) * 100 + b % 7", kI64));
  p.push_back(elementwise("int8 wraps", "o = a + b + b", ScalarType::kInt8));
  p.push_back(elementwise("uint16", "o = a * b", ScalarType::kUInt16));
  p.push_back(elementwise("uint64", "o = a * b + 1", ScalarType::kUInt64));
  p.push_back(elementwise("bool", "o = a and not b", ScalarType::kBool));
  p.push_back(elementwise("complex128", "o = a * b + a", ScalarType::kComplex128, 1e-12));
  p.push_back(elementwise("complex64", "o = a * b - b", ScalarType::kComplex64, 1e-12));
  p.push_back(elementwise("select", "o = a if a < b else b", kF64));
  p.push_back(elementwise("minimum and maximum", "o = max(min(a, b), 0.25)", kF64));
  p.push_back(elementwise("several statements", "t = a + b\nif t > 1:\n  t = t - 1\nelse:\n  t = t + b\no = t * t",
                          kF64, 1e-12));
  for (const auto half : {ScalarType::kFloat16, ScalarType::kBFloat16}) {
    add("through " + Type(half).str(), [=](Gpu& m) {
      m.in("A", kF32, "N");
      m.inout("C", kF32, "N");
      symbols(m, {"N"});
      m.device("h", half, "N");
      m.tasklet(m.kernel("i", "0:N"), "o = a * a", {"a = gA[i]"}, {"o = h[i]"});
      m.tasklet(m.kernel("i2", "0:N"), "o = a + 1", {"a = h[i2]"}, {"o = gC[i2]"});
    });
  }

  // ---- ranks and shapes of maps
  for (int rank = 1; rank <= 5; ++rank) p.push_back(ranked(rank));
  add("strided map", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "1:N:3"), "o = i", {}, {"o = gC[i]"});
  });
  add("strided map of two dimensions", [](Gpu& m) {
    m.inout("C", kI64, "M, N");
    symbols(m, {"M", "N"});
    m.tasklet(m.kernel("i, j", "0:M:2, 1:N:3"), "o = 1000 * i + j", {}, {"o = gC[i, j]"});
  });
  add("triangle", [](Gpu& m) {
    m.inout("C", kI64, "M, M");
    symbols(m, {"M"});
    m.tasklet(m.kernel("i, j", "0:M, 0:i + 1"), "o = 1000 * i + j", {}, {"o = gC[i, j]"});
  });
  add("upper triangle", [](Gpu& m) {
    m.inout("C", kI64, "M, M");
    symbols(m, {"M"});
    m.tasklet(m.kernel("i, j", "0:M, i:M"), "o = 1000 * i + j", {}, {"o = gC[i, j]"});
  });
  add("tetrahedron", [](Gpu& m) {
    m.inout("C", kI64, "9, 9, 9");
    m.symbol("N");
    m.tasklet(m.kernel("i, j, k", "0:9, 0:i + 1, j:i + 1"), "o = 100 * i + 10 * j + k + N", {}, {"o = gC[i, j, k]"});
  });
  add("negative extent", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "5:3"), "o = 1", {}, {"o = gC[i]"});
    m.tasklet(m.kernel("j", "0:N - 4"), "o = j", {}, {"o = gC[j]"});
  });
  add("symbolic step", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N", "K"});
    m.tasklet(m.kernel("i", "0:N:K"), "o = i", {}, {"o = gC[i]"});
  });
  add("uses of coordinates beyond 32 bits", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "0:N"), "o = (i + 1) * 3000000000", {}, {"o = gC[i]"});
  });

  // ---- stencils and loops around kernels
  add("jacobi 1d", [](Gpu& m) {
    m.inout("A", kF64, "N");
    m.inout("B", kF64, "N");
    symbols(m, {"N"});
    auto& t = m.loop(m.body(), "t", "0", "t < 4", "t + 1");
    m.tasklet(m.kernel("i", "1:N - 1", &t), "o = 0.25 * (l + c + c + r)",
              {"l = gA[i - 1]", "c = gA[i]", "r = gA[i + 1]"}, {"o = gB[i]"});
    m.tasklet(m.kernel("j", "1:N - 1", &t), "o = 0.25 * (l + c + c + r)",
              {"l = gB[j - 1]", "c = gB[j]", "r = gB[j + 1]"}, {"o = gA[j]"});
  });
  add("jacobi 2d", [](Gpu& m) {
    m.inout("A", kF64, "M, N");
    m.inout("B", kF64, "M, N");
    symbols(m, {"M", "N"});
    auto& t = m.loop(m.body(), "t", "0", "t < 3", "t + 1");
    const std::string code = "o = 0.25 * (a + b + c + d)";
    m.tasklet(m.kernel("i, j", "1:M - 1, 1:N - 1", &t), code,
              {"a = gA[i - 1, j]", "b = gA[i + 1, j]", "c = gA[i, j - 1]", "d = gA[i, j + 1]"}, {"o = gB[i, j]"});
    m.tasklet(m.kernel("k, l", "1:M - 1, 1:N - 1", &t), code,
              {"a = gB[k - 1, l]", "b = gB[k + 1, l]", "c = gB[k, l - 1]", "d = gB[k, l + 1]"}, {"o = gA[k, l]"});
  });
  add("heat 3d", [](Gpu& m) {
    m.inout("A", kF64, "K, M, N");
    m.inout("B", kF64, "K, M, N");
    symbols(m, {"N", "M", "K"});
    m.tasklet(
        m.kernel("i, j, k", "1:K - 1, 1:M - 1, 1:N - 1"), "o = 0.5 * a + 0.125 * (b + c + d + e)",
        {"a = gA[i, j, k]", "b = gA[i - 1, j, k]", "c = gA[i + 1, j, k]", "d = gA[i, j - 1, k]", "e = gA[i, j, k + 1]"},
        {"o = gB[i, j, k]"});
  });
  add(
      "triangular solve by columns",
      [](Gpu& m) {
        m.in("L", kF64, "M, M");
        m.inout("x", kF64, "M");
        symbols(m, {"M"});
        auto& c = m.loop(m.body(), "c", "0", "c < M", "c + 1");
        m.tasklet(m.kernel("i", "c + 1:M", &c), "o = v - l * p", {"v = gx[i]", "l = gL[i, c]", "p = gx[c]"},
                  {"o = gx[i]"});
      },
      1e-9);
  add("ping-pong in a while loop over a host scalar", [](Gpu& m) {
    m.inout("A", kF64, "N");
    symbols(m, {"N"});
    m.scalar("left", kI64);
    m.tasklet(m.body(), "o = 5", {}, {"o = left"});
    auto& w = m.while_(m.body(), "left > 0");
    m.tasklet(m.kernel("i", "0:N", &w), "o = a + k", {"a = gA[i]", "k = left"}, {"o = gA[i]"});
    m.tasklet(w, "o = l - 2", {"l = left"}, {"o = left"});
  });

  // ---- scalars, conditions, symbols
  add("scalar arguments", [](Gpu& m) {
    m.inout("A", kF64, "N");
    m.scalar_argument("alpha", kF64);
    m.scalar_argument("flag", ScalarType::kBool);
    m.values = {{"alpha", 1.5}, {"flag", 1}};
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "0:N"), "o = a * s if f else a", {"a = gA[i]", "s = alpha", "f = flag"}, {"o = gA[i]"});
  });
  add("scalar of a kernel read by another", [](Gpu& m) {
    m.inout("A", kF64, "N");
    m.scalar("s", kF64);
    symbols(m, {"N"});
    m.tasklet(m.kernel("once", "0:1"), "o = 42.0", {}, {"o = s"});
    m.tasklet(m.kernel("i", "0:N"), "o = a + p", {"a = gA[i]", "p = s"}, {"o = gA[i]"});
  });
  add(
      "scalar of a kernel read by the host",
      [](Gpu& m) {
        m.inout("A", kF64, "N");
        m.array("R", kF64, "2");
        m.arguments.push_back({"R", kF64, "2", false});
        m.scalar("s", kF64);
        symbols(m, {"N"});
        m.tasklet(m.body(), "o = 1.0", {}, {"o = s"});
        m.tasklet(m.kernel("i", "0:N"), "o = a", {"a = gA[i]"}, {"o = s | sum"});
        m.tasklet(m.body(), "o = 2 * v", {"v = s"}, {"o = R[0]"});
        m.tasklet(m.kernel("j", "0:N"), "o = a + v", {"a = gA[j]", "v = s"}, {"o = gA[j]"});
        m.tasklet(m.body(), "o = v", {"v = s"}, {"o = R[1]"});
      },
      kSums);
  add("condition on a value of the device", [](Gpu& m) {
    m.inout("A", kF64, "N");
    m.scalar("s", kF64);
    symbols(m, {"N"});
    m.tasklet(m.body(), "o = 0.0", {}, {"o = s"});
    m.tasklet(m.kernel("i", "0:N"), "o = abs(a)", {"a = gA[i]"}, {"o = s | max"});
    auto& b = m.if_(m.body(), {"s > 5.0", ""});
    m.tasklet(m.kernel("j", "0:N", &b.branches[0].body), "o = a / 2", {"a = gA[j]"}, {"o = gA[j]"});
    m.tasklet(m.kernel("k", "0:N", &b.branches[1].body), "o = a * 2", {"a = gA[k]"}, {"o = gA[k]"});
  });
  add("loop until a value of the device is small", [](Gpu& m) {
    m.inout("A", kF64, "N");
    m.scalar("s", kF64);
    symbols(m, {"N"});
    m.tasklet(m.body(), "o = 9.0", {}, {"o = s"});
    auto& w = m.while_(m.body(), "s > 1.0");
    m.tasklet(m.kernel("i", "0:N", &w), "o = a / 2", {"a = gA[i]"}, {"o = gA[i]"});
    m.tasklet(m.kernel("once", "0:1", &w), "o = 0.0", {}, {"o = s"});
    m.tasklet(m.kernel("j", "0:N", &w), "o = abs(a)", {"a = gA[j]"}, {"o = s | max"});
  });
  add("symbols assigned between kernels", [](Gpu& m) {
    m.inout("A", kI64, "N");
    m.array("R", kI64, "1");
    m.arguments.push_back({"R", kI64, "1", false});
    m.assigned("k");
    symbols(m, {"N"});
    m.assign(m.body(), {{"k", "R[0] % 3 + 1"}});
    m.tasklet(m.kernel("i", "0:N:k"), "o = a + k", {"a = gA[i]"}, {"o = gA[i]"});
    m.assign(m.body(), {{"k", "k + 1"}});
    m.tasklet(m.kernel("j", "0:N:k"), "o = a * k", {"a = gA[j]"}, {"o = gA[j]"});
  });
  add("narrow symbols", [](Gpu& m) {
    m.inout("A", kI64, "N");
    symbols(m, {"N"});
    m.symbol("small", ScalarType::kInt32);
    m.symbol("yes", ScalarType::kBool);
    m.values = {{"small", -3}, {"yes", 1}};
    m.tasklet(m.kernel("i", "0:N"), "o = a + small if yes else a", {"a = gA[i]"}, {"o = gA[i]"});
  });
  add("branches inside a kernel", [](Gpu& m) {
    m.inout("A", kI64, "N");
    symbols(m, {"N"});
    auto& k = m.kernel("i", "0:N");
    auto& b = m.if_(k, {"i % 3 == 0", "i % 3 == 1", ""});
    m.tasklet(b.branches[0].body, "o = a + 100", {"a = gA[i]"}, {"o = gA[i]"});
    m.tasklet(b.branches[1].body, "o = a - 100", {"a = gA[i]"}, {"o = gA[i]"});
    m.tasklet(b.branches[2].body, "o = -a", {"a = gA[i]"}, {"o = gA[i]"});
  });
  add("symbols of a kernel's own", [](Gpu& m) {
    m.inout("A", kI64, "N");
    m.in("P", kI64, "N");
    m.assigned("at");
    symbols(m, {"N"});
    auto& k = m.kernel("i", "0:N");
    m.assign(k, {{"at", "gP[i] % 5"}});
    m.tasklet(k, "o = a + at", {"a = gA[i]"}, {"o = gA[i]"});
  });
  add("gather", [](Gpu& m) {
    m.in("A", kI64, "N + 50");
    m.in("P", kI64, "N");
    m.inout("C", kI64, "N");
    m.assigned("at");
    symbols(m, {"N"});
    auto& k = m.kernel("i", "0:N");
    m.assign(k, {{"at", "abs(gP[i]) % 50"}});
    m.tasklet(k, "o = a", {"a = gA[at]"}, {"o = gC[i]"});
  });
  add("loops inside a kernel", [](Gpu& m) {
    m.in("A", kF64, "M, N");
    m.inout("C", kF64, "M");
    symbols(m, {"M", "N"});
    auto& k = m.kernel("i", "0:M");
    auto& l = m.loop(k, "j", "0", "j < N", "j + 1");
    m.tasklet(l, "o = c + a", {"c = gC[i]", "a = gA[i, j]"}, {"o = gC[i]"});
  });
  add("leaving a loop inside a kernel", [](Gpu& m) {
    m.in("A", kI64, "M, N");
    m.inout("C", kI64, "M");
    symbols(m, {"M", "N"});
    auto& k = m.kernel("i", "0:M");
    auto& l = m.loop_element(k, "j", "0", "j < N", "j + 1");
    auto& b = m.if_(Maker::body_of(l), {"gA[i, j] > 20"});
    m.break_(b.branches[0].body, l);
    m.tasklet(Maker::body_of(l), "o = c + 1", {"c = gC[i]"}, {"o = gC[i]"});
  });
  add("ending a point early", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    auto& k = m.map_element(m.body(), "i", "0:N", ir::Schedule::kDevice);
    auto& b = m.if_(Maker::body_of(k), {"i % 2 == 1"});
    m.continue_(b.branches[0].body, k);
    m.tasklet(Maker::body_of(k), "o = i", {}, {"o = gC[i]"});
  });
  add("sequential map inside a kernel", [](Gpu& m) {
    m.in("A", kF64, "M, N");
    m.inout("C", kF64, "M, N");
    symbols(m, {"M", "N"});
    auto& k = m.kernel("i", "0:M");
    m.tasklet(m.map(k, "j", "0:N"), "o = 2 * a", {"a = gA[i, j]"}, {"o = gC[i, j]"});
  });
  add("host map of kernels", [](Gpu& m) {
    m.inout("C", kI64, "K, N");
    symbols(m, {"N", "K"});
    auto& h = m.map(m.body(), "i", "0:K");
    m.tasklet(m.kernel("j", "0:N", &h), "o = 1000 * i + j", {}, {"o = gC[i, j]"});
  });

  // ---- memory inside kernels
  add("registers", [](Gpu& m) {
    m.in("A", kF64, "N");
    m.inout("C", kF64, "N");
    symbols(m, {"N"});
    auto& b = m.block(m.kernel("i", "0:N"));
    m.scalar("s", kF64, &b);
    m.transient("r", kF64, "4", &b);
    m.tasklet(b.body, "o = a + 1", {"a = gA[i]"}, {"o = s"});
    m.tasklet(m.map(b.body, "k", "0:4"), "o = v * k", {"v = s"}, {"o = r[k]"});
    m.tasklet(b.body, "o = x + y", {"x = r[1]", "y = r[3]"}, {"o = gC[i]"});
  });
  add(
      "memory of a kernel that is too large for a thread",
      [](Gpu& m) {
        m.in("A", kF64, "N");
        m.inout("C", kF64, "N");
        symbols(m, {"N", "M"});
        auto& b = m.block(m.kernel("i", "0:N"));
        m.transient("w", kF64, "M", &b);
        m.tasklet(m.map(b.body, "k", "0:M"), "o = v + k", {"v = gA[i]"}, {"o = w[k]"});
        m.tasklet(m.map(b.body, "l", "0:M"), "o = c", {"c = w[M - 1 - l]"}, {"o = gC[i] | sum"});
      },
      kSums);
  add("memory of a kernel whose size depends on the point", [](Gpu& m) {
    m.inout("C", kI64, "M");
    symbols(m, {"M"});
    auto& b = m.block(m.kernel("i", "0:M"));
    m.transient("w", kI64, "i + 1", &b);
    m.tasklet(m.map(b.body, "k", "0:i + 1"), "o = k", {}, {"o = w[k]"});
    m.tasklet(b.body, "o = c", {"c = w[i]"}, {"o = gC[i]"});
  });
  add("zeroed registers", [](Gpu& m) {
    m.in("A", kI64, "M, N");
    m.inout("C", kI64, "M");
    symbols(m, {"M", "N"});
    auto& b = m.block(m.kernel("i", "0:M"));
    m.transient("h", kI64, "3", &b).zeroed = true;
    m.tasklet(m.map(b.body, "j", "0:N"), "o = a", {"a = gA[i, j]"}, {"o = h[j % 3] | sum"});
    m.tasklet(b.body, "o = x + 10 * y + 100 * z", {"x = h[0]", "y = h[1]", "z = h[2]"}, {"o = gC[i]"});
  });
  add("constants", [](Gpu& m) {
    m.inout("C", kF64, "N");
    m.constant<double>("w", "5", {0.5, -1.0, 2.0, 4.0, 0.125});
    m.constant<double>("scale", "", {3.0});
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "0:N"), "o = a * s + c", {"a = w[i % 5]", "s = scale", "c = gC[i]"}, {"o = gC[i]"});
  });
  add("views outside and inside of kernels", [](Gpu& m) {
    m.inout("A", kF64, "M, N");
    symbols(m, {"M", "N"});
    m.view("flat", kF64, ir::Layout::packed(Maker::extents("M * N")), "gA[0:M, 0:N]");
    m.tasklet(m.kernel("i", "0:M * N"), "o = a + 1", {"a = flat[i]"}, {"o = flat[i]"});
    auto& b = m.block(m.kernel("j", "0:M"));
    m.view("row", kF64, ir::Layout::packed(Maker::extents("N")), "gA[j, 0:N]", &b);
    m.tasklet(m.map(b.body, "k", "0:N"), "o = a * 2", {"a = row[k]"}, {"o = row[k]"});
  });
  add("bits through a view", [](Gpu& m) {
    m.inout("A", kF64, "N");
    symbols(m, {"N"});
    m.view("bits", kI64, ir::Layout::packed(Maker::extents("N")), "gA[0:N]");
    m.tasklet(m.kernel("i", "0:N"), "o = b ^ 1", {"b = bits[i]"}, {"o = bits[i]"});
  });

  // ---- copies and fills
  add("rows of a matrix", [](Gpu& m) {
    m.array("A", kF64, "M, N");
    m.arguments.push_back({"A", kF64, "M, N", false});
    symbols(m, {"M", "N"});
    m.device("d", kF64, "2, N");
    m.copy(m.body(), "A[1:3, 0:N]", "d[0:2, 0:N]");
    m.tasklet(m.kernel("i, j", "0:2, 0:N"), "o = a + 1", {"a = d[i, j]"}, {"o = d[i, j]"});
    m.copy(m.body(), "d[0:2, 0:N]", "A[0:2, 0:N]");
  });
  add("columns of a matrix", [](Gpu& m) {
    m.array("A", kF64, "M, N + 2");
    m.arguments.push_back({"A", kF64, "M, N + 2", false});
    symbols(m, {"M", "N"});
    m.device("d", kF64, "M, 2");
    m.device("e", kF64, "M");
    m.copy(m.body(), "A[0:M, 0:2]", "d[0:M, 0:2]");
    m.copy(m.body(), "A[0:M, N + 1]", "e[0:M]");
    m.tasklet(m.kernel("i", "0:M"), "o = a + b", {"a = d[i, 0]", "b = e[i]"}, {"o = d[i, 1]"});
    m.copy(m.body(), "d[0:M, 1]", "A[0:M, 1]");
  });
  add("strided and padded copies of three dimensions", [](Gpu& m) {
    m.array("A", kI32, "K, M, N + 1");
    m.arguments.push_back({"A", kI32, "K, M, N + 1", false});
    symbols(m, {"N", "M", "K"});
    m.device("d", kI32, "K, M + 1, N + 3");
    m.copy(m.body(), "A[0:K, 0:M, 0:N]", "d[0:K, 1:M + 1, 2:N + 2]");
    m.tasklet(m.kernel("i, j, k", "0:K, 0:M, 0:N"), "o = a + 1", {"a = d[i, j + 1, k + 2]"},
              {"o = d[i, j + 1, k + 2]"});
    m.copy(m.body(), "d[0:K, 1:M + 1, 2:N + 2]", "A[0:K, 0:M, 1:N + 1]");
  });
  add("every second element", [](Gpu& m) {
    m.array("A", kF64, "2 * N");
    m.arguments.push_back({"A", kF64, "2 * N", false});
    symbols(m, {"N"});
    m.device("d", kF64, "N");
    m.copy(m.body(), "A[0:2 * N:2]", "d[0:N]");
    m.tasklet(m.kernel("i", "0:N"), "o = a + 1", {"a = d[i]"}, {"o = d[i]"});
    m.copy(m.body(), "d[0:N]", "A[1:2 * N:2]");
  });
  add("reshaping copies between host and device", [](Gpu& m) {
    m.array("A", kF64, "M * N");
    m.arguments.push_back({"A", kF64, "M * N", false});
    symbols(m, {"M", "N"});
    m.device("d", kF64, "M, N");
    m.copy(m.body(), "A[0:M * N]", "d[0:M, 0:N]");
    m.tasklet(m.kernel("i, j", "0:M, 0:N"), "o = a + i", {"a = d[i, j]"}, {"o = d[i, j]"});
    m.copy(m.body(), "d[0:M, 0:N]", "A[0:M * N]");
  });
  add("copies on the device", [](Gpu& m) {
    m.in("A", kF64, "M, N");
    m.inout("C", kF64, "M, N + 1");
    symbols(m, {"M", "N"});
    m.copy(m.body(), "gA[0:M, 0:N]", "gC[0:M, 1:N + 1]");
  });
  add("copies of other shapes on the device", [](Gpu& m) {
    m.in("A", kF64, "M, N + 1");
    m.inout("C", kF64, "N, M + 2");
    symbols(m, {"M", "N"});
    m.copy(m.body(), "gA[0:M, 0:N]", "gC[0:N, 0:M]");
  });
  add("converting and accumulating copies on the device", [](Gpu& m) {
    m.in("A", kI32, "N");
    m.inout("C", kF64, "N");
    symbols(m, {"N"});
    m.copy(m.body(), "gA[0:N]", "gC[0:N]");
    m.copy(m.body(), "gC[0:N]", "gC[0:N] | sum");
  });
  add("overlapping copy on the device", [](Gpu& m) {
    m.inout("A", kF64, "N + 5");
    symbols(m, {"N"});
    m.copy(m.body(), "gA[0:N]", "gA[5:N + 5]");
  });
  add("one element each way", [](Gpu& m) {
    m.array("A", kF64, "N + 2");
    m.arguments.push_back({"A", kF64, "N + 2", false});
    m.scalar("h", kF64);
    symbols(m, {"N"});
    m.device("d", kF64, "2");
    m.copy(m.body(), "A[1]", "d[0]");
    m.tasklet(m.kernel("once", "0:1"), "o = 3 * a", {"a = d[0]"}, {"o = d[1]"});
    m.copy(m.body(), "d[1]", "h");
    m.tasklet(m.body(), "o = v + 1", {"v = h"}, {"o = A[0]"});
  });
  add("fills", [](Gpu& m) {
    m.inout("A", kF64, "M, N");
    m.inout("B", kI32, "N");
    symbols(m, {"M", "N"});
    m.library(m.body(), ir::Fill{tasklet::Value::floating(2.5, kF64)}, {}, {"_out = gA[1:M, 0:N]"});
    m.library(m.body(), ir::Fill{tasklet::Value::integer(0, kI32)}, {}, {"_out = gB[0:N]"});
  });
  add("zeroed device memory", [](Gpu& m) {
    m.inout("A", kF64, "N");
    symbols(m, {"N"});
    m.device("z", kF64, "N").zeroed = true;
    m.tasklet(m.kernel("i", "0:N"), "o = a + b", {"a = z[i]", "b = gA[i]"}, {"o = gA[i]"});
  });
  add("pinned memory", [](Gpu& m) {
    m.array("A", kF64, "N");
    m.arguments.push_back({"A", kF64, "N", false});
    symbols(m, {"N"});
    m.transient("p", kF64, "N").storage = ir::Storage::kPinned;
    m.device("d", kF64, "N");
    m.tasklet(m.map(m.body(), "i", "0:N"), "o = a + 1", {"a = A[i]"}, {"o = p[i]"});
    m.copy(m.body(), "p[0:N]", "d[0:N]");
    m.tasklet(m.map(m.body(), "j", "0:N"), "o = 0.0", {}, {"o = p[j]"});  // must wait for the copy
    m.tasklet(m.kernel("k", "0:N"), "o = 2 * a", {"a = d[k]"}, {"o = d[k]"});
    m.copy(m.body(), "d[0:N]", "p[0:N]");
    m.tasklet(m.map(m.body(), "l", "0:N"), "o = a", {"a = p[l]"}, {"o = A[l]"});
  });
  add("blocks with device memory in a loop", [](Gpu& m) {
    m.inout("A", kF64, "N");
    symbols(m, {"N"});
    auto& t = m.loop(m.body(), "t", "0", "t < 3", "t + 1");
    auto& b = m.block(t);
    m.device("d", kF64, "N + t", &b);
    m.tasklet(m.kernel("i", "0:N", &b.body), "o = a + t", {"a = gA[i]"}, {"o = d[i + t]"});
    m.tasklet(m.kernel("j", "0:N", &b.body), "o = a", {"a = d[j + t]"}, {"o = gA[j]"});
  });
  // ---- loops whose launches can be recorded: N trips meet the lengths of graphs, one less and one more
  add("repeated kernel", [](Gpu& m) {
    m.inout("C", kI64, "K");
    symbols(m, {"N", "K"});
    auto& t = m.loop(m.body(), "t", "0", "t < N", "t + 1");
    m.tasklet(m.kernel("i", "0:K", &t), "o = c * 3 + i", {"c = gC[i]"}, {"o = gC[i]"});
  });
  add("repeated kernels on alternating buffers", [](Gpu& m) {
    m.inout("A", kI64, "M");
    m.inout("B", kI64, "M");
    symbols(m, {"N", "M"});
    auto& t = m.loop(m.body(), "t", "1", "t <= N", "t + 1");
    m.tasklet(m.kernel("i", "1:M - 1", &t), "o = l + r", {"l = gA[i - 1]", "r = gA[i + 1]"}, {"o = gB[i]"});
    m.tasklet(m.kernel("j", "1:M - 1", &t), "o = l - r", {"l = gB[j - 1]", "r = gB[j + 1]"}, {"o = gA[j]"});
  });
  add("repeated kernels in a loop that changes their arguments", [](Gpu& m) {
    m.inout("C", kI64, "K");
    symbols(m, {"N", "K"});
    auto& s = m.loop(m.body(), "s", "0", "s < 3", "s + 1");
    auto& t = m.loop(s, "t", "N - 1", "t >= 0", "t - 3");
    m.tasklet(m.kernel("i", "0:K", &t), "o = c * 2 + s", {"c = gC[i]"}, {"o = gC[i]"});
    m.tasklet(m.kernel("j", "s:K", &t), "o = c + 1", {"c = gC[j]"}, {"o = gC[j]"});
  });
  add("repeated kernels in a loop without changes", [](Gpu& m) {
    m.inout("C", kI64, "K");
    symbols(m, {"M", "K"});
    auto& s = m.loop(m.body(), "s", "0", "s < 2", "s + 1");
    auto& t = m.loop(s, "t", "0", "t < M", "t + 2");
    m.tasklet(m.kernel("i", "0:K", &t), "o = c * 2 + 1", {"c = gC[i]"}, {"o = gC[i]"});
    m.tasklet(m.kernel("j", "0:1", &s), "o = c + 1", {"c = gC[j]"}, {"o = gC[j]"});
  });
  add("repeated kernels with empty grids", [](Gpu& m) {
    m.inout("C", kI64, "K");
    symbols(m, {"N", "K"});
    auto& t = m.loop(m.body(), "t", "0", "t < N + 2", "t + 1");
    m.tasklet(m.kernel("i", "5:K", &t), "o = c * 7", {"c = gC[i]"}, {"o = gC[i]"});
    m.tasklet(m.kernel("j", "0:min(N, K)", &t), "o = c + 1", {"c = gC[j]"}, {"o = gC[j]"});
    auto& u = m.loop(m.body(), "u", "0", "u < 40", "u + 1");
    m.tasklet(m.kernel("k", "K:K", &u), "o = c * 7", {"c = gC[k]"}, {"o = gC[k]"});
  });
  add("repeated kernels of loops that test last", [](Gpu& m) {
    m.inout("C", kI64, "K");
    symbols(m, {"N", "K"});
    auto& t = m.loop(m.body(), "t", "0", "t < N", "t + 1", ir::LoopForm::kUpdateThenTest);
    m.tasklet(m.kernel("i", "0:K", &t), "o = c + 1", {"c = gC[i]"}, {"o = gC[i]"});
    auto& u = m.loop(m.body(), "u", "0", "u < N", "u + 1", ir::LoopForm::kTestThenUpdate);
    m.tasklet(m.kernel("j", "0:K", &u), "o = c * 3", {"c = gC[j]"}, {"o = gC[j]"});
  });
  add("repeated accumulations and scalars of the host", [](Gpu& m) {
    m.inout("S", kI64, "1");
    m.in("A", kI64, "M");
    m.scalar_argument("w", kI64);
    m.values["w"] = 5;
    symbols(m, {"N", "M"});
    auto& t = m.loop(m.body(), "t", "0", "t < N", "t + 1");
    m.tasklet(m.kernel("i", "0:M", &t), "o = a * s", {"a = gA[i]", "s = w"}, {"o = gS[0] | sum"});
  });
  add("kernels that use the variable of their loop", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    auto& t = m.loop(m.body(), "t", "0", "t < N", "t + 1");
    m.tasklet(m.kernel("i", "t:t + 1", &t), "o = c + 1", {"c = gC[i]"}, {"o = gC[i]"});
    auto& u = m.loop(m.body(), "u", "0", "u < 9", "u + 1");
    m.tasklet(m.kernel("j", "0:N", &u), "o = c + u", {"c = gC[j]"}, {"o = gC[j]"});
  });
  p.push_back({"persistent device memory",
               [](Gpu& m) {
                 m.inout("A", kF64, "N");
                 symbols(m, {"N"});
                 m.persistent("count", kF64, "N", true).storage = ir::Storage::kGpuGlobal;
                 m.tasklet(m.kernel("i", "0:N"), "o = c + 1", {"c = count[i]"}, {"o = count[i]"});
                 m.tasklet(m.kernel("j", "0:N"), "o = a + c", {"a = gA[j]", "c = count[j]"}, {"o = gA[j]"});
               },
               0, false, true});
  add("host and device in turn", [](Gpu& m) {
    m.array("A", kF64, "N");
    m.arguments.push_back({"A", kF64, "N", false});
    symbols(m, {"N"});
    m.device("d", kF64, "N");
    auto& t = m.loop(m.body(), "t", "0", "t < 3", "t + 1");
    m.copy(t, "A[0:N]", "d[0:N]");
    m.tasklet(m.kernel("i", "0:N", &t), "o = a * 2", {"a = d[i]"}, {"o = d[i]"});
    m.copy(t, "d[0:N]", "A[0:N]");
    m.tasklet(m.map(t, "j", "0:N"), "o = a + 1", {"a = A[j]"}, {"o = A[j]"});
  });
  add("independent kernels", [](Gpu& m) {
    m.inout("A", kF64, "N");
    m.inout("B", kF64, "N");
    m.inout("C", kF64, "N");
    symbols(m, {"N"});
    for (const char* x : {"A", "B", "C"}) {
      const std::string g = "g" + std::string(x), i = "i" + std::string(x);
      m.tasklet(m.kernel(i, "0:N"), "o = a + 1", {"a = " + g + "[" + i + "]"}, {"o = " + g + "[" + i + "]"});
    }
    m.tasklet(m.kernel("j", "0:N"), "o = a + b + c", {"a = gA[j]", "b = gB[j]", "c = gC[j]"}, {"o = gC[j]"});
    m.tasklet(m.kernel("k", "0:N"), "o = a * c", {"a = gA[k]", "c = gC[k]"}, {"o = gA[k]"});
    m.tasklet(m.kernel("l", "0:N"), "o = b - c", {"b = gB[l]", "c = gC[l]"}, {"o = gB[l]"});
  });
  add("returning before the end", [](Gpu& m) {
    m.inout("A", kF64, "N");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "0:N"), "o = a + 1", {"a = gA[i]"}, {"o = gA[i]"});
    m.copy(m.body(), "gA", "A");
    auto& b = m.if_(m.body(), {"N > 5"});
    m.return_(b.branches[0].body);
    m.tasklet(m.kernel("j", "0:N"), "o = a + 1", {"a = gA[j]"}, {"o = gA[j]"});
  });

  // ---- accumulations
  for (const char* op : {"sum", "product", "min", "max"}) {
    p.push_back(whole_reduction(op, kF64, kSums));
    p.push_back(whole_reduction(op, kF32, kSums));
    p.push_back(whole_reduction(op, kI32));
  }
  for (const char* op : {"band", "bor", "bxor"}) p.push_back(whole_reduction(op, kI64));
  for (const char* op : {"or", "xor"}) p.push_back(whole_reduction(op, ScalarType::kBool));
  p.push_back(whole_reduction("sum", ScalarType::kComplex128, kSums));
  p.push_back(whole_reduction("and", ScalarType::kBool));
  p.push_back(whole_reduction("sum", ScalarType::kUInt8));
  for (const char* op : {"sum", "min", "max"}) {
    p.push_back(atomics(op, kF64, kSums));
    p.push_back(atomics(op, ScalarType::kInt16));
  }
  for (const char* op : {"product", "band", "bor", "bxor", "and", "or", "xor"}) p.push_back(atomics(op, kI32));
  p.push_back(atomics("sum", ScalarType::kComplex64, kSums));
  p.push_back(atomics("custom max(a, b) + 0", kI64));
  add("exchange", [](Gpu& m) {
    m.inout("S", kI64, "7");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "0:N"), "o = 5", {}, {"o = gS[i % 7] | exchange"});
  });
  add(
      "row sums",
      [](Gpu& m) {
        m.in("A", kF64, "M, N");
        m.inout("S", kF64, "M");
        symbols(m, {"M", "N"});
        m.tasklet(m.kernel("i, j", "0:M, 0:N"), "o = a", {"a = gA[i, j]"}, {"o = gS[i] | sum"});
      },
      kSums);
  add(
      "column sums",
      [](Gpu& m) {
        m.in("A", kF64, "M, N");
        m.inout("S", kF64, "N");
        symbols(m, {"M", "N"});
        m.tasklet(m.kernel("i, j", "0:M, 0:N"), "o = a", {"a = gA[i, j]"}, {"o = gS[j] | sum"});
      },
      kSums);
  add("private accumulation", [](Gpu& m) {
    m.in("A", kF64, "N");
    m.inout("S", kF64, "N");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "0:N"), "o = a", {"a = gA[i]"}, {"o = gS[N - 1 - i] | sum"});
  });
  add(
      "matrix product",
      [](Gpu& m) {
        m.in("A", kF64, "M, K");
        m.in("B", kF64, "K, N");
        m.inout("C", kF64, "M, N");
        symbols(m, {"N", "M", "K"});
        m.tasklet(m.kernel("i, j, k", "0:M, 0:N, 0:K"), "o = a * b", {"a = gA[i, k]", "b = gB[k, j]"},
                  {"o = gC[i, j] | sum"});
      },
      kSums);
  add(
      "matrix product with a loop inside",
      [](Gpu& m) {
        m.in("A", kF64, "M, K");
        m.in("B", kF64, "K, N");
        m.inout("C", kF64, "M, N");
        symbols(m, {"N", "M", "K"});
        auto& k = m.kernel("i, j", "0:M, 0:N");
        m.tasklet(m.map(k, "k", "0:K"), "o = a * b", {"a = gA[i, k]", "b = gB[k, j]"}, {"o = gC[i, j] | sum"});
      },
      kSums);
  add("histogram", [](Gpu& m) {
    m.in("P", kI64, "N");
    m.inout("H", kI64, "10");
    m.assigned("bin");
    symbols(m, {"N"});
    auto& k = m.kernel("i", "0:N");
    m.assign(k, {{"bin", "abs(gP[i]) % 10"}});
    m.tasklet(k, "o = 1", {}, {"o = gH[bin] | sum"});
  });

  // ---- thread-block maps, shared memory
  const auto blockwise = [&](const std::string& name, std::function<void(Gpu&)> build, double tolerance = 0) {
    p.push_back({name, std::move(build), tolerance, true});
  };
  blockwise("thread-block map", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    auto& b = m.kernel("b", "0:N:32");
    m.tasklet(m.threads(b, "i", "b:min(N, b + 32)"), "o = c + i", {"c = gC[i]"}, {"o = gC[i]"});
  });
  blockwise("thread-block map of two dimensions", [](Gpu& m) {
    m.inout("C", kI64, "M, N");
    symbols(m, {"M", "N"});
    auto& b = m.kernel("bi, bj", "0:M:4, 0:N:8");
    m.tasklet(m.threads(b, "i, j", "bi:min(M, bi + 4), bj:min(N, bj + 8)"), "o = 1000 * i + j", {}, {"o = gC[i, j]"});
  });
  blockwise("thread-block map of four dimensions", [](Gpu& m) {
    m.inout("C", kI64, "N, 2, 3, 2, 5");
    symbols(m, {"N"});
    auto& b = m.kernel("b", "0:N");
    m.tasklet(m.threads(b, "i, j, k, l", "0:2, 0:3, 0:2, 0:5"), "o = 1000 * i + 100 * j + 10 * k + l", {},
              {"o = gC[b, i, j, k, l]"});
  });
  blockwise("thread-block map of symbolic extent", [](Gpu& m) {
    m.inout("C", kI64, "K, N");
    symbols(m, {"N", "K"});
    auto& b = m.kernel("b", "0:K");
    m.tasklet(m.threads(b, "i", "0:N"), "o = b * 1000 + i", {}, {"o = gC[b, i]"});
  });
  blockwise("reversing through shared memory", [](Gpu& m) {
    m.inout("A", kF64, "N");
    symbols(m, {"N"});
    auto& k = m.kernel("b", "0:N:16");
    auto& b = m.block(k);
    m.shared("tile", kF64, "16", b);
    m.tasklet(m.threads(b.body, "i", "0:min(16, N - b)"), "o = a", {"a = gA[b + i]"}, {"o = tile[i]"});
    m.tasklet(m.threads(b.body, "j", "0:min(16, N - b)"), "o = t", {"t = tile[min(16, N - b) - 1 - j]"},
              {"o = gA[b + j]"});
  });
  blockwise(
      "tiles in a loop",
      [](Gpu& m) {
        m.in("A", kF64, "M, 24");
        m.in("B", kF64, "24, N");
        m.inout("C", kF64, "M, N");
        symbols(m, {"M", "N"});
        auto& k = m.kernel("bi, bj", "0:M:8, 0:N:8");
        auto& b = m.block(k);
        m.shared("ta", kF64, "8, 8", b);
        m.shared("tb", kF64, "8, 8", b);
        auto& t = m.loop(b.body, "t", "0", "t < 3", "t + 1");
        m.tasklet(m.threads(t, "i, j", "0:min(8, M - bi), 0:8"), "o = a", {"a = gA[bi + i, 8 * t + j]"},
                  {"o = ta[i, j]"});
        m.tasklet(m.threads(t, "i2, j2", "0:8, 0:min(8, N - bj)"), "o = a", {"a = gB[8 * t + i2, bj + j2]"},
                  {"o = tb[i2, j2]"});
        auto& c = m.threads(t, "x, y", "0:min(8, M - bi), 0:min(8, N - bj)");
        m.tasklet(m.map(c, "z", "0:8"), "o = p * q", {"p = ta[x, z]", "q = tb[z, y]"},
                  {"o = gC[bi + x, bj + y] | sum"});
      },
      kSums);
  blockwise("copies of a block to shared memory and back", [](Gpu& m) {
    m.inout("A", kI32, "N");
    symbols(m, {"N"});
    auto& k = m.kernel("b", "0:N:32");
    auto& b = m.block(k);
    m.shared("tile", kI32, "32", b);
    m.copy(b.body, "gA[b:min(N, b + 32)]", "tile[0:min(32, N - b)]");
    m.tasklet(m.threads(b.body, "i", "0:min(32, N - b)"), "o = a * 2", {"a = tile[i]"}, {"o = tile[i]"});
    m.copy(b.body, "tile[0:min(32, N - b)]", "gA[b:min(N, b + 32)]");
  });
  blockwise(
      "sum of a block into shared memory",
      [](Gpu& m) {
        m.in("A", kF64, "N");
        m.inout("C", kF64, "N");
        symbols(m, {"N"});
        auto& k = m.kernel("b", "0:N:32");
        auto& b = m.block(k);
        m.shared("s", kF64, "1", b).zeroed = true;
        m.tasklet(m.threads(b.body, "i", "b:min(N, b + 32)"), "o = a", {"a = gA[i]"}, {"o = s[0] | sum"});
        m.tasklet(m.threads(b.body, "j", "b:min(N, b + 32)"), "o = v", {"v = s[0]"}, {"o = gC[j]"});
      },
      kSums);
  blockwise(
      "sums of blocks",
      [](Gpu& m) {
        m.in("A", kF64, "M, N");
        m.inout("S", kF64, "M");
        symbols(m, {"M", "N"});
        auto& k = m.kernel("b", "0:M");
        m.tasklet(m.threads(k, "i", "0:N"), "o = a", {"a = gA[b, i]"}, {"o = gS[b] | sum"});
      },
      kSums);
  blockwise("histogram in shared memory", [](Gpu& m) {
    m.in("P", kI64, "N");
    m.inout("H", kI64, "8");
    symbols(m, {"N"});
    auto& k = m.kernel("b", "0:N:64");
    auto& b = m.block(k);
    m.shared("h", kI64, "8", b).zeroed = true;
    m.tasklet(m.threads(b.body, "i", "b:min(N, b + 64)"), "o = 1", {}, {"o = h[i % 8] | sum"});
    m.tasklet(m.threads(b.body, "j", "0:8"), "o = v", {"v = h[j]"}, {"o = gH[j] | sum"});
  });
  blockwise("values of a block and of its threads", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    auto& k = m.kernel("b", "0:N:8");
    auto& b = m.block(k);
    m.scalar("base", kI64, &b);
    m.scalar("mine", kI64, &b).storage = ir::Storage::kRegister;
    m.tasklet(b.body, "o = 100 * b", {}, {"o = base"});
    m.tasklet(m.threads(b.body, "i", "0:min(8, N - b)"), "o = v + i", {"v = base"}, {"o = mine"});
    m.tasklet(m.threads(b.body, "j", "0:min(8, N - b)"), "o = v", {"v = mine"}, {"o = gC[b + j]"});
  });
  p.back().value_per_thread = true;
  blockwise("work of one thread between phases", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    auto& k = m.kernel("b", "0:N:16");
    auto& b = m.block(k);
    m.shared("tile", kI64, "16", b);
    m.tasklet(m.threads(b.body, "i", "0:16"), "o = i", {}, {"o = tile[i]"});
    m.tasklet(b.body, "o = x + y", {"x = tile[3]", "y = tile[15]"}, {"o = tile[0]"});
    m.tasklet(m.threads(b.body, "j", "0:min(16, N - b)"), "o = v + w", {"v = tile[0]", "w = tile[j]"},
              {"o = gC[b + j]"});
  });
  blockwise("conditions of a block", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    auto& k = m.kernel("b", "0:N:16");
    auto& b = m.block(k);
    m.shared("tile", kI64, "16", b);
    m.tasklet(m.threads(b.body, "i", "0:16"), "o = i", {}, {"o = tile[i]"});
    auto& c = m.if_(b.body, {"b % 32 == 0", ""});
    m.tasklet(m.threads(c.branches[0].body, "j", "0:min(16, N - b)"), "o = v", {"v = tile[15 - j]"}, {"o = gC[b + j]"});
    m.tasklet(m.threads(c.branches[1].body, "l", "0:min(16, N - b)"), "o = v", {"v = tile[l]"}, {"o = gC[b + l]"});
  });
  blockwise("warps", [](Gpu& m) {
    m.in("A", kF64, "M, N");
    m.inout("C", kF64, "M, N");
    symbols(m, {"M", "N"});
    auto& k = m.kernel("b", "0:M:4");
    auto& t = m.threads(k, "w", "b:min(M, b + 4)");
    m.tasklet(m.map(t, "l", "0:N", ir::Schedule::kWarp), "o = a + w", {"a = gA[w, l]"}, {"o = gC[w, l]"});
  });
  blockwise("block size by hand larger than the map", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    auto& e = m.map_element(m.body(), "b", "0:N:8", ir::Schedule::kDevice);
    std::get<ir::Map>(e.kind).gpu_block_size = {16, 4, 2};
    m.tasklet(m.threads(Maker::body_of(e), "i", "b:min(N, b + 8)"), "o = i", {}, {"o = gC[i]"});
  });
  blockwise("launch bounds and registers by hand", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    auto& e = m.map_element(m.body(), "i", "0:N", ir::Schedule::kDevice);
    std::get<ir::Map>(e.kind).gpu_block_size = {64, 1, 1};
    std::get<ir::Map>(e.kind).gpu_launch_bounds = "64, 2";
    m.tasklet(Maker::body_of(e), "o = i", {}, {"o = gC[i]"});
    auto& f = m.map_element(m.body(), "j", "0:N", ir::Schedule::kDevice);
    std::get<ir::Map>(f.kind).gpu_max_registers = 32;
    m.tasklet(Maker::body_of(f), "o = c + 1", {"c = gC[j]"}, {"o = gC[j]"});
  });
  return p;
}

template <typename T>
void fill(Memory& memory, const std::string& name, std::int64_t count, std::uint64_t seed) {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<bool> values;
    for (const std::int64_t v : numbers<std::int64_t>(count, seed)) values.push_back(v % 2 == 0);
    memory.array(name, values);
  } else {
    memory.array(name, numbers<T>(count, seed));
  }
}

}  // namespace

const std::vector<Program>& programs() {
  static const std::vector<Program> kAll = all();
  return kAll;
}

Made make(const Program& p) {
  std::string name = "p_";
  for (const char c : p.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  Gpu m(name);
  p.build(m);
  m.finish();
  return {std::move(m.g), std::move(m.arguments), std::move(m.values)};
}

Memory Made::memory(std::int64_t n) const {
  Memory out;
  const std::map<std::string, std::int64_t, std::less<>> symbols{{"N", n}, {"M", n + 3}, {"K", 5}};
  std::uint64_t seed = 1;
  for (const Gpu::Argument& a : arguments) {
    std::int64_t count = 1;
    for (const auto& e : Maker::extents(a.shape)) count *= symbolic::evaluate(e, symbols);
    ++seed;
    switch (a.type.scalar()) {
      case ScalarType::kBool: fill<bool>(out, a.name, count, seed); break;
      case ScalarType::kInt8: fill<std::int8_t>(out, a.name, count, seed); break;
      case ScalarType::kInt16: fill<std::int16_t>(out, a.name, count, seed); break;
      case ScalarType::kInt32: fill<std::int32_t>(out, a.name, count, seed); break;
      case ScalarType::kInt64: fill<std::int64_t>(out, a.name, count, seed); break;
      case ScalarType::kUInt8: fill<std::uint8_t>(out, a.name, count, seed); break;
      case ScalarType::kUInt16: fill<std::uint16_t>(out, a.name, count, seed); break;
      case ScalarType::kUInt32: fill<std::uint32_t>(out, a.name, count, seed); break;
      case ScalarType::kUInt64: fill<std::uint64_t>(out, a.name, count, seed); break;
      case ScalarType::kFloat32: fill<float>(out, a.name, count, seed); break;
      case ScalarType::kFloat64: fill<double>(out, a.name, count, seed); break;
      case ScalarType::kComplex64: fill<std::complex<float>>(out, a.name, count, seed); break;
      case ScalarType::kComplex128: fill<std::complex<double>>(out, a.name, count, seed); break;
      case ScalarType::kFloat16:
      case ScalarType::kBFloat16: break;
    }
  }
  for (const auto& [name, value] : symbols) {
    if (graph.symbols.contains(name)) out.value(name, value);
  }
  for (const auto& [name, value] : values) {
    const ir::Container* c = graph.containers.find(name);
    const Type& type = c != nullptr ? c->type : graph.symbols.at(name).type;
    if (is_floating(type.scalar()))
      out.value(name, tasklet::Value::floating(value, type.scalar()));
    else
      out.value(name,
                tasklet::Value::integer(static_cast<std::int64_t>(value), ScalarType::kInt64).cast(type.scalar()));
  }
  return out;
}

}  // namespace sdfg::test
