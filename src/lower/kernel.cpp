// Lowers a device map to a kernel: parameters, the points of blocks and threads, partial results.
#include <algorithm>
#include <functional>

#include "lower/lowering.hpp"
#include "symbolic/print.hpp"

namespace sdfg::lower {

namespace {

using symbolic::Expr;
using symbolic::Truth;

constexpr const char* kAxisNames[3] = {"x", "y", "z"};

template <typename T>
struct Restored {
  T& place;
  T old;
  explicit Restored(T& p) : place(p), old(p) {}
  ~Restored() { place = std::move(old); }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
};

// An operand of a comparison.
Text as_bound(const Text& text) {
  return text.find_first_of("<>=?&|!") == Text::npos ? text : parenthesised(text);
}

// The address of what a text names.
Text address_of(const Text& target) {
  const bool dereferenced =
      target.starts_with("(*") && target.ends_with(")") && target.find_first_of("()[] ,", 2) == target.size() - 1;
  return dereferenced ? target.substr(2, target.size() - 3) : "&" + target;
}

}  // namespace

bool Lowering::written_here(std::string_view container) const {
  return kernel_ ? kernel_->written.contains(container) : uses_.written(container);
}

Text Lowering::flat_thread() const {
  const auto& b = kernel_->plan.block;
  if (b[1] == 1 && b[2] == 1) return "threadIdx.x";
  Text out = "(threadIdx.x + " + std::to_string(b[0]) + " * ";
  if (b[2] == 1) return out + "threadIdx.y)";
  return out + "(threadIdx.y + " + std::to_string(b[1]) + " * threadIdx.z))";
}

// What the kernel reaches by parameters: containers declared outside, views replaced by what they show. Views are
// declared again inside, viewed containers first.
std::vector<std::string> Lowering::kernel_containers(const ir::Element& e, std::vector<std::string>& views) {
  std::set<std::string, std::less<>> all;
  for (const std::string& c : ir::containers_read(g_, e)) all.insert(c);
  for (const std::string& c : ir::containers_written(g_, e)) all.insert(c);
  std::set<std::string, std::less<>> reached, view_set;
  const std::function<void(const std::string&)> add = [&](const std::string& name) {
    if (kernel_->declared.contains(name)) {
      const ir::Container& c = g_.containers.at(name);
      if (c.kind == ir::ContainerKind::kView) add(std::string(root_name(c.viewed)));
      return;
    }
    const ir::Container& c = g_.containers.at(name);
    if (c.kind == ir::ContainerKind::kView) {
      if (!view_set.insert(name).second) return;
      add(std::string(root_name(c.viewed)));
      views.push_back(name);
      return;
    }
    reached.insert(name);
  };
  for (const std::string& name : all) add(name);
  // A reference reaches containers through its own pointer.
  std::vector<std::string> out;
  for (const ir::Container& c : g_.containers) {
    if (reached.contains(c.name)) out.push_back(c.name);
  }
  return out;
}

Lowering::Launch Lowering::kernel(const std::vector<const ir::Element*>& path, const ir::Element& e, const ir::Map& m) {
  path_ = path;
  facts_.clear();
  Launch launch;
  KernelScope scope;
  scope.element = &e;
  const std::vector<const ir::Element*> outside(path.begin(), path.end() - 1);
  scope.plan = plan_kernel(g_, m, ir::facts_at(g_, outside));
  for (const std::string& c : ir::containers_declared(e)) scope.declared.insert(c);
  for (const std::string& c : ir::containers_written(g_, e)) scope.written.insert(c);
  kernel_ = &scope;

  std::vector<std::string> views;
  const std::vector<std::string> containers = kernel_containers(e, views);
  for (const std::string& name : containers) {
    const ir::Container& c = g_.containers.at(name);
    const bool host_array = !c.constant && c.kind == ir::ContainerKind::kArray &&
                            c.storage != ir::Storage::kGpuGlobal && c.storage != ir::Storage::kPinned;
    const bool written_scalar = c.is_scalar() && c.storage != ir::Storage::kGpuGlobal && scope.written.contains(name);
    if (host_array || written_scalar) {
      throw Error(ErrorClass::kGraph,
                  "The kernel of " + ir::describe(g_, e) + (scope.written.contains(name) ? " writes '" : " reads '") +
                      (c.label.empty() ? c.name : c.label) + "', which lives in host memory (" +
                      std::string(ir::to_string(c.storage)) + ").",
                  ir::places_of(g_, e.id), "copy it to a container in GpuGlobal storage first");
    }
    if (c.kind == ir::ContainerKind::kStream || c.kind == ir::ContainerKind::kStructure ||
        c.kind == ir::ContainerKind::kContainerArray) {
      unsupported(e.id, "the " + std::string(ir::to_string(c.kind)) + " '" + c.name + "'");
    }
  }

  Function f;
  f.exported = true;
  std::string params;
  for (const std::string& p : m.params) params += (params.empty() ? "" : "_") + p;
  f.name = names_.fresh(g_.name + "_" + (e.label.empty() || e.label.find(',') != Text::npos ? params : e.label));
  f.qualifiers = "__global__";

  Target t;
  t.id = e.id;
  Statements points;
  std::vector<Accumulator> partials;
  f.body = collect([&] {
    if (repeating_) {
      emit(Evaluate{"SDFG_AWAIT_EARLIER()"}, e.id);
      emit(Evaluate{"SDFG_ADMIT_LATER()"}, e.id);
    }
    for (const std::string& v : views) declare_view(g_.containers.at(v));
    partials = open_partials(e, m);
    Statements body = target_body(t, e, m.body, e.id);
    kernel_points(e, m, scope.plan, std::move(body));
    if (t.leave_used) emit(Label{t.leave}, e.id);
    close_partials(partials, e);
  });

  // Parameters: only those that the text names.
  const Text text = all_text(f.body);
  const auto helper_names = [&](const Text& word) { return mentions(text, word); };
  Kernel kernel;
  kernel.name = f.name;
  kernel.ordinal = ordinal(e.id);
  kernel.waits = repeating_;
  bool references = false;
  for (const ir::Container& c : g_.containers) references = references || c.kind == ir::ContainerKind::kReference;
  for (const std::string& name : containers) {
    const ir::Container& c = g_.containers.at(name);
    if (c.constant || !helper_names(names_.of(name))) continue;
    KernelParameter p;
    p.name = names_.of(name);
    p.ordinal = container_ordinal(name);
    Text type = type_text(c.type);
    if (is_pointer(name)) {
      p.is_pointer = true;
      p.is_const = !scope.written.contains(name);
      p.is_restrict = !references && !c.may_alias && !any_alias_ && c.kind != ir::ContainerKind::kReference;
      type = (p.is_const ? "const " : "") + type + "*" + (p.is_restrict ? " __restrict" : "");
    } else {
      p.bytes = static_cast<std::int32_t>(c.type.size());
      type = "const " + type;
    }
    f.parameters.push_back({type, p.name});
    kernel.parameters.push_back(std::move(p));
    launch.arguments.push_back(name);
  }
  symbolic::SymbolSet symbols = ir::symbols_used(g_, e);
  for (const std::string& name : containers) symbols.merge(g_.containers.at(name).layout.free_symbols());
  const symbolic::SymbolSet bound = ir::symbols_bound(e);
  for (const ir::Symbol& s : g_.symbols) {
    if (!symbols.contains(s.name) || bound.contains(s.name) || !helper_names(names_.of(s.name))) continue;
    if (!s.type.is_scalar()) unsupported(e.id, "a call of the host's function '" + s.name + "'");
    KernelParameter p;
    p.name = names_.of(s.name);
    // Parameters of the graph come in their own type, what the host binds in 64 bits.
    const bool own = s.binder == ir::BinderKind::kParameter;
    const Text type = own ? type_text(s.type) : symbol_type(s.name);
    p.bytes = own ? static_cast<std::int32_t>(s.type.size()) : (type == "bool" ? 1 : 8);
    f.parameters.push_back({"const " + type, p.name});
    kernel.parameters.push_back(std::move(p));
    launch.arguments.push_back(s.name);
  }

  if (helper_names(kToldName)) {
    launch.reports = true;
    f.parameters.push_back({"int64_t* const", kToldName});
    kernel.parameters.push_back({.name = kToldName, .bytes = 8, .is_pointer = true});
  }

  const std::int64_t threads = scope.plan.threads();
  if (m.gpu_max_registers > 0) {
    f.qualifiers += " __maxnreg__(" + std::to_string(m.gpu_max_registers) + ")";
  } else if (m.gpu_launch_bounds.empty()) {
    f.qualifiers += " __launch_bounds__(" + std::to_string(threads) + ")";
    kernel.max_threads = threads;
  } else if (m.gpu_launch_bounds != "-1") {
    f.qualifiers += " __launch_bounds__(" + m.gpu_launch_bounds + ")";
    kernel.max_threads = threads;
  }
  kernel.shared_bytes = scope.shared_bytes;
  launch.kernel = static_cast<int>(kernels_.size());
  launch.plan = scope.plan;
  kernels_.push_back(std::move(kernel));
  unit_.functions.push_back(std::move(f));
  kernel_ = nullptr;
  path_.clear();
  facts_.clear();
  return launch;
}

// The map's parameters from the numbers of block and thread, around the body.
void Lowering::kernel_points(const ir::Element& e, const ir::Map& m, const KernelPlan& plan, Statements body) {
  // From the outside in: z, y, x and the loops, each dimension after those that its range uses. Conditions gather
  // until a loop needs braces of its own.
  struct Level {
    std::size_t first;  // its outermost dimension
    const KernelAxis* axis = nullptr;
    std::size_t number = 0;
  };
  std::vector<Level> levels;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!plan.axes[k].dimensions.empty()) levels.push_back({plan.axes[k].dimensions.front(), &plan.axes[k], k});
  }
  for (const std::size_t d : plan.loops) levels.push_back({d, nullptr, 0});
  // The points of a run share what they read only if nothing else comes between them.
  for (Level& l : levels) {
    if (l.axis == nullptr || !l.axis->runs) continue;
    const std::string& p = m.params[l.first];
    const bool used = std::ranges::any_of(m.ranges, [&](const ir::Range& r) {
      return depends_on(r.begin, p) || depends_on(r.end, p) || depends_on(r.step, p);
    });
    if (!used) l.first = m.params.size();
  }
  std::ranges::sort(levels, {}, [](const Level& l) { return std::pair(l.first, l.number); });

  const Statements inner_most = std::move(body);
  const std::function<void(std::size_t, Text)> level = [&](std::size_t at, Text guard) {
    const auto guarded = [&](const Text condition, const auto& then) {
      if (condition.empty()) {
        then();
        return;
      }
      If test;
      Statements inner = collect(then);
      test.branches.push_back({condition, std::move(inner)});
      emit(std::move(test), e.id);
    };
    if (at == levels.size()) {
      guarded(guard, [&] {
        for (const Statement& s : inner_most) out_->push_back(s);
      });
      return;
    }
    const Level& l = levels[at];
    if (l.axis == nullptr) {
      guarded(guard, [&] {
        const ir::Range& r = m.ranges[l.first];
        For f;
        f.type = "int64_t";
        f.variable = names_.of(m.params[l.first]);
        f.begin = expr(r.begin);
        f.comparison = Comparison::kLessEqual;
        f.bound = expr(r.end);
        f.step = expr(r.step);
        f.body = collect([&] {
          level(at + 1, {});
          if (plan.blockwise) emit(Evaluate{"__syncthreads()"}, e.id);
        });
        emit(std::move(f), e.id);
      });
      return;
    }
    const KernelAxis& a = *l.axis;
    const Text axis = kAxisNames[l.number];
    const std::int64_t threads = a.threads;
    Text position = "blockIdx." + axis;
    if (threads != 1)
      position = "(int64_t)" + position + " * " + std::to_string(threads) + " + threadIdx." + axis;
    else
      position = "(int64_t)" + position;
    const auto condition_of = [&](std::size_t d) {
      const ir::Range& r = m.ranges[d];
      const Text from = a.lead == 0 ? Text() : names_.of(m.params[d]) + " >= " + as_bound(expr(r.begin)) + " && ";
      const Expr past = r.end + 1;
      const Text inclusive = expr(r.end), exclusive = expr(past);
      const bool less = exclusive.size() <= inclusive.size() || past.constant();
      return from + names_.of(m.params[d]) + (less ? " < " + as_bound(exclusive) : " <= " + as_bound(inclusive));
    };
    const auto coordinate = [&](std::size_t d, const Text& count) {
      const ir::Range& r = m.ranges[d];
      const Expr first = r.begin - a.lead;
      const Text step = expr(r.step), begin = expr(first);
      const bool simple = count.find(' ') == Text::npos;
      Text value = step == "1" ? count : parenthesised(step) + " * " + (simple ? count : "(" + count + ")");
      if (begin != "0") value = parenthesised(begin) + " + " + (step == "1" ? parenthesised(value) : value);
      return value;
    };
    const bool depends = [&] {  // its points are over-estimated
      for (const std::size_t d : a.dimensions) {
        for (const std::string& p : m.params) {
          const ir::Range& r = m.ranges[d];
          if (depends_on(r.begin, p) || depends_on(r.end, p) || depends_on(r.step, p)) return true;
        }
      }
      return false;
    }();
    const bool exact =
        !a.strided && !depends && a.lead == 0 && symbolic::is_multiple_of(a.points, threads, facts()) == Truth::kYes;
    if (a.dimensions.size() == 1 && !a.strided) {
      const std::size_t d = a.dimensions.front();
      Declare declare;
      declare.type = "int64_t";
      declare.name = names_.of(m.params[d]);
      declare.init = coordinate(d, position);
      declare.is_const = true;
      const auto here = [&] {
        emit(std::move(declare), e.id);
        level(at + 1, exact ? guard : (guard.empty() ? "" : guard + " && ") + condition_of(d));
      };
      // A coordinate whose range uses others must not be computed for points outside.
      if (depends)
        guarded(guard, [&] {
          guard.clear();
          here();
        });
      else
        here();
      return;
    }
    // Several dimensions counted together, or strides over the grid.
    const Text count = names_.fresh("point");
    const auto split = [&](Text outer) {
      Text rest = count;
      std::vector<std::pair<std::size_t, Text>> parts;
      for (std::size_t k = a.dimensions.size(); k-- > 0;) {
        const Text size = parenthesised(expr(a.counts[k]));
        parts.emplace_back(a.dimensions[k], k == 0 ? rest : rest + " % " + size);
        rest = parenthesised(rest) + " / " + size;
      }
      std::ranges::reverse(parts);
      Text condition = std::move(outer);
      for (const auto& [d, value] : parts) {
        Declare declare;
        declare.type = "int64_t";
        declare.name = names_.of(m.params[d]);
        declare.init = coordinate(d, parts.size() == 1 ? value : (is_primary(value) ? value : "(" + value + ")"));
        declare.is_const = true;
        emit(std::move(declare), e.id);
        bool uses = false;
        for (const std::string& p : m.params) {
          const ir::Range& r = m.ranges[d];
          uses = uses || depends_on(r.begin, p) || depends_on(r.end, p) || depends_on(r.step, p);
        }
        if (uses) condition += (condition.empty() ? "" : " && ") + condition_of(d);
      }
      level(at + 1, condition);
    };
    if (a.runs) {
      guarded(guard, [&] {
        const std::size_t d = a.dimensions.front();
        const auto constant = [&](const Text& wish, Text value) {
          Declare declare;
          declare.type = "int64_t";
          declare.name = names_.fresh(wish);
          declare.init = std::move(value);
          declare.is_const = true;
          const Text name = declare.name;
          emit(std::move(declare), e.id);
          return name;
        };
        const Expr past = m.ranges[d].end + 1;
        support_.need(Helper::kRun);
        const Text run =
            constant("run", "sdfg_run(" + expr(a.points) + ", gridDim.x, " + std::to_string(a.most_blocks) + ")");
        const Text first = constant("first", coordinate(d, position + " * " + run));
        const Text limit = parenthesised(expr(past));
        const Text stop =
            constant("stop", first + " + " + run + " < " + limit + " ? " + first + " + " + run + " : " + limit);
        For f;
        f.type = "int64_t";
        f.variable = names_.of(m.params[d]);
        f.begin = first;
        f.bound = stop;
        f.body = collect([&] { level(at + 1, {}); });
        emit(std::move(f), e.id);
      });
      return;
    }
    if (a.strided) {
      guarded(guard, [&] {
        For f;
        f.type = "int64_t";
        f.step = "(int64_t)gridDim." + axis + (threads != 1 ? " * " + std::to_string(threads) : Text());
        const std::size_t d = a.dimensions.front();
        const ir::Range& r = m.ranges[d];
        if (a.dimensions.size() == 1 && !depends && r.step.is_one()) {
          f.variable = names_.of(m.params[d]);
          f.begin = coordinate(d, position);
          const Expr past = r.end + 1;
          f.comparison = Comparison::kLess;
          f.bound = expr(past);
          f.body = collect([&] { level(at + 1, {}); });
        } else {
          f.variable = count;
          f.begin = position;
          f.comparison = Comparison::kLess;
          f.bound = expr(a.points);
          f.body = collect([&] { split({}); });
        }
        // The next point's phases must not overtake this one's.
        if (plan.blockwise) f.body.push_back(statement(Evaluate{"__syncthreads()"}, ordinal(e.id)));
        emit(std::move(f), e.id);
      });
      return;
    }
    Declare declare;
    declare.type = "int64_t";
    declare.name = count;
    declare.init = position;
    declare.is_const = true;
    emit(std::move(declare), e.id);
    Text condition = guard;
    if (!exact) condition += (condition.empty() ? "" : " && ") + count + " < " + parenthesised(expr(a.points));
    // Divisions by the sizes: only for points that exist.
    guarded(condition, [&] { split({}); });
  };
  level(0, {});
}

