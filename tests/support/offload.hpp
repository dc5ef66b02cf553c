// Moves a graph's maps to a device by hand, for tests: outermost maps become kernels, arrays that they touch get copies
// in device memory.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "ir/graph.hpp"

namespace sdfg::test {

class Offload {
 public:
  explicit Offload(const ir::Graph& g) : g_(g.clone()) {}

  // The number of kernels; 0: nothing of the graph can move.
  int run() {
    for (const ir::Container& c : g_.containers) {
      if (c.may_alias || c.kind == ir::ContainerKind::kReference) return 0;
    }
    // Arrays that code of the host needs keep all their maps on the host, whose arrays then stay, too.
    pin_control(g_.body);
    for (std::size_t before = SIZE_MAX; before != pinned_.size();) {
      before = pinned_.size();
      maps(g_.body, [&](ir::Element& e) {
        if (!movable(e)) pin(e);
      });
      pin_mixed(g_.body);
    }
    maps(g_.body, [&](ir::Element& e) {
      if (!movable(e)) return;
      ++kernels_;
      std::get<ir::Map>(e.kind).schedule = ir::Schedule::kDevice;
      ir::walk(std::get<ir::Map>(e.kind).body, [](ir::Element& inner) {
        if (auto* m = std::get_if<ir::Map>(&inner.kind)) m->schedule = ir::Schedule::kDefault;
      });
      for (const std::string& n : arrays_of(e)) moved_.insert(n);
    });
    if (kernels_ == 0) return 0;
    for (std::size_t before = SIZE_MAX; before != moved_.size();) {
      before = moved_.size();
      wrap(g_.body);
    }
    mirror();
    return kernels_;
  }
  ir::Graph take() { return std::move(g_); }

 private:
  using Names = std::set<std::string, std::less<>>;

  template <typename F>
  void maps(ir::Sequence& s, const F& visit) {
    for (auto& item : s.items) {
      if (std::holds_alternative<ir::Map>(item->kind)) {
        visit(*item);
        continue;
      }
      for (ir::Sequence* child : ir::child_sequences(*item)) maps(*child, visit);
    }
  }

  const std::string& root(const std::string& name) const {
    return ir::root_of(g_, g_.containers.at(name.substr(0, name.find('.')))).name;
  }

  // Arrays declared outside that the element touches.
  Names arrays_of(const ir::Element& e) const {
    Names out;
    const symbolic::SymbolSet own = ir::containers_declared(e);
    for (const auto& set : {ir::containers_read(g_, e), ir::containers_written(g_, e)}) {
      for (const std::string& n : set) {
        const ir::Container& c = g_.containers.at(root(n));
        if (c.kind == ir::ContainerKind::kArray && !c.constant && !own.contains(c.name)) out.insert(c.name);
      }
    }
    return out;
  }

  void pin(const ir::Element& e) {
    for (const std::string& n : arrays_of(e)) pinned_.insert(n);
  }

  void pin_code(const tasklet::Expr& e) {
    for (const std::string& base : tasklet::uses_of(e).subscripted) pinned_.insert(root(base));
  }

  // What control flow of the host reads, and states with more than plain code and copies.
  void pin_control(const ir::Sequence& s) {
    for (const auto& item : s.items) {
      if (std::holds_alternative<ir::Map>(item->kind)) continue;
      if (const auto* a = std::get_if<ir::Assign>(&item->kind)) {
        for (const auto& i : a->items) pin_code(i.value);
      } else if (const auto* f = std::get_if<ir::For>(&item->kind)) {
        for (const tasklet::Expr* e : {&f->init, &f->condition, &f->update}) pin_code(*e);
      } else if (const auto* w = std::get_if<ir::While>(&item->kind)) {
        pin_code(w->condition);
      } else if (const auto* i = std::get_if<ir::If>(&item->kind)) {
        for (const auto& b : i->branches) pin_code(b.condition);
      } else if (std::holds_alternative<ir::Consume>(item->kind)) {
        pin(*item);
        continue;
      } else if (const auto* state = std::get_if<ir::State>(&item->kind)) {
        if (!plain(*state) || (computes(*state) && copies(*state))) pin(*item);
      }
      for (const ir::Sequence* child : ir::child_sequences(*item)) pin_control(*child);
    }
  }

  // Code of the host is on one side with all that it touches.
  void pin_mixed(const ir::Sequence& s) {
    for (const auto& item : s.items) {
      if (std::holds_alternative<ir::Map>(item->kind)) continue;
      if (const auto* state = std::get_if<ir::State>(&item->kind); state != nullptr && computes(*state)) {
        const Names arrays = arrays_of(*item);
        if (std::any_of(arrays.begin(), arrays.end(), [&](const std::string& n) { return pinned_.contains(n); }))
          pin(*item);
      }
      for (const ir::Sequence* child : ir::child_sequences(*item)) pin_mixed(*child);
    }
  }

  static bool computes(const ir::State& s) {
    return std::any_of(s.nodes.begin(), s.nodes.end(),
                       [](const ir::Node& n) { return !std::holds_alternative<ir::Access>(n.kind); });
  }
  static bool copies(const ir::State& s) {
    const auto is_access = [&](ir::Id id) { return std::holds_alternative<ir::Access>(s.find_node(id)->kind); };
    return std::any_of(s.edges.begin(), s.edges.end(),
                       [&](const ir::Memlet& m) { return !m.is_order_only() && is_access(m.src) && is_access(m.dst); });
  }

