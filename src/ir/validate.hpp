// Checks that a graph keeps the rules; each problem names element, rule and user line.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace sdfg::ir {

// One enumerator per rule; to_string gives a stable kebab-case name that messages and tests use.
enum class Rule : std::uint16_t {
  kName,
  kUniqueName,
  kUnknownContainer,
  kUnknownSymbol,
  kSymbolScope,
  kContainerScope,
  kDeclaredOnce,
  kParameterOrder,
  kExtentNegative,
  kExtentUsesRead,
  kPersistentSize,
  kStorageLifetime,
  kViewTarget,
  kStructureMember,
  kConstantType,
  kAccessShape,
  kSubsetRank,
  kSubsetBounds,
  kSubsetUsesRead,
  kCopyVolume,
  kConnectorMissing,
  kConnectorDuplicate,
  kConnectorClash,
  kConnectorDangling,
  kMemletShape,
  kWcrTarget,
  kCycle,
  kIsolatedNode,
  kReferenceUnset,
  kTaskletCode,
  kTaskletTypes,
  kLibraryShape,
  kLibraryTypes,
  kMapParameters,
  kMapRange,
  kMapStep,
  kWriteConflict,
  kLoopVariable,
  kConditionType,
  kAssignTarget,
  kExitTarget,
  kReturnInMap,
  kScheduleNesting,
  kStorageAccess,
  kBlockUniform,
  kReadOnly,
  kStreamUse,
  kDepth,
};
std::string_view to_string(Rule rule) noexcept;

struct Problem {
  Rule rule;
  std::string message;               // a full sentence with the values involved
  Id id = 0;                         // element, node or memlet; 0: the graph or a table entry
  std::vector<Error::Place> places;  // innermost first
  std::string hint;
};

// Every problem, in graph order. Only what is provably wrong is a problem.
std::vector<Problem> validate(const Graph& g);
// Throws Error with the first problem (and the count of further ones in the text), if any: kLimit for kDepth, kGraph
// for every other rule.
void check(const Graph& g);

// What to do about a name that is no identifier.
std::string identifier_hint(std::string_view name);

// Elements nested deeper than this are refused (kDepth): every walk recurses.
inline constexpr std::size_t kMaxDepth = 200;

// The rules of one library node: its connectors, and the shapes and types of what they move. Problems carry the node's
// id and no places.
void check_library(const Graph& g, const State& s, const Node& node, std::vector<Problem>& problems,
                   const symbolic::Facts& facts = {});

}  // namespace sdfg::ir
