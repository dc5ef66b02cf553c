// A state of a file as a scoped graph: partners of scope nodes, owners, orders, ends of memlet paths.
#include <queue>

#include "io/import_state.hpp"

namespace sdfg::io {

Importer::StateContext::StateContext(const dace::State& s, const dace::Block& b, Scope& sc)
    : state(s), block(b), scope(sc) {
  const std::size_t n = s.nodes.size();
  in.resize(n);
  out.resize(n);
  for (const dace::Edge& e : s.edges) {
    out[static_cast<std::size_t>(e.src)].push_back(&e);
    in[static_cast<std::size_t>(e.dst)].push_back(&e);
  }
  match_scopes();
  find_owners();
}

// Entry and exit nodes name each other; very old files only from one side.
void Importer::StateContext::match_scopes() {
  exit_of.assign(state.nodes.size(), -1);
  entry_of.assign(state.nodes.size(), -1);
  auto pair_up = [&](int entry, int exit) {
    if (entry < 0 || exit < 0 || entry >= static_cast<int>(state.nodes.size()) ||
        exit >= static_cast<int>(state.nodes.size()))
      return;
    if (!is_entry(node(entry)) || !is_exit(node(exit))) return;
    exit_of[static_cast<std::size_t>(entry)] = exit;
    entry_of[static_cast<std::size_t>(exit)] = entry;
  };
  for (const dace::Node& n : state.nodes) {
    if (const auto* m = std::get_if<dace::MapEntry>(&n.kind)) pair_up(n.index, m->exit);
    if (const auto* m = std::get_if<dace::ConsumeEntry>(&n.kind)) pair_up(n.index, m->exit);
    if (const auto* m = std::get_if<dace::MapExit>(&n.kind)) pair_up(m->entry, n.index);
    if (const auto* m = std::get_if<dace::ConsumeExit>(&n.kind)) pair_up(m->entry, n.index);
  }
  for (const dace::Node& n : state.nodes) {
    if (!is_entry(n) && !is_exit(n)) continue;
    const auto& partner = is_entry(n) ? exit_of : entry_of;
    const auto& back = is_entry(n) ? entry_of : exit_of;
    const int other = partner[static_cast<std::size_t>(n.index)];
    if (other < 0 || back[static_cast<std::size_t>(other)] != n.index)
      throw Error(ErrorClass::kGraph, "scope node '" + n.label + "' has no counterpart (at " + n.path + ")");
  }
}

// The entry whose scope each node belongs to (-1: none; an exit belongs to its entry's scope), in topological order.
void Importer::StateContext::find_owners() {
  const std::size_t n = state.nodes.size();
  owner.assign(n, -1);
  std::vector<int> missing(n);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < n; ++i) {
    missing[i] = static_cast<int>(in[i].size());
    if (missing[i] == 0) ready.push(static_cast<int>(i));
  }
  std::size_t done = 0;
  while (!ready.empty()) {
    const int v = ready.top();
    ready.pop();
    ++done;
    const auto& incoming = in[static_cast<std::size_t>(v)];
    for (const dace::Edge* e : incoming) {
      const dace::Node& u = node(e->src);
      int scope_entry = owner[static_cast<std::size_t>(u.index)];
      if (is_entry(u))
        scope_entry = u.index;
      else if (is_exit(u))
        scope_entry = owner[static_cast<std::size_t>(entry_of[static_cast<std::size_t>(u.index)])];
      if (e != incoming.front() && owner[static_cast<std::size_t>(v)] != scope_entry) {
        throw Error(ErrorClass::kGraph, "edges into node '" + node(v).label +
                                            "' come from different scopes; only scope nodes are a way in or out (at " +
                                            e->path + ")");
      }
      owner[static_cast<std::size_t>(v)] = scope_entry;
    }
    for (const dace::Edge* e : out[static_cast<std::size_t>(v)]) {
      if (--missing[static_cast<std::size_t>(e->dst)] == 0) ready.push(e->dst);
    }
  }
  if (done != n)
    throw Error(ErrorClass::kGraph, "the dataflow of state '" + block.label + "' has a cycle (at " + block.path + ")");
}

