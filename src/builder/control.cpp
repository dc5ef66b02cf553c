// Maps, loops, branches and exits.
#include <algorithm>

#include "builder/impl.hpp"

namespace sdfg {

using detail::location_of;
using detail::OpenScope;
using detail::Scope;
using detail::ScopeKind;

namespace detail {

OpenScope::OpenScope(BuilderImpl& builder, std::vector<Index> parameters)
    : builder_(builder.shared_from_this()), parameters_(std::move(parameters)) {}

OpenScope::~OpenScope() {
  if (builder_ == nullptr) return;
  builder_->broken = true;
  builder_->close(builder_->current().id);
}

void OpenScope::close() {
  const std::shared_ptr<BuilderImpl> b = std::move(builder_);
  b->close(b->current().id);
}

ir::Schedule schedule_of(Schedule s) {
  switch (s) {
    case Schedule::kDefault: return ir::Schedule::kDefault;
    case Schedule::kSequential: return ir::Schedule::kSequential;
    case Schedule::kParallel: return ir::Schedule::kParallel;
    case Schedule::kDevice: return ir::Schedule::kDevice;
    case Schedule::kThreadBlock: return ir::Schedule::kThreadBlock;
    case Schedule::kWarp: return ir::Schedule::kWarp;
  }
  return ir::Schedule::kDefault;
}

ir::OmpSchedule omp_schedule_of(OmpSchedule s) {
  switch (s) {
    case OmpSchedule::kDefault: return ir::OmpSchedule::kDefault;
    case OmpSchedule::kStatic: return ir::OmpSchedule::kStatic;
    case OmpSchedule::kDynamic: return ir::OmpSchedule::kDynamic;
    case OmpSchedule::kGuided: return ir::OmpSchedule::kGuided;
  }
  return ir::OmpSchedule::kDefault;
}

namespace {

ir::LoopForm form_of(LoopForm f) {
  switch (f) {
    case LoopForm::kTestFirst: return ir::LoopForm::kTestFirst;
    case LoopForm::kUpdateThenTest: return ir::LoopForm::kUpdateThenTest;
    case LoopForm::kTestThenUpdate: return ir::LoopForm::kTestThenUpdate;
  }
  return ir::LoopForm::kTestFirst;
}

tasklet::Expr negated(tasklet::Expr condition) {
  return tasklet::Expr::unary(tasklet::UnaryOp::kNot, std::move(condition)).with_type(ScalarType::kBool);
}

// A condition that is read anew each time must not contain what was computed once, when it was written.
void check_repeatable(const BuilderImpl& b, const ExprRef& condition, const SourceLocation& where) {
  std::vector<ReadLeaf> reads;
  bool frozen = condition->tree == nullptr;
  if (!frozen) collect_reads(condition->tree, reads);
  const auto minted = [&](const symbolic::Expr& e) {
    const symbolic::SymbolSet names = symbolic::free_symbols(e);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const auto info = b.symbols.find(name);
      return info != b.symbols.end() && info->second.minted && info->second.binder == ir::BinderKind::kAssigned;
    });
  };
  for (const ReadLeaf& read : reads) {
    frozen = frozen || b.containers.at(read.container).snapshot ||
             std::any_of(read.indices.begin(), read.indices.end(), minted);
  }
  if (!frozen) return;
  b.fail(where,
         "the condition of this loop uses something that was computed once, before the loop (an index read from an "
         "array, a reduction, or a "
         "kept value)",
         "give the condition as a function: g.while_([&] { return ...; }, body)");
}

}  // namespace

std::vector<std::unique_ptr<ir::Element>> BuilderImpl::take_after(std::uint32_t id, const SourceLocation& where) {
  auto& items = current().segments.back().sequence->items;
  const auto at = std::find_if(items.begin(), items.end(), [id](const auto& e) { return e->id == id; });
  if (at == items.end()) {
    fail(where, "the branch does not follow its if_ directly",
         "write g.if_(...).else_if(...).else_(...) in one statement");
  }
  std::vector<std::unique_ptr<ir::Element>> out(std::make_move_iterator(at + 1), std::make_move_iterator(items.end()));
  items.erase(at + 1, items.end());
  return out;
}

