/// Level 3: the graph itself. States with access nodes, tasklets with named connectors, library nodes, and the memlets
/// between them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sdfg/array.hpp>
#include <sdfg/library_nodes.hpp>
#include <sdfg/stream.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sdfg {

namespace detail {
class BuilderImpl;
}

/// A connector of a tasklet: a name, and its type where it should not be inferred (the element type when the memlet
/// moves one element, a pointer to it otherwise).
struct Connector {
  Connector(const char* connector_name) : name(connector_name) {}             // NOLINT(google-explicit-constructor)
  Connector(std::string connector_name) : name(std::move(connector_name)) {}  // NOLINT(google-explicit-constructor)
  Connector(std::string connector_name, Type connector_type)
      : name(std::move(connector_name)), type(std::move(connector_type)) {}
  std::string name;
  Type type;
};

/// A node of the state under construction, or one of its connectors: `t["x"]`.
class Node {
 public:
  Node(std::uint32_t state, std::uint32_t id) : state_(state), id_(id) {}
  Node operator[](std::string_view connector) const {
    Node port = *this;
    port.connector_ = connector;
    return port;
  }
  std::uint32_t state() const noexcept { return state_; }
  std::uint32_t id() const noexcept { return id_; }
  const std::string& connector() const noexcept { return connector_; }

 private:
  std::uint32_t state_;
  std::uint32_t id_;
  std::string connector_;
};

/// What an edge moves: a subset of the container at its end, as text (`"i, 0:N"`, half-open) or by handle (`A(i, j)`,
/// `A.slice(...)`). Without one, everything.
class Memlet {
 public:
  Memlet() = default;
  Memlet(const char* subset) : subset_(subset) {}             // NOLINT(google-explicit-constructor)
  Memlet(std::string subset) : subset_(std::move(subset)) {}  // NOLINT(google-explicit-constructor)
  template <typename T, std::size_t R>
  Memlet(const Window<T, R>& window) : window_(window.ref()) {}  // NOLINT(google-explicit-constructor)
  template <typename T, std::size_t R>
  Memlet(const Array<T, R>& array) : window_(array.ref()) {}  // NOLINT(google-explicit-constructor)

  /// Of a copy between two access nodes: where it goes.
  Memlet& to(std::string subset) {
    to_subset_ = std::move(subset);
    return *this;
  }
  template <typename T, std::size_t R>
  Memlet& to(const Window<T, R>& window) {
    to_window_ = window.ref();
    return *this;
  }
  /// Accumulates instead of overwriting.
  Memlet& wcr(Reduce op) {
    reduce_ = op;
    return *this;
  }
  /// By an expression over the names a (old) and b (new), or a lambda of two names: `"a + b * b"`.
  Memlet& wcr(std::string custom) {
    custom_ = std::move(custom);
    return *this;
  }
  /// Moves at most the subset: a write may leave elements untouched.
  Memlet& dynamic() {
    dynamic_ = true;
    return *this;
  }
  /// Not checked against the container's extents.
  Memlet& allow_out_of_bounds() {
    allow_oob_ = true;
    return *this;
  }

 private:
  friend class State;
  std::optional<std::string> subset_, to_subset_;
  detail::WindowRef window_, to_window_;
  std::optional<Reduce> reduce_;
  std::optional<std::string> custom_;
  bool dynamic_ = false;
  bool allow_oob_ = false;
};

/// A state under construction; valid during the function given to `g.state`. Order inside a state is the partial order
/// of its edges.
class SDFG_EXPORT State {
 public:
  State(detail::BuilderImpl& builder, std::uint32_t id) : builder_(&builder), id_(id) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// A point where a container is read or written. Several nodes may name one container.
  template <typename T, std::size_t R>
  Node access(const Array<T, R>& array, Where where = Where::current()) {
    return add_access(array.ref(), where);
  }
  template <typename T, std::size_t R>
  Node access(const Stream<T, R>& stream, Where where = Where::current()) {
    return add_access(stream.ref(), where);
  }
  Node access(std::string_view name, Where where = Where::current());
  /// Code in the Python subset of tasklets: `s.tasklet("scale", {"x"}, {"y"}, "y = 2 * x")`. Symbols are used by name.
  Node tasklet(std::string_view label, const std::vector<Connector>& inputs, const std::vector<Connector>& outputs,
               std::string_view code, Where where = Where::current());
  /// C++ code, used as it is: connectors are variables (or pointers), symbols are used by name. `global_code` goes to
  /// file scope.
  Node cpp_tasklet(std::string_view label, const std::vector<Connector>& inputs, const std::vector<Connector>& outputs,
                   std::string_view code, std::string_view global_code = {}, Where where = Where::current());
  /// An operation on whole containers; see library_nodes.hpp for its connectors. `implementation` asks for a way to
  /// compute it on the host: "pure" (loops), "tiles" (our blocked products), "BLAS"; empty leaves the choice to the
  /// library. What can't be done that way is done another, and `Function::explain` tells why.
  Node library(std::string_view label, const nodes::Any& operation, std::string_view implementation = {},
               Where where = Where::current());

  /// Moves data: access -> connector, connector -> access, access -> access (a copy), or connector -> connector (one
  /// value).
  void edge(const Node& from, const Node& to, const Memlet& memlet = {}, Where where = Where::current());
  /// `second` runs after `first`.
  void order(const Node& first, const Node& second, Where where = Where::current());
  /// Points a reference at a part of a container.
  void set_reference(const Node& source, const Node& reference, const Memlet& memlet = {},
                     Where where = Where::current());

 private:
  Node add_access(const detail::WindowRef& window, Where where);
  detail::BuilderImpl* builder_;
  std::uint32_t id_;
};

}  // namespace sdfg
