// Preparing and running scalar code over slots; the arithmetic itself is tasklet::apply's.
#include "interpret/code.hpp"

#include <algorithm>

namespace sdfg::interpret {

using tasklet::Value;
namespace tl = tasklet;

namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorClass::kGraph, message);
}

ScalarType scalar_of(const Type& type, std::string_view what) {
  if (type.kind() != Type::Kind::kScalar && type.kind() != Type::Kind::kVector)
    fail(std::string(what) + " has type " + type.str() + ", which has no arithmetic value");
  return type.scalar();
}

Value literal_value(const tl::Literal& literal, const Type& type) {
  const Value raw = std::visit(
      Overloaded{[](bool v) { return Value::boolean(v); }, [](std::int64_t v) { return Value::integer(v); },
                 [](std::uint64_t v) { return Value::integer(static_cast<std::int64_t>(v), ScalarType::kUInt64); },
                 [](double v) { return Value::floating(v); }, [](std::complex<double> v) { return Value::complex(v); }},
      literal.value);
  return type.is_void() ? raw : raw.cast(scalar_of(type, "a literal"));
}

class Preparer {
 public:
  Preparer(const CodeNames& names, const Slots& slots) : names_(names), slots_(slots) {}

  CodeNode expr(const tl::Expr& e) const {
    return std::visit([&](const auto& node) { return this->node(node, e); }, e.node());
  }

  std::vector<CodeStatement> body(const tl::Body& statements) const {
    std::vector<CodeStatement> out;
    for (const tl::Statement& s : statements)
      out.push_back(std::visit([&](const auto& n) { return this->statement(n); }, s.node));
    return out;
  }

 private:
  using Kind = CodeNode::Kind;

  std::vector<CodeNode> exprs(std::span<const tl::Expr> all) const {
    std::vector<CodeNode> out;
    for (const tl::Expr& e : all) out.push_back(expr(e));
    return out;
  }

  static CodeNode make(Kind kind, int slot, std::vector<CodeNode> args = {}, std::uint8_t op = 0) {
    CodeNode out;
    out.kind = kind;
    out.slot = slot;
    out.op = op;
    out.args = std::move(args);
    return out;
  }

  CodeNode node(const tl::Literal& n, const tl::Expr& e) const {
    CodeNode out;
    out.literal = literal_value(n, e.type());
    return out;
  }

  CodeNode node(const tl::Name& n, const tl::Expr&) const { return name(n.name); }

  CodeNode name(const std::string& name) const {
    if (auto it = names_.locals.find(name); it != names_.locals.end()) return make(Kind::kLocal, it->second.first);
    if (auto it = names_.pointers.find(name); it != names_.pointers.end()) return make(Kind::kPointer, it->second);
    if (auto it = names_.pops.find(name); it != names_.pops.end())
      return make(Kind::kPop, it->second.first, {}, static_cast<std::uint8_t>(it->second.second));
    if (const int s = slots_.find_symbol(name); s >= 0) return make(Kind::kSymbol, s);
    if (const int c = slots_.find_container(name); c >= 0) return make(Kind::kContainer, c);
    fail("the name '" + name + "' is no connector, symbol or container");
  }

  CodeNode node(const tl::Subscript& n, const tl::Expr&) const {
    if (auto it = names_.pointers.find(n.base); it != names_.pointers.end())
      return make(Kind::kPointer, it->second, exprs(n.indices));
    if (n.indices.empty()) return name(n.base);
    const int c = slots_.find_container(n.base);
    if (c < 0) fail("'" + n.base + "' can't be subscripted: it is no pointer connector and no container");
    return make(Kind::kContainer, c, exprs(n.indices));
  }

  CodeNode node(const tl::Unary& n, const tl::Expr&) const {
    return make(Kind::kUnary, -1, exprs(n.operand), static_cast<std::uint8_t>(n.op));
  }

  CodeNode node(const tl::Binary& n, const tl::Expr&) const {
    if (n.op == tl::BinaryOp::kAnd) return make(Kind::kAnd, -1, exprs(n.operands));
    if (n.op == tl::BinaryOp::kOr) return make(Kind::kOr, -1, exprs(n.operands));
    return make(Kind::kBinary, -1, exprs(n.operands), static_cast<std::uint8_t>(n.op));
  }

  CodeNode node(const tl::Select& n, const tl::Expr& e) const {
    return cast(make(Kind::kSelect, -1, exprs(n.parts)), e.type());
  }

