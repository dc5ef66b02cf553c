// Operands of library nodes, and the nodes that move, fold or permute elements: Reduce, Scan, ArgReduce, Copy, Fill,
// transposes, FFT.
#include "interpret/library.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "interpret/tensor.hpp"
#include "ir/reduce.hpp"

namespace sdfg::interpret {

using tasklet::Value;

NumberKind number_kind(ScalarType type) {
  if (is_complex(type)) return NumberKind::kComplex;
  return is_floating(type) ? NumberKind::kReal : NumberKind::kInteger;
}

std::int64_t product(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

Tensor::Tensor(const plan::LibraryStep::Operand& operand, Frame& frame)
    : operand_(&operand),
      frame_(&frame),
      container_(&frame.existing(operand.region.container)),
      path_(&frame.slots->containers[static_cast<std::size_t>(operand.region.container)].path),
      type_(element_scalar(*container_, *path_)),
      elements_(elements_of(operand.region, frame)) {
  std::vector<std::int64_t> tiles;
  for (const RangePlan& r : operand.region.ranges) {
    const EvaluatedRange range = evaluate(r, frame);
    shape_.push_back(range.count);
    index_.push_back(r.index);
    tiles.push_back(range.tile);
  }
  if (std::all_of(tiles.begin(), tiles.end(), [](std::int64_t t) { return t == 1; })) return;
  shape_.insert(shape_.end(), tiles.begin(), tiles.end());
  index_.resize(shape_.size(), false);
}

Value Tensor::get(std::int64_t k) const {
  return load_element(*container_, *path_, elements_[static_cast<std::size_t>(k)]);
}

void Tensor::set(std::int64_t k, const Value& value) {
  write_element(*container_, *path_, elements_[static_cast<std::size_t>(k)], value,
                operand_->wcr ? &*operand_->wcr : nullptr, *frame_);
}

void Tensor::set_plain(std::int64_t k, const Value& value) {
  write_element(*container_, *path_, elements_[static_cast<std::size_t>(k)], value, nullptr, *frame_);
}

void Tensor::fit(std::size_t rank) {
  const auto drop = [&](auto&& may_go) {
    for (std::size_t d = 0; d < shape_.size() && shape_.size() > rank;) {
      if (!may_go(d)) {
        ++d;
        continue;
      }
      shape_.erase(shape_.begin() + static_cast<std::ptrdiff_t>(d));
      index_.erase(index_.begin() + static_cast<std::ptrdiff_t>(d));
    }
  };
  drop([&](std::size_t d) { return index_[d]; });
  drop([&](std::size_t d) { return shape_[d] == 1; });
  if (shape_.size() != rank)
    throw Error(ErrorClass::kGraph,
                "operand " + text() + " of a library node must have " + std::to_string(rank) + " dimensions");
}

void Tensor::squeeze() {
  std::vector<std::int64_t> kept;
  for (std::size_t d = 0; d < shape_.size(); ++d)
    if (!index_[d]) kept.push_back(shape_[d]);
  reshape(kept);
}

void Tensor::reshape(std::vector<std::int64_t> shape) {
  shape_ = std::move(shape);
  index_.assign(shape_.size(), false);
}

std::string Tensor::text() const {
  std::string out = "'" + operand_->connector + "' [";
  for (std::size_t d = 0; d < shape_.size(); ++d) out += (d == 0 ? "" : ", ") + std::to_string(shape_[d]);
  return out + "]";
}

namespace {
bool has(const std::vector<plan::LibraryStep::Operand>& all, std::string_view connector) {
  return std::any_of(all.begin(), all.end(), [&](const auto& o) { return o.connector == connector; });
}
}  // namespace

bool Operands::has_in(std::string_view connector) const {
  return has(step_.inputs, connector);
}
bool Operands::has_out(std::string_view connector) const {
  return has(step_.outputs, connector);
}

Tensor Operands::find(const std::vector<plan::LibraryStep::Operand>& all, std::string_view connector,
                      std::string_view side) const {
  for (const auto& o : all)
    if (o.connector == connector) return {o, frame_};
  fail_shape(*this, "has no " + std::string(side) + " '" + std::string(connector) + "'");
}

Tensor Operands::only_in() const {
  if (step_.inputs.size() != 1)
    fail_shape(*this, "has " + std::to_string(step_.inputs.size()) + " inputs instead of one");
  return {step_.inputs.front(), frame_};
}

Tensor Operands::only_out() const {
  if (step_.outputs.size() != 1)
    fail_shape(*this, "has " + std::to_string(step_.outputs.size()) + " outputs instead of one");
  return {step_.outputs.front(), frame_};
}

void fail_shape(const Operands& operands, const std::string& message) {
  throw Error(ErrorClass::kGraph,
              "library node " + std::string(ir::name_of(operands.step().library->op)) + " " + message);
}

namespace {

// Strides of a packed row-major array.
std::vector<std::int64_t> packed_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> out(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) out[d - 1] = out[d] * shape[d];
  return out;
}

std::size_t axis_of(int axis, std::size_t rank, const Operands& operands) {
  const int wrapped = axis < 0 ? axis + static_cast<int>(rank) : axis;
  if (wrapped < 0 || wrapped >= static_cast<int>(rank))
    fail_shape(operands,
               "names axis " + std::to_string(axis) + " of an operand with " + std::to_string(rank) + " dimensions");
  return static_cast<std::size_t>(wrapped);
}

// An operand seen as [outer, axis, inner].
struct AxisView {
  std::int64_t outer = 1, length = 1, inner = 1;
  AxisView(const std::vector<std::int64_t>& shape, std::size_t axis) : length(shape[axis]) {
    for (std::size_t d = 0; d < axis; ++d) outer *= shape[d];
    for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  }
  std::int64_t at(std::int64_t o, std::int64_t k, std::int64_t i) const { return (o * length + k) * inner + i; }
};

Value start_of(ir::ReduceOp op, ScalarType type, const Operands& operands) {
  if (const auto identity = ir::identity_of(op, type)) return *identity;
  fail_shape(operands, "needs the identity of " + std::string(ir::to_string(op)) + " for " +
                           std::string(to_string(type)) + ", which has none");
}

}  // namespace

void run_op(const ir::Reduce& op, const Operands& operands) {
  const Tensor in = operands.only_in();
  Tensor out = operands.only_out();
  std::vector<bool> reduced(in.rank(), op.axes.empty());
  for (int axis : op.axes) reduced[axis_of(axis, in.rank(), operands)] = true;
  // The k-th element of the output stands for the k-th combination of the axes that stay.
  std::vector<std::int64_t> kept_shape, to_out(in.rank(), 0);
  for (std::size_t d = 0; d < in.rank(); ++d)
    if (!reduced[d]) kept_shape.push_back(in.shape()[d]);
  if (product(kept_shape) != out.size())
    fail_shape(operands, "gives " + std::to_string(product(kept_shape)) + " results, but its output " + out.text() +
                             " has " + std::to_string(out.size()) + " elements");
  const std::vector<std::int64_t> kept_strides = packed_strides(kept_shape);
  for (std::size_t d = 0, k = 0; d < in.rank(); ++d)
    if (!reduced[d]) to_out[d] = kept_strides[k++];
  if (op.identity)
    for (std::int64_t k = 0; k < out.size(); ++k) out.set_plain(k, *op.identity);
  const std::vector<std::int64_t> strides = packed_strides(in.shape());
  for (std::int64_t k = 0; k < in.size(); ++k) {
    std::int64_t target = 0;
    for (std::size_t d = 0; d < in.rank(); ++d) target += k / strides[d] % in.shape()[d] * to_out[d];
    out.set_plain(target, combine(*operands.step().reduce, out.get(target), in.get(k), operands.frame()));
  }
}

void run_op(const ir::Scan& op, const Operands& operands) {
  const Tensor in = operands.only_in();
  Tensor out = operands.only_out();
  if (in.size() != out.size())
    fail_shape(operands, "has input " + in.text() + " and output " + out.text() + " of different sizes");
  if (in.rank() == 0) fail_shape(operands, "needs an operand with at least one dimension");
  const AxisView view(in.shape(), axis_of(op.axis, in.rank(), operands));
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i) {
      Value sum = op.exclusive ? start_of(op.op, out.type(), operands) : Value();
      for (std::int64_t k = 0; k < view.length; ++k) {
        const Value item = in.get(view.at(o, k, i)).cast(out.type());
        if (op.exclusive) {
          out.set(view.at(o, k, i), sum);
          sum = combine(*operands.step().reduce, sum, item, operands.frame());
        } else {
          sum = k == 0 ? item : combine(*operands.step().reduce, sum, item, operands.frame());
          out.set(view.at(o, k, i), sum);
        }
      }
    }
}

