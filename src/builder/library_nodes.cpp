// The graph's library operations from the public ones, field by field.
#include "builder/library_nodes.hpp"

#include "builder/impl.hpp"
#include "tasklet/value.hpp"

namespace sdfg::detail {

namespace {

using tasklet::Value;

// In the number's own type; the operation converts it to its container's.
Value value_of(const nodes::Number& n) {
  const Constant& c = n.value;
  switch (c.kind) {
    case Constant::Kind::kBool: return Value::boolean(c.integer != 0);
    case Constant::Kind::kReal: return Value::floating(c.real, c.type);
    case Constant::Kind::kComplex: return Value::complex({c.real, c.imag}, c.type);
    case Constant::Kind::kSigned:
    case Constant::Kind::kUnsigned: break;
  }
  if (is_floating_type(c.type)) {  // half precision arrives as its bits
    const auto bits = static_cast<std::uint16_t>(c.integer);
    return Value::load(&bits, c.type);
  }
  return Value::integer(c.integer, c.type);
}

struct Translate {
  ir::LibraryOp operator()(const nodes::MatMul&) const { return ir::MatMul{}; }
  ir::LibraryOp operator()(const nodes::Gemm& o) const { return ir::Gemm{o.trans_a, o.trans_b, o.alpha, o.beta}; }
  ir::LibraryOp operator()(const nodes::BatchedMatMul& o) const {
    return ir::BatchedMatMul{o.trans_a, o.trans_b, o.alpha, o.beta};
  }
  ir::LibraryOp operator()(const nodes::Gemv& o) const { return ir::Gemv{o.trans_a, o.alpha, o.beta}; }
  ir::LibraryOp operator()(const nodes::Ger& o) const { return ir::Ger{o.alpha}; }
  ir::LibraryOp operator()(const nodes::Dot&) const { return ir::Dot{}; }
  ir::LibraryOp operator()(const nodes::Axpy& o) const { return ir::Axpy{o.a}; }
  ir::LibraryOp operator()(const nodes::Syrk& o) const { return ir::Syrk{o.trans, o.lower, o.alpha, o.beta}; }
  ir::LibraryOp operator()(const nodes::Einsum& o) const { return ir::Einsum{o.equation, o.alpha, o.beta}; }
  ir::LibraryOp operator()(const nodes::Reduce& o) const {
    ir::Reduce r{reduce_op(o.op), {}, o.axes, {}};
    if (o.identity) r.identity = value_of(*o.identity);
    return r;
  }
  ir::LibraryOp operator()(const nodes::Copy&) const { return ir::Copy{}; }
  ir::LibraryOp operator()(const nodes::Fill& o) const { return ir::Fill{value_of(o.value).cast(o.type)}; }
  ir::LibraryOp operator()(const nodes::Transpose&) const { return ir::Transpose{}; }
  ir::LibraryOp operator()(const nodes::TensorTranspose& o) const {
    return ir::TensorTranspose{o.axes, o.alpha, o.beta};
  }
  ir::LibraryOp operator()(const nodes::TensorDot& o) const {
    return ir::TensorDot{o.left_axes, o.right_axes, o.permutation};
  }
  ir::LibraryOp operator()(const nodes::Cholesky& o) const { return ir::Cholesky{o.lower}; }
  ir::LibraryOp operator()(const nodes::Potrf& o) const { return ir::Potrf{o.lower}; }
  ir::LibraryOp operator()(const nodes::Getrf&) const { return ir::Getrf{}; }
  ir::LibraryOp operator()(const nodes::Getrs&) const { return ir::Getrs{}; }
  ir::LibraryOp operator()(const nodes::Solve&) const { return ir::Solve{}; }
  ir::LibraryOp operator()(const nodes::Inv& o) const { return ir::Inv{o.overwrite_a}; }
  ir::LibraryOp operator()(const nodes::Fft& o) const { return ir::Fft{o.inverse, 1, o.scale_by_length}; }
  ir::LibraryOp operator()(const nodes::Csrmv& o) const { return ir::Csrmv{o.alpha, o.beta, o.trans}; }
  ir::LibraryOp operator()(const nodes::Csrmm& o) const { return ir::Csrmm{o.alpha, o.beta, o.trans_a, o.trans_b}; }
  ir::LibraryOp operator()(const nodes::Scan& o) const { return ir::Scan{reduce_op(o.op), o.exclusive, o.axis}; }
  ir::LibraryOp operator()(const nodes::ArgReduce& o) const { return ir::ArgReduce{o.maximum, o.axis}; }
};

}  // namespace

ir::LibraryOp library_op(const nodes::Any& operation) {
  return std::visit(Translate{}, operation);
}

}  // namespace sdfg::detail
