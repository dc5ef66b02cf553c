// Lowers tasklets of C++ text: the text stands as it is, in braces that declare its connectors.
#include <algorithm>
#include <cctype>
#include <set>

#include "base/words.hpp"
#include "lower/lowering.hpp"

namespace sdfg::lower {

// The user's text names symbols and containers by their own names; where generated ones differ, it gets constants of
// its own.
void Lowering::declare_mentioned(const std::string& text, ir::Id origin) {
  std::set<std::string> seen;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    const std::size_t start = at;
    while (at < text.size() && is_word(text[at])) ++at;
    const std::string name = text.substr(start, at - start);
    if (!seen.insert(name).second) continue;
    Declare d;
    d.name = name;
    if (g_.symbols.contains(name)) {
      d.type = symbol_type(name);
      d.init = names_.of(name);
    } else if (const ir::Container* c = g_.containers.find(name); c && (c->constant || c->is_scalar())) {
      d.type = c->is_scalar() ? type_text(c->type) : "auto* ";
      d.init = c->is_scalar() ? element_of(name, {}) : base(name);
    } else {
      continue;
    }
    d.is_const = true;
    if (d.init != d.name) emit(std::move(d), origin);
  }
}

namespace {

bool names_a_connector(std::string_view text, const ir::Tasklet& t) {
  const auto named = [&](const ir::Connector& c) { return mentions(text, c.name); };
  return std::ranges::any_of(t.inputs, named) || std::ranges::any_of(t.outputs, named);
}

}  // namespace

