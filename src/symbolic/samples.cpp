// Draws a few deterministic examples that satisfy the facts and looks at the sign of an expression there.
#include "symbolic/samples.hpp"

#include <algorithm>
#include <sdfg/error.hpp>

#include "symbolic/facts_table.hpp"
#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

constexpr int kExamples = 12;
constexpr std::size_t kMaxSymbols = 24;
// How far from its bound, or from 0, an unlimited symbol is placed.
constexpr std::int64_t kSpread = 8;

class Examples {
 public:
  Examples(const Expr& e, const Facts& facts) : table_(FactsAccess::table(facts)) {
    usable_ = !has_reads(e) && !has_calls(e) && add_symbols_of(e);
    if (!usable_ || table_ == nullptr) return;
    // Everything known that shares a symbol with the expression takes part, and with it the symbols that it names.
    for (const auto* known : {table_->conditions.get(), table_->literals.get()}) {
      if (known == nullptr) continue;
      for (const Expr& condition : *known) {
        const SymbolSet names = free_symbols(condition);
        const bool shared =
            std::any_of(names.begin(), names.end(), [&](const std::string& name) { return index_of(name) >= 0; });
        if (!shared) continue;
        usable_ = usable_ && !has_reads(condition) && !has_calls(condition) && add_symbols_of(condition);
        (known == table_->conditions.get() ? nonnegative_ : true_).push_back(condition);
      }
    }
  }

  SeenSigns signs_of(const Expr& e) {
    SeenSigns seen;
    if (!usable_) return seen;
    for (int example = 0; example < kExamples && !(seen.negative && seen.nonnegative); ++example) {
      state_ = 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(example + 1);
      example_ = example;
      try {
        if (!draw()) continue;
        (value_of(e) < 0 ? seen.negative : seen.nonnegative) = true;
      } catch (const Error&) {
        continue;  // undefined or too large here
      }
    }
    return seen;
  }

 private:
  struct Symbol {
    std::string name;
    std::int64_t value = 0;
  };

  std::ptrdiff_t index_of(std::string_view name) const {
    const auto at = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& s) { return s.name == name; });
    return at == symbols_.end() ? -1 : at - symbols_.begin();
  }

  // Symbols follow those that their bounds name. False on cycles and on too many symbols.
  bool add_symbols_of(const Expr& e) {
    for (const std::string& name : free_symbols(e)) {
      if (!add_symbol(name)) return false;
    }
    return true;
  }

  bool add_symbol(const std::string& name) {
    if (index_of(name) >= 0) return true;
    if (std::find(open_.begin(), open_.end(), name) != open_.end() || symbols_.size() + open_.size() >= kMaxSymbols)
      return false;
    open_.push_back(name);
    if (const Facts::Table::Entry* entry = table_ != nullptr ? table_->find(name) : nullptr) {
      for (const std::vector<Expr>* bounds : {&entry->lower, &entry->upper}) {
        for (const Expr& bound : *bounds) {
          if (has_reads(bound) || has_calls(bound) || !add_symbols_of(bound)) return false;
        }
      }
    }
    open_.pop_back();
    symbols_.push_back({name, 0});
    return true;
  }

  std::int64_t value_of(const Expr& e) const {
    Valuation values;
    values.symbol = [this](std::string_view name) -> std::optional<std::int64_t> {
      const std::ptrdiff_t at = index_of(name);
      if (at < 0) return std::nullopt;
      return symbols_[static_cast<std::size_t>(at)].value;
    };
    return evaluate(e, values);
  }

  std::int64_t random_below(std::int64_t count) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int64_t>((state_ >> 33U) % static_cast<std::uint64_t>(count));
  }

  // The first examples stand at the ends, where inequalities break first; the others anywhere near.
  std::int64_t pick(std::optional<std::int64_t> low, std::optional<std::int64_t> high) {
    if (!low && !high) return random_below(2 * kSpread) - kSpread / 2;
    if (!low) return *high - (example_ % 3 == 0 ? 0 : random_below(kSpread));
    if (!high) return *low + (example_ == 0 ? 0 : example_ == 1 ? kSpread * kSpread : random_below(kSpread));
    if (example_ == 0) return *low;
    if (example_ == 1) return *high;
    if (example_ % 3 == 2) return random_below(2) == 0 ? *low : *high;
    std::int64_t width = 0;
    if (__builtin_sub_overflow(*high, *low, &width) || width >= 4 * kSpread) return *low + random_below(4 * kSpread);
    return *low + random_below(width + 1);
  }

  bool draw() {
    for (Symbol& symbol : symbols_) {
      std::optional<std::int64_t> low;
      std::optional<std::int64_t> high;
      std::int64_t modulus = 1;
      std::int64_t residue = 0;
      if (const Facts::Table::Entry* entry = table_ != nullptr ? table_->find(symbol.name) : nullptr) {
        for (const Expr& bound : entry->lower) {
          const std::int64_t value = value_of(bound);
          low = low ? std::max(*low, value) : value;
        }
        for (const Expr& bound : entry->upper) {
          const std::int64_t value = value_of(bound);
          high = high ? std::min(*high, value) : value;
        }
        modulus = entry->modulus;
        residue = entry->residue;
      }
      if (low && high && *low > *high) return false;
      symbol.value = pick(low, high);
      if (modulus > 1)
        symbol.value = checked_add(symbol.value, floor_remainder(checked_sub(residue, symbol.value), modulus));
      if (high && symbol.value > *high) symbol.value = checked_sub(symbol.value, modulus);
      if ((low && symbol.value < *low) || (high && symbol.value > *high)) return false;
    }
    return std::all_of(nonnegative_.begin(), nonnegative_.end(), [&](const Expr& c) { return value_of(c) >= 0; }) &&
           std::all_of(true_.begin(), true_.end(), [&](const Expr& c) { return value_of(c) != 0; });
  }

  const Facts::Table* table_;
  bool usable_ = false;
  std::vector<Symbol> symbols_;
  std::vector<std::string> open_;
  std::vector<Expr> nonnegative_;
  std::vector<Expr> true_;
  std::uint64_t state_ = 0;
  int example_ = 0;
};

}  // namespace

SeenSigns seen_signs(const Expr& e, const Facts& facts) {
  return Examples(e, facts).signs_of(e);
}

}  // namespace sdfg::symbolic
