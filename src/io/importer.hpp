// Translates DaCe's model to the structured graph. One object per load; the methods are spread over import_*.cpp by
// idea: import_flow (regions, loops, branches), import_state (dataflow, scopes, memlet paths), import_nested (nested
// graphs, views, windows), import_library (library nodes), import_names (names, expressions, code), import_place (where
// transients are declared).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/dace_model.hpp"
#include "io/raise_control_flow.hpp"
#include "io/raise_expansions.hpp"
#include "ir/graph.hpp"

namespace sdfg::io {

// What a container name of a file means: a container of the graph, possibly seen through a window (an offset sub-array
// with the same strides: inner index k counts from the window's begin in dimension dims[k]; other dimensions stay at
// the begin).
struct Binding {
  struct Window {
    ir::Subset base;
    std::vector<int> dims;
  };
  std::string container;
  std::optional<Window> window;
};

// The names of one (nested) graph of the file while it is translated.
struct Scope {
  const dace::Sdfg* sdfg = nullptr;
  Scope* parent = nullptr;
  std::map<std::string, Binding, std::less<>> containers;
  symbolic::Substitution symbols;                                 // name in the file -> expression of the graph
  std::map<std::string, std::string, std::less<>> float_symbols;  // symbols that became Scalars
  std::map<std::string, std::string, std::less<>> missing;        // declared symbols without a value -> the complaint
  ir::Id return_block = 0;                                        // 0: the graph itself
  // Enclosing loops of the file's loop regions, innermost last: where break and continue go.
  struct Loop {
    ir::Id break_target = 0;
    ir::Id continue_target = 0;
    bool continue_is_break = false;  // continue leaves a Block around the body
  };
  std::vector<Loop> loops;
};

class Importer {
 public:
  Importer(const dace::Sdfg& file, std::vector<std::string>& warnings);
  ir::Graph run();

 private:
  struct StateContext;
  struct Place {
    Binding binding;
    const dace::Descriptor* descriptor = nullptr;
  };

  // import_names
  static void refuse_word(std::string_view name, const std::string& path);
  std::string fresh(std::string_view wish);
  symbolic::Expr mapped(const symbolic::Expr& e, const Scope& scope) const;
  ir::Subset mapped(const ir::Subset& s, const Scope& scope) const;
  std::vector<symbolic::Expr> mapped(const std::vector<symbolic::Expr>& list, const Scope& scope) const;
  tasklet::Expr expression(const dace::CodeBlock& code, Scope& scope);
  tasklet::Expr expression(const std::string& text, const std::string& path, Scope& scope);
  tasklet::Expr resolved(const tasklet::Expr& e, Scope& scope, const std::string& path) const;
  std::string renamed_cpp(const std::string& text, Scope& scope, ir::Sequence& out);
  const std::string& assigned_symbol(const std::string& name, Scope& scope);
  Type symbol_type(const std::string& name, const Scope& scope) const;
  bool is_float_symbol(const std::string& name, const Scope& scope) const;
  ir::Wcr wcr_from(const std::string& text, const std::string& path) const;
  void infer_all_types();

  // import_graph
  ir::Container container_from(const dace::Descriptor& d, const std::string& name, const Scope& scope) const;
  void declare_containers(Scope& scope, bool top_level);
  void declare_constants(Scope& scope);
  void declare_parameters(Scope& scope);

  // import_flow
  void region(const dace::Region& r, const std::string& path, ir::Sequence& out, Scope& scope);
  void flow(const FlowList& list, const dace::Region& r, ir::Sequence& out, Scope& scope,
            std::map<int, ir::Id>& labels);
  void dispatch(const FlowDispatch& d, const dace::Region& r, ir::Sequence& out, Scope& scope,
                std::map<int, ir::Id>& labels);
  void block(const dace::Block& b, ir::Sequence& out, Scope& scope);
  const std::set<std::string, std::less<>>& outside_loops(const dace::Sdfg& g);
  void loop(const dace::LoopBlock& l, const dace::Block& b, ir::Sequence& out, Scope& scope);
  void conditional(const dace::ConditionalBlock& c, const dace::Block& b, ir::Sequence& out, Scope& scope);
  void assign(const dace::InterstateEdge& e, ir::Sequence& out, Scope& scope);
  const std::string& float_scalar(const std::string& symbol, Scope& scope);
  void assign_scalar(const std::string& container, const tasklet::Expr& value, ir::Sequence& out,
                     const SourceLocation& location);