void Lowering::cpp_tasklet(const ir::State& s, const ir::Node& n, const ir::Tasklet& t) {
  if (!t.code.global_text.empty() && unit_.global_code.find(t.code.global_text) == Text::npos) {
    unit_.global_code += t.code.global_text + (t.code.global_text.ends_with('\n') ? "" : "\n");
  }
  std::vector<const ir::Memlet*> outs;
  for (const ir::Memlet* m : s.out_edges(n.id)) {
    if (!m->src_connector.empty()) outs.push_back(m);
  }
  for (const ir::Memlet* m : outs) {
    if (access_of(s, m->dst)) {
      const ir::Container& c = container(data_of(s, m->dst));
      if (uses_.written_once(c.name) != m->id) continue;
      Declare d;
      d.type = type_text(c.type);
      d.name = base(c.name);
      d.init = "{}";
      emit(std::move(d), n.id);
      continue;
    }
    const Type type = ir::connector_type(g_, s, n, m->src_connector, true);
    if (registers_.contains({n.id, m->src_connector})) continue;
    Declare d;
    d.type = type_text(type);
    d.name = names_.fresh(n.label + "_" + m->src_connector);
    d.init = "{}";
    registers_[{n.id, m->src_connector}] = {d.name, type};
    emit(std::move(d), n.id);
  }
  if (t.code.text.find("sdfg_abi->") != Text::npos) needs_call_ = true;  // a call of a host library
  // The user's text sees its connectors under their own names. Whatever the generated text needs is bound to fresh
  // names outside of the inner braces, so that neither connectors nor locals of the user can capture it.
  Statements inner = collect([&] {
    Statements heads;
    Binding b;
    bind_inputs(s, n, t, b, false);
    for (auto& [connector, value] : b.values) {
      // An address that names what the inner braces will call otherwise is taken out here.
      const auto window = b.windows.find(connector);
      if (window == b.windows.end() || !names_a_connector(value, t)) continue;
      Declare d;
      const bool read_only = is_read_only(window->second.container);
      d.type = Text(read_only ? "const " : "") + type_text(container(window->second.container).type) + "*";
      d.name = names_.fresh(connector + "_at");
      d.init = value;
      d.is_const = false;
      value = d.name;
      emit(std::move(d), n.id);
    }
    struct Place {
      const ir::Memlet* memlet;
      Text address;
      int lane;  // of a vector that goes to elements of its own; -1: the whole value
    };
    std::vector<Place> places;
    for (const ir::Memlet* m : outs) {
      if (!access_of(s, m->dst)) continue;
      const std::string& data = data_of(s, m->dst);
      const ir::Container& c = container(data);
      if (c.kind == ir::ContainerKind::kStream) unsupported(n.id, "C++ code that pushes to a stream");
      const auto place = [&](const ir::Memlet& at, int lane) {
        Declare d;
        d.type = type_text(c.type) + "*";
        d.name = names_.fresh(m->src_connector + "_at");
        const Text target = m->wcr ? target_of(s, at) : Text();
        d.init = m->wcr ? "&" + target : address_at(data, at.dst_subset.value_or(ir::Subset()));
        places.push_back({m, d.name, lane});
        emit(std::move(d), n.id);
      };
      const Type type = ir::connector_type(g_, s, n, m->src_connector, true);
      const auto lanes = lanes_of(type, data, m->dst_subset.value_or(ir::Subset()), n.id);
      ir::Memlet one = *m;
      for (std::size_t k = 0; k < lanes.size(); ++k) {
        one.dst_subset = lanes[k];
        place(one, static_cast<int>(k));
      }
      if (lanes.empty()) place(*m, -1);
    }
    Statements body = collect([&] {
      declare_mentioned(t.code.text, n.id);
      if (mentions(t.code.text, "sdfg_stream")) {
        // A call of a device library: where it is queued is the plan's to say.
        uses_device_ = needs_call_ = true;
        int origin = ordinal(n.id);  // the tasklet is an expansion's; what the user wrote is around it
        for (auto outer = path_.rbegin(); origin < 0 && outer != path_.rend(); ++outer) origin = ordinal((*outer)->id);
        emit(Verbatim{"const int32_t sdfg_stream = " + std::to_string(stream_) +
                      ", sdfg_origin = " + std::to_string(origin) + ";"},
             n.id);
      }
      for (const ir::Connector& in : t.inputs) {
        const Type type = ir::connector_type(g_, s, n, in.name, false);
        Declare d;
        // Code may write in place through an input of a container that is written anyway, as LAPACK does.
        const bool read_only =
            is_read_only(b.windows.contains(in.name) ? b.windows.at(in.name).container : std::string_view());
        d.type = type.kind() == Type::Kind::kPointer ? (read_only ? "const " : "") + type_text(type.pointee()) + "*"
                                                     : type_text(type);
        d.name = in.name;
        d.init = b.values.at(in.name);
        if (d.init == d.name) continue;  // the fresh name is the connector's own
        d.is_const = type.kind() != Type::Kind::kPointer;
        const bool also_output = is_output(t, in.name);
        if (also_output) continue;
        emit(std::move(d), n.id);
      }
      for (const ir::Connector& out : t.outputs) {
        const Type type = ir::connector_type(g_, s, n, out.name, true);
        const auto place =
            std::ranges::find_if(places, [&](const Place& p) { return p.memlet->src_connector == out.name; });
        Declare d;
        d.name = out.name;
        if (type.kind() == Type::Kind::kPointer && place != places.end()) {
          d.type = type_text(type);
          d.init = place->address;
        } else {
          d.type = type_text(type);
          const bool also_input =
              std::ranges::any_of(t.inputs, [&](const ir::Connector& c) { return c.name == out.name; });
          const bool keeps = place != places.end() && place->memlet->dynamic && !place->memlet->wcr;
          if (also_input) {
            d.init = b.values.at(out.name);
          } else if (keeps && place->lane >= 0) {
            for (const Place& p : places) {
              if (p.memlet == place->memlet) d.init += (d.init.empty() ? "{*" : ", *") + p.address;
            }
            d.init = type_text(type) + d.init + "}";
          } else {
            d.init = keeps ? "*" + place->address : Text("{}");
          }
          if (also_input && d.init == d.name) continue;
        }
        emit(std::move(d), n.id);
      }
      emit(Verbatim{t.code.text}, n.id);
      for (const auto& [m, address, lane] : places) {
        const Type type = ir::connector_type(g_, s, n, m->src_connector, true);
        if (type.kind() == Type::Kind::kPointer) continue;
        const ir::Container& c = container(data_of(s, m->dst));
        const Text value =
            lane < 0 ? converted(m->src_connector, type, c.type)
                     : converted(m->src_connector + "[" + std::to_string(lane) + "]", Type(type.scalar()), c.type);
        if (m->wcr) {
          accumulate(*m->wcr, c.type, "(*" + address + ")", value, n.id, {});
        } else {
          emit(Store{"*" + address, "=", value}, n.id);
        }
      }
      for (const auto& [key, reg] : registers_) {
        if (key.first == n.id) emit(Store{reg.first, "=", key.second}, n.id);
      }
    });
    emit(Scope{std::move(body)}, n.id);
  });
  emit(Scope{std::move(inner)}, n.id, comment_text(n.label));
}

}  // namespace sdfg::lower
