// Normal form of control flow (no idle blocks) and of states (one order of nodes and edges).
#include "io/normal_form.hpp"

#include <algorithm>
#include <queue>

#include "base/digest.hpp"
#include "ir/cpp_text.hpp"
#include "symbolic/print.hpp"
#include "tasklet/code.hpp"

namespace sdfg::io {

namespace {

using ir::Element;
using ir::Id;
using ir::Memlet;
using ir::Node;
using ir::Sequence;
using ir::State;

void collect_targets(const Sequence& s, std::set<Id>& targets) {
  ir::walk(s, [&](const Element& e, const ir::Ancestors&) {
    if (const auto* x = std::get_if<ir::Exit>(&e.kind)) targets.insert(x->target);
  });
}

void retarget(Sequence& s, Id from, Id to, ir::Exit::Kind kind) {
  ir::walk(s, [&](Element& e) {
    auto* x = std::get_if<ir::Exit>(&e.kind);
    if (x != nullptr && x->target == from) *x = {kind, to};
  });
}

bool jumps(const Element& e) {
  return std::holds_alternative<ir::Exit>(e.kind) || std::holds_alternative<ir::Return>(e.kind);
}
bool leaves(const Sequence& s) {
  return !s.items.empty() && jumps(*s.items.back());
}
bool exits_to(const Element& e, Id target) {
  if (const auto* x = std::get_if<ir::Exit>(&e.kind)) return x->target == target;
  for (const Sequence* child : ir::child_sequences(e)) {
    for (const auto& item : child->items) {
      if (exits_to(*item, target)) return true;
    }
  }
  return false;
}
void append(Sequence& to, Sequence&& from) {
  for (auto& item : from.items) to.items.push_back(std::move(item));
  from.items.clear();
}
bool is_else(const tasklet::Expr& condition) {
  return condition == tasklet::Expr::literal(true);
}
tasklet::Expr negated(const tasklet::Expr& e) {
  if (const auto* u = std::get_if<tasklet::Unary>(&e.node()); u != nullptr && u->op == tasklet::UnaryOp::kNot)
    return u->operand[0];
  return tasklet::Expr::unary(tasklet::UnaryOp::kNot, e)
      .with_type(e.type().is_void() ? Type() : Type(ScalarType::kBool));
}

// Brings control flow to the form that jumps between blocks raise to, whatever it was written as: nothing behind a
// jump, no jump to where the flow goes anyway, a branch that leaves without an else, blocks that begin where they can
// first be left.
class FlowNormaliser {
 public:
  FlowNormaliser(ir::Graph& g, const std::set<Id>& keep) : g_(g), keep_(keep) {}

  void run() {
    for (int round = 0; round < 16; ++round) {
      changed_ = false;
      trim(g_.body, {}, true);
      targets_.clear();
      collect_targets(g_.body, targets_);
      tidy(g_.body);
      if (!changed_) return;
    }
  }

 private:
  using Tail = std::pair<ir::Exit::Kind, Id>;

