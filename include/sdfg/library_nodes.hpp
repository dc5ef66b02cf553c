/// Library operations for states, with the names of their connectors (`inputs -> outputs`).
#pragma once

#include <complex>
#include <optional>
#include <sdfg/expressions.hpp>
#include <sdfg/schedule.hpp>
#include <string>
#include <variant>
#include <vector>

namespace sdfg::nodes {

/// A number for the fields of operations; takes the element type of the operation's container.
struct Number {
  template <typename X>
    requires requires { ScalarTypeOf<X>::value; }
  Number(const X& x) : value(detail::Operand<X>::value(x)) {}  // NOLINT(google-explicit-constructor)
  detail::Constant value;
};

struct MatMul {};  ///< _a, _b -> _c; NumPy's matmul
struct Gemm {      ///< _a, _b [, _cin] -> _c; c = alpha op(a) op(b) + beta cin
  bool trans_a = false, trans_b = false;
  std::complex<double> alpha = 1.0, beta = 0.0;
};
struct BatchedMatMul {  ///< _a, _b -> _c
  bool trans_a = false, trans_b = false;
  std::complex<double> alpha = 1.0, beta = 0.0;
};
struct Gemv {  ///< _A, _x [, _y] -> _y
  bool trans_a = false;
  std::complex<double> alpha = 1.0, beta = 0.0;
};
struct Ger {
  std::complex<double> alpha = 1.0;
};  ///< _x, _y, _A -> _res
struct Dot {};  ///< _x, _y -> _result
struct Axpy {
  std::complex<double> a = 1.0;
};  ///< _x, _y -> _res
struct Syrk {
  bool trans = false, lower = true;
  std::complex<double> alpha = 1.0, beta = 0.0;
};
struct Einsum {
  std::string equation;
  std::complex<double> alpha = 1.0, beta = 0.0;
};
struct Reduce {  ///< _in -> _out; no axes: all; no identity: onto what _out holds
  sdfg::Reduce op = sdfg::Reduce::sum;
  std::vector<int> axes;
  std::optional<Number> identity;
};
struct Copy {};  ///< _in -> _out
struct Fill {    ///< -> _out
  ScalarType type = ScalarType::kFloat64;
  Number value = 0;
};
struct Transpose {};  ///< _inp -> _out
struct TensorTranspose {
  std::vector<int> axes;
  std::complex<double> alpha = 1.0, beta = 0.0;
};
struct TensorDot {
  std::vector<int> left_axes, right_axes, permutation;
};
struct Cholesky {
  bool lower = true;
};  ///< _a -> _b
struct Potrf {
  bool lower = true;
};  ///< _xin -> _xout, _res
struct Getrf {};  ///< _xin -> _xout, _ipiv, _res
struct Getrs {};  ///< _a, _ipiv, _rhs_in -> _rhs_out, _res
struct Solve {};  ///< _ain, _bin -> _bout
struct Inv {
  bool overwrite_a = false;
};  ///< _ain -> _aout
struct Fft {  ///< _inp -> _out
  bool inverse = false;
  bool scale_by_length = false;
};
struct Csrmv {  ///< _a_rows, _a_cols, _a_vals, _b [, _cin] -> _c
  std::complex<double> alpha = 1.0, beta = 0.0;
  bool trans = false;
};
struct Csrmm {
  std::complex<double> alpha = 1.0, beta = 0.0;
  bool trans_a = false, trans_b = false;
};
struct Scan {
  sdfg::Reduce op = sdfg::Reduce::sum;
  bool exclusive = false;
  int axis = 0;
};
struct ArgReduce {  ///< _in -> _idx [, _value]
  bool maximum = true;
  std::optional<int> axis;
};

using Any = std::variant<MatMul, Gemm, BatchedMatMul, Gemv, Ger, Dot, Axpy, Syrk, Einsum, Reduce, Copy, Fill, Transpose,
                         TensorTranspose, TensorDot, Cholesky, Potrf, Getrf, Getrs, Solve, Inv, Fft, Csrmv, Csrmm, Scan,
                         ArgReduce>;

}  // namespace sdfg::nodes
