/// The builder: declares symbols and containers, opens maps, loops and branches, and records what the handles do.
///
/// Threads: one graph is built by one thread at a time; different builders are independent. Errors are thrown at the
/// call that is wrong, with the user's line; a builder whose body function threw can't be compiled any more.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <sdfg/array.hpp>
#include <sdfg/dataflow.hpp>
#include <sdfg/error.hpp>
#include <sdfg/graph.hpp>
#include <sdfg/operations.hpp>
#include <sdfg/stream.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sdfg {

class Builder;

namespace detail {

class BuilderImpl;

/// An open scope of the builder. `close` ends it; destroying it open (an exception left the body) marks the builder as
/// broken.
class SDFG_EXPORT OpenScope {
 public:
  OpenScope(BuilderImpl& builder, std::vector<Index> parameters);
  OpenScope(OpenScope&& other) noexcept = default;
  OpenScope(OpenScope&& other, std::vector<Index> parameters) noexcept
      : builder_(std::move(other.builder_)), parameters_(std::move(parameters)) {}
  OpenScope& operator=(OpenScope&&) = delete;
  ~OpenScope();
  void close();
  const Index& parameter(std::size_t d) const { return parameters_[d]; }

 private:
  std::shared_ptr<BuilderImpl> builder_;
  std::vector<Index> parameters_;
};

template <typename F, std::size_t... D>
constexpr bool takes(std::index_sequence<D...>) {
  return std::is_invocable_v<F&, decltype((static_cast<void>(D), std::declval<Index>()))...>;
}
template <typename F, std::size_t... D>
void call_body(F& body, const OpenScope& scope, std::index_sequence<D...>) {
  body(scope.parameter(D)...);
}

template <typename C>
inline constexpr bool kIsCondition = AnyOperand<C>;

}  // namespace detail

/// One range of a map: `{"i", 0, N}` or with a step `{"i", 0, N, 4}`. Half-open, as C++ loops are.
struct MapRange {
  MapRange(std::string_view range_name, Bound from, Bound to, Bound by = 1)
      : name(range_name), begin(std::move(from)), end(std::move(to)), step(std::move(by)) {}
  std::string name;
  Bound begin, end, step;
};

/// The rest of an `if_`: more branches may follow directly.
class SDFG_EXPORT IfChain {
 public:
  IfChain(std::shared_ptr<detail::BuilderImpl> builder, std::uint32_t first, std::uint32_t last, std::uint64_t stamp)
      : builder_(std::move(builder)), first_(first), last_(last), stamp_(stamp) {}
  IfChain(const IfChain&) = default;  // also for moves: no handle is empty
  IfChain& operator=(const IfChain&) = default;
  /// Tested when no condition before holds.
  template <typename C, typename F>
  IfChain else_if(const C& condition, F&& body, Where where = Where::current()) {
    detail::OpenScope scope = open_else_if(Value<bool>(condition).ref(), where);
    body();
    scope.close();
    renew();
    return *this;
  }
  template <typename F>
  void else_(F&& body, Where where = Where::current()) {
    detail::OpenScope scope = open_else(where);
    body();
    scope.close();
  }

 private:
  detail::OpenScope open_else_if(const detail::ExprRef& condition, Where where);
  detail::OpenScope open_else(Where where);
  void renew();
  std::shared_ptr<detail::BuilderImpl> builder_;
  std::uint32_t first_;  // the element of the whole chain
  std::uint32_t
      last_;  // the element that takes the next branch: inside the first one when a condition needed statements
  std::uint64_t stamp_;
};

/// Assumptions on a symbol, both ends included. The compiled function relies on them; only calls through `bind` check
/// them. A symbol that is the step of a map inside a kernel needs `{.lower = 1}`.
struct SymbolOptions {
  std::optional<Index> lower = {};
  std::optional<Index> upper = {};
};

/// The name of a parameter, from its text or its handle.
class ParameterName {
 public:
  ParameterName(const char* name) : name_(name) {}             // NOLINT(google-explicit-constructor)
  ParameterName(std::string name) : name_(std::move(name)) {}  // NOLINT(google-explicit-constructor)
  ParameterName(const Index& symbol) : name_(symbol.str()) {}  // NOLINT(google-explicit-constructor)
  template <typename T, std::size_t R>
  ParameterName(const Array<T, R>& array) : name_(array.name()) {}  // NOLINT(google-explicit-constructor)
  const std::string& str() const noexcept { return name_; }