  // `tails`: the exits that say what falling off the end does; `end`: that ends the graph.
  void trim(Sequence& s, std::vector<Tail> tails, bool end) {
    for (std::size_t i = 0; i + 1 < s.items.size(); ++i) {
      if (!jumps(*s.items[i])) continue;
      s.items.resize(i + 1);
      changed_ = true;
    }
    const auto idle = [&](const Element& e) {
      if (std::holds_alternative<ir::Return>(e.kind)) return end;
      const auto* x = std::get_if<ir::Exit>(&e.kind);
      return x != nullptr && std::find(tails.begin(), tails.end(), Tail(x->kind, x->target)) != tails.end();
    };
    while (!s.items.empty() && idle(*s.items.back())) {
      s.items.pop_back();
      changed_ = true;
    }
    for (std::size_t i = 0; i < s.items.size(); ++i) {
      Element& e = *s.items[i];
      // A branch that skips to the end of the sequence: what it skips is the else branch.
      if (auto* branch = std::get_if<ir::If>(&e.kind); branch != nullptr && i + 1 < s.items.size() &&
                                                       leaves(branch->branches[0].body) &&
                                                       idle(*branch->branches[0].body.items.back())) {
        branch->branches[0].body.items.pop_back();
        Sequence skipped;
        if (branch->branches.size() == 2 && is_else(branch->branches[1].condition)) {
          skipped = std::move(branch->branches[1].body);
        } else if (branch->branches.size() > 1) {
          ir::If rest;
          for (std::size_t k = 1; k < branch->branches.size(); ++k)
            rest.branches.push_back(std::move(branch->branches[k]));
          g_.append(skipped, std::move(rest), e.label, e.location);
        }
        branch->branches.resize(1);
        for (std::size_t k = i + 1; k < s.items.size(); ++k) skipped.items.push_back(std::move(s.items[k]));
        s.items.resize(i + 1);
        branch->branches.push_back({tasklet::Expr::literal(true), std::move(skipped)});
        changed_ = true;
      }
      const bool last = i + 1 == s.items.size();
      if (last && (end || !tails.empty())) merge_exits(e, tails, end);
      std::vector<Tail> inner = last ? tails : std::vector<Tail>{};
      bool inner_end = last && end;
      if (std::holds_alternative<ir::Block>(e.kind)) {
        inner.emplace_back(ir::Exit::Kind::kBreak, e.id);
      } else if (!std::holds_alternative<ir::If>(e.kind)) {
        inner.assign(1, Tail(ir::Exit::Kind::kContinue, e.id));
        inner_end = false;
      }
      for (Sequence* child : ir::child_sequences(e)) trim(*child, inner, inner_end);
    }
  }

  // Of jumps that mean the same, one is used: leaving a loop that nothing follows is its break, leaving a block that
  // nothing follows is what ends the sequence around.
  void merge_exits(Element& e, const std::vector<Tail>& tails, bool end) {
    const bool loop = std::holds_alternative<ir::For>(e.kind) || std::holds_alternative<ir::While>(e.kind);
    if (!loop && !std::holds_alternative<ir::Block>(e.kind)) return;
    const auto visit = [&](Element& inside) {
      auto* x = std::get_if<ir::Exit>(&inside.kind);
      const bool returns = std::holds_alternative<ir::Return>(inside.kind);
      if (loop) {
        const bool same =
            returns ? end
                    : x != nullptr && std::find(tails.begin(), tails.end(), Tail(x->kind, x->target)) != tails.end();
        if (!same) return;
        inside.kind = ir::Exit{ir::Exit::Kind::kBreak, e.id};
      } else {
        if (x == nullptr || x->target != e.id) return;
        if (end)
          inside.kind = ir::Return{};
        else
          *x = {tails.front().first, tails.front().second};
      }
      changed_ = true;
    };
    for (Sequence* child : ir::child_sequences(e)) ir::walk(*child, visit);
  }

  void tidy(Sequence& s) {
    std::vector<std::unique_ptr<Element>> items = std::move(s.items);
    s.items.clear();
    for (auto& item : items) {
      for (Sequence* child : ir::child_sequences(*item)) tidy(*child);
      if (auto* m = std::get_if<ir::Map>(&item->kind); m != nullptr && m->body.items.size() == 1) {
        Element& only = *m->body.items[0];
        auto* b = std::get_if<ir::Block>(&only.kind);
        if (b != nullptr && b->locals.empty()) {  // entered and left with the iteration, also when it is to be kept
          retarget(b->body, only.id, item->id, ir::Exit::Kind::kContinue);
          Sequence body = std::move(b->body);
          m->body = std::move(body);
          changed_ = true;
        }
      }
      if (std::holds_alternative<ir::If>(item->kind)) {
        branch(s, std::move(item));
        continue;
      }
      auto* block = std::get_if<ir::Block>(&item->kind);
      if (block != nullptr && block->locals.empty() && !keep_.contains(item->id)) {
        if (!targets_.contains(item->id)) {
          append(s, std::move(block->body));
          changed_ = true;
          continue;
        }
        while (!block->body.items.empty() && !exits_to(*block->body.items.front(), item->id)) {
          s.items.push_back(std::move(block->body.items.front()));
          block->body.items.erase(block->body.items.begin());
          changed_ = true;
        }
      }
      s.items.push_back(std::move(item));
    }
  }

