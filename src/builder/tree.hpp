// The builder's expression trees: scalar code over symbols and container elements, and over the positions of an array
// expression.
//
// A tree of an array expression is a function of the element's position: its index expressions use placeholders,
// counted from the last dimension, so that operands of different rank line up as NumPy's broadcasting wants without
// renaming.
#pragma once

#include <memory>
#include <sdfg/expressions.hpp>
#include <string>
#include <variant>
#include <vector>

#include "symbolic/expr.hpp"
#include "tasklet/code.hpp"

namespace sdfg::detail {

struct Tree;
using TreePtr = std::shared_ptr<const Tree>;

// An element of a container; also a scalar container (no indices).
struct ReadLeaf {
  std::string container;
  std::vector<symbolic::Expr> indices;
};

// A call of a callback symbol.
struct Callee {
  std::string name;
};

// Immutable and shared: a value used twice is one node, which a tasklet computes once.
struct Tree {
  ScalarType type = ScalarType::kInt64;
  std::variant<tasklet::Literal, symbolic::Expr, ReadLeaf, Op, Callee> node;
  std::vector<TreePtr> args;  // of an Op or Callee
  std::uint32_t depth = 1;    // nested operations, at most kMaxTreeDepth
};

// Trees are walked and freed by recursion, also in threads with a small stack.
inline constexpr std::uint32_t kMaxTreeDepth = 2000;

TreePtr literal_tree(tasklet::Literal literal, ScalarType type);
TreePtr index_tree(symbolic::Expr e);
TreePtr read_tree(std::string container, std::vector<symbolic::Expr> indices, ScalarType type);
TreePtr op_tree(Op op, ScalarType type, std::vector<TreePtr> args);
TreePtr call_tree(Callee callee, ScalarType type, std::vector<TreePtr> args);
TreePtr cast_tree(ScalarType type, TreePtr x);

// Name of the placeholder of the dimension `from_last` places before the last; no user's name can be equal.
std::string placeholder(std::size_t from_last);
TreePtr substitute(const TreePtr& tree, const symbolic::Substitution& by);
void collect_reads(const TreePtr& tree, std::vector<ReadLeaf>& out);

}  // namespace sdfg::detail
