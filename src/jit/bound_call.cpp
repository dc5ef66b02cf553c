// Calls with arguments by name: conversion of values, symbols solved from shapes, shapes verified against the graph.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <sdfg/function.hpp>
#include <utility>

#include "jit/function_impl.hpp"
#include "jit/signature.hpp"
#include "jit/symbol_bounds.hpp"
#include "tasklet/value.hpp"

namespace sdfg {

struct BoundCall::Impl {
  struct Slot {
    bool bound = false;
    bool solved = false;                            // by the shapes of the last call, not given
    void* pointer = nullptr;                        // containers and callbacks
    alignas(16) std::array<std::byte, 16> value{};  // values of up to 16 bytes
    std::vector<std::int64_t> shape;                // given extents
    bool has_shape = false;
  };

  std::shared_ptr<detail::FunctionImpl> function;
  std::vector<Slot> slots;

  std::size_t index_of(std::string_view name) const;
  // Fills unbound symbols from the shapes given, as far as they follow.
  void solve_symbols();
  // Nothing is left without a value. Says which extent is to blame when one has no solution or more than one.
  void check_bound() const;
  void check_shapes() const;
  // No argument has a negative extent.
  void check_extents() const;
  // The bounds that the graph states for its symbols, which generated code relies on.
  void check_symbols() const;
  // A null pointer is fine only for what has no elements.
  void check_pointers() const;
  std::map<std::string, std::int64_t, std::less<>> known_symbols() const;
};

namespace {

[[noreturn]] void usage(const detail::FunctionImpl& f, const std::string& text, std::string hint = {}) {
  throw Error(ErrorClass::kUsage, "call of '" + f.graph->name + "': " + text, {}, std::move(hint));
}

bool is_callback(const Parameter& p) {
  return p.type.kind() == Type::Kind::kCallback;
}
bool is_symbol(const detail::FunctionImpl& f, const Parameter& p) {
  return !is_callback(p) && f.graph->containers.find(p.name) == nullptr;
}

using Values = std::map<std::string, std::int64_t, std::less<>>;
__extension__ typedef __int128 Wide;

std::vector<std::string> without_value(const symbolic::Expr& e, const Values& known) {
  std::vector<std::string> names;
  for (const std::string& s : symbolic::free_symbols(e)) {
    if (!known.contains(s)) names.push_back(s);
  }
  return names;
}

// An extent that was given, and what the graph says it is.
struct Equation {
  enum class Outcome : std::uint8_t { kSolved, kNoSolution, kOpen };

  const symbolic::Expr& extent;
  std::int64_t given;

