// Device programs: thread-block maps and shared memory.
#include "program_groups.hpp"

namespace sdfg::test {

std::vector<Program> block_programs() {
  std::vector<Program> p;
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

}  // namespace sdfg::test
