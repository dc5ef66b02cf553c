// From expression trees to the typed scalar code of tasklets, conditions and assignments.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "builder/impl.hpp"

namespace sdfg::detail {

namespace {

using tasklet::BinaryOp;
using tasklet::Function;
using tasklet::UnaryOp;

struct Spelling {
  enum class Kind : std::uint8_t { kUnary, kBinary, kCall, kSelect, kCast };
  Kind kind;
  UnaryOp unary = UnaryOp::kNegate;
  BinaryOp binary = BinaryOp::kAdd;
  Function function = Function::kMin;
};
Spelling spelling(UnaryOp op) {
  return {Spelling::Kind::kUnary, op};
}
Spelling spelling(BinaryOp op) {
  return {Spelling::Kind::kBinary, UnaryOp::kNegate, op};
}
Spelling spelling(Function f) {
  return {Spelling::Kind::kCall, UnaryOp::kNegate, BinaryOp::kAdd, f};
}

Spelling spelling(Op op) {
  switch (op) {
    case Op::kNegate: return spelling(UnaryOp::kNegate);
    case Op::kNot: return spelling(UnaryOp::kNot);
    case Op::kBitNot: return spelling(UnaryOp::kBitNot);
    case Op::kAdd: return spelling(BinaryOp::kAdd);
    case Op::kSub: return spelling(BinaryOp::kSub);
    case Op::kMul: return spelling(BinaryOp::kMul);
    case Op::kDiv: return spelling(BinaryOp::kDiv);
    case Op::kRemainder: return spelling(Function::kCppMod);
    case Op::kFloorDiv: return spelling(BinaryOp::kFloorDiv);
    case Op::kFloorMod: return spelling(BinaryOp::kMod);
    case Op::kPower: return spelling(BinaryOp::kPow);
    case Op::kBitAnd: return spelling(BinaryOp::kBitAnd);
    case Op::kBitOr: return spelling(BinaryOp::kBitOr);
    case Op::kBitXor: return spelling(BinaryOp::kBitXor);
    case Op::kShiftLeft: return spelling(BinaryOp::kShiftLeft);
    case Op::kShiftRight: return spelling(BinaryOp::kShiftRight);
    case Op::kEqual: return spelling(BinaryOp::kEqual);
    case Op::kNotEqual: return spelling(BinaryOp::kNotEqual);
    case Op::kLess: return spelling(BinaryOp::kLess);
    case Op::kLessEqual: return spelling(BinaryOp::kLessEqual);
    case Op::kGreater: return spelling(BinaryOp::kGreater);
    case Op::kGreaterEqual: return spelling(BinaryOp::kGreaterEqual);
    case Op::kAnd: return spelling(BinaryOp::kAnd);
    case Op::kOr: return spelling(BinaryOp::kOr);
    case Op::kMin: return spelling(Function::kMin);
    case Op::kMax: return spelling(Function::kMax);
    case Op::kAbs: return spelling(Function::kAbs);
    case Op::kSign: return spelling(Function::kSign);
    case Op::kRound: return spelling(Function::kRound);
    case Op::kCeil: return spelling(Function::kCeil);
    case Op::kFloor: return spelling(Function::kFloor);
    case Op::kTrunc: return spelling(Function::kTrunc);
    case Op::kExp: return spelling(Function::kExp);
    case Op::kExp2: return spelling(Function::kExp2);
    case Op::kExpm1: return spelling(Function::kExpm1);
    case Op::kLog: return spelling(Function::kLog);
    case Op::kLog2: return spelling(Function::kLog2);
    case Op::kLog10: return spelling(Function::kLog10);
    case Op::kLog1p: return spelling(Function::kLog1p);
    case Op::kSqrt: return spelling(Function::kSqrt);
    case Op::kRsqrt: return spelling(Function::kRsqrt);
    case Op::kCbrt: return spelling(Function::kCbrt);
    case Op::kSin: return spelling(Function::kSin);
    case Op::kCos: return spelling(Function::kCos);
    case Op::kTan: return spelling(Function::kTan);
    case Op::kAsin: return spelling(Function::kAsin);
    case Op::kAcos: return spelling(Function::kAcos);
    case Op::kAtan: return spelling(Function::kAtan);
    case Op::kAtan2: return spelling(Function::kAtan2);
    case Op::kSinh: return spelling(Function::kSinh);
    case Op::kCosh: return spelling(Function::kCosh);
    case Op::kTanh: return spelling(Function::kTanh);
    case Op::kAsinh: return spelling(Function::kAsinh);
    case Op::kAcosh: return spelling(Function::kAcosh);
    case Op::kAtanh: return spelling(Function::kAtanh);
    case Op::kErf: return spelling(Function::kErf);
    case Op::kErfc: return spelling(Function::kErfc);
    case Op::kLgamma: return spelling(Function::kLgamma);
    case Op::kTgamma: return spelling(Function::kTgamma);
    case Op::kHypot: return spelling(Function::kHypot);
    case Op::kFmod: return spelling(Function::kFmod);
    case Op::kCopysign: return spelling(Function::kCopysign);
    case Op::kFma: return spelling(Function::kFma);
    case Op::kIsNan: return spelling(Function::kIsNan);
    case Op::kIsInf: return spelling(Function::kIsInf);
    case Op::kIsFinite: return spelling(Function::kIsFinite);
    case Op::kSignbit: return spelling(Function::kSignbit);
    case Op::kConj: return spelling(Function::kConj);
    case Op::kReal: return spelling(Function::kReal);
    case Op::kImag: return spelling(Function::kImag);
    case Op::kMakeComplex: return spelling(Function::kMakeComplex);
    case Op::kSelect: return {Spelling::Kind::kSelect};
    case Op::kCast: return {Spelling::Kind::kCast};
  }
  return {Spelling::Kind::kCast};
}

tasklet::Expr converted(tasklet::Expr e, ScalarType type) {
  return e.type() == Type(type) ? e : tasklet::Expr::cast(type, std::move(e)).with_type(type);
}

Type natural_type(const Spelling& s, const std::vector<Type>& args, ScalarType type) {
  switch (s.kind) {
    case Spelling::Kind::kUnary: return tasklet::result_type(s.unary, args[0]);
    case Spelling::Kind::kBinary: return tasklet::result_type(s.binary, args[0], args[1]);
    case Spelling::Kind::kCall: return tasklet::result_type(s.function, args);
    case Spelling::Kind::kSelect:
    case Spelling::Kind::kCast: return type;
  }
  return type;
}

// The operation in the code's own typing rules, converted to the type the C++ expression had.
tasklet::Expr operation(Op op, ScalarType type, std::vector<tasklet::Expr> args) {
  const Spelling s = spelling(op);
  std::vector<Type> types;
  for (const tasklet::Expr& arg : args) types.push_back(arg.type());
  const Type natural = natural_type(s, types, type);
  switch (s.kind) {
    case Spelling::Kind::kUnary:
      return converted(tasklet::Expr::unary(s.unary, std::move(args[0])).with_type(natural), type);
    case Spelling::Kind::kBinary:
      return converted(tasklet::Expr::binary(s.binary, std::move(args[0]), std::move(args[1])).with_type(natural),
                       type);
    case Spelling::Kind::kCall:
      return converted(tasklet::Expr::call(s.function, std::move(args)).with_type(natural), type);
    case Spelling::Kind::kSelect:
      return tasklet::Expr::select(std::move(args[0]), converted(std::move(args[1]), type),
                                   converted(std::move(args[2]), type))
          .with_type(type);
    case Spelling::Kind::kCast: return converted(std::move(args[0]), type);
  }
  return args[0];
}

// Expressions deeper than this continue in a local variable: compilers and readers of files limit how deep they nest.
constexpr std::uint32_t kDeepestExpression = 64;
constexpr std::uint32_t kDeepestCondition = 100;  // there is no body that could hold locals

// Turns a tree into code. Nodes used more than once, and parts of deep trees, become local variables when there is a
// body to put them in.
class Coder {
 public:
  using Read = std::function<tasklet::Expr(const ReadLeaf&, ScalarType)>;
  Coder(const BuilderImpl& builder, Read read) : builder_(builder), read_(std::move(read)) {}