const Scope& BuilderImpl::exit_target(bool continues, const SourceLocation& where) const {
  const std::string word = continues ? "continue_()" : "break_()";
  for (auto scope = stack_.rbegin(); scope != stack_.rend(); ++scope) {
    switch ((*scope)->kind) {
      case ScopeKind::kLoop:
      case ScopeKind::kWhile: return **scope;
      case ScopeKind::kMap:
        if (continues) return **scope;
        fail(where, word + " would leave a map, whose points have no order",
             "use a loop, or continue_() to end this point");
      case ScopeKind::kConsume: fail(where, word + " would leave a consume scope");
      case ScopeKind::kGraph:
      case ScopeKind::kBlock:
      case ScopeKind::kBranch:
      case ScopeKind::kState: break;
    }
  }
  fail(where, word + " stands outside of any loop");
}

tasklet::Expr BuilderImpl::bound_code(const Bound& bound, const SourceLocation& where) {
  if (bound.value() == nullptr) return index_code(resolve_index(bound.index(), where));
  return expression_code(cast_tree(ScalarType::kInt64, use(bound.value(), where)), where);
}

}  // namespace detail

// ---- Maps and loops
// -----------------------------------------------------------------------------------------------------

OpenScope Builder::open_map(std::initializer_list<MapRange> ranges, const MapOptions& options, Where where_) {
  const SourceLocation where = location_of(where_);
  detail::BuilderImpl& b = impl(where_);
  b.check_usable(where);
  ir::Map map;
  std::string names;
  for (const MapRange& r : ranges) {
    const symbolic::Expr begin = b.resolve_bound(r.begin, r.name + "_begin", where);
    const symbolic::Expr end = b.resolve_bound(r.end, r.name + "_end", where);
    const symbolic::Expr step = b.resolve_bound(r.step, r.name + "_step", where);
    if (const auto constant = step.constant(); constant && *constant <= 0) {
      b.fail(where,
             "the range '" + r.name + "' of a map has step " + std::to_string(*constant) +
                 ", but steps of maps are positive",
             "the points of a map have no order; use g.loop to count down");
    }
    map.ranges.push_back(symbolic::Range::half_open(begin, end, step));
    names += (names.empty() ? "" : ", ") + r.name;
  }
  map.schedule = detail::schedule_of(options.schedule);
  map.unroll = options.unroll;
  map.collapse = options.collapse;
  map.num_threads = options.num_threads;
  map.omp_schedule = detail::omp_schedule_of(options.omp_schedule);
  map.omp_chunk = options.omp_chunk;
  map.simd = options.simd;
  map.gpu_block_size = options.gpu_block_size;
  map.gpu_launch_bounds = options.gpu_launch_bounds;
  map.gpu_max_registers = options.gpu_max_registers;
  b.statement();
  ir::Element& element = b.emit(std::move(map), options.label, where);
  b.open(ScopeKind::kMap, element, 0, "map '" + names + "'", where);
  OpenScope scope(b, {});
  std::vector<Index> parameters;
  for (const MapRange& r : ranges) {
    parameters.push_back(b.new_symbol(r.name, ir::BinderKind::kMapParameter, ScalarType::kInt64, where));
    std::get<ir::Map>(element.kind).params.push_back(parameters.back().node()->value.name());
  }
  return OpenScope(std::move(scope), std::move(parameters));
}

namespace {

// Bounds of loops are evaluated once: symbols that the body may assign again are copied.
symbolic::Expr fixed(detail::BuilderImpl& b, const symbolic::Expr& e, const std::string& name,
                     const SourceLocation& where) {
  if (b.assigned_in(e).empty()) return e;
  const Index copy = b.new_symbol(name, ir::BinderKind::kAssigned, ScalarType::kInt64, where, true);
  b.emit(ir::Assign{{{copy.node()->value.name(), b.index_code(e)}}}, {}, where);
  return copy.node()->value;
}

}  // namespace

