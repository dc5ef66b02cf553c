// Rules of storages and kernels: who can reach which memory, and what must be the same for all threads of a block.
#include <algorithm>

#include "ir/validate_internal.hpp"

namespace sdfg::ir::validation {

namespace {

bool is_map_of(const Element& e, Schedule s) {
  const auto* map = std::get_if<Map>(&e.kind);
  return map != nullptr && map->schedule == s;
}

class StorageChecker : public SiteVisitor {
 public:
  StorageChecker(Report& report, const Scope& scope) : report_(report), g_(report.g), scope_(scope) {
    for (std::size_t k = 0; k + 1 < scope.path.size(); ++k) {
      if (is_map_of(*scope.path[k], Schedule::kDevice)) kernel_ = scope.path[k], kernel_depth_ = k;
    }
  }

  void run() {
    visit_sites(scope_.element(), *this);
    if (const auto* block = std::get_if<Block>(&scope_.element().kind); block != nullptr && kernel_ == nullptr) {
      for (const std::string& name : block->locals) check_shared(name);
    }
  }

  void memlet(const State& s, const Memlet& m) {
    const Access* from = access_at(s, m.src);
    const Access* to = access_at(s, m.dst);
    const Node* src = s.find_node(m.src);
    const Node* dst = s.find_node(m.dst);
    const auto is_library = [](const Node* n) { return n != nullptr && std::holds_alternative<Library>(n->kind); };
    // Library nodes are placed by what they are connected to; C++ text may hand a pointer to a library of the other
    // side.
    const auto is_text = [](const Node* n) {
      const auto* t = n == nullptr ? nullptr : std::get_if<Tasklet>(&n->kind);
      return t != nullptr && t->code.language == tasklet::Language::kCpp;
    };
    if (m.set_reference || is_library(src) || is_library(dst) || is_text(src) || is_text(dst)) return;
    const bool copy = from != nullptr && to != nullptr;
    if (from != nullptr) use(m.id, from->data, false, copy);
    if (to != nullptr) use(m.id, to->data, true, copy);
  }

  void code(const tasklet::Expr& e) {
    for (const std::string& base : tasklet::uses_of(e).subscripted) use(scope_.element().id, base, false, false);
  }

 private:
  std::string what(Id id) const {
    const auto* state = std::get_if<State>(&scope_.element().kind);
    if (state != nullptr) {
      for (const Memlet& m : state->edges) {
        if (m.id == id) return describe(g_, *state, m);
      }
    }
    return describe(g_, scope_.element());
  }

  void use(Id id, const std::string& data, bool writes, bool copy) {
    const Container* c = resolve(g_, data);
    if (c == nullptr) return;
    const Container& root = root_of(g_, *c);
    if (root.constant) return;  // part of the code of either side
    const std::string name = quoted(report_.container(data));
    const std::string storage(to_string(root.storage));
    std::string fault;
    std::string hint = "copy it to a container that both can reach";
    switch (root.storage) {
      case Storage::kDefault:
      case Storage::kPinned: return;
      case Storage::kGpuGlobal:
        if (kernel_ != nullptr || copy) return;
        fault = " on the host";
        hint =
            "expressions and slices of whole arrays are host code; write the elements in a map with the Device "
            "schedule, "
            "as in g.map({\"i\", 0, N}, body, {.schedule = sdfg::Schedule::kDevice}), or copy it to a container of the "
            "host";
        break;
      case Storage::kGpuShared:
        if (kernel_ != nullptr) return;
        fault = " on the host";
        break;
      case Storage::kHeap:
      case Storage::kThreadLocal:
        if (kernel_ == nullptr || (root.rank() == 0 && !writes)) return;  // a scalar is passed by value
        fault = " in the kernel of " + describe(g_, *kernel_);
        break;
      case Storage::kRegister:
        if (kernel_ == nullptr || is_declared_inside(root.name) || (root.rank() == 0 && !writes)) return;
        fault = " of the host in the kernel of " + describe(g_, *kernel_);
        break;
    }
    report_.add(Rule::kStorageAccess, scope_, id,
                what(id) + (writes ? " writes " : " reads ") + name + " in " + storage + " storage" + fault,
                std::move(hint));
  }

  bool is_declared_inside(const std::string& name) const {
    for (std::size_t k = kernel_depth_ + 1; k < scope_.path.size(); ++k) {
      const auto* block = std::get_if<Block>(&scope_.path[k]->kind);
      if (block != nullptr && contains(block->locals, name)) return true;
    }
    return false;
  }

  void check_shared(const std::string& name) {
    const Container* c = g_.containers.find(name);
    if (c == nullptr || c->storage != Storage::kGpuShared) return;
    report_.add(Rule::kStorageLifetime, scope_, scope_.element().id,
                quoted(report_.container(name)) + " in GpuShared storage is declared outside a kernel",
                "declare it in a block inside the Device map");
  }

