// The state of one lowering: names, open scopes and loops, and the statements under construction. Internal to the room.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/digest.hpp"
#include "ir/graph.hpp"
#include "lower/kernel.hpp"
#include "lower/kernel_plan.hpp"
#include "lower/names.hpp"
#include "lower/options.hpp"
#include "lower/support.hpp"
#include "lower/unit.hpp"
#include "lower/uses.hpp"
#include "tasklet/print_cpp.hpp"
#include "tasklet/value.hpp"

namespace sdfg::lower {

// What the names in a piece of scalar code stand for. Names that are not listed are symbols and containers of the
// graph.
struct Binding {
  // An elementwise window: the element with the window's indices (dimensions of size one squeezed).
  struct Window {
    std::string container;
    ir::Subset subset;
    const ir::Memlet* memlet = nullptr;
  };
  std::map<std::string, Text, std::less<>> values;
  std::map<std::string, Window, std::less<>> windows;
  // Names to declare by their one assignment.
  std::map<std::string, Type, std::less<>> pending;
  // Output connectors whose every assignment is a write of the graph at once.
  std::map<std::string, const ir::Memlet*, std::less<>> immediate;
  std::map<std::string, Type, std::less<>> target_types;
};

// Where kernels report failures: a parameter of kernels, and a variable of the host.
inline constexpr const char* kToldName = "sdfg_told";

class Lowering {
 public:
  Lowering(const ir::Graph& g, const LowerOptions& options, const ir::Ordinals& ordinals);
  Unit host_unit();
  // The kernels that host_unit met; empty when there were none.
  DeviceModule device_module();

  // A dimension of a copied subset with more than one element, and the distance of neighbours in memory.
  struct Running {
    std::size_t dimension;
    symbolic::Expr size;
    symbolic::Expr stride;
  };

 private:
  struct Side {
    std::string path;
    ir::Subset subset;
  };
  struct Accumulator {
    std::string container;
    std::string path;  // the window it is written through, and the element in it
    ir::Subset subset;
    Text target, variable;
    ir::ReduceOp op;
    Type type;
  };

  // ---- kernels (kernel.cpp, thread_block.cpp): in the lowering that makes the device module ----
  // One kernel and what its launch passes: containers and symbols by their names in the graph, in order.
  struct Launch {
    int kernel = 0;
    std::vector<std::string> arguments;
    bool reports = false;  // takes the place for failures, after the others
    KernelPlan plan;
  };
  Launch kernel(const std::vector<const ir::Element*>& path, const ir::Element& e, const ir::Map& m);
  std::vector<std::string> kernel_containers(const ir::Element& e, std::vector<std::string>& views);
  void kernel_points(const ir::Element& e, const ir::Map& m, const KernelPlan& plan, Statements body);
  void thread_block_map(const ir::Element& e, const ir::Map& m);
  void warp_map(const ir::Element& e, const ir::Map& m);
  void block_state(const ir::State& s);
  bool is_replicated(const ir::State& s, const ir::Node& n) const;
  std::vector<Accumulator> open_partials(const ir::Element& e, const ir::Map& m);
  void close_partials(const std::vector<Accumulator>& partials, const ir::Element& e);
  // An expression that accumulates and gives what was there before.
  Text device_atomic(const ir::Wcr& wcr, const Type& type, const Text& target, const Text& value);
  void declare_in_kernel(const ir::Container& c);
  bool in_threads() const { return kernel_ != nullptr && (!kernel_->plan.blockwise || kernel_->in_thread_block); }
  bool written_here(std::string_view container) const;
  // The number of this thread in its block.
  Text flat_thread() const;

  // ---- the host's part of device work (launch.cpp) ----
  void launch(const ir::Element& e, const ir::Map& m);
  void issue_before(const ir::Element& e);
  void issue_after(const ir::Element& e);
  int stream() const { return stream_; }
  void declare_device_memory(const ir::Container& c, bool& needs_braces);
  Statements place_for_reports();
  bool on_device(std::string_view path) const;  // in device memory, seen from the host

  // ---- loops that repeat launches (repeat.cpp) ----
  struct Repetition {
    symbolic::Expr trips;  // not positive: none
    int stream = 0;
  };
  // Set if all iterations launch the same kernels with the same arguments on one stream, and do nothing else.
  std::optional<Repetition> repetition_of(const ir::For& f) const;
  void repeated_loop(const ir::Element& e, const ir::For& f, const Repetition& r);

