// What the public handles point to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <sdfg/array.hpp>
#include <sdfg/error.hpp>
#include <string>
#include <vector>

#include "builder/tree.hpp"
#include "ir/container.hpp"

namespace sdfg::detail {

class BuilderImpl;
using ScopeId = std::uint32_t;  // never reused; 0: none

// Scopes that must be open for a handle to mean something; sorted, without duplicates.
using Scopes = std::vector<ScopeId>;
Scopes merged(const Scopes& a, const Scopes& b);

struct IndexNode {
  std::shared_ptr<BuilderImpl> owner;
  symbolic::Expr value;
  Scopes scopes;         // those that bind its symbols
  SourceLocation where;  // where the first of its symbols was made
};

// A rectangular part of a container.
struct WindowNode {
  std::shared_ptr<BuilderImpl> owner;
  std::string container;
  std::vector<symbolic::Range> dimensions;  // of the container
  std::vector<bool> kept;                   // dimensions of the window; the others are single indices
  ir::Extents shape;                        // extents of the kept dimensions
  Scopes scopes;
  SourceLocation where;

  // Indices of the container's element at the window's position (placeholders).
  std::vector<symbolic::Expr> indices() const;
  ir::Subset subset() const { return ir::Subset(dimensions); }
  bool is_whole(const ir::Container& c) const;
};

// The place between two elements of an open scope: after the element with this id, or at the scope's beginning.
struct Position {
  ScopeId scope = 0;
  std::uint32_t after = 0;
};

// A value or an array expression. Mutable: when what it read is about to be out of date, `tree` is replaced by a read
// of the copy that was made at `position` (BuilderImpl::use).
struct ExprNode {
  std::shared_ptr<BuilderImpl> owner;  // null: a constant
  ir::Extents shape;
  TreePtr tree;  // null: not computed yet
  // Stores an uncomputed value (a reduction, a product) to a window of the same shape.
  std::function<void(BuilderImpl&, const WindowNode& target, const SourceLocation& where)> compute;
  ScalarType type = ScalarType::kInt64;
  std::vector<std::string> reads;  // containers (views resolved) and assigned symbols; sorted
  Position position;
  std::uint64_t stamp = 0;  // when it was made, on BuilderImpl's clock
  SourceLocation where;
  std::string problem;  // a constant that does not fit its type: reported by what uses it
};

SourceLocation location_of(Where where);
// All elements of a container: its valid indices start at minus its offset.
ir::Subset whole_of(const ir::Container& c);

}  // namespace sdfg::detail
