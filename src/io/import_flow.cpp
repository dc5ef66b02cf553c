// Regions, loops, branches and interstate assignments of a file as elements.
#include <algorithm>

#include "io/importer.hpp"

namespace sdfg::io {

namespace {

tasklet::Expr yes() {
  return tasklet::Expr::literal(true);
}

tasklet::Expr negation(const tasklet::Expr& e) {
  return tasklet::Expr::unary(tasklet::UnaryOp::kNot, e);
}

// Conditions as they stand, for the question whether one is the negation of the other.
std::optional<symbolic::Expr> plain_condition(const dace::CodeBlock& c) {
  if (c.language != dace::Language::kPython) return std::nullopt;
  try {
    return tasklet::to_symbolic(tasklet::parse_expression(c.text));
  } catch (const Error&) {
    return std::nullopt;  // reported when the condition is translated
  }
}

bool complementary(const dace::CodeBlock& a, const dace::CodeBlock& b) {
  const auto x = plain_condition(a);
  const auto y = plain_condition(b);
  if (x && y) return symbolic::logical_not(*x) == *y || symbolic::logical_not(*y) == *x;
  auto bare = [](std::string s) {
    std::erase_if(s, [](char c) { return c == ' ' || c == '(' || c == ')'; });
    return s;
  };
  return "not" + bare(a.text) == bare(b.text) || "not" + bare(b.text) == bare(a.text);
}

}  // namespace

void Importer::region(const dace::Region& r, const std::string& path, ir::Sequence& out, Scope& scope) {
  const RaiseHooks hooks{
      [](const dace::Block& b) {
        const auto* s = std::get_if<dace::State>(&b.kind);
        return s != nullptr && s->nodes.empty();
      },
      [](const dace::Block& b) {
        return std::holds_alternative<dace::BreakBlock>(b.kind) ||
               std::holds_alternative<dace::ContinueBlock>(b.kind) || std::holds_alternative<dace::ReturnBlock>(b.kind);
      },
      complementary,
  };
  std::map<int, ir::Id> labels;
  flow(raise_control_flow(r, path, hooks), r, out, scope, labels);
}

void Importer::flow(const FlowList& list, const dace::Region& r, ir::Sequence& out, Scope& scope,
                    std::map<int, ir::Id>& labels) {
  for (const FlowNode& n : list) {
    if (const auto* visit = std::get_if<FlowVisit>(&n.kind)) {
      block(r.blocks[static_cast<std::size_t>(visit->block)], out, scope);
    } else if (const auto* a = std::get_if<FlowAssign>(&n.kind)) {
      assign(*a->edge, out, scope);
    } else if (const auto* branch = std::get_if<FlowBranch>(&n.kind)) {
      ir::If i;
      for (const auto& arm : branch->arms) {
        tasklet::Expr condition = arm.condition == nullptr ? yes() : expression(*arm.condition, scope);
        if (arm.negate) condition = negation(condition);
        i.branches.push_back({std::move(condition), {}});
      }
      ir::Element& e = graph_.append(out, std::move(i));
      auto& branches = std::get<ir::If>(e.kind).branches;
      for (std::size_t k = 0; k < branches.size(); ++k) flow(branch->arms[k].body, r, branches[k].body, scope, labels);
    } else if (const auto* label = std::get_if<FlowLabel>(&n.kind)) {
      ir::Element& e = graph_.append(out, ir::Block{});
      labels[label->label] = e.id;
      flow(label->body, r, std::get<ir::Block>(e.kind).body, scope, labels);
    } else if (const auto* l = std::get_if<FlowLoop>(&n.kind)) {
      ir::While w;
      w.condition = l->condition == nullptr ? yes() : expression(*l->condition, scope);
      if (l->negate) w.condition = negation(w.condition);
      ir::Element& e = graph_.append(out, std::move(w));
      labels[l->label] = e.id;
      flow(l->body, r, std::get<ir::While>(e.kind).body, scope, labels);
    } else if (const auto* jump = std::get_if<FlowJump>(&n.kind)) {
      const auto kind = jump->kind == FlowJump::Kind::kBreak ? ir::Exit::Kind::kBreak : ir::Exit::Kind::kContinue;
      graph_.append(out, ir::Exit{kind, labels.at(jump->label)});
    } else if (const auto* d = std::get_if<FlowDispatch>(&n.kind)) {
      dispatch(*d, r, out, scope, labels);
    } else {
      throw Error(ErrorClass::kInternal, "a jump of a dispatch loop outside of one");
    }
  }
}

// Irreducible control flow: the number of the next block is a symbol, a loop picks it.
void Importer::dispatch(const FlowDispatch& d, const dace::Region& r, ir::Sequence& out, Scope& scope,
                        std::map<int, ir::Id>& labels) {
  ir::Symbol next;
  next.name = fresh("next_block");
  next.binder = ir::BinderKind::kAssigned;
  const std::string pc = next.name;
  graph_.symbols.insert(std::move(next));
  auto go = [&](ir::Sequence& to, int block_index) {
    ir::Assign a;
    a.items.push_back({pc, tasklet::Expr::literal(std::int64_t{block_index})});
    graph_.append(to, std::move(a));
  };
  auto compare = [&](tasklet::BinaryOp op, std::int64_t value) {
    return tasklet::Expr::binary(op, tasklet::Expr::name(pc), tasklet::Expr::literal(value));
  };
  go(out, d.start);
  ir::Element& loop_element = graph_.append(out, ir::While{compare(tasklet::BinaryOp::kGreaterEqual, 0), true, {}});
  ir::If choice;
  for (const auto& [index, part] : d.parts) choice.branches.push_back({compare(tasklet::BinaryOp::kEqual, index), {}});
  ir::Element& e = graph_.append(std::get<ir::While>(loop_element.kind).body, std::move(choice));
  auto& branches = std::get<ir::If>(e.kind).branches;
  std::function<void(const FlowList&, ir::Sequence&)> part = [&](const FlowList& list, ir::Sequence& to) {
    for (const FlowNode& n : list) {
      if (const auto* target = std::get_if<FlowGoto>(&n.kind)) {
        go(to, target->block);
      } else if (const auto* branch = std::get_if<FlowBranch>(&n.kind)) {
        ir::If i;
        for (const auto& arm : branch->arms)
          i.branches.push_back({arm.condition == nullptr ? yes() : expression(*arm.condition, scope), {}});
        ir::Element& inner = graph_.append(to, std::move(i));
        auto& arms = std::get<ir::If>(inner.kind).branches;
        for (std::size_t k = 0; k < arms.size(); ++k) part(branch->arms[k].body, arms[k].body);
      } else {
        FlowList one;
        one.push_back(n);
        flow(one, r, to, scope, labels);
      }
    }
  };
  for (std::size_t k = 0; k < d.parts.size(); ++k) part(d.parts[k].second, branches[k].body);
}

void Importer::block(const dace::Block& b, ir::Sequence& out, Scope& scope) {
  if (const auto* s = std::get_if<dace::State>(&b.kind)) {
    state(*s, b, out, scope);
  } else if (const auto* r = std::get_if<dace::Region>(&b.kind)) {
    region(*r, b.path, out, scope);
  } else if (const auto* l = std::get_if<dace::LoopBlock>(&b.kind)) {
    loop(*l, b, out, scope);
  } else if (const auto* c = std::get_if<dace::ConditionalBlock>(&b.kind)) {
    conditional(*c, b, out, scope);
  } else if (std::holds_alternative<dace::ReturnBlock>(b.kind)) {
    if (scope.return_block != 0)
      graph_.append(out, ir::Exit{ir::Exit::Kind::kBreak, scope.return_block}, b.label);
    else
      graph_.append(out, ir::Return{}, b.label);
  } else {
    const bool is_break = std::holds_alternative<dace::BreakBlock>(b.kind);
    if (scope.loops.empty())
      throw Error(ErrorClass::kGraph, std::string(is_break ? "break" : "continue") + " '" + b.label +
                                          "' is in no loop (at " + b.path + ")");
    const Scope::Loop& target = scope.loops.back();
    if (is_break)
      graph_.append(out, ir::Exit{ir::Exit::Kind::kBreak, target.break_target}, b.label);
    else
      graph_.append(out,
                    ir::Exit{target.continue_is_break ? ir::Exit::Kind::kBreak : ir::Exit::Kind::kContinue,
                             target.continue_target},
                    b.label);
  }
}

namespace {

bool mentions(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    auto word = [&](std::size_t i) {
      return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
    };
    if (!(at > 0 && word(at - 1)) && !word(at + name.size())) return true;
  }
  return false;
}

}  // namespace

