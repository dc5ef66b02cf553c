// Device programs: memory inside of kernels, copies and fills.
#include "program_groups.hpp"

namespace sdfg::test {

std::vector<Program> memory_programs() {
  std::vector<Program> p;
  const Add add{p};
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
  return p;
}

}  // namespace sdfg::test