  CodeNode node(const tl::Call& n, const tl::Expr&) const {
    return make(Kind::kCall, -1, exprs(n.args), static_cast<std::uint8_t>(n.function));
  }

  CodeNode node(const tl::ExternalCall& n, const tl::Expr&) const {
    CodeNode out = make(Kind::kExternalCall, slots_.symbol(n.callee));
    for (const tl::Expr& a : n.args) {
      const auto* plain = std::get_if<tl::Name>(&a.node());
      if (plain != nullptr && names_.pointers.contains(plain->name))
        out.args.push_back(make(Kind::kAddress, names_.pointers.find(plain->name)->second));
      else
        out.args.push_back(expr(a));
    }
    return out;
  }

  CodeNode node(const tl::Cast& n, const tl::Expr&) const { return cast(expr(n.operand.front()), n.to); }

  static CodeNode cast(CodeNode of, const Type& to) {
    if (to.is_void()) return of;
    CodeNode out = make(Kind::kCast, -1);
    out.to = scalar_of(to, "the target of a cast");
    out.args.push_back(std::move(of));
    return out;
  }

  CodeStatement assign(const tl::Expr& target, CodeNode value) const {
    CodeStatement out;
    out.value = std::move(value);
    if (const auto* subscript = std::get_if<tl::Subscript>(&target.node())) {
      auto it = names_.pointers.find(subscript->base);
      if (it == names_.pointers.end()) {
        if (subscript->indices.empty()) return set_name(subscript->base, std::move(out));
        fail("'" + subscript->base + "' is assigned by subscript but is no pointer connector");
      }
      out.kind = CodeStatement::Kind::kSetPointer;
      out.slot = it->second;
      out.indices = exprs(subscript->indices);
      return out;
    }
    const auto* plain = std::get_if<tl::Name>(&target.node());
    if (plain == nullptr) fail("the target of an assignment must be a name or a subscript");
    return set_name(plain->name, std::move(out));
  }

  CodeStatement set_name(const std::string& name, CodeStatement out) const {
    if (auto it = names_.locals.find(name); it != names_.locals.end()) {
      out.kind = CodeStatement::Kind::kSetLocal;
      out.slot = it->second.first;
      out.to = it->second.second;
    } else if (auto p = names_.pointers.find(name); p != names_.pointers.end()) {
      out.kind = CodeStatement::Kind::kSetPointer;
      out.slot = p->second;
    } else if (auto q = names_.pushes.find(name); q != names_.pushes.end()) {
      out.kind = CodeStatement::Kind::kPush;
      out.slot = q->second.first;
      out.to = q->second.second;
    } else {
      fail("'" + name + "' is assigned but is neither an output connector nor a local variable");
    }
    return out;
  }

  CodeStatement statement(const tl::Assign& n) const { return assign(n.target, expr(n.value)); }
  CodeStatement statement(const tl::Update& n) const {
    return assign(n.target, expr(tl::Expr::binary(n.op, n.target, n.value)));
  }

  CodeStatement statement(const tl::If& n) const {
    CodeStatement out;
    out.kind = CodeStatement::Kind::kIf;
    for (const tl::IfBranch& b : n.branches) out.branches.push_back({expr(b.condition), body(b.body)});
    return out;
  }

  CodeStatement statement(const tl::While& n) const {
    CodeStatement out;
    out.kind = CodeStatement::Kind::kWhile;
    out.branches.push_back({expr(n.condition), body(n.body)});
    return out;
  }

  static CodeStatement plain(CodeStatement::Kind kind) {
    CodeStatement out;
    out.kind = kind;
    return out;
  }
  CodeStatement statement(const tl::Break&) const { return plain(CodeStatement::Kind::kBreak); }
  CodeStatement statement(const tl::Continue&) const { return plain(CodeStatement::Kind::kContinue); }
  CodeStatement statement(const tl::Evaluate& n) const {
    CodeStatement out;
    out.value = expr(n.value);
    return out;
  }

  const CodeNames& names_;
  const Slots& slots_;
};

constexpr std::size_t kMaxIndices = 32;

struct Indices {
  std::int64_t at[kMaxIndices];
  std::size_t count = 0;
  std::span<const std::int64_t> span() const { return {at, count}; }
};

