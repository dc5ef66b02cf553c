// The structured dataflow graph: elements (control flow), states (dataflow), memlets. See docs at each type for what it
// means.
//
// Invariants (checked by validate.hpp): names of containers and symbols are unique in the graph; every symbol has one
// binder and is used only where that binder is in force; ids are unique and never reused; iteration order is insertion
// order. Subsets, shapes, strides and map ranges are symbolic expressions over symbols only (no Reads): a value read
// from a container becomes a symbol by an Assign first. Conditions and right-hand sides of Assigns are typed tasklet
// expressions, where a container read is a Subscript whose base is the container (no indices for a Scalar).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <sdfg/error.hpp>
#include <sdfg/types.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/container.hpp"
#include "ir/library.hpp"
#include "symbolic/subset.hpp"
#include "tasklet/code.hpp"

namespace sdfg::ir {

using Id = std::uint32_t;  // of an element, node or memlet; unique in the graph; 0: none

// ---- Dataflow
// -------------------------------------------------------------------------------------------------------------

// A point where a container (or a member "st.x") is read or written. Several nodes may name one container.
struct Access {
  std::string data;
};

// A connector: a name in the tasklet's code. A void type is inferred: the element type when the memlet moves one
// element, a pointer to it otherwise.
struct Connector {
  std::string name;
  Type type;
};

struct Tasklet {
  std::vector<Connector> inputs;
  std::vector<Connector> outputs;
  tasklet::Code code;
  std::optional<bool> side_effects;  // nothing: analyse (callbacks and C++ calls have them)
};

struct Node {
  Id id = 0;
  std::string label;
  SourceLocation location;
  std::variant<Access, Tasklet, Library> kind;
};

// How a WCR write is carried out; decided by a pass, kUndecided before.
enum class WcrLowering : std::uint8_t { kUndecided, kPlain, kAtomic, kReduction };

// An unordered accumulation: old = op(old, new). kCustom: `custom` is an expression over the names "a" (old) and "b"
// (new).
enum class ReduceOp : std::uint8_t {
  kSum,
  kProduct,
  kMin,
  kMax,
  kBitAnd,
  kBitOr,
  kBitXor,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kExchange,
  kCustom,
};
std::string_view to_string(ReduceOp op) noexcept;
struct Wcr {
  ReduceOp op = ReduceOp::kSum;
  tasklet::Expr custom;  // kCustom only
  WcrLowering lowering = WcrLowering::kUndecided;
};

// An edge of a state.
//   Access -> Tasklet/Library: src_subset in the access's container, dst_connector set.
//   Tasklet/Library -> Access: dst_subset in the access's container, src_connector set.
//   Access -> Access: a copy; both subsets, of equal element counts (they may differ in shape: row-major order of
//   elements). code -> code with both connectors: a register edge, one value passed directly. no connectors and no
//   subsets: order only. `set_reference`: the destination is a Reference that receives the address of the source's
//   subset.
struct Memlet {
  Id id = 0;
  Id src = 0;
  Id dst = 0;
  std::string src_connector;
  std::string dst_connector;
  std::optional<Subset> src_subset;
  std::optional<Subset> dst_subset;
  std::optional<Wcr> wcr;
  bool dynamic = false;    // moves at most the subset: a write may leave elements untouched
  bool allow_oob = false;  // not bounds-checked
  bool set_reference = false;
  SourceLocation location;

  bool is_order_only() const { return !src_subset && !dst_subset && src_connector.empty() && dst_connector.empty(); }
};

// Acyclic multigraph of dataflow. Order is the partial order of its edges.
struct State {
  std::vector<Node> nodes;
  std::vector<Memlet> edges;
  bool barrier = false;  // in a kernel, before the dataflow: all threads of the block meet and see each other's writes

  Node* find_node(Id id);
  const Node* find_node(Id id) const;
  std::vector<const Memlet*> in_edges(Id node) const;  // in insertion order
  std::vector<const Memlet*> out_edges(Id node) const;
  // Topological order, ties by insertion order. Throws Error(kGraph) on a cycle.
  std::vector<Id> topological_order() const;
};

// ---- Control flow
// ---------------------------------------------------------------------------------------------------------

struct Element;

// Elements in program order. Owns them; move-only (graph.hpp's clone functions copy).
class Sequence {
 public:
  Sequence();
  ~Sequence();
  Sequence(Sequence&&) noexcept;
  Sequence& operator=(Sequence&&) noexcept;

