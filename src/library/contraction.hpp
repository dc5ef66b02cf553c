// Sums of products over labelled dimensions, and the one loop nest that serves all of them.
#pragma once

#include <complex>
#include <map>
#include <vector>

#include "library/expansions.hpp"

namespace sdfg::library {

// Dimensions with the same label run together; a label that the output lacks is summed over.
using Labels = std::vector<int>;

struct Contraction {
  std::vector<Operand> in;
  std::vector<Labels> labels;
  Operand out;
  Labels out_labels;
  std::complex<double> alpha = 1.0, beta = 0.0;
  const Operand* addend = nullptr;  // what beta multiplies; nullptr: what the output holds
};

// Distance in memory of neighbours along a label.
Expr stride_in(const Operand& o, const Labels& labels, int label);
// The extents of all labels; they must agree between operands unless the symbols leave it open.
std::map<int, Expr> extents_of(const Node& n, const Contraction& c);
// Appends loops, ordered by the strides of the operands. Says how in the reasons.
void loop_nest(const Node& n, const Contraction& c);

// Appends a call of cuBLAS, if the node may and the operation and its layout are ones that it knows; else adds the
// reason and appends nothing.
bool contract_by_library(const Node& n, const Contraction& c);
bool syrk_by_library(const ir::Syrk& op, const Node& n);

}  // namespace sdfg::library
