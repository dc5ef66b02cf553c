// What a handle of a compiled function consists of. Names, parameters and reports are those of the graph that was
// handed over; code is shared by all graphs with the same meaning.
#pragma once

#include <memory>
#include <mutex>
#include <sdfg/function.hpp>
#include <vector>

#include "ir/digest.hpp"
#include "jit/build.hpp"
#include "jit/places.hpp"
#include "jit/signature.hpp"

namespace sdfg::detail {

struct FunctionImpl {
  std::shared_ptr<const ir::Graph> graph;  // before passes
  std::shared_ptr<jit::CompiledProgram> compiled;
  std::shared_ptr<runtime::Program> program;  // compiled->program, or a copy with a state of its own
  CompileStats stats;

  // Made when first asked for: a memory hit and a call by pointer need neither.
  const std::vector<Parameter>& parameters() const {
    std::call_once(parameters_once_, [this] { parameters_ = jit::parameters_of(*graph); });
    return parameters_;
  }
  const std::vector<Error::Place>& places() const {
    std::call_once(places_once_, [this] { places_ = jit::places_of(*graph, ir::ordinals(*graph)); });
    return places_;
  }

 private:
  mutable std::once_flag parameters_once_, places_once_;
  mutable std::vector<Parameter> parameters_;
  mutable std::vector<Error::Place> places_;
};

}  // namespace sdfg::detail
