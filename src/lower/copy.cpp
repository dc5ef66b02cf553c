// Lowers copies and fills: memcpy where both sides are contiguous, loops elsewhere, row-major order when shapes differ.
#include <algorithm>

#include "analysis/region_copy.hpp"
#include "ir/sharing.hpp"
#include "lower/abi.hpp"
#include "lower/lowering.hpp"
#include "tasklet/value.hpp"

namespace sdfg::lower {

namespace {

using symbolic::Expr;
using symbolic::Truth;

using Running = Lowering::Running;
using analysis::RegionCopy;

std::vector<Running> running(const ir::Subset& s, const ir::Layout& layout, const symbolic::Facts& facts) {
  std::vector<Running> out;
  for (std::size_t d = 0; d < s.rank(); ++d) {
    const Expr size = symbolic::simplify(s[d].size(), facts);
    if (size.is_one()) continue;
    out.push_back({d, size, s[d].step * layout.strides()[d]});
  }
  return out;
}

bool has_tiles(const ir::Subset& s) {
  return std::ranges::any_of(s.ranges(), [](const ir::Range& r) { return !r.tile.is_one(); });
}

bool same_sizes(const std::vector<Running>& a, const std::vector<Running>& b, const symbolic::Facts& facts) {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (symbolic::is_equal(a[d].size, b[d].size, facts) != Truth::kYes) return false;
  }
  return true;
}

// Dimensions at the end that together are one gap-free run, and the run's length.
std::pair<std::size_t, Expr> trailing_run(const std::vector<Running>& dims, const symbolic::Facts& facts) {
  Expr length = 1;
  std::size_t count = 0;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (symbolic::is_equal(dims[d].stride, length, facts) != Truth::kYes) break;
    length = length * dims[d].size;
    ++count;
  }
  return {count, length};
}

}  // namespace

std::vector<Text> Lowering::fresh_counters(std::size_t count) {
  std::vector<Text> out;
  for (std::size_t d = 0; d < count; ++d) out.push_back(names_.fresh("c" + std::to_string(d)));
  return out;
}

std::vector<Text> Lowering::moved_indices(const ir::Subset& subset, const std::vector<Running>& dims,
                                          const std::vector<Text>& counters) {
  std::vector<Text> at = texts(subset.begins());
  for (std::size_t k = 0; k < counters.size() && k < dims.size(); ++k) {
    const Text step = expr(subset[dims[k].dimension].step);
    const Text moved = step == "1" ? counters[k] : parenthesised(step) + " * " + parenthesised(counters[k]);
    Text& index = at[dims[k].dimension];
    index = index == "0" ? moved : parenthesised(index) + " + " + moved;
  }
  return at;
}

void Lowering::emit_nested(const std::vector<Text>& variables, const std::vector<Running>& dims, Statements body,
                           ir::Id origin, const Text& comment) {
  if (shared_out_ && !dims.empty()) {
    // The threads of a block share the elements: counted in row-major order, split again by the sizes.
    const Text count = names_.fresh("element");
    Expr total = 1;
    for (const Running& r : dims) total = total * r.size;
    For f;
    f.type = "int64_t";
    f.variable = count;
    f.begin = flat_thread();
    f.bound = expr(total);
    f.step = std::to_string(kernel_->plan.threads());
    f.body = collect([&] {
      std::vector<Text> values(dims.size());
      Text rest = count;
      for (std::size_t k = dims.size(); k-- > 0;) {
        const Text size = parenthesised(expr(dims[k].size));
        values[k] = k == 0 ? rest : parenthesised(rest) + " % " + size;
        rest = parenthesised(rest) + " / " + size;
      }
      for (std::size_t k = 0; k < dims.size(); ++k) {
        Declare d;
        d.type = "int64_t";
        d.name = variables[k];
        d.init = values[k];
        d.is_const = true;
        emit(std::move(d), origin);
      }
      for (Statement& s : body) out_->push_back(std::move(s));
    });
    emit(std::move(f), origin, comment);
    return;
  }
  if (shared_out_) {
    If first;
    first.branches.push_back({flat_thread() + " == 0", std::move(body)});
    emit(std::move(first), origin, comment);
    return;
  }
  for (std::size_t d = dims.size(); d-- > 0;) {
    For f;
    f.type = "int64_t";
    f.variable = variables[d];
    f.begin = "0";
    f.bound = expr(dims[d].size);
    f.body = std::move(body);
    body.clear();
    body.push_back(statement(std::move(f), ordinal(origin), d == 0 ? comment : Text()));
  }
  for (Statement& s : body) out_->push_back(std::move(s));
}