Indices evaluate_indices(std::span<const CodeNode> nodes, CodeContext& context) {
  if (nodes.size() > kMaxIndices) fail("a subscript has more than " + std::to_string(kMaxIndices) + " indices");
  Indices out;
  out.count = nodes.size();
  for (std::size_t i = 0; i < nodes.size(); ++i) out.at[i] = evaluate(nodes[i], context).as_int();
  return out;
}

// Indices count from the begin of the memlet's subset, in steps of its ranges, over the dimensions that are no single
// index (or over all of them).
std::byte* element_of(const PointerBinding& p, std::span<const std::int64_t> indices) {
  const Region& region = *p.region;
  Indices full;
  full.count = p.ranges.size();
  if (full.count > kMaxIndices) fail("'" + *p.path + "' has too many dimensions");
  std::size_t kept = 0;
  for (const RangePlan& r : region.ranges) kept += r.index ? 0 : 1;
  const bool squeezed = indices.size() == kept;
  // One zero index on a memlet of one element: `*p` spelt `p[0]`.
  const bool dereference = kept == 0 && indices.size() == 1 && indices[0] == 0 && full.count != 1;
  if (!squeezed && !dereference && indices.size() != full.count)
    fail("a subscript with " + std::to_string(indices.size()) + " indices is applied to a connector whose memlet on '" +
         *p.path + "' has " + std::to_string(kept) + " dimensions");
  std::size_t next = 0;
  for (std::size_t d = 0; d < full.count; ++d) {
    const EvaluatedRange& r = p.ranges[d];
    const bool fixed = dereference || (squeezed && region.ranges[d].index);
    const std::int64_t k = fixed ? 0 : indices[next++];
    if (!region.allow_oob && (k < 0 || k >= r.count * r.tile))
      throw Error(ErrorClass::kLaunch, "index " + std::to_string(k) + " of a connector is outside its memlet on '" +
                                           *p.path + "', which has " + std::to_string(r.count * r.tile) +
                                           " elements in dimension " + std::to_string(d));
    full.at[d] = r.begin + (k / r.tile) * r.step + k % r.tile;
  }
  return address_of(*p.container, *p.path, full.span(), region.allow_oob);
}

bool truth(const CodeNode& node, CodeContext& context) {
  return evaluate(node, context).as_bool();
}

Value call_external(const CodeNode& node, CodeContext& context) {
  std::vector<CallbackArgument> args;
  for (const CodeNode& a : node.args) {
    if (a.kind != CodeNode::Kind::kAddress) {
      args.emplace_back(evaluate(a, context));
      continue;
    }
    const PointerBinding& p = context.pointers[a.slot];
    Indices begin;
    begin.count = p.ranges.size();
    for (std::size_t d = 0; d < begin.count; ++d) begin.at[d] = p.ranges[d].begin;
    args.emplace_back(static_cast<void*>(address_of(*p.container, *p.path, begin.span(), true)));
  }
  const Callback& callback = context.frame.callbacks[static_cast<std::size_t>(node.slot)];
  const ir::Symbol& symbol = *context.frame.slots->symbols[static_cast<std::size_t>(node.slot)];
  if (!callback) throw Error(ErrorClass::kUsage, "no function was given for callback '" + symbol.name + "'");
  const Value result = callback(args);
  if (symbol.type.kind() == Type::Kind::kCallback) {
    const auto& returns = symbol.type.callback().returns;
    if (!returns.empty() && returns.front().is_scalar()) return result.cast(returns.front().scalar());
  }
  return result;
}

enum class Signal : std::uint8_t { kNone, kBreak, kContinue };

Signal run(std::span<const CodeStatement> body, CodeContext& context);

Signal run(const CodeStatement& s, CodeContext& context) {
  switch (s.kind) {
    case CodeStatement::Kind::kSetLocal:
      context.locals[s.slot] = evaluate(s.value, context).cast(s.to);
      context.assigned[s.slot] = 1;
      return Signal::kNone;
    case CodeStatement::Kind::kSetPointer: {
      const Value value = evaluate(s.value, context);
      const Indices at = evaluate_indices(s.indices, context);
      const PointerBinding& p = context.pointers[s.slot];
      write_element(*p.container, *p.path, element_of(p, at.span()), value, p.wcr, context.frame, context.lane);
      return Signal::kNone;
    }
    case CodeStatement::Kind::kPush: {
      std::vector<std::byte> bytes(static_cast<std::size_t>(size_of(s.to)));
      evaluate(s.value, context).cast(s.to).store(bytes.data());
      context.queues[s.slot]->push(std::move(bytes));
      return Signal::kNone;
    }
    case CodeStatement::Kind::kIf:
      for (const CodeStatement::Branch& b : s.branches)
        if (truth(b.condition, context)) return run(b.body, context);
      return Signal::kNone;
    case CodeStatement::Kind::kWhile:
      while (truth(s.branches.front().condition, context))
        if (run(s.branches.front().body, context) == Signal::kBreak) break;
      return Signal::kNone;
    case CodeStatement::Kind::kBreak: return Signal::kBreak;
    case CodeStatement::Kind::kContinue: return Signal::kContinue;
    case CodeStatement::Kind::kEvaluate: evaluate(s.value, context); return Signal::kNone;
  }
  return Signal::kNone;
}

