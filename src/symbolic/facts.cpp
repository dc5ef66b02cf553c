// The immutable table of assumptions: a chain of layers, each larger than the one on top of it.
#include "symbolic/facts.hpp"

#include <algorithm>
#include <sdfg/error.hpp>

#include "symbolic/facts_table.hpp"
#include "symbolic/node.hpp"

namespace sdfg::symbolic {

namespace {

// Bounds beyond this many per side are dropped: sound, and no search gets out of hand.
constexpr std::size_t kMaxBounds = 4;

// Keeps the tighter of two bounds that differ by a constant.
void add_bound(std::vector<Expr>& bounds, const Expr& bound, int tighter_sign) {
  for (Expr& known : bounds) {
    if (known == bound) return;
    const Expr difference = bound - known;
    if (!difference.is_integer()) continue;
    if (difference.value() * tighter_sign > 0) known = bound;
    return;
  }
  if (bounds.size() < kMaxBounds) bounds.push_back(bound);
}

bool contains(const std::vector<Expr>& all, const Expr& e) {
  return std::find(all.begin(), all.end(), e) != all.end();
}

}  // namespace

Truth operator&&(Truth a, Truth b) {
  if (a == Truth::kNo || b == Truth::kNo) return Truth::kNo;
  return a == Truth::kYes && b == Truth::kYes ? Truth::kYes : Truth::kUnknown;
}

Truth operator||(Truth a, Truth b) {
  return !(!a && !b);
}

std::string_view to_string(Truth t) noexcept {
  switch (t) {
    case Truth::kNo: return "no";
    case Truth::kYes: return "yes";
    case Truth::kUnknown: return "unknown";
  }
  return "";
}

const Facts::Table::Entry* Facts::Table::find(std::string_view symbol) const {
  for (const Table* table = this; table != nullptr; table = table->parent.get()) {
    const auto at = table->entries.find(symbol);
    if (at != table->entries.end()) return &at->second;
  }
  return nullptr;
}

std::shared_ptr<Facts::Table> Facts::Table::extend(const std::shared_ptr<const Table>& from) {
  auto table = std::make_shared<Table>();
  if (!from) return table;
  table->parent = from;
  table->conditions = from->conditions;
  table->literals = from->literals;
  return table;
}

void Facts::Table::compact() {
  while (parent && parent->entries.size() <= entries.size()) {
    entries.insert(parent->entries.begin(), parent->entries.end());  // what is here already is newer
    parent = parent->parent;
  }
}

Facts::Table::Entry& Facts::Table::entry(const std::string& symbol) {
  const Entry* known = find(symbol);
  const auto [at, inserted] = entries.try_emplace(symbol);
  if (inserted && known != nullptr) at->second = *known;
  return at->second;
}

void Facts::Table::add_condition(const Expr& nonnegative) {
  if (nonnegative.is_integer()) return;
  if (conditions && contains(*conditions, nonnegative)) return;
  auto extended = conditions ? std::make_shared<std::vector<Expr>>(*conditions) : std::make_shared<std::vector<Expr>>();
  extended->push_back(nonnegative);
  conditions = std::move(extended);
  // A condition on one symbol alone is also a bound of it.
  const SumView view = sum_view(nonnegative);
  if (view.terms.size() != 1) return;
  const TermView term = term_view(view.terms[0]);
  if (term.factors.size() != 1 || term.factors[0].kind() != Kind::kSymbol) return;
  if (term.coefficient == 1) add_bound(entry(term.factors[0].name()).lower, Expr(0) - Expr(view.constant), 1);
  if (term.coefficient == -1) add_bound(entry(term.factors[0].name()).upper, view.constant, -1);
}

void Facts::Table::add_literal(const Expr& condition) {
  if (literals && contains(*literals, condition)) return;
  auto extended = literals ? std::make_shared<std::vector<Expr>>(*literals) : std::make_shared<std::vector<Expr>>();
  extended->push_back(condition);
  literals = std::move(extended);
}

void Facts::Table::assume(const Expr& condition) {
  if (condition.kind() == Kind::kAnd) {
    for (const Expr& part : condition.args()) assume(part);
    return;
  }
  if (condition.kind() == Kind::kBoolean) return;
  if (condition.kind() == Kind::kLessEqual) {
    add_condition(-condition.args()[0]);
    return;
  }
  if (condition.kind() == Kind::kEqual && !condition.args()[0].is_boolean_valued()) {
    add_condition(condition.args()[0]);
    add_condition(-condition.args()[0]);
  }
  add_literal(condition);
}

Facts Facts::with_bounds(const std::string& symbol, std::optional<Expr> lower, std::optional<Expr> upper) const {
  const auto table = Table::extend(table_);
  Table::Entry& entry = table->entry(symbol);
  // A bound in terms of the symbol itself says nothing that a search could use.
  if (lower && !depends_on(*lower, symbol)) add_bound(entry.lower, as_integer(*lower), 1);
  if (upper && !depends_on(*upper, symbol)) add_bound(entry.upper, as_integer(*upper), -1);
  table->compact();
  Facts result;
  result.table_ = table;
  return result;
}

Facts Facts::with_congruence(const std::string& symbol, std::int64_t modulus, std::int64_t residue) const {
  if (modulus <= 0) {
    throw Error(ErrorClass::kUsage, "the modulus of a congruence must be positive: '" + symbol + "' has the modulus " +
                                        std::to_string(modulus));
  }
  const auto table = Table::extend(table_);
  Table::Entry& entry = table->entry(symbol);
  // Of two congruences the one with the larger modulus says more.
  if (modulus > entry.modulus) {
    entry.modulus = modulus;
    entry.residue = floor_remainder(residue, modulus);
  }
  table->compact();
  Facts result;
  result.table_ = table;
  return result;
}

Facts Facts::with_condition(const Expr& condition) const {
  const auto table = Table::extend(table_);
  table->assume(as_boolean(condition));
  table->compact();
  Facts result;
  result.table_ = table;
  return result;
}

std::optional<Expr> Facts::lower(std::string_view symbol) const {
  const Table::Entry* entry = table_ ? table_->find(symbol) : nullptr;
  if (entry == nullptr || entry->lower.empty()) return std::nullopt;
  Expr result = entry->lower[0];
  for (const Expr& bound : entry->lower) result = max(result, bound);
  return result;
}

std::optional<Expr> Facts::upper(std::string_view symbol) const {
  const Table::Entry* entry = table_ ? table_->find(symbol) : nullptr;
  if (entry == nullptr || entry->upper.empty()) return std::nullopt;
  Expr result = entry->upper[0];
  for (const Expr& bound : entry->upper) result = min(result, bound);
  return result;
}

std::optional<std::pair<std::int64_t, std::int64_t>> Facts::congruence(std::string_view symbol) const {
  const Table::Entry* entry = table_ ? table_->find(symbol) : nullptr;
  if (entry == nullptr || entry->modulus <= 1) return std::nullopt;
  return std::pair(entry->modulus, entry->residue);
}

const std::vector<Expr>& Facts::conditions() const {
  static const std::vector<Expr>& none = *new std::vector<Expr>;
  return table_ && table_->conditions ? *table_->conditions : none;
}

}  // namespace sdfg::symbolic