// Sizes that can't be proven equal are compared at run time: a copy never reads or writes more than its subsets.
void Lowering::check_volumes(const std::vector<Running>& from, const std::vector<Running>& to, ir::Id origin) {
  Expr source = 1, target = 1;
  for (const Running& r : from) source = source * r.size;
  for (const Running& r : to) target = target * r.size;
  if (symbolic::is_equal(source, target, facts()) == Truth::kYes) return;
  support_.need(Helper::kFail);
  needs_call_ = true;
  Statements report;
  report.push_back(statement(Evaluate{"sdfg_fail(call, 7, " + std::to_string(ordinal(origin)) + ", " + expr(source) +
                                      ", " + expr(target) + ")"},
                             ordinal(origin)));
  check_failed(parenthesised(expr(source)) + " != " + parenthesised(expr(target)), origin, std::move(report));
}

// The corners of a window lie inside its container, unless it is empty.
void Lowering::check_window(const Side& side, ir::Id origin) {
  const ir::Container& c = container(side.path);
  for (std::size_t d = 0; d < side.subset.rank() && d < c.rank(); ++d) {
    const ir::Range& r = side.subset[d];
    const bool down = symbolic::is_positive(-r.step, facts()) == Truth::kYes;
    const Expr last = r.begin + (r.count() - 1) * r.step;
    const Expr low = (down ? last : r.begin) + c.layout.offset()[d];
    const Expr high = (down ? r.begin : last) + c.layout.offset()[d];
    const Expr& extent = c.layout.shape()[d];
    const bool low_fine = symbolic::is_nonnegative(low, facts()) == Truth::kYes;
    const bool high_fine = symbolic::is_less(high, extent, facts()) == Truth::kYes;
    if (low_fine && high_fine) continue;
    support_.need(Helper::kFail);
    needs_call_ = true;
    const Text at = high_fine || low == high ? expr(low)
                    : low_fine               ? expr(high)
                                             : parenthesised(expr(low)) + " < 0 ? " + expr(low) + " : " + expr(high);
    Statements report;
    report.push_back(
        statement(Evaluate{"sdfg_fail(call, 4, " + std::to_string(container_ordinal(root_name(side.path))) + ", " +
                           std::to_string(d) + ", " + at + ", " + expr(extent) + ")"},
                  ordinal(origin)));
    const Text outside =
        parenthesised(expr(low)) + " < 0 || " + parenthesised(expr(high)) + " >= " + parenthesised(expr(extent));
    check_failed(parenthesised(expr(side.subset.num_elements())) + " > 0 && (" + outside + ")", origin,
                 std::move(report));
  }
}

// The elements of `from` in row-major order go to those of `to` in row-major order; sizes may differ in shape.
void Lowering::elementwise_copy(const Side& from, const Side& to, const std::optional<ir::Wcr>& wcr, ir::Id origin,
                                const Text& comment) {
  const ir::Container& source = container(from.path);
  const ir::Container& target = container(to.path);
  const std::vector<Running> source_dims = running(from.subset, source.layout, facts());
  const std::vector<Running> target_dims = running(to.subset, target.layout, facts());
  const bool same = same_sizes(source_dims, target_dims, facts());

  const std::vector<Text> variables = fresh_counters(target_dims.size());
  std::vector<Text> source_counters = variables;
  if (!same) {
    // The position in row-major order, split again by the source's sizes.
    Text position = "0";
    for (std::size_t k = 0; k < target_dims.size(); ++k) {
      position = k == 0 ? variables[0]
                        : "(" + position + ") * " + parenthesised(expr(target_dims[k].size)) + " + " + variables[k];
    }
    source_counters.assign(source_dims.size(), "0");
    Text rest = position;
    for (std::size_t k = source_dims.size(); k-- > 0;) {
      const Text size = parenthesised(expr(source_dims[k].size));
      source_counters[k] = k == 0 ? "(" + rest + ")" : "((" + rest + ") % " + size + ")";
      rest = "(" + rest + ") / " + size;
    }
  }
  const Text value = converted(element_of(from.path, moved_indices(from.subset, source_dims, source_counters)),
                               source.type, target.type);
  const Text place = element_of(to.path, moved_indices(to.subset, target_dims, variables));
  Statements body = collect([&] {
    const Text label = target_dims.empty() ? comment : Text();
    if (wcr) {
      ir::Wcr decided = *wcr;
      Text at = place;
      if (decided.lowering == ir::WcrLowering::kReduction) {
        decided.lowering = ir::WcrLowering::kUndecided;
        for (const Accumulator& a : accumulators_) {
          if (a.container == root_name(to.path) && a.op == decided.op && target_dims.empty()) {
            at = a.variable;
            decided.lowering = ir::WcrLowering::kPlain;
          }
        }
      }
      accumulate(decided, target.type, at, value, origin, label);
    } else {
      emit(Store{place, "=", value}, origin, label);
    }
  });
  emit_nested(variables, target_dims, std::move(body), origin, comment);
}

