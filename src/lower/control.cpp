// Lowers control flow: sequences, assignments, blocks, loops, branches, maps and the ways out of them.
#include <algorithm>

#include "analysis/work.hpp"
#include "lower/lowering.hpp"

namespace sdfg::lower {

namespace {

using symbolic::Expr;

template <typename T>
struct Restore {
  T& place;
  T old;
  explicit Restore(T& p) : place(p), old(p) {}
  ~Restore() { place = old; }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;
};

// What makes a step provably positive: bounds of the parameters in it.
std::string positive_step_hint(const ir::Graph& g, const Expr& step) {
  std::string bounds;
  for (const std::string& name : symbolic::free_symbols(step)) {
    const ir::Symbol* s = g.symbols.find(name);
    if (s == nullptr || s->binder != ir::BinderKind::kParameter) continue;
    bounds += (bounds.empty() ? "g.symbol(\"" : ", g.symbol(\"") + name + "\", {.lower = 1})";
  }
  if (bounds.empty()) return "use a constant step, and compute the index from the parameter in the body";
  return "declare a lower bound with which it is positive, as in " + bounds + ", or use a constant step";
}

constexpr const char* kOwnStepHint = "put the dimension with this step into a map of its own, inside the other";

}  // namespace

void Lowering::sequence(const ir::Sequence& s) {
  for (const auto& item : s.items) element(*item);
}

bool Lowering::is_timed(const ir::Element& e) const {
  if (!options_.trace || ordinal(e.id) < 0) return false;
  for (const ir::Element* outer : path_) {
    // One report per outermost element: what is inside of a map is the map's time, an expansion is its node's.
    if (std::holds_alternative<ir::Map>(outer->kind) || std::holds_alternative<ir::Consume>(outer->kind)) return false;
    if (std::holds_alternative<ir::Block>(outer->kind) && is_expansion(*outer)) return false;
  }
  if (const auto* s = std::get_if<ir::State>(&e.kind)) return !s->nodes.empty();
  return std::holds_alternative<ir::Map>(e.kind) || std::holds_alternative<ir::Consume>(e.kind) || is_expansion(e);
}

// The block that took a library node's place has its id (library/expand.cpp), and nothing inside is of the calling
// graph.
bool Lowering::is_expansion(const ir::Element& e) const {
  const auto* b = std::get_if<ir::Block>(&e.kind);
  if (b == nullptr || b->body.items.empty() || ordinal(e.id) < 0) return false;
  bool known = false;
  ir::walk(b->body, [&](const ir::Element& inner, const ir::Ancestors&) { known = known || ordinal(inner.id) >= 0; });
  return !known;
}

void Lowering::element(const ir::Element& e) {
  if (!is_timed(e)) {
    untimed_element(e);
    return;
  }
  needs_call_ = true;
  Declare d;
  d.type = "int64_t";
  d.name = names_.fresh("begin");
  d.init = "sdfg_abi->clock()";
  d.is_const = true;
  const Text begin = d.name;
  emit(std::move(d), e.id);
  untimed_element(e);
  emit(Evaluate{"sdfg_abi->trace(call, " + std::to_string(ordinal(e.id)) + ", " + begin + ", sdfg_abi->clock())"},
       e.id);
}

void Lowering::untimed_element(const ir::Element& e) {
  path_.push_back(&e);
  if (kernel_ == nullptr) issue_before(e);
  std::visit(
      [&](const auto& kind) {
        using T = std::decay_t<decltype(kind)>;
        if constexpr (std::is_same_v<T, ir::State>) {
          state(e, kind);
        } else if constexpr (std::is_same_v<T, ir::Assign>) {
          assign(e, kind);
        } else if constexpr (std::is_same_v<T, ir::Block>) {
          block(e, kind);
        } else if constexpr (std::is_same_v<T, ir::For>) {
          loop(e, kind);
        } else if constexpr (std::is_same_v<T, ir::While>) {
          while_loop(e, kind);
        } else if constexpr (std::is_same_v<T, ir::If>) {
          branch(e, kind);
        } else if constexpr (std::is_same_v<T, ir::Map>) {
          map(e, kind);
        } else if constexpr (std::is_same_v<T, ir::Consume>) {
          consume(e, kind);
        } else if constexpr (std::is_same_v<T, ir::Exit>) {
          leave(e, kind);
        } else {
          static_assert(std::is_same_v<T, ir::Return>);
          if (parallel_depth_ > 0) unsupported(e.id, "a return inside a parallel map");
          emit(Return{}, e.id);
        }
      },
      e.kind);
  if (kernel_ == nullptr) issue_after(e);
  path_.pop_back();
  facts_.erase(facts_.upper_bound(path_.size()), facts_.end());
}

Text Lowering::symbol_type(std::string_view name) const {
  const ir::Symbol* s = g_.symbols.find(name);
  // Integers of every width live in 64 bits, so that index arithmetic never wraps early; what is assigned is cut to the
  // symbol's type.
  return s && s->type.is_scalar() && s->type.scalar() == ScalarType::kBool ? "bool" : "int64_t";
}

std::optional<symbolic::Expr> Lowering::exact_view(const tasklet::Expr& e) const {
  auto view = tasklet::to_symbolic(e);
  if (!view || symbolic::has_reads(*view) || symbolic::has_calls(*view)) return std::nullopt;
  for (const std::string& name : symbolic::free_symbols(*view)) {
    const ir::Symbol* s = g_.symbols.find(name);
    if (s && s->type.is_scalar() && s->type.scalar() != ScalarType::kInt64 && s->type.scalar() != ScalarType::kBool)
      return view;
  }
  return std::nullopt;  // nothing to gain: the user's own spelling reads better
}

Text Lowering::symbol_value(const tasklet::Expr& e, const Type& type) {
  const bool narrow = type.is_scalar() && is_integer(type.scalar()) && type.scalar() != ScalarType::kInt64;
  if (const auto view = exact_view(e); view && narrow) {
    const auto constant = view->constant();
    if (view->kind() == symbolic::Kind::kSymbol || (constant && *constant >= 0 && *constant < 128)) return expr(*view);
    return "(" + type_text(type) + ")" + parenthesised(expr(*view));
  }
  const Text text = code_as(typed(e), type);
  const bool plain = !text.empty() && text.find_first_not_of("0123456789") == Text::npos && text.size() < 3;
  return narrow && !plain ? "(" + type_text(type) + ")" + parenthesised(text) : text;
}

Text Lowering::control_condition(const tasklet::Expr& e) {
  if (const auto view = exact_view(e); view && view->is_boolean_valued()) return expr(*view);
  return condition(e);
}

void Lowering::declare_symbols(ir::Id map) {
  for (const std::string& name : uses_.declared_in(map)) {
    Declare d;
    d.type = symbol_type(name);
    d.name = names_.of(name);
    d.init = "0";
    emit(std::move(d));
  }
}

void Lowering::assign(const ir::Element& e, const ir::Assign& a) {
  std::vector<Text> values;
  for (const ir::Assign::Item& item : a.items) {
    const ir::Symbol* s = g_.symbols.find(item.symbol);
    values.push_back(symbol_value(item.value, s ? s->type : Type(ScalarType::kInt64)));
  }
  // Right-hand sides are read before anything is written: a value that reads a symbol assigned earlier in the list is
  // kept first.
  std::vector<bool> keep(a.items.size(), false);
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    const tasklet::Uses uses = tasklet::uses_of(a.items[i].value);
    for (std::size_t k = 0; k < i; ++k) {
      const auto reads = [&](const std::vector<std::string>& list) {
        return std::ranges::find(list, a.items[k].symbol) != list.end();
      };
      keep[i] = keep[i] || reads(uses.read) || reads(uses.called);
    }
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!keep[i]) continue;
    Declare d;
    d.type = symbol_type(a.items[i].symbol);
    d.name = names_.fresh(names_.of(a.items[i].symbol) + "_next");
    d.init = values[i];
    d.is_const = true;
    values[i] = d.name;
    emit(std::move(d), e.id);
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    const std::string& symbol = a.items[i].symbol;
    if (uses_.bound_once(symbol)) {
      Declare d;
      d.type = symbol_type(symbol);
      d.name = names_.of(symbol);
      d.init = values[i];
      d.is_const = true;
      emit(std::move(d), e.id, comment_text(e.label));
    } else {
      emit(Store{names_.of(symbol), "=", values[i]}, e.id, comment_text(e.label));
    }
  }
}

