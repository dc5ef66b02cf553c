// Device programs: stencils, loops, conditions, scalars and symbols around kernels.
#include "program_groups.hpp"

namespace sdfg::test {

std::vector<Program> control_programs() {
  std::vector<Program> p;
  const Add add{p};
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
  return p;
}

}  // namespace sdfg::test