  // ---- statements (lowering.cpp) ----
  void emit(Statement::Node node, ir::Id origin = 0, Text comment = {});
  int ordinal(ir::Id id) const;
  int container_ordinal(std::string_view name) const;
  // Runs `fill` with emission going to a new list, which is returned.
  template <typename Fill>
  Statements collect(Fill fill) {
    Statements inner;
    Statements* outer = out_;
    out_ = &inner;
    fill();
    out_ = outer;
    return inner;
  }
  [[noreturn]] void unsupported(ir::Id id, const std::string& what, std::string hint = {}) const;
  const symbolic::Facts& facts() { return facts_at_depth(path_.size()); }
  const symbolic::Facts& facts_at_depth(std::size_t depth);

  // ---- control (control.cpp) ----
  // Where Exit and failures go: an element that can be left or continued.
  struct Target {
    ir::Id id = 0;
    bool is_loop = false;        // a C loop is open for it (break and continue may be plain)
    bool plain_continue = true;  // C's continue does what the element's next iteration needs
    bool parallel = false;       // iterations run on threads: no leaving but by the end of the iteration
    Text leave, next;            // labels
    bool leave_used = false, next_used = false;
  };
  void sequence(const ir::Sequence& s);
  void element(const ir::Element& e);  // with its time, where that is asked for
  void untimed_element(const ir::Element& e);
  bool is_timed(const ir::Element& e) const;
  bool is_expansion(const ir::Element& e) const;
  void assign(const ir::Element& e, const ir::Assign& a);
  void block(const ir::Element& e, const ir::Block& b);
  void loop(const ir::Element& e, const ir::For& f);
  void while_loop(const ir::Element& e, const ir::While& w);
  void branch(const ir::Element& e, const ir::If& i);
  void map(const ir::Element& e, const ir::Map& m);
  void consume(const ir::Element& e, const ir::Consume& c);
  void leave(const ir::Element& e, const ir::Exit& x);
  // The body of a loop or block as a target, with its label for the next iteration.
  Statements target_body(Target& t, const ir::Element& e, const ir::Sequence& body, ir::Id declare_for);
  void leave_label(const Target& t);
  // Ends what runs now because of a failure that was recorded.
  void emit_failure_exit(ir::Id origin);
  void check_failed(const Text& condition, ir::Id origin, Statements before = {});
  void declare_symbols(ir::Id map);
  Text symbol_type(std::string_view name) const;
  // The exact integer view of an expression over symbols narrower than 64 bits: their arithmetic doesn't wrap.
  std::optional<symbolic::Expr> exact_view(const tasklet::Expr& e) const;
  Text symbol_value(const tasklet::Expr& e, const Type& type);
  Text control_condition(const tasklet::Expr& e);
  std::optional<Text> fork_condition(const ir::Map& m);

  // ---- reductions around a map (wcr.cpp) ----
  // Is this variable the private result of a reduction that surrounds the statement?
  bool is_accumulator(const Text& variable) const {
    return std::ranges::any_of(accumulators_, [&](const Accumulator& a) { return a.variable == variable; });
  }
  std::vector<Accumulator> open_accumulators(const ir::Element& e, const ir::Map& m, LoopHints& hints,
                                             bool with_clause);
  void close_accumulators(const std::vector<Accumulator>& accumulators, const ir::Element& e);
  // Path and subset of the element that a reduction of the map accumulates into.
  std::optional<std::pair<std::string, ir::Subset>> reduced_place(const ir::Map& m, std::string_view container) const;
  void accumulate(const ir::Wcr& wcr, const Type& type, const Text& target, const Text& value, ir::Id origin,
                  Text comment);
  bool is_atomic(const ir::Wcr& wcr) const;
  // The same, and checks that a number is what comes out, unless the target is a private result.
  void checked_accumulate(const Side& at, const ir::Wcr& wcr, const Type& type, const Text& target, const Text& value,
                          ir::Id origin, Text comment);
  tasklet::Expr combine(const ir::Wcr& wcr, const Type& type) const;  // over the names "a" and "b"
  std::optional<Text> identity(ir::ReduceOp op, const Type& type);

