// Lower bounds are looked at first.
#include "jit/symbol_bounds.hpp"

#include <algorithm>

namespace sdfg::jit {

std::optional<std::string> broken_symbol_bound(const ir::Graph& g,
                                               const std::map<std::string, std::int64_t, std::less<>>& values) {
  for (const auto& [name, value] : values) {
    const ir::Symbol& s = g.symbols.at(name);
    for (const bool least : {true, false}) {
      const std::optional<symbolic::Expr>& bound = least ? s.lower : s.upper;
      if (!bound) continue;
      const symbolic::SymbolSet used = symbolic::free_symbols(*bound);
      if (!std::ranges::all_of(used, [&](const std::string& n) { return values.contains(n); })) continue;
      const std::int64_t limit = symbolic::evaluate(*bound, values);
      if (least ? value >= limit : value <= limit) continue;
      return "symbol '" + name + "' is " + std::to_string(value) + ", the graph needs at " +
             (least ? "least " : "most ") + bound->str() + (bound->is_integer() ? "" : " = " + std::to_string(limit));
    }
  }
  return std::nullopt;
}

}  // namespace sdfg::jit