  // First as questions one after the other, then again as a chain.
  void branch(Sequence& out, std::unique_ptr<Element> item) {
    auto& b = std::get<ir::If>(item->kind).branches;
    const auto pure = [](const tasklet::Expr& e) { return tasklet::uses_of(e).called.empty(); };
    while (!b.empty() && b.back().body.items.empty() && pure(b.back().condition)) {  // does nothing, as does no branch
      b.pop_back();
      changed_ = true;
    }
    if (b.empty()) return;
    if (is_else(b[0].condition)) {
      append(out, std::move(b[0].body));
      changed_ = true;
      return;
    }
    if (b.size() < 2) {
      out.items.push_back(std::move(item));
      return;
    }
    Sequence otherwise;
    if (b.size() == 2 && is_else(b[1].condition)) {
      otherwise = std::move(b[1].body);
    } else {
      ir::If rest;
      for (std::size_t k = 1; k < b.size(); ++k) rest.branches.push_back(std::move(b[k]));
      auto inner = std::make_unique<Element>();
      inner->id = g_.new_id();
      inner->label = item->label;
      inner->location = item->location;
      inner->kind = std::move(rest);
      branch(otherwise, std::move(inner));
    }
    ir::If::Branch first = std::move(b[0]);
    b.clear();
    if (leaves(first.body)) {
      b.push_back(std::move(first));
      changed_ = changed_ || !otherwise.items.empty();
      out.items.push_back(std::move(item));
      append(out, std::move(otherwise));
    } else if (leaves(otherwise)) {
      b.push_back({negated(first.condition), std::move(otherwise)});
      changed_ = true;
      out.items.push_back(std::move(item));
      append(out, std::move(first.body));
    } else if (first.body.items.empty() && !otherwise.items.empty()) {
      b.push_back({negated(first.condition), std::move(otherwise)});
      changed_ = true;
      out.items.push_back(std::move(item));
    } else {
      b.push_back(std::move(first));
      auto* inner = otherwise.items.size() == 1 ? std::get_if<ir::If>(&otherwise.items[0]->kind) : nullptr;
      if (inner != nullptr) {
        for (ir::If::Branch& more : inner->branches) b.push_back(std::move(more));
      } else if (!otherwise.items.empty()) {
        b.push_back({tasklet::Expr::literal(true), std::move(otherwise)});
      }
      out.items.push_back(std::move(item));
    }
  }

  ir::Graph& g_;
  const std::set<Id>& keep_;
  std::set<Id> targets_;
  bool changed_ = false;
};

// ---- states

bool is_access(const Node& n) {
  return std::holds_alternative<ir::Access>(n.kind);
}

// Access nodes whose edges all only order are taken out; what they ordered stays ordered.
void drop_idle_accesses(State& s, ir::Graph& g) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < s.nodes.size(); ++i) {
      const Id id = s.nodes[i].id;
      if (!is_access(s.nodes[i])) continue;
      const auto in = s.in_edges(id), out = s.out_edges(id);
      const auto orders = [](const Memlet* m) { return m->is_order_only(); };
      if (!std::all_of(in.begin(), in.end(), orders) || !std::all_of(out.begin(), out.end(), orders)) continue;
      std::vector<std::pair<Id, Id>> pairs;
      for (const Memlet* a : in) {
        for (const Memlet* b : out) pairs.emplace_back(a->src, b->dst);
      }
      std::erase_if(s.edges, [id](const Memlet& m) { return m.src == id || m.dst == id; });
      for (const auto& [a, b] : pairs) {
        Memlet m;
        m.id = g.new_id();
        m.src = a;
        m.dst = b;
        s.edges.push_back(std::move(m));
      }
      s.nodes.erase(s.nodes.begin() + static_cast<std::ptrdiff_t>(i));
      changed = true;
      break;
    }
  }
}

