// A graph prepared for interpretation: the same tree, with names resolved, code typed and dataflow in execution order.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "interpret/code.hpp"
#include "ir/graph.hpp"

namespace sdfg::interpret::plan {

struct Element;
using Sequence = std::vector<Element>;

// One connector of a tasklet with what it is bound to.
struct Port {
  enum class Kind : std::uint8_t {
    kValue,     // an element (or the lanes of a vector) goes into or comes out of local `target`
    kPointer,   // pointer `target` shows the subset
    kPop,       // one pop of a stream before the code runs, into local `target`
    kPush,      // one push of local `target` after the code
    kQueue,     // queue `target` is popped or pushed by the code
    kRegister,  // local `target` from or to a register of the state
  };
  Kind kind = Kind::kValue;
  int target = 0;
  ScalarType type = ScalarType::kBool;  // of the local
  int lanes = 1;                        // of the connector's type
  Region region;
  int reg = 0;  // first register
  std::optional<WcrPlan> wcr;
  std::string connector;
};

struct TaskletStep {
  ir::Id node = 0;
  std::vector<Port> inputs, outputs;
  std::vector<CodeStatement> body;
  int locals = 0, pointers = 0, queues = 0;
  int lanes = 1;  // the body runs once per lane
};

struct CopyStep {
  ir::Id memlet = 0;
  Region src, dst;
  std::optional<WcrPlan> wcr;
  bool set_reference = false;
};

struct LibraryStep {
  ir::Id node = 0;
  const ir::Library* library = nullptr;
  struct Operand {
    std::string connector;
    Region region;
    std::optional<WcrPlan> wcr;
  };
  std::vector<Operand> inputs, outputs;
  std::optional<WcrPlan> reduce;  // of Reduce and Scan
  Index factor;                   // of Fft
};

using Step = std::variant<TaskletStep, CopyStep, LibraryStep>;

struct State {
  std::vector<Step> steps;
  int registers = 0;
};
struct Assign {
  std::vector<std::pair<int, CodeNode>> items;
};
struct Block {
  std::vector<int> locals;  // in an order in which each one's view target comes first
  Sequence body;
};
struct For {
  int variable = 0;
  CodeNode init, condition, update;
  ir::LoopForm form = ir::LoopForm::kTestFirst;
  Sequence body;
};
struct While {
  CodeNode condition;
  bool test_first = true;
  Sequence body;
};
struct If {
  std::vector<std::pair<CodeNode, Sequence>> branches;
};
struct Map {
  std::vector<int> params;
  std::vector<RangePlan> ranges;
  std::vector<int> assigned;  // symbols bound in the body: private to an iteration
  Sequence body;
};
struct Consume {
  int stream = 0;
  int element = 0;
  int worker = 0;
  Index num_workers;
  std::optional<CodeNode> condition;
  std::int64_t chunk_size = 1;
  std::vector<int> assigned;
  Sequence body;
};
struct Exit {
  ir::Exit::Kind kind = ir::Exit::Kind::kBreak;
  ir::Id target = 0;
};
struct Return {};

struct Element {
  const ir::Element* source = nullptr;
  std::variant<State, Assign, Block, For, While, If, Map, Consume, Exit, Return> kind;
};

struct ContainerPlan {
  std::vector<Index> shape, strides, offset;
  Index total_size, start_offset, buffer_size;
  std::optional<Region> window;  // of a View
  std::vector<int> views;        // views that show this container, directly
  std::vector<int> members;
};

struct Program {
  explicit Program(const ir::Graph& graph);

  const ir::Graph* graph;
  Slots slots;
  std::vector<ContainerPlan> containers;  // by slot
  std::vector<int> locals;                // of the graph, ordered like Block::locals
  std::vector<int> constants, persistent, external;
  Sequence body;
};

}  // namespace sdfg::interpret::plan
