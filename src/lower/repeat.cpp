// Loops of the host whose iterations all launch the same kernels: their launches can be recorded once.
#include <cstdint>
#include <utility>

#include "ir/sites.hpp"
#include "lower/lowering.hpp"

namespace sdfg::lower {

namespace {

// What the launches of a body have in common.
struct Launches {
  symbolic::SymbolSet symbols;  // that ranges, arguments and layouts use
  std::optional<int> stream;
};

bool is_bare(const std::optional<ir::DeviceIssue>& issue) {
  return !issue || (issue->host_waits.empty() && issue->awaited_events.empty() && issue->recorded_events.empty());
}

// False if the sequence does anything but launch kernels on one stream.
bool gather(const ir::Graph& g, const ir::Sequence& s, Launches& out) {
  for (const auto& item : s.items) {
    if (!is_bare(item->issue)) return false;
    if (const auto* state = std::get_if<ir::State>(&item->kind)) {
      if (!state->nodes.empty() || state->barrier) return false;
      continue;
    }
    if (const auto* block = std::get_if<ir::Block>(&item->kind)) {
      // What it declares is taken and given back in every iteration.
      if (!block->locals.empty() || !gather(g, block->body, out)) return false;
      continue;
    }
    const auto* map = std::get_if<ir::Map>(&item->kind);
    if (map == nullptr || map->schedule != ir::Schedule::kDevice) return false;
    const int stream = item->issue ? item->issue->stream : 0;
    if (out.stream.value_or(stream) != stream) return false;
    out.stream = stream;
    out.symbols.merge(ir::symbols_used(g, *item));
    symbolic::SymbolSet containers = ir::containers_read(g, *item);
    containers.merge(ir::containers_written(g, *item));
    for (const std::string& name : containers) {
      const ir::Container* c = ir::resolve(g, name);
      if (c != nullptr) ir::add_layout_symbols(g, *c, out.symbols);
    }
  }
  return true;
}

bool is_plain(const symbolic::Expr& e) {
  return !symbolic::has_reads(e) && !symbolic::has_calls(e);
}

}  // namespace

// Nothing in such a body binds a symbol or runs code of the host, so its launches can only differ by the loop's own
// variable. The values of scalars travel with a launch, but only host code could change them.
std::optional<Lowering::Repetition> Lowering::repetition_of(const ir::For& f) const {
  // Times are taken around every launch, which one record of them would not show.
  if (kernel_ != nullptr || parallel_depth_ > 0 || !options_.repeat_launches || options_.trace) return std::nullopt;
  const auto bounds = ir::canonical(f);
  if (!bounds || bounds->step == INT64_MIN || !is_plain(bounds->begin) || !is_plain(bounds->end)) return std::nullopt;
  Launches launches;
  if (!gather(g_, f.body, launches) || !launches.stream || launches.symbols.contains(f.variable)) return std::nullopt;
  const symbolic::Expr span = bounds->step > 0 ? bounds->end - bounds->begin : bounds->begin - bounds->end;
  const std::int64_t size = bounds->step > 0 ? bounds->step : -bounds->step;
  return Repetition{(size == 1 ? span : symbolic::floor_div(span, symbolic::Expr(size))) + 1, *launches.stream};
}

void Lowering::repeated_loop(const ir::Element& e, const ir::For& f, const Repetition& r) {
  uses_device_ = needs_call_ = true;
  // Counted before the loop: that it has an iteration is no fact there.
  const ir::Element* const self = path_.back();
  path_.pop_back();
  const Text trips = expr(r.trips);
  path_.push_back(self);
  Statements inner = collect([&] {
    Declare rounds;
    rounds.type = "int64_t";
    rounds.name = names_.fresh("rounds");
    rounds.init = "sdfg_abi->device_repeat_begin(call, " + std::to_string(r.stream) + ", " + trips + ", " +
                  std::to_string(ordinal(e.id)) + ")";
    rounds.is_const = true;
    const Text bound = rounds.name;
    emit(std::move(rounds), e.id);
    Target t;
    t.id = e.id;
    t.is_loop = true;
    For out;
    out.type = "int64_t";
    out.variable = names_.of(f.variable);
    out.begin = "0";
    out.bound = bound;
    const bool outer = std::exchange(repeating_, true);
    out.body = target_body(t, e, f.body, 0);
    repeating_ = outer;
    emit(std::move(out), e.id);
    emit(Evaluate{"sdfg_abi->device_repeat_end(call)"}, e.id);
  });
  const Text comment = comment_text(e.label);
  emit(Scope{std::move(inner)}, e.id, comment == names_.of(f.variable) ? Text() : comment);
}

}  // namespace sdfg::lower