Statements Lowering::target_body(Target& t, const ir::Element& e, const ir::Sequence& body, ir::Id declare_for) {
  targets_.push_back(&t);
  Statements inner = collect([&] {
    if (declare_for != 0) declare_symbols(declare_for);
    sequence(body);
  });
  targets_.pop_back();
  if (!t.next_used) return inner;
  // Braces, so that no jump to the label passes a declaration.
  Statements labelled;
  labelled.push_back(statement(Scope{std::move(inner)}, ordinal(e.id)));
  labelled.push_back(statement(Label{t.next}, ordinal(e.id)));
  return labelled;
}

void Lowering::leave_label(const Target& t) {
  if (t.leave_used) emit(Label{t.leave}, t.id);
}

void Lowering::block(const ir::Element& e, const ir::Block& b) {
  Target t;
  t.id = e.id;
  bool braces = false;
  const Restore<std::int64_t> stack(stack_bytes_);  // what a finished block had on the stack is free again
  const Restore<std::set<Text, std::less<>>> extents(checked_extents_);
  targets_.push_back(&t);
  Statements inner = collect([&] {
    declare_containers(b.locals, braces);
    sequence(b.body);
  });
  targets_.pop_back();
  if (braces || t.leave_used) {
    emit(Scope{std::move(inner)}, e.id, comment_text(e.label));
    leave_label(t);
  } else {
    for (Statement& s : inner) out_->push_back(std::move(s));
  }
}