  tasklet::Expr whole(const TreePtr& tree, tasklet::Body* body, const std::function<std::string()>& new_local) {
    body_ = body;
    new_local_ = new_local;
    if (body != nullptr) count(tree);
    return code(tree);
  }

 private:
  void count(const TreePtr& tree) {
    if (++uses_[tree.get()] > 1) return;
    for (const TreePtr& arg : tree->args) count(arg);
  }

  tasklet::Expr code(const TreePtr& tree) {
    const auto known = done_.find(tree.get());
    if (known != done_.end()) return known->second;
    tasklet::Expr e = fresh(tree);
    if (body_ != nullptr && !tree->args.empty() && (uses_.at(tree.get()) > 1 || e.depth() >= kDeepestExpression)) {
      const std::string name = new_local_();
      body_->push_back({tasklet::Assign{tasklet::Expr::name(name, tree->type), std::move(e)}});
      e = tasklet::Expr::name(name, tree->type);
    }
    done_.emplace(tree.get(), e);
    return e;
  }

  tasklet::Expr fresh(const TreePtr& tree) {
    if (const auto* literal = std::get_if<tasklet::Literal>(&tree->node)) return tasklet::Expr(*literal, tree->type);
    if (const auto* index = std::get_if<symbolic::Expr>(&tree->node))
      return converted(builder_.index_code(*index), tree->type);
    if (const auto* read = std::get_if<ReadLeaf>(&tree->node)) return read_(*read, tree->type);
    std::vector<tasklet::Expr> args;
    for (const TreePtr& arg : tree->args) args.push_back(code(arg));
    if (const auto* callee = std::get_if<Callee>(&tree->node)) {
      const Type& type = builder_.graph.symbols.at(callee->name).type;
      const std::vector<Type>& returns = type.callback().returns;
      return tasklet::Expr(tasklet::ExternalCall{callee->name, std::move(args)},
                           returns.empty() ? Type() : returns.front());
    }
    return operation(std::get<Op>(tree->node), tree->type, std::move(args));
  }

