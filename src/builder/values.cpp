// Values: bounds as symbols, snapshots that are kept when what they read changes.
#include <algorithm>

#include "builder/impl.hpp"

namespace sdfg::detail {

namespace {

std::vector<std::string> united(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

}  // namespace

void BuilderImpl::check_owner(const std::shared_ptr<BuilderImpl>& owner, const SourceLocation& where,
                              std::string_view what) const {
  if (owner.get() == this) return;
  fail(where,
       std::string(what) + " belongs to graph '" + owner->graph.name + "' and is used in graph '" + graph.name + "'",
       "a handle works only with the builder that made it");
}

void BuilderImpl::check_window(const WindowNode& window, const SourceLocation& where) const {
  check_usable(where);
  check_open(window.scopes, where, "'" + containers.at(window.container).label + "'");
}

symbolic::Expr BuilderImpl::resolve_index(const Index& index, const SourceLocation& where) {
  const IndexNode* node = index.node().get();
  if (node == nullptr) return index.constant();
  if (node->owner.get() != this) check_owner(node->owner, where, "the index " + node->owner->show(node->value));
  for (ScopeId id : node->scopes) {
    if (!is_open(id)) check_open(node->scopes, where, "the index " + show(node->value));
  }
  return node->value;
}

symbolic::Expr BuilderImpl::resolve_bound(const Bound& bound, std::string_view wish, const SourceLocation& where) {
  if (bound.value() == nullptr) return resolve_index(bound.index(), where);
  const TreePtr tree = use(bound.value(), where);
  if (const auto* index = std::get_if<symbolic::Expr>(&tree->node)) return *index;
  std::string name(wish);
  if (name.empty()) {
    std::vector<ReadLeaf> reads;
    collect_reads(tree, reads);
    name = reads.empty() ? "index" : containers.at(reads.front().container).label + "_value";
  }
  const Index symbol = new_symbol(name, ir::BinderKind::kAssigned, ScalarType::kInt64, where, true);
  const std::string& unique = symbol.node()->value.name();
  emit(ir::Assign{{{unique, expression_code(cast_tree(ScalarType::kInt64, tree), where)}}}, {}, where);
  return symbol.node()->value;
}

void BuilderImpl::refresh(const ExprRef& e, const SourceLocation& where) {
  const SourceLocation& at = where.known() ? where : e->where;
  if (!e->problem.empty()) fail(at, e->problem);
  if (e->owner == nullptr) return;
  check_usable(at);
  check_owner(e->owner, at, "the value");
  check_open({e->position.scope}, at, "the value");
  if (moved.contains(e->position.after)) {
    fail(at, "the value was made between an if_ and its else_if, and can't be used after that",
         "make it before the if_");
  }
  if (e->reads.empty()) return;
  const bool stale = std::any_of(e->reads.begin(), e->reads.end(), [&](const std::string& name) {
    const auto container = containers.find(name);
    return (container != containers.end() ? container->second.written : symbols.at(name).written) > e->stamp;
  });
  if (stale || repeats_within(e->position.scope)) keep(*e);
}

const TreePtr& BuilderImpl::use(const ExprRef& e, const SourceLocation& where) {
  refresh(e, where);
  if (e->tree == nullptr) keep(*e);
  return e->tree;
}

void BuilderImpl::keep(ExprNode& e) {
  in_the_past(e.position, e.stamp, [&] {
    const auto first =
        std::find_if(e.reads.begin(), e.reads.end(), [&](const auto& name) { return containers.contains(name); });
    const std::string wish = first == e.reads.end() ? "value" : containers.at(*first).label + "_value";
    const std::string name = declare_temporary(wish, e.type, e.shape, e.where);
    const WindowRef target = window_of(name, e.where);
    if (e.tree != nullptr) {
      store_tree(*target, {}, e.tree, e.where);
    } else {
      e.compute(*this, *target, e.where);
    }
    e.tree = read_tree(name, target->indices(), e.type);
    e.compute = nullptr;
    e.reads.clear();
  });
}

ExprRef BuilderImpl::make(ir::Extents shape, TreePtr tree, std::vector<std::string> reads,
                          const SourceLocation& where) {
  auto e = std::make_shared<ExprNode>();
  e->owner = shared_from_this();
  e->shape = std::move(shape);
  if (tree != nullptr) e->type = tree->type;
  e->tree = std::move(tree);
  e->reads = std::move(reads);
  e->position = here();
  e->stamp = tick();
  e->where = where;
  return e;
}

std::vector<std::string> BuilderImpl::assigned_in(const symbolic::Expr& e) const {
  std::vector<std::string> out;
  for (const std::string& name : symbolic::free_symbols(e)) {
    const auto info = symbols.find(name);
    if (info != symbols.end() && info->second.binder == ir::BinderKind::kAssigned && !info->second.minted)
      out.push_back(name);
  }
  return out;
}

ExprRef BuilderImpl::make_read(const WindowNode& window) {
  const ir::Container& c = graph.containers.at(window.container);
  if (c.kind == ir::ContainerKind::kStream) {
    fail(window.where, "the stream '" + containers.at(window.container).label + "' is read like an array", "use pop()");
  }
  std::vector<symbolic::Expr> indices = window.indices();
  std::vector<std::string> reads;
  if (!c.constant) reads.push_back(root_of(window.container));
  for (const symbolic::Expr& i : indices) reads = united(reads, assigned_in(i));
  return make(window.shape, read_tree(window.container, std::move(indices), c.type.scalar()), std::move(reads),
              window.where);
}

// ---- Broadcasting and operations
// --------------------------------------------------------------------------------------

namespace {

// The extent of a result dimension. Extents that are not provably equal are an error: a mismatch must not wait until
// run time.
symbolic::Expr common_extent(const BuilderImpl& b, const symbolic::Expr& x, const symbolic::Expr& y,
                             const SourceLocation& where) {
  if (x == y || y.is_one()) return x;
  if (x.is_one()) return y;
  const bool never = (x - y).constant().has_value();
  b.fail(where, "the extents " + b.show(x) + " and " + b.show(y) + (never ? " differ" : " are not known to be equal"),
         never ? "" : "declare both arrays with the same symbol, or take a slice of known extent");
}

ir::Extents broadcast(const BuilderImpl& b, const ir::Extents& x, const ir::Extents& y, const SourceLocation& where) {
  const ir::Extents& longer = x.size() >= y.size() ? x : y;
  const ir::Extents& shorter = x.size() >= y.size() ? y : x;
  ir::Extents out = longer;
  for (std::size_t k = 0; k < shorter.size(); ++k) {
    const std::size_t d = longer.size() - shorter.size() + k;
    out[d] = common_extent(b, longer[d], shorter[k], where);
  }
  return out;
}

// Dimensions of extent one are read at zero when the result is larger there.
TreePtr stretched(const TreePtr& tree, const ir::Extents& from, const ir::Extents& to) {
  symbolic::Substitution by;
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (from[from.size() - 1 - k].is_one() && !to[to.size() - 1 - k].is_one()) by[placeholder(k)] = 0;
  }
  return substitute(tree, by);
}

// The operation with C++'s meaning for its types.
TreePtr build(const BuilderImpl& b, Op op, ScalarType type, std::vector<TreePtr> args, const SourceLocation& where) {
  if (op == Op::kDiv && is_integer_type(type)) {
    // The graph's own integer division rounds down; of an exact multiple there is nothing to round.
    TreePtr x = cast_tree(type, args[0]);
    TreePtr y = cast_tree(type, args[1]);
    if (is_unsigned_type(type)) return op_tree(Op::kFloorDiv, type, {std::move(x), std::move(y)});
    TreePtr multiple = op_tree(Op::kSub, type, {x, op_tree(Op::kRemainder, type, {x, y})});
    return op_tree(Op::kFloorDiv, type, {std::move(multiple), std::move(y)});
  }
  if (op == Op::kRemainder) {
    for (TreePtr& arg : args) arg = cast_tree(type, std::move(arg));
  }
  if (op == Op::kPower && is_integer_type(type)) {
    const auto* literal = std::get_if<tasklet::Literal>(&args[1]->node);
    const auto* exponent = literal != nullptr ? std::get_if<std::int64_t>(&literal->value) : nullptr;
    if (exponent != nullptr && *exponent < 0) {
      b.fail(where, "an integer is raised to the power " + std::to_string(*exponent), "cast the base to double first");
    }
  }
  if (op == Op::kCast) return cast_tree(type, std::move(args[0]));
  return op_tree(op, type, std::move(args));
}

std::string too_deep() {
  return "an expression nests more than " + std::to_string(kMaxTreeDepth) + " operations";
}

ExprRef apply_all(Op op, ScalarType type, std::initializer_list<const ExprRef*> operands) {
  BuilderImpl* owner = nullptr;
  SourceLocation where;
  for (const ExprRef* e : operands) {
    if (owner == nullptr) owner = (*e)->owner.get();
    if (!where.known()) where = (*e)->where;
  }
  if (owner == nullptr) {
    // Constants only. Nothing to keep track of.
    auto e = std::make_shared<ExprNode>();
    std::vector<TreePtr> args;
    for (const ExprRef* x : operands) {
      args.push_back((*x)->tree);
      if (e->problem.empty()) e->problem = (*x)->problem;
    }
    e->type = type;
    e->where = where;
    e->tree = op == Op::kCast ? cast_tree(type, args[0]) : op_tree(op, type, std::move(args));
    if (e->tree->depth > kMaxTreeDepth && e->problem.empty()) {
      e->problem = too_deep();
      e->tree = literal_tree({std::int64_t{0}}, type);
    }
    return e;
  }
  ir::Extents shape;
  for (const ExprRef* e : operands) shape = broadcast(*owner, shape, (*e)->shape, where);
  std::vector<TreePtr> args;
  std::vector<std::string> reads;
  for (const ExprRef* e : operands) {
    args.push_back(stretched(owner->use(*e, where), (*e)->shape, shape));
    reads = united(reads, (*e)->reads);
  }
  TreePtr tree = build(*owner, op, type, std::move(args), where);
  owner->check_operation(*tree, where);
  if (tree->depth > kMaxTreeDepth) {
    throw Error(ErrorClass::kLimit, too_deep(), owner->places(where, {}),
                "store parts of it in variables: auto part = g.local(\"part\", ...)");
  }
  return owner->make(std::move(shape), std::move(tree), std::move(reads), where);
}

}  // namespace

ExprRef apply(Op op, ScalarType result, const ExprRef& a) {
  return apply_all(op, result, {&a});
}
ExprRef apply(Op op, ScalarType result, const ExprRef& a, const ExprRef& b) {
  return apply_all(op, result, {&a, &b});
}
ExprRef apply(Op op, ScalarType result, const ExprRef& a, const ExprRef& b, const ExprRef& c) {
  return apply_all(op, result, {&a, &b, &c});
}

}  // namespace sdfg::detail