void Lowering::leave(const ir::Element& e, const ir::Exit& x) {
  bool innermost = true;  // no C loop lies between here and the target
  for (auto it = targets_.rbegin(); it != targets_.rend(); ++it) {
    Target& t = **it;
    if (t.id != x.target) {
      innermost = innermost && !t.is_loop;
      continue;
    }
    const bool is_break = x.kind == ir::Exit::Kind::kBreak;
    if (is_break) {
      if (t.is_loop && innermost) {
        emit(Break{}, e.id);
        return;
      }
      if (!t.leave_used) t.leave = names_.fresh("leave");
      t.leave_used = true;
      emit(Goto{t.leave}, e.id);
      return;
    }
    if (t.is_loop && innermost && t.plain_continue) {
      emit(Continue{}, e.id);
      return;
    }
    if (!t.next_used) t.next = names_.fresh("next");
    t.next_used = true;
    emit(Goto{t.next}, e.id);
    return;
  }
  throw Error(ErrorClass::kInternal, "an exit of '" + e.label + "' leaves nothing that encloses it",
              ir::places_of(g_, e.id));
}

void Lowering::emit_failure_exit(ir::Id origin) {
  needs_call_ = true;
  for (auto it = targets_.rbegin(); it != targets_.rend(); ++it) {
    Target& t = **it;
    if (!t.parallel) continue;
    if (!t.next_used) t.next = names_.fresh("next");
    t.next_used = true;
    emit(Goto{t.next}, origin);
    return;
  }
  emit(Return{}, origin);
}

void Lowering::check_failed(const Text& condition, ir::Id origin, Statements before) {
  if (kernel_ != nullptr) return;  // a kernel has nobody to report to; what can be checked before its launch is
  Statements body = collect([&] {
    for (Statement& s : before) out_->push_back(std::move(s));
    emit_failure_exit(origin);
  });
  If test;
  test.branches.push_back({condition, std::move(body)});
  emit(std::move(test), origin);
}