 private:
  std::string name_;
};

/// One assignment of `g.assign({{k, k + 1}, {l, k}})`.
struct Assignment {
  Index symbol;
  Bound value;
};

/// A block that `g.leave` can leave early.
class BlockHandle {
 public:
  BlockHandle(detail::BuilderImpl& builder, std::uint32_t id) : builder_(&builder), id_(id) {}
  detail::BuilderImpl* builder() const noexcept { return builder_; }
  std::uint32_t id() const noexcept { return id_; }

 private:
  detail::BuilderImpl* builder_;
  std::uint32_t id_;
};

namespace detail {

/// How a container comes to be; see the functions of Builder.
enum class Declaration : std::uint8_t { kArgument, kScalarArgument, kTransient, kPersistent, kExternal };

struct CallbackSignature {
  Type result;  // void: none
  std::vector<Type> arguments;
};
[[noreturn]] SDFG_EXPORT void moved_builder_used(Where where);
SDFG_EXPORT ExprRef call_callback(BuilderImpl& builder, const std::string& name, const CallbackSignature& signature,
                                  const std::vector<ExprRef>& arguments, Where where);

}  // namespace detail

template <typename Signature>
class Callback;

/// A function of the application that the graph calls. Calls happen in program order, where they are written, exactly
/// once each. The function must not throw: a C++ exception that leaves it ends the process (std::terminate).
template <typename Result, typename... Args>
class Callback<Result(Args...)> {
 public:
  Callback(std::shared_ptr<detail::BuilderImpl> builder, std::string name)
      : builder_(std::move(builder)), name_(std::move(name)) {}
  Callback(const Callback&) = default;  // also for moves: no handle is empty
  Callback& operator=(const Callback&) = default;
  template <detail::AnyOperand... X>
    requires(sizeof...(X) == sizeof...(Args))
  auto operator()(const X&... x) const {
    return call(Where(), x...);
  }
  static detail::CallbackSignature signature() {
    Type result;
    if constexpr (!std::is_void_v<Result>) result = kScalarTypeOf<Result>;
    return {result, {Type(kScalarTypeOf<Args>)...}};
  }
  const std::string& name() const noexcept { return name_; }

 private:
  template <typename... X>
  auto call(Where where, const X&... x) const {
    detail::ExprRef result =
        detail::call_callback(*builder_, name_, signature(), {detail::stored<Args, 0>(x)...}, where);
    if constexpr (!std::is_void_v<Result>) return Value<Result>(std::move(result));
  }
  std::shared_ptr<detail::BuilderImpl> builder_;
  std::string name_;
};

/// A value for a parameter of a graph called by `g.call`: an array or slice for an array, a value for a scalar, an
/// index for a symbol.
class Binding {
 public:
  template <detail::AnyOperand X>
  Binding(std::string_view parameter, const X& x) : name_(parameter) {  // NOLINT: {"A", A} in a list
    if constexpr (std::same_as<X, Index> || detail::IndexInteger<X>) index_ = Index(x);
    if constexpr (detail::kIsPlace<X>) window_ = x.ref();
    if constexpr (detail::kRankOf<X> == 0) value_ = detail::expr_of(x, detail::kTypeOf<X>);
  }
  template <typename Signature>
  Binding(std::string_view parameter, const Callback<Signature>& callback)
      : name_(parameter), callback_(callback.name()) {}

  const std::string& name() const noexcept { return name_; }
  const std::optional<Index>& index() const noexcept { return index_; }
  const detail::WindowRef& window() const noexcept { return window_; }
  const detail::ExprRef& value() const noexcept { return value_; }
  const std::string& callback() const noexcept { return callback_; }

 private:
  std::string name_;
  std::optional<Index> index_;
  detail::WindowRef window_;
  detail::ExprRef value_;
  std::string callback_;
};

/// Builds one graph.
///
/// ```
/// sdfg::Builder g("scale");
/// auto N = g.symbol("N");
/// auto A = g.array<double>("A", {N});
/// g.map({"i", 0, N}, [&](auto i) { A(i) *= 2.0; });
/// ```
///
/// Parameters of the compiled function: containers in order of declaration, then symbols and callbacks in order of
/// declaration; `order` changes it. A builder that was moved from is empty: all it takes is another one assigned to it.
class SDFG_EXPORT Builder {
 public:
  explicit Builder(std::string_view name, Where where = Where::current());
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;
  ~Builder();

