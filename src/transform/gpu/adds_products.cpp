// Follows what the kernel reads through its tasklets and the locals between them, in the order of the text.
#include "transform/gpu/adds_products.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

// What a value is made of.
struct Origin {
  std::set<std::string> read;      // by the tasklet itself: places by their text
  std::set<std::string> factors;   // those of them that are multiplied
  std::set<std::string> elements;  // places that move with loops of the kernel, also behind locals
  symbolic::SymbolSet loops;       // that move them
  bool product = false;            // of two such elements

  void add(const Origin& other) {
    read.insert(other.read.begin(), other.read.end());
    factors.insert(other.factors.begin(), other.factors.end());
    elements.insert(other.elements.begin(), other.elements.end());
    loops.insert(other.loops.begin(), other.loops.end());
    product = product || other.product;
  }
};
using Origins = std::map<std::string, Origin, std::less<>>;

Origin multiplied(Origin a, const Origin& b) {
  const bool both = !a.elements.empty() && !b.elements.empty();
  a.add(b);
  a.factors.insert(a.read.begin(), a.read.end());
  a.product = a.product || (both && a.elements.size() >= 2);
  return a;
}

Origin origin_of(const tasklet::Expr& e, const Origins& names) {
  if (const auto* n = std::get_if<tasklet::Name>(&e.node())) {
    const auto it = names.find(n->name);
    return it == names.end() ? Origin{} : it->second;
  }
  const auto* binary = std::get_if<tasklet::Binary>(&e.node());
  const auto* call = std::get_if<tasklet::Call>(&e.node());
  const std::span<const tasklet::Expr> parts = e.children();
  const bool multiplies = (binary != nullptr && binary->op == tasklet::BinaryOp::kMul) ||
                          (call != nullptr && call->function == tasklet::Function::kFma);
  Origin all;
  std::size_t k = 0;
  if (multiplies && parts.size() >= 2) {
    all = multiplied(origin_of(parts[0], names), origin_of(parts[1], names));
    k = 2;
  }
  for (; k < parts.size(); ++k) all.add(origin_of(parts[k], names));
  return all;
}

void run(const tasklet::Body& body, Origins& names) {
  for (const tasklet::Statement& s : body) {
    if (const auto* a = std::get_if<tasklet::Assign>(&s.node)) {
      if (const auto* to = std::get_if<tasklet::Name>(&a->target.node())) names[to->name] = origin_of(a->value, names);
    } else if (const auto* u = std::get_if<tasklet::Update>(&s.node)) {
      const auto* to = std::get_if<tasklet::Name>(&u->target.node());
      if (to == nullptr) continue;
      const Origin value = origin_of(u->value, names);
      Origin& old = names[to->name];
      if (u->op == tasklet::BinaryOp::kMul)
        old = multiplied(old, value);
      else
        old.add(value);
    } else if (const auto* i = std::get_if<tasklet::If>(&s.node)) {
      for (const tasklet::IfBranch& branch : i->branches) run(branch.body, names);
    } else if (const auto* w = std::get_if<tasklet::While>(&s.node)) {
      run(w->body, names);
    }
  }
}

class Search {
 public:
  bool found_in(const ir::Element& e) {
    const std::size_t outer = loops_.size();
    if (const auto* m = std::get_if<ir::Map>(&e.kind)) loops_.insert(loops_.end(), m->params.begin(), m->params.end());
    if (const auto* f = std::get_if<ir::For>(&e.kind)) loops_.push_back(f->variable);
    if (const auto* b = std::get_if<ir::Block>(&e.kind)) {
      for (const std::string& name : b->locals) declared_[name] = loops_.size();
    }
    if (const auto* a = std::get_if<ir::Assign>(&e.kind)) {
      for (const ir::Assign::Item& item : a->items) assigned_.insert(item.symbol);
    }
    bool found = false;
    if (const auto* s = std::get_if<ir::State>(&e.kind)) found = found_in(*s);
    for (const ir::Sequence* child : ir::child_sequences(e)) {
      for (const auto& item : child->items) found = found || found_in(*item);
    }
    loops_.resize(outer);
    return found;
  }

 private:
  static std::string place(const std::string& data, const ir::Subset& at) { return data + "[" + at.str() + "]"; }

  // A symbol that the kernel assigns may change with each loop.
  symbolic::SymbolSet moved_by(const ir::Subset& at) const {
    const symbolic::SymbolSet used = at.free_symbols();
    const bool any = std::ranges::any_of(used, [&](const std::string& s) { return assigned_.contains(s); });
    symbolic::SymbolSet by;
    for (const std::string& loop : loops_) {
      if (any || used.contains(loop)) by.insert(loop);
    }
    return by;
  }

  Origin read(const std::string& data, const ir::Subset& at) {
    Origin o;
    const auto kept = stored_.find(data);
    if (kept != stored_.end()) o = kept->second;
    const symbolic::SymbolSet by = moved_by(at);
    o.loops.insert(by.begin(), by.end());
    o.read = {place(data, at)};
    o.factors.clear();
    if (kept == stored_.end() && !o.loops.empty()) o.elements = o.read;
    return o;
  }

  bool found_in(const ir::State& s) {
    // Nodes stand in the order of their edges or not: a tasklet may come before one whose value it takes.
    for (std::size_t round = 0; round < 2; ++round) {
      for (const ir::Node& n : s.nodes) {
        const auto* t = std::get_if<ir::Tasklet>(&n.kind);
        if (t == nullptr || t->code.language != tasklet::Language::kTree) continue;
        Origins names;
        for (const ir::Memlet& m : s.edges) {
          const ir::Access* from = m.dst == n.id ? access_of(s, m.src) : nullptr;
          if (from != nullptr && m.src_subset && !m.is_order_only())
            names[m.dst_connector] = read(from->data, *m.src_subset);
        }
        run(t->code.body, names);
        for (const ir::Memlet& m : s.edges) {
          const ir::Access* to = m.src == n.id ? access_of(s, m.dst) : nullptr;
          if (to == nullptr || !m.dst_subset || m.is_order_only()) continue;
          if (adds(*to, m, names[m.src_connector])) return true;
        }
      }
    }
    return false;
  }

  bool adds(const ir::Access& to, const ir::Memlet& m, Origin value) {
    const auto here = declared_.find(to.data);
    const std::string target = place(to.data, *m.dst_subset);
    const bool carried = value.read.contains(target) && !value.factors.contains(target);
    value.elements.erase(target);
    if (!m.wcr && !carried) {
      if (here != declared_.end()) stored_[to.data].add(value);
      return false;
    }
    if (m.wcr && m.wcr->op != ir::ReduceOp::kSum) return false;
    if (!value.product || value.elements.size() < 2) return false;
    const symbolic::SymbolSet kept = moved_by(*m.dst_subset);
    const std::size_t first = here == declared_.end() ? 0 : here->second;
    return std::any_of(loops_.begin() + static_cast<std::ptrdiff_t>(first), loops_.end(),
                       [&](const std::string& loop) { return value.loops.contains(loop) && !kept.contains(loop); });
  }

  std::vector<std::string> loops_;                            // around, outermost first
  std::map<std::string, std::size_t, std::less<>> declared_;  // locals, and how many loops are around them
  symbolic::SymbolSet assigned_;
  Origins stored_;  // in locals
};

}  // namespace

bool adds_products(const ir::Element& kernel) {
  return Search().found_in(kernel);
}

}  // namespace sdfg::transform