// The first of several equal extremes counts; a NaN counts only where everything is NaN. Of no elements the position is
// 0, and the value too.
void run_op(const ir::ArgReduce& op, const Operands& operands) {
  Tensor in = operands.only_in();
  if (!op.axis) in.reshape({in.size()});
  const AxisView view(in.shape(), axis_of(op.axis.value_or(0), in.rank(), operands));
  Tensor index = operands.has_out("_idx") ? operands.out("_idx") : operands.only_out();
  if (index.size() != view.outer * view.inner)
    fail_shape(operands,
               "gives " + std::to_string(view.outer * view.inner) + " results, but its output is " + index.text());
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i) {
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < view.length; ++k) {
        const Value a = in.get(view.at(o, k, i)), b = in.get(view.at(o, best, i));
        const bool b_is_nan = is_floating(b.type()) && std::isnan(b.as_double());
        const auto better = tasklet::apply(op.maximum ? tasklet::BinaryOp::kGreater : tasklet::BinaryOp::kLess, a, b);
        if (better.as_bool() || (b_is_nan && !std::isnan(a.as_double()))) best = k;
      }
      index.set(o * view.inner + i, Value::integer(best));
      if (!operands.has_out("_value")) continue;
      Tensor value = operands.out("_value");
      value.set(o * view.inner + i,
                view.length == 0 ? Value::integer(0).cast(value.type()) : in.get(view.at(o, best, i)));
    }
}