// An order edge from an access node without predecessors, or to one without successors, orders nothing; one beside a
// data edge or another order edge between the same nodes says nothing new.
void drop_idle_order(State& s) {
  for (bool changed = true; changed;) {
    changed = false;
    std::set<Id> has_in, has_out;
    for (const Memlet& m : s.edges) {
      has_in.insert(m.dst);
      has_out.insert(m.src);
    }
    std::set<Id> access;
    for (const Node& n : s.nodes) {
      if (is_access(n)) access.insert(n.id);
    }
    std::set<std::pair<Id, Id>> data, seen;
    for (const Memlet& m : s.edges) {
      if (!m.is_order_only()) data.emplace(m.src, m.dst);
    }
    const auto erased = std::erase_if(s.edges, [&](const Memlet& m) {
      if (!m.is_order_only()) return false;
      return (access.contains(m.src) && !has_in.contains(m.src)) ||
             (access.contains(m.dst) && !has_out.contains(m.dst)) || data.contains({m.src, m.dst}) ||
             !seen.emplace(m.src, m.dst).second;
    });
    changed = erased != 0;
  }
}

// One access node per container for all reads by which the state begins, one for all writes by which it ends.
void join_ends(State& s) {
  std::set<Id> has_in, has_out;
  for (const Memlet& m : s.edges) {
    has_in.insert(m.dst);
    has_out.insert(m.src);
  }
  std::map<std::pair<bool, std::string>, Id> first;
  std::map<Id, Id> by;
  for (const Node& n : s.nodes) {
    const auto* a = std::get_if<ir::Access>(&n.kind);
    if (a == nullptr || has_in.contains(n.id) == has_out.contains(n.id)) continue;
    const auto [it, inserted] = first.emplace(std::pair(has_in.contains(n.id), a->data), n.id);
    if (!inserted) by.emplace(n.id, it->second);
  }
  if (by.empty()) return;
  for (Memlet& m : s.edges) {
    if (const auto it = by.find(m.src); it != by.end()) m.src = it->second;
    if (const auto it = by.find(m.dst); it != by.end()) m.dst = it->second;
  }
  std::erase_if(s.nodes, [&](const Node& n) { return by.contains(n.id); });
}

std::string text_of(const std::optional<ir::Subset>& s) {
  return s ? "[" + s->str() + "]" : "-";
}

std::string code_key(const tasklet::Code& code) {
  if (code.language == tasklet::Language::kCpp) return code.text;
  return tasklet::to_python(code.body);
}

std::string key_of(const Node& n) {
  if (const auto* a = std::get_if<ir::Access>(&n.kind)) return "A" + a->data;
  if (const auto* t = std::get_if<ir::Tasklet>(&n.kind)) return "T" + code_key(t->code);
  const auto& l = std::get<ir::Library>(n.kind);
  return "L" + std::string(ir::name_of(l.op)) + "/" + l.implementation;
}

std::string key_of(const Memlet& m) {
  std::string key = m.src_connector + ">" + m.dst_connector + text_of(m.src_subset) + text_of(m.dst_subset);
  if (m.wcr) key += std::string(ir::to_string(m.wcr->op)) + tasklet::to_python(m.wcr->custom);
  if (m.dynamic) key += "d";
  return key;
}

