// Declares containers: variables, stack arrays, heap memory, views, persistent memory and constants.
#include <algorithm>
#include <set>

#include "lower/lowering.hpp"
#include "symbolic/print.hpp"
#include "tasklet/value.hpp"

namespace sdfg::lower {

namespace {

constexpr std::int64_t kDefaultAlignment = 64;

std::int64_t alignment_of(const ir::Container& c) {
  if (c.alignment > 0) return c.alignment;
  return c.alignment < 0 ? std::max<std::int64_t>(c.type.alignment(), 1) : kDefaultAlignment;
}

}  // namespace

// The user's name of a container, when the identifier doesn't show it.
Text Lowering::label_of(const ir::Container& c) {
  return c.label == names_.of(c.name) ? Text() : comment_text(c.label);
}

std::vector<const ir::Container*> Lowering::in_dependency_order(const std::vector<std::string>& locals) const {
  std::vector<const ir::Container*> out;
  std::set<std::string, std::less<>> done;
  const std::set<std::string, std::less<>> here(locals.begin(), locals.end());
  // A view comes after what it shows; chains are followed, cycles are a broken graph and end the recursion.
  const auto add = [&](const auto& self, const std::string& name) -> void {
    if (!done.insert(name).second) return;
    const ir::Container& c = g_.containers.at(name);
    if (c.kind == ir::ContainerKind::kView) {
      const std::string target(root_name(c.viewed));
      if (here.contains(target)) self(self, target);
    }
    out.push_back(&c);
  };
  for (const std::string& name : locals) add(add, name);
  return out;
}

void Lowering::declare_containers(const std::vector<std::string>& locals, bool& needs_braces) {
  for (const ir::Container* c : in_dependency_order(locals)) {
    if (c->lifetime == ir::Lifetime::kScope && !c->constant) declare_container(*c, needs_braces);
  }
}

bool Lowering::fits_stack(const ir::Container& c) const {
  if (c.storage == ir::Storage::kHeap || c.storage == ir::Storage::kPinned) return false;
  const auto elements = c.layout.total_size().constant();
  if (!elements || *elements < 0 || !c.layout.start_offset().is_zero()) return false;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(*elements, std::max<std::int64_t>(c.type.size(), 1), &bytes)) return false;
  return bytes <= options_.max_stack_bytes - stack_bytes_;
}

void Lowering::check_extents(const ir::Container& c) {
  // What holds before the block is entered: inside, the extents are known to have passed this very check.
  const symbolic::Facts& outside = facts_at_depth(path_.empty() ? 0 : path_.size() - 1);
  for (std::size_t d = 0; d < c.rank(); ++d) {
    const symbolic::Expr& extent = c.layout.shape()[d];
    if (symbolic::is_nonnegative(extent, outside) == symbolic::Truth::kYes) continue;
    support_.need(Helper::kFail);
    needs_call_ = true;
    const Text text = expr(extent);
    if (!checked_extents_.insert(text).second) continue;  // of a container that lives, so its symbols are the same
    Statements report;
    report.push_back(statement(Evaluate{"sdfg_fail(call, 2, " + std::to_string(container_ordinal(c.name)) + ", " +
                                        std::to_string(d) + ", " + text + ")"}));
    check_failed(parenthesised(text) + " < 0", 0, std::move(report));
  }
}

// A queue, or an array of them; see queue_at.
void Lowering::declare_stream(const ir::Container& c) {
  needs_call_ = true;
  const symbolic::Facts& outside = facts_at_depth(path_.empty() ? 0 : path_.size() - 1);
  const Text capacity = expr(c.buffer_size);
  if (symbolic::is_nonnegative(c.buffer_size, outside) != symbolic::Truth::kYes) {
    support_.need(Helper::kFail);
    Statements report;
    report.push_back(statement(
        Evaluate{"sdfg_fail(call, 19, " + std::to_string(container_ordinal(c.name)) + ", " + capacity + ")"}));
    check_failed(parenthesised(capacity) + " < 0", 0, std::move(report));
  }
  const bool single = is_single_queue(c);
  Declare d;
  d.name = names_.of(c.name);
  d.is_constructor = true;
  if (single) {
    support_.need(Helper::kStreamOwner);
    d.type = "sdfg_stream";
    d.init = "call, ";
  } else {
    check_extents(c);
    support_.need(Helper::kStreamsOwner);
    d.type = "sdfg_streams";
    d.init = "call, " + std::to_string(container_ordinal(c.name)) + ", " + size_call(c) + ", ";
  }
  d.init += "sizeof(" + type_text(c.type) + "), " + capacity;
  const Text made = d.name + (single ? ".queue" : ".complete");
  emit(std::move(d), 0, label_of(c));
  check_failed("!" + made, 0);
}

