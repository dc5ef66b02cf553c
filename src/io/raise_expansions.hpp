// Recognises C++ tasklets that are DaCe's expansions of library nodes (one call of a vendor library) and says which
// node they came from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/dace_model.hpp"
#include "ir/library.hpp"

namespace sdfg::io {

struct RaisedCall {
  ir::LibraryOp op;
  std::map<std::string, std::string> inputs, outputs;  // connector of the tasklet -> connector of the node
};

// Nothing when the text is not exactly one call of a known form with its set-up. Forms are told by callee and
// arguments, never by names of programs: CBLAS and cuBLAS gemm, gemv, dot, geam (as a transposition), LAPACKE and
// cuSOLVER potrf. Leading dimensions are not needed: the memlets of the connectors say where the operands lie.
std::optional<RaisedCall> raise_expansion(const std::string& text, const std::vector<std::string>& inputs,
                                          const std::vector<std::string>& outputs);

// A reduction that DaCe spelled as a kernel: threads of a warp fold parts of the input, `dace::warpReduce` joins them,
// one lane writes.
struct RaisedReduction {
  std::string wcr;                 // lambda of the operator
  std::vector<int> axes;           // of the nested graph's input; empty: all
  std::optional<double> identity;  // what the output starts from; nothing: what it holds
  std::string input, output;       // containers of the nested graph
};
std::optional<RaisedReduction> raise_reduction(const dace::Sdfg& nested);

}  // namespace sdfg::io
