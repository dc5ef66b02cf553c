// First streams and events, sequence by sequence; then the waits of the host by a walk over the control flow.
#include "transform/gpu/plan_streams.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

constexpr int kMostStreams = 8;  // in one stretch of work; more find no free engine

struct Uses {
  Names read, written;
};

class Planner {
 public:
  Planner(ir::Graph& g, const DeviceOptions& options) : g_(g), options_(options) {
    for (const ir::Container& c : g.containers) {
      if (!c.transient && c.may_alias) alias_.insert(c.name);
    }
  }

  void run() {
    streams(g_.body);
    Pending at_end = waits(g_.body, {});
    // What the host frees at the end of a call must not be written later.
    end_of_scope(g_.body, g_.locals, at_end);
    drop_empty(g_.body);
  }

 private:
  // One name for all arguments that may be the same memory.
  std::string name_of(const std::string& n) const { return alias_.contains(n) ? "?" : n; }

  Uses of(const ir::Element& e) const {
    Uses out;
    for (const std::string& n : ir::containers_read(g_, e)) out.read.insert(name_of(n));
    for (const std::string& n : ir::containers_written(g_, e)) out.written.insert(name_of(n));
    // What it declares is nobody else's.
    for (const std::string& n : ir::containers_declared(e)) {
      out.read.erase(n);
      out.written.erase(n);
    }
    return out;
  }

  // A state whose whole work is done by copy engines of the device.
  bool is_engine_state(const ir::Element& e) const {
    const auto* s = std::get_if<ir::State>(&e.kind);
    return s != nullptr && touches_device_memory(g_, e);
  }
  bool is_device_work(const ir::Element& e) const { return is_kernel(e) || is_engine_state(e); }

  bool holds_device_work(const ir::Element& e) const {
    if (is_device_work(e)) return true;
    return std::ranges::any_of(ir::child_sequences(e), [&](const ir::Sequence* s) {
      return std::ranges::any_of(s->items, [&](const auto& item) { return holds_device_work(*item); });
    });
  }

  // ---- streams
  void streams(ir::Sequence& s) {
    std::vector<std::unique_ptr<ir::Element>> items = std::move(s.items);
    s.items.clear();
    std::vector<std::unique_ptr<ir::Element>> stretch;
    const auto flush = [&] {
      if (!stretch.empty()) assign(std::move(stretch), s);
      stretch.clear();
    };
    for (auto& item : items) {
      if (is_device_work(*item)) {
        stretch.push_back(std::move(item));
        continue;
      }
      flush();
      for (ir::Sequence* child : ir::child_sequences(*item)) streams(*child);
      s.items.push_back(std::move(item));
    }
    flush();
  }

  std::unique_ptr<ir::Element> marker() {
    auto e = std::make_unique<ir::Element>(ir::Element{g_.new_id(), {}, {}, ir::State{}});
    e->issue = ir::DeviceIssue{};
    return e;
  }

