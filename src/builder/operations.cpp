// Whole-array operations as library nodes.
#include <algorithm>
#include <sdfg/array.hpp>
#include <sdfg/operations.hpp>

#include "builder/impl.hpp"

namespace sdfg::detail {

namespace {

// An input of a library node: a whole container.
struct Input {
  std::string connector;
  std::string container;
};

// Library nodes read containers: anything but a plain read of a whole one is computed first.
std::string container_of(BuilderImpl& b, ExprRef x, ScalarType type, const SourceLocation& where) {
  if (x->type != type) x = apply(Op::kCast, type, x);
  const TreePtr tree = b.use(x, where);
  if (const auto* read = std::get_if<ReadLeaf>(&tree->node)) {
    const WindowRef whole = b.window_of(read->container, where);
    if (whole->shape == x->shape && whole->indices() == read->indices) return read->container;
  }
  b.keep(*x);
  return std::get<ReadLeaf>(x->tree->node).container;
}

ExprRef operation(BuilderImpl& b, ir::LibraryOp op, ScalarType type, ir::Extents shape, std::vector<Input> inputs,
                  std::string output, const SourceLocation& where) {
  std::vector<std::string> reads;
  for (const Input& input : inputs) {
    if (!b.containers.at(input.container).snapshot) reads.push_back(b.root_of(input.container));
  }
  std::sort(reads.begin(), reads.end());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  ExprRef e = b.make(std::move(shape), nullptr, std::move(reads), where);
  e->type = type;
  e->compute = [op = std::move(op), inputs = std::move(inputs), output = std::move(output)](
                   BuilderImpl& builder, const WindowNode& target, const SourceLocation& at) {
    ir::Graph& graph = builder.graph;
    ir::State state;
    ir::Library library;
    library.op = op;
    const ir::Id node = graph.new_id();
    for (const Input& input : inputs) {
      ir::Memlet m;
      m.id = graph.new_id();
      m.src = graph.new_id();
      m.dst = node;
      m.dst_connector = input.connector;
      m.src_subset = whole_of(graph.containers.at(input.container));
      m.location = at;
      library.inputs.push_back(input.connector);
      state.nodes.push_back({m.src, {}, at, ir::Access{input.container}});
      state.edges.push_back(std::move(m));
    }
    ir::Memlet m;
    m.id = graph.new_id();
    m.src = node;
    m.dst = graph.new_id();
    m.src_connector = output;
    m.dst_subset = target.subset();
    m.location = at;
    library.outputs.push_back(output);
    state.nodes.push_back({node, std::string(ir::name_of(op)), at, std::move(library)});
    state.nodes.push_back({m.dst, {}, at, ir::Access{target.container}});
    state.edges.push_back(std::move(m));
    builder.emit(std::move(state), {}, at);
  };
  return e;
}

void check_square(const BuilderImpl& b, const char* name, const ExprRef& a, const SourceLocation& where) {
  if (a->shape[0] == a->shape[1]) return;
  b.fail(where, std::string(name) + " needs a square matrix, but its argument has the extents " + a->shape[0].str() +
                    " and " + a->shape[1].str());
}

int checked_axis(const BuilderImpl& b, int axis, const ExprRef& x, const SourceLocation& where) {
  const int rank = static_cast<int>(x->shape.size());
  if (axis < -rank || axis >= rank) {
    b.fail(where,
           "axis " + std::to_string(axis) + " does not exist in an array with " + std::to_string(rank) + " dimensions");
  }
  return axis < 0 ? axis + rank : axis;
}

}  // namespace

ExprRef matmul(ScalarType type, const ExprRef& a, const ExprRef& b_, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = a->owner != nullptr ? *a->owner : *b_->owner;
  const ir::Extents& sa = a->shape;
  const ir::Extents& sb = b_->shape;
  const bool row = sa.size() == 1;  // a vector from the left
  const bool column = sb.size() == 1;
  const symbolic::Expr inner = sa.back();
  const symbolic::Expr& other = column ? sb[0] : sb[sb.size() - 2];
  if (inner != other) {
    const bool never = (inner - other).constant().has_value();
    b.fail(where,
           "matmul multiplies rows of " + inner.str() + " elements by columns of " + other.str() +
               (never ? "" : ", which are not known to be equal"),
           never ? "" : "declare both arrays with the same symbol");
  }
  // Leading dimensions broadcast; operands may have more or fewer of them, or extent one.
  const std::size_t lead_a = row ? 0 : sa.size() - 2;
  const std::size_t lead_b = column ? 0 : sb.size() - 2;
  const std::size_t lead = std::max(lead_a, lead_b);
  ir::Extents shape(lead, symbolic::Expr(1));
  const auto widen = [&](const ir::Extents& s, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      symbolic::Expr& to = shape[lead - n + k];
      if (to.is_one()) {
        to = s[k];
      } else if (!s[k].is_one() && s[k] != to) {
        b.fail(where,
               "the leading extents " + to.str() + " and " + s[k].str() + " of a matmul are not known to be equal");
      }
    }
  };
  widen(sa, lead_a);
  widen(sb, lead_b);
  if (!row) shape.push_back(sa[sa.size() - 2]);
  if (!column) shape.push_back(sb.back());
  std::vector<Input> inputs = {{"_a", container_of(b, a, type, where)}, {"_b", container_of(b, b_, type, where)}};
  return operation(b, ir::MatMul{}, type, std::move(shape), std::move(inputs), "_c", where);
}

