// The table behind Facts, seen by the provers.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "symbolic/facts.hpp"

namespace sdfg::symbolic {

struct Facts::Table {
  struct Entry {
    std::vector<Expr> lower;  // each is a bound
    std::vector<Expr> upper;
    std::int64_t modulus = 1;
    std::int64_t residue = 0;
  };

  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>()(name); }
  };

  std::shared_ptr<const Table> parent;
  // Looked up and merged, never listed: its order can't reach any output.
  std::unordered_map<std::string, Entry, NameHash, std::equal_to<>> entries;  // hide those of the parents
  std::shared_ptr<const std::vector<Expr>> conditions;                        // e >= 0
  std::shared_ptr<const std::vector<Expr>> literals;                          // other boolean expressions that hold

  const Entry* find(std::string_view symbol) const;

  // A layer on top of `from`; call compact() when its entries are complete.
  static std::shared_ptr<Table> extend(const std::shared_ptr<const Table>& from);
  // The entry of this layer, starting from what the parents know.
  Entry& entry(const std::string& symbol);
  void assume(const Expr& condition);
  // Takes in parents that are no larger, so that chains stay logarithmic and extending is cheap on average.
  void compact();

 private:
  void add_condition(const Expr& nonnegative);
  void add_literal(const Expr& condition);
};

struct FactsAccess {
  static const Facts::Table* table(const Facts& facts) { return facts.table_.get(); }
};

}  // namespace sdfg::symbolic
