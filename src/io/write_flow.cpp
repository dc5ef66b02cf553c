// Control flow as regions where the format has one, as conditional jumps between blocks where it has none.
#include <algorithm>

#include "io/writer.hpp"
#include "ir/sites.hpp"

namespace sdfg::io {

namespace {

bool is_loop(const ir::Element& e) {
  return std::holds_alternative<ir::For>(e.kind) || std::holds_alternative<ir::While>(e.kind);
}
bool is_true(const tasklet::Expr& e) {
  const auto* l = std::get_if<tasklet::Literal>(&e.node());
  const auto* v = l == nullptr ? nullptr : std::get_if<bool>(&l->value);
  return v != nullptr && *v;
}
std::string negation(const std::string& condition) {
  constexpr std::string_view kNot = "(not ";
  if (condition.starts_with(kNot)) {
    int depth = 0;
    std::size_t close = 0;
    while (close < condition.size()) {
      depth += condition[close] == '(' ? 1 : condition[close] == ')' ? -1 : 0;
      if (depth == 0) break;
      ++close;
    }
    if (close + 1 == condition.size()) return condition.substr(kNot.size(), condition.size() - kNot.size() - 1);
  }
  return "(not " + condition + ")";
}
dace::CodeBlock python(std::string text) {
  return {std::move(text), dace::Language::kPython, {}};
}

}  // namespace

// ---- which elements become regions, which jumps, which nested graphs

// May the block be a graph of its own, left by its return? Nothing may leave it further, and no symbol it assigns may
// be used outside.
bool Writer::can_nest(const ir::Element& b) const {
  bool ok = true;
  std::set<ir::Id> inside{b.id};
  symbolic::SymbolSet assigned;
  ir::for_each_below(b, [&](const ir::Element& e) {
    inside.insert(e.id);
    if (std::holds_alternative<ir::Return>(e.kind)) ok = false;
    if (const auto* a = std::get_if<ir::Assign>(&e.kind)) {
      for (const auto& item : a->items) assigned.insert(item.symbol);
    }
  });
  ir::for_each_below(b, [&](const ir::Element& e) {
    if (const auto* x = std::get_if<ir::Exit>(&e.kind)) ok = ok && inside.contains(x->target);
  });
  if (!ok || assigned.empty()) return ok;
  ir::for_each_element(g_.body, [&](const ir::Element& e) {
    if (inside.contains(e.id)) return;
    symbolic::SymbolSet used;
    ir::add_symbols_used(g_, e, used);
    for (const std::string& s : used) ok = ok && !assigned.contains(s);
  });
  return ok;
}

void Writer::plan_jumps() {
  struct Jump {
    const ir::Element* target;
    std::vector<const ir::Element*> between;
  };
  std::vector<Jump> jumps;
  const auto fresh_each_time = [&](const ir::Block& b) {
    return std::any_of(b.locals.begin(), b.locals.end(), [&](const std::string& name) {
      const ir::Container& c = g_.containers.at(name);
      return c.kind == ir::ContainerKind::kStream || c.zeroed;
    });
  };
  ir::walk(g_.body, [&](const ir::Element& e, const ir::Ancestors& above) {
    if (const auto* x = std::get_if<ir::Exit>(&e.kind)) {
      for (std::size_t k = above.size(); k-- > 0;) {
        if (above[k]->id != x->target) continue;
        jumps.push_back({above[k], {above.begin() + static_cast<std::ptrdiff_t>(k) + 1, above.end()}});
        if (std::holds_alternative<ir::Block>(above[k]->kind) && can_nest(*above[k])) calls_.insert(x->target);
      }
    }
    // A queue or a zeroed array that each round of a loop has anew: a graph of its own says that.
    if (const auto* b = std::get_if<ir::Block>(&e.kind); b != nullptr && fresh_each_time(*b)) {
      const bool looped = std::any_of(above.begin(), above.end(), [](const ir::Element* a) { return is_loop(*a); });
      if (looped && can_nest(e)) calls_.insert(e.id);
    }
  });
  // DaCe 1.0.2 can't compile conditional blocks that it has read, nor leave its loop regions by jumps.
  if (dialect_ == SdfgDialect::kV1) {
    ir::walk(g_.body, [&](const ir::Element& e, const ir::Ancestors& above) {
      if (std::holds_alternative<ir::If>(e.kind)) jumps_.insert(e.id);
      if (!std::holds_alternative<ir::Exit>(e.kind) && !std::holds_alternative<ir::Return>(e.kind)) return;
      for (std::size_t k = above.size(); k-- > 0;) {
        const ir::Element& a = *above[k];
        if (std::holds_alternative<ir::Map>(a.kind) || std::holds_alternative<ir::Consume>(a.kind) ||
            calls_.contains(a.id))
          break;
        if (is_loop(a)) jumps_.insert(a.id);
      }
    });
  }
  for (bool changed = true; changed;) {
    const std::size_t before = jumps_.size();
    for (const Jump& j : jumps) {
      if (std::holds_alternative<ir::Map>(j.target->kind) || calls_.contains(j.target->id)) continue;
      const bool by_edges = std::holds_alternative<ir::Block>(j.target->kind) || jumps_.contains(j.target->id);
      for (const ir::Element* e : j.between) {
        if (is_loop(*e) || (by_edges && std::holds_alternative<ir::If>(e->kind))) jumps_.insert(e->id);
      }
    }
    changed = jumps_.size() != before;
  }
}

// ---- blocks and jumps of one region

int Writer::append(RegionState& r, dace::Block b) {
  const int index = static_cast<int>(r.region.blocks.size());
  r.region.blocks.push_back(std::move(b));
  if (!r.started) r.region.start = index;
  r.started = true;
  for (OpenEnd& end : r.open) connect(r, end, index);
  r.open.clear();
  r.open.push_back({index, "", {}, 0});
  return index;
}

// Exactly one open end that has no assignment yet.
void Writer::need_clean_end(Context& c, RegionState& r) {
  if (r.open.size() == 1 && r.open.front().assignments.empty()) return;
  append(r, {unique_label(c, "point"), {}, dace::State{}});
}

void Writer::connect(RegionState& r, OpenEnd& from, int to) {
  dace::InterstateEdge e;
  e.src = from.block;
  e.dst = to;
  e.condition = python(from.condition);
  e.assignments = std::move(from.assignments);
  r.region.edges.push_back(std::move(e));
  r.orders.push_back(from.order);
}

// The question comes before its negation in the list of edges, wherever they lead.
void Writer::finish(Context& c, RegionState& r) {
  const bool pending = std::any_of(r.open.begin(), r.open.end(),
                                   [](const OpenEnd& e) { return !e.assignments.empty() || !e.condition.empty(); });
  if (!r.started || pending || r.open.size() > 1) append(r, {unique_label(c, "end"), {}, dace::State{}});
  std::vector<std::size_t> order(r.orders.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(r.region.edges[a].src, r.orders[a]) < std::pair(r.region.edges[b].src, r.orders[b]);
  });
  std::vector<dace::InterstateEdge> edges;
  for (const std::size_t i : order) edges.push_back(std::move(r.region.edges[i]));
  r.region.edges = std::move(edges);
}