OpenScope Builder::open_loop(std::string_view name, const Bound& begin_, const Bound& end_, const Bound& step_,
                             const LoopOptions& options, Where where_) {
  const SourceLocation where = location_of(where_);
  detail::BuilderImpl& b = impl(where_);
  b.check_usable(where);
  const std::string wish(name);
  const symbolic::Expr begin = b.resolve_bound(begin_, wish + "_begin", where);
  const symbolic::Expr end = fixed(b, b.resolve_bound(end_, wish + "_end", where), wish + "_end", where);
  const symbolic::Expr step = fixed(b, b.resolve_bound(step_, wish + "_step", where), wish + "_step", where);
  if (step.is_zero()) b.fail(where, "the loop '" + wish + "' has step 0 and would never end");
  b.statement();
  ir::Element& element = b.emit(ir::For{}, options.label, where);
  b.open(ScopeKind::kLoop, element, 0, "loop '" + wish + "'", where);
  OpenScope scope(b, {});
  const Index variable = b.new_symbol(name, ir::BinderKind::kLoopVariable, ScalarType::kInt64, where);
  const symbolic::Expr& i = variable.node()->value;
  auto& loop = std::get<ir::For>(element.kind);
  loop.variable = i.name();
  loop.unroll = options.unroll;
  loop.unroll_factor = options.unroll_factor;
  loop.init = b.index_code(begin);
  loop.update = b.expression_code(
      detail::op_tree(detail::Op::kAdd, ScalarType::kInt64, {detail::index_tree(i), detail::index_tree(step)}), where);
  if (const auto constant = step.constant()) {
    loop.condition =
        b.expression_code(detail::op_tree(*constant > 0 ? detail::Op::kLess : detail::Op::kGreater, ScalarType::kBool,
                                          {detail::index_tree(i), detail::index_tree(end)}),
                          where);
  } else {
    // The direction is known at run time only.
    const symbolic::Expr up = symbolic::logical_and(symbolic::gt(step, 0), symbolic::lt(i, end));
    const symbolic::Expr down = symbolic::logical_and(symbolic::lt(step, 0), symbolic::gt(i, end));
    loop.condition = b.index_code(symbolic::logical_or(up, down));
  }
  return OpenScope(std::move(scope), {variable});
}

OpenScope Builder::open_for(std::string_view name, const Bound& init, LoopForm form, const LoopOptions& options,
                            Where where_) {
  const SourceLocation where = location_of(where_);
  detail::BuilderImpl& b = impl(where_);
  b.check_usable(where);
  tasklet::Expr first = b.bound_code(init, where);
  b.statement();
  ir::Element& element = b.emit(ir::For{}, options.label, where);
  b.open(ScopeKind::kLoop, element, 0, "loop '" + std::string(name) + "'", where);
  OpenScope scope(b, {});
  const Index variable = b.new_symbol(name, ir::BinderKind::kLoopVariable, ScalarType::kInt64, where);
  auto& loop = std::get<ir::For>(element.kind);
  loop.variable = variable.node()->value.name();
  loop.init = std::move(first);
  loop.form = detail::form_of(form);
  loop.unroll = options.unroll;
  loop.unroll_factor = options.unroll_factor;
  return OpenScope(std::move(scope), {variable});
}

namespace {

void check_nothing_emitted(const detail::BuilderImpl& b, const SourceLocation& where, const char* part) {
  if (std::get<ir::For>(b.current().node->kind).body.items.empty()) return;
  b.fail(where, std::string("the ") + part + " of this loop reads an index or bound from a container",
         "use g.while_ with g.assign for such loops");
}

}  // namespace

void Builder::set_for_condition(const detail::ExprRef& condition, Where where_) {
  const SourceLocation where = location_of(where_);
  check_nothing_emitted(impl(where_), where, "condition");
  std::get<ir::For>(impl(where_).current().node->kind).condition =
      impl(where_).expression_code(impl(where_).use(condition, where), where);
}

void Builder::set_for_update(const Bound& update, Where where_) {
  const SourceLocation where = location_of(where_);
  check_nothing_emitted(impl(where_), where, "update");
  std::get<ir::For>(impl(where_).current().node->kind).update = impl(where_).bound_code(update, where);
}

OpenScope Builder::open_while(bool test_first, Where where_) {
  const SourceLocation where = location_of(where_);
  detail::BuilderImpl& b = impl(where_);
  b.check_usable(where);
  b.statement();
  ir::While loop;
  loop.condition = tasklet::Expr::literal(true);
  loop.test_first = test_first;
  ir::Element& element = b.emit(std::move(loop), {}, where);
  b.open(ScopeKind::kWhile, element, 0, test_first ? "while loop" : "do-while loop", where);
  return OpenScope(b, {});
}

OpenScope Builder::open_do_body(Where where_) {
  const SourceLocation where = location_of(where_);
  ir::Element& element = impl(where_).emit(ir::Block{}, {}, where);
  impl(where_).current().body = element.id;
  impl(where_).open(ScopeKind::kBlock, element, 0, "body of the do-while loop", where);
  return OpenScope(impl(where_), {});
}