  // import_state
  void check_memlet(const StateContext& c, const dace::Edge& e) const;
  void state(const dace::State& s, const dace::Block& b, ir::Sequence& out, Scope& scope);
  void level(StateContext& c, int entry, ir::Sequence& out);
  void note_shared(StateContext& c, const dace::Node& entry, ir::Id element);
  void map(StateContext& c, const dace::Node& n, ir::Sequence& out);
  void consume(StateContext& c, const dace::Node& n, ir::Sequence& out);
  // The node's counterpart in the open state.
  ir::Id add_node(StateContext& c, const dace::Node& n, decltype(ir::Node::kind) kind, ir::Sequence& out);
  void tasklet_node(StateContext& c, const dace::Node& n, ir::Sequence& out);
  void library_node(StateContext& c, const dace::Node& n, ir::Sequence& out);
  bool works_on(const StateContext& c, const dace::Node& n, const RaisedCall& call) const;
  bool raised_node(StateContext& c, const dace::Node& n, ir::Sequence& out);
  void add_library(StateContext& c, const dace::Node& n, ir::LibraryOp op, std::string implementation,
                   const std::map<std::string, std::string>& inputs, const std::map<std::string, std::string>& outputs,
                   ir::Sequence& out);
  void access_node(StateContext& c, const dace::Node& n, ir::Sequence& out);
  void connect(StateContext& c, const dace::Node& n, ir::Id id, ir::Sequence& out,
               const std::function<std::string(const std::string&, bool output)>& rename);
  ir::State& current(StateContext& c, ir::Sequence& out);
  ir::Id access(StateContext& c, int node, ir::Sequence& out);
  ir::Id access_of(StateContext& c, const std::string& container, ir::Sequence& out);
  Place place_of(StateContext& c, int access_node);
  ir::Subset subset_on(StateContext& c, const Place& p, const std::string& data, const dace::Memlet& m, bool source);
  ir::Subset through(const Binding& b, const ir::Subset& inner, const std::string& path) const;
  void copy(StateContext& c, int src, int dst, const dace::Edge& leaf, ir::Sequence& out);
  Type register_type(StateContext& c, const dace::Node& n, const dace::Edge& e);

  // import_nested
  void nested(StateContext& c, const dace::Node& n, ir::Sequence& out);
  void map_symbol(const dace::NestedSdfg& call, std::size_t k, bool assigned, const Scope& outer, Scope& inner,
                  ir::Assign& initial, ir::Sequence& body, const std::string& path);
  Binding alias(const Binding& outer, const ir::Subset& subset, const dace::Descriptor& inner, const Scope& inner_scope,
                const std::string& path);
  Binding view_binding(StateContext& c, int access_node);
  void add_reduction(const RaisedReduction& r, const dace::Node& n, ir::Sequence& out, Scope& scope);

  // import_place
  void place_declarations();

  const dace::Sdfg& file_;
  std::vector<std::string>& warnings_;
  ir::Graph graph_;
  std::map<const dace::Sdfg*, std::set<std::string, std::less<>>> outside_loops_;  // see used_outside_loops
  std::set<std::string> to_place_;            // transients without a declaring block yet
  std::map<std::string, std::string> views_;  // key of a view's meaning -> its container
  std::map<std::string, ir::Id> limits_;      // transients of nested graphs -> the block that stands for the graph
  std::map<std::string, std::set<ir::Id>> shared_;  // container -> maps that it is outside of
};

// ir::LibraryOp of a file's node; connectors are renamed by `rename` (file's name -> ours). Defined in
// import_library.cpp.
struct LibraryTranslation {
  ir::LibraryOp op;
  std::map<std::string, std::string> inputs, outputs;  // file connector ("" for none) -> ours
};
LibraryTranslation translate_library(const dace::LibraryNode& n, const std::string& path,
                                     const std::function<ir::Wcr(const std::string&)>& wcr,
                                     const std::function<symbolic::Expr(const std::string&)>& expression);

// Names that are used or assigned outside of loops that define them: their values matter after such a loop. Defined in
// loop_uses.cpp.
std::set<std::string, std::less<>> used_outside_loops(const dace::Region& r);

// A condition (typed, only its truth matters) with fewer negations. Defined in plain_conditions.cpp.
tasklet::Expr plain_condition(const tasklet::Expr& condition);

// Turns `v = init; while (c) { ...; v = update }` into counted loops where the symbol is used for nothing else. Defined
// in raise_loops.cpp.
void raise_counted_loops(ir::Graph& g);

}  // namespace sdfg::io
