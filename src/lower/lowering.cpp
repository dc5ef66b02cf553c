// The function around the statements: parameters, the call state, the entries.
#include "lower/lowering.hpp"

#include <algorithm>

#include "lower/abi.hpp"
#include "lower/cut.hpp"
#include "lower/host.hpp"

namespace sdfg::lower {

Lowering::Lowering(const ir::Graph& g, const LowerOptions& options, const ir::Ordinals& ordinals)
    : g_(g), options_(options), uses_(g), ordinals_(ordinals) {}

void Lowering::emit(Statement::Node node, ir::Id origin, Text comment) {
  out_->push_back(statement(std::move(node), origin == 0 ? -1 : ordinal(origin), std::move(comment)));
}

int Lowering::ordinal(ir::Id id) const {
  auto it = ordinals_.of_id.find(id);
  // Containers come first.
  return it == ordinals_.of_id.end() ? -1 : static_cast<int>(ordinals_.containers.size()) + it->second;
}

int Lowering::container_ordinal(std::string_view name) const {
  auto it = ordinals_.of_container.find(name);
  return it == ordinals_.of_container.end() ? -1 : it->second;
}

void Lowering::unsupported(ir::Id id, const std::string& what, std::string hint) const {
  throw Error(ErrorClass::kUsage, (kernel_ ? "A kernel can't express " : "Host code can't express ") + what + ".",
              ir::places_of(g_, id), std::move(hint));
}

const symbolic::Facts& Lowering::facts_at_depth(std::size_t depth) {
  auto it = facts_.find(depth);
  if (it == facts_.end()) {
    const std::vector<const ir::Element*> path(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(depth));
    it = facts_.emplace(depth, ir::facts_at(g_, path)).first;
  }
  return it->second;
}

Unit Lowering::host_unit() {
  unit_.prelude = abi_prelude();
  unit_.global_code = g_.code.host;
  if (!unit_.global_code.empty() && !unit_.global_code.ends_with('\n')) unit_.global_code += '\n';

  // Parameters first: they keep their names.
  any_alias_ = std::ranges::any_of(
      g_.parameters, [&](const std::string& p) { return g_.containers.contains(p) && g_.containers.at(p).may_alias; });
  std::vector<Parameter> inner, outer;
  Text arguments, packed;
  for (std::size_t i = 0; i < g_.parameters.size(); ++i) {
    const std::string& p = g_.parameters[i];
    const Text name = names_.of(p);
    Text type, plain;
    if (const ir::Container* c = g_.containers.find(p)) {
      if (c->kind == ir::ContainerKind::kContainerArray) {
        throw Error(ErrorClass::kUsage,
                    "The argument '" + p + "' is an array of containers, which host code can't take.",
                    {{"container '" + p + "'", c->location}});
      }
      const Text element = c->kind == ir::ContainerKind::kStructure ? container_structure(*c) : type_text(c->type);
      if (c->kind == ir::ContainerKind::kStream) {
        if (!is_single_queue(*c)) {
          throw Error(ErrorClass::kUsage,
                      "The argument '" + p + "' is an array of streams; a function takes single streams only.",
                      {{"container '" + c->name + "'", c->location}});
        }
        type = plain = "void*";
      } else if (!is_pointer(p)) {
        plain = element;
        type = "const " + element;
      } else {
        plain = (is_read_only(p) ? "const " : "") + element + "*";
        type = plain + (any_alias_ ? "" : " __restrict");
      }
    } else {
      const Type& t = g_.symbols.at(p).type;
      plain = type_text(t);
      type = t.kind() == Type::Kind::kCallback ? plain : "const " + plain;
    }
    inner.push_back({type, name});
    outer.push_back({plain, name});
    arguments += (arguments.empty() ? "" : ", ") + name;
    const std::size_t hole = plain.find("{}");
    const Text pointer =
        hole == Text::npos ? plain + " const*" : plain.substr(0, hole) + "const*" + plain.substr(hole + 2);
    packed += Text(packed.empty() ? "" : ", ") + "*(" + pointer + ")args[" + std::to_string(i) + "]";
  }
  for (const ir::Container& c : g_.containers) {
    if (c.constant) declare_constant(c);
  }
  const Text body_name = names_.fresh(g_.name.empty() ? std::string("body") : g_.name);

  Function body;
  body.name = body_name;
  body.body = collect([&] {
    bool braces = false;
    declare_symbols(0);
    declare_persistent();
    declare_containers(g_.locals, braces);
    sequence(g_.body);
  });
  // What only leaves the function at its end says nothing.
  const auto only_returns = [](const Statement& s) {
    if (std::holds_alternative<Return>(s.node)) return true;
    const auto* test = std::get_if<If>(&s.node);
    return test && test->branches.size() == 1 && test->branches[0].body.size() == 1 &&
           std::holds_alternative<Return>(test->branches[0].body[0].node) &&
           test->branches[0].condition == "sdfg_failed(call)";
  };
  while (!body.body.empty() && only_returns(body.body.back())) body.body.pop_back();
  if (!reporting_.empty()) {
    Statements place = place_for_reports();
    body.body.insert(body.body.begin(), std::make_move_iterator(place.begin()), std::make_move_iterator(place.end()));
  }
  if (uses_device_) {
    If begin;
    begin.branches.push_back({"!sdfg_abi->device_begin(call)", {statement(Return{})}});
    body.body.insert(body.body.begin(), statement(std::move(begin)));
  }
  body.parameters = inner;
  if (needs_call_) body.parameters.insert(body.parameters.begin(), Parameter{"sdfg_call*", "call"});

  Function entry;
  entry.exported = true;
  entry.result = "int32_t";
  entry.name = "sdfg_entry";
  entry.parameters = outer;
  if (needs_call_ || options_.observe) {
    entry.body.push_back(statement(Declare{"sdfg_call", "call", "{}", {}, 0, false, false}));
    entry.body.push_back(statement(Store{"call.program", "=", "sdfg_program"}));
  }
  if (options_.observe) {
    Text addresses;
    for (const Parameter& p : outer) addresses += (addresses.empty() ? "(void*)&" : ", (void*)&") + p.name;
    entry.body.push_back(
        statement(Declare{"void*", "arguments", "{" + (addresses.empty() ? "nullptr" : addresses) + "}",
                          std::to_string(std::max<std::size_t>(outer.size(), 1)), 0, false, false}));
    const Text call = needs_call_ ? "&call" + Text(arguments.empty() ? "" : ", ") : Text();
    entry.body.push_back(statement(Evaluate{"sdfg_abi->call_begin(&call, arguments)"}));
    If run;
    run.branches.push_back({"!call.status", {statement(Evaluate{body_name + "(" + call + arguments + ")"})}});
    entry.body.push_back(statement(std::move(run)));
    entry.body.push_back(statement(Evaluate{"sdfg_abi->call_end(&call, arguments)"}));
    entry.body.push_back(statement(Evaluate{"return call.status"}));
  } else if (needs_call_) {
    entry.body.push_back(statement(Evaluate{body_name + "(&call" + (arguments.empty() ? "" : ", " + arguments) + ")"}));
    If finish;
    finish.branches.push_back(
        {"call.arena || call.status || call.flags", {statement(Evaluate{"sdfg_abi->finish(&call)"})}});
    entry.body.push_back(statement(std::move(finish)));
    entry.body.push_back(statement(Evaluate{"return call.status"}));
  } else {
    entry.body.push_back(statement(Evaluate{body_name + "(" + arguments + ")"}));
    entry.body.push_back(statement(Evaluate{"return 0"}));
  }

  Function dispatcher;
  dispatcher.exported = true;
  dispatcher.result = "int32_t";
  dispatcher.name = "sdfg_packed";
  dispatcher.parameters = {{"[[maybe_unused]] void* const*", "args"}};
  dispatcher.body.push_back(statement(Evaluate{"return sdfg_entry(" + packed + ")"}));

  for (Function& piece : cut(body, [&](const Text& wish) { return names_.fresh(wish); }))
    unit_.functions.push_back(std::move(piece));
  unit_.functions.push_back(std::move(body));
  unit_.functions.push_back(std::move(entry));
  unit_.functions.push_back(std::move(dispatcher));
  once("sdfg_set_up", "init", g_.code.init);
  once("sdfg_tear_down", "exit", g_.code.exit);
  finish_support();
  return std::move(unit_);
}

// Its owner waits for the kernels and fails the call when the function is left, whichever way.
Statements Lowering::place_for_reports() {
  support_.need(Helper::kReports);
  return collect([&] {
    Text list;
    for (const int s : reporting_) list += (list.empty() ? "" : ", ") + std::to_string(s);
    const Text streams = names_.fresh("reporting_streams"), owner = names_.fresh("reports");
    Declare used;
    used.type = "int32_t";
    used.name = streams;
    used.array = std::to_string(reporting_.size());
    used.init = "{" + list + "}";
    used.is_const = true;
    emit(std::move(used));
    Declare d;
    d.type = "const sdfg_reports";
    d.name = owner;
    d.init = "call, " + streams + ", " + std::to_string(reporting_.size());
    d.is_constructor = true;
    emit(std::move(d));
    If none;
    none.branches.push_back({"!" + owner + ".memory", {statement(Return{})}});
    emit(std::move(none));
    Declare told;
    told.type = "int64_t*";
    told.name = kToldName;
    told.init = "(int64_t*)" + owner + ".memory";
    emit(std::move(told));
  });
}

// The user's code that runs once for a loaded program, when no call's arguments are there.
void Lowering::once(const Text& name, const Text& what, const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return;
  for (const std::string& p : g_.parameters) {
    if (!mentions(text, p)) continue;
    throw Error(ErrorClass::kGraph,
                "the " + what + " code of graph '" + g_.name + "' uses the argument '" + p +
                    "', which has no value outside of a call",
                {}, "it runs once, before the first call or after the last; constants and global code are there");
  }
  Function f;
  f.exported = true;
  f.name = name;
  f.body.push_back(statement(Verbatim{text}));
  unit_.functions.push_back(std::move(f));
}

Unit lower_host(const ir::Graph& g, const LowerOptions& options) {
  return lower_host(g, options, ir::ordinals(g));
}
Unit lower_host(const ir::Graph& g, const LowerOptions& options, const ir::Ordinals& ordinals) {
  return Lowering(g, options, ordinals).host_unit();
}

}  // namespace sdfg::lower