// The items of one scope level in topological order, ties by position: plain nodes and entries (standing for their
// whole scope).
std::vector<int> Importer::StateContext::items_of(int entry) const {
  auto representative =
      [&](int v) {  // the item of this level that contains node v; -1: outside, or the level's own exit
        while (v >= 0) {
          const int o = owner[static_cast<std::size_t>(v)];
          if (o == entry) {
            if (is_exit(node(v)))
              return entry_of[static_cast<std::size_t>(v)] == entry ? -1 : entry_of[static_cast<std::size_t>(v)];
            return v;
          }
          v = o;
        }
        return -1;
      };
  std::vector<int> rep(state.nodes.size());
  std::map<int, std::set<int>> successors;
  std::map<int, int> missing;
  for (const dace::Node& n : state.nodes) {
    // An exit is part of its own entry's scope; at the level around, it is the entry.
    int v = n.index;
    if (is_exit(n)) v = entry_of[static_cast<std::size_t>(v)] == entry ? -1 : entry_of[static_cast<std::size_t>(v)];
    if (v == entry) v = -1;
    rep[static_cast<std::size_t>(n.index)] = v < 0 ? -1 : representative(v);
    if (rep[static_cast<std::size_t>(n.index)] >= 0) missing.emplace(rep[static_cast<std::size_t>(n.index)], 0);
  }
  for (const dace::Edge& e : state.edges) {
    const int a = rep[static_cast<std::size_t>(e.src)];
    const int b = rep[static_cast<std::size_t>(e.dst)];
    if (a >= 0 && b >= 0 && a != b && successors[a].insert(b).second) ++missing[b];
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (const auto& [v, count] : missing) {
    if (count == 0) ready.push(v);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int v = ready.top();
    ready.pop();
    order.push_back(v);
    for (const int w : successors[v]) {
      if (--missing[w] == 0) ready.push(w);
    }
  }
  return order;
}

// From an edge towards its source, through scope entries, to the outermost edge.
const dace::Edge& Importer::StateContext::path_root(const dace::Edge& e) const {
  const dace::Edge* at = &e;
  while (is_entry(node(at->src))) {
    if (at->src_connector.rfind("OUT_", 0) != 0) return *at;
    // What a consume scope hands out is the popped element, not its stream.
    if (at->src_connector == "OUT_stream" && std::holds_alternative<dace::ConsumeEntry>(node(at->src).kind)) return *at;
    const std::string wanted = "IN_" + at->src_connector.substr(4);
    const dace::Edge* next = nullptr;
    for (const dace::Edge* i : in[static_cast<std::size_t>(at->src)]) {
      if (i->dst_connector == wanted) next = i;
    }
    if (next == nullptr)
      throw Error(ErrorClass::kGraph, "connector '" + at->src_connector + "' of scope node '" + node(at->src).label +
                                          "' has no incoming counterpart (at " + at->path + ")");
    at = next;
  }
  return *at;
}

const dace::Edge& Importer::StateContext::path_end(const dace::Edge& e) const {
  const dace::Edge* at = &e;
  while (is_exit(node(at->dst))) {
    if (at->dst_connector.rfind("IN_", 0) != 0) return *at;
    const std::string wanted = "OUT_" + at->dst_connector.substr(3);
    const dace::Edge* next = nullptr;
    for (const dace::Edge* o : out[static_cast<std::size_t>(at->dst)]) {
      if (o->src_connector == wanted) next = o;
    }
    if (next == nullptr)
      throw Error(ErrorClass::kGraph, "connector '" + at->dst_connector + "' of scope node '" + node(at->dst).label +
                                          "' has no outgoing counterpart (at " + at->path + ")");
    at = next;
  }
  return *at;
}

}  // namespace sdfg::io
