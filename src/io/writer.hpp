// Translates the structured graph to DaCe's model. One object per graph; the methods are spread over write_*.cpp by
// idea: write_graph (tables, descriptors, names), write_flow (regions, loops, branches, jumps), write_state (dataflow,
// scopes, memlet paths), write_library (library nodes). write_json.cpp prints the model.
#pragma once

#include <map>
#include <optional>
#include <sdfg/sdfg_file.hpp>
#include <set>
#include <string>
#include <vector>

#include "io/dace_model.hpp"
#include "ir/graph.hpp"

namespace sdfg::io {

// JSON text of the model.
std::string write_json(const dace::Sdfg& sdfg, SdfgDialect dialect, bool readable);

// Class path, properties (JSON text of the attributes) and connector names of a library node. Defined in
// write_library.cpp.
struct LibrarySpelling {
  std::string class_path, properties;
  std::map<std::string, std::string> inputs, outputs;  // ours -> the file's connector ("": none)
};
LibrarySpelling spell_library(const ir::Library& l, SdfgDialect dialect, const std::string& what);
// "(lambda x, y: (x + y))"
std::string spell_wcr(ir::ReduceOp op, const tasklet::Expr& custom);

class Writer {
 public:
  // The graph must be in normal form (normal_form.hpp).
  Writer(const ir::Graph& g, SdfgDialect dialect, std::vector<std::string>& warnings);
  dace::Sdfg run();

 private:
  // A jump's end that waits for the block it leads to.
  struct OpenEnd {
    int block = -1;
    std::string condition;  // empty: unconditional
    std::vector<std::pair<std::string, std::string>> assignments;
    int order = 0;  // among the ends of its block
  };
  using OpenEnds = std::vector<OpenEnd>;
  // One (nested) SDFG while it is filled.
  struct Context {
    dace::Sdfg& sdfg;
    Context* parent = nullptr;
    std::set<std::string> described;  // containers in its table
    std::map<std::string, int> labels;
    std::set<std::string> bound;  // symbols that this graph itself binds
    OpenEnds returns;             // jumps to its end
    bool nested() const { return parent != nullptr; }
  };
  // One region while it is filled.
  struct RegionState {
    dace::Region& region;
    OpenEnds open;
    bool started = false;
    std::vector<int> orders = {};  // of the region's edges
  };
  // Where the exits of an element go.
  struct Target {
    enum class Kind : std::uint8_t { kRegionLoop, kJumpLoop, kJumpBlock, kReturn } kind;
    OpenEnds breaks, continues;
  };
  struct ScopeFrame;
  struct StateOut;

  // write_graph
  [[noreturn]] void fail(const std::string& what, ir::Id id) const;
  void warn(std::string text) { warnings_.push_back(std::move(text)); }
  std::string label_of(Context& c, const ir::Element& e, const char* kind);
  std::string unique_label(Context& c, std::string wish);
  void describe(Context& c, const std::string& container, bool connector);
  dace::Descriptor descriptor(const ir::Container& c, bool connector) const;
  void declare_symbol(Context& c, const std::string& name, bool bound_here);
  std::string text(const tasklet::Expr& e, ir::Id at);
  std::string text(const ir::State& s, const ir::Node& n);
  void collect_tables();

  // write_flow
  void plan_jumps();
  bool can_nest(const ir::Element& block) const;
  void sequence(Context& c, RegionState& r, const ir::Sequence& s);
  void element(Context& c, RegionState& r, const ir::Element& e);
  int append(RegionState& r, dace::Block b);
  void need_clean_end(Context& c, RegionState& r);
  void connect(RegionState& r, OpenEnd& from, int to);
  void finish(Context& c, RegionState& r);
  void region(Context& c, dace::Region& out, const ir::Sequence& s);
  void graph_region(Context& c, const ir::Sequence& s, const std::vector<std::string>& locals);
  void assign(Context& c, RegionState& r, const ir::Assign& a, const ir::Element& e);
  void set_symbol(Context& c, RegionState& r, const std::string& symbol, const tasklet::Expr& value, ir::Id id);
  void loop_region(Context& c, RegionState& r, const ir::Element& e);
  void loop_jumps(Context& c, RegionState& r, const ir::Element& e);
  void branch(Context& c, RegionState& r, const ir::Element& e);
  void block(Context& c, RegionState& r, const ir::Element& e);
  void leave(Context& c, RegionState& r, const ir::Exit& x, const ir::Element& e);
  void end_graph(Context& c, RegionState& r, const ir::Element& e);
  void zero(Context& c, RegionState& r, const std::string& container);
  void declare_locals(Context& c, const std::vector<std::string>& names, bool entered_once);

  // write_state
  void state(Context& c, RegionState& r, const ir::Element& e);
  void scope_state(Context& c, RegionState& r, const ir::Element& e);
  void nodes(StateOut& o, ScopeFrame* f, const ir::State& s);
  void map(StateOut& o, ScopeFrame* f, const ir::Element& e);
  void consume(StateOut& o, ScopeFrame* f, const ir::Element& e);
  void body(StateOut& o, ScopeFrame& f, const ir::Sequence& s, const std::string& label);
  int nested(StateOut& o, ScopeFrame* f, const ir::Sequence& s, const std::string& label, ir::Id id);
  const ir::Element* only_item(const ir::Sequence& s, std::vector<std::string>& locals) const;
  bool fits_scope(const ir::Element& item, const std::set<std::string>& local) const;
  // Where a value comes from or goes to at the level of a scope, and what its memlet names when that is not the
  // container.
  struct End {
    int node = -1;
    std::string connector;
    std::string stream;  // of a consume scope
  };
  End source(StateOut& o, ScopeFrame* f, const std::string& path, const ir::Subset* leaf);
  End sink(StateOut& o, ScopeFrame* f, const std::string& path, const ir::Subset* leaf, const std::string& wcr,
           bool nonatomic);
  End through(StateOut& o, ScopeFrame& f, const std::string& path, const ir::Subset* leaf, const std::string& wcr,
              bool nonatomic, bool read);
  void close(StateOut& o, ScopeFrame& f);
  void viewing_edge(StateOut& o, ScopeFrame* f, int node, const std::string& view, bool written);
  int access_node(StateOut& o, const std::string& path);
  bool is_zeroed(const std::string& path) const;
  ir::Subset file_subset(const std::string& path, const ir::Subset& s) const;
  ir::Subset whole(const std::string& path) const;

  const ir::Graph& g_;
  SdfgDialect dialect_;
  std::vector<std::string>& warnings_;
  tasklet::TypeEnvironment environment_;
  std::vector<const ir::Element*> path_;  // enclosing elements of what is being written
  std::set<ir::Id> jumps_;                // elements that become jumps instead of regions
  std::set<ir::Id> calls_;                // blocks that become nested graphs
  std::map<ir::Id, Target> targets_;
  std::set<std::string> accessed_;  // containers that some access node names: it can say that they are zeroed
  std::set<std::string> once_;      // transients that must live as long as their graph's call
  std::set<std::string> names_;     // taken in the file, beside those of the graph
};

}  // namespace sdfg::io