void Writer::region(Context& c, dace::Region& out, const ir::Sequence& s) {
  RegionState r{out, {}, false};
  sequence(c, r, s);
  finish(c, r);
}

// The outermost region of a graph.
void Writer::graph_region(Context& c, const ir::Sequence& s, const std::vector<std::string>& locals) {
  RegionState r{c.sdfg.body, {}, false};
  for (const std::string& name : locals) {
    if (g_.containers.at(name).zeroed && !accessed_.contains(name)) zero(c, r, name);
  }
  sequence(c, r, s);
  for (OpenEnd& end : c.returns) r.open.push_back(std::move(end));
  finish(c, r);
}

void Writer::sequence(Context& c, RegionState& r, const ir::Sequence& s) {
  for (const auto& item : s.items) {
    if (r.started && r.open.empty()) return;  // nothing arrives here
    element(c, r, *item);
  }
}

void Writer::element(Context& c, RegionState& r, const ir::Element& e) {
  path_.push_back(&e);
  if (std::holds_alternative<ir::State>(e.kind)) {
    state(c, r, e);
  } else if (const auto* a = std::get_if<ir::Assign>(&e.kind)) {
    assign(c, r, *a, e);
  } else if (std::holds_alternative<ir::Block>(e.kind)) {
    block(c, r, e);
  } else if (is_loop(e)) {
    if (jumps_.contains(e.id))
      loop_jumps(c, r, e);
    else
      loop_region(c, r, e);
  } else if (std::holds_alternative<ir::If>(e.kind)) {
    branch(c, r, e);
  } else if (std::holds_alternative<ir::Map>(e.kind) || std::holds_alternative<ir::Consume>(e.kind)) {
    scope_state(c, r, e);
  } else if (const auto* x = std::get_if<ir::Exit>(&e.kind)) {
    leave(c, r, *x, e);
  } else {
    if (c.nested()) fail("a return inside of a part that a file can only write as a nested graph", e.id);
    end_graph(c, r, e);
  }
  path_.pop_back();
}