  // ---- containers (memory.cpp) ----
  void declare_containers(const std::vector<std::string>& locals, bool& needs_braces);
  void declare_container(const ir::Container& c, bool& needs_braces);
  void declare_structure(const ir::Container& c, bool& needs_braces);
  void declare_view(const ir::Container& c);
  void declare_stream(const ir::Container& c);
  void declare_persistent();
  void once(const Text& name, const Text& what, const std::string& text);
  void declare_constant(const ir::Container& c);
  Text label_of(const ir::Container& c);
  void check_extents(const ir::Container& c);
  bool has_size_helper(const ir::Container& c) const;
  Text size_call(const ir::Container& c);
  bool fits_stack(const ir::Container& c) const;
  std::vector<const ir::Container*> in_dependency_order(const std::vector<std::string>& locals) const;

  static bool is_single_queue(const ir::Container& c);
  // The runtime's handle of a queue: the container's own, or that of an element of an array of queues.
  Text queue_at(std::string_view stream, const ir::Subset& subset, ir::Id origin);
  // A push of what `address` points to, and a pop into it; a full or empty queue fails the call.
  Statement push(std::string_view stream, const Text& queue, const Text& address, ir::Id origin);
  Statement pop(std::string_view stream, const Text& queue, const Text& address, ir::Id origin);

  // ---- spelling (access.cpp) ----
  const ir::Container& container(std::string_view path) const;
  bool is_pointer(std::string_view path) const;  // spelled with a subscript or `*`
  bool is_read_only(std::string_view path) const;
  Text base(std::string_view path);
  Text element_of(std::string_view path, std::span<const Text> indices);
  Text element_at(std::string_view path, const ir::Subset& subset);
  Text address_at(std::string_view path, const ir::Subset& subset);
  // The elements that a connector of a vector type moves to or from a container of single numbers, in order; none when
  // the container holds vectors itself or the connector is no vector.
  std::vector<ir::Subset> lanes_of(const Type& connector, std::string_view path, const ir::Subset& subset,
                                   ir::Id origin);
  Text flat_index(std::string_view path, std::span<const Text> indices);
  struct Layouted {
    Text helper;
    std::vector<std::string> extras;
    bool direct = false;
  };
  const Layouted& layout_of(std::string_view path);
  Text written_out_index(std::string_view path, std::span<const Text> indices);
  // An access that reports indices outside of the container and then goes to a place of its own.
  Text checked_element(std::string_view path, std::span<const Text> indices);
  struct Accessor {
    Text name;
    std::vector<std::string> extras;
  };
  Text expr(const symbolic::Expr& e);
  Text type_text(const Type& t);
  Text code(const tasklet::Expr& e, const Binding& b = {});
  Text condition(const tasklet::Expr& e, const Binding& b = {});
  Text converted(const Text& value, const Type& from, const Type& to);
  tasklet::Expr typed(const tasklet::Expr& e) const;
  Text code_as(const tasklet::Expr& e, const Type& to, const Binding& b = {});
  tasklet::CppStyle style_for(const Binding& b);
  Text window_element(std::string_view name, const Binding::Window& w, std::span<const Text> indices);
  Text structure_text(const Type& t);
  Text opaque_text(const Type& t);
  Text container_structure(const ir::Container& c);
  Text literal(const tasklet::Value& v);
  void finish_support();
  static Text all_text(const Statements& list);
  std::vector<Text> texts(const std::vector<symbolic::Expr>& exprs);