  Report& report_;
  const Graph& g_;
  const Scope& scope_;
  const Element* kernel_ = nullptr;
  std::size_t kernel_depth_ = 0;
};

// Registers of a kernel that hold a value per thread, and code outside thread-block maps that needs one value per
// block.
class KernelChecker {
 public:
  KernelChecker(Report& report, const Element& kernel) : report_(report), g_(report.g), kernel_(kernel) {}

  void run() {
    const auto& map = std::get<Map>(kernel_.kind);
    collect(map.body, nullptr);
    if (per_thread_.empty()) return;
    check(map.body);
  }

 private:
  // Values written inside a thread-block map from something that differs among its threads.
  void collect(const Sequence& s, const Map* threads) {
    for (const auto& item : s.items) {
      if (const auto* block = std::get_if<Block>(&item->kind); block != nullptr && threads == nullptr) {
        for (const std::string& name : block->locals) {
          const Container* c = g_.containers.find(name);
          if (c != nullptr && c->storage == Storage::kRegister) registers_.insert(name);
        }
      }
      if (const auto* state = std::get_if<State>(&item->kind); state != nullptr && threads != nullptr)
        collect(*state, *threads);
      const bool enters = is_map_of(*item, Schedule::kThreadBlock);
      for (const Sequence* child : child_sequences(*item))
        collect(*child, enters ? &std::get<Map>(item->kind) : threads);
    }
  }

  void collect(const State& s, const Map& threads) {
    for (const Memlet& m : s.edges) {
      const Access* to = access_at(s, m.dst);
      const Node* src = s.find_node(m.src);
      if (to == nullptr || m.wcr || !registers_.contains(std::string(root_name(to->data))) || src == nullptr) continue;
      if (varies(s, *src, m, threads)) per_thread_.insert(std::string(root_name(to->data)));
    }
  }

  bool varies(const State& s, const Node& src, const Memlet& write, const Map& threads) const {
    const auto uses_param = [&](const symbolic::SymbolSet& symbols) {
      return std::any_of(threads.params.begin(), threads.params.end(),
                         [&](const auto& p) { return symbols.contains(p); });
    };
    if (write.src_subset && uses_param(write.src_subset->free_symbols())) return true;
    const auto* t = std::get_if<Tasklet>(&src.kind);
    if (t == nullptr) return false;
    const tasklet::Uses uses = outer_uses(*t);
    if (uses_param(symbolic::SymbolSet(uses.read.begin(), uses.read.end()))) return true;
    for (const Memlet& m : s.edges) {
      if (m.dst == src.id && m.src_subset && uses_param(m.src_subset->free_symbols())) return true;
    }
    return false;
  }

  void check(const Sequence& s) {
    for (const auto& item : s.items) {
      const Element& e = *item;
      if (is_map_of(e, Schedule::kThreadBlock)) continue;
      if (const auto* state = std::get_if<State>(&e.kind)) {
        check(e, *state);
        continue;
      }
      struct Reads : SiteVisitor {
        std::vector<std::string> bases;
        void code(const tasklet::Expr& x) {
          for (const std::string& base : tasklet::uses_of(x).subscripted) bases.push_back(base);
        }
      } reads;
      visit_sites(e, reads);
      for (const std::string& base : reads.bases) {
        if (per_thread_.contains(std::string(root_name(base)))) report(e.id, describe(g_, e), base);
      }
      for (const Sequence* child : child_sequences(e)) check(*child);
    }
  }

  void check(const Element&, const State& s) {
    for (const Memlet& m : s.edges) {
      const Access* from = access_at(s, m.src);
      if (from == nullptr || !per_thread_.contains(std::string(root_name(from->data)))) continue;
      const Node* dst = s.find_node(m.dst);
      const auto* library = dst == nullptr ? nullptr : std::get_if<Library>(&dst->kind);
      if (library != nullptr && std::holds_alternative<Reduce>(library->op)) continue;
      report(m.id, describe(g_, s, m), from->data);
    }
  }

  void report(Id id, const std::string& who, const std::string& data) {
    report_.add({Rule::kBlockUniform,
                 who + " reads " + quoted(report_.container(data)) +
                     " outside a thread-block map, where its value differs among the threads of a block",
                 id, places_of(g_, id), "reduce it first, or move the reading into a thread-block map"});
  }

  Report& report_;
  const Graph& g_;
  const Element& kernel_;
  NameSet registers_;
  NameSet per_thread_;
};

}  // namespace

void check_storage(Report& report, const Scope& scope) {
  StorageChecker(report, scope).run();
  if (is_map_of(scope.element(), Schedule::kDevice)) KernelChecker(report, scope.element()).run();
}

}  // namespace sdfg::ir::validation