  const std::string& name() const;
  /// The graph as built so far, to hand over to compile, view or save; checked only when compiled. Throws Error(kUsage)
  /// while a body is open.
  Graph graph(Where where = Where::current()) const;
  /// Readable text of the graph.
  std::string text() const;
  /// Throws Error(kGraph) with the first broken rule, if any.
  void check(Where where = Where::current()) const;

  // ---- Parameters ----

  /// An integer parameter, int64 unless said otherwise: `g.symbol<std::int32_t>("N")`. Arithmetic on it is exact in 64
  /// bits.
  template <detail::IndexInteger T = std::int64_t>
  Index symbol(std::string_view name, const SymbolOptions& options = {}, Where where = Where::current()) {
    return add_symbol(name, kScalarTypeOf<T>, options, where);
  }
  /// An array of the caller; the rank is that of the extent list. C order without gaps unless options say otherwise.
  /// The compiled function relies on its arguments not overlapping each other, except those with `.may_alias = true`
  /// (arguments that are only read may overlap anyway). Statements on whole arrays then compute through a temporary
  /// where target and source both have it; a map does not: its points have no order.
  template <typename T, std::size_t R>
  Array<T, R> array(std::string_view name, const Index (&extents)[R], const ArrayOptions& options = {},
                    Where where = Where::current()) {
    return declare<T, R>(detail::Declaration::kArgument, name, extents, options, where);
  }
  /// One element of the caller, passed by pointer (an array without dimensions): for results.
  template <typename T>
  Array<T, 0> array(std::string_view name, const ArrayOptions& options = {}, Where where = Where::current()) {
    return declare<T, 0>(detail::Declaration::kArgument, name, nullptr, options, where);
  }
  /// A number passed by value; read-only.
  template <typename T>
  Array<T, 0> scalar(std::string_view name, Where where = Where::current()) {
    return declare<T, 0>(detail::Declaration::kScalarArgument, name, nullptr, {}, where);
  }
  /// The order of the parameters: every one of them, once, by handle or by name.
  void order(std::initializer_list<ParameterName> names, Where where = Where::current());

  // ---- Containers of the graph ----