  // For the one symbol without a value. Open: the extent is not affine in it, or does not depend on its value.
  Outcome solve(const std::string& symbol, const Values& known, std::int64_t& solution) const {
    const auto affine = symbolic::affine_in(extent, symbol);
    if (!affine) return Outcome::kOpen;
    const Wide slope = symbolic::evaluate(affine->slope, known);
    const Wide gap = Wide{given} - symbolic::evaluate(affine->rest, known);
    if (slope == 0) return gap == 0 ? Outcome::kOpen : Outcome::kNoSolution;
    if (gap % slope != 0) return Outcome::kNoSolution;
    const Wide value = gap / slope;
    solution = static_cast<std::int64_t>(value);
    return solution == value ? Outcome::kSolved : Outcome::kNoSolution;
  }
};

std::string extent_text(const ir::Container& c, std::size_t d) {
  return "extent " + std::to_string(d) + " of '" + c.name + "'";
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string out = "{";
  for (const std::int64_t n : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(n);
  return out + "}";
}

}  // namespace

BoundCall::BoundCall(std::shared_ptr<detail::FunctionImpl> function) : impl_(std::make_unique<Impl>()) {
  if (!function) throw Error(ErrorClass::kUsage, "an empty function can't be called");
  impl_->slots.resize(function->parameters().size());
  impl_->function = std::move(function);
}
BoundCall::BoundCall(BoundCall&&) noexcept = default;
BoundCall& BoundCall::operator=(BoundCall&&) noexcept = default;
BoundCall::~BoundCall() = default;

BoundCall::Impl& BoundCall::impl() const {
  if (!impl_)
    throw Error(ErrorClass::kUsage, "a call with bound arguments is used that was moved from", {},
                "use the one that it was moved to, or bind anew");
  return *impl_;
}

std::size_t BoundCall::Impl::index_of(std::string_view name) const {
  for (std::size_t i = 0; i < function->parameters().size(); ++i) {
    if (function->parameters()[i].name == name) return i;
  }
  usage(*function, "there is no parameter '" + std::string(name) + "'; the signature is " +
                       jit::signature_text(function->parameters()));
}

BoundCall& BoundCall::bind_pointer(std::string_view name, void* data, detail::CppType type,
                                   const std::vector<std::int64_t>* shape) {
  const std::size_t i = impl().index_of(name);
  const Parameter& p = impl().function->parameters()[i];
  if (!p.is_pointer) usage(*impl().function, "parameter '" + p.name + "' is passed by value, not by pointer");
  if (type.scalar && p.type.is_scalar() && *type.scalar != p.type.scalar()) {
    usage(*impl().function, "parameter '" + p.name + "' has element type " + p.type.str() +
                                ", bound was a pointer to " + std::string(to_string(*type.scalar)));
  }
  if (p.written && type.is_const)
    usage(*impl().function, "parameter '" + p.name + "' is written, so it can't be bound to const data");
  Impl::Slot& slot = impl().slots[i];
  slot.bound = true;
  slot.pointer = data;
  slot.has_shape = shape != nullptr;
  if (shape != nullptr) {
    if (static_cast<int>(shape->size()) != p.rank) {
      usage(*impl().function, "parameter '" + p.name + "' has " + std::to_string(p.rank) + " dimensions, the extents " +
                                  shape_text(*shape) + " have " + std::to_string(shape->size()));
    }
    slot.shape = *shape;
  }
  return *this;
}

BoundCall& BoundCall::bind_integer(std::string_view name, std::int64_t value, bool is_unsigned) {
  const std::size_t i = impl().index_of(name);
  const Parameter& p = impl().function->parameters()[i];
  if (p.is_pointer || !p.type.is_scalar())
    usage(*impl().function, "parameter '" + p.name + "' is not a number: " + jit::signature_text(std::span(&p, 1)));
  const ScalarType type = p.type.scalar();
  Impl::Slot& slot = impl().slots[i];
  const tasklet::Value given = tasklet::Value::integer(value, is_unsigned ? ScalarType::kUInt64 : ScalarType::kInt64);
  const tasklet::Value converted = given.cast(type);
  const long double exact = is_unsigned ? static_cast<long double>(static_cast<std::uint64_t>(value))
                                        : static_cast<long double>(value);  // its significand holds 64 bits
  const bool fits = is_integer(type) || type == ScalarType::kBool
                        ? converted.as_int() == value && !(is_unsigned && value < 0 && type != ScalarType::kUInt64) &&
                              !(!is_unsigned && value < 0 && sdfg::is_unsigned(type))
                        : static_cast<long double>(converted.as_complex().real()) == exact;
  if (!fits)
    usage(*impl().function,
          "the value " + given.str() + " does not fit parameter '" + p.name + "' of type " + p.type.str());
  converted.store(slot.value.data());
  slot.bound = true;
  slot.solved = false;
  return *this;
}

BoundCall& BoundCall::bind_value(std::string_view name, const void* value, ScalarType type) {
  const std::size_t i = impl().index_of(name);
  const Parameter& p = impl().function->parameters()[i];
  if (p.is_pointer || !p.type.is_scalar()) usage(*impl().function, "parameter '" + p.name + "' is not passed by value");
  const ScalarType wanted = p.type.scalar();
  const bool widens = promote(type, wanted) == wanted && !is_integer(wanted) && wanted != ScalarType::kBool;
  if (type != wanted && !widens) {
    usage(*impl().function,
          "parameter '" + p.name + "' has type " + p.type.str() + ", bound was a " + std::string(to_string(type)));
  }
  tasklet::Value::load(value, type).cast(wanted).store(impl().slots[i].value.data());
  impl().slots[i].bound = true;
  return *this;
}

BoundCall& BoundCall::bind_function(std::string_view name, void (*function)()) {
  const std::size_t i = impl().index_of(name);
  if (!is_callback(impl().function->parameters()[i]))
    usage(*impl().function, "parameter '" + std::string(name) + "' is no callback");
  impl().slots[i].pointer = reinterpret_cast<void*>(function);
  impl().slots[i].bound = true;
  return *this;
}

std::map<std::string, std::int64_t, std::less<>> BoundCall::Impl::known_symbols() const {
  std::map<std::string, std::int64_t, std::less<>> known;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Parameter& p = function->parameters()[i];
    if (slots[i].bound && is_symbol(*function, p)) {
      known[p.name] = tasklet::Value::load(slots[i].value.data(), p.type.scalar()).as_int();
    }
  }
  return known;
}

void BoundCall::Impl::solve_symbols() {
  for (Slot& slot : slots) {
    if (std::exchange(slot.solved, false)) slot.bound = false;
  }
  auto known = known_symbols();
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!slots[i].has_shape) continue;
      const ir::Container& c = function->graph->containers.at(function->parameters()[i].name);
      for (std::size_t d = 0; d < c.rank(); ++d) {
        const Equation equation{c.layout.shape()[d], slots[i].shape[d]};
        const std::vector<std::string> unknown = without_value(equation.extent, known);
        std::int64_t solution = 0;
        if (unknown.size() != 1) continue;
        if (equation.solve(unknown[0], known, solution) != Equation::Outcome::kSolved) continue;
        known[unknown[0]] = solution;
        changed = true;
      }
    }
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Parameter& p = function->parameters()[i];
    if (slots[i].bound || !is_symbol(*function, p)) continue;
    if (auto it = known.find(p.name); it != known.end()) {
      const tasklet::Value v = tasklet::Value::integer(it->second).cast(p.type.scalar());
      if (v.as_int() != it->second)
        usage(*function, "the extents ask for " + p.name + " = " + std::to_string(it->second) +
                             ", which does not fit " + p.type.str());
      v.store(slots[i].value.data());
      slots[i].bound = slots[i].solved = true;
    }
  }
}