  // Code of the host that touches what moved becomes a kernel of one point.
  void wrap(ir::Sequence& s) {
    for (auto& item : s.items) {
      if (std::holds_alternative<ir::Map>(item->kind)) continue;
      const auto* state = std::get_if<ir::State>(&item->kind);
      if (state == nullptr) {
        for (ir::Sequence* child : ir::child_sequences(*item)) wrap(*child);
        continue;
      }
      const Names arrays = arrays_of(*item);
      if (!computes(*state) ||
          std::none_of(arrays.begin(), arrays.end(), [&](const std::string& n) { return moved_.contains(n); }))
        continue;
      ir::Symbol once;
      once.name = g_.unique_name("once");
      once.binder = ir::BinderKind::kMapParameter;
      ir::Map map;
      map.params = {g_.symbols.insert(std::move(once)).name};
      map.ranges = {ir::Range{0, 0, 1, 1}};
      map.schedule = ir::Schedule::kDevice;
      for (const std::string& n : arrays) moved_.insert(n);
      map.body.items.push_back(std::move(item));
      item = std::make_unique<ir::Element>(ir::Element{g_.new_id(), {}, {}, std::move(map)});
    }
  }

  bool plain(const ir::State& s) const {
    for (const ir::Node& n : s.nodes) {
      if (const auto* a = std::get_if<ir::Access>(&n.kind)) {
        const ir::Container& c = g_.containers.at(root(a->data));
        if (c.kind != ir::ContainerKind::kArray && c.kind != ir::ContainerKind::kScalar) return false;
      } else if (const auto* t = std::get_if<ir::Tasklet>(&n.kind)) {
        if (t->code.language == tasklet::Language::kCpp || t->side_effects.value_or(false)) return false;
      }
    }
    return true;
  }

  bool movable(const ir::Element& e) const {
    bool fine = true;
    ir::walk(std::get<ir::Map>(e.kind).body, [&](const ir::Element& inner, const ir::Ancestors&) {
      fine = fine && !std::holds_alternative<ir::Consume>(inner.kind);
      if (const auto* s = std::get_if<ir::State>(&inner.kind)) fine = fine && plain(*s);
    });
    for (const std::string& n : arrays_of(e)) {
      const ir::Container& c = g_.containers.at(n);
      fine = fine && !pinned_.contains(n) && c.lifetime != ir::Lifetime::kExternal &&
             c.storage != ir::Storage::kThreadLocal;
    }
    return fine;
  }

  std::unique_ptr<ir::Element> copy(const std::string& from, const std::string& to) {
    ir::State s;
    for (const std::string& n : {from, to}) s.nodes.push_back({g_.new_id(), {}, {}, ir::Access{n}});
    ir::Memlet m;
    m.id = g_.new_id();
    m.src = s.nodes[0].id;
    m.dst = s.nodes[1].id;
    m.src_subset = m.dst_subset = ir::Subset::full(g_.containers.at(from).layout.shape());
    s.edges.push_back(std::move(m));
    return std::make_unique<ir::Element>(ir::Element{g_.new_id(), {}, {}, std::move(s)});
  }

  void mirror() {
    std::map<std::string, std::string, std::less<>> names;
    for (const std::string& n : moved_) {
      ir::Container& c = g_.containers.at(n);
      if (c.transient) {
        c.storage = ir::Storage::kGpuGlobal;
        continue;
      }
      ir::Container twin = c;
      twin.name = g_.unique_name("on_device_" + n);
      twin.storage = ir::Storage::kGpuGlobal;
      twin.transient = true;
      names[n] = twin.name;
      g_.locals.push_back(twin.name);
      g_.containers.insert(std::move(twin));
    }
    ir::rename_containers(g_, g_.body, names);
    for (ir::Container& c : g_.containers) {
      if (const auto it = names.find(c.viewed); c.kind == ir::ContainerKind::kView && it != names.end())
        c.viewed = it->second;
    }
    copy_out(g_.body, names);
    std::size_t at = 0;
    for (const auto& [host, device] : names)
      g_.body.items.insert(g_.body.items.begin() + static_cast<std::ptrdiff_t>(at++), copy(host, device));
    for (const auto& [host, device] : names) g_.body.items.push_back(copy(device, host));
  }

  void copy_out(ir::Sequence& s, const std::map<std::string, std::string, std::less<>>& names) {
    for (std::size_t k = 0; k < s.items.size(); ++k) {
      if (std::holds_alternative<ir::Return>(s.items[k]->kind)) {
        for (const auto& [host, device] : names)
          s.items.insert(s.items.begin() + static_cast<std::ptrdiff_t>(k++), copy(device, host));
      }
      for (ir::Sequence* child : ir::child_sequences(*s.items[k])) copy_out(*child, names);
    }
  }

  ir::Graph g_;
  Names pinned_, moved_;
  int kernels_ = 0;
};

}  // namespace sdfg::test
