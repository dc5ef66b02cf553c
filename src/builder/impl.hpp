// The state of a builder: the graph, the open scopes, and what is known of names and pending values.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sdfg/builder.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "builder/nodes.hpp"
#include "ir/graph.hpp"

namespace sdfg::detail {

enum class ScopeKind : std::uint8_t { kGraph, kBlock, kMap, kLoop, kWhile, kBranch, kConsume, kState };

// Consecutive parts of a scope's elements. The first is the scope's own sequence (or the block around all of it, once
// something is declared there); each later one is the body of a Block that ends with the scope: containers whose size
// is only known from there on.
struct Segment {
  ir::Sequence* sequence = nullptr;
  ir::Block* block = nullptr;  // null: containers can't be declared yet (or, of the graph, go to Graph::locals)
};

// Where elements are inserted while the builder works in the past (BuilderImpl::in_the_past).
struct Cursor {
  ir::Sequence* sequence = nullptr;
  std::size_t index = 0;
  std::size_t segment = 0;
  Position position;
  std::uint64_t stamp = 0;
};

struct Scope {
  ScopeId id = 0;
  ScopeKind kind = ScopeKind::kGraph;
  std::uint32_t element = 0;    // id; 0: the graph
  ir::Element* node = nullptr;  // null: the graph
  std::vector<Segment> segments;
  std::uint32_t body = 0;                                 // of a do-while loop: the block that holds its body
  std::uint32_t last = 0;                                 // the element emitted last, in any segment
  Cursor* past = nullptr;                                 // null: elements go to the end of the last segment
  std::map<std::string, std::string, std::less<>> names;  // user's name -> name in the graph, of what is declared here
};

// What ended or is open under an id, for messages.
struct ScopeInfo {
  std::string what;
  SourceLocation where;
};

struct SymbolInfo {
  ScopeId scope = 0;
  int segment = -1;  // of its scope, where it is first assigned; -1: bound by the scope itself
  std::string label;
  ir::BinderKind binder = ir::BinderKind::kParameter;
  bool minted = false;        // made by the builder for an index or bound read from a container
  std::uint64_t written = 0;  // clock of the last assignment after the first
  SourceLocation where;
};

struct ContainerInfo {
  ScopeId scope = 0;
  std::string root;  // the container viewed in the end; itself otherwise
  std::string label;
  bool may_alias = false;
  std::string read_only;      // why it can't be stored to; empty: it can
  bool snapshot = false;      // holds a value kept by the builder
  std::uint64_t written = 0;  // clock of the last store (of roots)
  SourceLocation where;
};

class BuilderImpl : public std::enable_shared_from_this<BuilderImpl> {
 public:
  BuilderImpl(std::string name, SourceLocation where);

  ir::Graph graph;
  SourceLocation created;
  bool gone = false;                 // the Builder object was destroyed
  bool broken = false;               // an exception left a body
  std::vector<std::string> ordered;  // set by `order`

  // ---- Errors (errors.cpp) ----
  [[noreturn]] void fail(const SourceLocation& where, std::string message, std::string hint = {},
                         std::string what = {}) const;
  void check_usable(const SourceLocation& where) const;
  void check_open(const Scopes& scopes, const SourceLocation& where, std::string_view what) const;
  std::vector<Error::Place> places(const SourceLocation& where, std::string what) const;

  // An expression with the user's names, for messages.
  std::string show(const symbolic::Expr& e) const;

  // ---- Scopes (scopes.cpp) ----
  Scope& current() { return *stack_.back(); }
  const Scope& current() const { return *stack_.back(); }
  bool is_open(ScopeId id) const;
  std::size_t depth_of(ScopeId id) const;  // position in the stack; the scope must be open
  bool at_graph_scope() const { return stack_.size() == 1; }
  // Is the innermost scope part of a map (or consume) opened inside scope `outer`?
  bool in_map_within(ScopeId outer) const;
  // Does code of the innermost scope run again, or at another time, than code of scope `outer`?
  bool repeats_within(ScopeId outer) const;
  ir::Element& emit(ir::Element::Kind kind, std::string label, const SourceLocation& where);
  // Opens a scope for the body of an element (its k-th sequence).
  Scope& open(ScopeKind kind, ir::Element& element, std::size_t k, std::string what, const SourceLocation& where);
  void close(ScopeId id);
  const std::vector<std::unique_ptr<Scope>>& stack() const { return stack_; }
  const ScopeInfo& info_of(ScopeId id) const { return infos_.at(id); }
  // Runs `f` as if it had been called at a position; later elements stay later.
  void in_the_past(const Position& position, std::uint64_t stamp, const std::function<void()>& f);
  Position here() const;
  // Makes the current segment one that can declare a container using these symbols, and returns its block (null: the
  // graph).
  ir::Block* block_for(const symbolic::SymbolSet& used);
  int current_segment() const;
  std::uint64_t tick() { return ++clock_; }
  // Counts what the user wrote, to see that an else follows its if directly.
  void statement() { ++statements_; }
  std::uint64_t statements() const { return statements_; }

  // ---- Names (names.cpp) ----
  std::map<std::string, SymbolInfo, std::less<>> symbols;
  std::map<std::string, ContainerInfo, std::less<>> containers;
  // The graph's name for a name of the user, innermost scope first; nothing if unknown.
  std::optional<std::string> resolve(std::string_view user_name) const;
  std::string unknown_hint(std::string_view user_name) const;
  // A parameter keeps its name: it must be free.
  std::string claim_parameter(std::string_view name, const SourceLocation& where);
  // Anything else is renamed when another scope uses the name; twice in one scope is an error.
  std::string claim_local(std::string_view name, const SourceLocation& where);
  std::string fresh(std::string_view wish) const;
  Index new_symbol(std::string_view name, ir::BinderKind binder, ScalarType type, const SourceLocation& where,
                   bool minted = false);
  Index index_of(const std::string& symbol);
  void update_parameters();

