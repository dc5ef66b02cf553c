// Recognises what DaCe's expansions left of library nodes (one call of a vendor library, one kernel of a reduction)
// and says which node they came from.
#pragma once

#include <complex>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/dace_model.hpp"
#include "ir/graph.hpp"
#include "ir/library.hpp"

namespace sdfg::io {

// How a call walks an operand, as the call's text has it: extent and distance of each dimension, in elements.
using Walk = std::vector<std::pair<std::string, std::string>>;

struct RaisedCall {
  ir::LibraryOp op;
  std::map<std::string, std::string> inputs, outputs;  // connector of the tasklet -> connector of the node
  ScalarType type = ScalarType::kFloat64;              // of every operand
  std::map<std::string, Walk> walks;                   // of every operand, by connector of the tasklet
  std::string in_place;  // a connector that the call overwrites: the array output must be the same memory
};

// Nothing when the text is not exactly one call of a known form with its set-up. Forms are told by callee and
// arguments, never by names of programs: CBLAS and cuBLAS gemm, gemv, dot, cuBLAS geam (as a transposition), LAPACKE
// and cuSOLVER potrf. The caller has to compare `type`, `walks` and `in_place` with what the memlets of the connectors
// move: a call that works on less, or on memory laid out otherwise, is not the expansion of a node.
std::optional<RaisedCall> raise_expansion(const std::string& text, const std::vector<std::string>& inputs,
                                          const std::vector<std::string>& outputs);

// Does a memlet of `subset` on a container with these strides move exactly what the call walks? Extents of one don't
// count.
bool walks_alike(const Walk& walk, const ir::Subset& subset, const std::vector<symbolic::Expr>& strides);

// A reduction that DaCe spelled as a kernel: the 32 lanes of a warp fold parts of the input, `dace::warpReduce` joins
// them, lane 0 writes.
struct RaisedReduction {
  std::string wcr;                 // lambda of the operator
  std::vector<int> axes;           // of the nested graph's input; empty: all
  std::optional<double> identity;  // what the output starts from; nothing: what it holds
  std::string input, output;       // containers of the nested graph
};
// Nothing unless the nested graph is such a kernel and nothing else, perhaps behind a state that sets the output to a
// number: every part of it is compared with what the reduction needs. `operation` tells what a lambda does.
std::optional<RaisedReduction> raise_reduction(const dace::Sdfg& nested,
                                               const std::function<ir::ReduceOp(const std::string&)>& operation);

}  // namespace sdfg::io