void Builder::set_while_condition(const detail::ExprRef& condition, bool evaluated_outside, Where where_) {
  const SourceLocation where = location_of(where_);
  detail::BuilderImpl& b = impl(where_);
  auto& loop = std::get<ir::While>(b.current().node->kind);
  if (evaluated_outside) {
    if (condition->owner != nullptr) {
      b.check_owner(condition->owner, where, "the condition");
      detail::check_repeatable(b, condition, where);
    }
    loop.condition = b.expression_code(condition->tree, where);
    return;
  }
  tasklet::Expr holds = b.expression_code(b.use(condition, where), where);
  if (loop.body.items.empty()) {
    loop.condition = std::move(holds);
    return;
  }
  // The condition needs statements: they run at the start of each iteration, followed by the test.
  ir::If test;
  test.branches.emplace_back();
  test.branches.back().condition = detail::negated(std::move(holds));
  b.graph.append(test.branches.back().body, ir::Exit{ir::Exit::Kind::kBreak, b.current().element}, {}, where);
  b.emit(std::move(test), {}, where);
}

void Builder::set_do_condition(const detail::ExprRef& condition, bool evaluated_outside, Where where_) {
  const SourceLocation where = location_of(where_);
  detail::BuilderImpl& b = impl(where_);
  const Scope& scope = b.current();
  auto& loop = std::get<ir::While>(scope.node->kind);
  const std::uint32_t body = scope.body;
  tasklet::Expr holds;
  if (evaluated_outside) {
    if (condition->owner != nullptr) {
      b.check_owner(condition->owner, where, "the condition");
      detail::check_repeatable(b, condition, where);
    }
    holds = b.expression_code(condition->tree, where);
  } else {
    holds = b.expression_code(b.use(condition, where), where);
  }
  const bool alone = loop.body.items.size() == 1 && loop.body.items.front()->id == body;
  if (alone) {
    loop.condition = std::move(holds);
    auto& block = std::get<ir::Block>(loop.body.items.front()->kind);
    if (block.locals.empty()) {
      ir::Sequence items = std::move(block.body);
      loop.body = std::move(items);
    }
    return;
  }
  // The condition needs statements after the body: continue_() must reach them, so it leaves the body's block instead.
  const std::uint32_t id = scope.element;
  ir::walk(loop.body, [&](ir::Element& e) {
    auto* exit = std::get_if<ir::Exit>(&e.kind);
    if (exit != nullptr && exit->target == id && exit->kind == ir::Exit::Kind::kContinue) {
      *exit = {ir::Exit::Kind::kBreak, body};
    }
  });
  ir::If test;
  test.branches.emplace_back();
  test.branches.back().condition = detail::negated(std::move(holds));
  b.graph.append(test.branches.back().body, ir::Exit{ir::Exit::Kind::kBreak, id}, {}, where);
  b.emit(std::move(test), {}, where);
}

// ---- Branches
// -----------------------------------------------------------------------------------------------------------

OpenScope Builder::open_if(const detail::ExprRef& condition, Where where_) {
  const SourceLocation where = location_of(where_);
  detail::BuilderImpl& b = impl(where_);
  b.check_usable(where);
  ir::If branches;
  branches.branches.emplace_back();
  branches.branches.back().condition = b.expression_code(b.use(condition, where), where);
  b.statement();
  ir::Element& element = b.emit(std::move(branches), {}, where);
  b.open(ScopeKind::kBranch, element, 0, "if", where);
  return OpenScope(b, {});
}

IfChain Builder::chain() {
  const std::uint32_t id = impl().current().last;
  return IfChain(impl_, id, id, impl_->statements());
}

namespace {

// The element of a chain: the last one of the current scope, or nested in else branches of it.
ir::Element& element_of(detail::BuilderImpl& b, std::uint32_t id) {
  auto& items = b.current().segments.back().sequence->items;
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    ir::Element* e = item->get();
    while (e != nullptr) {
      if (e->id == id) return *e;
      auto* branches = std::get_if<ir::If>(&e->kind);
      const bool deeper = branches != nullptr && !branches->branches.back().body.items.empty();
      e = deeper ? branches->branches.back().body.items.back().get() : nullptr;
    }
  }
  throw Error(ErrorClass::kInternal, "an if is lost");
}

void check_follows(const detail::BuilderImpl& b, std::uint64_t stamp, const SourceLocation& where) {
  if (b.statements() == stamp) return;
  b.fail(where, "the branch does not follow its if_ directly: other statements stand between them",
         "write g.if_(...).else_if(...).else_(...) in one statement");
}

}  // namespace