  // ---- dataflow (state.cpp, copy.cpp) ----
  void state(const ir::Element& e, const ir::State& s);
  void tasklet_node(const ir::State& s, const ir::Node& n, const ir::Tasklet& t);
  void declare_mentioned(const std::string& text, ir::Id origin);
  void cpp_tasklet(const ir::State& s, const ir::Node& n, const ir::Tasklet& t);
  void statements(const ir::State& s, const tasklet::Body& body, Binding& b, ir::Id origin);
  bool bind_inputs(const ir::State& s, const ir::Node& n, const ir::Tasklet& t, Binding& b, bool inline_values);
  void write(const ir::State& s, const ir::Memlet& m, const Text& value, const Type& type, ir::Id origin, Text comment);
  bool checks_numbers_of(const Type& type) const;
  void check_numbers(std::string_view data, const ir::Subset& subset, const Text& target, ir::Id origin);
  Text target_of(const ir::State& s, const ir::Memlet& m);
  const std::string& data_of(const ir::State& s, ir::Id access) const;
  void library_node(const ir::State& s, const ir::Node& n, const ir::Library& l);
  void copies_into(const ir::State& s, const ir::Node& n);
  void copy(const Side& from, const Side& to, const std::optional<ir::Wcr>& wcr, ir::Id origin, const Text& comment);
  void elementwise_copy(const Side& from, const Side& to, const std::optional<ir::Wcr>& wcr, ir::Id origin,
                        const Text& comment);
  void copy_through_buffer(const Side& from, const Side& to, const std::optional<ir::Wcr>& wcr, ir::Id origin,
                           const Text& comment);
  void device_copy(const Side& from, const Side& to, const std::optional<ir::Wcr>& wcr, ir::Id origin,
                   const Text& comment);
  void device_fill(const Side& to, const tasklet::Value& value, const std::vector<Running>& dims, ir::Id origin,
                   const Text& comment);
  void stream_copy(const Side& from, const Side& to, ir::Id origin, const Text& comment);
  void check_volumes(const std::vector<Running>& from, const std::vector<Running>& to, ir::Id origin);
  void check_window(const Side& side, ir::Id origin);
  std::vector<Text> fresh_counters(std::size_t count);
  // Index texts of a subset's element whose running dimensions are counted from 0 by `counters`.
  std::vector<Text> moved_indices(const ir::Subset& subset, const std::vector<Running>& dims,
                                  const std::vector<Text>& counters);
  void emit_nested(const std::vector<Text>& variables, const std::vector<Running>& dims, Statements body, ir::Id origin,
                   const Text& comment);
  void fill(const Side& to, const tasklet::Value& value, ir::Id origin, const Text& comment);
  void set_reference(const ir::State& s, const ir::Memlet& m);

  const ir::Graph& g_;
  const LowerOptions& options_;
  Uses uses_;
  ir::Ordinals ordinals_;
  Names names_;
  Support support_;
  Unit unit_;
  Statements* out_ = nullptr;
  std::vector<const ir::Element*> path_;
  std::map<std::size_t, symbolic::Facts> facts_;  // by depth of path_
  std::vector<Target*> targets_;
  int parallel_depth_ = 0;
  bool repeating_ = false;  // inside of a loop whose launches are repeated
  std::vector<Accumulator> accumulators_;
  std::map<std::pair<ir::Id, std::string>, std::pair<Text, Type>> registers_;  // code node and output connector
  std::map<std::string, Layouted, std::less<>> layouts_;
  std::map<std::string, Accessor, std::less<>> accessors_;
  bool unchecked_ = false;                                 // inside a memlet that may leave its container
  std::map<std::string, Text, std::less<>> size_helpers_;  // by what they compute
  std::set<Text, std::less<>> checked_extents_;            // in the open blocks
  std::map<std::string, Text, std::less<>> spelled_;       // containers with another spelling than their identifier
  std::map<Text, Text> structures_;                        // definitions of structure types in use
  std::vector<Text> structure_order_;                      // those with fields, members before their users
  bool needs_call_ = false;                                // the body takes sdfg_call*
  // Host: the lowering of the kernels. Device: the kernel under construction, and those that are done.
  std::unique_ptr<Lowering> device_;
  struct KernelScope {
    const ir::Element* element;
    KernelPlan plan;
    std::set<std::string, std::less<>> declared;  // containers that the kernel declares
    std::set<std::string, std::less<>> written;   // containers that it writes, also through views
    bool in_thread_block = false;
    std::int64_t shared_bytes = 0;
    bool meets = false;  // has barriers or shared memory
  };
  KernelScope* kernel_ = nullptr;
  std::vector<Kernel> kernels_;
  bool uses_device_ = false;
  std::set<int> reporting_;  // streams of kernels that may report a failure
  bool shared_out_ = false;  // nested loops are spread over the threads of the block
  int stream_ = 0;
  bool any_alias_ = false;
  std::int64_t stack_bytes_ = 0;
};

// Whether text can stand as an operand without parentheses.
bool is_primary(std::string_view text);
inline Text parenthesised(const Text& text) {
  return is_primary(text) ? text : "(" + text + ")";
}

// Whether `word` occurs in `text` as a whole identifier.
bool mentions(std::string_view text, std::string_view word);

// The access node of that id; nullptr: another node, or none.
const ir::Access* access_of(const ir::State& s, ir::Id id);
bool is_output(const ir::Tasklet& t, std::string_view name);

}  // namespace sdfg::lower