std::vector<Lowering::Accumulator> Lowering::open_partials(const ir::Element& e, const ir::Map& m) {
  std::vector<Accumulator> opened;
  for (const ir::Map::Reduction& r : m.reductions) {
    const auto place = reduced_place(m, r.container);
    if (!place) continue;
    Accumulator a;
    a.container = r.container;
    a.path = place->first;
    a.subset = place->second;
    a.op = r.op;
    a.type = container(place->first).type;
    a.target = element_at(place->first, place->second);
    for (const Accumulator& outer : accumulators_) {
      if (outer.container == r.container) a.target = outer.variable;
    }
    const auto start = identity(r.op, a.type);
    if (!start) {
      unsupported(
          e.id, "a reduction of type " + a.type.str() + " by the operator '" + std::string(ir::to_string(r.op)) + "'");
    }
    a.variable = names_.fresh(r.container + "_part");
    Declare d;
    d.type = type_text(a.type);
    d.name = a.variable;
    d.init = *start;
    emit(std::move(d), e.id);
    opened.push_back(a);
  }
  accumulators_.insert(accumulators_.end(), opened.begin(), opened.end());
  return opened;
}

// All threads of the block are here: their partial results become one, which one thread adds to the element.
void Lowering::close_partials(const std::vector<Accumulator>& partials, const ir::Element& e) {
  for (std::size_t k = 0; k < partials.size(); ++k) accumulators_.pop_back();
  for (const Accumulator& a : partials) {
    const Text type = type_text(a.type);
    ir::Wcr wcr;
    wcr.op = a.op;
    wcr.lowering = ir::WcrLowering::kPlain;
    if (is_accumulator(a.target)) {
      accumulate(wcr, a.type, a.target, a.variable, e.id, {});
      continue;
    }
    const std::int64_t threads = kernel_->plan.threads();
    const Text total = names_.fresh(a.container + "_total");
    const bool is_register = [&] {
      const ir::Container& c = container(a.container);
      return kernel_->declared.contains(a.container) && c.storage != ir::Storage::kGpuShared &&
             c.storage != ir::Storage::kGpuGlobal;
    }();
    const Text part = names_.fresh(a.container + "_parts");
    const std::int64_t slots = threads % kWarpSize == 0 ? threads / kWarpSize : threads;
    if (threads > 1) {
      emit(Evaluate{"SDFG_SHARED(" + type + ", " + part + ", " + std::to_string(slots) + ")"}, e.id);
      kernel_->shared_bytes += slots * a.type.size();
      kernel_->meets = true;
      support_.need(Helper::kBlockReduce);
      Binding b;
      b.values = {{"a", "a"}, {"b", "b"}};
      Declare d;
      d.type = type;
      d.name = total;
      d.init = "sdfg_block_reduce<" + std::to_string(threads) + ">(" + flat_thread() + ", " + a.variable + ", " + part +
               ", [](" + type + " a, " + type + " b) -> " + type + " { return " +
               code_as(combine(wcr, a.type), a.type, b) + "; })";
      d.is_const = true;
      emit(std::move(d), e.id);
    }
    const Text value = threads > 1 ? total : a.variable;
    if (is_register) {
      // One instance per thread: all of them hold the sum.
      checked_accumulate({a.path, a.subset}, wcr, a.type, a.target, value, e.id, {});
      continue;
    }
    if (container(a.container).storage != ir::Storage::kGpuShared) wcr.lowering = ir::WcrLowering::kAtomic;
    Statements one = collect([&] { checked_accumulate({a.path, a.subset}, wcr, a.type, a.target, value, e.id, {}); });
    if (threads == 1) {
      for (Statement& s : one) out_->push_back(std::move(s));
      continue;
    }
    If first;
    first.branches.push_back({flat_thread() + " == 0", std::move(one)});
    emit(std::move(first), e.id);
  }
}