void Lowering::copy(const Side& from, const Side& to, const std::optional<ir::Wcr>& wcr, ir::Id origin,
                    const Text& comment) {
  const ir::Container& source = container(from.path);
  const ir::Container& target = container(to.path);
  for (const ir::Container* c : {&source, &target}) {
    if (c->kind == ir::ContainerKind::kStructure || c->kind == ir::ContainerKind::kContainerArray)
      unsupported(origin, "a copy of the " + std::string(ir::to_string(c->kind)) + " '" + c->name + "'");
  }
  if (source.kind == ir::ContainerKind::kStream || target.kind == ir::ContainerKind::kStream) {
    stream_copy(from, to, origin, comment);
    return;
  }
  if (has_tiles(from.subset) || has_tiles(to.subset)) unsupported(origin, "a copy of a tiled subset");
  if (on_device(from.path) || on_device(to.path)) {
    device_copy(from, to, wcr, origin, comment);
    return;
  }
  if (symbolic::is_empty(from.subset, facts()) == Truth::kYes || symbolic::is_empty(to.subset, facts()) == Truth::kYes)
    return;

  const bool may_overlap = from.path == to.path ? symbolic::intersects(from.subset, to.subset, facts()) != Truth::kNo
                                                : ir::may_share_memory(g_, g_.containers.at(root_name(from.path)),
                                                                       g_.containers.at(root_name(to.path)));

  const std::vector<Running> source_dims = running(from.subset, source.layout, facts());
  const std::vector<Running> target_dims = running(to.subset, target.layout, facts());
  check_volumes(source_dims, target_dims, origin);
  if (options_.check_bounds && kernel_ == nullptr) {
    check_window(from, origin);
    check_window(to, origin);
  }
  if (kernel_ != nullptr) {
    const bool one = source_dims.empty() && target_dims.empty();
    if (may_overlap && !one && (from.path != to.path || !(from.subset == to.subset)))
      unsupported(origin, "a copy between places of one container that may overlap");
    const bool was = shared_out_;
    const ir::Container& root = ir::root_of(g_, g_.containers.at(root_name(to.path)));
    const bool own = kernel_->declared.contains(root.name) && root.storage != ir::Storage::kGpuShared;
    shared_out_ = !in_threads() && !own && kernel_->plan.threads() > 1;
    elementwise_copy(from, to, wcr, origin, comment);
    shared_out_ = was;
    return;
  }
  if (wcr || !(source.type == target.type) || (source_dims.empty() && target_dims.empty())) {
    if (may_overlap && !(source_dims.empty() && target_dims.empty())) {
      copy_through_buffer(from, to, wcr, origin, comment);
    } else {
      elementwise_copy(from, to, wcr, origin, comment);
    }
    return;
  }
  const auto [source_run, source_length] = trailing_run(source_dims, facts());
  const auto [target_run, target_length] = trailing_run(target_dims, facts());
  const bool whole = source_run == source_dims.size() && target_run == target_dims.size();
  if (whole) {
    // Both sides are one run: their shapes don't matter, only the count.
    emit(Evaluate{Text(may_overlap ? "__builtin_memmove(" : "__builtin_memcpy(") + address_at(to.path, to.subset) +
                  ", " + address_at(from.path, from.subset) + ", " + parenthesised(expr(target_length)) + " * sizeof(" +
                  type_text(target.type) + "))"},
         origin, comment);
    return;
  }
  if (may_overlap) {
    copy_through_buffer(from, to, wcr, origin, comment);
    return;
  }
  // Rows that are contiguous on both sides, in loops over the other dimensions.
  if (same_sizes(source_dims, target_dims, facts()) && std::min(source_run, target_run) > 0) {
    const std::size_t run = std::min(source_run, target_run);
    const std::size_t loops = target_dims.size() - run;
    Expr length = 1;
    for (std::size_t d = loops; d < target_dims.size(); ++d) length = length * target_dims[d].size;
    const std::vector<Text> variables = fresh_counters(loops);
    const auto address = [&](const Side& side, const std::vector<Running>& dims) {
      return "&" + element_of(side.path, moved_indices(side.subset, dims, variables));
    };
    Statements body;
    body.push_back(
        statement(Evaluate{"__builtin_memcpy(" + address(to, target_dims) + ", " + address(from, source_dims) + ", " +
                           parenthesised(expr(length)) + " * sizeof(" + type_text(target.type) + "))"},
                  ordinal(origin)));
    emit_nested(variables, {target_dims.begin(), target_dims.begin() + static_cast<std::ptrdiff_t>(loops)},
                std::move(body), origin, comment);
    return;
  }
  elementwise_copy(from, to, wcr, origin, comment);
}

