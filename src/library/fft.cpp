// Fourier transforms: by cuFFT on device memory, else by definition.
#include "library/device_calls.hpp"
#include "library/expansions.hpp"

namespace sdfg::library {

namespace {

using tasklet::BinaryOp;
using tasklet::Function;

constexpr std::size_t kMostFftDimensions = 3;  // of cuFFT

bool is_packed(const Operand& o) {
  Expr stride = 1;
  for (std::size_t d = o.rank(); d-- > 0;) {
    if (o.stride(d) != stride) return false;
    stride = stride * o.extent(d);
  }
  return true;
}

// What the transform is multiplied by.
tasklet::Expr factor_of(const ir::Fft& op, const Operand& in, tasklet::Expr value, ScalarType t) {
  const ScalarType f = component_of(t);
  if (!op.factor.is_one()) value = mul(cast(cast(tasklet::from_symbolic(op.factor), f), t), value);
  if (op.scale_by_length) value = binary(BinaryOp::kDiv, value, cast(cast(tasklet::from_symbolic(in.size()), f), t));
  return value;
}

bool fft_by_library(const ir::Fft& op, const Node& n, const Operand& in, const Operand& out) {
  if (!n.makes_kernels || !n.options->device_library || n.options->opt_level < 1) return false;
  const auto no = [&](const std::string& why) {
    n.reason("kernels: " + why);
    return false;
  };
  if (in.rank() > kMostFftDimensions) return no("cuFFT transforms at most three dimensions");
  if (!is_complex(out.type())) return no("the result is not complex");
  if (!may_call(n, DeviceFunction::kFft)) return false;
  const bool wide = out.type() == ScalarType::kComplex128 || in.type() == ScalarType::kFloat64 ||
                    in.type() == ScalarType::kComplex128;
  const ScalarType t = wide ? ScalarType::kComplex128 : ScalarType::kComplex64;
  std::vector<std::pair<std::string, Expr>> extents;
  for (std::size_t d = 0; d < in.rank(); ++d) extents.emplace_back("i" + std::to_string(d), in.extent(d));
  const bool scales = !op.factor.is_one() || op.scale_by_length;
  const auto transform = [&](const Emitter& e, const std::string& from, const ir::Subset& from_window,
                             const std::string& to, const ir::Subset& to_window) {
    DeviceCallText d;
    d.function = DeviceFunction::kFft;
    d.type = t;
    d.numbers = {op.inverse ? 1 : 0, static_cast<std::int64_t>(in.rank())};
    for (const Expr& size : in.extents()) d.numbers.push_back(size);
    d.numbers.emplace_back(1);
    d.read = {{"from", from, from_window}};
    d.written = {{"to", to, to_window}};
    device_call(e, d);
  };
  const auto store = [&](const Emitter& e, const std::string& data) {
    e.map(extents, [&](Emitter& inner, const std::vector<Expr>& p) {
      inner.compute({{"a", data, element_at(p)}}, cast(factor_of(op, in, name("a", t), t), out.type()),
                    {out.data(), out.element(p), {}});
    });
  };
  const auto from_packed = [&](const Emitter& e, const std::string& data, const ir::Subset& window) {
    if (!scales && out.type() == t && is_packed(out) && is_reachable(n, out))
      return transform(e, data, window, out.data(), out.subset());
    e.with_transient("transformed", t, in.extents(), [&](Emitter& body, const std::string& next) {
      transform(body, data, window, next, ir::Subset::full(in.extents()));
      store(body, next);
    });
  };
  if (in.type() == t && is_packed(in) && is_reachable(n, in)) {
    from_packed(*n.emitter, in.data(), in.subset());
  } else {
    n.emitter->with_transient("data", t, in.extents(), [&](Emitter& e, const std::string& data) {
      e.map(extents, [&](Emitter& inner, const std::vector<Expr>& p) {
        inner.compute({{"a", in.data(), in.element(p)}}, cast(name("a", in.type()), t), {data, element_at(p), {}});
      });
      from_packed(e, data, ir::Subset::full(in.extents()));
    });
  }
  n.reason("cuFFT, " + std::string(to_string(t)));
  return true;
}

}  // namespace

// By definition, one axis after the other, with a table of the roots of unity: N^2 operations an axis.
void expand(const ir::Fft& op, const Node& n) {
  const Operand in = n.only_in().squeezed(), out = n.only_out().squeezed();
  if (in.rank() != out.rank())
    n.emitter->fail("has input " + in.text() + " and output " + out.text() + " of different shapes");
  const ScalarType t = ScalarType::kComplex128;
  if (in.rank() == 0) {
    n.emitter->compute({{"a", in.data(), in.element({})}}, cast(name("a", in.type()), out.type()),
                       {out.data(), out.element({}), {}});
    return;
  }
  if (fft_by_library(op, n, in, out)) return;
  std::vector<std::pair<std::string, Expr>> extents;
  for (std::size_t d = 0; d < in.rank(); ++d) extents.emplace_back("i" + std::to_string(d), in.extent(d));
  n.emitter->with_transient("data", t, in.extents(), [&](Emitter& first, const std::string& data) {
    first.with_transient("transformed", t, in.extents(), [&](Emitter& e, const std::string& next) {
      e.map(extents, [&](Emitter& inner, const std::vector<Expr>& p) {
        inner.compute({{"a", in.data(), in.element(p)}}, cast(name("a", in.type()), t), {data, element_at(p), {}});
      });
      for (std::size_t axis = 0; axis < in.rank(); ++axis) {
        const Expr& length = in.extent(axis);
        e.with_transient("roots", t, {length}, [&](Emitter& body, const std::string& roots) {
          body.map({{"k", length}}, [&](Emitter& inner, const std::vector<Expr>& p) {
            const double turn = (op.inverse ? 2.0 : -2.0) * 3.14159265358979323846;
            const ScalarType f = ScalarType::kFloat64;
            const tasklet::Expr angle = mul(
                literal(turn, f),
                binary(BinaryOp::kDiv, cast(tasklet::from_symbolic(p[0]), f), cast(tasklet::from_symbolic(length), f)));
            inner.compute({},
                          call(Function::kMakeComplex, {call(Function::kCos, {angle}), call(Function::kSin, {angle})}),
                          {roots, element_at({p[0]}), {}});
          });
          body.map(extents, [&](Emitter& inner, const std::vector<Expr>& p) {
            inner.with_transient("sum", t, {}, [&](Emitter& deep, const std::string& sum) {
              deep.compute({}, literal(0.0, t), {sum, {}, {}});
              deep.loop("n", 0, length, [&](Emitter& term, const Expr& k) {
                std::vector<Expr> from = p;
                from[axis] = k;
                const Expr root = term.assign("root", tasklet::from_symbolic(symbolic::mod(k * p[axis], length)));
                term.compute({{"s", sum, {}}, {"a", data, element_at(from)}, {"w", roots, element_at({root})}},
                             add(name("s", t), mul(name("a", t), name("w", t))), {sum, {}, {}});
              });
              deep.compute({{"s", sum, {}}}, name("s", t), {next, element_at(p), {}});
            });
          });
        });
        e.map(extents, [&](Emitter& inner, const std::vector<Expr>& p) {
          inner.compute({{"a", next, element_at(p)}}, name("a", t), {data, element_at(p), {}});
        });
      }
      e.map(extents, [&](Emitter& inner, const std::vector<Expr>& p) {
        const tasklet::Expr value = factor_of(op, in, name("a", t), t);
        inner.compute({{"a", data, element_at(p)}}, cast(value, out.type()), {out.data(), out.element(p), {}});
      });
    });
  });
}

}  // namespace sdfg::library