// Ends the graph that is being written.
void Writer::end_graph(Context& c, RegionState& r, const ir::Element& e) {
  if (dialect_ == SdfgDialect::kV1) {
    if (!r.started) append(r, {unique_label(c, "point"), {}, dace::State{}});
    for (OpenEnd& end : r.open) c.returns.push_back(std::move(end));
  } else {
    append(r, {label_of(c, e, "leave"), {}, dace::ReturnBlock{}});
  }
  r.open.clear();
}

// ---- assignments

void Writer::assign(Context& c, RegionState& r, const ir::Assign& a, const ir::Element& e) {
  need_clean_end(c, r);
  symbolic::SymbolSet targets;
  for (const auto& item : a.items) targets.insert(item.symbol);
  const auto reads_a_target = [&](const ir::Assign::Item& item) {
    const auto uses = tasklet::uses_of(item.value);
    return std::any_of(uses.read.begin(), uses.read.end(),
                       [&](const std::string& n) { return n != item.symbol && targets.contains(n); });
  };
  std::vector<std::pair<std::string, std::string>> values;
  if (a.items.size() > 1 && std::any_of(a.items.begin(), a.items.end(), reads_a_target)) {
    // All right-hand sides are read before any is written; an edge of a file must not read what it assigns.
    std::vector<std::pair<std::string, std::string>> kept;
    for (const auto& item : a.items) {
      declare_symbol(c, item.symbol, true);
      std::string copy = item.symbol + "_next";
      while (g_.symbols.contains(copy) || g_.containers.contains(copy) || names_.contains(copy)) copy += "_";
      names_.insert(copy);
      c.sdfg.symbols.emplace_back(copy, g_.symbols.at(item.symbol).type);
      kept.emplace_back(copy, text(item.value, e.id));
      values.emplace_back(item.symbol, copy);
    }
    r.open.front().assignments = std::move(kept);
    need_clean_end(c, r);
  } else {
    for (const auto& item : a.items) {
      declare_symbol(c, item.symbol, true);
      values.emplace_back(item.symbol, text(item.value, e.id));
    }
  }
  r.open.front().assignments = std::move(values);
}

void Writer::set_symbol(Context& c, RegionState& r, const std::string& symbol, const tasklet::Expr& value, ir::Id id) {
  declare_symbol(c, symbol, true);
  need_clean_end(c, r);
  r.open.front().assignments.emplace_back(symbol, text(value, id));
}

// ---- loops

void Writer::loop_region(Context& c, RegionState& r, const ir::Element& e) {
  dace::LoopBlock l;
  const ir::Sequence* body = nullptr;
  if (const auto* f = std::get_if<ir::For>(&e.kind)) {
    declare_symbol(c, f->variable, true);
    l.variable = f->variable;
    l.init = python(f->variable + " = " + text(f->init, e.id));
    l.condition = python(text(f->condition, e.id));
    l.update = python(f->variable + " = " + text(f->update, e.id));
    l.inverted = f->form != ir::LoopForm::kTestFirst;
    l.update_before_condition = f->form != ir::LoopForm::kTestThenUpdate;
    if ((f->unroll || f->unroll_factor != 0) && dialect_ == SdfgDialect::kV1) {
      warn("loop '" + f->variable + "' is to be unrolled, which DaCe 1.0.2 has no word for");
    } else {
      l.unroll = f->unroll;
      l.unroll_factor = f->unroll_factor;
    }
    body = &f->body;
  } else {
    const auto& w = std::get<ir::While>(e.kind);
    l.condition = python(text(w.condition, e.id));
    l.inverted = !w.test_first;
    body = &w.body;
  }
  targets_[e.id] = {Target::Kind::kRegionLoop, {}, {}};
  region(c, l.body, *body);
  append(r, {label_of(c, e, "loop"), {}, std::move(l)});
}