bool Lowering::has_size_helper(const ir::Container& c) const {
  const symbolic::Expr& total = c.layout.total_size();
  return !total.constant() && total.kind() != symbolic::Kind::kSymbol;
}

Text Lowering::size_call(const ir::Container& c) {
  const symbolic::Expr& total = c.layout.total_size();
  if (!has_size_helper(c)) return expr(total);
  const symbolic::SymbolSet used = symbolic::free_symbols(total);
  // Containers of one size share the helper of the first.
  const std::string meaning = total.str();
  auto it = size_helpers_.find(meaning);
  if (it == size_helpers_.end()) {
    support_.need(Helper::kChecked);
    IndexHelper helper;
    helper.name = names_.fresh(c.name + "_size");
    helper.type = "sdfg_checked";
    for (const std::string& s : used) helper.parameters.push_back(names_.of(s));
    symbolic::CppPrinter printer;
    printer.symbol = [&](const std::string& s) { return "sdfg_checked(" + names_.of(s) + ")"; };
    printer.function_prefix = "sdfg_checked_";
    helper.value = symbolic::to_cpp(total, printer);
    it = size_helpers_.emplace(meaning, helper.name).first;
    unit_.helpers.push_back(std::move(helper));
  }
  Text call = it->second + "(";
  bool first = true;
  for (const std::string& s : used) {
    call += (first ? "" : ", ") + names_.of(s);
    first = false;
  }
  return call + ")";
}

void Lowering::declare_container(const ir::Container& c, bool& needs_braces) {
  if (!uses_.used(c.name)) return;
  if (kernel_ != nullptr) {
    declare_in_kernel(c);
    return;
  }
  const bool array = c.kind == ir::ContainerKind::kArray || c.kind == ir::ContainerKind::kScalar;
  switch (c.storage) {
    case ir::Storage::kDefault:
    case ir::Storage::kRegister:
    case ir::Storage::kHeap:
    case ir::Storage::kThreadLocal: break;
    case ir::Storage::kPinned:
      if (c.kind == ir::ContainerKind::kArray && options_.device) {
        declare_device_memory(c, needs_braces);
        return;
      }
      break;
    case ir::Storage::kGpuGlobal:
      if (array) {
        declare_device_memory(c, needs_braces);
        return;
      }
      if (c.kind == ir::ContainerKind::kView || c.kind == ir::ContainerKind::kReference) break;
      [[fallthrough]];
    case ir::Storage::kGpuShared:
      throw Error(ErrorClass::kUsage,
                  "The transient '" + c.name + "' lives in " + std::string(ir::to_string(c.storage)) +
                      " memory, which host code can't allocate.",
                  {{"container '" + c.name + "'", c.location}});
  }
  const Text name = names_.of(c.name);
  const Text type = c.kind == ir::ContainerKind::kStructure ? Text() : type_text(c.type);
  switch (c.kind) {
    case ir::ContainerKind::kScalar: {
      if (uses_.written_once(c.name) != 0) return;  // declared by its one write
      Declare d;
      d.type = type;
      d.name = name;
      d.init = c.zeroed ? Text("{}") : Text();
      emit(std::move(d), 0, label_of(c));
      return;
    }
    case ir::ContainerKind::kView: declare_view(c); return;
    case ir::ContainerKind::kReference: {
      Declare d;
      d.type = type + "*";
      d.name = name;
      d.init = "nullptr";
      emit(std::move(d));
      return;
    }
    case ir::ContainerKind::kArray: break;
    case ir::ContainerKind::kStream:
      needs_braces = true;
      declare_stream(c);
      return;
    case ir::ContainerKind::kStructure: declare_structure(c, needs_braces); return;
    case ir::ContainerKind::kContainerArray:
      throw Error(ErrorClass::kUsage,
                  "The transient '" + c.name + "' is an array of containers; host code can't allocate these.",
                  {{"container '" + c.name + "'", c.location}});
  }

  if (fits_stack(c)) {
    const std::int64_t elements = *c.layout.total_size().constant();
    stack_bytes_ += elements * c.type.size();
    needs_braces = true;
    Declare d;
    d.type = type;
    d.name = name;
    d.array = std::to_string(std::max<std::int64_t>(elements, 1));
    d.alignment = static_cast<int>(std::min(
        alignment_of(c), elements * c.type.size() >= kDefaultAlignment ? alignment_of(c) : c.type.alignment()));
    if (d.alignment == c.type.alignment()) d.alignment = 0;
    if (c.zeroed) d.init = "{}";
    emit(std::move(d), 0, label_of(c));
    return;
  }

  check_extents(c);
  support_.need(Helper::kOwned);
  needs_call_ = true;
  needs_braces = true;
  const Text owner = names_.fresh(c.name + "_memory");
  const Text size = size_call(c);
  Declare d;
  d.type = "const sdfg_owned";
  d.name = owner;
  d.init = "call, " + size + ", sizeof(" + type + "), " + std::to_string(alignment_of(c)) + ", " +
           std::to_string(container_ordinal(c.name));
  d.is_constructor = true;
  emit(std::move(d));
  check_failed("!" + owner + ".memory", 0);
  Declare p;
  p.type = type + "* __restrict";
  p.name = name;
  p.is_const = false;
  p.init = "(" + type + "*)" + owner + ".memory";
  emit(std::move(p), 0, label_of(c));
  if (c.zeroed) {
    const bool checked = has_size_helper(c);
    emit(
        Evaluate{"__builtin_memset(" + name + ", 0, " + size + (checked ? ".value" : "") + " * sizeof(" + type + "))"});
  }
}