void run_op(const ir::Copy&, const Operands& operands) {
  const Tensor in = operands.only_in();
  Tensor out = operands.only_out();
  if (in.size() != out.size())
    fail_shape(operands, "has input " + in.text() + " and output " + out.text() + " of different sizes");
  std::vector<Value> all;
  for (std::int64_t k = 0; k < in.size(); ++k) all.push_back(in.get(k));
  for (std::int64_t k = 0; k < in.size(); ++k) out.set(k, all[static_cast<std::size_t>(k)]);
}

void run_op(const ir::Fill& op, const Operands& operands) {
  Tensor out = operands.only_out();
  const Value value = operands.num_inputs() == 0 ? op.value : operands.only_in().get(0);
  for (std::int64_t k = 0; k < out.size(); ++k) out.set(k, value);
}

namespace {

// out = alpha * transpose(in, axes) + beta * out, as NumPy's transpose.
void transpose(const Tensor& in, Tensor& out, const std::vector<int>& axes, Complex alpha, Complex beta,
               const Operands& operands) {
  if (axes.size() != in.rank() || out.rank() != in.rank())
    fail_shape(operands,
               "permutes " + in.text() + " to " + out.text() + " by " + std::to_string(axes.size()) + " axes");
  const std::vector<std::int64_t> strides = packed_strides(in.shape());
  std::vector<std::int64_t> source_stride(in.rank());
  for (std::size_t d = 0; d < in.rank(); ++d) {
    const std::size_t from = axis_of(axes[d], in.rank(), operands);
    source_stride[d] = strides[from];
    if (out.shape()[d] != in.shape()[from])
      fail_shape(operands, "permutes " + in.text() + " to " + out.text() + ", whose extents don't match");
  }
  const std::vector<std::int64_t> out_strides = packed_strides(out.shape());
  std::vector<Value> result;
  for (std::int64_t k = 0; k < out.size(); ++k) {
    std::int64_t from = 0;
    for (std::size_t d = 0; d < out.rank(); ++d) from += k / out_strides[d] % out.shape()[d] * source_stride[d];
    Value v = in.get(from);
    if (alpha != 1.0 || beta != 0.0)
      with_number({in.type(), out.type()}, [&](auto zero) {
        using T = decltype(zero);
        T sum = number_of<T>(alpha) * number_of<T>(v);
        if (beta != 0.0) sum += number_of<T>(beta) * number_of<T>(out.get(k));
        v = value_of(sum);
      });
    result.push_back(v);
  }
  for (std::int64_t k = 0; k < out.size(); ++k) out.set(k, result[static_cast<std::size_t>(k)]);
}

}  // namespace