Signal run(std::span<const CodeStatement> body, CodeContext& context) {
  for (const CodeStatement& s : body)
    if (const Signal signal = run(s, context); signal != Signal::kNone) return signal;
  return Signal::kNone;
}

}  // namespace

EvaluatedRange evaluate(const RangePlan& range, const Frame& frame) {
  EvaluatedRange out;
  out.begin = range.begin(frame);
  if (range.index) return out;
  const std::int64_t end = range.end(frame);
  out.step = range.step(frame);
  out.tile = range.tile(frame);
  if (out.step == 0)
    throw Error(ErrorClass::kLaunch,
                "a range from " + std::to_string(out.begin) + " to " + std::to_string(end) + " has step 0");
  if (out.tile < 1) throw Error(ErrorClass::kLaunch, "a range has the tile size " + std::to_string(out.tile));
  std::int64_t span = 0;
  if (__builtin_sub_overflow(end, out.begin, &span))
    throw Error(ErrorClass::kLimit, "the length of a range overflows 64-bit integers");
  if (out.step > 0)
    out.count = span < 0 ? 0 : span / out.step + 1;
  else
    out.count = span > 0 ? 0 : span / out.step + 1;
  return out;
}

Region::Region(const Slots& slots, std::string_view path, const ir::Subset& subset, bool oob, ir::Id id)
    : container(slots.container(path)), allow_oob(oob), memlet(id) {
  for (const ir::Range& r : subset.ranges()) {
    RangePlan plan{Index(r.begin, slots), Index(r.end, slots), Index(r.step, slots), Index(r.tile, slots),
                   r.is_index()};
    single = single && plan.index;
    ranges.push_back(std::move(plan));
  }
}

CodeNode prepare(const tl::Expr& e, const CodeNames& names, const Slots& slots) {
  return Preparer(names, slots).expr(e);
}

std::vector<CodeStatement> prepare(const tl::Body& body, const CodeNames& names, const Slots& slots) {
  return Preparer(names, slots).body(body);
}

Value evaluate(const CodeNode& node, CodeContext& context) {
  switch (node.kind) {
    case CodeNode::Kind::kLiteral: return node.literal;
    case CodeNode::Kind::kLocal:
      if (!context.assigned[node.slot])
        throw Error(ErrorClass::kLaunch, "a local variable or output of a tasklet is read before it was assigned");
      return context.locals[node.slot];
    case CodeNode::Kind::kSymbol: return context.frame.symbol_value(node.slot);
    case CodeNode::Kind::kPop: {
      Queue& queue = *context.queues[node.slot];
      if (queue.empty()) throw Error(ErrorClass::kLaunch, "a tasklet pops an empty stream");
      const Value out = Value::load(queue.front().data(), static_cast<ScalarType>(node.op));
      queue.pop_front();
      return out;
    }
    case CodeNode::Kind::kPointer: {
      const Indices at = evaluate_indices(node.args, context);
      const PointerBinding& p = context.pointers[node.slot];
      return load_element(*p.container, *p.path, element_of(p, at.span()), context.lane);
    }
    case CodeNode::Kind::kContainer: {
      const Indices at = evaluate_indices(node.args, context);
      const Live& c = context.frame.existing(node.slot);
      const std::string& path = context.frame.slots->containers[static_cast<std::size_t>(node.slot)].path;
      return load_element(c, path, address_of(c, path, at.span(), false), context.lane);
    }
    case CodeNode::Kind::kUnary: return tl::apply(static_cast<tl::UnaryOp>(node.op), evaluate(node.args[0], context));
    case CodeNode::Kind::kBinary:
      return tl::apply(static_cast<tl::BinaryOp>(node.op), evaluate(node.args[0], context),
                       evaluate(node.args[1], context));
    case CodeNode::Kind::kAnd: return Value::boolean(truth(node.args[0], context) && truth(node.args[1], context));
    case CodeNode::Kind::kOr: return Value::boolean(truth(node.args[0], context) || truth(node.args[1], context));
    case CodeNode::Kind::kSelect: return evaluate(truth(node.args[0], context) ? node.args[1] : node.args[2], context);
    case CodeNode::Kind::kCall: {
      Value args[3];
      if (node.args.size() > 3) fail("a function has more than three arguments");
      for (std::size_t i = 0; i < node.args.size(); ++i) args[i] = evaluate(node.args[i], context);
      return tl::apply(static_cast<tl::Function>(node.op), std::span<const Value>(args, node.args.size()));
    }
    case CodeNode::Kind::kExternalCall: return call_external(node, context);
    case CodeNode::Kind::kAddress: fail("an address is used as a value");
    case CodeNode::Kind::kCast: return evaluate(node.args[0], context).cast(node.to);
  }
  return {};
}

