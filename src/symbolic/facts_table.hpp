// The table behind Facts, seen by the provers.
#pragma once

#include <map>
#include <memory>

#include "symbolic/facts.hpp"

namespace sdfg::symbolic {

struct Facts::Table {
  struct Entry {
    std::vector<Expr> lower;  // each is a bound
    std::vector<Expr> upper;
    std::int64_t modulus = 1;
    std::int64_t residue = 0;
  };

  std::shared_ptr<const Table> parent;
  int length = 0;                                       // of the chain of parents
  std::map<std::string, Entry, std::less<>> entries;    // hide those of the parents
  std::shared_ptr<const std::vector<Expr>> conditions;  // e >= 0
  std::shared_ptr<const std::vector<Expr>> literals;    // other boolean expressions that hold

  const Entry* find(std::string_view symbol) const;

  static std::shared_ptr<Table> extend(const std::shared_ptr<const Table>& from);
  // The entry of this layer, starting from what the parents know.
  Entry& entry(const std::string& symbol);
  void assume(const Expr& condition);

 private:
  void add_condition(const Expr& nonnegative);
  void add_literal(const Expr& condition);
};

struct FactsAccess {
  static const Facts::Table* table(const Facts& facts) { return facts.table_.get(); }
};

}  // namespace sdfg::symbolic