  std::vector<std::unique_ptr<Element>> items;
};

// Parallel assignment of symbols: all right-hand sides are read before any is written. The value is converted to the
// symbol's type.
struct Assign {
  struct Item {
    std::string symbol;
    tasklet::Expr value;
  };
  std::vector<Item> items;
};

// A scope that owns containers: allocated on entry (their sizes use only symbols visible there), released on every way
// out.
struct Block {
  std::vector<std::string> locals;  // containers declared here
  Sequence body;
};

enum class LoopForm : std::uint8_t {
  kTestFirst,       // init; while (condition) { body; update; }
  kUpdateThenTest,  // init; do { body; update; } while (condition);
  kTestThenUpdate,  // init; forever { body; if (!condition) break; update; }
};

// A counted loop. `init` and `update` are values for the variable. Continue goes on with the update (and test, in the
// form's order).
struct For {
  std::string variable;
  tasklet::Expr init;
  tasklet::Expr condition;
  tasklet::Expr update;
  LoopForm form = LoopForm::kTestFirst;
  bool unroll = false;
  int unroll_factor = 0;
  Sequence body;
};

struct While {
  tasklet::Expr condition;
  bool test_first = true;  // false: do { body } while (condition)
  Sequence body;
};

struct If {
  struct Branch {
    tasklet::Expr condition;
    Sequence body;
  };  // the else branch, last, has the literal true
  std::vector<Branch> branches;
};

enum class Schedule : std::uint8_t {
  kDefault,  // to be decided
  kSequential,
  kParallel,     // CPU threads
  kDevice,       // a GPU kernel: one point per thread (or per block, when it holds a thread-block map)
  kThreadBlock,  // threads of a block, inside a device map
  kWarp,         // lanes of a warp, inside a thread-block map
};
enum class OmpSchedule : std::uint8_t { kDefault, kStatic, kDynamic, kGuided };
std::string_view to_string(Schedule s) noexcept;
std::string_view to_string(OmpSchedule s) noexcept;

// Independent iterations: no order between them; a conflict without WCR is a bug of the graph.
struct Map {
  std::vector<std::string> params;
  std::vector<Range> ranges;  // inclusive; steps positive; range d may use parameters before d
  Schedule schedule = Schedule::kDefault;
  bool unroll = false;
  int collapse = 0;     // dimensions shared among CPU threads together; 0: decide
  int num_threads = 0;  // 0: the runtime's
  OmpSchedule omp_schedule = OmpSchedule::kDefault;
  std::int64_t omp_chunk = 0;
  bool simd = false;  // the innermost dimension may be vectorised (iterations are independent or reductions)
  // CPU reductions by privatisation: whole scalars (or small arrays) accumulated per thread; filled by a pass.
  struct Reduction {
    std::string container;
    ReduceOp op;
  };
  std::vector<Reduction> reductions;
  std::vector<std::int64_t> gpu_block_size;  // x, y, z; empty: the default
  std::string gpu_launch_bounds;
  int gpu_max_registers = 0;
  std::int64_t gpu_max_blocks = 0;  // more points than these blocks have threads: each thread takes several; 0: no cap
  Sequence body;
};

// Workers popping a stream until it is empty (or `condition` holds); the body may push to it.
struct Consume {
  std::string stream;   // container
  std::string element;  // container declared by the consume: the popped element, a Scalar (or an array of chunk_size)
  std::string worker;   // symbol: index of the worker
  symbolic::Expr num_workers = 1;
  std::optional<tasklet::Expr> condition;
  std::int64_t chunk_size = 1;
  Schedule schedule = Schedule::kDefault;
  Sequence body;
};

// Leaves or continues an enclosing loop, leaves a Block, or ends the current iteration of the innermost Map body. Never
// crosses a Map.
struct Exit {
  enum class Kind : std::uint8_t { kBreak, kContinue };
  Kind kind = Kind::kBreak;
  Id target = 0;  // For, While or Block (break only) or Map (continue only)
};

struct Return {};  // leaves the whole graph; not inside a Map

// How an element of the host is issued to the device, and what waits for what; filled by the stream plan. Work of one
// stream runs in order. Numbers of streams and events are as in lower/abi.hpp.
struct DeviceIssue {
  int stream = 0;                    // of its kernels, copies and fills
  std::vector<int> host_waits;       // before it, the host waits for these streams
  std::vector<int> awaited_events;   // before it, its stream waits for these
  std::vector<int> recorded_events;  // after it, on its stream
  bool operator==(const DeviceIssue&) const = default;
};

struct Element {
  using Kind = std::variant<State, Assign, Block, For, While, If, Map, Consume, Exit, Return>;
  Id id = 0;
  std::string label;
  SourceLocation location;
  Kind kind;
  std::optional<DeviceIssue> issue = {};
};

// ---- The graph
// ------------------------------------------------------------------------------------------------------------

// Code of the user at file scope, and run once per program; C++ text.
struct GlobalCode {
  std::string host, device, init, exit;
  bool empty() const { return host.empty() && device.empty() && init.empty() && exit.empty(); }
};

class Graph {
 public:
  explicit Graph(std::string graph_name) : name(std::move(graph_name)) {}
  Graph(Graph&&) noexcept = default;
  Graph& operator=(Graph&&) noexcept = default;

  std::string name;
  Table<Container> containers;          // all containers, whoever declares them
  Table<Symbol> symbols;                // all symbols
  std::vector<std::string> parameters;  // names of argument containers and parameter symbols, in call order
  std::vector<std::string> locals;      // transients of the outermost scope (Scope lifetime)
  GlobalCode code;
  bool foreign = false;  // came from a file: C++ code in it is compiled only with the user's permission
  Sequence body;