  /// Memory that lives from here to the end of the enclosing body (one for every point of a map). Not initialised.
  template <typename T, std::size_t R>
  Array<T, R> transient(std::string_view name, const Index (&extents)[R], const ArrayOptions& options = {},
                        Where where = Where::current()) {
    return declare<T, R>(detail::Declaration::kTransient, name, extents, options, where);
  }
  /// A local variable.
  template <typename T>
  Array<T, 0> transient(std::string_view name, const ArrayOptions& options = {}, Where where = Where::current()) {
    return declare<T, 0>(detail::Declaration::kTransient, name, nullptr, options, where);
  }
  /// A local variable with a first value: `auto s = g.local("s", 0.0)`.
  template <detail::AnyOperand X>
  auto local(std::string_view name, const X& value, Where where = Where::current()) {
    using T = typename detail::CppTypeOf<detail::kTypeOf<X>>::type;
    Array<T, 0> a = declare<T, 0>(detail::Declaration::kTransient, name, nullptr, {}, where);
    detail::store(a.ref(), detail::StoreOp::kSet, detail::stored<T, 0>(value, where), where);
    return a;
  }
  /// Memory kept between calls of the compiled function; host memory starts with zeros. What it holds is kept as long
  /// as its size stays the same: a call whose symbols give it another size in bytes starts anew, and a warning says so
  /// once.
  template <typename T, std::size_t R>
  Array<T, R> persistent(std::string_view name, const Index (&extents)[R], const ArrayOptions& options = {},
                         Where where = Where::current()) {
    return declare<T, R>(detail::Declaration::kPersistent, name, extents, options, where);
  }
  template <typename T>
  Array<T, 0> persistent(std::string_view name, const ArrayOptions& options = {}, Where where = Where::current()) {
    return declare<T, 0>(detail::Declaration::kPersistent, name, nullptr, options, where);
  }
  /// Memory that the application supplies as workspace: see `AnyFunction::set_workspace`.
  template <typename T, std::size_t R>
  Array<T, R> external(std::string_view name, const Index (&extents)[R], const ArrayOptions& options = {},
                       Where where = Where::current()) {
    return declare<T, R>(detail::Declaration::kExternal, name, extents, options, where);
  }
  /// Read-only values known now, in C order.
  template <typename T>
  Array<T, 1> constant(std::string_view name, const std::vector<T>& values, Where where = Where::current()) {
    const Index extents[] = {static_cast<std::int64_t>(values.size())};
    return declare_constant<T, 1>(name, extents, values, where);
  }
  template <typename T, std::size_t R>
  Array<T, R> constant(std::string_view name, const Index (&extents)[R], const std::vector<T>& values,
                       Where where = Where::current()) {
    return declare_constant<T, R>(name, extents, values, where);
  }
  /// Transients with a first value; `empty` is `transient`. Extents may come from `extent_of`.
  template <typename T, std::size_t R, detail::AnyOperand V>
  Array<T, R> full(std::string_view name, const Index (&extents)[R], const V& value, const ArrayOptions& options = {},
                   Where where = Where::current()) {
    Array<T, R> a = declare<T, R>(detail::Declaration::kTransient, name, extents, options, where);
    detail::store(a.ref(), detail::StoreOp::kSet, detail::stored<T, 0>(value, where), where);
    return a;
  }
  template <typename T, std::size_t R>
  Array<T, R> zeros(std::string_view name, const Index (&extents)[R], const ArrayOptions& options = {},
                    Where where = Where::current()) {
    return full<T, R>(name, extents, 0, options, where);
  }
  template <typename T, std::size_t R>
  Array<T, R> ones(std::string_view name, const Index (&extents)[R], const ArrayOptions& options = {},
                   Where where = Where::current()) {
    return full<T, R>(name, extents, 1, options, where);
  }
  template <typename T, std::size_t R>
  Array<T, R> empty(std::string_view name, const Index (&extents)[R], const ArrayOptions& options = {},
                    Where where = Where::current()) {
    return transient<T, R>(name, extents, options, where);
  }
  /// A part of an array as a container of its own, without a copy: writes go to the viewed array.
  template <typename T, std::size_t R>
  Array<T, R> view(std::string_view name, const Window<T, R>& window, Where where = Where::current()) {
    return Array<T, R>(declare_view(name, window.ref(), kScalarTypeOf<T>, nullptr, R, where));
  }
  /// The elements of a packed array (or contiguous slice) in another shape, C order.
  template <typename T, std::size_t Q, std::size_t R>
  Array<T, R> view(std::string_view name, const Array<T, Q>& array, const Index (&extents)[R],
                   Where where = Where::current()) {
    return Array<T, R>(declare_view(name, array.ref(), kScalarTypeOf<T>, extents, R, where));
  }
  /// The same memory as elements of another type: `g.view<float>("V", A, {N, 2 * M})`.
  template <typename U, typename T, std::size_t Q, std::size_t R>
    requires(!std::same_as<U, T>)
  Array<U, R> view(std::string_view name, const Array<T, Q>& array, const Index (&extents)[R],
                   Where where = Where::current()) {
    return Array<U, R>(declare_view(name, array.ref(), kScalarTypeOf<U>, extents, R, where));
  }

  /// A name that can be pointed at different containers of the same type and shape; see `point`.
  template <typename T, std::size_t R>
  Array<T, R> reference(std::string_view name, const Index (&extents)[R], Where where = Where::current()) {
    return Array<T, R>(declare_reference(name, kScalarTypeOf<T>, extents, R, where));
  }
  /// Points a reference at a container, or a part of one that begins at the window's first element.
  template <typename T, std::size_t R, std::size_t Q>
  void point(const Array<T, R>& reference, const Array<T, Q>& at, Where where = Where::current()) {
    set_reference(reference.ref(), at.ref(), where);
  }
  template <typename T, std::size_t R, std::size_t Q>
  void point(const Array<T, R>& reference, const Window<T, Q>& at, Where where = Where::current()) {
    set_reference(reference.ref(), at.ref(), where);
  }
  /// A queue that grows as needed. A pop with nothing there fails the call with Error(kLaunch).
  template <typename T>
  Stream<T, 0> stream(std::string_view name, Where where = Where::current()) {
    return Stream<T, 0>(declare_stream(name, kScalarTypeOf<T>, nullptr, 0, {}, where));
  }
  /// A queue of at most so many values: `g.stream<double>("s", sdfg::Capacity(N))`. A push beyond that fails the call,
  /// too.
  template <typename T, std::same_as<Capacity> C>
  Stream<T, 0> stream(std::string_view name, const C& capacity, Where where = Where::current()) {
    return Stream<T, 0>(declare_stream(name, kScalarTypeOf<T>, nullptr, 0, capacity, where));
  }
  /// An array of queues with the extents in braces, each of which grows as needed or has the capacity. An index outside
  /// fails the call.
  template <typename T, std::size_t R>
  Stream<T, R> stream(std::string_view name, const Index (&extents)[R], const Capacity& capacity = {},
                      Where where = Where::current()) {
    return Stream<T, R>(declare_stream(name, kScalarTypeOf<T>, extents, R, capacity, where));
  }