const std::set<std::string, std::less<>>& Importer::outside_loops(const dace::Sdfg& g) {
  const auto [it, inserted] = outside_loops_.try_emplace(&g);
  if (inserted) it->second = used_outside_loops(g.body);
  return it->second;
}

void Importer::loop(const dace::LoopBlock& l, const dace::Block& b, ir::Sequence& out, Scope& scope) {
  // "i = 0": the value of a statement that must assign the loop's variable.
  auto statement_value = [&](const dace::CodeBlock& c) -> tasklet::Expr {
    const tasklet::Body body = tasklet::parse_body(c.text);
    if (body.size() == 1) {
      if (const auto* a = std::get_if<tasklet::Assign>(&body[0].node)) {
        const auto* target = std::get_if<tasklet::Name>(&a->target.node());
        if (target != nullptr && target->name == l.variable) return a->value;
      } else if (const auto* u = std::get_if<tasklet::Update>(&body[0].node)) {
        const auto* target = std::get_if<tasklet::Name>(&u->target.node());
        if (target != nullptr && target->name == l.variable) return tasklet::Expr::binary(u->op, u->target, u->value);
      }
    }
    throw Error(ErrorClass::kGraph, "loop '" + b.label + "' has the statement '" + c.text +
                                        "', which does not assign its variable '" + l.variable + "' (at " + c.path +
                                        ")");
  };
  const bool counted = !l.variable.empty() && l.init && l.update && !is_float_symbol(l.variable, scope);
  const bool own_variable =
      counted && !outside_loops(*scope.sdfg).contains(l.variable) && !dace::bound_symbols(l.body).contains(l.variable);
  if (own_variable) {
    ir::For f;
    f.init = resolved(statement_value(*l.init), scope, b.path);
    ir::Symbol s;
    s.name = fresh(l.variable);
    s.label = l.variable;
    s.type = symbol_type(l.variable, scope);
    s.binder = ir::BinderKind::kLoopVariable;
    f.variable = s.name;
    const auto shadowed =
        scope.symbols.find(l.variable) == scope.symbols.end() ? std::nullopt : std::optional(scope.symbols[l.variable]);
    scope.symbols[l.variable] = symbolic::Expr::symbol(s.name);
    graph_.symbols.insert(std::move(s));
    f.condition = expression(l.condition, scope);
    f.update = resolved(statement_value(*l.update), scope, b.path);
    f.form = !l.inverted                 ? ir::LoopForm::kTestFirst
             : l.update_before_condition ? ir::LoopForm::kUpdateThenTest
                                         : ir::LoopForm::kTestThenUpdate;
    f.unroll = l.unroll;
    f.unroll_factor = l.unroll_factor;
    ir::Element& e = graph_.append(out, std::move(f), b.label);
    scope.loops.push_back({e.id, e.id, false});
    region(l.body, b.path, std::get<ir::For>(e.kind).body, scope);
    scope.loops.pop_back();
    if (shadowed)
      scope.symbols[l.variable] = *shadowed;
    else
      scope.symbols.erase(l.variable);
    return;
  }
  // init; while (...) { { body } update; }: the variable is an assigned symbol that lives on after the loop.
  auto set_variable = [&](const dace::CodeBlock& c, ir::Sequence& to) {
    const tasklet::Expr value = resolved(statement_value(c), scope, b.path);
    if (is_float_symbol(l.variable, scope)) {
      assign_scalar(float_scalar(l.variable, scope), value, to, {});
      return;
    }
    ir::Assign a;
    const std::string symbol = assigned_symbol(l.variable, scope);
    a.items.push_back({symbol, value});
    graph_.append(to, std::move(a), b.label);
  };
  if (l.init) set_variable(*l.init, out);
  const bool inverted_test_first = l.inverted && !l.update_before_condition;
  ir::While w;
  w.test_first = !l.inverted || inverted_test_first;
  w.condition = inverted_test_first ? yes() : expression(l.condition, scope);
  ir::Element& e = graph_.append(out, std::move(w), b.label);
  ir::Sequence& body = std::get<ir::While>(e.kind).body;
  if (l.update || inverted_test_first) {
    ir::Element& inner = graph_.append(body, ir::Block{}, b.label);
    scope.loops.push_back({e.id, inner.id, true});
    region(l.body, b.path, std::get<ir::Block>(inner.kind).body, scope);
    scope.loops.pop_back();
    if (inverted_test_first) {
      ir::If leave;
      leave.branches.push_back({negation(expression(l.condition, scope)), {}});
      ir::Element& test = graph_.append(body, std::move(leave));
      graph_.append(std::get<ir::If>(test.kind).branches[0].body, ir::Exit{ir::Exit::Kind::kBreak, e.id});
    }
    if (l.update) set_variable(*l.update, body);
  } else {
    scope.loops.push_back({e.id, e.id, false});
    region(l.body, b.path, body, scope);
    scope.loops.pop_back();
  }
}

