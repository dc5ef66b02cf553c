// Accumulating writes: plain, atomic, and into variables that reduce over a whole map.
#include <algorithm>
#include <functional>

#include "ir/reduce.hpp"
#include "lower/lowering.hpp"

namespace sdfg::lower {

using ir::ReduceOp;
using tasklet::BinaryOp;

namespace {

// The operator that C++ has for `a = a op b`; empty where there is none.
std::string_view compound_operator(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum: return "+=";
    case ReduceOp::kProduct: return "*=";
    case ReduceOp::kBitAnd: return "&=";
    case ReduceOp::kBitOr: return "|=";
    case ReduceOp::kBitXor: return "^=";
    case ReduceOp::kMin:
    case ReduceOp::kMax:
    case ReduceOp::kLogicalAnd:
    case ReduceOp::kLogicalOr:
    case ReduceOp::kLogicalXor:
    case ReduceOp::kExchange:
    case ReduceOp::kCustom: return "";
  }
  return "";
}

bool plain_number(const Type& t) {
  if (!t.is_scalar()) return false;
  const ScalarType s = t.scalar();
  return is_integer(s) || s == ScalarType::kFloat32 || s == ScalarType::kFloat64;
}

}  // namespace

tasklet::Expr Lowering::combine(const ir::Wcr& wcr, const Type& type) const {
  using tasklet::Expr;
  const Expr a = Expr::name("a", type);
  const Expr b = Expr::name("b", type);
  const auto binary = [&](BinaryOp op) { return Expr::binary(op, a, b); };
  const Expr zero = Expr::weak(0);
  const auto truth = [&](const Expr& e) { return Expr::binary(BinaryOp::kNotEqual, e, zero); };
  Expr value;
  switch (wcr.op) {
    case ReduceOp::kSum: value = binary(BinaryOp::kAdd); break;
    case ReduceOp::kProduct: value = binary(BinaryOp::kMul); break;
    case ReduceOp::kMin: value = Expr::call(tasklet::Function::kMin, {a, b}); break;
    case ReduceOp::kMax: value = Expr::call(tasklet::Function::kMax, {a, b}); break;
    case ReduceOp::kBitAnd: value = binary(BinaryOp::kBitAnd); break;
    case ReduceOp::kBitOr: value = binary(BinaryOp::kBitOr); break;
    case ReduceOp::kBitXor: value = binary(BinaryOp::kBitXor); break;
    case ReduceOp::kLogicalAnd: value = Expr::binary(BinaryOp::kAnd, truth(a), truth(b)); break;
    case ReduceOp::kLogicalOr: value = Expr::binary(BinaryOp::kOr, truth(a), truth(b)); break;
    case ReduceOp::kLogicalXor: value = Expr::binary(BinaryOp::kNotEqual, truth(a), truth(b)); break;
    case ReduceOp::kExchange: value = b; break;
    case ReduceOp::kCustom: value = wcr.custom; break;
  }
  tasklet::TypeEnvironment env;
  env.name = [&](std::string_view n) -> std::optional<Type> {
    if (n == "a" || n == "b") return type;
    if (const ir::Symbol* s = g_.symbols.find(n)) return s->type;
    return std::nullopt;
  };
  env.element = [](std::string_view) { return std::optional<Type>(); };
  return tasklet::infer_types(value, env);
}

bool Lowering::is_atomic(const ir::Wcr& wcr) const {
  return wcr.lowering == ir::WcrLowering::kAtomic ||
         (wcr.lowering != ir::WcrLowering::kPlain && (parallel_depth_ > 0 || kernel_ != nullptr));
}

void Lowering::checked_accumulate(const Side& at, const ir::Wcr& wcr, const Type& type, const Text& target,
                                  const Text& value, ir::Id origin, Text comment) {
  if (kernel_ == nullptr || !is_atomic(wcr) || !checks_numbers_of(type)) {
    accumulate(wcr, type, target, value, origin, std::move(comment));
    if (!is_accumulator(target)) check_numbers(at.path, at.subset, target, origin);
    return;
  }
  // Reading the element again would race with what other threads add to it: what was found is combined anew.
  const auto constant = [&](const Text& wish, Text init) {
    Declare d;
    d.type = type_text(type);
    d.name = names_.fresh(wish);
    d.init = std::move(init);
    d.is_const = true;
    Text name = d.name;
    emit(std::move(d), origin);
    return name;
  };
  Statements inner = collect([&] {
    Binding b;
    b.values["b"] = constant("operand", value);
    b.values["a"] = constant("found", device_atomic(wcr, type, target, b.values["b"]));
    check_numbers(at.path, at.subset, constant("combined", code_as(combine(wcr, type), type, b)), origin);
  });
  emit(Scope{std::move(inner)}, origin, std::move(comment));
}