OpenScope IfChain::open_else_if(const detail::ExprRef& condition, Where where_) {
  const SourceLocation where = location_of(where_);
  detail::BuilderImpl& b = *builder_;
  b.check_usable(where);
  check_follows(b, stamp_, where);
  tasklet::Expr holds = b.expression_code(b.use(condition, where), where);
  b.statement();
  std::vector<std::unique_ptr<ir::Element>> computed = b.take_after(first_, where);
  ir::If* branches = &std::get<ir::If>(element_of(b, last_).kind);
  for (const auto& element : computed) b.moved.insert(element->id);
  if (!computed.empty()) {
    // The condition needs statements: they run only when no condition before holds, so the rest becomes an if inside an
    // else.
    branches->branches.emplace_back();
    ir::If::Branch& otherwise = branches->branches.back();
    otherwise.condition = tasklet::Expr::literal(true);
    otherwise.body.items = std::move(computed);
    ir::Element& inner = b.graph.append(otherwise.body, ir::If{}, {}, where);
    last_ = inner.id;
    branches = &std::get<ir::If>(inner.kind);
  }
  b.current().last = first_;
  branches->branches.emplace_back();
  branches->branches.back().condition = std::move(holds);
  b.open(ScopeKind::kBranch, element_of(b, last_), branches->branches.size() - 1, "else if", where);
  return OpenScope(b, {});
}

OpenScope IfChain::open_else(Where where_) {
  const SourceLocation where = location_of(where_);
  detail::BuilderImpl& b = *builder_;
  b.check_usable(where);
  check_follows(b, stamp_, where);
  b.statement();
  ir::Element& element = element_of(b, last_);
  auto& branches = std::get<ir::If>(element.kind);
  branches.branches.emplace_back();
  branches.branches.back().condition = tasklet::Expr::literal(true);
  b.open(ScopeKind::kBranch, element, branches.branches.size() - 1, "else", where);
  return OpenScope(b, {});
}

void IfChain::renew() {
  stamp_ = builder_->statements();
}

// ---- Exits and blocks
// -----------------------------------------------------------------------------------------------------

void Builder::break_(Where where_) {
  const SourceLocation where = location_of(where_);
  const Scope& target = impl(where_).exit_target(false, where);
  impl(where_).statement();
  impl(where_).emit(ir::Exit{ir::Exit::Kind::kBreak, target.element}, {}, where);
}

void Builder::continue_(Where where_) {
  const SourceLocation where = location_of(where_);
  const Scope& target = impl(where_).exit_target(true, where);
  impl(where_).statement();
  impl(where_).emit(ir::Exit{ir::Exit::Kind::kContinue, target.element}, {}, where);
}

void Builder::return_(Where where_) {
  const SourceLocation where = location_of(where_);
  for (const auto& scope : impl(where_).stack()) {
    if (scope->kind == ScopeKind::kMap || scope->kind == ScopeKind::kConsume) {
      impl(where_).fail(where, "return_() stands inside a map, whose other points would still run",
                        "use continue_() to end this point");
    }
  }
  impl(where_).statement();
  impl(where_).emit(ir::Return{}, {}, where);
}

OpenScope Builder::open_block(std::string_view label, Where where_) {
  const SourceLocation where = location_of(where_);
  impl(where_).statement();
  ir::Element& element = impl(where_).emit(ir::Block{}, std::string(label), where);
  impl(where_).open(ScopeKind::kBlock, element, 0, "block '" + std::string(label) + "'", where);
  return OpenScope(impl(where_), {});
}

BlockHandle Builder::current_block() {
  return BlockHandle(impl(), impl().current().element);
}

void Builder::leave(const BlockHandle& block, Where where_) {
  const SourceLocation where = location_of(where_);
  const auto& stack = impl(where_).stack();
  for (auto scope = stack.rbegin(); scope != stack.rend(); ++scope) {
    if ((*scope)->kind == ScopeKind::kMap || (*scope)->kind == ScopeKind::kConsume) {
      impl(where_).fail(where, "leave() would leave a map, whose points have no order",
                        "use continue_() to end this point");
    }
    if ((*scope)->element == block.id() && block.builder() == impl_.get() && (*scope)->kind == ScopeKind::kBlock) {
      impl(where_).statement();
      impl(where_).emit(ir::Exit{ir::Exit::Kind::kBreak, block.id()}, {}, where);
      return;
    }
  }
  impl(where_).fail(where, "leave() names a block that is not open here");
}

}  // namespace sdfg
