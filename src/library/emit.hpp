// Writes elements for expansions: operands of a library node, maps and loops over their dimensions, one-line tasklets.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.hpp"

namespace sdfg::library {

using symbolic::Expr;

// One side of a library node: a window of a container, seen as an array with the extents of the window's dimensions.
// Dimensions can be dropped (`fit`, `squeeze`); an element is named by its indices in the dimensions that are left.
class Operand {
 public:
  Operand() = default;
  Operand(const ir::Graph& g, std::string data, ir::Subset subset, std::string connector);

  const std::string& data() const { return data_; }
  const std::string& connector() const { return connector_; }
  const ir::Subset& subset() const { return subset_; }
  ScalarType type() const { return type_; }
  std::size_t rank() const { return dims_.size(); }
  const Expr& extent(std::size_t d) const { return extents_[d]; }
  const std::vector<Expr>& extents() const { return extents_; }
  Expr size() const;
  // Distance in memory of neighbours in dimension d, in elements.
  Expr stride(std::size_t d) const;
  ir::Subset element(std::span<const Expr> indices) const;   // one index per dimension that is left
  ir::Subset part(std::span<const ir::Range> ranges) const;  // one range per dimension that is left
  std::vector<Expr> strides() const;

  // Drops dimensions until `rank` are left: single indices first, outermost first, then others of extent one. Throws
  // Error(kGraph).
  Operand fitted(std::size_t rank) const;
  // Without all dimensions that are single indices.
  Operand squeezed() const;
  std::string text() const;  // "'_a' [N, M]"

 private:
  std::string data_;
  std::string connector_;
  ir::Subset subset_;
  ScalarType type_ = ScalarType::kFloat64;
  std::vector<std::size_t> dims_;  // of the container, in order
  std::vector<Expr> extents_;
  std::vector<Expr> container_strides_;
};

inline ir::Subset element_at(const std::vector<Expr>& indices) {
  return ir::Subset::index(indices);
}

struct Read {
  std::string connector;
  std::string data;
  ir::Subset at;
};
// A pointer connector of C++ text: it names the first element of the window.
struct Pointer {
  std::string connector;
  std::string data;
  ir::Subset window;
};
struct Write {
  std::string data;
  ir::Subset at;
  std::optional<ir::Wcr> wcr;
};

// Names of connectors and of other things in code: no symbol may have one of them.
using CodeNames = std::set<std::string, std::less<>>;
CodeNames code_names(const ir::Sequence& s);

// Appends to the sequence it stands at. Names come from the graph.
class Emitter {
 public:
  // `names`: those of the whole graph, and from then on those made here.
  Emitter(ir::Graph& g, ir::Sequence& at, std::string label, SourceLocation location, CodeNames& names)
      : graph_(&g), at_(&at), names_(&names), label_(std::move(label)), location_(std::move(location)) {}

  ir::Graph& graph() const { return *graph_; }
  ir::Sequence& sequence() const { return *at_; }
  const std::string& label() const { return label_; }
  Emitter inside(ir::Sequence& s) const {
    Emitter out(*graph_, s, label_, location_, *names_);
    out.loop_ = loop_;
    return out;
  }
  // Leaves the innermost loop made by `loop` around here.
  void leave_loop() const;

  // Independent points 0 <= p_d < extents[d]; `body` gets an emitter inside and the parameters.
  using Body = std::function<void(Emitter&, std::vector<Expr>)>;
  ir::Map& map(const std::vector<std::pair<std::string, Expr>>& extents, const Body& body) const;
  ir::Map& map_ranges(const std::vector<std::pair<std::string, ir::Range>>& ranges, const Body& body) const;
  // Sequential: name = from, from + 1, ... < to.
  void loop(const std::string& name, const Expr& from, const Expr& to,
            const std::function<void(Emitter&, Expr)>& body) const;
  void branch(const tasklet::Expr& condition, const std::function<void(Emitter&)>& then,
              const std::function<void(Emitter&)>& otherwise = {}) const;
  // A block with a transient of its own. Rank 0: a Scalar.
  void with_transient(const std::string& name, ScalarType type, const std::vector<Expr>& extents,
                      const std::function<void(Emitter&, const std::string& container)>& body) const;
  // write = code over the connectors of the reads, which it names by `name`.
  void compute(const std::vector<Read>& reads, const tasklet::Expr& code, const Write& write) const;
  // C++ text that reads and writes through pointers and has no other effect; it may name symbols and the functions of
  // `file_text`. It writes a connector as `$a`, since the graph may have a symbol `a`.
  void cpp(const std::vector<Pointer>& inputs, const std::vector<Pointer>& outputs, const std::string& text,
           const std::string& file_text) const;
  void copy(const std::string& from, const ir::Subset& from_at, const std::string& to, const ir::Subset& to_at,
            std::optional<ir::Wcr> wcr = {}) const;
  Expr assign(const std::string& name, const tasklet::Expr& value) const;  // a fresh symbol

  // A name that nothing has, for a symbol.
  std::string fresh_symbol(const std::string& wish) const;

  [[noreturn]] void fail(const std::string& message) const;

 private:
  std::string fresh_connector(const std::string& wish) const;

  ir::Graph* graph_;
  ir::Sequence* at_;
  CodeNames* names_;
  std::string label_;
  SourceLocation location_;
  ir::Id loop_ = 0;
};

// Typed code, since expansions know their types.
tasklet::Expr name(const std::string& connector, ScalarType type);  // for Emitter::compute alone
tasklet::Expr literal(std::complex<double> value, ScalarType type);
tasklet::Expr cast(const tasklet::Expr& e, ScalarType type);
tasklet::Expr add(const tasklet::Expr& a, const tasklet::Expr& b);
tasklet::Expr sub(const tasklet::Expr& a, const tasklet::Expr& b);
tasklet::Expr mul(const tasklet::Expr& a, const tasklet::Expr& b);
tasklet::Expr binary(tasklet::BinaryOp op, const tasklet::Expr& a, const tasklet::Expr& b);
tasklet::Expr call(tasklet::Function f, std::vector<tasklet::Expr> args);
// factor * e, without the multiplication by one.
tasklet::Expr scaled(std::complex<double> factor, const tasklet::Expr& e, ScalarType type);
tasklet::Expr element_of(const std::string& container, std::vector<Expr> indices,
                         ScalarType type);  // for conditions and Assigns

}  // namespace sdfg::library
