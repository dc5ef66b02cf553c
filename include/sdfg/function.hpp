/// Compiled functions: call them, take their address, bind arguments by name, look at what was generated.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <sdfg/error.hpp>
#include <sdfg/export.hpp>
#include <sdfg/graph.hpp>
#include <sdfg/types.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sdfg {

/// One parameter of a compiled function, in call order.
struct Parameter {
  std::string name;
  Type type;        ///< element type of a container, type of a symbol or scalar, kCallback for a callback
  bool is_pointer;  ///< true: `T*` (a container); false: by value
  bool written;     ///< a container the function may write
  int rank;         ///< dimensions of a container; 0 for values
};

/// What a compilation cost and where its result came from. Nanoseconds.
struct CompileStats {
  enum class Origin : std::uint8_t { kCompiled, kDisk, kMemory };
  Origin origin = Origin::kCompiled;
  std::int64_t total_ns = 0;  ///< from the call of compile() to the finished Function
  std::int64_t validate_ns = 0;
  std::int64_t key_ns = 0;  ///< canonical form and digest
  std::int64_t passes_ns = 0;
  std::int64_t lower_ns = 0;     ///< lowering and printing
  std::int64_t frontend_ns = 0;  ///< Clang's front end
  std::int64_t device_ns = 0;    ///< compilation of kernels, beside the host's
  std::int64_t optimise_ns = 0;  ///< LLVM's optimiser
  std::int64_t codegen_ns = 0;   ///< LLVM's code generation
  std::int64_t load_ns = 0;      ///< linking into memory
  std::int64_t source_bytes = 0;
  std::int64_t object_bytes = 0;
};

/// Extents of an array argument for the shape-checked call.
template <typename T>
struct ArrayRef {
  T* data = nullptr;
  std::vector<std::int64_t> shape;  ///< extents, outermost first; C order without gaps
};

namespace detail {

struct FunctionImpl;

/// The C++ types of a signature, for the check against the graph.
struct CppType {
  std::optional<ScalarType> scalar;  ///< nothing for void* and opaque pointers
  bool is_pointer = false;
  bool is_const = false;     ///< pointer to const
  bool is_function = false;  ///< function pointer
};

template <typename T, typename = void>
struct HasScalar : std::false_type {};
template <typename T>
struct HasScalar<T, std::void_t<decltype(ScalarTypeOf<T>::value)>> : std::true_type {};

template <typename T>
CppType cpp_type() {
  CppType out;
  using Bare = std::remove_cv_t<T>;
  if constexpr (std::is_pointer_v<Bare>) {
    using Pointee = std::remove_pointer_t<Bare>;
    out.is_pointer = true;
    out.is_const = std::is_const_v<Pointee>;
    out.is_function = std::is_function_v<Pointee>;
    if constexpr (HasScalar<std::remove_cv_t<Pointee>>::value)
      out.scalar = ScalarTypeOf<std::remove_cv_t<Pointee>>::value;
  } else if constexpr (HasScalar<Bare>::value) {
    out.scalar = ScalarTypeOf<Bare>::value;
  } else {
    static_assert(std::is_pointer_v<Bare>,
                  "a parameter of a compiled function is a pointer or an arithmetic, complex or half value");
  }
  return out;
}

/// Throws Error(kUsage) naming both signatures when they differ.
SDFG_EXPORT void check_signature(const FunctionImpl& function, std::span<const CppType> types);
SDFG_EXPORT void* entry_of(const FunctionImpl& function);
[[noreturn]] SDFG_EXPORT void empty_function_used();
/// Throws Error(kUsage) in a forked child of the process; a call, a load and a branch otherwise.
SDFG_EXPORT void check_process();
/// Throws the error that the last failed call of this thread recorded.
[[noreturn]] SDFG_EXPORT void throw_call_error(const FunctionImpl& function, std::int32_t status);

}  // namespace detail

/// A call under construction, with arguments by name. Obtained from `Function::bind` or `AnyFunction::bind`.
///
/// Values are copied at `bind`; pointers must stay valid until `call` returns. Not for use from two threads at once.
class SDFG_EXPORT BoundCall {
 public:
  explicit BoundCall(std::shared_ptr<detail::FunctionImpl> function);
  BoundCall(BoundCall&&) noexcept;
  BoundCall& operator=(BoundCall&&) noexcept;
  ~BoundCall();

