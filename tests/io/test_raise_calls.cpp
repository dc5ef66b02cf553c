// Vendor calls that DaCe's expansions leave become library nodes, one test per form, judged by running them; calls that
// look like one but do something else stay C++ text.
#include <catch2/catch.hpp>
#include <complex>

#include "dace_text.hpp"

namespace test_raise_calls {

using namespace sdfg;
using namespace sdfg::test;
using dace::Json;
using interpret::Arguments;

namespace {

using Complex = std::complex<double>;

std::vector<double> ramp(std::size_t n, double from, double step) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = from + step * static_cast<double>(i % 11);
  return out;
}

struct Port {
  std::string connector, memlet;
};

// A graph of N, M, K and one C++ tasklet: A (N x K), B (K x M), C (N x M), x (K), y (N), r (1), and transposed At, Bt.
dace::Graph with_call(const std::string& text, const std::vector<Port>& inputs, const std::vector<Port>& outputs,
                      const std::string& dtype = "float64") {
  dace::Graph g("call");
  for (const auto& [name, shape] : {std::pair("A", "N, K"),
                                    {"B", "K, M"},
                                    {"C", "N, M"},
                                    {"At", "K, N"},
                                    {"Bt", "M, K"},
                                    {"x", "K"},
                                    {"y", "N"},
                                    {"r", "1"},
                                    {"S", "N, N"}})
    g.array(name, dtype, shape);
  g.array("info", "int32", "1");
  for (const char* s : {"N", "M", "K"}) g.symbol(s);
  dace::State s;
  const int t = s.tasklet(text, "CPP", "vendor");
  for (const Port& p : inputs) s.read(p.memlet, t, p.connector);
  for (const Port& p : outputs) s.write(t, p.connector, p.memlet);
  g.body.state(s);
  return g;
}

int library_nodes(const dace::Graph& g) {
  int n = 0;
  const ir::Graph loaded = io::load_bytes(g.text()).graph;
  ir::walk(loaded.body, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* s = std::get_if<ir::State>(&e.kind);
    if (s == nullptr) return;
    for (const ir::Node& node : s->nodes) n += std::holds_alternative<ir::Library>(node.kind) ? 1 : 0;
  });
  return n;
}

constexpr int kN = 3, kM = 5, kK = 4;

// All arrays of `with_call`, in row-major order.
struct Data {
  std::vector<double> A = ramp(kN * kK, 1, 0.5), B = ramp(kK * kM, -2, 0.75), C = ramp(kN * kM, 0.25, 1),
                      At = ramp(kK * kN, 2, 0.25), Bt = ramp(kM * kK, -1, 0.5), x = ramp(kK, 1, 2), y = ramp(kN, -3, 1),
                      r{7.0}, S = ramp(kN * kN, 4, 0.5);
  std::int32_t info = 99;

  void run(const dace::Graph& g) {
    Arguments a;
    for (auto& [name, v] : std::initializer_list<std::pair<const char*, std::vector<double>*>>{
             {"A", &A}, {"B", &B}, {"C", &C}, {"At", &At}, {"Bt", &Bt}, {"x", &x}, {"y", &y}, {"r", &r}, {"S", &S}})
      a.set(name, v->data());
    a.set("info", static_cast<void*>(&info)).set("N", kN).set("M", kM).set("K", kK);
    dace::run(g, a);
  }
};

// alpha op(A) op(B) + beta C, from N x K, K x M or their transposes.
std::vector<double> product(const std::vector<double>& a, bool ta, const std::vector<double>& b, bool tb, double alpha,
                            double beta, const std::vector<double>& c) {
  std::vector<double> out(kN * kM);
  for (int i = 0; i < kN; ++i) {
    for (int j = 0; j < kM; ++j) {
      double sum = 0;
      for (int k = 0; k < kK; ++k)
        sum += a[static_cast<std::size_t>(ta ? k * kN + i : i * kK + k)] *
               b[static_cast<std::size_t>(tb ? j * kK + k : k * kM + j)];
      const auto at = static_cast<std::size_t>(i * kM + j);
      out[at] = alpha * sum + beta * c[at];
    }
  }
  return out;
}

void check_close(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-12));
}

const std::vector<Port> kAB{{"_a", "A[0:N, 0:K]"}, {"_b", "B[0:K, 0:M]"}};
const std::vector<Port> kC{{"_c", "C[0:N, 0:M]"}};
const std::string kHandle =
    "cublasHandle_t &__dace_cublas_handle = __state->cublas_handle.Get();\n"
    "dace::blas::CheckCublasError(cublasSetStream(__dace_cublas_handle, __dace_current_stream));\n";

}  // namespace