void Lowering::loop(const ir::Element& e, const ir::For& f) {
  if (const auto repetition = repetition_of(f)) {
    repeated_loop(e, f, *repetition);
    return;
  }
  const Text variable = names_.of(f.variable);
  const Text type = symbol_type(f.variable);
  const ir::Symbol* symbol = g_.symbols.find(f.variable);
  const Type symbol_is = symbol ? symbol->type : Type(ScalarType::kInt64);
  const Text update = symbol_value(f.update, symbol_is);
  const auto text_condition = [&] { return control_condition(f.condition); };
  LoopHints hints;
  hints.unroll = f.unroll;
  hints.unroll_factor = f.unroll_factor;
  Target t;
  t.id = e.id;
  t.is_loop = true;
  const Text comment = comment_text(e.label);
  switch (f.form) {
    case ir::LoopForm::kTestFirst: {
      GeneralFor out;
      out.type = type;
      out.variable = variable;
      out.init = symbol_value(f.init, symbol_is);
      out.condition = text_condition();
      out.update = variable + " = " + update;
      if (const auto next = tasklet::to_symbolic(f.update)) {
        const auto affine = symbolic::affine_in(*next, f.variable);
        if (affine && affine->slope.is_one() && affine->rest.constant() &&
            (size_of(symbol_is.scalar()) == 8 || ir::canonical(f))) {
          const std::int64_t by = *affine->rest.constant();
          if (by == 1) {
            out.update = "++" + variable;
          } else if (by == -1) {
            out.update = "--" + variable;
          } else if (by < 0 && by != INT64_MIN) {
            out.update = variable + " -= " + std::to_string(-by);
          } else {
            out.update = variable + " += " + expr(*affine->rest.constant());
          }
        }
      }
      out.hints = hints;
      out.body = target_body(t, e, f.body, 0);
      emit(std::move(out), e.id, comment == variable ? Text() : comment);
      leave_label(t);
      return;
    }
    case ir::LoopForm::kUpdateThenTest: {
      t.plain_continue = false;  // C's continue would skip the update
      Statements inner = collect([&] {
        Declare d;
        d.type = type;
        d.name = variable;
        d.init = symbol_value(f.init, symbol_is);
        emit(std::move(d), e.id);
        While out;
        out.test_first = false;
        out.body = target_body(t, e, f.body, 0);
        out.body.push_back(statement(Store{variable, "=", update}, ordinal(e.id)));
        out.condition = text_condition();
        emit(std::move(out), e.id, comment);
        leave_label(t);
      });
      emit(Scope{std::move(inner)}, e.id);
      return;
    }
    case ir::LoopForm::kTestThenUpdate: {
      t.plain_continue = false;  // C's continue would skip the test
      GeneralFor out;
      out.type = type;
      out.variable = variable;
      out.init = symbol_value(f.init, symbol_is);
      out.update = variable + " = " + update;
      out.body = target_body(t, e, f.body, 0);
      If test;
      Statements stop;
      stop.push_back(statement(Break{}, ordinal(e.id)));
      test.branches.push_back({"!" + parenthesised(text_condition()), std::move(stop)});
      out.body.push_back(statement(std::move(test), ordinal(e.id)));
      emit(std::move(out), e.id, comment);
      leave_label(t);
      return;
    }
  }
}

void Lowering::while_loop(const ir::Element& e, const ir::While& w) {
  Target t;
  t.id = e.id;
  t.is_loop = true;
  While out;
  out.test_first = w.test_first;
  out.condition = control_condition(w.condition);
  out.body = target_body(t, e, w.body, 0);
  emit(std::move(out), e.id, comment_text(e.label));
  leave_label(t);
}