void execute(std::span<const CodeStatement> body, CodeContext& context) {
  if (run(body, context) != Signal::kNone) fail("break or continue outside of a loop");
}

WcrPlan::WcrPlan(ir::ReduceOp reduce_op, const tl::Expr& custom_expr, const Type& element, const Slots& slots)
    : op(reduce_op) {
  if (op != ir::ReduceOp::kCustom) return;
  const ScalarType scalar = scalar_of(element, "the target of a custom WCR");
  CodeNames names;
  names.locals = {{"a", {0, scalar}}, {"b", {1, scalar}}};
  tl::TypeEnvironment env;
  env.name = [&](std::string_view name) -> std::optional<Type> {
    if (name == "a" || name == "b") return Type(scalar);
    const int s = slots.find_symbol(name);
    return s < 0 ? std::nullopt : std::optional<Type>(slots.symbols[static_cast<std::size_t>(s)]->type);
  };
  env.element = [](std::string_view) -> std::optional<Type> { return std::nullopt; };
  custom = prepare(tl::infer_types(custom_expr, env), names, slots);
}

Value combine(const WcrPlan& wcr, const Value& old_value, const Value& new_value, Frame& frame) {
  const ScalarType type = old_value.type();
  const Value value = new_value.cast(type);
  const Value pair[2] = {old_value, value};
  switch (wcr.op) {
    case ir::ReduceOp::kSum: return tl::apply(tl::BinaryOp::kAdd, old_value, value).cast(type);
    case ir::ReduceOp::kProduct: return tl::apply(tl::BinaryOp::kMul, old_value, value).cast(type);
    case ir::ReduceOp::kMin: return tl::apply(tl::Function::kMin, pair).cast(type);
    case ir::ReduceOp::kMax: return tl::apply(tl::Function::kMax, pair).cast(type);
    case ir::ReduceOp::kBitAnd: return tl::apply(tl::BinaryOp::kBitAnd, old_value, value).cast(type);
    case ir::ReduceOp::kBitOr: return tl::apply(tl::BinaryOp::kBitOr, old_value, value).cast(type);
    case ir::ReduceOp::kBitXor: return tl::apply(tl::BinaryOp::kBitXor, old_value, value).cast(type);
    case ir::ReduceOp::kLogicalAnd: return Value::boolean(old_value.as_bool() && value.as_bool()).cast(type);
    case ir::ReduceOp::kLogicalOr: return Value::boolean(old_value.as_bool() || value.as_bool()).cast(type);
    case ir::ReduceOp::kLogicalXor: return Value::boolean(old_value.as_bool() != value.as_bool()).cast(type);
    case ir::ReduceOp::kExchange: return value;
    case ir::ReduceOp::kCustom: {
      Value locals[2] = {old_value, value};
      std::uint8_t assigned[2] = {1, 1};
      CodeContext context{frame, locals, assigned, nullptr, nullptr, 0};
      return evaluate(wcr.custom, context).cast(type);
    }
  }
  return value;
}

void write_element(const Live& c, const std::string& path, std::byte* at, const Value& value, const WcrPlan* wcr,
                   Frame& frame, int lane) {
  if (c.desc->constant) fail("'" + path + "' is a constant and can't be written");
  if (wcr == nullptr)
    store_element(c, path, at, value, lane);
  else
    store_element(c, path, at, combine(*wcr, load_element(c, path, at, lane), value, frame), lane);
}

}  // namespace sdfg::interpret