// A loop that something inside leaves further than a break can say: blocks and jumps.
void Writer::loop_jumps(Context& c, RegionState& r, const ir::Element& e) {
  const auto* f = std::get_if<ir::For>(&e.kind);
  const auto* w = std::get_if<ir::While>(&e.kind);
  const tasklet::Expr& condition = f != nullptr ? f->condition : w->condition;
  const bool test_first = f != nullptr ? f->form == ir::LoopForm::kTestFirst : w->test_first;
  const bool update_first = f != nullptr && f->form == ir::LoopForm::kUpdateThenTest;
  if (f != nullptr) set_symbol(c, r, f->variable, f->init, e.id);
  const int head = append(r, {label_of(c, e, "loop"), {}, dace::State{}});
  const std::string test = is_true(condition) ? std::string() : text(condition, e.id);
  OpenEnds after;
  const auto split = [&] {  // the open end is a fresh empty state: test there
    const int at = r.open.front().block;
    if (test.empty()) return;
    r.open.front().condition = test;
    after.push_back({at, negation(test), {}, 1});
  };
  targets_[e.id] = {Target::Kind::kJumpLoop, {}, {}};
  if (test_first) split();
  sequence(c, r, f != nullptr ? f->body : w->body);
  Target t = std::move(targets_[e.id]);
  for (OpenEnd& end : t.continues) r.open.push_back(std::move(end));
  const auto update = [&] {
    if (f != nullptr) set_symbol(c, r, f->variable, f->update, e.id);
  };
  if (!r.open.empty()) {
    if (test_first) {
      update();
    } else {
      if (update_first) update();
      append(r, {unique_label(c, "test"), {}, dace::State{}});
      split();
      if (!update_first) update();
    }
    for (OpenEnd& end : r.open) connect(r, end, head);
  }
  r.open = std::move(after);
  for (OpenEnd& end : t.breaks) r.open.push_back(std::move(end));
}

// ---- branches

void Writer::branch(Context& c, RegionState& r, const ir::Element& e) {
  const auto& i = std::get<ir::If>(e.kind);
  const bool has_else = i.branches.size() > 1 && is_true(i.branches.back().condition);
  if (!jumps_.contains(e.id)) {
    dace::ConditionalBlock b;
    for (std::size_t k = 0; k < i.branches.size(); ++k) {
      dace::ConditionalBlock::Branch out;
      if (!(has_else && k + 1 == i.branches.size())) out.condition = python(text(i.branches[k].condition, e.id));
      region(c, out.body, i.branches[k].body);
      b.branches.push_back(std::move(out));
    }
    append(r, {label_of(c, e, "branch"), {}, std::move(b)});
    return;
  }
  // One question after the other.
  OpenEnds after;
  for (std::size_t k = 0; k < i.branches.size(); ++k) {
    if (!(has_else && k + 1 == i.branches.size())) {
      const int guard = append(r, {label_of(c, e, "branch"), {}, dace::State{}});
      const std::string condition = text(i.branches[k].condition, e.id);
      r.open.clear();
      r.open.push_back({guard, condition, {}, 0});
      OpenEnds otherwise{{guard, negation(condition), {}, 1}};
      sequence(c, r, i.branches[k].body);
      for (OpenEnd& end : r.open) after.push_back(std::move(end));
      r.open = std::move(otherwise);
    } else {
      sequence(c, r, i.branches[k].body);
    }
  }
  for (OpenEnd& end : after) r.open.push_back(std::move(end));
}

// ---- blocks and exits

void Writer::block(Context& c, RegionState& r, const ir::Element& e) {
  const auto& b = std::get<ir::Block>(e.kind);
  if (calls_.contains(e.id)) {
    scope_state(c, r, e);
    return;
  }
  bool looped = false;  // entered more than once in one call of this graph?
  for (const ir::Element* a : path_) {
    if (std::holds_alternative<ir::Map>(a->kind) || std::holds_alternative<ir::Consume>(a->kind) ||
        calls_.contains(a->id))
      looped = false;
    else if (is_loop(*a))
      looped = true;
  }
  declare_locals(c, b.locals, !looped);
  for (const std::string& name : b.locals) {
    const ir::Container& k = g_.containers.at(name);
    if (looped && k.kind == ir::ContainerKind::kStream)
      fail("stream '" + name +
               "' is new in every iteration of a loop that is also left from inside; a file can't say that",
           e.id);
    if (k.zeroed && (looped || !accessed_.contains(name))) zero(c, r, name);
  }
  targets_[e.id] = {Target::Kind::kJumpBlock, {}, {}};
  sequence(c, r, b.body);
  Target t = std::move(targets_[e.id]);
  for (OpenEnd& end : t.breaks) r.open.push_back(std::move(end));
}