void Lowering::branch(const ir::Element& e, const ir::If& i) {
  If out;
  const auto is_true = [](const tasklet::Expr& c) {
    const auto* literal = std::get_if<tasklet::Literal>(&c.node());
    return literal && std::holds_alternative<bool>(literal->value) && std::get<bool>(literal->value);
  };
  for (std::size_t k = 0; k < i.branches.size(); ++k) {
    const bool is_else = is_true(i.branches[k].condition);
    Statements body = collect([&] { sequence(i.branches[k].body); });
    if (is_else && k == 0) {
      emit(Scope{std::move(body)}, e.id, comment_text(e.label));
      return;
    }
    out.branches.push_back({is_else ? Text() : control_condition(i.branches[k].condition), std::move(body)});
    if (is_else) break;
  }
  while (!out.branches.empty() && out.branches.back().condition.empty() && out.branches.back().body.empty())
    out.branches.pop_back();
  if (!out.branches.empty()) emit(std::move(out), e.id, comment_text(e.label));
}

std::optional<Text> Lowering::fork_condition(const ir::Map& m) {
  if (options_.parallel_min_work <= 0) return std::nullopt;
  const auto work = analysis::work_of(m, facts());
  if (!work) return std::nullopt;
  if (work->size() == 1 && work->front().constant())
    return std::nullopt;  // weighed by the pass that chose the schedule
  Text product;
  for (const Expr& f : *work)
    product += (product.empty() ? "" : " * ") + (work->size() == 1 ? expr(f) : parenthesised(expr(f)));
  return product + " > " + std::to_string(options_.parallel_min_work);
}

