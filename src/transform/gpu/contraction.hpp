// Internal to transform/gpu: a kernel seen as a sum of products over labelled dimensions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace sdfg::transform {

// A dimension of the nest, counted by i = 0, 1, ..., count - 1: the symbol is first + step * i.
struct Label {
  std::string symbol;
  symbolic::Expr first, step, count;
  bool ordered = false;  // of a loop: its iterations are added up in their order
};

// An operand: its element lies `offset` + sum over labels of stride * i behind the container's first one.
struct Factor {
  std::string data;
  ir::Subset at;
  ScalarType type = ScalarType::kFloat64;
  symbolic::Expr offset;
  std::map<std::string, symbolic::Expr, std::less<>> strides;  // by symbol; labels that don't move it are absent

  symbolic::Expr stride(const Label& l) const {
    const auto it = strides.find(l.symbol);
    return it == strides.end() ? symbolic::Expr(0) : it->second;
  }
};

// A state of the kernel, with what some of its symbols are called in the nest.
struct Piece {
  const ir::Element* element = nullptr;
  symbolic::Substitution symbols;
};

// for all rows, columns, batch { before; for all summed { sum += product(a, b) }; after }. Labels of rows move a and
// the sum, those of columns b and the sum, those of the batch the sum and both or none of them. Everything points into
// the graph that it was found in.
struct DeviceContraction {
  std::vector<Label> rows, columns, batch, summed;
  Factor a, b;
  std::string sum;  // what accumulates: an element of device memory, or a local of each point
  ir::Subset sum_at;
  ScalarType type = ScalarType::kFloat64;
  bool sum_is_local = false;
  std::vector<Piece> before, product, after;
  std::vector<std::string> before_locals, after_locals;
  std::vector<std::string> values;  // containers that only pass values between the states of the product
};

// Nothing for a kernel that is none; `why` then says what is missing if it adds up products of two or more elements
// (or looked so), and is empty otherwise.
std::optional<DeviceContraction> contraction_of(const ir::Graph& g, const ir::Element& kernel,
                                                const symbolic::Facts& outside, std::string& why);

}  // namespace sdfg::transform