void Writer::leave(Context& c, RegionState& r, const ir::Exit& x, const ir::Element& e) {
  const bool is_break = x.kind == ir::Exit::Kind::kBreak;
  const auto found = targets_.find(x.target);
  if (found == targets_.end()) fail("an exit of something that does not enclose it", e.id);
  Target& t = found->second;
  switch (t.kind) {
    case Target::Kind::kRegionLoop:
      append(r, {label_of(c, e, is_break ? "break" : "continue"),
                 {},
                 is_break ? decltype(dace::Block::kind)(dace::BreakBlock{}) : dace::ContinueBlock{}});
      r.open.clear();
      return;
    case Target::Kind::kReturn: end_graph(c, r, e); return;
    case Target::Kind::kJumpLoop:
    case Target::Kind::kJumpBlock: break;
  }
  if (!r.started) append(r, {unique_label(c, "point"), {}, dace::State{}});
  OpenEnds& to = is_break ? t.breaks : t.continues;
  for (OpenEnd& end : r.open) to.push_back(std::move(end));
  r.open.clear();
}

// container = 0, element by element: a file can say "zero" only of the allocation.
void Writer::zero(Context& c, RegionState& r, const std::string& name) {
  const ir::Container& k = g_.containers.at(name);
  if (k.kind != ir::ContainerKind::kScalar && k.kind != ir::ContainerKind::kArray)
    throw Error(ErrorClass::kGraph, "container '" + name +
                                        "' is zero whenever its block is entered, inside a loop; a file "
                                        "can't say that of a " +
                                        std::string(ir::to_string(k.kind)));
  dace::State s;
  const auto add = [&](dace::Node n) {
    n.index = static_cast<int>(s.nodes.size());
    s.nodes.push_back(std::move(n));
    return s.nodes.back().index;
  };
  dace::TaskletNode code;
  code.code = python("out = 0");
  const auto edge = [&](int from, const std::string& out, int to, const std::string& in, const ir::Subset* subset) {
    dace::Edge e;
    e.src = from;
    e.dst = to;
    e.src_connector = out;
    e.dst_connector = in;
    if (subset != nullptr) {
      e.memlet.data = name;
      e.memlet.subset = *subset;
    }
    s.edges.push_back(std::move(e));
  };
  dace::Node tasklet_node;
  tasklet_node.label = "zero_" + name;
  tasklet_node.outputs.push_back({"out", Type()});
  tasklet_node.kind = std::move(code);
  const ir::Subset all = whole(name);
  if (k.rank() == 0) {
    const int t = add(std::move(tasklet_node));
    dace::Node a;
    a.kind = dace::AccessNode{name, false};
    edge(t, "out", add(std::move(a)), "", &all);
  } else {
    dace::MapEntry entry;
    std::vector<symbolic::Range> point;
    for (std::size_t d = 0; d < k.rank(); ++d) {
      std::string p = "z" + std::to_string(d) + "_" + name;
      while (g_.symbols.contains(p) || g_.containers.contains(p)) p += "_";
      entry.map.params.push_back(p);
      c.sdfg.occurrence_types[p] = ScalarType::kInt64;
      point.push_back(symbolic::Range::index(symbolic::Expr::symbol(p)));
    }
    entry.map.range = all;
    const ir::Subset here(point);
    dace::Node en;
    en.label = "zero_" + name;
    en.kind = entry;
    const int first = add(std::move(en));
    const int t = add(std::move(tasklet_node));
    dace::Node ex;
    ex.label = "zero_" + name;
    ex.inputs.push_back({"IN_" + name, Type()});
    ex.outputs.push_back({"OUT_" + name, Type()});
    ex.kind = dace::MapExit{first};
    const int last = add(std::move(ex));
    std::get<dace::MapEntry>(s.nodes[static_cast<std::size_t>(first)].kind).exit = last;
    dace::Node a;
    a.kind = dace::AccessNode{name, false};
    const int target = add(std::move(a));
    edge(first, "", t, "", nullptr);
    edge(t, "out", last, "IN_" + name, &here);
    edge(last, "OUT_" + name, target, "", &all);
  }
  append(r, {unique_label(c, "zero_" + name), {}, std::move(s)});
}

}  // namespace sdfg::io