  Id new_id() { return ++last_id_; }
  Id last_id() const { return last_id_; }
  // A name for a container or symbol like `wish` that is not taken ("i", "i_1", ...) and is a plain identifier.
  std::string unique_name(std::string_view wish) const;
  Element& append(Sequence& where, Element::Kind kind, std::string label = {}, SourceLocation location = {});

  Graph clone() const;  // same ids, same names

 private:
  Id last_id_ = 0;
};

// Letters, digits and underscores, no leading digit, and not a word that the expression syntax claims ("and", "if",
// "True", ...).
bool is_identifier(std::string_view name) noexcept;
bool is_reserved_word(std::string_view name) noexcept;

// ---- Walking
// --------------------------------------------------------------------------------------------------------------

// The sequences an element holds, in order (body; each branch).
std::vector<Sequence*> child_sequences(Element& e);
std::vector<const Sequence*> child_sequences(const Element& e);
// Pre-order over all elements below (and not including) the sequence's owner. `visit` gets the enclosing elements,
// outermost first.
using Ancestors = std::vector<const Element*>;
void walk(const Sequence& s, const std::function<void(const Element&, const Ancestors&)>& visit);
void walk(Sequence& s,
          const std::function<void(Element&)>& visit);  // pre-order; the visited element may edit its own children
const Element* find_element(const Graph& g, Id id);
// The path of enclosing elements of an element, node or memlet, outermost first, itself last (the State for nodes and
// memlets).
std::vector<const Element*> path_to(const Graph& g, Id id);
// "map 'i, j'", "loop 't'", "state 'x'", with source lines: context for an Error, innermost first.
std::vector<Error::Place> places_of(const Graph& g, Id id);
// The same when the path is at hand; `id` is the last element's, or that of a node or memlet in it.
std::vector<Error::Place> places_of(const Graph& g, const std::vector<const Element*>& path, Id id);
// "map 'i, j'", "tasklet 'add'", "memlet from access of 'A' to tasklet 'add'": with the user's names where names were
// made unique.
std::string describe(const Graph& g, const Element& e);
std::string describe(const Graph& g, const Node& n);
std::string describe(const Graph& g, const State& s, const Memlet& m);

// A copy of an element with fresh ids; every binder and container declared inside gets a new unique name, uses follow.
std::unique_ptr<Element> clone_renamed(Graph& g, const Element& e);
// A copy with the same ids and names (for Graph::clone and for moving between graphs).
std::unique_ptr<Element> clone_exact(const Element& e);
// Substitutes symbols everywhere below (subsets, ranges, conditions, tasklet code, library properties), layouts of
// containers declared below included.
void substitute_symbols(Graph& g, Sequence& s, const symbolic::Substitution& by);
// Renames containers everywhere below (accesses, reads in expressions, views declared below).
void rename_containers(Graph& g, Sequence& s, const std::map<std::string, std::string, std::less<>>& names);

// What an element declares, reads and writes, itself and everything below.
symbolic::SymbolSet symbols_used(const Graph& g, const Element& e);  // free or bound
symbolic::SymbolSet symbols_bound(const Element& e);                 // parameters, loop variables, assigned
symbolic::SymbolSet containers_read(const Graph& g, const Element& e);
symbolic::SymbolSet containers_written(const Graph& g, const Element& e);
symbolic::SymbolSet containers_declared(const Element& e);

// The container an access path names: "A", or the member of a structure for "st.x"; nothing if there is none.
const Container* resolve(const Graph& g, std::string_view path);
// The container that a view (or chain of views) finally shows; the container itself otherwise.
const Container& root_of(const Graph& g, const Container& c);

// Facts that hold inside the given path of enclosing elements: assumptions of parameters (extents of arguments are
// non-negative), ranges of maps and canonical loops, branch conditions.
symbolic::Facts facts_at(const Graph& g, const std::vector<const Element*>& path);
// The same in steps, for walks: what holds everywhere, and what more holds in one of an element's own sequences.
symbolic::Facts base_facts(const Graph& g);
symbolic::Facts facts_inside(const Graph& g, symbolic::Facts outside, const Element& e, const Sequence& child);

// The canonical view of a counted loop: variable runs begin, begin + step, ... while it is <= end (step > 0) or >= end
// (step < 0).
struct CanonicalLoop {
  symbolic::Expr begin;
  symbolic::Expr end;
  std::int64_t step;
};
std::optional<CanonicalLoop> canonical(const For& loop);

// Type environment of conditions and Assigns: symbols by name, containers as Subscript bases; and of a tasklet's code:
// connectors by their inferred types (see Connector), symbols by name, pointer connectors as bases.
tasklet::TypeEnvironment type_environment(const Graph& g);
tasklet::TypeEnvironment type_environment(const Graph& g, const State& s, const Node& tasklet);
// The type of a connector: its own, or inferred from its memlet. Rank of a pointer connector: of the memlet's subset,
// dimensions of size one squeezed.
Type connector_type(const Graph& g, const State& s, const Node& node, std::string_view connector, bool output);

}  // namespace sdfg::ir