void run_op(const ir::Transpose&, const Operands& operands) {
  Tensor in = operands.only_in();
  Tensor out = operands.only_out();
  in.fit(2);
  out.fit(2);
  transpose(in, out, {1, 0}, 1.0, 0.0, operands);
}

void run_op(const ir::TensorTranspose& op, const Operands& operands) {
  Tensor in = operands.only_in();
  Tensor out = operands.only_out();
  in.fit(op.axes.size());
  out.fit(op.axes.size());
  transpose(in, out, op.axes, op.alpha, op.beta, operands);
}

// out[k] = factor * sum_n in[n] exp(-+ 2 pi i sum_d k_d n_d / N_d), by definition, over all dimensions.
void run_op(const ir::Fft& op, const Operands& operands) {
  Tensor in = operands.only_in();
  Tensor out = operands.only_out();
  in.squeeze();
  out.squeeze();
  if (in.shape() != out.shape())
    fail_shape(operands, "has input " + in.text() + " and output " + out.text() + " of different shapes");
  if (in.size() == 0) return;
  double scale = static_cast<double>(operands.step().factor(operands.frame()));
  if (op.scale_by_length) scale /= static_cast<double>(in.size());
  std::vector<Complex> data = in.read<Complex>();
  const double sign = op.inverse ? 1.0 : -1.0;
  for (std::size_t axis = 0; axis < in.rank(); ++axis) {
    const AxisView view(in.shape(), axis);
    std::vector<Complex> next(data.size());
    for (std::int64_t o = 0; o < view.outer; ++o)
      for (std::int64_t i = 0; i < view.inner; ++i)
        for (std::int64_t k = 0; k < view.length; ++k) {
          Complex sum = 0.0;
          for (std::int64_t n = 0; n < view.length; ++n) {
            const auto turn = static_cast<double>(static_cast<std::uint64_t>(k) * static_cast<std::uint64_t>(n) %
                                                  static_cast<std::uint64_t>(view.length));
            sum += data[static_cast<std::size_t>(view.at(o, n, i))] *
                   std::polar(1.0, sign * 2.0 * std::numbers::pi * turn / static_cast<double>(view.length));
          }
          next[static_cast<std::size_t>(view.at(o, k, i))] = sum;
        }
    data = std::move(next);
  }
  for (Complex& v : data) v *= scale;
  out.write(data);
}

void run_op(const ir::UnknownLibrary& op, const Operands&) {
  throw Error(ErrorClass::kGraph, "library node of class '" + op.class_path + "' is not known and can't be run");
}

void run_library(const plan::LibraryStep& step, Frame& frame) {
  const Operands operands(step, frame);
  std::visit([&](const auto& op) { run_op(op, operands); }, step.library->op);
}

}  // namespace sdfg::interpret