void Importer::conditional(const dace::ConditionalBlock& c, const dace::Block& b, ir::Sequence& out, Scope& scope) {
  ir::If i;
  for (const auto& branch : c.branches)
    i.branches.push_back({branch.condition ? expression(*branch.condition, scope) : yes(), {}});
  if (i.branches.empty()) return;
  ir::Element& e = graph_.append(out, std::move(i), b.label);
  auto& branches = std::get<ir::If>(e.kind).branches;
  for (std::size_t k = 0; k < branches.size(); ++k) region(c.branches[k].body, b.path, branches[k].body, scope);
}

void Importer::assign(const dace::InterstateEdge& e, ir::Sequence& out, Scope& scope) {
  ir::Assign a;
  std::vector<std::pair<std::string, tasklet::Expr>> scalars;
  std::vector<std::pair<std::string, tasklet::Expr>> values;
  for (const auto& [symbol, text] : e.assignments) {
    for (const auto& [other, unused] : e.assignments) {
      if (other != symbol && mentions(text, other)) {
        throw Error(ErrorClass::kGraph, "the assignment of '" + symbol + "' reads '" + other +
                                            "', which the same edge assigns (at " + e.path + ")");
      }
    }
    values.emplace_back(symbol, expression(text, e.path, scope));
  }
  for (const auto& [symbol, value] : values) {
    if (is_float_symbol(symbol, scope)) {
      scalars.emplace_back(float_scalar(symbol, scope), value);
    } else {
      a.items.push_back({assigned_symbol(symbol, scope), value});
    }
  }
  // Right-hand sides of one edge don't read what the edge assigns (a rule of the format), so the order is free.
  for (const auto& [container, value] : scalars) assign_scalar(container, value, out, {});
  if (!a.items.empty()) graph_.append(out, std::move(a));
}