// ---- forms ----------------------------------------------------------------------------------------------------------

TEST_CASE("cblas gemm in both orders, with and without transposition") {
  struct Case {
    const char* text;
    bool ta, tb;
  };
  const Case cases[] = {
      {"cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, M, N, K, double(1), _b, M, _a, K, double(0), _c, M);",
       false, false},
      {"cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, 1.0, _a, K, _b, M, 0.0, _c, M);", false, false},
      {"cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, N, M, K, 1.0, _a, N, _b, M, 0.0, _c, M);", true, false},
      {"cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, N, M, K, 1.0, _a, K, _b, K, 0.0, _c, M);", false, true},
      {"cblas_dgemm(CblasColMajor, CblasTrans, CblasTrans, M, N, K, 1.0, _b, K, _a, N, 0.0, _c, M);", true, true},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    Data d;
    d.run(with_call(
        c.text, {{"_a", c.ta ? "At[0:K, 0:N]" : "A[0:N, 0:K]"}, {"_b", c.tb ? "Bt[0:M, 0:K]" : "B[0:K, 0:M]"}}, kC));
    check_close(d.C, product(c.ta ? d.At : d.A, c.ta, c.tb ? d.Bt : d.B, c.tb, 1, 0, d.C));
  }
}

TEST_CASE("gemm with factors: literals, declared ones, and accumulation onto the output") {
  const Data before;
  for (const char* text :
       {"cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, double(2.5), _a, K, _b, M, double(-1), _c, "
        "M);",
        "double alpha = double(2.5), beta = -1.0;\n"
        "cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, alpha, _a, K, _b, M, beta, _c, M);"}) {
    for (const bool reads : {true, false}) {  // DaCe hands C in when beta is not zero
      INFO(text);
      auto inputs = kAB;
      if (reads) inputs.push_back({"_c", "C[0:N, 0:M]"});
      Data d;
      d.run(with_call(text, inputs, kC));
      check_close(d.C, product(d.A, false, d.B, false, 2.5, -1, before.C));
    }
  }
}

TEST_CASE("cublas gemm with its set-up") {
  Data d;
  d.run(with_call(kHandle +
                      "dace::blas::CheckCublasError(cublasDgemm(__dace_cublas_handle,\n CUBLAS_OP_N, CUBLAS_OP_N,\n"
                      "M, N, K, __state->cublas_handle.Constants().DoublePone(), (double*)_b, M, (double*)_a, K,\n"
                      "__state->cublas_handle.Constants().DoubleZero(), (double*)_c, M));",
                  kAB, kC));
  check_close(d.C, product(d.A, false, d.B, false, 1, 0, d.C));
  Data e;
  const Data before;
  e.run(with_call(kHandle +
                      "cublasSetPointerMode(__dace_cublas_handle, CUBLAS_POINTER_MODE_HOST);\n"
                      "double alpha = double(0.5); double beta = double(2);\n"
                      "cublasDgemm(__dace_cublas_handle, CUBLAS_OP_N, CUBLAS_OP_T, M, N, K, &alpha, _b, M, _a, N, "
                      "(double *)&beta, _c, M);\n"
                      "cublasSetPointerMode(__dace_cublas_handle, CUBLAS_POINTER_MODE_DEVICE); // back",
                  {{"_a", "At[0:K, 0:N]"}, {"_b", "B[0:K, 0:M]"}}, kC));
  check_close(e.C, product(e.At, true, e.B, false, 0.5, 2, before.C));
}