// A structure on the stack whose array members are heap memory.
void Lowering::declare_structure(const ir::Container& c, bool& needs_braces) {
  const Text type = container_structure(c);
  const Text value = names_.fresh(c.name + "_value");
  Declare d;
  d.type = type;
  d.name = value;
  d.init = "{}";
  emit(std::move(d));
  Declare p;
  p.type = type + "*";
  p.name = names_.of(c.name);
  p.init = "&" + value;
  p.is_const = false;
  emit(std::move(p), 0, label_of(c));
  needs_braces = true;
  for (const ir::Container& m : c.members) {
    if (m.is_scalar()) continue;
    if (m.kind != ir::ContainerKind::kArray) {
      throw Error(ErrorClass::kUsage,
                  "The member '" + m.name + "' of the transient structure '" + c.name + "' is a " +
                      std::string(ir::to_string(m.kind)) + "; host code allocates arrays and scalars only.",
                  {{"container '" + c.name + "'", c.location}});
    }
    support_.need(Helper::kOwned);
    needs_call_ = true;
    const Text owner = names_.fresh(c.name + "_" + m.name + "_memory");
    ir::Container named = m;
    named.name = c.name + "_" + m.name;
    Declare memory;
    memory.type = "const sdfg_owned";
    memory.name = owner;
    memory.init = "call, " + size_call(named) + ", sizeof(" + type_text(m.type) + "), " +
                  std::to_string(alignment_of(m)) + ", " + std::to_string(container_ordinal(c.name));
    memory.is_constructor = true;
    emit(std::move(memory));
    check_failed("!" + owner + ".memory", 0);
    emit(Store{value + "." + sanitised(m.name), "=", "(" + type_text(m.type) + "*)" + owner + ".memory"});
  }
}

void Lowering::declare_view(const ir::Container& c) {
  if (!uses_.used(c.name)) return;
  const ir::Container& shown = container(c.viewed);
  const bool read_only = !written_here(c.name);
  Text element = type_text(c.type);
  Text cast;
  if (!(shown.type == c.type)) {
    // Reads through another element type are part of the view's meaning; C++ needs to be told.
    const Text alias = names_.fresh(c.name + "_element");
    emit(Evaluate{"typedef " + element + " __attribute__((may_alias)) " + alias});
    element = alias;
    cast = Text("(") + (read_only ? "const " : "") + alias + "*)";
  }
  // Accesses are checked against the extents of the view, so the view itself must lie inside what it shows.
  if (options_.check_bounds && kernel_ == nullptr) check_window({c.viewed, c.viewed_subset}, 0);
  Declare d;
  d.type = Text(read_only ? "const " : "") + element + "*";
  d.name = names_.of(c.name);
  const Text address = address_at(c.viewed, c.viewed_subset);
  d.init = cast.empty() ? address : cast + "(" + address + ")";
  emit(std::move(d), 0, label_of(c));
}

