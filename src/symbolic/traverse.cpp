// Rebuilding, queries and substitution over expressions.
#include <sdfg/error.hpp>
#include <unordered_map>

#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

Expr fold(std::vector<Expr> args, Expr (*combine)(const Expr&, const Expr&), const Expr& empty) {
  if (args.empty()) return empty;
  Expr result = std::move(args[0]);
  for (std::size_t i = 1; i < args.size(); ++i) result = combine(result, args[i]);
  return result;
}

// Trees share subtrees; below this depth repeating the work is cheaper than remembering it.
constexpr int kMemoDepth = 6;

// Rewrites bottom-up. `leaf` is asked for symbols, `node` for every rebuilt compound; both may decline. Subtrees that
// `skip` accepts stay as they are.
class Rewriter {
 public:
  std::function<bool(const Expr&)> skip;
  std::function<std::optional<Expr>(const Expr& original, const Expr& rebuilt)> rule;

  Expr operator()(const Expr& e) {
    if (skip && skip(e)) return e;
    const bool remember = ExprAccess::node(e).depth >= kMemoDepth;
    if (remember) {
      const auto at = done_.find(ExprAccess::identity(e));
      if (at != done_.end()) return at->second;
    }
    Expr result = apply(e);
    if (remember) done_.emplace(ExprAccess::identity(e), result);
    return result;
  }

 private:
  Expr apply(const Expr& e) {
    std::vector<Expr> args;
    bool changed = false;
    args.reserve(e.args().size());
    for (const Expr& arg : e.args()) {
      args.push_back((*this)(arg));
      changed |= ExprAccess::identity(args.back()) != ExprAccess::identity(arg);
    }
    Expr rebuilt = changed ? rebuild(e, std::move(args)) : e;
    if (std::optional<Expr> replaced = rule(e, rebuilt)) return std::move(*replaced);
    return rebuilt;
  }

  std::unordered_map<const Expr::Node*, Expr> done_;  // looked up only, never iterated
};

template <typename Visit>
void visit_nodes(const Expr& e, const Visit& visit) {
  if (!visit(e)) return;
  for (const Expr& arg : e.args()) visit_nodes(arg, visit);
}

}  // namespace

Expr rebuild(const Expr& like, std::vector<Expr> args) {
  switch (like.kind()) {
    case Kind::kInteger:
    case Kind::kBoolean:
    case Kind::kSymbol: return like;
    case Kind::kRead: return Expr::read(like.name(), std::move(args));
    case Kind::kCall: return Expr::call(like.name(), std::move(args));
    case Kind::kAdd: return sum(args);
    case Kind::kMul: return product(args);
    case Kind::kPow: return pow(args.at(0), args.at(1));
    case Kind::kFloorDiv: return floor_div(args.at(0), args.at(1));
    case Kind::kCeilDiv: return ceil_div(args.at(0), args.at(1));
    case Kind::kMod: return mod(args.at(0), args.at(1));
    case Kind::kMin: return fold(std::move(args), min, 0);
    case Kind::kMax: return fold(std::move(args), max, 0);
    case Kind::kAbs: return abs(args.at(0));
    case Kind::kSelect: return select(args.at(0), args.at(1), args.at(2));
    case Kind::kEqual: return eq(args.at(0), args.at(1));
    case Kind::kNotEqual: return ne(args.at(0), args.at(1));
    case Kind::kLessEqual: return le(args.at(0), args.at(1));
    case Kind::kLess: return lt(args.at(0), args.at(1));
    case Kind::kAnd: return fold(std::move(args), logical_and, Expr::boolean(true));
    case Kind::kOr: return fold(std::move(args), logical_or, Expr::boolean(false));
    case Kind::kNot: return logical_not(args.at(0));
    case Kind::kBitAnd: return fold(std::move(args), bit_and, -1);
    case Kind::kBitOr: return fold(std::move(args), bit_or, 0);
    case Kind::kBitXor: return fold(std::move(args), bit_xor, 0);
    case Kind::kBitNot: return bit_not(args.at(0));
    case Kind::kShiftLeft: return shift_left(args.at(0), args.at(1));
    case Kind::kShiftRight: return shift_right(args.at(0), args.at(1));
  }
  return like;
}

SymbolSet free_symbols(const Expr& e) {
  SymbolSet names;
  visit_nodes(e, [&](const Expr& node) {
    if (node.kind() == Kind::kSymbol) names.insert(node.name());
    return ExprAccess::node(node).symbols != 0;
  });
  return names;
}