TEST_CASE("gemm of complex numbers with complex factors") {
  const dace::Graph g = with_call(
      "dace::complex128 alpha = dace::complex128(0.5, -2.0), beta = dace::complex128(0);\n"
      "cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, &alpha, _a, K, _b, M, &beta, _c, M);",
      kAB, kC, "complex128");
  std::vector<Complex> a(kN * kK), b(kK * kM), c(kN * kM), rest(64);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = {static_cast<double>(i), 1.0};
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = {0.5, -static_cast<double>(i)};
  Arguments args;
  args.set("A", static_cast<void*>(a.data())).set("B", static_cast<void*>(b.data()));
  args.set("C", static_cast<void*>(c.data()));
  for (const char* name : {"At", "Bt", "x", "y", "r", "S"}) args.set(name, static_cast<void*>(rest.data()));
  args.set("info", static_cast<void*>(rest.data())).set("N", kN).set("M", kM).set("K", kK);
  dace::run(g, args);
  for (int i = 0; i < kN; ++i) {
    for (int j = 0; j < kM; ++j) {
      Complex sum = 0;
      for (int k = 0; k < kK; ++k)
        sum += a[static_cast<std::size_t>(i * kK + k)] * b[static_cast<std::size_t>(k * kM + j)];
      CHECK(std::abs(c[static_cast<std::size_t>(i * kM + j)] - Complex(0.5, -2.0) * sum) < 1e-12);
    }
  }
}

TEST_CASE("gemv of cblas and cublas, by rows, by columns and with distant elements") {
  const auto times = [](const Data& d, bool transposed) {  // y = A x or S^T-like over At
    std::vector<double> y(kN);
    for (int i = 0; i < kN; ++i) {
      for (int k = 0; k < kK; ++k)
        y[static_cast<std::size_t>(i)] +=
            (transposed ? d.At[static_cast<std::size_t>(k * kN + i)] : d.A[static_cast<std::size_t>(i * kK + k)]) *
            d.x[static_cast<std::size_t>(k)];
    }
    return y;
  };
  struct Case {
    std::string text;
    bool transposed;
  };
  const Case cases[] = {
      {"cblas_dgemv(CblasColMajor, CblasTrans, K, N, double(1), _A, K,\n _x, 1, double(0), _y, 1);", false},
      {"cblas_dgemv(CblasRowMajor, CblasNoTrans, N, K, 1.0, _A, K, _x, 1, 0.0, _y, 1);", false},
      {"cblas_dgemv(CblasColMajor, CblasNoTrans, N, K, double(1), _A, N, _x, 1, double(0), _y, 1);", true},
      {"cblas_dgemv(CblasRowMajor, CblasTrans, K, N, 1.0, _A, N, _x, 1, 0.0, _y, 1);", true},
      {kHandle + "dace::blas::CheckCublasError(cublasDgemv(__dace_cublas_handle, CUBLAS_OP_T, K, N, "
                 "__state->cublas_handle.Constants().DoublePone(), _A, K, _x, 1, "
                 "__state->cublas_handle.Constants().DoubleZero(), _y, 1));",
       false},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    Data d;
    d.run(with_call(c.text, {{"_A", c.transposed ? "At[0:K, 0:N]" : "A[0:N, 0:K]"}, {"_x", "x[0:K]"}},
                    {{"_y", "y[0:N]"}}));
    check_close(d.y, times(d, c.transposed));
  }
  // A column of B (K x M) as the vector.
  Data d;
  d.run(with_call("cblas_dgemv(CblasColMajor, CblasTrans, K, N, double(1), _A, K, _x, M, double(0), _y, 1);",
                  {{"_A", "A[0:N, 0:K]"}, {"_x", "B[0:K, 2]"}}, {{"_y", "y[0:N]"}}));
  for (int i = 0; i < kN; ++i) {
    double sum = 0;
    for (int k = 0; k < kK; ++k)
      sum += d.A[static_cast<std::size_t>(i * kK + k)] * d.B[static_cast<std::size_t>(k * kM + 2)];
    CHECK(d.y[static_cast<std::size_t>(i)] == Approx(sum));
  }
}

TEST_CASE("dot of cblas and cublas") {
  for (const std::string& text :
       {std::string("_result = cblas_ddot(K, _x, 1, _y, M);"),
        kHandle + "dace::blas::CheckCublasError(cublasDdot(__dace_cublas_handle, K, _x, 1, _y,\n M, _result));"}) {
    INFO(text);
    Data d;
    d.run(with_call(text, {{"_x", "x[0:K]"}, {"_y", "B[0:K, 1]"}}, {{"_result", "r[0]"}}));
    double want = 0;
    for (std::size_t k = 0; k < kK; ++k) want += d.x[k] * d.B[k * kM + 1];
    CHECK(d.r[0] == Approx(want));
  }
}

