// Rules of library nodes: what each operation accepts, and the whole message of what it refuses.
#include <catch2/catch.hpp>

#include "graphs.hpp"
#include "ir/validate.hpp"

namespace test_library_rules {

using namespace sdfg;
using namespace sdfg::ir;

namespace {

struct Arg {
  std::string connector;
  std::string shape;
  Type type = ScalarType::kFloat64;
  std::string subset = {};  // empty: all of it
};

// Problems of one node between arguments made for it.
std::string problems_of(LibraryOp op, const std::vector<Arg>& inputs, const std::vector<Arg>& outputs) {
  test::Hand h("g");
  for (const char* name : {"N", "M", "K", "L"}) h.symbol(name);
  State& s = h.state(h.g.body);
  std::vector<std::string> in;
  std::vector<std::string> out;
  for (const Arg& a : inputs) in.push_back(a.connector);
  for (const Arg& a : outputs) out.push_back(a.connector);
  const Id node = h.library(s, std::move(op), in, out);
  int k = 0;
  const auto container = [&](const Arg& a) { return h.argument("c" + std::to_string(k++), a.shape, a.type).name; };
  const auto subset = [&](const Arg& a) {
    if (!a.subset.empty() || a.shape.empty()) return test::Hand::subset(a.subset);
    return Subset::full(test::Hand::extents(a.shape));
  };
  for (const Arg& a : inputs) h.read(s, h.access(s, container(a)), "", node, a.connector).src_subset = subset(a);
  for (const Arg& a : outputs) h.write(s, node, a.connector, h.access(s, container(a)), "").dst_subset = subset(a);
  std::string text;
  for (const Problem& p : validate(h.g)) {
    text += (text.empty() ? "" : "\n") + std::string(to_string(p.rule)) + ": " + p.message;
  }
  return text;
}

constexpr ScalarType kInt = ScalarType::kInt32;
constexpr ScalarType kFloat = ScalarType::kFloat32;
constexpr ScalarType kComplex = ScalarType::kComplex128;

}  // namespace

TEST_CASE("library nodes have the connectors of their operation") {
  CHECK(problems_of(Gemm{}, {{"_a", "N, K"}, {"_x", "K, M"}}, {{"_c", "N, M"}}) ==
        "connector-missing: library node Gemm has no input '_b'\n"
        "connector-missing: library node Gemm has no input called '_x'");
  CHECK(problems_of(Potrf{}, {{"_xin", "N, N"}}, {{"_xout", "N, N"}}) ==
        "connector-missing: library node Potrf has no output '_res'");
}

TEST_CASE("matrix products fit together") {
  CHECK(problems_of(Gemm{}, {{"_a", "N, K"}, {"_b", "K, M"}}, {{"_c", "N, M"}}) == "");
  CHECK(problems_of(Gemm{true, true, 1.0, 1.0}, {{"_a", "K, N"}, {"_b", "M, K"}, {"_cin", "N, M"}}, {{"_c", "N, M"}}) ==
        "");
  CHECK(problems_of(Gemm{}, {{"_a", "3, 5"}, {"_b", "4, 2"}}, {{"_c", "3, 2"}}) ==
        "library-shape: library node Gemm has columns of '_a' of 5, but rows of '_b' of 4");
  CHECK(problems_of(Gemm{}, {{"_a", "N, K"}, {"_b", "K + 1, M"}}, {{"_c", "N, M"}}) ==
        "library-shape: library node Gemm has columns of '_a' of K, but rows of '_b' of K + 1");
  CHECK(problems_of(Gemm{}, {{"_a", "2, N, K", ScalarType::kFloat64, "1, 0:N, 0:K"}, {"_b", "K, M"}},
                    {{"_c", "N, M"}}) == "");
  CHECK(problems_of(Gemm{}, {{"_a", "K"}, {"_b", "K, M"}}, {{"_c", "M"}}) ==
        "library-shape: library node Gemm needs 2 dimensions at '_a', but its memlet has the shape [K]\n"
        "library-shape: library node Gemm needs 2 dimensions at '_c', but its memlet has the shape [M]");
  CHECK(problems_of(Gemm{}, {{"_a", "N, K"}, {"_b", "K, M", kFloat}}, {{"_c", "N, M"}}) ==
        "library-types: library node Gemm needs one element type, but '_a' has float64 and '_b' has float32");
  CHECK(problems_of(BatchedMatMul{}, {{"_a", "L, N, K"}, {"_b", "K, M"}}, {{"_c", "L, N, M"}}) == "");
  CHECK(problems_of(BatchedMatMul{}, {{"_a", "L, N, K"}, {"_b", "L + 1, K, M"}}, {{"_c", "L, N, M"}}) ==
        "library-shape: library node BatchedMatMul has a batch in '_b' of L + 1, but a batch in '_c' of L");
}

TEST_CASE("matmul broadcasts like NumPy") {
  CHECK(problems_of(MatMul{}, {{"_a", "N, K"}, {"_b", "K, M"}}, {{"_c", "N, M"}}) == "");
  CHECK(problems_of(MatMul{}, {{"_a", "K"}, {"_b", "K, M"}}, {{"_c", "M"}}) == "");
  CHECK(problems_of(MatMul{}, {{"_a", "K"}, {"_b", "K"}}, {{"_c", "1"}}) == "");
  CHECK(problems_of(MatMul{}, {{"_a", "L, 1, N, K"}, {"_b", "5, K, M"}}, {{"_c", "L, 5, N, M"}}) == "");
  CHECK(problems_of(MatMul{}, {{"_a", "N, K"}, {"_b", "K, 3"}}, {{"_c", "N, 4"}}) == "");  // N may be 0
  CHECK(problems_of(MatMul{}, {{"_a", "2, K"}, {"_b", "K, 3"}}, {{"_c", "2, 4"}}) ==
        "library-shape: library node MatMul gives the shape [2, 3], but '_c' has [2, 4]");
  CHECK(problems_of(MatMul{}, {{"_a", "2, 7"}, {"_b", "6, 3"}}, {{"_c", "2, 3"}}) ==
        "library-shape: library node MatMul has columns of '_a' of 7, but rows of '_b' of 6");
}

TEST_CASE("vectors fit their matrices") {
  CHECK(problems_of(Gemv{}, {{"_A", "N, M"}, {"_x", "M"}}, {{"_y", "N"}}) == "");
  CHECK(problems_of(Gemv{true, 1.0, 1.0}, {{"_A", "N, M"}, {"_x", "N"}, {"_y", "M"}}, {{"_y", "M"}}) == "");
  CHECK(problems_of(Gemv{}, {{"_A", "4, 3"}, {"_x", "4"}}, {{"_y", "4"}}) ==
        "library-shape: library node Gemv has columns of '_A' of 3, but an extent of '_x' of 4");
  CHECK(problems_of(Ger{}, {{"_x", "3"}, {"_y", "4"}, {"_A", "4, 3"}}, {{"_res", "4, 3"}}) ==
        "library-shape: library node Ger has rows of '_A' of 4, but an extent of '_x' of 3\n"
        "library-shape: library node Ger has columns of '_A' of 3, but an extent of '_y' of 4");
  CHECK(problems_of(Dot{}, {{"_x", "N"}, {"_y", "N + 1"}}, {{"_result", "1"}}) ==
        "library-shape: library node Dot moves N elements of '_x' into N + 1 of '_y'");
  CHECK(problems_of(Dot{}, {{"_x", "N"}, {"_y", "N"}}, {{"_result", "N"}}) ==
        "library-shape: library node Dot needs 0 dimensions at '_result', but its memlet has the shape [N]");
  CHECK(problems_of(Axpy{}, {{"_x", "3"}, {"_y", "3"}}, {{"_res", "4"}}) ==
        "library-shape: library node Axpy moves 3 elements of '_x' into 4 of '_res'");
  CHECK(problems_of(Syrk{}, {{"_a", "N, K"}}, {{"_c", "N, N + 1"}}) ==
        "library-shape: library node Syrk has rows of '_c' of N, but columns of N + 1");
}

TEST_CASE("an equation names every extent once") {
  const Einsum e{"ij,jk->ik", 1.0, 0.0};
  CHECK(problems_of(e, {{"a", "N, K"}, {"b", "K, M"}}, {{"c", "N, M"}}) == "");
  CHECK(problems_of(e, {{"a", "3, 4"}, {"b", "5, 6"}}, {{"c", "3, 6"}}) ==
        "library-shape: library node Einsum has index j in 'a' of 4, but index j in 'b' of 5");
  CHECK(problems_of(e, {{"a", "N, K"}}, {{"c", "N, M"}}) ==
        "library-shape: library node Einsum has the equation 'ij,jk->ik' of 2 operands, but 1 inputs and 1 outputs");
  CHECK(problems_of(Einsum{"ij->k", 1.0, 0.0}, {{"a", "N, K"}}, {{"c", "N"}}) ==
        "library-shape: library node Einsum has the equation 'ij->k', whose result uses the unknown index k");
  CHECK(problems_of(Einsum{"i...", 1.0, 0.0}, {{"a", "N"}}, {{"c", "N"}}) ==
        "library-shape: library node Einsum has the equation 'i...', which is not of the form 'ij,jk->ik'");
}

TEST_CASE("reductions drop their axes") {
  Reduce all;
  all.op = ReduceOp::kSum;
  CHECK(problems_of(all, {{"_in", "N, M"}}, {{"_out", "1"}}) == "");
  CHECK(problems_of(all, {{"_in", "3, 4"}}, {{"_out", "3"}}) ==
        "library-shape: library node Reduce reduces '_in' of shape [3, 4] to [], but '_out' has [3]");
  Reduce one = all;
  one.axes = {-1};
  CHECK(problems_of(one, {{"_in", "N, M"}}, {{"_out", "N"}}) == "");
  one.axes = {2};
  CHECK(problems_of(one, {{"_in", "N, M"}}, {{"_out", "N"}}) ==
        "library-shape: library node Reduce has axis 2, but '_in' has 2 dimensions");
  one.axes = {0, -2};
  CHECK(problems_of(one, {{"_in", "N, M"}}, {{"_out", "N"}}) ==
        "library-shape: library node Reduce names axis -2 twice");
  Reduce bits = all;
  bits.op = ReduceOp::kBitXor;
  CHECK(problems_of(bits, {{"_in", "N"}}, {{"_out", "1"}}) ==
        "library-types: library node Reduce can't form the bitwise xor of float64 elements");
  Reduce custom = all;
  custom.op = ReduceOp::kCustom;
  custom.custom = tasklet::parse_expression("a + zz");
  CHECK(problems_of(custom, {{"_in", "N"}}, {{"_out", "1"}}) ==
        "wcr-target: library node Reduce has a custom operation that uses 'zz'");
}

TEST_CASE("copies, transpositions and tensors keep their elements") {
  CHECK(problems_of(Copy{}, {{"_in", "3, 4"}}, {{"_out", "12"}}) == "");
  CHECK(problems_of(Copy{}, {{"_in", "3, 4"}}, {{"_out", "11"}}) ==
        "library-shape: library node Copy moves 12 elements of '_in' into 11 of '_out'");
  CHECK(problems_of(Copy{}, {{"_in", "N"}}, {{"_out", "N", kFloat}}) ==
        "library-types: library node Copy needs one element type, but '_in' has float64 and '_out' has float32");
  CHECK(problems_of(Transpose{}, {{"_inp", "N, M"}}, {{"_out", "M, N"}}) == "");
  CHECK(problems_of(Transpose{}, {{"_inp", "3, 4"}}, {{"_out", "3, 4"}}) ==
        "library-shape: library node Transpose has rows of '_inp' of 3, but columns of '_out' of 4\n"
        "library-shape: library node Transpose has columns of '_inp' of 4, but rows of '_out' of 3");
  CHECK(problems_of(TensorTranspose{{2, 0, 1}, 1.0, 0.0}, {{"_inp_tensor", "2, 3, 4"}}, {{"_out_tensor", "4, 2, 3"}}) ==
        "");
  CHECK(problems_of(TensorTranspose{{2, 0, 1}, 1.0, 0.0}, {{"_inp_tensor", "2, 3, 4"}}, {{"_out_tensor", "4, 3, 2"}}) ==
        "library-shape: library node TensorTranspose has extent 0 of '_inp_tensor' of 2, but extent 1 of '_out_tensor' "
        "of 3\n"
        "library-shape: library node TensorTranspose has extent 1 of '_inp_tensor' of 3, but extent 2 of '_out_tensor' "
        "of 2");
  CHECK(problems_of(TensorDot{{1}, {0}, {}}, {{"_left_tensor", "2, 3"}, {"_right_tensor", "3, 5"}},
                    {{"_out_tensor", "2, 5"}}) == "");
  CHECK(problems_of(TensorDot{{1}, {1}, {}}, {{"_left_tensor", "2, 3"}, {"_right_tensor", "3, 5"}},
                    {{"_out_tensor", "2, 3"}}) ==
        "library-shape: library node TensorDot has extent 1 of '_left_tensor' of 3, but extent 1 of '_right_tensor' of "
        "5");
  CHECK(problems_of(TensorDot{{1}, {}, {}}, {{"_left_tensor", "2, 3"}, {"_right_tensor", "3, 5"}},
                    {{"_out_tensor", "2, 3"}}) ==
        "library-shape: library node TensorDot contracts 1 axes of '_left_tensor' with 0 of '_right_tensor'");
}

TEST_CASE("solvers take square matrices of LAPACK's types") {
  CHECK(problems_of(Cholesky{}, {{"_a", "N, N"}}, {{"_b", "N, N"}}) == "");
  CHECK(problems_of(Cholesky{}, {{"_a", "N, N", kInt}}, {{"_b", "N, N", kInt}}) ==
        "library-types: library node Cholesky needs float32, float64 or complex elements at '_a', but they have type "
        "int32");
  CHECK(problems_of(Cholesky{}, {{"_a", "3, 4"}}, {{"_b", "3, 4"}}) ==
        "library-shape: library node Cholesky has rows of '_a' of 3, but columns of 4");
  CHECK(problems_of(Potrf{}, {{"_xin", "N, N"}}, {{"_xout", "N, N"}, {"_res", "1"}}) ==
        "library-types: library node Potrf needs integers at '_res', but its elements have type float64");
  CHECK(problems_of(Getrf{}, {{"_xin", "3, 3"}}, {{"_xout", "3, 3"}, {"_ipiv", "4", kInt}, {"_res", "1", kInt}}) ==
        "library-shape: library node Getrf has rows of '_xin' of 3, but an extent of '_ipiv' of 4");
  CHECK(problems_of(Getrs{}, {{"_a", "3, 3"}, {"_ipiv", "3", kInt}, {"_rhs_in", "4, 2"}},
                    {{"_rhs_out", "4, 2"}, {"_res", "1", kInt}}) ==
        "library-shape: library node Getrs has rows of '_a' of 3, but rows of '_rhs_in' of 4");
  CHECK(problems_of(Solve{}, {{"_ain", "N, N"}, {"_bin", "N"}}, {{"_bout", "N"}}) == "");
  CHECK(problems_of(Solve{}, {{"_ain", "3, 3"}, {"_bin", "3, 2"}}, {{"_bout", "3, 1"}}) ==
        "library-shape: library node Solve needs equal shapes, but '_bin' has [3, 2] and '_bout' has [3, 1]");
  CHECK(problems_of(Inv{}, {{"_ain", "N, N"}}, {{"_aout", "N, N"}}) == "");
}

TEST_CASE("transforms, sparse products, scans and extrema") {
  CHECK(problems_of(Fft{}, {{"_inp", "N", kComplex}}, {{"_out", "N", kComplex}}) == "");
  CHECK(problems_of(Fft{}, {{"_inp", "N"}}, {{"_out", "N"}}) ==
        "library-types: library node FFT needs complex elements at '_out', but they have type float64");
  CHECK(problems_of(Csrmv{}, {{"_a_rows", "N + 1", kInt}, {"_a_cols", "K", kInt}, {"_a_vals", "K"}, {"_b", "M"}},
                    {{"_c", "N"}}) == "");
  CHECK(
      problems_of(Csrmv{}, {{"_a_rows", "N"}, {"_a_cols", "K", kInt}, {"_a_vals", "K"}, {"_b", "M"}}, {{"_c", "N"}}) ==
      "library-types: library node CSRMV needs integers at '_a_rows', but its elements have type float64\n"
      "library-shape: library node CSRMV has rows of the matrix of N - 1, but an extent of '_c' of N");
  CHECK(problems_of(Csrmm{}, {{"_a_rows", "N + 1", kInt}, {"_a_cols", "K", kInt}, {"_a_vals", "K"}, {"_b", "M, 3"}},
                    {{"_c", "N, 4"}}) ==
        "library-shape: library node CSRMM has columns of '_b' of 3, but columns of '_c' of 4");
  CHECK(problems_of(Scan{ReduceOp::kSum, false, 1}, {{"_in", "N"}}, {{"_out", "N"}}) ==
        "library-shape: library node Scan has axis 1, but '_in' has 1 dimensions");
  CHECK(problems_of(Scan{ReduceOp::kMax, false, 0}, {{"_in", "N", kComplex}}, {{"_out", "N", kComplex}}) ==
        "library-types: library node Scan can't form the max of complex128 elements");
  CHECK(problems_of(ArgReduce{true, 0}, {{"_in", "N, M"}}, {{"_idx", "M", kInt}, {"_value", "M"}}) == "");
  CHECK(problems_of(ArgReduce{false, {}}, {{"_in", "N, M"}}, {{"_idx", "1"}}) ==
        "library-types: library node ArgMin needs integers at '_idx', but its elements have type float64");
}

}  // namespace test_library_rules