SymbolSet read_containers(const Expr& e) {
  SymbolSet names;
  visit_nodes(e, [&](const Expr& node) {
    if (node.kind() == Kind::kRead) names.insert(node.name());
    return ExprAccess::node(node).reads;
  });
  return names;
}

bool depends_on(const Expr& e, std::string_view symbol) {
  const std::uint64_t bit = symbol_bit(symbol);
  bool found = false;
  visit_nodes(e, [&](const Expr& node) {
    if (found || (ExprAccess::node(node).symbols & bit) == 0) return false;
    found = node.kind() == Kind::kSymbol && node.name() == symbol;
    return !found;
  });
  return found;
}

bool has_reads(const Expr& e) {
  return ExprAccess::node(e).reads;
}

bool has_calls(const Expr& e) {
  return ExprAccess::node(e).calls;
}

Expr substitute(const Expr& e, const Substitution& by) {
  if (by.empty()) return e;
  std::uint64_t mask = 0;
  for (const auto& [name, value] : by) mask |= symbol_bit(name);
  Rewriter rewriter;
  rewriter.skip = [mask](const Expr& node) { return (ExprAccess::node(node).symbols & mask) == 0; };
  rewriter.rule = [&](const Expr& node, const Expr&) -> std::optional<Expr> {
    // A compound that has become a symbol holds replaced symbols already.
    if (node.kind() != Kind::kSymbol) return std::nullopt;
    const auto at = by.find(node.name());
    if (at == by.end()) return std::nullopt;
    return at->second;
  };
  // The rule must not see symbols of the replacements again: it is asked for leaves only, before their parents are
  // rebuilt.
  return rewriter(e);
}

Expr substitute(const Expr& e, std::string_view symbol, const Expr& by) {
  if (!depends_on(e, symbol)) return e;
  return substitute(e, Substitution{{std::string(symbol), by}});
}

Expr rename_reads(const Expr& e, const std::map<std::string, std::string, std::less<>>& names) {
  if (names.empty()) return e;
  Rewriter rewriter;
  rewriter.skip = [](const Expr& node) { return !ExprAccess::node(node).reads; };
  rewriter.rule = [&](const Expr& node, const Expr& rebuilt) -> std::optional<Expr> {
    if (node.kind() != Kind::kRead) return std::nullopt;
    const auto at = names.find(node.name());
    if (at == names.end()) return std::nullopt;
    return Expr::read(at->second, {rebuilt.args().begin(), rebuilt.args().end()});
  };
  return rewriter(e);
}

Expr rewrite(const Expr& e, const std::function<std::optional<Expr>(const Expr&)>& rule) {
  Rewriter rewriter;
  rewriter.rule = [&](const Expr&, const Expr& rebuilt) { return rule(rebuilt); };
  return rewriter(e);
}

Linear linear_terms(const Expr& e) {
  const SumView view = sum_view(as_integer(e));
  Linear result;
  result.constant = view.constant;
  result.terms.reserve(view.terms.size());
  for (const Expr& term : view.terms) {
    const TermView t = term_view(term);
    result.terms.emplace_back(make_term(1, t.factors), t.coefficient);
  }
  return result;
}

std::optional<AffineIn> affine_in(const Expr& e, std::string_view symbol) {
  if (!depends_on(e, symbol)) return AffineIn{0, e};
  const SumView view = sum_view(e);
  std::vector<Expr> slopes;
  std::vector<Expr> rests;
  rests.emplace_back(view.constant);
  for (const Expr& term : view.terms) {
    if (!depends_on(term, symbol)) {
      rests.push_back(term);
      continue;
    }
    const TermView t = term_view(term);
    const Expr* carrier = nullptr;
    std::vector<Expr> others{Expr(t.coefficient)};
    for (const Expr& factor : t.factors) {
      if (!depends_on(factor, symbol)) {
        others.push_back(factor);
      } else if (carrier == nullptr) {
        carrier = &factor;
      } else {
        return std::nullopt;
      }
    }
    if (carrier->kind() == Kind::kSymbol) {
      slopes.push_back(product(others));
    } else if (carrier->kind() == Kind::kAdd) {
      // A product of sums that was too large to expand.
      const std::optional<AffineIn> inner = affine_in(*carrier, symbol);
      if (!inner) return std::nullopt;
      const Expr outer = product(others);
      slopes.push_back(outer * inner->slope);
      rests.push_back(outer * inner->rest);
    } else {
      return std::nullopt;
    }
  }
  return AffineIn{sum(slopes), sum(rests)};
}

}  // namespace sdfg::symbolic
