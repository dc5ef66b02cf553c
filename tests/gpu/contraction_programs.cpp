// Device programs: sums of products that are large enough for tiles, and others that look like them. With extents
// around 32, N + 32 rows are those around the edge of a tile.
#include "program_groups.hpp"

namespace sdfg::test {

namespace {

// C (N + 32) x (N + 3) += A B with K + 12 summed places.
Program product(const Type& type, bool trans_a, bool trans_b) {
  return {"contraction " + type.str() + (trans_a ? " T" : " N") + (trans_b ? "T" : "N"),
          [=](Gpu& m) {
            m.in("A", type, trans_a ? "K + 12, N + 32" : "N + 32, K + 12");
            m.in("B", type, trans_b ? "N + 3, K + 12" : "K + 12, N + 3");
            m.inout("C", type, "N + 32, N + 3");
            symbols(m, {"N", "K"});
            m.tasklet(m.kernel("i, j, k", "0:N + 32, 0:N + 3, 0:K + 12"), "o = a * b",
                      {trans_a ? "a = gA[k, i]" : "a = gA[i, k]", trans_b ? "b = gB[j, k]" : "b = gB[k, j]"},
                      {"o = gC[i, j] | sum"});
          },
          is_floating(type.scalar()) || is_complex(type.scalar()) ? (size_of(type.scalar()) > 4 ? 1e-9 : 1e-4) : 0.0,
          true,
          false,
          type.scalar() != kI32};
}

}  // namespace

std::vector<Program> contraction_programs() {
  std::vector<Program> p;
  const auto add = [&](const std::string& name, std::function<void(Gpu&)> build, double tolerance = kSums) {
    p.push_back({"contraction " + name, std::move(build), tolerance, true, false, true});
  };
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) p.push_back(product(kF64, trans_a, trans_b));
  }
  p.push_back(product(kF32, false, false));
  p.push_back(product(kF32, true, true));
  p.push_back(product(ScalarType::kComplex64, false, false));
  p.push_back(product(ScalarType::kComplex128, false, true));
  p.push_back(product(kI32, false, false));
  p.push_back(product(kI64, true, false));
  p.push_back(product(ScalarType::kUInt8, false, false));

  add(
      "of constant extents that tiles divide",
      [](Gpu& m) {
        m.in("A", kI32, "128, 32");
        m.in("B", kI32, "32, 64");
        m.inout("C", kI32, "128, 64");
        m.tasklet(m.kernel("i, j, k", "0:128, 0:64, 0:32"), "o = a * b", {"a = gA[i, k]", "b = gB[k, j]"},
                  {"o = gC[i, j] | sum"});
      },
      0);
  add(
      "of mixed types",
      [](Gpu& m) {
        m.in("A", kF32, "N + 32, N");
        m.in("B", kI32, "N, N + 3");
        m.inout("C", kF64, "N + 32, N + 3");
        symbols(m, {"N"});
        m.tasklet(m.kernel("i, j, k", "0:N + 32, 0:N + 3, 0:N"), "o = 0.5 * (a * b)", {"a = gA[i, k]", "b = gB[k, j]"},
                  {"o = gC[i, j] | sum"});
      },
      1e-6);
  add(
      "of a matrix with itself",
      [](Gpu& m) {
        m.in("A", kI64, "N + 32, N");
        m.inout("C", kI64, "N + 32, N + 32");
        symbols(m, {"N"});
        m.tasklet(m.kernel("i, j, k", "0:N + 32, 0:N + 32, 0:N"), "o = a * b", {"a = gA[i, k]", "b = gA[j, k]"},
                  {"o = gC[i, j] | sum"});
      },
      0);
  add(
      "over ranges with steps and first places",
      [](Gpu& m) {
        m.in("A", kI64, "2 * N + 70, N + 5");
        m.in("B", kI64, "N + 5, 3 * N + 1");
        m.inout("C", kI64, "2 * N + 70, 3 * N + 1");
        symbols(m, {"N"});
        m.tasklet(m.kernel("i, j, k", "4:2 * N + 70:2, 1:3 * N + 1:3, 2:N + 5"), "o = a * b",
                  {"a = gA[i, k]", "b = gB[k, j]"}, {"o = gC[i, j] | sum"});
      },
      0);
  add("with a scalar factor", [](Gpu& m) {
    m.in("A", kF64, "N + 32, N");
    m.in("B", kF64, "N, N + 3");
    m.inout("C", kF64, "N + 32, N + 3");
    m.scalar_argument("alpha", kF64);
    m.values["alpha"] = 1.5;
    symbols(m, {"N"});
    m.tasklet(m.kernel("i, j, k", "0:N + 32, 0:N + 3, 0:N"), "o = alpha * a * b",
              {"alpha = alpha", "a = gA[i, k]", "b = gB[k, j]"}, {"o = gC[i, j] | sum"});
  });

  // ---- convolutions
  add("convolution, stride 2, dilation 3", [](Gpu& m) {
    m.in("X", kF64, "2, 2 * N + 5, 6, 3");
    m.in("W", kF64, "3, 2, 3, 17");
    m.inout("Y", kF64, "2, N, 5, 17");
    symbols(m, {"N"});
    m.tasklet(m.kernel("n, h, w, c, y, x, d", "0:2, 0:N, 0:5, 0:17, 0:3, 0:2, 0:3"), "o = a * b",
              {"a = gX[n, 2 * h + 3 * y, w + x, d]", "b = gW[y, x, d, c]"}, {"o = gY[n, h, w, c] | sum"});
  });
  add(
      "convolution of channels first",
      [](Gpu& m) {
        m.in("X", kF32, "2, 4, 5, N + 2");
        m.in("W", kF32, "17, 4, 3, 3");
        m.inout("Y", kF32, "2, 17, 3, N");
        symbols(m, {"N"});
        m.tasklet(m.kernel("n, c, h, w, d, y, x", "0:2, 0:17, 0:3, 0:N, 0:4, 0:3, 0:3"), "o = a * b",
                  {"a = gX[n, d, h + y, w + x]", "b = gW[c, d, y, x]"}, {"o = gY[n, c, h, w] | sum"});
      },
      1e-4);
  add("convolution with bias and a limit, symbolic kernel", [](Gpu& m) {
    m.in("X", kF64, "1, N + K, 3 + K, 9");
    m.in("W", kF64, "K, K, 9, 16");
    m.in("b", kF64, "16");
    m.inout("Y", kF64, "1, N, 3, 16");
    symbols(m, {"N", "K"});
    auto& k = m.kernel("n, h, w, c", "0:1, 0:N, 0:3, 0:16");
    auto& block = m.block(k);
    m.scalar("sum", kF64, &block);
    m.tasklet(block.body, "o = v", {"v = gb[c]"}, {"o = sum"});
    m.tasklet(m.map(block.body, "y, x, d", "0:K, 0:K, 0:9"), "o = a * b",
              {"a = gX[n, h + y, w + x, d]", "b = gW[y, x, d, c]"}, {"o = sum | sum"});
    m.tasklet(block.body, "o = max(s, 0.0)", {"s = sum"}, {"o = gY[n, h, w, c]"});
  });
  // As DaCe writes it: per place, all products, zeros, then the sums.
  add(
      "convolution by products of one place",
      [](Gpu& m) {
        m.in("X", kF32, "2, N + K - 1, K + 1, 9");
        m.in("W", kF32, "K, K, 9, 16");
        m.in("b", kF32, "16");
        m.inout("Y", kF32, "2, N, 2, 16");
        m.device("Z", kF32, "2, N, 2, 16");
        symbols(m, {"N", "K"});
        auto& block = m.block(m.kernel("h, w", "0:N, 0:2"));
        m.transient("products", kF32, "2, K, K, 9, 16", &block);
        m.tasklet(m.map(block.body, "n, y, x, d, c", "0:2, 0:K, 0:K, 0:9, 0:16"), "o = a * b",
                  {"a = gX[n, h + y, w + x, d]", "b = gW[y, x, d, c]"}, {"o = products[n, y, x, d, c]"});
        m.tasklet(m.map(block.body, "n1, c1", "0:2, 0:16"), "o = 0", {}, {"o = Z[n1, h, w, c1]"});
        m.tasklet(m.map(block.body, "n2, c2, y2, x2, d2", "0:2, 0:16, 0:K, 0:K, 0:9"), "o = p",
                  {"p = products[n2, y2, x2, d2, c2]"}, {"o = Z[n2, h, w, c2] | sum"});
        m.tasklet(m.kernel("n3, h3, w3, c3", "0:2, 0:N, 0:2, 0:16"), "o = z + v",
                  {"z = Z[n3, h3, w3, c3]", "v = gb[c3]"}, {"o = gY[n3, h3, w3, c3]"});
      },
      1e-4);

  // ---- several labels of a kind, batches
  add("of two pairs of dimensions", [](Gpu& m) {
    m.in("A", kF64, "3, N, 2, K");
    m.in("B", kF64, "2, K, N, 5");
    m.inout("C", kF64, "3, N, N, 5");
    symbols(m, {"N", "K"});
    m.library(m.body(), ir::Einsum{"abcd,cdef->abef"}, {"_a = gA", "_b = gB"}, {"_c = gC"});
  });
  add("of batches", [](Gpu& m) {
    m.in("A", kF64, "3, M, N");
    m.in("B", kF64, "3, N, N + 29");
    m.inout("C", kF64, "3, M, N + 29");
    symbols(m, {"M", "N"});
    m.tasklet(m.kernel("b, i, j, k", "0:3, 0:M, 0:N + 29, 0:N"), "o = x * y", {"x = gA[b, i, k]", "y = gB[b, k, j]"},
              {"o = gC[b, i, j] | sum"});
  });
  add("of batches with vectors stays", [](Gpu& m) {
    m.in("A", kF64, "3, M, N");
    m.in("B", kF64, "3, N");
    m.inout("C", kF64, "3, M");
    symbols(m, {"M", "N"});
    m.tasklet(m.kernel("b, i, k", "0:3, 0:M, 0:N"), "o = x * y", {"x = gA[b, i, k]", "y = gB[b, k]"},
              {"o = gC[b, i] | sum"});
  });
  add(
      "whose result has a dimension of its own",
      [](Gpu& m) {
        m.in("A", kI32, "M, N");
        m.in("B", kI32, "N, N + 29");
        m.inout("C", kI32, "M, 2, N + 29");
        symbols(m, {"M", "N"});
        m.tasklet(m.kernel("i, l, j, k", "0:M, 0:2, 0:N + 29, 0:N"), "o = x * y", {"x = gA[i, k]", "y = gB[k, j]"},
                  {"o = gC[i, l, j] | sum"});
      },
      0);
  add(
      "over an outer range that may be empty",
      [](Gpu& m) {
        m.in("A", kI64, "N + 32, N + 3, N");
        m.in("B", kI64, "N + 3, N, N + 3");
        m.inout("C", kI64, "N + 32, N + 3");
        symbols(m, {"N"});
        m.tasklet(m.kernel("i, j, k, l", "0:N + 32, 0:N + 3, 0:max(0, N - 31), 0:N"), "o = a * b",
                  {"a = gA[i, k, l]", "b = gB[k, l, j]"}, {"o = gC[i, j] | sum"});
      },
      0);

  // ---- loops in kernels
  add("by a loop that accumulates", [](Gpu& m) {
    m.in("A", kF64, "N + 32, N");
    m.in("B", kF64, "N, N + 3");
    m.inout("C", kF64, "N + 32, N + 3");
    symbols(m, {"N"});
    auto& k = m.loop(m.kernel("i", "0:N + 32"), "k", "0", "k < N", "k + 1");
    m.tasklet(m.map(k, "j", "0:N + 3"), "o = a * b", {"a = gA[i, k]", "b = gB[k, j]"}, {"o = gC[i, j] | sum"});
  });
  add("by a loop that reads and writes", [](Gpu& m) {
    m.in("A", kF64, "N + 32, N");
    m.in("B", kF64, "N, N + 3");
    m.inout("C", kF64, "N + 32, N + 3");
    symbols(m, {"N"});
    auto& k = m.kernel("i, j", "0:N + 32, 0:N + 3");
    m.tasklet(k, "o = 0.5 * c", {"c = gC[i, j]"}, {"o = gC[i, j]"});
    m.tasklet(m.loop(k, "k", "0", "k < N", "k + 1"), "o = c + a * b", {"c = gC[i, j]", "a = gA[i, k]", "b = gB[k, j]"},
              {"o = gC[i, j]"});
    m.tasklet(k, "o = c + 1", {"c = gC[i, j]"}, {"o = gC[i, j]"});
  });

  // ---- what only looks like a product
  add(
      "of a triangle stays",
      [](Gpu& m) {
        m.in("A", kI64, "N + 32, N + 32");
        m.in("B", kI64, "N + 32, N + 3");
        m.inout("C", kI64, "N + 32, N + 3");
        symbols(m, {"N"});
        m.tasklet(m.kernel("i, j, k", "0:N + 32, 0:N + 3, 0:i + 1"), "o = a * b", {"a = gA[i, k]", "b = gB[k, j]"},
                  {"o = gC[i, j] | sum"});
      },
      0);
  add(
      "by the least sum stays",
      [](Gpu& m) {
        m.in("A", kI64, "N + 32, N");
        m.in("B", kI64, "N, N + 3");
        m.inout("C", kI64, "N + 32, N + 3");
        symbols(m, {"N"});
        m.tasklet(m.kernel("i, j, k", "0:N + 32, 0:N + 3, 0:N"), "o = a + b", {"a = gA[i, k]", "b = gB[k, j]"},
                  {"o = gC[i, j] | min"});
      },
      0);
  add(
      "of an index that wraps around stays",
      [](Gpu& m) {
        m.in("A", kI64, "N + 32, N");
        m.in("B", kI64, "N, N + 3");
        m.inout("C", kI64, "N + 32, N + 3");
        symbols(m, {"N"});
        m.tasklet(m.kernel("i, j, k", "0:N + 32, 0:N + 3, 0:N"), "o = a * b",
                  {"a = gA[i, k]", "b = gB[(k + j) % N, j]"}, {"o = gC[i, j] | sum"});
      },
      0);
  add(
      "into elements that meet stays",
      [](Gpu& m) {
        m.in("A", kI64, "N + 32, N");
        m.in("B", kI64, "N, N + 3");
        m.inout("C", kI64, "3 * N + 40");
        symbols(m, {"N"});
        m.tasklet(m.kernel("i, j, k", "0:N + 32, 0:N + 3, 0:N"), "o = a * b", {"a = gA[i, k]", "b = gB[k, j]"},
                  {"o = gC[i + j] | sum"});
      },
      0);
  return p;
}

}  // namespace sdfg::test
