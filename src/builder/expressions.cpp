// The leaves of expressions: constants, indices, elements and slices of containers.
#include <cmath>
#include <limits>
#include <sdfg/array.hpp>

#include "builder/impl.hpp"
#include "tasklet/value.hpp"

namespace sdfg {

namespace {

using detail::IndexNode;

const symbolic::Expr* symbolic_of(const Index& i) {
  return i.node() == nullptr ? nullptr : &i.node()->value;
}

template <typename F>
Index combined(const Index& a, const Index& b, F f) {
  const symbolic::Expr x = a.node() == nullptr ? symbolic::Expr(a.constant()) : *symbolic_of(a);
  const symbolic::Expr y = b.node() == nullptr ? symbolic::Expr(b.constant()) : *symbolic_of(b);
  const IndexNode* first = a.node() != nullptr ? a.node().get() : b.node().get();
  const IndexNode* second = a.node() != nullptr && b.node() != nullptr ? b.node().get() : nullptr;
  if (first == nullptr) {
    const symbolic::Expr value = f(x, y);
    return Index(value.value());
  }
  if (second != nullptr)
    first->owner->check_owner(second->owner, second->where, "the index " + second->owner->show(second->value));
  auto node = std::make_shared<IndexNode>(*first);
  node->value = f(x, y);
  if (second != nullptr) node->scopes = detail::merged(first->scopes, second->scopes);
  return Index(std::move(node));
}

}  // namespace

std::string Index::str() const {
  return node_ == nullptr ? std::to_string(constant_) : node_->value.str();
}

Index operator+(const Index& a, const Index& b) {
  return combined(a, b, [](const auto& x, const auto& y) { return x + y; });
}
Index operator-(const Index& a, const Index& b) {
  return combined(a, b, [](const auto& x, const auto& y) { return x - y; });
}
Index operator*(const Index& a, const Index& b) {
  return combined(a, b, [](const auto& x, const auto& y) { return x * y; });
}
Index operator/(const Index& a, const Index& b) {
  return floor_div(a, b);
}
Index operator%(const Index& a, const Index& b) {
  return combined(a, b, [](const auto& x, const auto& y) { return symbolic::mod(x, y); });
}
Index operator-(const Index& a) {
  return 0 - a;
}
Index floor_div(const Index& a, const Index& b) {
  return combined(a, b, [](const auto& x, const auto& y) { return symbolic::floor_div(x, y); });
}
Index ceil_div(const Index& a, const Index& b) {
  return combined(a, b, [](const auto& x, const auto& y) { return symbolic::ceil_div(x, y); });
}
Index min(const Index& a, const Index& b) {
  return combined(a, b, [](const auto& x, const auto& y) { return symbolic::min(x, y); });
}
Index max(const Index& a, const Index& b) {
  return combined(a, b, [](const auto& x, const auto& y) { return symbolic::max(x, y); });
}
Index abs(const Index& a) {
  return combined(a, 0, [](const auto& x, const auto&) { return symbolic::abs(x); });
}

namespace detail {

namespace {

std::int64_t lowest(ScalarType t) {
  return is_unsigned_type(t) ? 0 : t == ScalarType::kInt64 ? INT64_MIN : -(std::int64_t{1} << (bits_of(t) - 1));
}
std::uint64_t highest(ScalarType t) {
  const int bits = bits_of(t) - (is_unsigned_type(t) ? 0 : 1);
  return bits == 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
}

bool is_narrow_float(ScalarType t) {
  return t == ScalarType::kFloat16 || t == ScalarType::kBFloat16;
}

// The constant as a number of type `as`; `problem` says why it is none.
tasklet::Literal literal_of(const Constant& c, ScalarType as, std::string& problem) {
  const auto does_not_fit = [&](const std::string& text) {
    problem = "the constant " + text + " does not fit in " + std::string(to_string(as));
  };
  Constant v = c;
  if (is_narrow_float(c.type)) {
    const auto bits = static_cast<std::uint16_t>(c.integer);
    v.kind = Constant::Kind::kReal;
    v.real = tasklet::Value::load(&bits, c.type).as_double();
  }
  const bool is_real = v.kind == Constant::Kind::kReal || v.kind == Constant::Kind::kComplex;
  const bool is_unsigned = v.kind == Constant::Kind::kUnsigned;
  if (as == ScalarType::kBool) return {v.integer != 0};
  if (is_integer_type(as)) {
    const auto bits = static_cast<std::uint64_t>(v.integer);
    const std::string text = is_unsigned ? std::to_string(bits) : std::to_string(v.integer);
    const bool too_low = !is_unsigned && v.integer < lowest(as);
    const bool too_high = (is_unsigned || v.integer >= 0) && bits > highest(as);
    if (too_low || too_high) does_not_fit(text);
    if (is_unsigned_type(as)) return {bits};
    return {v.integer};
  }
  const double re = is_real       ? v.real
                    : is_unsigned ? static_cast<double>(static_cast<std::uint64_t>(v.integer))
                                  : static_cast<double>(v.integer);
  if (is_complex_type(as)) return {tasklet::Value::complex({re, v.imag}, as).as_complex()};
  const double rounded = tasklet::Value::floating(re, as).as_double();
  if (std::isinf(rounded) && !std::isinf(re)) does_not_fit(std::to_string(re));
  return {rounded};
}

}  // namespace

ExprRef constant(const Constant& value, ScalarType as, Where where) {
  auto e = std::make_shared<ExprNode>();
  e->type = as;
  e->where = location_of(where);
  e->tree = literal_tree(literal_of(value, as, e->problem), as);
  return e;
}

ExprRef from_index(const Index& index, Where where) {
  const IndexNode* node = index.node().get();
  if (node == nullptr) {
    Constant c;
    c.integer = index.constant();
    return constant(c, ScalarType::kInt64, where);
  }
  const SourceLocation at = where.line() != 0 ? location_of(where) : node->where;
  BuilderImpl& b = *node->owner;
  b.check_usable(at);
  const symbolic::Expr value = b.resolve_index(index, at);
  return b.make({}, index_tree(value), b.assigned_in(value), at);
}

ExprRef load(const WindowRef& window) {
  BuilderImpl& b = *window->owner;
  b.check_window(*window, window->where);
  return b.make_read(*window);
}

// ---- Windows
// ------------------------------------------------------------------------------------------------------------

namespace {

// Of a container without offsets: an index that is out of range whatever the symbols are.
void check_constant_index(const BuilderImpl& b, const ir::Container& c, std::size_t d, const symbolic::Expr& index,
                          const SourceLocation& where) {
  if (!c.layout.offset().empty() && !c.layout.offset()[d].is_zero()) return;
  const symbolic::Expr& extent = c.layout.shape()[d];
  const std::optional<std::int64_t> low = index.constant();
  const std::optional<std::int64_t> over = (index - extent).constant();
  if ((low && *low < 0) || (over && *over >= 0)) {
    b.fail(where,
           "the index " + b.show(index) + " is outside extent " + b.show(extent) + " of '" +
               b.containers.at(c.name).label + "' in dimension " + std::to_string(d),
           {}, "element of '" + b.containers.at(c.name).label + "'");
  }
}

}  // namespace

WindowRef element(const WindowRef& array, const Bound* indices, std::size_t count, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *array->owner;
  b.check_window(*array, where);
  auto window = std::make_shared<WindowNode>();
  window->owner = array->owner;
  window->container = array->container;
  window->kept.assign(count, false);
  window->scopes = array->scopes;
  window->where = where;
  const ir::Container& c = b.graph.containers.at(array->container);
  for (std::size_t d = 0; d < count; ++d) {
    symbolic::Expr index = b.resolve_bound(indices[d], {}, where);
    check_constant_index(b, c, d, index, where);
    window->scopes = merged(window->scopes, b.scopes_of(index));
    window->dimensions.push_back(symbolic::Range::index(index));
  }
  return window;
}

WindowRef slice(const WindowRef& array, const SliceArgument* arguments, std::size_t count, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *array->owner;
  b.check_window(*array, where);
  auto window = std::make_shared<WindowNode>();
  window->owner = array->owner;
  window->container = array->container;
  window->scopes = array->scopes;
  window->where = where;
  const ir::Container& c = b.graph.containers.at(array->container);
  for (std::size_t d = 0; d < count; ++d) {
    const SliceArgument& a = arguments[d];
    symbolic::Range range = array->dimensions[d];
    symbolic::Expr extent = array->shape[d];
    switch (a.kind) {
      case SliceArgument::Kind::kAll: break;
      case SliceArgument::Kind::kIndex: {
        range = symbolic::Range::index(b.resolve_bound(a.begin, {}, where));
        check_constant_index(b, c, d, range.begin, where);
        break;
      }
      case SliceArgument::Kind::kRange: {
        const symbolic::Expr begin = b.resolve_bound(a.begin, {}, where);
        const symbolic::Expr end = b.resolve_bound(a.end, {}, where);
        const symbolic::Expr step = b.resolve_bound(a.step, {}, where);
        const std::optional<std::int64_t> constant = step.constant();
        if (!constant || *constant == 0) {
          b.fail(where, "the step " + b.show(step) + " of a slice is " + (constant ? "zero" : "not a constant"));
        }
        range = *constant > 0 ? symbolic::Range::half_open(begin, end, step) : symbolic::Range{begin, end + 1, step, 1};
        extent = *constant > 0 ? symbolic::ceil_div(end - begin, step) : symbolic::ceil_div(begin - end, -step);
        break;
      }
    }
    const bool keeps = a.kind != SliceArgument::Kind::kIndex;
    window->kept.push_back(keeps);
    if (keeps) window->shape.push_back(extent);
    for (const symbolic::Expr& e : {range.begin, range.end}) window->scopes = merged(window->scopes, b.scopes_of(e));
    window->dimensions.push_back(std::move(range));
  }
  return window;
}

Index extent(const WindowRef& window, std::size_t dimension, Where where) {
  BuilderImpl& b = *window->owner;
  if (dimension >= window->shape.size()) {
    b.fail(location_of(where), "dimension " + std::to_string(dimension) + " is asked of something with " +
                                   std::to_string(window->shape.size()) + " dimensions");
  }
  const symbolic::Expr& e = window->shape[dimension];
  if (const auto constant = e.constant()) return Index(*constant);
  return Index(std::make_shared<const IndexNode>(IndexNode{window->owner, e, b.scopes_of(e), window->where}));
}

std::string name_of(const WindowRef& window) {
  return window->container;
}

}  // namespace detail

}  // namespace sdfg