// Topological order that follows content, not history: nodes are told apart by what they are and, in rounds, by their
// neighbours. What is then still equal is exchangeable.
void sort_state(State& s) {
  const std::size_t n = s.nodes.size();
  std::map<Id, std::size_t> index;
  for (std::size_t i = 0; i < n; ++i) index.emplace(s.nodes[i].id, i);
  std::vector<std::string> colour(n);
  for (std::size_t i = 0; i < n; ++i) colour[i] = key_of(s.nodes[i]);
  std::vector<std::string> edge_key;
  for (const Memlet& m : s.edges) edge_key.push_back(key_of(m));
  // Ranks instead of texts after the first round.
  std::vector<std::size_t> rank(n);
  const auto rank_all = [&](const std::vector<std::string>& texts) {
    std::map<std::string_view, std::size_t> order;
    for (const std::string& t : texts) order.emplace(t, 0);
    std::size_t next = 0;
    for (auto& [text, r] : order) r = next++;
    for (std::size_t i = 0; i < n; ++i) rank[i] = order.at(texts[i]);
    return order.size();
  };
  std::size_t classes = rank_all(colour);
  while (classes < n) {
    std::vector<std::vector<std::string>> around(n);
    for (std::size_t e = 0; e < s.edges.size(); ++e) {
      const std::size_t a = index.at(s.edges[e].src), b = index.at(s.edges[e].dst);
      around[a].push_back(">" + edge_key[e] + "#" + std::to_string(rank[b]));
      around[b].push_back("<" + edge_key[e] + "#" + std::to_string(rank[a]));
    }
    std::vector<std::string> next(n);
    for (std::size_t i = 0; i < n; ++i) {
      std::sort(around[i].begin(), around[i].end());
      std::string number = std::to_string(rank[i]);
      next[i] = std::string(8 - std::min<std::size_t>(number.size(), 8), '0') + number;
      for (const std::string& a : around[i]) next[i] += "|" + a;
    }
    const std::size_t now = rank_all(next);
    if (now == classes) break;
    classes = now;
  }
  std::vector<int> missing(n, 0);
  for (const Memlet& m : s.edges) ++missing[index.at(m.dst)];
  std::priority_queue<std::pair<std::size_t, std::size_t>, std::vector<std::pair<std::size_t, std::size_t>>,
                      std::greater<>>
      ready;
  for (std::size_t i = 0; i < n; ++i) {
    if (missing[i] == 0) ready.emplace(rank[i], i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t i = ready.top().second;
    ready.pop();
    order.push_back(i);
    for (const Memlet& m : s.edges) {
      if (m.src == s.nodes[i].id && --missing[index.at(m.dst)] == 0)
        ready.emplace(rank[index.at(m.dst)], index.at(m.dst));
    }
  }
  if (order.size() != n) return;  // a cycle: validation will say so
  std::vector<Node> nodes;
  nodes.reserve(n);
  for (const std::size_t i : order) nodes.push_back(std::move(s.nodes[i]));
  s.nodes = std::move(nodes);
  index.clear();
  for (std::size_t i = 0; i < n; ++i) index.emplace(s.nodes[i].id, i);
  std::stable_sort(s.edges.begin(), s.edges.end(), [&](const Memlet& a, const Memlet& b) {
    const auto ends = [&](const Memlet& m) { return std::pair(index.at(m.src), index.at(m.dst)); };
    if (ends(a) != ends(b)) return ends(a) < ends(b);
    return key_of(a) < key_of(b);
  });
}

// Code may call a connector as it likes, files may not: there it would hide a container or a symbol.
void rename_connectors(ir::Graph& g, State& s) {
  for (Node& n : s.nodes) {
    auto* t = std::get_if<ir::Tasklet>(&n.kind);
    if (t == nullptr) continue;
    const auto taken = [&](const std::string& name) { return g.containers.contains(name) || g.symbols.contains(name); };
    std::map<std::string, std::string, std::less<>> names;
    std::set<std::string> own;
    for (const auto* list : {&t->inputs, &t->outputs}) {
      for (const ir::Connector& c : *list) own.insert(c.name);
    }
    if (t->code.language == tasklet::Language::kTree) {
      const tasklet::Uses uses = tasklet::uses_of(t->code.body);
      for (const auto* list : {&uses.read, &uses.written, &uses.subscripted, &uses.called})
        own.insert(list->begin(), list->end());
    } else {
      for (const std::string& word : ir::identifiers_of(t->code.text)) own.insert(word);
    }
    for (auto* list : {&t->inputs, &t->outputs}) {
      for (ir::Connector& c : *list) {
        if (!taken(c.name) && !names.contains(c.name)) continue;
        auto [it, inserted] = names.emplace(c.name, "");
        if (inserted) {
          std::string wish = c.name + (list == &t->inputs ? "_in" : "_out");
          for (int k = 1; taken(wish) || own.contains(wish) || !ir::is_identifier(wish); ++k)
            wish = c.name + (list == &t->inputs ? "_in" : "_out") + std::to_string(k);
          own.insert(wish);
          it->second = wish;
        }
      }
    }
    if (names.empty()) continue;
    for (auto* list : {&t->inputs, &t->outputs}) {
      for (ir::Connector& c : *list) {
        if (const auto it = names.find(c.name); it != names.end()) c.name = it->second;
      }
    }
    for (Memlet& m : s.edges) {
      if (m.src == n.id) {
        if (const auto it = names.find(m.src_connector); it != names.end()) m.src_connector = it->second;
      }
      if (m.dst == n.id) {
        if (const auto it = names.find(m.dst_connector); it != names.end()) m.dst_connector = it->second;
      }
    }
    if (t->code.language == tasklet::Language::kTree) {
      std::map<std::string, tasklet::Expr, std::less<>> trees;
      for (const auto& [from, to] : names) trees.emplace(from, tasklet::Expr::name(to));
      t->code.body = tasklet::rename_bases(tasklet::replace_names(t->code.body, trees), names);
    } else {
      t->code.text = ir::replace_identifiers(t->code.text, names);
      t->code.cpp.reset();
    }
  }
}

void sort_connectors(State& s) {
  for (Node& n : s.nodes) {
    if (auto* t = std::get_if<ir::Tasklet>(&n.kind)) {
      for (auto* list : {&t->inputs, &t->outputs}) {
        std::sort(list->begin(), list->end(), [](const auto& a, const auto& b) { return a.name < b.name; });
      }
    } else if (auto* l = std::get_if<ir::Library>(&n.kind)) {
      std::sort(l->inputs.begin(), l->inputs.end());
      std::sort(l->outputs.begin(), l->outputs.end());
    }
  }
}

void drop_empty_states(Sequence& s) {
  std::erase_if(s.items, [](const std::unique_ptr<Element>& e) {
    const auto* state = std::get_if<State>(&e->kind);
    return state != nullptr && state->nodes.empty();
  });
  for (auto& e : s.items) {
    for (Sequence* child : ir::child_sequences(*e)) drop_empty_states(*child);
  }
}

// ---- views in control flow

using tasklet::BinaryOp;

tasklet::Expr plus(const tasklet::Expr& a, const tasklet::Expr& b) {
  const auto x = tasklet::to_symbolic(a), y = tasklet::to_symbolic(b);
  if (x && y && !symbolic::has_reads(*x) && !symbolic::has_reads(*y)) return tasklet::from_symbolic(*x + *y);
  return tasklet::Expr::binary(BinaryOp::kAdd, a, b);
}

// The viewed container's indices of a view's element; nothing when they can't be told.
std::optional<std::vector<tasklet::Expr>> behind(const ir::Container& view, const ir::Container& viewed,
                                                 const std::vector<tasklet::Expr>& indices) {
  using symbolic::Expr;
  const bool plain =
      view.layout.start_offset().is_zero() &&
      std::all_of(view.layout.offset().begin(), view.layout.offset().end(), [](const Expr& o) { return o.is_zero(); });
  if (view.type != viewed.type || !plain || indices.size() != view.rank() || view.viewed_subset.rank() != viewed.rank())
    return std::nullopt;
  std::vector<tasklet::Expr> out;
  for (const auto& r : view.viewed_subset.ranges()) out.push_back(tasklet::from_symbolic(r.begin));
  // Dimension by dimension, where the strides agree and the view's extent fits (that of all elements in a row doesn't).
  std::size_t next = 0;
  bool matched = true, fits = true;
  for (std::size_t k = 0; k < indices.size() && matched; ++k) {
    if (view.layout.shape()[k].is_one()) continue;
    std::size_t d = next;
    while (d < viewed.rank() && viewed.layout.strides()[d] != view.layout.strides()[k]) ++d;
    matched = d < viewed.rank();
    if (!matched) break;
    const Expr room = viewed.layout.shape()[d] - view.viewed_subset[d].begin - view.layout.shape()[k];
    fits = fits && symbolic::is_nonnegative(room, {}) == symbolic::Truth::kYes;
    out[d] = plus(out[d], indices[k]);
    next = d + 1;
  }
  if (matched && (fits || !viewed.layout.is_packed())) return out;
  // Through the position in memory, where the viewed container has no gaps.
  if (!viewed.layout.is_packed() || viewed.rank() == 0) return std::nullopt;
  Expr start = 0;
  for (std::size_t d = 0; d < viewed.rank(); ++d) start += view.viewed_subset[d].begin * viewed.layout.strides()[d];
  tasklet::Expr flat = tasklet::from_symbolic(start);
  for (std::size_t k = 0; k < indices.size(); ++k)
    flat =
        plus(flat, tasklet::Expr::binary(BinaryOp::kMul, indices[k], tasklet::from_symbolic(view.layout.strides()[k])));
  for (std::size_t d = 0; d < viewed.rank(); ++d) {
    out[d] = flat;
    if (!viewed.layout.strides()[d].is_one())
      out[d] = tasklet::Expr::binary(BinaryOp::kFloorDiv, out[d], tasklet::from_symbolic(viewed.layout.strides()[d]));
    if (d > 0) out[d] = tasklet::Expr::binary(BinaryOp::kMod, out[d], tasklet::from_symbolic(viewed.layout.shape()[d]));
  }
  return out;
}

tasklet::Expr without_views(const ir::Graph& g, const tasklet::Expr& e) {
  std::vector<tasklet::Expr> children;
  for (const tasklet::Expr& c : e.children()) children.push_back(without_views(g, c));
  const auto* s = std::get_if<tasklet::Subscript>(&e.node());
  const ir::Container* k = s == nullptr ? nullptr : g.containers.find(s->base);
  if (k != nullptr && k->kind == ir::ContainerKind::kView) {
    const ir::Container* viewed = ir::resolve(g, k->viewed);
    if (viewed != nullptr) {
      if (auto indices = behind(*k, *viewed, children))
        return without_views(g, tasklet::Expr::subscript(k->viewed, std::move(*indices), e.type()));
    }
  }
  return children.empty() ? e : e.with_children(std::move(children));
}

}  // namespace

