// Open scopes: where the next element goes, which blocks hold the containers, and insertion in the past.
#include <algorithm>

#include "builder/impl.hpp"

namespace sdfg::detail {

Scopes merged(const Scopes& a, const Scopes& b) {
  if (b.empty()) return a;
  if (a.empty()) return b;
  Scopes out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

BuilderImpl::BuilderImpl(std::string name, SourceLocation where) : graph(std::move(name)), created(std::move(where)) {
  auto scope = std::make_unique<Scope>();
  scope->id = ++last_scope_;
  scope->segments.push_back({&graph.body, nullptr});
  infos_[scope->id] = {"graph '" + graph.name + "'", created};
  stack_.push_back(std::move(scope));
}

bool BuilderImpl::is_open(ScopeId id) const {
  return std::any_of(stack_.begin(), stack_.end(), [id](const auto& scope) { return scope->id == id; });
}

std::size_t BuilderImpl::depth_of(ScopeId id) const {
  for (std::size_t k = 0; k < stack_.size(); ++k) {
    if (stack_[k]->id == id) return k;
  }
  throw Error(ErrorClass::kInternal, "a scope of the builder is not open");
}

bool BuilderImpl::in_map_within(ScopeId outer) const {
  for (std::size_t k = depth_of(outer) + 1; k < stack_.size(); ++k) {
    if (stack_[k]->kind == ScopeKind::kMap || stack_[k]->kind == ScopeKind::kConsume) return true;
  }
  return false;
}

bool BuilderImpl::repeats_within(ScopeId outer) const {
  for (std::size_t k = depth_of(outer) + 1; k < stack_.size(); ++k) {
    switch (stack_[k]->kind) {
      case ScopeKind::kMap:
      case ScopeKind::kConsume:
      case ScopeKind::kLoop:
      case ScopeKind::kWhile: return true;
      case ScopeKind::kGraph:
      case ScopeKind::kBlock:
      case ScopeKind::kBranch:
      case ScopeKind::kState: break;
    }
  }
  return false;
}

ir::Element& BuilderImpl::insert(Scope& scope, ir::Element::Kind kind, std::string label, const SourceLocation& where) {
  if (scope.past == nullptr) {
    ir::Sequence& sequence = *scope.segments.back().sequence;
    ir::Element& element = graph.append(sequence, std::move(kind), std::move(label), where);
    scope.last = element.id;
    return element;
  }
  ir::Sequence single;
  ir::Element& element = graph.append(single, std::move(kind), std::move(label), where);
  Cursor& at = *scope.past;
  past_stamps_[element.id] = at.stamp;
  auto& items = at.sequence->items;
  const std::size_t index = at.index;
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(index), std::move(single.items.front()));
  for (Cursor* cursor : cursors_) {
    if (cursor->sequence == at.sequence && cursor->index >= index) ++cursor->index;
  }
  return element;
}

ir::Element& BuilderImpl::emit(ir::Element::Kind kind, std::string label, const SourceLocation& where) {
  check_usable(where);
  if (current().kind == ScopeKind::kState) {
    fail(where, "a statement stands inside the body of a state",
         "states hold only access nodes, tasklets, library nodes and edges");
  }
  return insert(current(), std::move(kind), std::move(label), where);
}

Scope& BuilderImpl::open(ScopeKind kind, ir::Element& element, std::size_t k, std::string what,
                         const SourceLocation& where) {
  auto scope = std::make_unique<Scope>();
  scope->id = ++last_scope_;
  scope->kind = kind;
  scope->element = element.id;
  scope->node = &element;
  infos_[scope->id] = {std::move(what), where};
  if (kind != ScopeKind::kState) {
    scope->segments.push_back({ir::child_sequences(element).at(k), std::get_if<ir::Block>(&element.kind)});
  }
  stack_.push_back(std::move(scope));
  return *stack_.back();
}

void BuilderImpl::close(ScopeId id) {
  if (stack_.back()->id != id) throw Error(ErrorClass::kInternal, "scopes of the builder are closed out of order");
  stack_.pop_back();
}

Position BuilderImpl::here() const {
  const Scope& scope = current();
  return scope.past != nullptr ? scope.past->position : Position{scope.id, scope.last};
}

int BuilderImpl::current_segment() const {
  const Scope& scope = current();
  return static_cast<int>(scope.past != nullptr ? scope.past->segment : scope.segments.size() - 1);
}

void BuilderImpl::in_the_past(const Position& position, std::uint64_t stamp, const std::function<void()>& f) {
  const std::size_t depth = depth_of(position.scope);
  Scope& scope = *stack_[depth];
  Cursor cursor;
  cursor.position = position;
  cursor.stamp = stamp;
  cursor.sequence = scope.segments.front().sequence;
  if (position.after != 0) {
    bool found = false;
    for (std::size_t k = 0; k < scope.segments.size() && !found; ++k) {
      const auto& items = scope.segments[k].sequence->items;
      const auto at = std::find_if(items.begin(), items.end(), [&](const auto& e) { return e->id == position.after; });
      if (at == items.end()) continue;
      cursor.sequence = scope.segments[k].sequence;
      cursor.segment = k;
      cursor.index = static_cast<std::size_t>(at - items.begin()) + 1;
      found = true;
    }
    if (!found) throw Error(ErrorClass::kInternal, "the place where a value was made is lost");
  }
  // Values made at one place keep the order in which they were made: later ones may read the copies of earlier ones.
  const auto& items = cursor.sequence->items;
  while (cursor.index < items.size()) {
    const auto kept = past_stamps_.find(items[cursor.index]->id);
    if (kept == past_stamps_.end() || kept->second > stamp) break;
    ++cursor.index;
  }

  std::vector<std::unique_ptr<Scope>> inner;
  inner.insert(inner.end(), std::make_move_iterator(stack_.begin() + static_cast<std::ptrdiff_t>(depth) + 1),
               std::make_move_iterator(stack_.end()));
  stack_.resize(depth + 1);
  Cursor* const before = std::exchange(scope.past, &cursor);
  cursors_.push_back(&cursor);
  const auto restore = [&] {
    cursors_.pop_back();
    scope.past = before;
    stack_.resize(depth + 1);
    stack_.insert(stack_.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
  };
  try {
    f();
  } catch (...) {
    restore();
    throw;
  }
  restore();
}

void BuilderImpl::wrap_first_segment(Scope& scope) {
  ir::Sequence& own = *scope.segments.front().sequence;
  ir::Sequence body = std::move(own);
  own = ir::Sequence();
  ir::Element& element = graph.append(own, ir::Block{}, {}, infos_.at(scope.id).where);
  auto& block = std::get<ir::Block>(element.kind);
  block.body = std::move(body);
  for (Cursor* cursor : cursors_) {
    if (cursor->sequence == &own) cursor->sequence = &block.body;
  }
  scope.segments.front() = {&block.body, &block};
}

void BuilderImpl::split(Scope& scope, std::size_t segment, std::size_t index) {
  ir::Sequence& sequence = *scope.segments[segment].sequence;
  std::vector<std::unique_ptr<ir::Element>> rest;
  rest.insert(rest.end(), std::make_move_iterator(sequence.items.begin() + static_cast<std::ptrdiff_t>(index)),
              std::make_move_iterator(sequence.items.end()));
  sequence.items.resize(index);
  ir::Element& element = graph.append(sequence, ir::Block{}, {}, infos_.at(scope.id).where);
  auto& block = std::get<ir::Block>(element.kind);
  const int next = static_cast<int>(segment) + 1;
  for (auto& [name, info] : symbols) {
    if (info.scope == scope.id && info.segment >= next) ++info.segment;
  }
  for (const auto& item : rest) {
    const auto* assign = std::get_if<ir::Assign>(&item->kind);
    if (assign == nullptr) continue;
    for (const ir::Assign::Item& a : assign->items) {
      SymbolInfo& info = symbols.at(a.symbol);
      if (info.scope == scope.id && info.segment == static_cast<int>(segment)) info.segment = next;
    }
  }
  block.body.items = std::move(rest);
  for (Cursor* cursor : cursors_) {
    if (cursor->position.scope != scope.id) continue;
    if (cursor->segment > segment) {
      ++cursor->segment;
    } else if (cursor->sequence == &sequence && cursor->index >= index) {
      cursor->sequence = &block.body;
      cursor->index -= index;
      ++cursor->segment;
    }
  }
  scope.segments.insert(scope.segments.begin() + next, {&block.body, &block});
}

ir::Block* BuilderImpl::block_for(const symbolic::SymbolSet& used) {
  Scope& scope = current();
  const int segment = current_segment();
  const auto k = static_cast<std::size_t>(segment);
  const bool assigned_here = std::any_of(used.begin(), used.end(), [&](const std::string& name) {
    const auto info = symbols.find(name);
    return info != symbols.end() && info->second.scope == scope.id && info->second.segment == segment;
  });
  if (assigned_here) {
    split(scope, k, scope.past != nullptr ? scope.past->index : scope.segments[k].sequence->items.size());
    return scope.segments[k + 1].block;
  }
  if (scope.segments[k].block == nullptr && scope.kind != ScopeKind::kGraph) wrap_first_segment(scope);
  return scope.segments[static_cast<std::size_t>(current_segment())].block;
}

}  // namespace sdfg::detail
