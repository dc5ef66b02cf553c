// Device programs: library nodes on device memory. Where there is no library, or on the emulated device, they are
// kernels.
#include "program_groups.hpp"

namespace sdfg::test {

namespace {

constexpr ScalarType kC64 = ScalarType::kComplex64;
constexpr ScalarType kC128 = ScalarType::kComplex128;

// C (M x N) = alpha op(A) op(B) + beta C; beta 0 meets a result full of NaN, as fresh device memory is.
Program gemm(const Type& type, bool trans_a, bool trans_b, std::complex<double> alpha, std::complex<double> beta) {
  const std::string name = "library gemm " + type.str() + (trans_a ? " T" : " N") + (trans_b ? "T" : "N") +
                           (beta == 0.0 ? " into fresh memory" : "");
  return {name,
          [=](Gpu& m) {
            m.in("A", type, trans_a ? "K, M" : "M, K");
            m.in("B", type, trans_b ? "N, K" : "K, N");
            m.inout("C", type, "M, N");
            symbols(m, {"M", "N", "K"});
            if (beta != 0.0) {
              m.library(m.body(), ir::Gemm{trans_a, trans_b, alpha, beta}, {"_a = gA", "_b = gB"}, {"_c = gC"});
              return;
            }
            m.device("fresh", type, "M, N");
            m.library(m.body(), ir::Gemm{trans_a, trans_b, alpha, beta}, {"_a = gA", "_b = gB"}, {"_c = fresh"});
            m.copy(m.body(), "fresh", "gC");
          },
          kSums};
}

Program gemv(const Type& type, bool transposed, std::complex<double> beta) {
  return {"library gemv " + type.str() + (transposed ? " T" : " N") + (beta == 0.0 ? "" : " added"),
          [=](Gpu& m) {
            m.in("A", type, "M, N");
            m.in("x", type, transposed ? "M" : "N");
            m.inout("y", type, transposed ? "N" : "M");
            symbols(m, {"M", "N"});
            m.library(m.body(), ir::Gemv{transposed, 1.5, beta}, {"_A = gA", "_x = gx"}, {"_y = gy"});
          },
          kSums};
}

Program syrk(const Type& type, bool trans, bool lower) {
  return {"library syrk " + type.str() + (trans ? " T" : " N") + (lower ? " lower" : " upper"),
          [=](Gpu& m) {
            m.in("A", type, trans ? "K, N" : "N, K");
            m.inout("C", type, "N, N");
            symbols(m, {"N", "K"});
            m.library(m.body(), ir::Syrk{trans, lower, 0.5, 2.0}, {"_a = gA"}, {"_c = gC"});
          },
          kSums};
}

// R R^T + 100 N I in device memory.
void positive_definite(Gpu& m, const Type& type) {
  m.in("R", type, "N, N");
  m.device("gS", type, "N, N");
  auto& k = m.kernel("i, j", "0:N, 0:N");
  m.tasklet(k, "o = 100.0 * N + 3000.0 if i == j else 0.0", {}, {"o = gS[i, j]"});
  m.library(m.body(), ir::Gemm{false, true, 1.0 / 64, 1.0}, {"_a = gR", "_b = gR"}, {"_c = gS"});
}

Program csrmv(const Type& type, const Type& index, bool trans, std::complex<double> beta) {
  return {"library csrmv " + type.str() + " " + index.str() + (trans ? " T" : " N"),
          [=](Gpu& m) {
            m.in("V", type, "2 * N");
            m.in("b", type, trans ? "N" : "M");
            m.inout("c", type, trans ? "M" : "N");
            symbols(m, {"M", "N"});
            m.device("rows", index, "N + 1");
            m.device("columns", index, "2 * N");
            m.tasklet(m.kernel("i", "0:N + 1"), "o = 2 * i - i % 2", {}, {"o = rows[i]"});
            m.tasklet(m.kernel("e", "0:2 * N"), "o = (e * 7) % M", {}, {"o = columns[e]"});
            m.library(m.body(), ir::Csrmv{2.0, beta, trans},
                      {"_a_rows = rows", "_a_cols = columns", "_a_vals = gV", "_b = gb"}, {"_c = gc"});
          },
          kSums};
}

Program csrmm(const Type& type, bool trans_a, bool trans_b) {
  return {"library csrmm " + type.str() + (trans_a ? " T" : " N") + (trans_b ? "T" : "N"),
          [=](Gpu& m) {
            m.in("V", type, "2 * N");
            m.in("B", type, trans_b ? (trans_a ? "K, N" : "K, M") : (trans_a ? "N, K" : "M, K"));
            m.inout("C", type, trans_a ? "M, K" : "N, K");
            symbols(m, {"M", "N", "K"});
            m.device("rows", kI32, "N + 1");
            m.device("columns", kI32, "2 * N");
            m.tasklet(m.kernel("i", "0:N + 1"), "o = 2 * i", {}, {"o = rows[i]"});
            m.tasklet(m.kernel("e", "0:2 * N"), "o = (e * 5 + 1) % M", {}, {"o = columns[e]"});
            m.library(m.body(), ir::Csrmm{1.0, 0.5, trans_a, trans_b},
                      {"_a_rows = rows", "_a_cols = columns", "_a_vals = gV", "_b = gB"}, {"_c = gC"});
          },
          kSums};
}

}  // namespace

std::vector<Program> library_programs() {
  std::vector<Program> p;
  const Add add{p};
  // ---- products
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) p.push_back(gemm(kF64, trans_a, trans_b, 1.25, trans_a ? 0.0 : 0.5));
  }
  p.push_back(gemm(kF32, false, false, 1.0, 0.0));
  p.push_back(gemm(kC64, true, false, {0.5, 1.0}, {1.0, -0.5}));
  p.push_back(gemm(kC128, false, true, {0.5, 1.0}, 0.0));
  p.push_back(gemm(kI64, false, false, 2.0, 1.0));  // no library has it
  add(
      "library product of matrices in the order of columns",
      [](Gpu& m) {
        m.in("A", kF64, "K, M");
        m.in("B", kF64, "N, K");
        m.inout("C", kF64, "N, M");
        symbols(m, {"M", "N", "K"});
        const auto by_columns = [&](const std::string& name, const std::string& rows, const std::string& columns) {
          m.view("v" + name, kF64, ir::Layout::column_major(Maker::extents(rows + ", " + columns)),
                 "g" + name + "[0:" + columns + ", 0:" + rows + "]");
        };
        by_columns("A", "M", "K");
        by_columns("B", "K", "N");
        by_columns("C", "M", "N");
        m.library(m.body(), ir::MatMul{}, {"_a = vA", "_b = vB"}, {"_c = vC"});
      },
      kSums);
  add(
      "library product of parts of matrices",
      [](Gpu& m) {
        m.in("A", kF64, "M, N");
        m.in("B", kF64, "N, M");
        m.inout("C", kF64, "M, M");
        symbols(m, {"M", "N"});
        m.library(m.body(), ir::Gemm{false, false, 1.0, 1.0}, {"_a = gA[1:M, 0:N]", "_b = gB[0:N, 2:M]"},
                  {"_c = gC[1:M, 1:M - 1]"});
      },
      kSums);
  add(
      "library product of every second row and column",
      [](Gpu& m) {
        m.in("A", kF64, "M, N");
        m.in("B", kF64, "N, K");
        m.inout("C", kF64, "M, K");
        symbols(m, {"M", "N", "K"});
        m.library(m.body(), ir::MatMul{}, {"_a = gA[0:M:2, 0:N]", "_b = gB"}, {"_c = gC[0:M:2, 0:K]"});
      },
      kSums);
  add(
      "library product with an addend of its own",
      [](Gpu& m) {
        m.in("A", kF64, "M, K");
        m.in("B", kF64, "K, N");
        m.in("D", kF64, "M, N");
        m.inout("C", kF64, "M, N");
        symbols(m, {"M", "N", "K"});
        m.library(m.body(), ir::Gemm{false, false, 1.0, 3.0}, {"_a = gA", "_b = gB", "_cin = gD"}, {"_c = gC"});
      },
      kSums);
  add(
      "library product without terms",
      [](Gpu& m) {
        m.in("A", kF64, "M, 0 * N");
        m.in("B", kF64, "0 * N, N");
        m.inout("C", kF64, "M, N");
        m.inout("D", kF64, "M, N");
        symbols(m, {"M", "N"});
        m.library(m.body(), ir::Gemm{}, {"_a = gA", "_b = gB"}, {"_c = gC"});
        m.library(m.body(), ir::Gemm{false, false, 1.0, 2.0}, {"_a = gA", "_b = gB"}, {"_c = gD"});
      },
      kSums);
  add(
      "library batched product",
      [](Gpu& m) {
        m.in("A", kF64, "K, M, N");
        m.in("B", kF64, "K, N, 3");
        m.inout("C", kF64, "K, M, 3");
        symbols(m, {"M", "N", "K"});
        m.library(m.body(), ir::BatchedMatMul{}, {"_a = gA", "_b = gB"}, {"_c = gC"});
      },
      kSums);
  add(
      "library batched product of two batch dimensions, one broadcast",
      [](Gpu& m) {
        m.in("A", kF64, "2, K, M, N");
        m.in("B", kF64, "N, 3");
        m.inout("C", kF64, "2, K, M, 3");
        symbols(m, {"M", "N", "K"});
        m.library(m.body(), ir::MatMul{}, {"_a = gA", "_b = gB"}, {"_c = gC"});
      },
      kSums);
  for (const bool transposed : {false, true}) {
    p.push_back(gemv(kF64, transposed, transposed ? 0.5 : 0.0));
    p.push_back(gemv(kC64, transposed, transposed ? 0.0 : 2.0));
  }
  add(
      "library dot",
      [](Gpu& m) {
        m.in("x", kF64, "N");
        m.in("y", kF64, "N");
        m.in("u", kF32, "N");
        m.in("v", kC128, "N");
        m.inout("R", kF64, "1");
        m.inout("S", kF32, "1");
        m.inout("T", kC128, "1");
        symbols(m, {"N"});
        m.library(m.body(), ir::Dot{}, {"_x = gx", "_y = gy"}, {"_result = gR[0]"});
        m.library(m.body(), ir::Dot{}, {"_x = gu", "_y = gu"}, {"_result = gS[0]"});
        m.library(m.body(), ir::Dot{}, {"_x = gv", "_y = gv"}, {"_result = gT[0]"});
      },
      kSums);
  add(
      "library rank-one update and sum of vectors",
      [](Gpu& m) {
        m.in("x", kF64, "M");
        m.in("y", kF64, "N");
        m.inout("A", kF64, "M, N");
        m.inout("z", kF64, "N");
        symbols(m, {"M", "N"});
        m.device("B", kF64, "M, N");
        m.library(m.body(), ir::Ger{0.5}, {"_x = gx", "_y = gy", "_A = gA"}, {"_res = B"});
        m.copy(m.body(), "B", "gA");
        m.library(m.body(), ir::Axpy{-2.0}, {"_x = gy", "_y = gz"}, {"_res = gz"});
      },
      kSums);
  p.push_back(syrk(kF64, false, true));
  p.push_back(syrk(kF64, true, false));
  p.push_back(syrk(kC64, false, false));
  // ---- factorisations
  for (const bool lower : {true, false}) {
    add(
        std::string("library cholesky ") + (lower ? "lower" : "upper"),
        [=](Gpu& m) {
          m.inout("L", kF64, "N, N");
          symbols(m, {"N"});
          positive_definite(m, kF64);
          m.library(m.body(), ir::Cholesky{lower}, {"_a = gS"}, {"_b = gL"});
        },
        kSums);
  }
  add(
      "library potrf with a status",
      [](Gpu& m) {
        m.inout("L", kF64, "N, N");
        m.inout("I", kI32, "1");
        symbols(m, {"N"});
        positive_definite(m, kF64);
        m.library(m.body(), ir::Potrf{true}, {"_xin = gS"}, {"_xout = gL", "_res = gI[0]"});
      },
      kSums);
  add(
      "library getrf and getrs",
      [](Gpu& m) {
        m.in("B", kF64, "N, 3");
        m.inout("X", kF64, "N, 3");
        m.inout("I", kI32, "2");
        symbols(m, {"N"});
        positive_definite(m, kF64);
        m.device("lu", kF64, "N, N");
        m.device("swaps", kI32, "N");
        m.library(m.body(), ir::Getrf{}, {"_xin = gS"}, {"_xout = lu", "_ipiv = swaps", "_res = gI[0]"});
        m.library(m.body(), ir::Getrs{}, {"_a = lu", "_ipiv = swaps", "_rhs_in = gB"},
                  {"_rhs_out = gX", "_res = gI[1]"});
      },
      1e-7);
  add(
      "library solve and inverse",
      [](Gpu& m) {
        m.in("b", kF64, "N");
        m.in("B", kF64, "N, 3");
        m.inout("x", kF64, "N");
        m.inout("X", kF64, "N, 3");
        m.inout("Y", kF64, "N, N");
        symbols(m, {"N"});
        positive_definite(m, kF64);
        m.library(m.body(), ir::Solve{}, {"_ain = gS", "_bin = gb"}, {"_bout = gx"});
        m.library(m.body(), ir::Solve{}, {"_ain = gS", "_bin = gB"}, {"_bout = gX"});
        m.library(m.body(), ir::Inv{}, {"_ain = gS"}, {"_aout = gY"});
      },
      1e-7);
  // ---- transforms
  for (const bool inverse : {false, true}) {
    add(
        std::string("library fft") + (inverse ? ", inverse" : ""),
        [=](Gpu& m) {
          m.in("A", kC128, "N");
          m.in("B", kC128, "K, M");
          m.in("R", kF64, "N");
          m.inout("C", kC128, "N");
          m.inout("D", kC128, "K, M");
          m.inout("E", kC128, "N");
          symbols(m, {"N", "M", "K"});
          ir::Fft fft;
          fft.inverse = inverse;
          fft.scale_by_length = inverse;
          m.library(m.body(), fft, {"_inp = gA"}, {"_out = gC"});
          m.library(m.body(), fft, {"_inp = gB"}, {"_out = gD"});
          m.library(m.body(), fft, {"_inp = gR"}, {"_out = gE"});
        },
        1e-7);
  }
  // ---- sparse
  p.push_back(csrmv(kF64, kI32, false, 0.0));
  p.push_back(csrmv(kF32, kI64, false, 0.5));
  p.push_back(csrmv(kF64, kI32, true, 1.0));
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) p.push_back(csrmm(trans_a == trans_b ? kF64 : kF32, trans_a, trans_b));
  }
  return p;
}

}  // namespace sdfg::test