  /// Binds a container. Throws Error(kUsage) for an unknown name, a value parameter or another element type.
  template <typename T>
    requires(!std::is_function_v<T>)
  BoundCall& bind(std::string_view name, T* data) {
    return bind_pointer(name, const_cast<void*>(static_cast<const void*>(data)), detail::cpp_type<T*>(), nullptr);
  }
  /// Binds a container with its extents: they are checked against the graph, and symbols that are not bound are solved
  /// from them.
  template <typename T>
  BoundCall& bind(std::string_view name, const ArrayRef<T>& array) {
    return bind_pointer(name, const_cast<void*>(static_cast<const void*>(array.data)), detail::cpp_type<T*>(),
                        &array.shape);
  }
  /// Binds a symbol or a scalar. Integers are converted when the value fits the parameter's type; otherwise
  /// Error(kUsage).
  template <typename T>
    requires(std::is_arithmetic_v<T> || detail::HasScalar<T>::value)
  BoundCall& bind(std::string_view name, T value) {
    if constexpr (std::is_integral_v<T>)
      return bind_integer(name, static_cast<std::int64_t>(value), std::is_unsigned_v<T>);
    else
      return bind_value(name, &value, ScalarTypeOf<T>::value);
  }
  /// Binds a callback.
  BoundCall& bind_function(std::string_view name, void (*function)());

  /// Runs the function. Throws Error(kUsage) naming what is missing, a symbol beyond the bounds that the graph states
  /// for it, or what shapes disagree; or the error of the call.
  void call();

 private:
  BoundCall& bind_pointer(std::string_view name, void* data, detail::CppType type,
                          const std::vector<std::int64_t>* shape);
  BoundCall& bind_integer(std::string_view name, std::int64_t value, bool is_unsigned);
  BoundCall& bind_value(std::string_view name, const void* value, ScalarType type);
  struct Impl;
  Impl& impl() const;  // throws Error(kUsage) once this was moved from
  std::unique_ptr<Impl> impl_;
};

template <typename Signature>
class Function;

/// A compiled function whose signature is only known at run time.
///
/// Copying shares the code; the code is unloaded when the last copy is gone (and the cache has let go of it). Thread
/// rule: calls from any number of threads at once, except for a graph with Persistent containers, which runs one call
/// at a time.
class SDFG_EXPORT AnyFunction {
 public:
  AnyFunction() = default;
  explicit AnyFunction(std::shared_ptr<detail::FunctionImpl> impl) : impl_(std::move(impl)) {}
  /// Moving a typed function into an untyped one leaves it empty.
  template <typename Signature>
  AnyFunction(Function<Signature>&& function) noexcept  // NOLINT(google-explicit-constructor): it is one
      : AnyFunction(std::move(function).release()) {}
  template <typename Signature>
  AnyFunction& operator=(Function<Signature>&& function) noexcept {
    return *this = std::move(function).release();
  }

  explicit operator bool() const noexcept { return impl_ != nullptr; }
  const std::string& name() const;
  /// Parameters in call order.
  std::span<const Parameter> parameters() const;
  /// "void(double* A, double* B, double (*f)(double), int64_t N)".
  std::string signature() const;
  /// The generated C++ text.
  std::string source() const;
  /// The graph as it was compiled, after all passes. Empty text when the function came from the disk cache.
  std::string graph_text() const;
  /// What was decided and why, one line each: parallel, sequential, vectorised, offloaded.
  std::string explain() const;
  const CompileStats& stats() const;
  /// Warnings of the compiler, mapped to elements of the graph.
  std::vector<std::string> diagnostics() const;

  /// Starts a call with arguments by name.
  template <typename... Args>
  BoundCall bind(std::string_view name, Args&&... args) const {
    BoundCall call(impl_);
    call.bind(name, std::forward<Args>(args)...);
    return call;
  }
  BoundCall bind() const { return BoundCall(impl_); }
  /// args[i] points to parameter i: to the pointer for containers and callbacks, to the value otherwise. Throws the
  /// call's error.
  void call_packed(void* const* args) const;

