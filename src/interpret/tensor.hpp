// Operands of library nodes: the elements of a memlet's subset with its extents, read into and written from plain
// vectors of numbers.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "interpret/plan.hpp"
#include "interpret/storage.hpp"

namespace sdfg::interpret {

// Library nodes compute in one of three kinds of number: integers modulo 2^64, double, or complex double. Results are
// then converted to the element type, so integers wrap and narrow floats round once.
using Integer = std::uint64_t;
using Complex = std::complex<double>;

enum class NumberKind : std::uint8_t { kInteger, kReal, kComplex };
NumberKind number_kind(ScalarType type);

template <typename T>
T number_of(const tasklet::Value& v) {
  if constexpr (std::is_same_v<T, Integer>)
    return static_cast<Integer>(v.as_int());
  else if constexpr (std::is_same_v<T, double>)
    return v.as_double();
  else
    return v.as_complex();
}
template <typename T>
T number_of(Complex v) {
  if constexpr (std::is_same_v<T, Integer>)
    return static_cast<Integer>(static_cast<std::int64_t>(v.real()));
  else if constexpr (std::is_same_v<T, double>)
    return v.real();
  else
    return v;
}
template <typename T>
tasklet::Value value_of(T v) {
  if constexpr (std::is_same_v<T, Integer>)
    return tasklet::Value::integer(static_cast<std::int64_t>(v));
  else if constexpr (std::is_same_v<T, double>)
    return tasklet::Value::floating(v);
  else
    return tasklet::Value::complex(v);
}

std::int64_t product(const std::vector<std::int64_t>& extents);

class Tensor {
 public:
  Tensor(const plan::LibraryStep::Operand& operand, Frame& frame);

  const std::string& connector() const { return operand_->connector; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::size_t rank() const { return shape_.size(); }
  std::int64_t size() const { return static_cast<std::int64_t>(elements_.size()); }
  ScalarType type() const { return type_; }

  tasklet::Value get(std::int64_t k) const;               // k-th element, row-major
  void set(std::int64_t k, const tasklet::Value& value);  // through the memlet's WCR, if it has one
  void set_plain(std::int64_t k, const tasklet::Value& value);

  template <typename T>
  std::vector<T> read() const {
    std::vector<T> out;
    out.reserve(elements_.size());
    for (std::int64_t k = 0; k < size(); ++k) out.push_back(number_of<T>(get(k)));
    return out;
  }
  template <typename T>
  void write(const std::vector<T>& values) {
    for (std::int64_t k = 0; k < size(); ++k) set(k, value_of(values[static_cast<std::size_t>(k)]));
  }

  // Drops dimensions until `rank` are left: those that are single indices first, outermost first, then others of extent
  // one. Throws Error(kGraph) when that can't be.
  void fit(std::size_t rank);
  // Drops all dimensions that are single indices.
  void squeeze();
  // Sees the elements as another shape of the same size.
  void reshape(std::vector<std::int64_t> shape);
  std::string text() const;  // "_a [3, 4]"

 private:
  const plan::LibraryStep::Operand* operand_;
  Frame* frame_;
  const Live* container_;
  const std::string* path_;
  ScalarType type_;
  std::vector<std::int64_t> shape_;
  std::vector<bool> index_;  // per dimension: a single index
  std::vector<std::byte*> elements_;
};

// Operands of a node by connector.
class Operands {
 public:
  Operands(const plan::LibraryStep& step, Frame& frame) : step_(step), frame_(frame) {}

  Tensor in(std::string_view connector) const { return find(step_.inputs, connector, "input"); }
  Tensor out(std::string_view connector) const { return find(step_.outputs, connector, "output"); }
  bool has_in(std::string_view connector) const;
  bool has_out(std::string_view connector) const;
  Tensor only_in() const;  // of nodes with one input, whatever its connector is called
  Tensor only_out() const;
  Tensor in_at(std::size_t k) const { return {step_.inputs.at(k), frame_}; }
  std::size_t num_inputs() const { return step_.inputs.size(); }
  const plan::LibraryStep& step() const { return step_; }
  Frame& frame() const { return frame_; }

 private:
  Tensor find(const std::vector<plan::LibraryStep::Operand>& all, std::string_view connector,
              std::string_view side) const;

  const plan::LibraryStep& step_;
  Frame& frame_;
};

[[noreturn]] void fail_shape(const Operands& operands, const std::string& message);

// Calls f with a value of the number type that holds the elements of all given types.
template <typename F>
void with_number(std::initializer_list<ScalarType> types, F&& f) {
  NumberKind kind = NumberKind::kInteger;
  for (ScalarType t : types) kind = std::max(kind, number_kind(t));
  if (kind == NumberKind::kInteger)
    f(Integer{});
  else if (kind == NumberKind::kReal)
    f(double{});
  else
    f(Complex{});
}
// The same without integers: for factorisations and transforms.
template <typename F>
void with_field(std::initializer_list<ScalarType> types, F&& f) {
  NumberKind kind = NumberKind::kReal;
  for (ScalarType t : types) kind = std::max(kind, number_kind(t));
  if (kind == NumberKind::kReal)
    f(double{});
  else
    f(Complex{});
}

// One function per family; library.cpp dispatches.
void run_op(const ir::MatMul& op, const Operands& operands);
void run_op(const ir::Gemm& op, const Operands& operands);
void run_op(const ir::BatchedMatMul& op, const Operands& operands);
void run_op(const ir::Gemv& op, const Operands& operands);
void run_op(const ir::Ger& op, const Operands& operands);
void run_op(const ir::Dot& op, const Operands& operands);
void run_op(const ir::Axpy& op, const Operands& operands);
void run_op(const ir::Syrk& op, const Operands& operands);
void run_op(const ir::Einsum& op, const Operands& operands);
void run_op(const ir::TensorDot& op, const Operands& operands);
void run_op(const ir::Csrmv& op, const Operands& operands);
void run_op(const ir::Csrmm& op, const Operands& operands);
void run_op(const ir::Cholesky& op, const Operands& operands);
void run_op(const ir::Potrf& op, const Operands& operands);
void run_op(const ir::Getrf& op, const Operands& operands);
void run_op(const ir::Getrs& op, const Operands& operands);
void run_op(const ir::Solve& op, const Operands& operands);
void run_op(const ir::Inv& op, const Operands& operands);
void run_op(const ir::Reduce& op, const Operands& operands);
void run_op(const ir::Copy& op, const Operands& operands);
void run_op(const ir::Fill& op, const Operands& operands);
void run_op(const ir::Transpose& op, const Operands& operands);
void run_op(const ir::TensorTranspose& op, const Operands& operands);
void run_op(const ir::Fft& op, const Operands& operands);
void run_op(const ir::Scan& op, const Operands& operands);
void run_op(const ir::ArgReduce& op, const Operands& operands);
void run_op(const ir::UnknownLibrary& op, const Operands& operands);

}  // namespace sdfg::interpret