  // ---- Control flow ----

  /// Independent points: no order between them. The body takes one index per range.
  template <typename F>
  void map(const MapRange& r0, F&& body, const MapOptions& options = {}, Where where = Where::current()) {
    run_map<1>({r0}, body, options, where);
  }
  template <typename F>
  void map(const MapRange& r0, const MapRange& r1, F&& body, const MapOptions& options = {},
           Where where = Where::current()) {
    run_map<2>({r0, r1}, body, options, where);
  }
  template <typename F>
  void map(const MapRange& r0, const MapRange& r1, const MapRange& r2, F&& body, const MapOptions& options = {},
           Where where = Where::current()) {
    run_map<3>({r0, r1, r2}, body, options, where);
  }
  template <typename F>
  void map(const MapRange& r0, const MapRange& r1, const MapRange& r2, const MapRange& r3, F&& body,
           const MapOptions& options = {}, Where where = Where::current()) {
    run_map<4>({r0, r1, r2, r3}, body, options, where);
  }
  template <typename F>
  void map(const MapRange& r0, const MapRange& r1, const MapRange& r2, const MapRange& r3, const MapRange& r4, F&& body,
           const MapOptions& options = {}, Where where = Where::current()) {
    run_map<5>({r0, r1, r2, r3, r4}, body, options, where);
  }
  template <typename F>
  void map(const MapRange& r0, const MapRange& r1, const MapRange& r2, const MapRange& r3, const MapRange& r4,
           const MapRange& r5, F&& body, const MapOptions& options = {}, Where where = Where::current()) {
    run_map<6>({r0, r1, r2, r3, r4, r5}, body, options, where);
  }
  template <typename F>
  void map(const MapRange& r0, const MapRange& r1, const MapRange& r2, const MapRange& r3, const MapRange& r4,
           const MapRange& r5, const MapRange& r6, F&& body, const MapOptions& options = {},
           Where where = Where::current()) {
    run_map<7>({r0, r1, r2, r3, r4, r5, r6}, body, options, where);
  }
  template <typename F>
  void map(const MapRange& r0, const MapRange& r1, const MapRange& r2, const MapRange& r3, const MapRange& r4,
           const MapRange& r5, const MapRange& r6, const MapRange& r7, F&& body, const MapOptions& options = {},
           Where where = Where::current()) {
    run_map<8>({r0, r1, r2, r3, r4, r5, r6, r7}, body, options, where);
  }
  /// Sequential: name = begin, begin + step, ... before `end` (after it when the step is negative). Bounds are
  /// evaluated once. A step that is 0 at run time runs no iteration; a constant 0 is an Error.
  template <typename F>
  void loop(std::string_view name, const Bound& begin, const Bound& end, F&& body, const LoopOptions& options = {},
            Where where = Where::current()) {
    loop(name, begin, end, Bound(1), body, options, where);
  }
  template <typename F>
  void loop(std::string_view name, const Bound& begin, const Bound& end, const Bound& step, F&& body,
            const LoopOptions& options = {}, Where where = Where::current()) {
    run_with_index(open_loop(name, begin, end, step, options, where), body);
  }
  /// C's `for`: `condition` and `update` are functions of the variable.
  template <typename C, typename U, typename F>
  void for_(std::string_view name, const Bound& init, C&& condition, U&& update, F&& body,
            LoopForm form = LoopForm::kTestFirst, const LoopOptions& options = {}, Where where = Where::current()) {
    detail::OpenScope scope = open_for(name, init, form, options, where);
    const Index& i = scope.parameter(0);
    set_for_condition(Value<bool>(condition(i)).ref(), where);
    set_for_update(Bound(update(i)), where);
    if constexpr (std::is_invocable_v<F&, Index>)
      body(i);
    else
      body();
    scope.close();
  }
  /// Runs the body while the condition holds. A condition given as a value is evaluated anew each time; as a function
  /// (`[&] { return ...; }`) it may use everything a body may.
  template <typename C, typename F>
  void while_(C&& condition, F&& body, Where where = Where::current()) {
    detail::OpenScope scope = open_while(true, where);
    if constexpr (std::is_invocable_v<C&>)
      set_while_condition(Value<bool>(condition()).ref(), false, where);
    else
      set_while_condition(Value<bool>(condition).ref(), true, where);
    body();
    scope.close();
  }
  /// Runs the body, then again while the condition (a value or a function) holds.
  template <typename F, typename C>
  void do_while(F&& body, C&& condition, Where where = Where::current()) {
    detail::OpenScope scope = open_while(false, where);
    detail::OpenScope inner = open_do_body(where);
    body();
    inner.close();
    if constexpr (std::is_invocable_v<C&>) {
      set_do_condition(Value<bool>(condition()).ref(), false, where);
    } else {
      set_do_condition(Value<bool>(condition).ref(), true, where);
    }
    scope.close();
  }
  template <detail::AnyOperand C, typename F>
  IfChain if_(const C& condition, F&& then, Where where = Where::current()) {
    detail::OpenScope scope = open_if(Value<bool>(condition).ref(), where);
    then();
    scope.close();
    return chain();
  }
  template <detail::AnyOperand C, typename F, typename E>
  void if_(const C& condition, F&& then, E&& otherwise, Where where = Where::current()) {
    if_(condition, then, where).else_(otherwise, where);
  }
  /// Leaves the innermost loop.
  void break_(Where where = Where::current());
  /// Goes on with the next iteration of the innermost loop, or ends this point of the innermost map.
  void continue_(Where where = Where::current());
  /// Leaves the graph. Not inside a map.
  void return_(Where where = Where::current());
  /// A scope for transients. The body may take a handle for `leave`: `g.block("phase", [&](auto block) { ...
  /// g.leave(block); })`.
  template <typename F>
  void block(std::string_view label, F&& body, Where where = Where::current()) {
    detail::OpenScope scope = open_block(label, where);
    if constexpr (std::is_invocable_v<F&, BlockHandle>)
      body(current_block());
    else
      body();
    scope.close();
  }
  void leave(const BlockHandle& block, Where where = Where::current());