  // ---- Containers (containers.cpp) ----
  // Inserts into the graph's table and into the block that can hold it; names it in `containers`.
  ir::Container& declare(ir::Container container, std::string user_name, std::string root = {});
  // A container that an element itself declares (what a consume scope takes out).
  void declare_outside_blocks(ir::Container container, std::string user_name);
  std::string declare_scalar(std::string_view wish, ScalarType type, const SourceLocation& where);
  std::string declare_temporary(std::string_view wish, ScalarType type, const ir::Extents& shape,
                                const SourceLocation& where);
  WindowRef window_of(const std::string& container, const SourceLocation& where);
  std::string root_of(const std::string& container) const;
  void written(const std::string& container);
  // May storing to one container change what the other holds? What the builder keeps is its own.
  bool may_share(const std::string& a, const std::string& b) const;
  Scopes scopes_of(const symbolic::Expr& e) const;

  // ---- Values (values.cpp) ----
  // The integer as a symbolic expression; a value read from containers becomes a symbol assigned here.
  symbolic::Expr resolve_bound(const Bound& bound, std::string_view wish, const SourceLocation& where);
  symbolic::Expr resolve_index(const Index& index, const SourceLocation& where);
  // Checks that the value may be used here and returns its tree, valid until the next store.
  const TreePtr& use(const ExprRef& e, const SourceLocation& where);
  // The same without the tree: an uncomputed value stays uncomputed.
  void refresh(const ExprRef& e, const SourceLocation& where);
  void keep(ExprNode& e);  // materialises at its position
  ExprRef make(ir::Extents shape, TreePtr tree, std::vector<std::string> reads, const SourceLocation& where);
  ExprRef make_read(const WindowNode& window);
  std::vector<std::string> assigned_in(const symbolic::Expr& e) const;  // symbols that `assign` may change
  void check_window(const WindowNode& window, const SourceLocation& where) const;
  void check_owner(const std::shared_ptr<BuilderImpl>& owner, const SourceLocation& where, std::string_view what) const;

  // ---- Statements (statements.cpp) ----
  // How a stored value meets the old one. `unordered`: as a WCR, because points of a map may meet.
  struct Combine {
    std::optional<Reduce> reduce;
    bool divides = false;
    bool unordered = false;
  };
  void store(const WindowNode& target, Combine combine, const ExprRef& value, const SourceLocation& where);
  void store_tree(const WindowNode& target, const Combine& combine, const TreePtr& tree, const SourceLocation& where);
  void store_element(const std::string& container, const std::vector<symbolic::Expr>& indices, const Combine& combine,
                     TreePtr value, const SourceLocation& where);
  void copy(const WindowNode& target, const WindowNode& source, const SourceLocation& where);
  void emit_copy(const WindowNode& target, const WindowNode& source, const SourceLocation& where);
  void check_writable(const std::string& container, const SourceLocation& where) const;
  // A map over a box from zero; the body gets the parameters. Without dimensions the body alone.
  void over_shape(const ir::Extents& shape, const SourceLocation& where,
                  const std::function<void(const std::vector<symbolic::Expr>&)>& body);

  // ---- Code (code.cpp) ----
  tasklet::Expr index_code(const symbolic::Expr& e) const;
  // Whether the operation exists for its operands' types, before a statement is begun for it.
  void check_operation(const Tree& tree, const SourceLocation& where) const;
  // A condition or the value of an assignment.
  tasklet::Expr expression_code(const TreePtr& tree, const SourceLocation& where) const;
  // Appends a State that computes `tree` and stores it to an element; without a container (empty name) it is run for
  // its effect.
  void emit_tasklet(const std::string& container, const std::vector<symbolic::Expr>& indices, const TreePtr& tree,
                    const std::optional<ir::ReduceOp>& wcr, const SourceLocation& where);

  // Connectors and locals of generated tasklets. A parameter that is declared later and wants such a name gets it.
  std::set<std::string, std::less<>> code_names;
  void free_code_name(const std::string& name);

  // ---- Control flow (control.cpp) ----
  std::set<std::uint32_t> moved;  // elements that compute a condition of else_if, now inside an else
  // Elements of the current scope's sequence after the one with this id; the element itself must be there.
  std::vector<std::unique_ptr<ir::Element>> take_after(std::uint32_t id, const SourceLocation& where);
  // The loop (or map, when `continues`) that break and continue mean.
  const Scope& exit_target(bool continues, const SourceLocation& where) const;
  tasklet::Expr bound_code(const Bound& bound, const SourceLocation& where);

 private:
  std::vector<std::unique_ptr<Scope>> stack_;
  std::map<ScopeId, ScopeInfo> infos_;
  ScopeId last_scope_ = 0;
  std::uint64_t clock_ = 0;
  std::uint64_t statements_ = 0;
  bool may_overlap_ = false;  // some container is a reference or may alias
  std::vector<Cursor*> cursors_;
  ir::Element& insert(Scope& scope, ir::Element::Kind kind, std::string label, const SourceLocation& where);
  void wrap_first_segment(Scope& scope);
  void split(Scope& scope, std::size_t segment, std::size_t index);
  std::map<std::uint32_t, std::uint64_t>
      past_stamps_;  // elements emitted in the past, by the stamp of the value they keep
};

// The graph's counterparts of public enumerations.
ir::ReduceOp reduce_op(Reduce r);
ir::Schedule schedule_of(Schedule s);
ir::Storage storage_of(Storage s);
ir::OmpSchedule omp_schedule_of(OmpSchedule s);

}  // namespace sdfg::detail
