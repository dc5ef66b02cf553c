// Follows what was read and written since the last barrier through the control flow of a block.
#include "transform/gpu/insert_barriers.hpp"

#include <algorithm>
#include <set>

#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

struct Touched {
  Names read, written;
  void add(const Touched& other) {
    read.insert(other.read.begin(), other.read.end());
    written.insert(other.written.begin(), other.written.end());
  }
  void clear() {
    read.clear();
    written.clear();
  }
};

bool conflict(const Touched& a, const Touched& b) {
  return meet(a.written, b.written) || meet(a.written, b.read) || meet(a.read, b.written);
}

class Inserter {
 public:
  explicit Inserter(ir::Graph& g) : g_(g) {}

  bool kernel(ir::Map& m) {
    Touched pending, prefix;
    bool open = true;
    sequence(m.body, pending, prefix, open);
    return changed_;
  }

 private:
  // Memory that other threads of the block see.
  bool is_shared(const std::string& name) const {
    switch (storage_of(g_, name)) {
      case ir::Storage::kGpuShared:
      case ir::Storage::kGpuGlobal:
      case ir::Storage::kPinned: return true;
      case ir::Storage::kDefault:
      case ir::Storage::kRegister:
      case ir::Storage::kHeap:
      case ir::Storage::kThreadLocal: return false;
    }
    return false;
  }

  Touched of(const ir::Element& e) const {
    Touched out;
    for (const std::string& n : ir::containers_read(g_, e)) {
      if (is_shared(n)) out.read.insert(n);
    }
    for (const std::string& n : ir::containers_written(g_, e)) {
      if (is_shared(n)) out.written.insert(n);
    }
    return out;
  }

  Touched of(const tasklet::Expr& e) const {
    Touched out;
    for (const std::string& base : tasklet::uses_of(e).subscripted) {
      const std::string name = base.substr(0, base.find('.'));
      if (is_shared(name)) out.read.insert(name);
    }
    return out;
  }

  std::unique_ptr<ir::Element> barrier() {
    changed_ = true;
    ir::State s;
    s.barrier = true;
    return std::make_unique<ir::Element>(ir::Element{g_.new_id(), {}, {}, std::move(s)});
  }

  // `pending`: since the last barrier, on some way here. `prefix`: from the start of the enclosing loop body to its
  // first barrier; `open` until that barrier.
  void sequence(ir::Sequence& s, Touched& pending, Touched& prefix, bool& open) {
    for (std::size_t k = 0; k < s.items.size(); ++k) {
      ir::Element& e = *s.items[k];
      const auto phase = [&](const Touched& t) {
        if (conflict(pending, t)) {
          s.items.insert(s.items.begin() + static_cast<std::ptrdiff_t>(k), barrier());
          ++k;
          pending.clear();
          open = false;
        }
        pending.add(t);
        if (open) prefix.add(t);
      };
      if (std::holds_alternative<ir::State>(e.kind) || std::holds_alternative<ir::Assign>(e.kind) ||
          is_map_of(e, ir::Schedule::kThreadBlock)) {
        phase(of(e));
        continue;
      }
      if (auto* b = std::get_if<ir::Block>(&e.kind)) {
        sequence(b->body, pending, prefix, open);
        continue;
      }
      if (auto* i = std::get_if<ir::If>(&e.kind)) {
        Touched header;
        for (const ir::If::Branch& b : i->branches) header.add(of(b.condition));
        phase(header);
        Touched after = pending;
        bool still = open;
        for (ir::If::Branch& b : i->branches) {
          Touched way = pending;
          bool way_open = open;
          sequence(b.body, way, prefix, way_open);
          after.add(way);
          still = still && way_open;
        }
        pending = after;
        open = open && still;
        continue;
      }
      loop(e, s, k, pending, prefix, open);
    }
  }

  void loop(ir::Element& e, ir::Sequence& s, std::size_t& k, Touched& pending, Touched& prefix, bool& open) {
    Touched header;
    if (const auto* f = std::get_if<ir::For>(&e.kind)) {
      header.add(of(f->init));
      header.add(of(f->condition));
      header.add(of(f->update));
    } else if (const auto* w = std::get_if<ir::While>(&e.kind)) {
      header.add(of(w->condition));
    }
    if (conflict(pending, header)) {
      s.items.insert(s.items.begin() + static_cast<std::ptrdiff_t>(k), barrier());
      ++k;
      pending.clear();
      open = false;
    }
    pending.add(header);
    if (open) prefix.add(header);
    for (ir::Sequence* body : ir::child_sequences(e)) {
      Touched inside = pending, start = header;
      bool inside_open = true;
      sequence(*body, inside, start, inside_open);
      if (conflict(inside, start)) {
        body->items.push_back(barrier());
        inside.clear();
        inside_open = false;
      }
      pending.add(inside);
      if (open) prefix.add(start);
    }
  }

  ir::Graph& g_;
  bool changed_ = false;
};

}  // namespace

bool insert_barriers(ir::Graph& g) {
  bool changed = false;
  for_each_kernel(g, [&](ir::Element& e, const symbolic::Facts&) {
    auto& m = std::get<ir::Map>(e.kind);
    if (!holds(m.body, ir::Schedule::kThreadBlock)) return;
    changed = Inserter(g).kernel(m) || changed;
  });
  return changed;
}

}  // namespace sdfg::transform
