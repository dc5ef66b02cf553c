// May two accesses touch one element, in the same iteration or in different ones? Three-valued, with a reason.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/access.hpp"
#include "symbolic/facts.hpp"

namespace sdfg::analysis {

struct Answer {
  symbolic::Truth truth = symbolic::Truth::kUnknown;
  std::string reason;  // a sentence for people
};

// A parameter that distinguishes iterations, with its values.
struct Parameter {
  std::string name;
  ir::Range range;
};

// Has every element a place of its own? kNo: as soon as there are several along some dimensions. Strides that are known
// only at run time give kUnknown, unless facts order them.
symbolic::Truth elements_apart(const ir::Layout& layout, const symbolic::Facts& facts);

// May `a` in one iteration and `b` in another touch a common element? Iterations differ in at least one of
// `parameters`; symbols bound inside the accesses' paths are free in each. Does not ask whether the accesses write.
// Where one accumulates, also different elements are a common one if the layout may give them one place: plain writes
// that meet so are a fault of the graph, accumulations are not.
Answer overlap_across(const ir::Graph& g, const Access& a, const Access& b, const std::vector<Parameter>& parameters,
                      const symbolic::Facts& facts);

// Pairs of accesses that one question looks at; beyond that the answer is unknown.
inline constexpr std::size_t kMostPairs = 20'000;

struct CarriedOptions {
  bool ignore_reductions = false;  // two accumulations by one operator are no conflict
};
// Do iterations of a loop over `parameters` with this body depend on each other through memory? kNo: they may run in
// any order, also interleaved. Containers declared in the body belong to an iteration.
Answer carried(const ir::Graph& g, const AccessSet& body, const std::vector<Parameter>& parameters,
               const symbolic::Facts& facts, CarriedOptions options = {});

// The parameters of a map from dimension `first` on.
std::vector<Parameter> parameters_of(const ir::Map& m, std::size_t first = 0);

}  // namespace sdfg::analysis