  /// Workers take values out of the stream until it is empty: `body(value)` or `body(value, worker)`. The body may push
  /// to it.
  template <typename T, typename F>
  void consume(const Stream<T, 0>& stream, F&& body, const ConsumeOptions& options = {},
               Where where = Where::current()) {
    detail::ExprRef element;
    detail::OpenScope scope = open_consume(stream.ref(), options, element, where);
    if constexpr (std::is_invocable_v<F&, Value<T>, Index>) {
      body(Value<T>(std::move(element)), scope.parameter(0));
    } else {
      body(Value<T>(std::move(element)));
    }
    scope.close();
  }

  // ---- The graph itself ----

  /// One state, node by node; see dataflow.hpp: `g.state("scale", [&](sdfg::State& s) { ... });`
  template <typename F>
  void state(std::string_view label, F&& body, Where where = Where::current()) {
    detail::OpenScope scope = open_state(label, where);
    State s(impl(), current_element());
    body(s);
    scope.close();
  }
  /// Runs another graph here, with its parameters bound: arrays by reference, scalars and symbols by value. Symbols
  /// that follow from the extents of bound arrays may be left out: of an extent affine in one symbol, as `2 * M + 1`,
  /// where the argument's extent surely gives an integer (9, or `2 * K + 1`). The other graph is copied in; it is not
  /// changed.
  void call(const Builder& inner, const std::vector<Binding>& bindings, Where where = Where::current());

  // ---- Symbols computed by the graph ----

  /// A new symbol with this value, visible to the end of the enclosing body. It can be assigned again.
  Index assign(std::string_view name, const Bound& value, Where where = Where::current());
  /// Assigns a symbol made by `assign` again.
  void assign(const Index& symbol, const Bound& value, Where where = Where::current());
  /// Assigns several at once: all values are read before any symbol is written.
  void assign(std::initializer_list<Assignment> items, Where where = Where::current());
  /// A fresh symbol with the present value of an integer, for extents: `g.zeros<double>("z", {g.extent_of(n)})`.
  Index extent_of(const Bound& value, Where where = Where::current());

