// Arguments by name, from packed arrays, and C functions as callbacks.
#include "interpret/arguments.hpp"

#include <bit>
#include <cstring>
#include <vector>

namespace sdfg::interpret {

using tasklet::Value;

Arguments& Arguments::set(std::string name, void* memory) {
  entries_[std::move(name)] = memory;
  return *this;
}

Arguments& Arguments::set(std::string name, const Value& value) {
  entries_[std::move(name)] = value;
  return *this;
}

Arguments& Arguments::set(std::string name, Callback callback) {
  entries_[std::move(name)] = std::move(callback);
  return *this;
}

Arguments& Arguments::set_workspace(ir::Storage storage, void* memory) {
  workspaces_[storage] = memory;
  return *this;
}

const Arguments::Entry* Arguments::find(std::string_view name) const {
  auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : &it->second;
}

void* Arguments::workspace(ir::Storage storage) const {
  auto it = workspaces_.find(storage);
  return it == workspaces_.end() ? nullptr : it->second;
}

Arguments Arguments::from_packed(const ir::Graph& graph, void* const* packed) {
  const auto pointer_at = [&](std::size_t i) {
    void* pointer = nullptr;
    std::memcpy(&pointer, packed[i], sizeof(void*));
    return pointer;
  };
  Arguments out;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const std::string& name = graph.parameters[i];
    if (const ir::Container* c = graph.containers.find(name)) {
      if (c->is_scalar() && c->type.is_scalar())
        out.set(name, Value::load(packed[i], c->type.scalar()));
      else
        out.set(name, pointer_at(i));
      continue;
    }
    const ir::Symbol& s = graph.symbols.at(name);
    if (s.type.kind() == Type::Kind::kCallback)
      out.set(name, wrap_function(s.type.callback(), reinterpret_cast<void (*)()>(pointer_at(i)), name));
    else
      out.set(name, Value::load(packed[i], s.type.scalar()));
  }
  return out;
}

namespace {

constexpr std::size_t kIntegerRegisters = 6;
constexpr std::size_t kVectorRegisters = 8;

using Integers = std::int64_t (&)[kIntegerRegisters];
using Doubles = double (&)[kVectorRegisters];

// In the calling conventions we run on (System V x86-64, AAPCS64) integer and floating arguments are numbered apart and
// a callee ignores registers it has no parameter for. So one call form with all registers filled serves every signature
// that fits in registers. A checker of function types is told so.
#ifdef __clang__
#define SDFG_ANY_SIGNATURE __attribute__((no_sanitize("function")))
#else
#define SDFG_ANY_SIGNATURE
#endif
template <typename R>
SDFG_ANY_SIGNATURE R call_with_registers(void (*function)(), Integers i, Doubles d) {
  using F = R (*)(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, double, double,
                  double, double, double, double, double, double);
  return reinterpret_cast<F>(function)(i[0], i[1], i[2], i[3], i[4], i[5], d[0], d[1], d[2], d[3], d[4], d[5], d[6],
                                       d[7]);
}

Error unsupported(std::string_view name, std::string_view what) {
  return {ErrorClass::kUsage,
          "the interpreter can't call the C function of callback '" + std::string(name) + "': " + std::string(what)};
}

bool in_vector_register(ScalarType type) {
  return type == ScalarType::kFloat32 || type == ScalarType::kFloat64;
}

double register_image(const Value& value) {
  if (value.type() == ScalarType::kFloat64) return value.as_double();
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value.as_double()));
  return std::bit_cast<double>(static_cast<std::uint64_t>(bits));
}

}  // namespace

Callback wrap_function(const CallbackInfo& signature, void (*function)(), std::string_view name) {
  if (function == nullptr) throw Error(ErrorClass::kUsage, "callback '" + std::string(name) + "' is a null pointer");
  if (signature.returns.size() > 1) throw unsupported(name, "it has several results");
  for (const Type& t : signature.returns)
    if (!t.is_void() && (!t.is_scalar() || is_complex(t.scalar()) || size_of(t.scalar()) == 2))
      throw unsupported(name, "its result is a " + t.str());
  return [signature, function, label = std::string(name)](std::span<const CallbackArgument> args) {
    std::int64_t integers[kIntegerRegisters] = {};
    double doubles[kVectorRegisters] = {};
    std::size_t used_integers = 0, used_doubles = 0;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const Type declared = i < signature.arguments.size() ? signature.arguments[i] : Type();
      if (void* const* address = std::get_if<void*>(&args[i])) {
        if (used_integers == kIntegerRegisters) throw unsupported(label, "it has more arguments than fit in registers");
        integers[used_integers++] = std::bit_cast<std::int64_t>(*address);
        continue;
      }
      Value value = std::get<Value>(args[i]);
      if (declared.is_scalar()) value = value.cast(declared.scalar());
      if (is_complex(value.type()) || value.type() == ScalarType::kFloat16 || value.type() == ScalarType::kBFloat16)
        throw unsupported(label, "an argument is a " + std::string(to_string(value.type())));
      if (in_vector_register(value.type())) {
        if (used_doubles == kVectorRegisters) throw unsupported(label, "it has more arguments than fit in registers");
        doubles[used_doubles++] = register_image(value);
      } else {
        if (used_integers == kIntegerRegisters) throw unsupported(label, "it has more arguments than fit in registers");
        integers[used_integers++] = value.as_int();
      }
    }
    const Type returns = signature.returns.empty() ? Type() : signature.returns.front();
    if (returns.is_void()) {
      call_with_registers<void>(function, integers, doubles);
      return Value();
    }
    if (returns.scalar() == ScalarType::kFloat64)
      return Value::floating(call_with_registers<double>(function, integers, doubles));
    if (returns.scalar() == ScalarType::kFloat32)
      return Value::floating(static_cast<double>(call_with_registers<float>(function, integers, doubles)),
                             ScalarType::kFloat32);
    if (returns.scalar() == ScalarType::kBool)
      return Value::boolean(call_with_registers<bool>(function, integers, doubles));
    return Value::integer(call_with_registers<std::int64_t>(function, integers, doubles), returns.scalar());
  };
}

}  // namespace sdfg::interpret