void resolve_view_reads(ir::Graph& g) {
  ir::walk(g.body, [&](Element& e) {
    const auto resolve = [&](tasklet::Expr& x) { x = without_views(g, x); };
    if (auto* a = std::get_if<ir::Assign>(&e.kind)) {
      for (auto& item : a->items) resolve(item.value);
    } else if (auto* f = std::get_if<ir::For>(&e.kind)) {
      resolve(f->init);
      resolve(f->condition);
      resolve(f->update);
    } else if (auto* w = std::get_if<ir::While>(&e.kind)) {
      resolve(w->condition);
    } else if (auto* i = std::get_if<ir::If>(&e.kind)) {
      for (auto& b : i->branches) resolve(b.condition);
    } else if (auto* c = std::get_if<ir::Consume>(&e.kind)) {
      if (c->condition) resolve(*c->condition);
    }
  });
}

void normalise_flow(ir::Graph& g, const std::set<Id>& keep) {
  FlowNormaliser(g, keep).run();
}

void normalise_states(ir::Graph& g) {
  ir::walk(g.body, [&](Element& e) {
    if (auto* a = std::get_if<ir::Assign>(&e.kind)) {  // parallel: the order says nothing
      std::stable_sort(a->items.begin(), a->items.end(),
                       [](const auto& x, const auto& y) { return x.symbol < y.symbol; });
    }
    auto* s = std::get_if<State>(&e.kind);
    if (s == nullptr) return;
    rename_connectors(g, *s);
    drop_idle_order(*s);
    drop_idle_accesses(*s, g);
    drop_idle_order(*s);
    join_ends(*s);
    drop_idle_order(*s);
    sort_connectors(*s);
    sort_state(*s);
  });
  drop_empty_states(g.body);
}

}  // namespace sdfg::io
