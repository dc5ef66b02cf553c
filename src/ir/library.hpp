// Library nodes: named operations on whole containers. Their properties, connectors and rules; expansions live in
// `library`.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "symbolic/expr.hpp"
#include "tasklet/value.hpp"

namespace sdfg::ir {

enum class ReduceOp : std::uint8_t;

// Scalars alpha and beta are complex so that one kind serves all element types.
struct MatMul {};  // _a, _b -> _c: NumPy's matmul with broadcasting of leading dimensions
struct Gemm {
  bool trans_a = false, trans_b = false;
  std::complex<double> alpha = 1.0, beta = 0.0;
};  // _a, _b [, _cin] -> _c
struct BatchedMatMul {
  bool trans_a = false, trans_b = false;
  std::complex<double> alpha = 1.0, beta = 0.0;
};
struct Gemv {
  bool trans_a = false;
  std::complex<double> alpha = 1.0, beta = 0.0;
};  // _A, _x [, _y] -> _y
struct Ger {
  std::complex<double> alpha = 1.0;
};  // _x, _y, _A -> _res
struct Dot {};  // _x, _y -> _result
struct Axpy {
  std::complex<double> a = 1.0;
};  // _x, _y -> _res
struct Syrk {
  bool trans = false, lower = true;
  std::complex<double> alpha = 1.0, beta = 0.0;
};
struct Einsum {
  std::string equation;
  std::complex<double> alpha = 1.0, beta = 0.0;
};
struct Reduce {  // _in -> _out
  ReduceOp op;
  tasklet::Expr custom;                    // ReduceOp::kCustom
  std::vector<int> axes;                   // empty: all
  std::optional<tasklet::Value> identity;  // nothing: accumulate onto what _out holds
};
struct Copy {};  // _in -> _out, equal element counts
struct Fill {
  tasklet::Value value;
};  // -> _out
struct Transpose {};  // _inp -> _out
struct TensorTranspose {
  std::vector<int> axes;
  std::complex<double> alpha = 1.0, beta = 0.0;
};
struct TensorDot {
  std::vector<int> left_axes, right_axes, permutation;
};
struct Cholesky {
  bool lower = true;
};  // _a -> _b
struct Potrf {
  bool lower = true;
};  // _xin -> _xout, _res
struct Getrf {};  // _xin -> _xout, _ipiv, _res
struct Getrs {};  // _a, _ipiv, _rhs_in -> _rhs_out, _res
struct Solve {};  // _ain, _bin -> _bout
struct Inv {
  bool overwrite_a = false;
};  // _ain -> _aout
struct Fft {
  bool inverse = false;
  symbolic::Expr factor = 1;
  bool scale_by_length = false;
};  // _inp -> _out
struct Csrmv {
  std::complex<double> alpha = 1.0, beta = 0.0;
  bool trans = false;
};  // _a_rows, _a_cols, _a_vals, _b [, _cin] -> _c
struct Csrmm {
  std::complex<double> alpha = 1.0, beta = 0.0;
  bool trans_a = false, trans_b = false;
};
struct Scan {
  ReduceOp op;
  bool exclusive = false;
  int axis = 0;
};
struct ArgReduce {
  bool maximum = true;
  std::optional<int> axis;
};  // _in -> _idx [, _value]
// A node of a file whose class is not known: kept and written back as it came; never executed.
struct UnknownLibrary {
  std::string class_path;
  std::string json;
};

using LibraryOp = std::variant<MatMul, Gemm, BatchedMatMul, Gemv, Ger, Dot, Axpy, Syrk, Einsum, Reduce, Copy, Fill,
                               Transpose, TensorTranspose, TensorDot, Cholesky, Potrf, Getrf, Getrs, Solve, Inv, Fft,
                               Csrmv, Csrmm, Scan, ArgReduce, UnknownLibrary>;

struct Library {
  LibraryOp op;
  std::vector<std::string> inputs;  // connectors that have an edge
  std::vector<std::string> outputs;
  std::string implementation;  // expansion asked for by name; empty: the library room chooses
};

// The operation's name as shown to users: "Gemm", "Reduce", ...
std::string_view name_of(const LibraryOp& op) noexcept;

// Does the operation use what the container at this output holds before? (a Reduce without identity, a Gemm with beta
// but no `_cin`)
bool reads_output(const Library& node, std::string_view connector) noexcept;

}  // namespace sdfg::ir