TEST_CASE("geam as a transposition") {
  Data d;
  d.run(with_call(kHandle +
                      "dace::blas::CheckCublasError(cublasDgeam(\n __dace_cublas_handle, CUBLAS_OP_T, CUBLAS_OP_N,\n"
                      "N, K, __state->cublas_handle.Constants().DoublePone(), (double*)_inp, K, "
                      "__state->cublas_handle.Constants().DoubleZero(), (double*)_inp, N, (double*)_out, N));",
                  {{"_inp", "A[0:N, 0:K]"}}, {{"_out", "At[0:K, 0:N]"}}));
  for (std::size_t i = 0; i < kN; ++i) {
    for (std::size_t k = 0; k < kK; ++k) CHECK(d.At[k * kN + i] == d.A[i * kK + k]);
  }
}

TEST_CASE("potrf of LAPACKE and cuSOLVER, both triangles") {
  const std::string cusolver =
      "cusolverDnHandle_t &__dace_cusolverDn_handle = __state->cusolverDn_handle.Get();\n"
      "cusolverDnSetStream(__dace_cusolverDn_handle, __dace_current_stream);\n"
      "int __dace_workspace_size = 0;\n double* __dace_workspace;\n"
      "cusolverDnDpotrf_bufferSize(__dace_cusolverDn_handle, CUBLAS_FILL_MODE_@, N, _xin, N, &__dace_workspace_size);\n"
      "cudaMalloc<double>(&__dace_workspace, sizeof(double) * __dace_workspace_size);\n"
      "cusolverDnDpotrf(__dace_cusolverDn_handle, CUBLAS_FILL_MODE_@, N, _xin, N, __dace_workspace, "
      "__dace_workspace_size, _res);\ncudaFree(__dace_workspace);\n";
  const auto with = [&](const char* triangle) {
    std::string text = cusolver;
    for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@')) text.replace(at, 1, triangle);
    return text;
  };
  struct Case {
    std::string text;
    bool lower;  // in row-major order
  };
  const Case cases[] = {{"_res = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', N, _xin, N);", true},
                        {"_res = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'U', N, _xin, N);", false},
                        {"_res = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', N, _xin, N);", false},
                        {with("LOWER"), false},
                        {with("UPPER"), true}};
  for (const Case& c : cases) {
    INFO(c.text);
    Data d;
    d.S = {4, 2, 1, 2, 10, 3, 1, 3, 6};
    d.run(with_call(c.text, {{"_xin", "S[0:N, 0:N]"}}, {{"_xout", "S[0:N, 0:N]"}, {"_res", "info[0]"}}));
    CHECK(d.info == 0);
    // L L^T (or U^T U) gives the matrix back.
    const double want[] = {4, 2, 1, 2, 10, 3, 1, 3, 6};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k <= std::min(i, j); ++k)
          sum += c.lower ? d.S[i * 3 + k] * d.S[j * 3 + k] : d.S[k * 3 + i] * d.S[k * 3 + j];
        CHECK(sum == Approx(want[i * 3 + j]));
      }
    }
  }
}

// ---- near misses ----------------------------------------------------------------------------------------------------

TEST_CASE("text that does more than the call, or something else, stays as it is") {
  const std::string call =
      "cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, 1.0, _a, K, _b, M, 0.0, _c, M)";
  REQUIRE(library_nodes(with_call(call + ";", kAB, kC)) == 1);
  REQUIRE(library_nodes(with_call("/* one */ " + call + "; // call", kAB, kC)) == 1);
  for (const std::string& text : {
           "if (N > 3) " + call + ";",
           "for (int i = 0; i < 2; ++i) { " + call + "; }",
           call + "; _c[0] += 1;",
           call + "; " + call + ";",
           "_c[0] = 0; " + call + ";",
           "int n = 3; " + call + ";",
           "log(\"product\"); " + call + ";",
           "#pragma omp parallel\n" + call + ";",
           "my_" + call + ";",
           "auto f = [&] { " + call + "; };",
           "return " + call + ";",
           std::string(
               "cblas_dgemm3m(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, 1.0, _a, K, _b, M, 0.0, _c, M);"),
           std::string(
               "cblas_hgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, 1.0, _a, K, _b, M, 0.0, _c, M);"),
           std::string("cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, 1.0, _a, K, _b, M, 0.0, _c);"),
           std::string("cblas_dgemm(order, CblasNoTrans, CblasNoTrans, N, M, K, 1.0, _a, K, _b, M, 0.0, _c, M);"),
           std::string("cblas_dgemm(CblasRowMajor, op, CblasNoTrans, N, M, K, 1.0, _a, K, _b, M, 0.0, _c, M);"),
           std::string(
               "cblas_dgemm(CblasRowMajor, CblasConjTrans, CblasNoTrans, N, M, K, 1.0, _a, N, _b, M, 0.0, _c, M);"),
           std::string(
               "cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, alpha, _a, K, _b, M, 0.0, _c, M);"),
           std::string(
               "cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, 1.0, _a + 1, K, _b, M, 0.0, _c, M);"),
           std::string(
               "cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, 1.0, _a, K, _b, M, 0.0, other, M);"),
       }) {
    INFO(text);
    CHECK(library_nodes(with_call(text, kAB, kC)) == 0);
  }
}