Text Lowering::device_atomic(const ir::Wcr& wcr, const Type& type, const Text& target, const Text& value) {
  const Text t = type_text(type);
  const auto call = [&](const char* name) {
    return "sdfg_atomic_" + Text(name) + "(" + address_of(target) + ", (" + t + ")" + parenthesised(value) + ")";
  };
  switch (wcr.op) {
    case ir::ReduceOp::kSum: return call("add");
    case ir::ReduceOp::kProduct: return call("multiply");
    case ir::ReduceOp::kMin: return call("min");
    case ir::ReduceOp::kMax: return call("max");
    case ir::ReduceOp::kBitAnd: return call("and");
    case ir::ReduceOp::kBitOr: return call("or");
    case ir::ReduceOp::kBitXor: return call("xor");
    case ir::ReduceOp::kLogicalAnd: return call("logical_and");
    case ir::ReduceOp::kLogicalOr: return call("logical_or");
    case ir::ReduceOp::kLogicalXor: return call("logical_xor");
    case ir::ReduceOp::kExchange: return call("exchange");
    case ir::ReduceOp::kCustom: break;
  }
  Binding b;
  b.values = {{"a", "a"}, {"b", "b"}};
  // Everything by value: symbols of the expression are parameters of the kernel.
  return "sdfg_atomic_update(" + address_of(target) + ", [=, b = (" + t + ")" + parenthesised(value) +
         "]([[maybe_unused]] " + t + " a) -> " + t + " { return " + code_as(combine(wcr, type), type, b) + "; })";
}