void Lowering::declare_persistent() {
  symbolic::Expr offset = 0;
  int position = 0;
  for (const ir::Container& c : g_.containers) {
    if (!c.transient || c.constant || c.lifetime == ir::Lifetime::kScope) continue;
    const bool external = c.lifetime == ir::Lifetime::kExternal;
    if (!external && !uses_.used(c.name)) continue;
    if (c.kind != ir::ContainerKind::kArray && c.kind != ir::ContainerKind::kScalar) {
      throw Error(ErrorClass::kUsage,
                  "The " + std::string(ir::to_string(c.kind)) + " '" + c.name + "' can't be " +
                      std::string(ir::to_string(c.lifetime)) + ".",
                  {{"container '" + c.name + "'", c.location}});
    }
    const bool device = c.storage == ir::Storage::kGpuGlobal && !external;
    if (c.storage == ir::Storage::kThreadLocal || (c.storage == ir::Storage::kGpuGlobal && !device) ||
        c.storage == ir::Storage::kGpuShared) {
      throw Error(ErrorClass::kUsage,
                  "The " + std::string(ir::to_string(c.lifetime)) + " container '" + c.name + "' lives in " +
                      std::string(ir::to_string(c.storage)) +
                      " memory; host code keeps such containers on the heap only.",
                  {{"container '" + c.name + "'", c.location}});
    }
    needs_call_ = true;
    const Text type = type_text(c.type);
    // Containers that passes made have no ordinal in the calling graph; they need a number of their own all the same.
    const int known = container_ordinal(c.name);
    const Text owner = std::to_string(known >= 0 ? known : -2 - position);
    ++position;
    check_extents(c);
    Text bytes = size_call(c);
    if (has_size_helper(c)) {
      support_.need(Helper::kFail);
      Statements report;
      report.push_back(statement(Evaluate{"sdfg_fail(call, 3, " + owner + ")"}));
      check_failed("(" + bytes + " * (int64_t)sizeof(" + type + ")).overflow", 0, std::move(report));
      bytes += ".value";
    }
    bytes = parenthesised(bytes) + " * (int64_t)sizeof(" + type + ")";
    Declare d;
    d.type = type + "*" + (external ? "" : " __restrict");
    d.name = names_.of(c.name);
    if (external) {
      d.init = "(" + type + "*)sdfg_abi->external(call, " + owner + ", " + expr(offset) + ", " + bytes + ")";
      // Slices of the caller's block start at multiples of 64 bytes.
      offset += symbolic::ceil_div(c.layout.total_size() * symbolic::Expr(c.type.size()), kDefaultAlignment) *
                symbolic::Expr(kDefaultAlignment);
    } else if (device) {
      uses_device_ = true;
      d.init = "(" + type + "*)sdfg_abi->device_persistent(call, " + owner + ", " + bytes + ", " +
               (c.zeroed ? "1" : "0") + ")";
    } else {
      d.init = "(" + type + "*)sdfg_abi->persistent(call, " + owner + ", " + bytes + ", " +
               std::to_string(alignment_of(c)) + ", " + (c.zeroed ? "1" : "0") + ")";
    }
    emit(std::move(d), 0, label_of(c));
    check_failed("!" + names_.of(c.name), 0);
    if (external && c.zeroed) emit(Evaluate{"__builtin_memset(" + names_.of(c.name) + ", 0, " + bytes + ")"});
  }
}

void Lowering::declare_constant(const ir::Container& c) {
  if (!uses_.used(c.name)) return;
  if (!c.type.is_scalar()) {
    throw Error(
        ErrorClass::kUsage,
        "The constant '" + c.name + "' has elements of type " + c.type.str() + "; only basic types are supported.",
        {{"container '" + c.name + "'", c.location}});
  }
  ConstantTable table;
  table.type = type_text(c.type);
  table.name = names_.of(c.name);
  const std::size_t step = static_cast<std::size_t>(size_of(c.type.scalar()));
  for (std::size_t at = 0; at + step <= c.constant->size(); at += step) {
    const tasklet::Value v = tasklet::Value::load(c.constant->data() + at, c.type.scalar());
    table.values.push_back(literal(v));
  }
  if (!c.is_scalar()) table.extent = std::to_string(std::max<std::size_t>(table.values.size(), 1));
  unit_.constants.push_back(std::move(table));
}

}  // namespace sdfg::lower
