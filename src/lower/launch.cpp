// The host's part of device work: memory of the device, launches, copies, waits.
#include <algorithm>

#include "ir/device.hpp"
#include "lower/abi.hpp"
#include "lower/host.hpp"
#include "lower/lowering.hpp"
#include "symbolic/print.hpp"

namespace sdfg::lower {

bool Lowering::on_device(std::string_view path) const {
  return kernel_ == nullptr && ir::in_device_memory(g_, path);
}

void Lowering::issue_before(const ir::Element& e) {
  stream_ = e.issue ? e.issue->stream : 0;
  if (!e.issue) return;
  for (const int s : e.issue->host_waits) {
    uses_device_ = needs_call_ = true;
    emit(Evaluate{"sdfg_abi->device_synchronise(call, " + std::to_string(s) + ", " + std::to_string(ordinal(e.id)) +
                  ")"},
         e.id);
  }
  if (!e.issue->host_waits.empty()) {
    support_.need(Helper::kFailed);
    check_failed("sdfg_failed(call)", e.id);
  }
  for (const int event : e.issue->awaited_events) {
    uses_device_ = needs_call_ = true;
    emit(Evaluate{"sdfg_abi->device_wait(call, " + std::to_string(stream_) + ", " + std::to_string(event) + ")"}, e.id);
  }
}

void Lowering::issue_after(const ir::Element& e) {
  if (!e.issue) return;
  for (const int event : e.issue->recorded_events) {
    uses_device_ = needs_call_ = true;
    emit(Evaluate{"sdfg_abi->device_record(call, " + std::to_string(e.issue->stream) + ", " + std::to_string(event) +
                  ")"},
         e.id);
  }
}

void Lowering::launch(const ir::Element& e, const ir::Map& m) {
  if (parallel_depth_ > 0) unsupported(e.id, "a kernel launch by several threads");
  uses_device_ = needs_call_ = true;
  support_.need(Helper::kLaunch);
  if (!device_) {
    device_ = std::make_unique<Lowering>(g_, options_, ordinals_);
    device_->any_alias_ = any_alias_;
    for (const char* name : {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})
      (void)device_->names_.fresh(name);
  }
  device_->repeating_ = repeating_;
  const Launch l = device_->kernel(path_, e, m);

  std::string params;
  for (const std::string& p : m.params) params += (params.empty() ? "" : ", ") + p;
  Statements inner = collect([&] {
    for (const ir::Range& r : m.ranges) {
      if (symbolic::is_positive(r.step, facts()) == symbolic::Truth::kYes) continue;
      for (const std::string& p : m.params) {
        if (depends_on(r.step, p)) unsupported(e.id, "a step that depends on the map's own parameters");
      }
      support_.need(Helper::kFail);
      Statements report;
      report.push_back(statement(
          Evaluate{"sdfg_fail(call, 5, " + std::to_string(ordinal(e.id)) + ", " + expr(r.step) + ")"}, ordinal(e.id)));
      check_failed(parenthesised(expr(r.step)) + " <= 0", e.id, std::move(report));
    }
    Text grid;
    Text used = "1";
    Text across = "1";  // blocks in x
    for (std::size_t k = 0; k < 3; ++k) {
      const KernelAxis& a = l.plan.axes[k];
      Text blocks = "1";
      if (!a.dimensions.empty()) {
        if (const auto points = a.points.constant(); points && !a.runs) {
          const std::int64_t n = *points <= 0 ? 0 : (*points + a.lead - 1) / a.threads + 1;
          blocks = std::to_string(a.strided ? std::min(n, a.most_blocks) : n);
        } else {
          // Without strides every point needs its thread: a grid that no device has is an error of the launch.
          if (a.runs) support_.need(Helper::kRun);
          blocks = (a.runs       ? "sdfg_runs("
                    : a.lead > 0 ? "sdfg_blocks_after("
                                 : "sdfg_blocks(") +
                   expr(a.points) + ", " + (a.runs ? across : std::to_string(a.threads)) +
                   (a.lead > 0 ? ", " + std::to_string(a.lead) : Text());
          if (a.strided) {
            // A cap of all blocks together leaves the later axes what the earlier ones do not use.
            const Text most = std::to_string(a.most_blocks);
            blocks += ", " + (m.gpu_max_blocks > 0 && used != "1" ? "sdfg_rest(" + most + ", " + used + ")" : most);
          }
          blocks += ")";
          if (m.gpu_max_blocks > 0 && k < 2) {
            Declare d;
            d.type = "int64_t";
            d.name = names_.fresh("blocks");
            d.init = blocks;
            d.is_const = true;
            blocks = d.name;
            used = used == "1" ? blocks : used + " * " + blocks;
            emit(std::move(d), e.id);
          }
        }
      }
      if (k == 0) across = blocks;
      grid += (k ? ", " : "") + blocks;
    }
    Text block;
    for (std::size_t k = 0; k < 3; ++k) block += (k ? ", " : "") + std::to_string(l.plan.block[k]);
    Declare d;
    d.type = "sdfg_launch";
    d.name = names_.fresh("launch");
    d.init = "{{" + grid + "}, {" + block + "}, 0, 0}";
    d.is_const = true;
    const Text name = d.name;
    emit(std::move(d), e.id);
    Text list;
    for (const std::string& argument : l.arguments) {
      Text place = "(void*)&" + names_.of(argument);
      const ir::Container* c = g_.containers.find(argument);
      if (c != nullptr && c->is_scalar() && c->storage != ir::Storage::kGpuGlobal && is_pointer(argument))
        place = "(void*)" + names_.of(argument);  // the value lies behind the host's pointer
      list += (list.empty() ? "" : ", ") + place;
    }
    std::size_t count = l.arguments.size();
    if (l.reports) {
      reporting_.insert(stream_);
      list += Text(list.empty() ? "" : ", ") + "(void*)&" + kToldName;
      ++count;
    }
    Text arguments = "nullptr";
    if (!list.empty()) {
      Declare a;
      a.type = "void* const";
      a.name = arguments = names_.fresh("arguments");
      a.array = std::to_string(count);
      a.init = "{" + list + "}";
      emit(std::move(a), e.id);
    }
    emit(Evaluate{"sdfg_abi->device_launch(call, " + std::to_string(stream_) + ", " + std::to_string(l.kernel) + ", &" +
                  name + ", " + arguments + ", " + std::to_string(ordinal(e.id)) + ")"},
         e.id);
  });
  emit(Scope{std::move(inner)}, e.id, e.label == params ? Text() : comment_text(e.label));
}

void Lowering::declare_device_memory(const ir::Container& c, bool& needs_braces) {
  uses_device_ = needs_call_ = true;
  needs_braces = true;
  check_extents(c);
  const bool pinned = c.storage == ir::Storage::kPinned;
  support_.need(pinned ? Helper::kPinnedOwned : Helper::kDeviceOwned);
  const Text type = type_text(c.type);
  const Text owner = names_.fresh(c.name + "_memory");
  const Text size = size_call(c);
  Declare d;
  d.type = pinned ? "const sdfg_pinned_owned" : "const sdfg_device_owned";
  d.name = owner;
  d.init = Text("call, ") + (pinned ? "" : "0, ") + size + ", sizeof(" + type + "), " +
           std::to_string(container_ordinal(c.name));
  d.is_constructor = true;
  emit(std::move(d));
  check_failed("!" + owner + ".memory", 0);
  Declare p;
  p.type = type + "* __restrict";
  p.name = names_.of(c.name);
  p.init = "(" + type + "*)" + owner + ".memory";
  emit(std::move(p), 0, label_of(c));
  if (!c.zeroed) return;
  const bool checked = has_size_helper(c);
  if (pinned) {
    emit(Evaluate{"__builtin_memset(" + names_.of(c.name) + ", 0, " + size + (checked ? ".value" : "") + " * sizeof(" +
                  type + "))"});
    return;
  }
  support_.need(Helper::kDeviceFill);
  emit(Evaluate{"sdfg_device_fill(call, 0, " + names_.of(c.name) + ", (" + type + "){}, 1, " + size +
                (checked ? ".value" : "") + ", 0, " + std::to_string(container_ordinal(c.name)) + ")"});
}

Lowered lower_graph(const ir::Graph& g, const LowerOptions& options, const ir::Ordinals& ordinals) {
  Lowering lowering(g, options, ordinals);
  Lowered out;
  out.host = lowering.host_unit();
  out.device = lowering.device_module();
  return out;
}

}  // namespace sdfg::lower