  void assign(std::vector<std::unique_ptr<ir::Element>> work, ir::Sequence& out) {
    const std::size_t n = work.size();
    std::vector<int> stream(n, 0);
    std::vector<Uses> touched;
    for (const auto& e : work) touched.push_back(of(*e));
    std::vector<std::vector<std::size_t>> before(n);
    int used = 1;
    if (options_.streams < 0) {
      std::ranges::fill(stream, -1);
    } else {
      const int most = options_.streams == 0 ? kMostStreams : std::min(options_.streams, kMostStreams);
      std::vector<std::size_t> last(static_cast<std::size_t>(most), n);  // last piece of work of each stream
      int next = 0;
      used = 0;
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < j; ++i) {
          if (meet(touched[i].written, touched[j].written) || meet(touched[i].written, touched[j].read) ||
              meet(touched[i].read, touched[j].written))
            before[j].push_back(i);
        }
        int chosen = -1;
        for (std::size_t k = before[j].size(); k-- > 0 && chosen < 0;) {
          const int s = stream[before[j][k]];
          if (last[static_cast<std::size_t>(s)] == before[j][k]) chosen = s;
        }
        if (chosen < 0 && before[j].empty() && used < most) chosen = used;
        if (chosen < 0) {
          chosen = before[j].empty() ? next++ % most : stream[before[j].back()];
          if (chosen >= used) chosen = 0;
        }
        used = std::max(used, chosen + 1);
        stream[j] = chosen;
        last[static_cast<std::size_t>(chosen)] = j;
      }
    }
    for (std::size_t j = 0; j < n; ++j) {
      work[j]->issue = ir::DeviceIssue{};
      work[j]->issue->stream = stream[j];
    }
    if (used <= 1) {
      for (auto& e : work) out.items.push_back(std::move(e));
      return;
    }
    // Streams start after what stream 0 did before.
    auto start = marker();
    const int fork = events_++;
    start->issue->recorded_events.push_back(fork);
    std::vector<std::size_t> final_of(static_cast<std::size_t>(used), n);
    std::vector<bool> started(static_cast<std::size_t>(used), false);
    std::vector<int> event(n, -1);
    const auto event_of = [&](std::size_t i) {
      if (event[i] < 0) {
        event[i] = events_++;
        work[i]->issue->recorded_events.push_back(event[i]);
      }
      return event[i];
    };
    // What each stream is known to come after: the last piece of work of every other stream.
    std::vector<std::map<int, std::size_t>> known(static_cast<std::size_t>(used));
    for (std::size_t j = 0; j < n; ++j) {
      const auto s = static_cast<std::size_t>(stream[j]);
      if (!started[s] && s != 0) work[j]->issue->awaited_events.push_back(fork);
      started[s] = true;
      for (const std::size_t i : before[j]) {
        if (stream[i] == stream[j]) continue;
        const auto it = known[s].find(stream[i]);
        if (it != known[s].end() && it->second >= i) continue;
        work[j]->issue->awaited_events.push_back(event_of(i));
        known[s][stream[i]] = i;
      }
      final_of[s] = j;
    }
    auto join = marker();
    for (std::size_t s = 1; s < final_of.size(); ++s) {
      if (final_of[s] < n) join->issue->awaited_events.push_back(event_of(final_of[s]));
    }
    out.items.push_back(std::move(start));
    for (auto& e : work) out.items.push_back(std::move(e));
    out.items.push_back(std::move(join));
  }

  // ---- waits of the host
  // Containers of the host that a device still writes or reads, and from which stream.
  struct Pending {
    std::map<std::string, std::set<int>, std::less<>> writes, reads;
    void add(const Pending& o) {
      for (const auto& [n, s] : o.writes) writes[n].insert(s.begin(), s.end());
      for (const auto& [n, s] : o.reads) reads[n].insert(s.begin(), s.end());
    }
    bool operator==(const Pending&) const = default;
  };

  static void wait(ir::Element& e, Pending& pending, const Uses& host) {
    std::set<int> streams;
    for (const auto& [n, s] : pending.writes) {
      if (host.read.contains(n) || host.written.contains(n)) streams.insert(s.begin(), s.end());
    }
    for (const auto& [n, s] : pending.reads) {
      if (host.written.contains(n)) streams.insert(s.begin(), s.end());
    }
    if (streams.empty()) return;
    if (!e.issue) e.issue = ir::DeviceIssue{};
    std::set<int> all(e.issue->host_waits.begin(), e.issue->host_waits.end());
    all.insert(streams.begin(), streams.end());
    e.issue->host_waits.assign(all.begin(), all.end());
    for (auto* map : {&pending.writes, &pending.reads}) {
      for (auto it = map->begin(); it != map->end();) {
        for (const int s : streams) it->second.erase(s);
        it = it->second.empty() ? map->erase(it) : std::next(it);
      }
    }
  }

  bool is_host_memory(const std::string& n) const {
    if (n == "?") return true;
    const ir::Container* c = g_.containers.find(n);
    if (c == nullptr || c->constant) return false;
    const ir::Storage s = ir::root_of(g_, *c).storage;
    return s != ir::Storage::kGpuGlobal && s != ir::Storage::kGpuShared;
  }
  bool is_pinned(const std::string& n) const { return n == "?" || storage_of(g_, n) == ir::Storage::kPinned; }

  static Uses header_of(const ir::Element& e) {
    Uses out;
    const auto add = [&](const tasklet::Expr& x) {
      for (const std::string& b : tasklet::uses_of(x).subscripted) out.read.insert(b.substr(0, b.find('.')));
    };
    if (const auto* f = std::get_if<ir::For>(&e.kind)) {
      add(f->init);
      add(f->condition);
      add(f->update);
    } else if (const auto* w = std::get_if<ir::While>(&e.kind)) {
      add(w->condition);
    } else if (const auto* i = std::get_if<ir::If>(&e.kind)) {
      for (const ir::If::Branch& b : i->branches) add(b.condition);
    }
    return out;
  }
  Uses named(const Uses& t) const {
    Uses out;
    for (const std::string& n : t.read) out.read.insert(name_of(n));
    for (const std::string& n : t.written) out.written.insert(name_of(n));
    return out;
  }

  Pending waits(ir::Sequence& s, Pending pending) {
    for (auto& item : s.items) element(*item, pending);
    return pending;
  }

  void element(ir::Element& e, Pending& pending) {
    if (is_device_work(e)) {
      const Uses t = of(e);
      if (is_kernel(e)) {
        // Scalars of the host travel by value: they are read now.
        Uses values;
        for (const std::string& n : t.read) {
          if (is_host_memory(n) && !is_pinned(n)) values.read.insert(n);
        }
        wait(e, pending, values);
      }
      const int stream = e.issue ? e.issue->stream : 0;
      // Host memory without pins is read before the copy returns, so only writes to it stay open.
      Uses staged;
      for (const std::string& n : t.read) {
        if (is_host_memory(n) && !is_pinned(n) && !is_kernel(e)) staged.read.insert(n);
      }
      wait(e, pending, staged);
      for (const std::string& n : t.written) {
        if (is_host_memory(n)) pending.writes[n].insert(stream);
      }
      for (const std::string& n : t.read) {
        if (is_pinned(n)) pending.reads[n].insert(stream);
      }
      return;
    }
    if (std::holds_alternative<ir::Exit>(e.kind) || std::holds_alternative<ir::Return>(e.kind)) {
      // Blocks are left: what they own must not be written later.
      Uses owned;
      for (const auto& [n, streams] : pending.writes) {
        if (is_transient(n)) owned.written.insert(n);
      }
      for (const auto& [n, streams] : pending.reads) {
        if (is_transient(n)) owned.written.insert(n);
      }
      wait(e, pending, owned);
      return;
    }
    if (!holds_device_work(e)) {
      wait(e, pending, of(e));
      return;
    }
    if (auto* b = std::get_if<ir::Block>(&e.kind)) {
      pending = waits(b->body, std::move(pending));
      end_of_scope(b->body, b->locals, pending);
      return;
    }
    const Uses header = named(header_of(e));
    wait(e, pending, header);
    if (auto* i = std::get_if<ir::If>(&e.kind)) {
      Pending after = pending;  // none of the branches
      for (ir::If::Branch& b : i->branches) after.add(waits(b.body, pending));
      pending = std::move(after);
      return;
    }
    // A loop: what the body leaves open is open at its start. Waits only gather, so going over it again is harmless.
    for (ir::Sequence* body : ir::child_sequences(e)) {
      Pending start = pending;
      for (;;) {
        Pending end = waits(*body, start);
        if (!header.read.empty()) {
          const auto same = last_of(*body);
          wait(*same, end, header);
        }
        Pending next = start;
        next.add(end);
        if (next == start) {
          pending.add(end);
          break;
        }
        start = std::move(next);
      }
      pending.add(start);
    }
  }

  bool is_transient(const std::string& n) const {
    const ir::Container* c = g_.containers.find(n);
    return c != nullptr && c->transient && c->lifetime == ir::Lifetime::kScope;
  }

  // An element of its own at the end of a sequence to hang waits on.
  ir::Element* last_of(ir::Sequence& s) {
    if (!s.items.empty() && ends_.contains(s.items.back()->id)) return s.items.back().get();
    s.items.push_back(marker());
    ends_.insert(s.items.back()->id);
    return s.items.back().get();
  }

  void end_of_scope(ir::Sequence& s, const std::vector<std::string>& locals, Pending& pending) {
    Uses owned;
    for (const std::string& n : locals) {
      const ir::Container* c = g_.containers.find(n);
      if (c != nullptr && c->lifetime == ir::Lifetime::kScope && is_host_memory(n) &&
          (pending.writes.contains(n) || pending.reads.contains(n)))
        owned.written.insert(n);
    }
    if (!owned.written.empty()) wait(*last_of(s), pending, owned);
  }

  // Markers that turned out to hold nothing.
  static void drop_empty(ir::Sequence& s) {
    std::erase_if(s.items, [](const std::unique_ptr<ir::Element>& e) {
      const auto* state = std::get_if<ir::State>(&e->kind);
      return state != nullptr && state->nodes.empty() && !state->barrier && e->issue && e->issue->host_waits.empty() &&
             e->issue->awaited_events.empty() && e->issue->recorded_events.empty();
    });
    for (auto& e : s.items) {
      if (is_kernel(*e)) continue;
      for (ir::Sequence* child : ir::child_sequences(*e)) drop_empty(*child);
    }
  }

  ir::Graph& g_;
  const DeviceOptions& options_;
  Names alias_;
  int events_ = 0;
  std::set<ir::Id> ends_;
};

}  // namespace

bool plan_streams(ir::Graph& g, const DeviceOptions& options) {
  Planner(g, options).run();
  return true;
}

}  // namespace sdfg::transform