  /// Bytes of caller-supplied memory that External containers need for these symbol values (in order of the parameters
  /// that are symbols).
  std::int64_t workspace_size(std::span<const std::int64_t> symbols) const;
  /// Supplies that memory: at least workspace_size bytes, 64-byte aligned, alive during calls. Throws Error(kUsage) for
  /// an address that is not; a null pointer takes the memory away.
  void set_workspace(void* memory, std::int64_t bytes) const;

  detail::FunctionImpl& impl() const {
    if (impl_ == nullptr) detail::empty_function_used();
    return *impl_;
  }
  const std::shared_ptr<detail::FunctionImpl>& share() const { return impl_; }

 private:
  std::shared_ptr<detail::FunctionImpl> impl_;
};

/// A compiled function with its C++ signature. See AnyFunction for what else it offers. Empty when made without a
/// compiled one, or moved from: a call is Error(kUsage) then.
template <typename... Args>
class Function<void(Args...)> : public AnyFunction {
 public:
  using Pointer = void (*)(Args...);

  Function() = default;
  Function(const Function&) = default;
  Function& operator=(const Function&) = default;
  Function(Function&& other) noexcept
      : AnyFunction(static_cast<AnyFunction&&>(other)), entry_(std::exchange(other.entry_, empty_entry)) {}
  Function& operator=(Function&& other) noexcept {
    if (this == &other) return *this;
    AnyFunction::operator=(static_cast<AnyFunction&&>(other));
    entry_ = std::exchange(other.entry_, empty_entry);
    return *this;
  }
  /// Throws Error(kUsage) naming both signatures when they differ, or when the function is empty.
  explicit Function(AnyFunction function) : AnyFunction(std::move(function)) {
    const std::vector<detail::CppType> types{detail::cpp_type<Args>()...};
    detail::check_signature(impl(), types);
    entry_ = reinterpret_cast<Entry>(detail::entry_of(impl()));
  }

  /// Calls; throws the error of the call, if any. Costs a few nanoseconds over a direct call.
  void operator()(Args... args) const {
    detail::check_process();
    if (const std::int32_t status = entry_(args...); status != 0) [[unlikely]]
      detail::throw_call_error(impl(), status);
  }
  /// The plain function pointer; null when empty. It stays valid while any copy of this Function lives. Errors are in
  /// sdfg::last_error().
  Pointer get() const noexcept {
    if (entry_ == empty_entry) return nullptr;
    return reinterpret_cast<Pointer>(reinterpret_cast<void*>(entry_));  // the status is ignored by such callers
  }
  /// The same without its signature; this one is empty then.
  AnyFunction release() && noexcept {
    entry_ = empty_entry;
    return AnyFunction(static_cast<AnyFunction&&>(*this));
  }

 private:
  using Entry = std::int32_t (*)(Args...);
  // An empty function has an entry that reports, so that a call needs no test of its own.
  static std::int32_t empty_entry(Args... /*unused*/) { detail::empty_function_used(); }
  Entry entry_ = empty_entry;
};

/// The error that the last failed call through a raw pointer recorded on this thread; clears it.
SDFG_EXPORT std::optional<Error> last_error();

/// A Function or the reason there is none.
template <typename Signature>
class CompileResult {
 public:
  CompileResult(Function<Signature> function) : state_(std::move(function)) {}  // NOLINT(google-explicit-constructor)
  CompileResult(Error error) : state_(std::move(error)) {}                      // NOLINT(google-explicit-constructor)
  explicit operator bool() const noexcept { return state_.index() == 0; }
  /// The function; throws the error if there is none.
  Function<Signature>& value() {
    if (const Error* e = std::get_if<Error>(&state_)) throw *e;
    return std::get<0>(state_);
  }
  Function<Signature>& operator*() { return value(); }
  /// The reason; throws Error(kUsage) if there is a function.
  const Error& error() const {
    if (const Error* e = std::get_if<Error>(&state_)) return *e;
    throw Error(ErrorClass::kUsage, "the compilation succeeded, so there is no error to look at", {},
                "ask the result first whether it holds a function: if (!result) ... result.error()");
  }

 private:
  std::variant<Function<Signature>, Error> state_;
};

}  // namespace sdfg