void Lowering::declare_in_kernel(const ir::Container& c) {
  const Text name = names_.of(c.name);
  const Text type = type_text(c.type);
  if (c.kind == ir::ContainerKind::kView) {
    declare_view(c);
    return;
  }
  if (c.kind == ir::ContainerKind::kReference) {
    Declare d;
    d.type = type + "*";
    d.name = name;
    d.init = "nullptr";
    emit(std::move(d));
    return;
  }
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorClass::kUsage,
                "The transient '" + (c.label.empty() ? c.name : c.label) + "' of " +
                    ir::describe(g_, *kernel_->element) + " " + what,
                {{"container '" + c.name + "'", c.location}});
  };
  if (c.kind != ir::ContainerKind::kArray && c.kind != ir::ContainerKind::kScalar)
    fail("is a " + std::string(ir::to_string(c.kind)) + ", which a kernel can't declare.");
  const auto elements = c.layout.total_size().constant();
  if (!elements || *elements < 0) fail("has no constant size: a kernel can't allocate memory.");
  if (c.storage == ir::Storage::kGpuShared) {
    const std::int64_t count = std::max<std::int64_t>(*elements, 1);
    emit(Evaluate{"SDFG_SHARED(" + type + ", " + name + ", " + std::to_string(count) + ")"}, 0, label_of(c));
    kernel_->shared_bytes += count * c.type.size();
    kernel_->meets = true;
    if (c.zeroed) {
      For f;
      f.type = "int64_t";
      f.variable = names_.fresh("at");
      f.begin = flat_thread();
      f.bound = std::to_string(count);
      f.step = std::to_string(kernel_->plan.threads());
      f.body.push_back(statement(Store{name + "[" + f.variable + "]", "=", "{}"}));
      emit(std::move(f));
      emit(Evaluate{"__syncthreads()"});
    }
    return;
  }
  if (c.storage == ir::Storage::kGpuGlobal) fail("lives in GpuGlobal memory, which a kernel can't allocate.");
  Declare d;
  d.type = type;
  d.name = name;
  if (c.is_scalar()) {
    if (uses_.written_once(c.name) != 0) return;  // declared by its one write
  } else {
    d.array = std::to_string(std::max<std::int64_t>(*elements, 1));
  }
  if (c.zeroed) d.init = "{}";
  emit(std::move(d), 0, label_of(c));
}

DeviceModule Lowering::device_module() {
  DeviceModule out;
  if (!device_) return out;
  for (const ir::Container& c : g_.containers) {
    if (c.constant) device_->declare_constant(c);
  }
  device_->unit_.global_code = g_.code.device + (g_.code.device.ends_with('\n') || g_.code.device.empty() ? "" : "\n") +
                               device_->unit_.global_code;
  device_->finish_support();
  out.unit = std::move(device_->unit_);
  out.kernels = std::move(device_->kernels_);
  return out;
}

}  // namespace sdfg::lower