TEST_CASE("a call on other extents, distances or types than its memlets move stays as it is") {
  const auto gemm = [](const std::string& args) {
    return "cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, " + args + ");";
  };
  REQUIRE(library_nodes(with_call(gemm("N, M, K, 1.0, _a, K, _b, M, 0.0, _c, M"), kAB, kC)) == 1);
  CHECK(library_nodes(with_call(gemm("N - 1, M, K, 1.0, _a, K, _b, M, 0.0, _c, M"), kAB, kC)) == 0);
  CHECK(library_nodes(with_call(gemm("N, M, K, 1.0, _a, 2 * K, _b, M, 0.0, _c, M"), kAB, kC)) == 0);
  CHECK(library_nodes(with_call(gemm("N, M, K, 1.0, _a, K, _b, M, 0.0, _c, M + 1"), kAB, kC)) == 0);
  CHECK(library_nodes(with_call(gemm("M, N, K, 1.0, _a, K, _b, M, 0.0, _c, M"), kAB, kC)) == 0);
  CHECK(library_nodes(with_call("cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, M, K, 1.0, _a, K, _b, M, "
                                "0.0, _c, M);",
                                kAB, kC)) == 0);
  // A part of the arrays, as the memlets say.
  CHECK(library_nodes(with_call(gemm("N - 1, M, K, 1.0, _a, K, _b, M, 0.0, _c, M"),
                                {{"_a", "A[1:N, 0:K]"}, {"_b", "B[0:K, 0:M]"}}, {{"_c", "C[0:N - 1, 0:M]"}})) == 1);
  const std::vector<Port> xy{{"_x", "x[0:K]"}, {"_y", "B[0:K, 1]"}}, r{{"_result", "r[0]"}};
  REQUIRE(library_nodes(with_call("_result = cblas_ddot(K, _x, 1, _y, M);", xy, r)) == 1);
  for (const char* text : {"_result = cblas_ddot(K - 1, _x, 1, _y, M);", "_result = cblas_ddot(K, _x, -1, _y, M);",
                           "_result = cblas_ddot(K, _x, 1, _y, 1);", "_result = 2 * cblas_ddot(K, _x, 1, _y, M);",
                           "_result = cblas_ddot(K, _x, 1, _y, M) + 1;", "_result += cblas_ddot(K, _x, 1, _y, M);",
                           "_result = cblas_dsdot(K, _x, 1, _y, M);", "cblas_ddot(K, _x, 1, _y, M);",
                           "_result = cblas_ddot(f(K), _x, 1, _y, M);"}) {
    INFO(text);
    CHECK(library_nodes(with_call(text, xy, r)) == 0);
  }
  const char* potrf = "_res = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', N, _xin, N);";
  REQUIRE(library_nodes(with_call(potrf, {{"_xin", "S[0:N, 0:N]"}}, {{"_xout", "S[0:N, 0:N]"}, {"_res", "info[0]"}})) ==
          1);
  // The call overwrites its input; the output is other memory that it never writes.
  CHECK(library_nodes(with_call(potrf, {{"_xin", "S[0:N, 0:N]"}}, {{"_xout", "C[0:N, 0:N]"}, {"_res", "info[0]"}})) ==
        0);
  CHECK(library_nodes(with_call("_res = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, uplo, N, _xin, N);", {{"_xin", "S[0:N, 0:N]"}},
                                {{"_xout", "S[0:N, 0:N]"}, {"_res", "info[0]"}})) == 0);
}

TEST_CASE("what is not recognised is refused by the interpreter, naming the tasklet") {
  Data d;
  CHECK_THROWS_WITH(d.run(with_call("cblas_dswap(K, _x, 1, _y, M);", {{"_x", "x[0:K]"}}, {{"_y", "B[0:K, 1]"}})),
                    Catch::Contains("vendor"));
}

}  // namespace test_raise_calls