void Lowering::map(const ir::Element& e, const ir::Map& m) {
  switch (m.schedule) {
    case ir::Schedule::kDefault:
    case ir::Schedule::kSequential:
    case ir::Schedule::kParallel: break;
    case ir::Schedule::kDevice:
      if (kernel_ == nullptr) {
        launch(e, m);
        return;
      }
      unsupported(e.id, "a kernel inside another");
    case ir::Schedule::kThreadBlock:
      if (kernel_ != nullptr && !kernel_->in_thread_block) {
        thread_block_map(e, m);
        return;
      }
      [[fallthrough]];
    case ir::Schedule::kWarp:
      if (kernel_ != nullptr && kernel_->in_thread_block) {
        warp_map(e, m);
        return;
      }
      unsupported(e.id, "a map of schedule '" + std::string(ir::to_string(m.schedule)) + "' in host code");
  }
  // The runtime has no nested teams: a parallel map inside another one runs in order.
  const bool parallel =
      m.schedule == ir::Schedule::kParallel && parallel_depth_ == 0 && options_.openmp && kernel_ == nullptr;
  const std::size_t rank = m.params.size();
  std::size_t collapse = 1;
  if (parallel) {
    const std::size_t wish = m.collapse > 0 ? static_cast<std::size_t>(m.collapse) : rank;
    // OpenMP shares out rectangular nests only.
    const auto rectangular = [&](std::size_t d) {
      for (std::size_t p = 0; p < d; ++p) {
        const ir::Range& r = m.ranges[d];
        if (depends_on(r.begin, m.params[p]) || depends_on(r.end, m.params[p]) || depends_on(r.step, m.params[p]))
          return false;
      }
      return true;
    };
    while (collapse < rank && collapse < wish && rectangular(collapse)) ++collapse;
  }
  for (const ir::Range& r : m.ranges) {
    if (symbolic::is_positive(r.step, facts()) == symbolic::Truth::kYes) continue;
    bool uses_own = false;
    for (const std::string& p : m.params) uses_own = uses_own || depends_on(r.step, p);
    if (uses_own) unsupported(e.id, "a step that depends on the map's own parameters", kOwnStepHint);
    if (kernel_ != nullptr)
      unsupported(e.id, "a step that may not be positive: " + r.step.str(), positive_step_hint(g_, r.step));
    support_.need(Helper::kFail);
    const Text step = expr(r.step);
    Statements report;
    report.push_back(
        statement(Evaluate{"sdfg_fail(call, 5, " + std::to_string(ordinal(e.id)) + ", " + step + ")"}, ordinal(e.id)));
    check_failed(parenthesised(step) + " <= 0", e.id, std::move(report));
  }

  const bool simd = m.simd && options_.openmp && options_.opt_level > 0 && kernel_ == nullptr;
  std::vector<LoopHints> hints(rank);
  if (parallel) {
    hints[0].parallel = true;
    hints[0].collapse = static_cast<int>(collapse);
    hints[0].num_threads = m.num_threads;
    switch (m.omp_schedule) {
      case ir::OmpSchedule::kDefault: break;
      case ir::OmpSchedule::kStatic: hints[0].schedule = "static"; break;
      case ir::OmpSchedule::kDynamic: hints[0].schedule = "dynamic"; break;
      case ir::OmpSchedule::kGuided: hints[0].schedule = "guided"; break;
    }
    if (!hints[0].schedule.empty() && m.omp_chunk > 0) hints[0].schedule += ", " + std::to_string(m.omp_chunk);
    if (const auto fork = fork_condition(m)) hints[0].condition = *fork;
    unit_.uses_openmp = true;
  }
  const std::size_t simd_loop = parallel && collapse == rank ? 0 : rank - 1;
  if (simd) {
    hints[simd_loop].simd = true;
    unit_.uses_openmp = true;
  }
  if (m.unroll && !parallel && !simd) {
    hints[rank - 1].unroll = true;
  }

  LoopHints clauses;
  const std::vector<Accumulator> accumulators = open_accumulators(e, m, clauses, parallel || simd);
  if (parallel) hints[0].reductions = clauses.reductions;
  if (simd && simd_loop != 0) hints[simd_loop].reductions = clauses.reductions;
  if (simd && !parallel) hints[simd_loop].reductions = clauses.reductions;

  Target t;
  t.id = e.id;
  t.is_loop = true;
  t.parallel = parallel;
  // C's continue goes on with the innermost loop, which is the next iteration of the map.
  if (parallel) ++parallel_depth_;
  Statements body = target_body(t, e, m.body, e.id);
  const bool can_fail = parallel && t.next_used;
  if (can_fail) {
    support_.need(Helper::kFailed);
    Statements guarded;
    If stop;
    Statements skip;
    skip.push_back(statement(Continue{}, ordinal(e.id)));
    stop.branches.push_back({"sdfg_failed(call)", std::move(skip)});
    guarded.push_back(statement(std::move(stop), ordinal(e.id)));
    for (Statement& s : body) guarded.push_back(std::move(s));
    body = std::move(guarded);
  }
  if (parallel) --parallel_depth_;

  std::string params;
  for (const std::string& p : m.params) params += (params.empty() ? "" : ", ") + p;
  const Text comment = e.label == params ? Text() : comment_text(e.label);  // the loops show their own variables
  for (std::size_t d = rank; d-- > 0;) {
    const ir::Range& r = m.ranges[d];
    For f;
    f.type = "int64_t";
    f.variable = names_.of(m.params[d]);
    f.begin = expr(r.begin);
    const Expr past = r.end + 1;
    const Text inclusive = expr(r.end);
    const Text exclusive = expr(past);
    const bool less = exclusive.size() <= inclusive.size() || past.constant();
    f.comparison = less ? Comparison::kLess : Comparison::kLessEqual;
    f.bound = less ? exclusive : inclusive;
    f.step = expr(r.step);
    f.hints = hints[d];
    f.body = std::move(body);
    body.clear();
    body.push_back(statement(std::move(f), ordinal(e.id), d == 0 ? comment : Text()));
  }
  for (Statement& s : body) out_->push_back(std::move(s));
  if (t.leave_used) emit(Label{t.leave}, e.id);
  close_accumulators(accumulators, e);
  if (can_fail) check_failed("sdfg_failed(call)", e.id);
}