// The Scalar behind a floating symbol; made at the first assignment.
const std::string& Importer::float_scalar(const std::string& symbol, Scope& scope) {
  if (auto it = scope.float_symbols.find(symbol); it != scope.float_symbols.end()) return it->second;
  ir::Container c;
  c.name = fresh(symbol);
  c.label = symbol;
  c.kind = ir::ContainerKind::kScalar;
  c.type = symbol_type(symbol, scope);
  c.transient = true;
  const std::string& name = scope.float_symbols.emplace(symbol, c.name).first->second;
  to_place_.insert(name);
  graph_.containers.insert(std::move(c));
  return name;
}

// container = value, as a state: each element read becomes a connector.
void Importer::assign_scalar(const std::string& container, const tasklet::Expr& value, ir::Sequence& out,
                             const SourceLocation& location) {
  ir::State s;
  ir::Tasklet t;
  std::vector<std::pair<tasklet::Expr, std::string>> reads;
  std::vector<ir::Memlet> inputs;
  std::function<tasklet::Expr(const tasklet::Expr&)> lift = [&](const tasklet::Expr& e) -> tasklet::Expr {
    if (const auto* sub = std::get_if<tasklet::Subscript>(&e.node())) {
      for (const auto& [known, connector] : reads) {
        if (known == e) return tasklet::Expr::name(connector);
      }
      std::vector<symbolic::Expr> indices;
      for (const tasklet::Expr& i : e.children()) {
        auto index = tasklet::to_symbolic(i);
        if (!index || symbolic::has_reads(*index))
          throw Error(ErrorClass::kGraph, "the index '" + tasklet::to_python(i) + "' of '" + sub->base +
                                              "' is itself read from a container, which is not supported here");
        indices.push_back(*index);
      }
      const std::string connector = "in" + std::to_string(reads.size());
      reads.emplace_back(e, connector);
      t.inputs.push_back({connector, Type()});
      ir::Node n;
      n.id = graph_.new_id();
      n.kind = ir::Access{sub->base};
      ir::Memlet m;
      m.src = n.id;
      m.dst_connector = connector;
      m.src_subset = ir::Subset::index(indices);
      inputs.push_back(std::move(m));
      s.nodes.push_back(std::move(n));
      return tasklet::Expr::name(connector);
    }
    std::vector<tasklet::Expr> children;
    for (const tasklet::Expr& c : e.children()) children.push_back(lift(c));
    return children.empty() ? e : e.with_children(std::move(children));
  };
  tasklet::Statement st;
  st.node = tasklet::Assign{tasklet::Expr::name("out"), lift(value)};
  t.code.body.push_back(std::move(st));
  t.outputs.push_back({"out", Type()});
  ir::Node code;
  code.id = graph_.new_id();
  code.label = container;
  code.location = location;
  code.kind = std::move(t);
  const ir::Id id = code.id;
  s.nodes.push_back(std::move(code));
  ir::Node target;
  target.id = graph_.new_id();
  target.kind = ir::Access{container};
  ir::Memlet write;
  write.id = graph_.new_id();
  write.src = id;
  write.src_connector = "out";
  write.dst = target.id;
  write.dst_subset = ir::Subset();
  s.nodes.push_back(std::move(target));
  for (ir::Memlet& m : inputs) {
    m.id = graph_.new_id();
    m.dst = id;
    s.edges.push_back(std::move(m));
  }
  s.edges.push_back(std::move(write));
  graph_.append(out, std::move(s));
}

}  // namespace sdfg::io