// Source and target may share elements: everything is read before anything is written.
void Lowering::copy_through_buffer(const Side& from, const Side& to, const std::optional<ir::Wcr>& wcr, ir::Id origin,
                                   const Text& comment) {
  const ir::Container& source = container(from.path);
  support_.need(Helper::kOwned);
  needs_call_ = true;
  const Expr count = symbolic::simplify(from.subset.num_elements(), facts());
  Statements inner = collect([&] {
    const Text type = type_text(source.type);
    const Text buffer = names_.fresh("buffer");
    const Text owner = names_.fresh("buffer_memory");
    Declare d;
    d.type = "const sdfg_owned";
    d.name = owner;
    d.init = "call, " + expr(count) + ", sizeof(" + type + "), 64, " +
             std::to_string(container_ordinal(root_name(from.path)));
    d.is_constructor = true;
    emit(std::move(d), origin);
    check_failed("!" + owner + ".memory", origin);
    Declare p;
    p.type = type + "*";
    p.name = buffer;
    p.init = "(" + type + "*)" + owner + ".memory";
    emit(std::move(p), origin);
    // The buffer takes part as a container of its own, packed, in the order of the source's elements.
    const Text cursor = names_.fresh("filled");
    const auto each = [&](const Side& side, const auto& statement_at) {
      const ir::Container& c = container(side.path);
      const std::vector<Running> dims = running(side.subset, c.layout, facts());
      const std::vector<Text> variables = fresh_counters(dims.size());
      const std::vector<Text> at = moved_indices(side.subset, dims, variables);
      Statements body = collect([&] { statement_at(element_of(side.path, at)); });
      emit_nested(variables, dims, std::move(body), origin, {});
    };
    Declare n;
    n.type = "int64_t";
    n.name = cursor;
    n.init = "0";
    emit(std::move(n), origin);
    each(from, [&](const Text& element) { emit(Store{buffer + "[" + cursor + "++]", "=", element}, origin); });
    emit(Store{cursor, "=", "0"}, origin);
    each(to, [&](const Text& element) {
      const ir::Container& target = container(to.path);
      const Text value = converted(buffer + "[" + cursor + "]", source.type, target.type);
      if (wcr) {
        ir::Wcr decided = *wcr;
        if (decided.lowering == ir::WcrLowering::kReduction) decided.lowering = ir::WcrLowering::kUndecided;
        accumulate(decided, target.type, element, value, origin, {});
      } else {
        emit(Store{element, "=", value}, origin);
      }
      emit(Evaluate{"++" + cursor}, origin);
    });
  });
  emit(Scope{std::move(inner)}, origin, comment);
}