void Lowering::accumulate(const ir::Wcr& wcr, const Type& type, const Text& target, const Text& value, ir::Id origin,
                          Text comment) {
  const bool atomic = is_atomic(wcr);
  if (atomic && kernel_ != nullptr) {
    emit(Evaluate{device_atomic(wcr, type, target, value)}, origin, std::move(comment));
    return;
  }
  if (!atomic) {
    const std::string_view op = compound_operator(wcr.op);
    if (!op.empty() && plain_number(type)) {
      emit(Store{target, Text(op), value}, origin, std::move(comment));
      return;
    }
    if (wcr.op == ReduceOp::kExchange) {
      emit(Store{target, "=", value}, origin, std::move(comment));
      return;
    }
    Binding b;
    b.values = {{"a", target}, {"b", value}};
    if (is_primary(value)) {
      emit(Store{target, "=", code_as(combine(wcr, type), type, b)}, origin, std::move(comment));
      return;
    }
    // The operand may occur several times in the combination.
    Statements inner = collect([&] {
      const Text operand = names_.fresh("operand");
      b.values["b"] = operand;
      Declare d;
      d.type = type_text(type);
      d.name = operand;
      d.init = value;
      d.is_const = true;
      emit(std::move(d), origin);
      emit(Store{target, "=", code_as(combine(wcr, type), type, b)}, origin);
    });
    emit(Scope{std::move(inner)}, origin, std::move(comment));
    return;
  }
  if (wcr.op == ReduceOp::kSum && plain_number(type)) {
    support_.need(Helper::kAtomicAdd);
    emit(Evaluate{"sdfg_atomic_add<" + type_text(type) + ">(&" + target + ", " + value + ")"}, origin,
         std::move(comment));
    return;
  }
  support_.need(Helper::kAtomicUpdate);
  Binding b;
  b.values = {{"a", "a"}, {"b", "b"}};
  const Text t = type_text(type);
  emit(Evaluate{"sdfg_atomic_update(&" + target + ", [b = (" + t + ")" + parenthesised(value) + "]([[maybe_unused]] " +
                t + " a) -> " + t + " { return " + code_as(combine(wcr, type), type, b) + "; })"},
       origin, std::move(comment));
}

std::optional<Text> Lowering::identity(ReduceOp op, const Type& type) {
  if (!type.is_scalar()) return std::nullopt;
  const std::optional<tasklet::Value> value = ir::identity_of(op, type.scalar());
  return value ? std::optional(literal(*value)) : std::nullopt;
}

namespace {

// Finds a memlet of `s` or below that accumulates into `container` by the surrounding reduction.
struct Found {
  const ir::Memlet* memlet = nullptr;
  std::string path;
};
void find_reduction(const ir::Sequence& s, std::string_view container, Found& found) {
  ir::walk(s, [&](const ir::Element& e, const ir::Ancestors&) {
    const auto* state = std::get_if<ir::State>(&e.kind);
    if (!state || found.memlet) return;
    for (const ir::Memlet& m : state->edges) {
      if (!m.wcr || m.wcr->lowering != ir::WcrLowering::kReduction) continue;
      const ir::Node* dst = state->find_node(m.dst);
      const auto* a = dst ? std::get_if<ir::Access>(&dst->kind) : nullptr;
      if (a && root_name(a->data) == container) {
        found = {&m, a->data};
        return;
      }
    }
  });
}

}  // namespace

std::optional<std::pair<std::string, ir::Subset>> Lowering::reduced_place(const ir::Map& m,
                                                                          std::string_view container) const {
  Found found;
  find_reduction(m.body, container, found);
  if (!found.memlet) return std::nullopt;
  return std::pair(found.path, found.memlet->dst_subset.value_or(ir::Subset()));
}

std::vector<Lowering::Accumulator> Lowering::open_accumulators(const ir::Element& e, const ir::Map& m, LoopHints& hints,
                                                               bool with_clause) {
  std::vector<Accumulator> opened;
  for (const ir::Map::Reduction& r : m.reductions) {
    const auto place = reduced_place(m, r.container);
    if (!place) continue;  // nothing accumulates any more: a pass removed it
    const auto& [path, subset] = *place;
    const ir::Container& c = container(path);
    Accumulator a;
    a.container = r.container;
    a.path = path;
    a.subset = subset;
    a.op = r.op;
    a.type = c.type;
    a.target = element_at(path, subset);
    for (const Accumulator& outer : accumulators_) {
      if (outer.container == r.container) a.target = outer.variable;
    }
    const auto start = identity(r.op, c.type);
    if (!start)
      unsupported(
          e.id, "a reduction of type " + c.type.str() + " by the operator '" + std::string(ir::to_string(r.op)) + "'");
    // A private scalar of this very scope needs no second variable, unless it is spelled through a pointer.
    if (c.is_scalar() && !is_pointer(path) && a.target == base(path)) {
      a.variable = a.target;
    } else {
      a.variable = names_.fresh(r.container + "_acc");
      Declare d;
      d.type = type_text(c.type);
      d.name = a.variable;
      d.init = a.target;
      emit(std::move(d), e.id);
    }
    if (with_clause) {
      const std::string_view compound = compound_operator(r.op);
      Text op;
      if (!compound.empty() && plain_number(c.type)) {
        op = compound.substr(0, 1);
      } else {
        op = "sdfg_" + std::string(ir::to_string(r.op));
        std::ranges::replace(op, ' ', '_');
        Binding b;
        b.values = {{"a", "omp_out"}, {"b", "omp_in"}};
        ir::Wcr wcr;
        wcr.op = r.op;
        support_.declare_reduction(op, type_text(c.type), code_as(combine(wcr, c.type), c.type, b), *start);
      }
      hints.reductions.emplace_back(op, a.variable);
    }
    opened.push_back(a);
  }
  accumulators_.insert(accumulators_.end(), opened.begin(), opened.end());
  return opened;
}

void Lowering::close_accumulators(const std::vector<Accumulator>& accumulators, const ir::Element& e) {
  for (const Accumulator& a : accumulators) {
    accumulators_.pop_back();
    if (a.variable != a.target) emit(Store{a.target, "=", a.variable}, e.id);
    if (!is_accumulator(a.target)) check_numbers(a.path, a.subset, a.target, e.id);
  }
}

}  // namespace sdfg::lower
