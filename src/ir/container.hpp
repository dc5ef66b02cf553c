// Containers (data with storage) and symbols (integers with a binder): the tables of a graph.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <sdfg/error.hpp>
#include <sdfg/types.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "symbolic/expr.hpp"
#include "symbolic/facts.hpp"
#include "symbolic/subset.hpp"

namespace sdfg::ir {

using symbolic::Range;
using symbolic::Subset;
using Extents = std::vector<symbolic::Expr>;

enum class Storage : std::uint8_t { kDefault, kRegister, kHeap, kPinned, kThreadLocal, kGpuGlobal, kGpuShared };
enum class Lifetime : std::uint8_t { kScope, kPersistent, kExternal };
enum class ContainerKind : std::uint8_t { kScalar, kArray, kStream, kView, kReference, kStructure, kContainerArray };

std::string_view to_string(Storage s) noexcept;
std::string_view to_string(Lifetime l) noexcept;
std::string_view to_string(ContainerKind k) noexcept;

// Where the elements of a container lie: element (i_0, ...) is at base + start_offset + sum_d (i_d + offset_d) *
// stride_d, counted in elements. Constructed whole, so shape, strides, offset and total size can't go out of step.
class Layout {
 public:
  Layout() = default;                   // rank 0: one element
  static Layout packed(Extents shape);  // C order
  static Layout column_major(Extents shape);
  // total_size nothing: 1 + sum (shape_d - 1) * stride_d.
  static Layout strided(Extents shape, Extents strides, std::optional<symbolic::Expr> total_size = {},
                        Extents offset = {}, symbolic::Expr start_offset = 0);

  std::size_t rank() const { return shape_.size(); }
  const Extents& shape() const { return shape_; }
  const Extents& strides() const { return strides_; }
  const Extents& offset() const { return offset_; }
  const symbolic::Expr& total_size() const { return total_size_; }  // elements to allocate
  const symbolic::Expr& start_offset() const { return start_offset_; }
  bool is_packed() const;                                                 // C order without gaps, zero offsets
  symbolic::Expr num_elements() const;                                    // product of the shape
  symbolic::Expr address(std::span<const symbolic::Expr> indices) const;  // flat index of an element
  // A condition under which no two elements share a place: every dimension steps over all inner ones, in declared or in
  // reverse order (of constant strides: in their own order). True for packed layouts.
  symbolic::Expr elements_apart() const;
  // Two dimensions step alike, or one does not step: elements share places as soon as there are several along these.
  bool elements_meet() const;
  Layout substituted(const symbolic::Substitution& by) const;
  symbolic::SymbolSet free_symbols() const;
  bool operator==(const Layout&) const = default;

 private:
  Extents shape_, strides_, offset_;
  symbolic::Expr total_size_ = 1;
  symbolic::Expr start_offset_ = 0;
};

// One named piece of data. Arguments (transient false) belong to the caller; transients are declared by a Block, by
// Graph::locals, or, when Persistent or External, by the graph.
struct Container {
  std::string name;  // unique in the graph
  ContainerKind kind = ContainerKind::kArray;
  Type type;      // element type; void for Structure
  Layout layout;  // of Scalar: rank 0
  Storage storage = Storage::kDefault;
  Lifetime lifetime = Lifetime::kScope;
  bool transient = false;
  bool may_alias = false;      // may overlap other arguments: no restrict
  bool zeroed = false;         // zero-filled when its block is entered
  std::int64_t alignment = 0;  // bytes; 0: the default (64 for owned heap memory, none assumed for arguments)
  // kView: the viewed container and the window; the view's own layout and type apply from the window's first element
  // on.
  std::string viewed;
  Subset viewed_subset;
  // kStream: capacity hint, 0 = unbounded. The shape is that of the array of streams.
  symbolic::Expr buffer_size = 0;
  // kStructure: members in order; addressed as "st.x". kContainerArray: one entry, the element's description.
  std::vector<Container> members;
  // Elements of a compile-time constant, packed in layout order; the container is then read-only and never an argument.
  std::optional<std::vector<std::uint8_t>> constant;
  std::string label;  // the user's name, when `name` was made unique
  SourceLocation location;

  std::size_t rank() const { return layout.rank(); }
  bool is_scalar() const { return kind == ContainerKind::kScalar; }
};

// What binds a symbol. Every symbol has exactly one binder.
enum class BinderKind : std::uint8_t { kParameter, kMapParameter, kLoopVariable, kAssigned };
std::string_view to_string(BinderKind k) noexcept;

// An integer, bool or callback name. Integer symbols of any width; arithmetic on them is exact 64-bit.
struct Symbol {
  std::string name;  // unique among symbols and containers
  Type type = ScalarType::kInt64;
  BinderKind binder = BinderKind::kParameter;
  std::optional<symbolic::Expr> lower;  // assumptions (inclusive)
  std::optional<symbolic::Expr> upper;
  std::string label;  // the user's name, when `name` was made unique
  SourceLocation location;
};

// A table in insertion order with look-up by name; addresses of entries are stable.
template <typename T>
class Table {
  std::vector<std::unique_ptr<T>> entries_;
  std::map<std::string, T*, std::less<>> index_;

 public:
  Table() = default;
  Table(const Table& other) {
    for (const T& e : other) insert(e);
  }
  Table& operator=(const Table& other) {
    if (this != &other) {
      Table copy(other);
      *this = std::move(copy);
    }
    return *this;
  }
  Table(Table&&) noexcept = default;
  Table& operator=(Table&&) noexcept = default;

  T* find(std::string_view name) {
    auto it = index_.find(name);
    return it == index_.end() ? nullptr : it->second;
  }
  const T* find(std::string_view name) const {
    auto it = index_.find(name);
    return it == index_.end() ? nullptr : it->second;
  }
  T& at(std::string_view name) { return const_cast<T&>(std::as_const(*this).at(name)); }
  const T& at(std::string_view name) const {
    if (const T* e = find(name)) return *e;
    throw Error(ErrorClass::kInternal, "no entry named '" + std::string(name) + "'");
  }
  bool contains(std::string_view name) const { return index_.find(name) != index_.end(); }
  // The name must be new (Error(kInternal) otherwise).
  T& insert(T entry) {
    if (contains(entry.name)) throw Error(ErrorClass::kInternal, "two entries named '" + entry.name + "'");
    entries_.push_back(std::make_unique<T>(std::move(entry)));
    T* e = entries_.back().get();
    index_.emplace(e->name, e);
    return *e;
  }
  void erase(std::string_view name) {
    auto it = index_.find(name);
    if (it == index_.end()) return;
    const T* e = it->second;
    index_.erase(it);
    std::erase_if(entries_, [e](const std::unique_ptr<T>& p) { return p.get() == e; });
  }
  void rename(std::string_view from, std::string to) {
    T& e = at(from);
    index_.erase(index_.find(from));
    e.name = std::move(to);
    index_.emplace(e.name, &e);
  }
  std::size_t size() const { return entries_.size(); }

  template <typename U, typename It>
  struct Iterator {
    It it;
    U& operator*() const { return **it; }
    U* operator->() const { return it->get(); }
    Iterator& operator++() {
      ++it;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };
  auto begin() { return Iterator<T, decltype(entries_.begin())>{entries_.begin()}; }
  auto end() { return Iterator<T, decltype(entries_.begin())>{entries_.end()}; }
  auto begin() const { return Iterator<const T, decltype(entries_.begin())>{entries_.begin()}; }
  auto end() const { return Iterator<const T, decltype(entries_.begin())>{entries_.end()}; }
};

}  // namespace sdfg::ir
