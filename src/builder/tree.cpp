// Construction and rewriting of the builder's expression trees.
#include "builder/tree.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace sdfg::detail {

namespace {

TreePtr tree_of(ScalarType type, decltype(Tree::node) node, std::vector<TreePtr> args) {
  Tree tree{type, std::move(node), std::move(args)};
  for (const TreePtr& arg : tree.args) tree.depth = std::max(tree.depth, arg->depth + 1);
  return std::make_shared<const Tree>(std::move(tree));
}

}  // namespace

TreePtr literal_tree(tasklet::Literal literal, ScalarType type) {
  return std::make_shared<const Tree>(Tree{type, literal, {}});
}

TreePtr index_tree(symbolic::Expr e) {
  return std::make_shared<const Tree>(Tree{ScalarType::kInt64, std::move(e), {}});
}

TreePtr read_tree(std::string container, std::vector<symbolic::Expr> indices, ScalarType type) {
  return std::make_shared<const Tree>(Tree{type, ReadLeaf{std::move(container), std::move(indices)}, {}});
}

TreePtr op_tree(Op op, ScalarType type, std::vector<TreePtr> args) {
  return tree_of(type, op, std::move(args));
}

TreePtr call_tree(Callee callee, ScalarType type, std::vector<TreePtr> args) {
  return tree_of(type, std::move(callee), std::move(args));
}

TreePtr cast_tree(ScalarType type, TreePtr x) {
  return x->type == type ? x : op_tree(Op::kCast, type, {std::move(x)});
}

std::string placeholder(std::size_t from_last) {
  return "$" + std::to_string(from_last);
}

namespace {

class Substituter {
 public:
  explicit Substituter(const symbolic::Substitution& by) : by_(by) {}

  TreePtr operator()(const TreePtr& tree) {
    const auto known = done_.find(tree.get());
    if (known != done_.end()) return known->second;
    TreePtr result = rewritten(tree);
    done_.emplace(tree.get(), result);
    return result;
  }

 private:
  TreePtr rewritten(const TreePtr& tree) {
    if (const auto* index = std::get_if<symbolic::Expr>(&tree->node)) {
      return index_tree(symbolic::substitute(*index, by_));
    }
    if (const auto* read = std::get_if<ReadLeaf>(&tree->node)) {
      std::vector<symbolic::Expr> indices;
      indices.reserve(read->indices.size());
      for (const symbolic::Expr& i : read->indices) indices.push_back(symbolic::substitute(i, by_));
      return read_tree(read->container, std::move(indices), tree->type);
    }
    if (tree->args.empty()) return tree;
    std::vector<TreePtr> args;
    args.reserve(tree->args.size());
    for (const TreePtr& arg : tree->args) args.push_back((*this)(arg));
    return tree_of(tree->type, tree->node, std::move(args));
  }

  const symbolic::Substitution& by_;
  std::unordered_map<const Tree*, TreePtr> done_;  // looked up only, never iterated
};

void collect(const TreePtr& tree, std::set<const Tree*>& seen, std::vector<ReadLeaf>& out) {
  if (!seen.insert(tree.get()).second) return;
  if (const auto* read = std::get_if<ReadLeaf>(&tree->node)) out.push_back(*read);
  for (const TreePtr& arg : tree->args) collect(arg, seen, out);
}

}  // namespace

TreePtr substitute(const TreePtr& tree, const symbolic::Substitution& by) {
  if (by.empty()) return tree;
  return Substituter(by)(tree);
}

void collect_reads(const TreePtr& tree, std::vector<ReadLeaf>& out) {
  std::set<const Tree*> seen;
  collect(tree, seen, out);
}

}  // namespace sdfg::detail
