// Graphs, states and sequences: ids, names, copies of the whole.
#include "ir/graph.hpp"

#include <algorithm>
#include <array>
#include <queue>

namespace sdfg::ir {

Sequence::Sequence() = default;
Sequence::~Sequence() = default;
Sequence::Sequence(Sequence&&) noexcept = default;
Sequence& Sequence::operator=(Sequence&&) noexcept = default;

// ---- State ----------------------------------------------------------------------------------------------------------

Node* State::find_node(Id id) {
  return const_cast<Node*>(std::as_const(*this).find_node(id));
}

const Node* State::find_node(Id id) const {
  for (const Node& node : nodes) {
    if (node.id == id) return &node;
  }
  return nullptr;
}

std::vector<const Memlet*> State::in_edges(Id node) const {
  std::vector<const Memlet*> found;
  for (const Memlet& edge : edges) {
    if (edge.dst == node) found.push_back(&edge);
  }
  return found;
}

std::vector<const Memlet*> State::out_edges(Id node) const {
  std::vector<const Memlet*> found;
  for (const Memlet& edge : edges) {
    if (edge.src == node) found.push_back(&edge);
  }
  return found;
}

std::vector<Id> State::topological_order() const {
  std::map<Id, std::size_t> position;
  for (std::size_t i = 0; i < nodes.size(); ++i) position.emplace(nodes[i].id, i);
  std::vector<std::vector<std::size_t>> successors(nodes.size());
  std::vector<std::size_t> waiting_for(nodes.size(), 0);
  for (const Memlet& edge : edges) {
    const auto src = position.find(edge.src);
    const auto dst = position.find(edge.dst);
    if (src == position.end() || dst == position.end()) {
      throw Error(ErrorClass::kGraph, "memlet " + std::to_string(edge.id) + " joins nodes " + std::to_string(edge.src) +
                                          " and " + std::to_string(edge.dst) + ", which are not both in its state");
    }
    successors[src->second].push_back(dst->second);
    ++waiting_for[dst->second];
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (waiting_for[i] == 0) ready.push(i);
  }
  std::vector<Id> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.push_back(nodes[i].id);
    for (std::size_t next : successors[i]) {
      if (--waiting_for[next] == 0) ready.push(next);
    }
  }
  if (order.size() != nodes.size()) {
    throw Error(ErrorClass::kGraph, "the edges of a state form a cycle through " +
                                        std::to_string(nodes.size() - order.size()) + " of its nodes");
  }
  return order;
}

// ---- Graph ----------------------------------------------------------------------------------------------------------

namespace {

// A plain identifier like `wish`. Words that the expression syntax claims are no identifiers.
std::string plain_identifier(std::string_view wish) {
  std::string name;
  for (char c : wish) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (name.empty() && digit) name += '_';
    name += letter || digit ? c : '_';
  }
  if (name.empty()) name = "v";
  if (is_reserved_word(name)) name += '_';
  return name;
}

// "i" of "i_12": numbering starts again from the stem, so that copies of copies don't grow their names.
std::string_view stem_of(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last == 0 || last + 1 == name.size() || name[last] != '_') return name;
  return name.substr(0, last);
}

}  // namespace

bool is_reserved_word(std::string_view name) noexcept {
  // Of the file format's expressions, of tasklets, and of C++ text: a name like these would be read as the word.
  static constexpr std::array<std::string_view, 22> kWords = {
      "True",     "False", "None", "and",   "or",      "not",        "if",  "else", "elif", "while", "break",
      "continue", "pass",  "true", "false", "nullptr", "NoneSymbol", "nan", "NaN",  "inf",  "oo",    "zoo"};
  return std::find(kWords.begin(), kWords.end(), name) != kWords.end();
}

bool is_identifier(std::string_view name) noexcept {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9') || is_reserved_word(name)) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string Graph::unique_name(std::string_view wish) const {
  const auto taken = [&](const std::string& n) { return containers.contains(n) || symbols.contains(n); };
  const std::string plain = plain_identifier(wish);
  if (!taken(plain)) return plain;
  const std::string stem = std::string(stem_of(plain)) + '_';
  // Doubling, then halving the gap: a free name next to a taken one in logarithmic time, also among thousands of
  // copies.
  std::uint64_t below = 0;
  std::uint64_t free = 1;
  while (taken(stem + std::to_string(free))) {
    below = free;
    free *= 2;
  }
  while (free - below > 1) {
    const std::uint64_t middle = below + (free - below) / 2;
    (taken(stem + std::to_string(middle)) ? below : free) = middle;
  }
  return stem + std::to_string(free);
}

Element& Graph::append(Sequence& where, Element::Kind kind, std::string label, SourceLocation location) {
  auto element = std::make_unique<Element>(Element{new_id(), std::move(label), std::move(location), std::move(kind)});
  where.items.push_back(std::move(element));
  return *where.items.back();
}

Graph Graph::clone() const {
  Graph copy(name);
  copy.containers = containers;
  copy.symbols = symbols;
  copy.parameters = parameters;
  copy.locals = locals;
  copy.code = code;
  copy.foreign = foreign;
  copy.last_id_ = last_id_;
  for (const auto& item : body.items) copy.body.items.push_back(clone_exact(*item));
  return copy;
}

}  // namespace sdfg::ir
