// Device programs: loops whose launches can be recorded; N trips meet the lengths of graphs.
#include "program_groups.hpp"

namespace sdfg::test {

std::vector<Program> repeat_programs() {
  std::vector<Program> p;
  const Add add{p};
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
  return p;
}

}  // namespace sdfg::test