ExprRef cholesky(ScalarType type, const ExprRef& a, bool lower, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *a->owner;
  check_square(b, "cholesky", a, where);
  return operation(b, ir::Cholesky{lower}, type, a->shape, {{"_a", container_of(b, a, type, where)}}, "_b", where);
}

ExprRef solve(ScalarType type, const ExprRef& a, const ExprRef& rhs, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *a->owner;
  check_square(b, "solve", a, where);
  if (a->shape[0] != rhs->shape[0]) {
    b.fail(where, "solve has a matrix with " + a->shape[0].str() + " rows and a right-hand side with " +
                      rhs->shape[0].str() + ", which are not known to be equal");
  }
  std::vector<Input> inputs = {{"_ain", container_of(b, a, type, where)}, {"_bin", container_of(b, rhs, type, where)}};
  return operation(b, ir::Solve{}, type, rhs->shape, std::move(inputs), "_bout", where);
}

ExprRef inverse(ScalarType type, const ExprRef& a, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *a->owner;
  check_square(b, "inv", a, where);
  return operation(b, ir::Inv{}, type, a->shape, {{"_ain", container_of(b, a, type, where)}}, "_aout", where);
}

ExprRef fourier(ScalarType type, const ExprRef& x, bool inverse, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *x->owner;
  return operation(b, ir::Fft{inverse, 1, inverse}, type, x->shape, {{"_inp", container_of(b, x, x->type, where)}},
                   "_out", where);
}

ExprRef scan(Reduce op, ScalarType type, const ExprRef& x, int axis, bool exclusive, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *x->owner;
  return operation(b, ir::Scan{reduce_op(op), exclusive, checked_axis(b, axis, x, where)}, type, x->shape,
                   {{"_in", container_of(b, x, type, where)}}, "_out", where);
}

ExprRef arg_reduce(bool maximum, const ExprRef& x, const int* axis, Where where_) {
  const SourceLocation where = location_of(where_);
  BuilderImpl& b = *x->owner;
  ir::ArgReduce op{maximum, {}};
  ir::Extents shape;
  if (axis != nullptr) {
    op.axis = checked_axis(b, *axis, x, where);
    shape = x->shape;
    shape.erase(shape.begin() + *op.axis);
  }
  return operation(b, op, ScalarType::kInt64, std::move(shape), {{"_in", container_of(b, x, x->type, where)}}, "_idx",
                   where);
}

}  // namespace sdfg::detail
