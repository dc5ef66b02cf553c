// Scalar code of tasklets, conditions, assignments and custom WCR with its names resolved to slots.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "interpret/frame.hpp"
#include "tasklet/code.hpp"

namespace sdfg::interpret {

// An evaluated range of a subset.
struct EvaluatedRange {
  std::int64_t begin = 0, step = 1, count = 1, tile = 1;
};

// A range and a subset ready to evaluate. `index` ranges are those that provably hold one element.
struct RangePlan {
  Index begin, end, step, tile;
  bool index = false;
};
EvaluatedRange evaluate(const RangePlan& range, const Frame& frame);

struct Region {
  int container = -1;
  std::vector<RangePlan> ranges;
  bool single = true;  // every range is an index
  bool allow_oob = false;
  ir::Id memlet = 0;

  Region() = default;
  Region(const Slots& slots, std::string_view path, const ir::Subset& subset, bool oob, ir::Id id);
};

struct WcrPlan;

// An expression. Locals are connectors by value and local variables; pointers are connectors by address and dynamic
// outputs.
struct CodeNode {
  enum class Kind : std::uint8_t {
    kLiteral,
    kLocal,
    kSymbol,
    kPop,
    kPointer,
    kContainer,
    kUnary,
    kBinary,
    kAnd,
    kOr,
    kSelect,
    kCall,
    kExternalCall,
    kAddress,
    kCast,
  };
  Kind kind = Kind::kLiteral;
  std::uint8_t op = 0;  // UnaryOp, BinaryOp or Function
  int slot = -1;
  ScalarType to = ScalarType::kBool;  // kCast; kLiteral's own type is in the value
  tasklet::Value literal;
  std::vector<CodeNode> args;
};

struct CodeStatement {
  enum class Kind : std::uint8_t { kSetLocal, kSetPointer, kPush, kIf, kWhile, kBreak, kContinue, kEvaluate };
  struct Branch {
    CodeNode condition;
    std::vector<CodeStatement> body;
  };
  Kind kind = Kind::kEvaluate;
  int slot = -1;
  ScalarType to = ScalarType::kBool;  // type of the local, of the queue's elements
  CodeNode value;                     // also the condition of kWhile
  std::vector<CodeNode> indices;      // kSetPointer
  std::vector<Branch> branches;       // kIf; kWhile: one branch holds the body
};

// What names mean while code is prepared; anything else is a symbol or a container.
struct CodeNames {
  std::map<std::string, std::pair<int, ScalarType>, std::less<>> locals;
  std::map<std::string, int, std::less<>> pointers;
  std::map<std::string, std::pair<int, ScalarType>, std::less<>> pops;    // input connectors that pop a stream
  std::map<std::string, std::pair<int, ScalarType>, std::less<>> pushes;  // output connectors that push
};

CodeNode prepare(const tasklet::Expr& e, const CodeNames& names, const Slots& slots);
std::vector<CodeStatement> prepare(const tasklet::Body& body, const CodeNames& names, const Slots& slots);

// A pointer connector during one execution of a tasklet.
struct PointerBinding {
  const Live* container = nullptr;
  const std::string* path = nullptr;
  const Region* region = nullptr;
  const WcrPlan* wcr = nullptr;  // applied at each write
  std::vector<EvaluatedRange> ranges;
};

struct CodeContext {
  Frame& frame;
  tasklet::Value* locals = nullptr;
  std::uint8_t* assigned = nullptr;  // per local
  PointerBinding* pointers = nullptr;
  Queue** queues = nullptr;  // of pops and pushes
  int lane = 0;
};

tasklet::Value evaluate(const CodeNode& node, CodeContext& context);
void execute(std::span<const CodeStatement> body, CodeContext& context);

// old = op(old, new) for values of an element type: the new value is converted to that type first.
struct WcrPlan {
  ir::ReduceOp op = ir::ReduceOp::kSum;
  CodeNode custom;  // local 0: old, local 1: new
  WcrPlan() = default;
  WcrPlan(ir::ReduceOp reduce_op, const tasklet::Expr& custom_expr, const Type& element, const Slots& slots);
};
tasklet::Value combine(const WcrPlan& wcr, const tasklet::Value& old_value, const tasklet::Value& new_value,
                       Frame& frame);

// Element values that know poison and WCR: what every write of the interpreter goes through.
void write_element(const Live& c, const std::string& path, std::byte* at, const tasklet::Value& value,
                   const WcrPlan* wcr, Frame& frame, int lane = 0);

}  // namespace sdfg::interpret