// By the copy engine: the last two outer dimensions in one call, loops around it for more.
void Lowering::device_copy(const Side& from, const Side& to, const std::optional<ir::Wcr>& wcr, ir::Id origin,
                           const Text& comment) {
  if (parallel_depth_ > 0) unsupported(origin, "a copy of device memory by several threads");
  const ir::Container& source = container(from.path);
  const ir::Container& target = container(to.path);
  const auto region = analysis::region_copy(g_, from.path, from.subset, to.path, to.subset, wcr.has_value(), facts());
  if (!region) {
    throw Error(ErrorClass::kGraph,
                "The copy from '" + from.path + from.subset.str() + "' to '" + to.path + to.subset.str() +
                    "' crosses between host and device, and " +
                    (wcr ? Text("accumulates.")
                     : !(source.type == target.type)
                         ? "changes the type from " + source.type.str() + " to " + target.type.str() + "."
                         : Text("cuts its two sides differently.")),
                ir::places_of(g_, origin), "copy to a container of the same kind on the other side first");
  }
  uses_device_ = needs_call_ = true;
  support_.need(Helper::kDeviceCopy);
  check_volumes(running(from.subset, source.layout, facts()), running(to.subset, target.layout, facts()), origin);
  const auto space = [&](const Side& side) {
    const ir::Container& root = ir::root_of(g_, g_.containers.at(root_name(side.path)));
    if (root.storage == ir::Storage::kGpuGlobal) return static_cast<int>(MemorySpace::kDevice);
    return static_cast<int>(root.storage == ir::Storage::kPinned && options_.device ? MemorySpace::kPinned
                                                                                    : MemorySpace::kHost);
  };
  const std::size_t loops = region->dimensions.size() > 2 ? region->dimensions.size() - 2 : 0;
  std::vector<Running> dims;
  for (std::size_t d = 0; d < loops; ++d) dims.push_back({d, region->dimensions[d].size, 1});
  const std::vector<Text> variables = fresh_counters(loops);
  const auto address = [&](const Side& side, bool is_source) {
    Text out = address_at(side.path, side.subset);
    for (std::size_t d = 0; d < loops; ++d) {
      const RegionCopy::Dimension& r = region->dimensions[d];
      out += " + " + parenthesised(expr(is_source ? r.from_stride : r.to_stride)) + " * " + variables[d];
    }
    return out;
  };
  const Text element = " * sizeof(" + type_text(target.type) + ")";
  Text call = "sdfg_device_copy(call, " + std::to_string(stream_) + ", " + std::to_string(ordinal(origin)) + ", " +
              address(to, false) + ", " + std::to_string(space(to)) + ", " + address(from, true) + ", " +
              std::to_string(space(from)) + ", " + parenthesised(expr(region->run)) + element;
  for (std::size_t d = loops; d < region->dimensions.size(); ++d) {
    const RegionCopy::Dimension& r = region->dimensions[d];
    const auto stride = [&](const Expr& e) { return "(int64_t)" + parenthesised(expr(e)) + element; };
    call += ", " + expr(r.size) + ", " + stride(r.to_stride) + ", " + stride(r.from_stride);
  }
  Statements body;
  body.push_back(statement(Evaluate{call + ")"}, ordinal(origin), loops == 0 ? comment : Text()));
  emit_nested(variables, dims, std::move(body), origin, comment);
}

void Lowering::device_fill(const Side& to, const tasklet::Value& value, const std::vector<Running>& dims, ir::Id origin,
                           const Text& comment) {
  if (parallel_depth_ > 0) unsupported(origin, "a fill of device memory by several threads");
  uses_device_ = needs_call_ = true;
  support_.need(Helper::kDeviceFill);
  const ir::Container& target = container(to.path);
  const Text type = type_text(target.type);
  auto [run, length] = trailing_run(dims, facts());
  std::size_t loops = dims.size() - run;
  Text rows = "1", pitch = "0";
  if (loops > 0) {
    --loops;
    rows = expr(dims[loops].size);
    pitch = "(int64_t)" + parenthesised(expr(dims[loops].stride)) + " * sizeof(" + type + ")";
  }
  const std::vector<Text> variables = fresh_counters(loops);
  Text address = address_at(to.path, to.subset);
  for (std::size_t d = 0; d < loops; ++d) address += " + " + parenthesised(expr(dims[d].stride)) + " * " + variables[d];
  Statements body;
  body.push_back(statement(Evaluate{"sdfg_device_fill(call, " + std::to_string(stream_) + ", " + address + ", (" +
                                    type + ")" + parenthesised(literal(value)) + ", " + rows + ", " + expr(length) +
                                    ", " + pitch + ", " + std::to_string(ordinal(origin)) + ")"},
                           ordinal(origin), loops == 0 ? comment : Text()));
  emit_nested(variables, {dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(loops)}, std::move(body), origin,
              comment);
}

