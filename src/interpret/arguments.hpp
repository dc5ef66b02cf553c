// What a call of the interpreter is given: memory for containers, values for symbols and scalars, functions for
// callbacks.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "ir/graph.hpp"
#include "tasklet/value.hpp"

namespace sdfg::interpret {

// An argument of a callback: a value, or the address of the data that a pointer connector names.
using CallbackArgument = std::variant<tasklet::Value, void*>;
using Callback = std::function<tasklet::Value(std::span<const CallbackArgument>)>;

// Arguments by parameter name. Memory stays the caller's and must outlive the call.
class Arguments {
 public:
  using Entry = std::variant<void*, tasklet::Value, Callback>;

  // A container: address of its first element (of a Structure: of the C structure).
  Arguments& set(std::string name, void* memory);
  // A symbol, or a Scalar container passed by value.
  Arguments& set(std::string name, const tasklet::Value& value);
  Arguments& set(std::string name, Callback callback);
  template <typename T>
    requires std::is_arithmetic_v<T>
  Arguments& set(std::string name, T value) {
    if constexpr (std::is_same_v<T, bool>)
      return set(std::move(name), tasklet::Value::boolean(value));
    else if constexpr (std::is_integral_v<T>)
      return set(std::move(name), tasklet::Value::integer(static_cast<std::int64_t>(value), kScalarTypeOf<T>));
    else
      return set(std::move(name), tasklet::Value::floating(static_cast<double>(value), kScalarTypeOf<T>));
  }
  // One block of memory for all External containers of a storage; see Instance::workspace_size.
  Arguments& set_workspace(ir::Storage storage, void* memory);

  // The packed convention of compiled code: packed[i] points to parameter i, which is a pointer for containers and
  // callbacks and the value itself for symbols and scalars.
  static Arguments from_packed(const ir::Graph& graph, void* const* packed);

  const Entry* find(std::string_view name) const;
  void* workspace(ir::Storage storage) const;  // null: none given
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
  std::map<ir::Storage, void*> workspaces_;
};

// Wraps a C function of a callback type's signature. Throws Error(kUsage) for signatures outside what is described in
// the source.
Callback wrap_function(const CallbackInfo& signature, void (*function)(), std::string_view name);

}  // namespace sdfg::interpret
