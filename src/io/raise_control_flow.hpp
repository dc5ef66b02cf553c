// Turns a region's state machine (blocks and conditional jumps) into structured control flow: sequences, branches,
// loops, labelled blocks with exits. Works for every region; an irreducible one becomes a dispatch loop.
//
// Source of the main algorithm: N. Ramsey, "Beyond Relooper: recursive translation of unstructured control flow to
// structured control flow" (ICFP 2022), with loop exits moved behind their loops so that counted loops can be
// recognised.
#pragma once

#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "io/dace_model.hpp"

namespace sdfg::io {

struct FlowNode;
using FlowList = std::vector<FlowNode>;

// The content of block `block` of the region.
struct FlowVisit {
  int block;
};
// The assignments of an edge.
struct FlowAssign {
  const dace::InterstateEdge* edge;
};
// First true condition wins; a null condition is the else branch, last. `negate`: the condition is taken the other way
// round.
struct FlowBranch {
  struct Arm;
  std::vector<Arm> arms;
};
// body; a break to the label ends it.
struct FlowLabel {
  int label;
  FlowList body;
};
// while (condition) body; no condition: for ever. A break or continue may name the label.
struct FlowLoop {
  int label;
  const dace::CodeBlock* condition = nullptr;
  bool negate = false;
  FlowList body;
};
struct FlowJump {
  enum class Kind : std::uint8_t { kBreak, kContinue } kind;
  int label;
};
// pc = start; while (pc >= 0) switch (pc) { parts }: each part sets pc by FlowGoto (block -1: the end).
struct FlowDispatch {
  int start;
  std::vector<std::pair<int, FlowList>> parts;
};
struct FlowGoto {
  int block;
};

struct FlowNode {
  std::variant<FlowVisit, FlowAssign, FlowBranch, FlowLabel, FlowLoop, FlowJump, FlowDispatch, FlowGoto> kind;
};
struct FlowBranch::Arm {
  const dace::CodeBlock* condition = nullptr;
  bool negate = false;
  FlowList body;
};

struct RaiseHooks {
  // A block without effect (an empty state): its visit is dropped.
  std::function<bool(const dace::Block&)> is_trivial;
  // A block after which nothing of the region runs (return, break, continue).
  std::function<bool(const dace::Block&)> ends;
  // Is the second condition exactly the negation of the first?
  std::function<bool(const dace::CodeBlock&, const dace::CodeBlock&)> complementary;
};

// Falling off the end of the result means the region's end. Throws Error(kGraph) when the start block is ambiguous.
FlowList raise_control_flow(const dace::Region& region, const std::string& path, const RaiseHooks& hooks);

}  // namespace sdfg::io