  /// A function of the application with C linkage types, bound when the compiled function is called (it becomes a
  /// parameter).
  template <typename Signature>
  Callback<Signature> callback(std::string_view name, Where where = Where::current()) {
    std::string unique = add_callback(name, Callback<Signature>::signature(), where);
    return Callback<Signature>(impl_, std::move(unique));
  }

  detail::BuilderImpl& impl(Where where = Where()) const {
    if (impl_ == nullptr) detail::moved_builder_used(where);
    return *impl_;
  }

 private:
  template <typename T, std::size_t R>
  Array<T, R> declare(detail::Declaration how, std::string_view name, const Index* extents, const ArrayOptions& options,
                      Where where) {
    return Array<T, R>(add_container(how, name, kScalarTypeOf<T>, extents, R, options, where));
  }
  template <typename T, std::size_t R>
  Array<T, R> declare_constant(std::string_view name, const Index* extents, const std::vector<T>& values, Where where) {
    static_assert(!std::same_as<T, bool>, "use std::uint8_t for tables of flags");
    return Array<T, R>(add_constant(name, kScalarTypeOf<T>, extents, R, values.data(), values.size(), where));
  }
  template <std::size_t N, typename F>
  void run_map(std::initializer_list<MapRange> ranges, F& body, const MapOptions& options, Where where) {
    static_assert(detail::takes<F>(std::make_index_sequence<N>()), "the body of g.map takes one index per range");
    detail::OpenScope scope = open_map(ranges, options, where);
    detail::call_body(body, scope, std::make_index_sequence<N>());
    scope.close();
  }
  template <typename F>
  void run_with_index(detail::OpenScope scope, F& body) {
    static_assert(std::is_invocable_v<F&, Index> || std::is_invocable_v<F&>,
                  "the body of g.loop takes the loop variable, or nothing");
    if constexpr (std::is_invocable_v<F&, Index>)
      body(scope.parameter(0));
    else
      body();
    scope.close();
  }

  Index add_symbol(std::string_view name, ScalarType type, const SymbolOptions& options, Where where);
  detail::WindowRef add_container(detail::Declaration how, std::string_view name, ScalarType type, const Index* extents,
                                  std::size_t rank, const ArrayOptions& options, Where where);
  detail::WindowRef add_constant(std::string_view name, ScalarType type, const Index* extents, std::size_t rank,
                                 const void* values, std::size_t count, Where where);
  detail::WindowRef declare_view(std::string_view name, const detail::WindowRef& of, ScalarType type,
                                 const Index* extents, std::size_t rank, Where where);
  detail::WindowRef declare_reference(std::string_view name, ScalarType type, const Index* extents, std::size_t rank,
                                      Where where);
  void set_reference(const detail::WindowRef& reference, const detail::WindowRef& at, Where where);
  detail::WindowRef declare_stream(std::string_view name, ScalarType type, const Index* extents, std::size_t rank,
                                   const Capacity& capacity, Where where);
  detail::OpenScope open_consume(const detail::WindowRef& stream, const ConsumeOptions& options,
                                 detail::ExprRef& element, Where where);
  detail::OpenScope open_state(std::string_view label, Where where);
  std::uint32_t current_element() const;
  std::string add_callback(std::string_view name, const detail::CallbackSignature& signature, Where where);
  detail::OpenScope open_map(std::initializer_list<MapRange> ranges, const MapOptions& options, Where where);
  detail::OpenScope open_loop(std::string_view name, const Bound& begin, const Bound& end, const Bound& step,
                              const LoopOptions& options, Where where);
  detail::OpenScope open_for(std::string_view name, const Bound& init, LoopForm form, const LoopOptions& options,
                             Where where);
  void set_for_condition(const detail::ExprRef& condition, Where where);
  void set_for_update(const Bound& update, Where where);
  detail::OpenScope open_while(bool test_first, Where where);
  detail::OpenScope open_do_body(Where where);
  void set_while_condition(const detail::ExprRef& condition, bool evaluated_outside, Where where);
  void set_do_condition(const detail::ExprRef& condition, bool evaluated_outside, Where where);
  detail::OpenScope open_if(const detail::ExprRef& condition, Where where);
  IfChain chain();
  detail::OpenScope open_block(std::string_view label, Where where);
  BlockHandle current_block();

  std::shared_ptr<detail::BuilderImpl> impl_;
};

}  // namespace sdfg