// Each worker pops until nothing is left and nobody is working who could still push. `busy` counts those between a pop
// and the end of its body; it is raised before the pop, so that a worker who sees zero and an empty stream has seen
// everything.
void Lowering::consume(const ir::Element& e, const ir::Consume& c) {
  if (c.chunk_size != 1)
    unsupported(e.id, "a consume scope with chunks of " + std::to_string(c.chunk_size) + " elements");
  const ir::Container& stream = container(c.stream);
  const ir::Container& popped = container(c.element);
  if (!popped.is_scalar()) unsupported(e.id, "a consume scope whose element is no scalar");
  const bool parallel =
      c.schedule == ir::Schedule::kParallel && parallel_depth_ == 0 && options_.openmp && !c.num_workers.is_one();
  needs_call_ = true;
  support_.need(Helper::kFailed);
  if (!is_single_queue(stream))
    unsupported(e.id, "a consume scope over all queues of the stream '" + stream.name + "'");
  const Text queue = queue_at(c.stream, {}, e.id);
  const Text busy = names_.fresh("busy");
  const Text name = names_.of(c.element);

  Target t;
  t.id = e.id;
  t.is_loop = true;
  t.parallel = parallel;
  t.plain_continue = false;  // the count of busy workers goes down at the end of every body
  if (parallel) ++parallel_depth_;
  Statements loop_body = collect([&] {
    Statements stop;
    stop.push_back(statement(Break{}, ordinal(e.id)));
    If failed;
    failed.branches.push_back({c.condition ? "sdfg_failed(call) || " + parenthesised(control_condition(*c.condition))
                                           : Text("sdfg_failed(call)"),
                               stop});
    emit(std::move(failed), e.id);
    if (parallel) emit(Evaluate{"__atomic_fetch_add(&" + busy + ", 1, __ATOMIC_SEQ_CST)"}, e.id);
    Declare d;
    d.type = type_text(popped.type);
    d.name = name;
    d.init = "{}";
    emit(std::move(d), e.id);
    If empty;
    Statements idle = collect([&] {
      if (!parallel) {
        emit(Break{}, e.id);
        return;
      }
      If done;
      done.branches.push_back(
          {"__atomic_sub_fetch(&" + busy + ", 1, __ATOMIC_SEQ_CST) == 0 && sdfg_abi->stream_size(" + queue + ") == 0",
           stop});
      emit(std::move(done), e.id);
      emit(Continue{}, e.id);
    });
    empty.branches.push_back({"!sdfg_abi->stream_pop(call, " + queue + ", &" + name + ")", std::move(idle)});
    emit(std::move(empty), e.id);
    for (Statement& s : target_body(t, e, c.body, e.id)) out_->push_back(std::move(s));
    if (parallel) emit(Evaluate{"__atomic_fetch_sub(&" + busy + ", 1, __ATOMIC_SEQ_CST)"}, e.id);
  });
  if (parallel) --parallel_depth_;
  While forever;
  forever.condition = "true";
  forever.body = std::move(loop_body);
  if (parallel) {
    Declare d;
    d.type = "int64_t";
    d.name = busy;
    d.init = "0";
    emit(std::move(d), e.id);
  }
  For workers;
  workers.type = "int64_t";
  workers.variable = c.worker.empty() ? names_.fresh("worker") : names_.of(c.worker);
  workers.begin = "0";
  workers.bound = parallel ? expr(c.num_workers) : Text("1");
  workers.hints.parallel = parallel;
  if (parallel) {
    workers.hints.schedule = "static, 1";
    unit_.uses_openmp = true;
  }
  workers.body.push_back(statement(std::move(forever), ordinal(e.id)));
  emit(std::move(workers), e.id, comment_text(e.label));
  if (t.leave_used) emit(Label{t.leave}, e.id);
  check_failed("sdfg_failed(call)", e.id);
}

}  // namespace sdfg::lower