  const BuilderImpl& builder_;
  Read read_;
  tasklet::Body* body_ = nullptr;
  std::function<std::string()> new_local_;
  std::unordered_map<const Tree*, int> uses_;            // looked up only
  std::unordered_map<const Tree*, tasklet::Expr> done_;  // looked up only
};

tasklet::TypeEnvironment environment(const ir::Graph& graph, const std::map<std::string, Type, std::less<>>& names) {
  tasklet::TypeEnvironment env;
  env.name = [&graph, names](std::string_view name) -> std::optional<Type> {
    if (const auto own = names.find(name); own != names.end()) return own->second;
    if (const ir::Symbol* symbol = graph.symbols.find(name)) return symbol->type;
    return std::nullopt;
  };
  env.element = [&graph](std::string_view base) -> std::optional<Type> {
    const ir::Container* c = graph.containers.find(base);
    return c == nullptr ? std::nullopt : std::optional<Type>(c->type);
  };
  return env;
}

// The typing rules know no places: what they refuse (floor of complex values) is wrong at the user's call.
template <typename Make>
auto at_call(const BuilderImpl& b, const SourceLocation& where, Make&& make) {
  try {
    return make();
  } catch (const Error& e) {
    if (std::any_of(e.places().begin(), e.places().end(), [](const Error::Place& p) { return p.location.known(); }))
      throw;
    std::string message = e.message();
    if (message.ends_with('.')) message.pop_back();
    const ErrorClass error_class = e.error_class() == ErrorClass::kGraph ? ErrorClass::kUsage : e.error_class();
    throw Error(error_class, std::move(message), b.places(where, {}), e.hint());
  }
}

}  // namespace

void BuilderImpl::check_operation(const Tree& tree, const SourceLocation& where) const {
  const Op* op = std::get_if<Op>(&tree.node);
  if (op == nullptr) return;
  std::vector<Type> types;
  for (const TreePtr& arg : tree.args) types.emplace_back(arg->type);
  at_call(*this, where, [&] { return natural_type(spelling(*op), types, tree.type); });
}

tasklet::Expr BuilderImpl::index_code(const symbolic::Expr& e) const {
  const auto type_of = [&](std::string_view symbol) -> Type {
    const ir::Symbol* s = graph.symbols.find(symbol);
    return s == nullptr ? Type(ScalarType::kInt64) : s->type;
  };
  tasklet::Expr code = tasklet::from_symbolic(e, type_of);
  // Arithmetic on symbols is exact in 64 bits, whatever their own width is.
  std::map<std::string, tasklet::Expr, std::less<>> wide;
  for (const std::string& name : symbolic::free_symbols(e)) {
    const Type type = type_of(name);
    if (type != Type(ScalarType::kInt64))
      wide.emplace(name, tasklet::Expr::cast(ScalarType::kInt64, tasklet::Expr::name(name, type)));
  }
  if (!wide.empty()) code = tasklet::replace_names(code, wide);
  return tasklet::infer_types(code, environment(graph, {}));
}

tasklet::Expr BuilderImpl::expression_code(const TreePtr& tree, const SourceLocation& where) const {
  if (tree->depth > kDeepestCondition) {
    throw Error(ErrorClass::kLimit,
                "a condition or bound nests more than " + std::to_string(kDeepestCondition) + " operations",
                places(where, {}), "store its value in a variable first: auto value = g.local(\"value\", ...)");
  }
  Coder coder(*this, [&](const ReadLeaf& read, ScalarType type) {
    std::vector<tasklet::Expr> indices;
    for (const symbolic::Expr& i : read.indices) indices.push_back(index_code(i));
    return tasklet::Expr::subscript(read.container, std::move(indices), type);
  });
  return at_call(*this, where,
                 [&] { return tasklet::infer_types(coder.whole(tree, nullptr, {}), environment(graph, {})); });
}

void BuilderImpl::emit_tasklet(const std::string& container, const std::vector<symbolic::Expr>& indices,
                               const TreePtr& tree, const std::optional<ir::ReduceOp>& wcr,
                               const SourceLocation& where) {
  // One connector per distinct element, one access node per container.
  struct Input {
    ReadLeaf read;
    std::string connector;
    ScalarType type;
  };
  std::vector<Input> inputs;
  std::map<std::string, Type, std::less<>> types;
  const auto is_free = [&](const std::string& name) {
    const ir::Container* c = graph.containers.find(name);
    return !types.contains(name) && !graph.symbols.contains(name) && (c == nullptr || !c->constant);
  };
  const auto connector_name = [&](const std::string& stem, std::size_t& next) {
    std::string name = stem + std::to_string(next++);
    while (!is_free(name)) name = stem + std::to_string(next++);
    code_names.insert(name);
    return name;
  };
  std::size_t next_input = 0;
  std::size_t next_local = 0;
  Coder coder(*this, [&](const ReadLeaf& read, ScalarType type) {
    const auto known = std::find_if(inputs.begin(), inputs.end(), [&](const Input& i) {
      return i.read.container == read.container && i.read.indices == read.indices;
    });
    if (known != inputs.end()) return tasklet::Expr::name(known->connector, type);
    const std::string name = connector_name("in", next_input);
    types.emplace(name, type);
    inputs.push_back({read, name, type});
    return tasklet::Expr::name(name, type);
  });

  tasklet::Body body;
  tasklet::Expr value =
      at_call(*this, where, [&] { return coder.whole(tree, &body, [&] { return connector_name("v", next_local); }); });
  ir::Tasklet tasklet;
  std::string out = "out";
  if (container.empty()) {
    body.push_back({tasklet::Evaluate{std::move(value)}});
  } else {
    const ScalarType type = graph.containers.at(container).type.scalar();
    while (!is_free(out)) out += '_';
    code_names.insert(out);
    types.emplace(out, type);
    body.push_back({tasklet::Assign{tasklet::Expr::name(out, type), converted(std::move(value), type)}});
    tasklet.outputs.push_back({out, type});
  }
  if (std::holds_alternative<Callee>(tree->node)) tasklet.side_effects = true;
  for (const Input& input : inputs) tasklet.inputs.push_back({input.connector, input.type});
  tasklet.code.body = at_call(*this, where, [&] { return tasklet::infer_types(body, environment(graph, types)); });

  ir::State state;
  std::map<std::string, ir::Id, std::less<>> accesses;
  for (const Input& input : inputs) {
    if (accesses.contains(input.read.container)) continue;
    const ir::Id id = graph.new_id();
    accesses.emplace(input.read.container, id);
    state.nodes.push_back({id, {}, where, ir::Access{input.read.container}});
  }
  const ir::Id code = graph.new_id();
  std::string label = "call";
  if (!container.empty()) label = (wcr ? "accumulate_" : "set_") + containers.at(container).label;
  state.nodes.push_back({code, std::move(label), where, std::move(tasklet)});
  for (const Input& input : inputs) {
    ir::Memlet m;
    m.id = graph.new_id();
    m.src = accesses.at(input.read.container);
    m.dst = code;
    m.dst_connector = input.connector;
    m.src_subset = ir::Subset::index(input.read.indices);
    m.location = where;
    state.edges.push_back(std::move(m));
  }
  if (!container.empty()) {
    ir::Memlet m;
    m.id = graph.new_id();
    m.src = code;
    m.dst = graph.new_id();
    m.src_connector = out;
    m.dst_subset = ir::Subset::index(indices);
    m.location = where;
    if (wcr) m.wcr = ir::Wcr{*wcr, {}, ir::WcrLowering::kUndecided};
    state.nodes.push_back({m.dst, {}, where, ir::Access{container}});
    state.edges.push_back(std::move(m));
  }
  emit(std::move(state), {}, where);
}

void BuilderImpl::free_code_name(const std::string& name) {
  if (!code_names.erase(name)) return;
  ir::walk(graph.body, [&](ir::Element& e) {
    auto* state = std::get_if<ir::State>(&e.kind);
    if (state == nullptr) return;
    for (ir::Node& n : state->nodes) {
      auto* t = std::get_if<ir::Tasklet>(&n.kind);
      if (t == nullptr || t->code.language != tasklet::Language::kTree) continue;
      const tasklet::Uses uses = tasklet::uses_of(t->code.body);
      const auto has = [&](const auto& list) {
        return std::any_of(list.begin(), list.end(), [&](const ir::Connector& c) { return c.name == name; });
      };
      const bool is_local = std::find(uses.written.begin(), uses.written.end(), name) != uses.written.end();
      if (!has(t->inputs) && !has(t->outputs) && !is_local) continue;
      const std::string other = name + "_";
      t->code.body = tasklet::replace_names(t->code.body, {{name, tasklet::Expr::name(other)}});
      std::map<std::string, Type, std::less<>> types;
      for (auto* list : {&t->inputs, &t->outputs}) {
        for (ir::Connector& c : *list) {
          if (c.name == name) c.name = other;
          types.emplace(c.name, c.type);
        }
      }
      t->code.body = tasklet::infer_types(t->code.body, environment(graph, types));
      for (ir::Memlet& m : state->edges) {
        if (m.dst == n.id && m.dst_connector == name) m.dst_connector = other;
        if (m.src == n.id && m.src_connector == name) m.src_connector = other;
      }
    }
  });
  code_names.insert(name + "_");
}

}  // namespace sdfg::detail