void Lowering::stream_copy(const Side& from, const Side& to, ir::Id origin, const Text& comment) {
  const ir::Container& source = container(from.path);
  const ir::Container& target = container(to.path);
  needs_call_ = true;
  if (source.kind == ir::ContainerKind::kStream && target.kind != ir::ContainerKind::kStream) {
    // Pops what is there into consecutive elements.
    const std::vector<Running> dims = running(to.subset, target.layout, facts());
    if (dims.size() > 1 || !(source.type == target.type))
      unsupported(origin, "a copy from a stream to more than a run of elements of its type");
    Statements inner = collect([&] {
      const Text queue = queue_at(from.path, from.subset, origin);
      const Text count = names_.fresh("count");
      Declare d;
      d.type = "int64_t";
      d.name = count;
      d.init = "0";
      emit(std::move(d), origin);
      const std::vector<Text> at = moved_indices(to.subset, dims, std::vector<Text>(dims.size(), count));
      While loop;
      loop.condition = count + " < " + parenthesised(expr(dims.empty() ? Expr(1) : dims[0].size)) +
                       " && sdfg_abi->stream_pop(call, " + queue + ", &" + element_of(to.path, at) + ")";
      loop.body.push_back(statement(Evaluate{"++" + count}, ordinal(origin)));
      emit(std::move(loop), origin);
    });
    emit(Scope{std::move(inner)}, origin, comment);
    return;
  }
  if (target.kind == ir::ContainerKind::kStream && source.kind != ir::ContainerKind::kStream) {
    if (!(source.type == target.type)) unsupported(origin, "a copy of elements of another type into a stream");
    const std::vector<Running> dims = running(from.subset, source.layout, facts());
    const std::vector<Text> variables = fresh_counters(dims.size());
    const std::vector<Text> at = moved_indices(from.subset, dims, variables);
    const Text queue = queue_at(to.path, to.subset, origin);
    Statements body;
    body.push_back(push(to.path, queue, "&" + element_of(from.path, at), origin));
    emit_nested(variables, dims, std::move(body), origin, comment);
    return;
  }
  unsupported(origin, "a copy from one stream to another");
}

void Lowering::fill(const Side& to, const tasklet::Value& value, ir::Id origin, const Text& comment) {
  const ir::Container& target = container(to.path);
  if (!target.type.is_scalar()) unsupported(origin, "a fill of elements of type " + target.type.str());
  const tasklet::Value stored = value.cast(target.type.scalar());
  const std::vector<Running> dims = running(to.subset, target.layout, facts());
  if (on_device(to.path)) {
    if (has_tiles(to.subset)) unsupported(origin, "a fill of a tiled subset");
    device_fill(to, stored, dims, origin, comment);
    return;
  }
  if (options_.check_bounds && kernel_ == nullptr) check_window(to, origin);
  const auto [run, length] = trailing_run(dims, facts());
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size_of(target.type.scalar())));
  stored.store(bytes.data());
  const bool zero = std::ranges::all_of(bytes, [](std::uint8_t b) { return b == 0; });
  if (zero && kernel_ == nullptr && run == dims.size() && !dims.empty() && !has_tiles(to.subset)) {
    emit(Evaluate{"__builtin_memset(" + address_at(to.path, to.subset) + ", 0, " + parenthesised(expr(length)) +
                  " * sizeof(" + type_text(target.type) + "))"},
         origin, comment);
    return;
  }
  if (has_tiles(to.subset)) unsupported(origin, "a fill of a tiled subset");
  const std::vector<Text> variables = fresh_counters(dims.size());
  const std::vector<Text> at = moved_indices(to.subset, dims, variables);
  Statements body;
  body.push_back(statement(Store{element_of(to.path, at), "=", literal(stored)}, ordinal(origin),
                           dims.empty() ? comment : Text()));
  const bool was = shared_out_;
  if (kernel_ != nullptr) {
    const ir::Container& root = ir::root_of(g_, g_.containers.at(root_name(to.path)));
    const bool own = kernel_->declared.contains(root.name) && root.storage != ir::Storage::kGpuShared;
    shared_out_ = !in_threads() && !own && kernel_->plan.threads() > 1;
  }
  emit_nested(variables, dims, std::move(body), origin, comment);
  shared_out_ = was;
}

}  // namespace sdfg::lower
