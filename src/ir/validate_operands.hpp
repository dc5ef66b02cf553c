// The operands of a library node as rules see them: connectors, shapes, element types.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/validate_internal.hpp"

namespace sdfg::ir::validation {

using symbolic::Expr;

struct Operand {
  std::string connector;
  std::vector<Expr> sizes;  // extents of the subset
  Type type;
  Id memlet = 0;
};

class OperandChecker {
 public:
  OperandChecker(const Graph& g, const State& s, const Node& n, std::vector<Problem>& problems,
                 const symbolic::Facts& facts)
      : g_(g), s_(s), n_(n), l_(std::get<Library>(n.kind)), problems_(problems), facts_(facts), report_(g, problems) {}

 protected:
  void add(Rule rule, std::string message, std::string hint = {}) {
    problems_.push_back({rule, describe(g_, n_) + " " + std::move(message), n_.id, {}, std::move(hint)});
  }

  void check_connectors();

  void collect();

  // The extent of a range that is taken to be not empty: without the max(0, ...).
  static Expr simplified_size(const Range& r) {
    if (r.step.is_one()) return (r.end - r.begin + 1) * r.tile;
    return r.size();
  }

  const Operand* in(const std::string& c) const {
    const auto found = inputs_.find(c);
    return found == inputs_.end() ? nullptr : &found->second;
  }
  const Operand* out(const std::string& c) const {
    const auto found = outputs_.find(c);
    return found == outputs_.end() ? nullptr : &found->second;
  }

  std::string text(const std::vector<Expr>& shape) const;

  // The operand as a tensor of this rank: surplus dimensions of one element are dropped, the leftmost first. Nothing,
  // with a problem, when that does not lead there.
  std::optional<std::vector<Expr>> as_rank(const Operand* o, std::size_t rank);

  static std::vector<Expr> squeezed(const std::vector<Expr>& shape);

  bool differ(const Expr& a, const Expr& b) const;

  // "extent K of '_a' in dimension 1 is not extent L of '_b' in dimension 0"
  void same(const Expr& a, const std::string& what_a, const Expr& b, const std::string& what_b) {
    if (!differ(a, b)) return;
    add(Rule::kLibraryShape, "has " + what_a + " of " + report_.show(a) + ", but " + what_b + " of " + report_.show(b));
  }

  void same_shape(const Operand* a, const Operand* b);

  void same_count(const Operand* a, const Operand* b);

  void square(const std::optional<std::vector<Expr>>& m, const std::string& connector) {
    if (m) same((*m)[0], "rows of '" + connector + "'", (*m)[1], "columns");
  }

  void same_types();

  void pair_types(const Operand* a, const Operand* b);

  void integers(const Operand* o) {
    if (o == nullptr || (o->type.is_scalar() && is_integer(o->type.scalar()))) return;
    add(Rule::kLibraryTypes, "needs integers at '" + o->connector + "', but its elements have type " + o->type.str());
  }

  void numeric();

  // LAPACK's own types.
  void floating(const Operand* o);

  const Graph& g_;
  const State& s_;
  const Node& n_;
  const Library& l_;
  std::vector<Problem>& problems_;
  symbolic::Facts facts_;
  Report report_;
  std::map<std::string, Operand, std::less<>> inputs_;
  std::map<std::string, Operand, std::less<>> outputs_;
};

}  // namespace sdfg::ir::validation