void BoundCall::Impl::check_bound() const {
  std::string missing;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].bound) missing += (missing.empty() ? "'" : ", '") + function->parameters()[i].name + "'";
  }
  if (missing.empty()) return;
  const Values known = known_symbols();
  std::string open;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].has_shape) continue;
    const ir::Container& c = function->graph->containers.at(function->parameters()[i].name);
    for (std::size_t d = 0; d < c.rank(); ++d) {
      const Equation equation{c.layout.shape()[d], slots[i].shape[d]};
      const std::vector<std::string> unknown = without_value(equation.extent, known);
      if (unknown.empty()) continue;
      const std::string given = std::to_string(equation.given);
      std::int64_t solution = 0;
      if (unknown.size() == 1 && equation.solve(unknown[0], known, solution) == Equation::Outcome::kNoSolution) {
        usage(*function, extent_text(c, d) + " is " + given + ", and no " + unknown[0] + " gives " +
                             equation.extent.str() + " = " + given);
      }
      if (open.empty())
        open = extent_text(c, d) + ", " + equation.extent.str() + " = " + given + ", does not tell " +
               (unknown.size() == 1 ? unknown[0] : "which values its symbols have");
    }
  }
  usage(*function, "not bound: " + missing, open);
}

void BoundCall::Impl::check_shapes() const {
  const auto known = known_symbols();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].has_shape) continue;
    const ir::Container& c = function->graph->containers.at(function->parameters()[i].name);
    if (!c.layout.is_packed()) {
      usage(*function, "parameter '" + c.name + "' has strides of its own, so extents alone don't describe it",
            "bind the plain pointer");
    }
    for (std::size_t d = 0; d < c.rank(); ++d) {
      const std::int64_t expected = symbolic::evaluate(c.layout.shape()[d], known);
      if (expected != slots[i].shape[d]) {
        usage(*function, extent_text(c, d) + " is " + std::to_string(slots[i].shape[d]) + ", the graph needs " +
                             c.layout.shape()[d].str() + " = " + std::to_string(expected));
      }
    }
  }
}

void BoundCall::Impl::check_extents() const {
  const auto known = known_symbols();
  for (const Parameter& p : function->parameters()) {
    const ir::Container* c = function->graph->containers.find(p.name);
    if (c == nullptr || c->kind != ir::ContainerKind::kArray) continue;
    for (std::size_t d = 0; d < c->rank(); ++d) {
      const symbolic::Expr& extent = c->layout.shape()[d];
      if (!std::ranges::all_of(symbolic::free_symbols(extent), [&](auto& n) { return known.contains(n); })) continue;
      if (const std::int64_t value = symbolic::evaluate(extent, known); value < 0)
        usage(*function, extent_text(*c, d) + " would be " + extent.str() + " = " + std::to_string(value));
    }
  }
}

void BoundCall::Impl::check_symbols() const {
  if (const auto broken = jit::broken_symbol_bound(*function->graph, known_symbols())) usage(*function, *broken);
}

void BoundCall::Impl::check_pointers() const {
  const auto known = known_symbols();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Parameter& p = function->parameters()[i];
    if (slots[i].pointer != nullptr) continue;
    if (is_callback(p)) usage(*function, "callback '" + p.name + "' was bound to a null pointer");
    if (!p.is_pointer) continue;
    const ir::Container& c = function->graph->containers.at(p.name);
    if (c.kind != ir::ContainerKind::kArray && c.kind != ir::ContainerKind::kScalar) continue;
    const std::int64_t count = c.is_scalar() ? 1 : symbolic::evaluate(symbolic::product(c.layout.shape()), known);
    if (count > 0)
      usage(*function, "parameter '" + p.name + "' was bound to a null pointer, but has " + std::to_string(count) +
                           (count == 1 ? " element" : " elements"));
  }
}

void BoundCall::call() {
  Impl& call = impl();
  call.solve_symbols();
  call.check_bound();
  call.check_symbols();
  call.check_shapes();
  call.check_extents();
  call.check_pointers();
  std::vector<void*> args(call.slots.size());
  for (std::size_t i = 0; i < call.slots.size(); ++i) {
    const Parameter& p = call.function->parameters()[i];
    // args[i] points to parameter i: for containers and callbacks, to the pointer.
    args[i] = p.is_pointer || is_callback(p) ? static_cast<void*>(&call.slots[i].pointer) : call.slots[i].value.data();
  }
  AnyFunction(call.function).call_packed(args.data());
}

}  // namespace sdfg
