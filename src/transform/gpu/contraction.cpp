// Follows the loops of a kernel down to its product, then sorts their parameters by what they move.
#include "transform/gpu/contraction.hpp"

#include <algorithm>
#include <set>

#include "transform/gpu/adds_products.hpp"
#include "transform/gpu/kernels.hpp"

namespace sdfg::transform {

namespace {

using symbolic::Expr;
using Names = std::set<std::string, std::less<>>;

// `likely`: as far as it was read, the kernel is a sum of products. Else the reason is of interest only if
// adds_products says so.
struct NoContraction {
  std::string why;
  bool likely;
};
[[noreturn]] void no(std::string why) {
  throw NoContraction{std::move(why), true};
}
[[noreturn]] void unlike(std::string why) {
  throw NoContraction{std::move(why), false};
}
std::string quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

class Recogniser {
 public:
  Recogniser(const ir::Graph& g, const ir::Element& kernel, const symbolic::Facts& outside)
      : g_(g), kernel_(kernel), outside_(outside) {}

  DeviceContraction run() {
    const auto& m = std::get<ir::Map>(kernel_.kind);
    enter(m);
    descend(m.body);
    find_accesses();
    check_ranges();
    check_memory();
    sort_labels();
    sort_locals();
    return std::move(out_);
  }

 private:
  // ---- Loops and states

  std::string inner(const ir::Element& e) const { return ir::describe(g_, e); }
  static std::string passes_on(const std::string& data) {
    return "the local " + quoted(data) + " does more than pass one element on to the product";
  }
  static constexpr const char* kOtherLoops = "loops before those of the sum run over other places than these";

  void add_label(const std::string& symbol, const ir::Range& r, bool ordered) {
    if (!r.tile.is_one()) unlike("the range of " + quoted(symbol) + " has tiles");
    labels_.push_back({symbol, r.begin, r.step, r.count(), ordered});
    names_.insert(symbol);
  }
  void enter(const ir::Map& m) {
    for (std::size_t d = 0; d < m.params.size(); ++d) add_label(m.params[d], m.ranges[d], false);
  }
  // A loop, whose body is returned; nothing for other elements.
  const ir::Sequence* enter_loop(const ir::Element& e) {
    if (const auto* m = std::get_if<ir::Map>(&e.kind)) {
      if (m->schedule != ir::Schedule::kSequential && m->schedule != ir::Schedule::kDefault)
        unlike(inner(e) + " has the schedule " + std::string(ir::to_string(m->schedule)));
      enter(*m);
      return &m->body;
    }
    if (const auto* f = std::get_if<ir::For>(&e.kind)) {
      const auto view = ir::canonical(*f);
      if (!view || view->step < 1) unlike(inner(e) + " does not count up by a constant step");
      add_label(f->variable, {view->begin, view->end, view->step, 1}, true);
      return &f->body;
    }
    return nullptr;
  }
  static bool is_loop(const ir::Element& e) {
    return std::holds_alternative<ir::Map>(e.kind) || std::holds_alternative<ir::For>(e.kind);
  }

  void descend(const ir::Sequence& start) {
    const ir::Sequence* s = &start;
    for (;;) {
      if (s->items.size() == 1) {
        const ir::Element& e = *s->items.front();
        if (std::holds_alternative<ir::State>(e.kind)) {
          out_.product.push_back({&e, {}});
          return;
        }
        if (const auto* b = std::get_if<ir::Block>(&e.kind)) {
          locals_.insert(locals_.end(), b->locals.begin(), b->locals.end());
          s = &b->body;
          continue;
        }
        const ir::Sequence* body = enter_loop(e);
        if (body == nullptr) unlike(inner(e) + " stands around the products");
        s = body;
        continue;
      }
      s = &work_of_point(*s);
    }
  }

  // The body of the loops over the products; what stands beside them is the work of one point.
  const ir::Sequence& work_of_point(const ir::Sequence& s) {
    if (point_) unlike("code stands beside loops on more than one level");
    point_ = labels_.size();
    const ir::Element* main = nullptr;
    std::vector<const ir::Element*> earlier;
    for (const auto& item : s.items) {
      if (is_loop(*item)) {
        if (main != nullptr) earlier.push_back(main);
        main = item.get();
      }
    }
    if (main == nullptr) unlike("several elements stand where one should add up the products");
    bool behind = false;
    for (const auto& item : s.items) {
      if (item.get() == main) {
        behind = true;
        continue;
      }
      if (std::ranges::find(earlier, item.get()) != earlier.end()) continue;
      if (!std::holds_alternative<ir::State>(item->kind)) unlike(inner(*item) + " stands beside the loops of the sum");
      (behind ? out_.after : out_.before).push_back({item.get(), {}});
    }
    const ir::Sequence* body = enter_loop(*main);
    earlier_ = std::move(earlier);
    return *body;
  }

  // ---- What the product reads and writes

  struct Use {
    const ir::State* state = nullptr;
    const ir::Memlet* edge = nullptr;
    std::string data;
    ir::Subset at;
  };

  void find_accesses() {
    for (std::size_t round = 0;; ++round) {
      collect_uses();
      if (!inline_producer()) break;
      if (round > 8) unlike("its products pass through more than 8 other loops");
    }
    if (accumulations_.size() != 1)
      unlike("it writes " + std::to_string(accumulations_.size()) + " elements for each product, not one");
    const Use sum = accumulations_.front();
    out_.sum = sum.data;
    out_.sum_at = sum.at;
    const ir::Container& c = container(sum.data);
    if (!c.type.is_scalar()) unlike("elements of " + quoted(sum.data) + " are no numbers");
    out_.type = c.type.scalar();
    out_.sum_is_local = std::ranges::find(locals_, sum.data) != locals_.end();
    bool carried = false;
    std::erase_if(reads_, [&](const Use& u) {
      if (u.data != sum.data) return false;
      if (!(u.at == sum.at)) unlike(quoted(sum.data) + " is read elsewhere than it is written");
      return carried = true;
    });
    if (!sum.edge->wcr && !carried)
      unlike("its products are written to " + quoted(sum.data) + " without being added up there");
    carried_ = !sum.edge->wcr;
    if (sum.edge->wcr && carried) unlike(quoted(sum.data) + " is read and accumulated into by the same code");
    adopt_earlier_loops();
    if (out_.before.empty() && out_.after.empty() && !out_.sum_is_local) point_.reset();
    check_values();
    // Reads that no label moves stay as they are.
    std::vector<const Use*> moving;
    for (const Use& u : reads_) {
      if (moves(u.at) && std::ranges::none_of(moving, [&](const Use* v) { return v->data == u.data && v->at == u.at; }))
        moving.push_back(&u);
    }
    if (moving.size() != 2)
      unlike("its products read " + std::to_string(moving.size()) + " elements that move with it, not two");
    if (sum.edge->wcr && sum.edge->wcr->op != ir::ReduceOp::kSum)
      no("it accumulates by " + std::string(ir::to_string(sum.edge->wcr->op)) + ", not by sums");
    out_.a = factor(*moving[0]);
    out_.b = factor(*moving[1]);
  }

  void collect_uses() {
    reads_.clear();
    accumulations_.clear();
    for (const Piece& p : out_.product) {
      const auto& s = std::get<ir::State>(p.element->kind);
      if (s.barrier) unlike("it holds a barrier");
      for (const ir::Node& n : s.nodes) {
        if (std::holds_alternative<ir::Library>(n.kind)) unlike("it holds " + ir::describe(g_, n));
        const auto* t = std::get_if<ir::Tasklet>(&n.kind);
        if (t == nullptr) continue;
        if (t->code.language != tasklet::Language::kTree || t->side_effects.value_or(false))
          unlike(ir::describe(g_, n) + " is C++ text or has effects");
        const tasklet::Uses uses = tasklet::uses_of(t->code.body);
        if (!uses.called.empty()) unlike(ir::describe(g_, n) + " calls functions of the caller");
        for (const std::string& name : uses.read) {
          if (names_.contains(name) || p.symbols.contains(name))
            unlike(ir::describe(g_, n) + " computes with the parameter " + quoted(name));
        }
      }
      for (const ir::Memlet& m : s.edges) {
        if (m.is_order_only()) continue;
        if (m.dynamic || m.set_reference) unlike(ir::describe(g_, s, m) + " may leave elements untouched");
        const ir::Access* from = access_of(s, m.src);
        const ir::Access* to = access_of(s, m.dst);
        if (from != nullptr && to != nullptr) unlike(ir::describe(g_, s, m) + " copies");
        if (from != nullptr && !is_value(from->data)) {
          if (!m.src_subset || !m.src_subset->is_index())
            unlike("more than one element of " + quoted(from->data) + " is read for a product");
          reads_.push_back({&s, &m, from->data, symbolic::substitute(*m.src_subset, p.symbols)});
        }
        if (to != nullptr && !is_value(to->data)) {
          if (!m.dst_subset || !m.dst_subset->is_index())
            unlike("more than one element of " + quoted(to->data) + " is written for a product");
          if (is_passed_on(p, *to)) {
            out_.values.push_back(to->data);
            return collect_uses();
          }
          accumulations_.push_back({&s, &m, to->data, symbolic::substitute(*m.dst_subset, p.symbols)});
        }
      }
    }
  }
  // One element each.
  void check_values() const {
    std::map<std::string, ir::Subset, std::less<>> places;
    for (const Piece& p : out_.product) {
      const auto& s = std::get<ir::State>(p.element->kind);
      for (const ir::Memlet& m : s.edges) {
        for (const bool source : {true, false}) {
          const ir::Access* a = access_of(s, source ? m.src : m.dst);
          const auto& subset = source ? m.src_subset : m.dst_subset;
          if (a == nullptr || !is_value(a->data) || m.is_order_only()) continue;
          if (!subset || !subset->is_index()) unlike(passes_on(a->data));
          const ir::Subset at = symbolic::substitute(*subset, p.symbols);
          if (!(places.emplace(a->data, at).first->second == at)) unlike(passes_on(a->data));
        }
      }
    }
  }
  bool is_value(const std::string& data) const { return std::ranges::find(out_.values, data) != out_.values.end(); }
  // A local that one state of the product writes for its own tasklets.
  bool is_passed_on(const Piece& p, const ir::Access& to) const {
    if (std::ranges::find(locals_, to.data) == locals_.end()) return false;
    const auto& s = std::get<ir::State>(p.element->kind);
    for (const ir::Memlet& m : s.edges) {
      const ir::Access* written = access_of(s, m.dst);
      if (written != nullptr && written->data == to.data && m.wcr) return false;
      const ir::Access* read = access_of(s, m.src);
      // Reads behind the write, by the same node.
      if (read != nullptr && read->data == to.data && read == &to) return true;
    }
    return false;
  }

  // A loop before that writes, element by element, a local which the product reads: its state becomes a part of the
  // product, and the element a value of it.
  bool inline_producer() {
    for (const Use& u : reads_) {
      const bool local = std::ranges::find(locals_, u.data) != locals_.end();
      if (!local || (!accumulations_.empty() && accumulations_.front().data == u.data)) continue;
      const auto producer = std::ranges::find_if(
          earlier_, [&](const ir::Element* e) { return ir::containers_written(g_, *e).contains(u.data); });
      if (producer == earlier_.end()) continue;
      if (std::ranges::any_of(reads_, [&](const Use& v) { return v.data == u.data && !(v.at == u.at); }))
        unlike(passes_on(u.data));
      std::vector<Label> own;
      const ir::State& s = only_state(**producer, own);
      Piece piece{only_state_element(**producer), {}};
      const ir::Memlet* write = nullptr;
      for (const ir::Memlet& m : s.edges) {
        const ir::Access* to = access_of(s, m.dst);
        if (to == nullptr || m.is_order_only()) continue;
        if (write != nullptr || to->data != u.data || m.wcr || !m.dst_subset || !m.dst_subset->is_index())
          unlike(passes_on(u.data));
        write = &m;
      }
      if (write == nullptr) unlike(passes_on(u.data));
      match(own, *write->dst_subset, u.at, piece.symbols);
      out_.product.insert(out_.product.begin(), std::move(piece));
      out_.values.push_back(u.data);
      earlier_.erase(producer);
      return true;
    }
    return false;
  }

  // Loops before the product that write what it accumulates into: their state is work of each point.
  void adopt_earlier_loops() {
    for (const ir::Element* e : earlier_) {
      std::vector<Label> own;
      const ir::State& s = only_state(*e, own);
      Piece piece{only_state_element(*e), {}};
      const ir::Memlet* write = nullptr;
      for (const ir::Memlet& m : s.edges) {
        const ir::Access* to = access_of(s, m.dst);
        if (to == nullptr || m.is_order_only()) continue;
        if (write != nullptr || to->data != out_.sum || m.wcr || !m.dst_subset || !m.dst_subset->is_index())
          unlike(inner(*e) + " does more than give the sums their first values");
        write = &m;
      }
      if (write == nullptr || !out_.before.empty())
        unlike(inner(*e) + " does more than give the sums their first values");
      match(own, *write->dst_subset, out_.sum_at, piece.symbols);
      out_.before.push_back(std::move(piece));
      // The points are those of the sums, not those around the two loops.
      point_.reset();
    }
    if (!earlier_.empty() && !out_.after.empty()) unlike("code stands before and behind the loops of the sum");
    if (earlier_.size() > 1) unlike("several loops stand before those of the sum");
  }

  // Each label of a loop beside the product is the index of the same place there, over the same range.
  void match(const std::vector<Label>& own, const ir::Subset& written, const ir::Subset& wanted,
             symbolic::Substitution& symbols) const {
    if (written.rank() != wanted.rank()) unlike(kOtherLoops);
    for (std::size_t d = 0; d < written.rank(); ++d) {
      const Expr& at = written[d].begin;
      const auto label = std::ranges::find_if(own, [&](const Label& l) { return at == Expr::symbol(l.symbol); });
      if (label == own.end()) {
        if (!(at == wanted[d].begin)) unlike(kOtherLoops);
        continue;
      }
      const Expr& there = wanted[d].begin;
      const auto same = std::ranges::find_if(labels_, [&](const Label& l) { return there == Expr::symbol(l.symbol); });
      if (same == labels_.end() || symbols.contains(label->symbol)) unlike(kOtherLoops);
      if (!(same->first == label->first) || !(same->step == label->step) || !(same->count == label->count))
        unlike(kOtherLoops);
      symbols.emplace(label->symbol, there);
    }
    if (symbols.size() != own.size()) unlike(kOtherLoops);
  }

  const ir::Element* only_state_element(const ir::Element& e) const {
    const ir::Element* at = &e;
    while (!std::holds_alternative<ir::State>(at->kind)) at = ir::child_sequences(*at).front()->items.front().get();
    return at;
  }
  const ir::State& only_state(const ir::Element& e, std::vector<Label>& own) const {
    const ir::Element* at = &e;
    while (!std::holds_alternative<ir::State>(at->kind)) {
      const auto* m = std::get_if<ir::Map>(&at->kind);
      if (m == nullptr || m->body.items.size() != 1) unlike(inner(e) + " holds more than maps around plain code");
      for (std::size_t d = 0; d < m->params.size(); ++d)
        own.push_back({m->params[d], m->ranges[d].begin, m->ranges[d].step, m->ranges[d].count(), false});
      at = m->body.items.front().get();
    }
    const auto& s = std::get<ir::State>(at->kind);
    if (s.barrier) unlike(inner(e) + " holds more than maps around plain code");
    for (const ir::Node& n : s.nodes) {
      const auto* t = std::get_if<ir::Tasklet>(&n.kind);
      if (std::holds_alternative<ir::Library>(n.kind) || (t != nullptr && t->side_effects.value_or(false)))
        unlike(inner(e) + " holds more than maps around plain code");
    }
    return s;
  }

  bool moves(const ir::Subset& at) const {
    const symbolic::SymbolSet used = at.free_symbols();
    return std::ranges::any_of(used, [&](const std::string& s) { return names_.contains(s); });
  }

  Factor factor(const Use& u) const {
    const ir::Container& c = container(u.data);
    const bool array = c.kind == ir::ContainerKind::kArray || c.kind == ir::ContainerKind::kView;
    if (!array || c.constant || !c.type.is_scalar() || u.at.rank() != c.rank())
      unlike("the operand " + quoted(u.data) + " is no array of numbers");
    if (!in_device_memory(g_, u.data)) unlike("the operand " + quoted(u.data) + " is not in device memory");
    Factor f{u.data, u.at, c.type.scalar(), 0, {}};
    Expr rest = 0;
    for (std::size_t d = 0; d < c.rank(); ++d) rest += u.at[d].begin * c.layout.strides()[d];
    for (const Label& l : labels_) {
      const auto affine = symbolic::affine_in(rest, l.symbol);
      if (!affine) no("the index of '" + u.data + "' is not affine in '" + l.symbol + "'");
      if (!affine->slope.is_zero()) f.strides.emplace(l.symbol, affine->slope * l.step);
      rest = affine->rest + affine->slope * l.first;
      for (const Label& other : labels_) {
        if (depends_on(affine->slope, other.symbol))
          no("the index of '" + u.data + "' is not affine in '" + l.symbol + "' and '" + other.symbol + "'");
      }
    }
    for (const std::string& s : symbolic::free_symbols(rest)) known_outside(s);
    f.offset = rest;
    return f;
  }
  // A symbol that the kernel itself binds has no value before it.
  void known_outside(const std::string& s) const {
    if (ir::symbols_bound(kernel_).contains(s)) no("'" + s + "' is known only inside the kernel");
  }

  // ---- Conditions

  void check_ranges() {
    for (Label& l : labels_) {
      for (const Expr* e : {&l.first, &l.step, &l.count}) {
        for (const std::string& s : symbolic::free_symbols(*e)) {
          if (ir::symbols_bound(kernel_).contains(s)) no("the range of '" + l.symbol + "' depends on '" + s + "'");
        }
      }
      if (symbolic::is_positive(l.step, outside_) != symbolic::Truth::kYes) no("the step of '" + l.symbol + "'");
      l.count = symbolic::simplify(l.count, outside_);
    }
    const auto refuse = [&](const std::vector<Piece>& pieces) {
      for (const Piece& p : pieces) {
        const auto& s = std::get<ir::State>(p.element->kind);
        if (s.barrier) unlike("it holds a barrier");
        for (const ir::Node& n : s.nodes) {
          if (std::holds_alternative<ir::Library>(n.kind)) unlike("it holds " + ir::describe(g_, n));
        }
      }
    };
    refuse(out_.before);
    refuse(out_.after);
  }

  const ir::Container& container(const std::string& data) const {
    const ir::Container* c = g_.containers.find(data);
    if (c == nullptr) unlike(quoted(data) + " is a member of a structure");
    return *c;
  }
  std::string owner(const std::string& data) const { return ir::root_of(g_, container(data)).name; }

  void check_memory() const {
    const auto plain = [&](const std::string& data) {
      const ir::Container& c = ir::root_of(g_, container(data));
      if (c.may_alias || c.kind == ir::ContainerKind::kReference) no("'" + data + "' may share memory with others");
    };
    if (!is_plain_number(out_.type) || !is_plain_number(out_.a.type) || !is_plain_number(out_.b.type))
      no("sums of " + std::string(to_string(out_.type)) + " keep the kernel that is written");
    if (out_.sum_is_local) {
      const ir::Container& c = container(out_.sum);
      if (!c.is_scalar() && !(c.kind == ir::ContainerKind::kArray && c.layout.total_size().is_one()))
        unlike("the sum " + quoted(out_.sum) + " is a local of several elements");
      if (!point_ || (out_.before.empty() && !c.zeroed)) unlike("the sum " + quoted(out_.sum) + " has no first value");
    } else {
      if (!in_device_memory(g_, out_.sum)) unlike("the sum " + quoted(out_.sum) + " is not in device memory");
      const ir::ContainerKind kind = container(out_.sum).kind;
      if (kind != ir::ContainerKind::kArray && kind != ir::ContainerKind::kView)
        unlike("the sum " + quoted(out_.sum) + " is no array");
      plain(out_.sum);
    }
    plain(out_.a.data);
    plain(out_.b.data);
    symbolic::SymbolSet written;
    for (const std::string& name : ir::containers_written(g_, kernel_)) written.insert(owner(name));
    for (const Factor* f : {&out_.a, &out_.b}) {
      if (written.contains(owner(f->data))) no("it writes '" + f->data + "', which it reads as an operand");
    }
  }
  static bool is_plain_number(ScalarType t) {
    return t != ScalarType::kBool && t != ScalarType::kFloat16 && t != ScalarType::kBFloat16;
  }

  // ---- Labels

  void sort_labels() {
    // Labels of the sum: each alone in a dimension, so that no two points meet.
    Names kept;
    if (out_.sum_is_local) {
      for (std::size_t k = 0; k < *point_; ++k) kept.insert(labels_[k].symbol);
    } else {
      for (const ir::Range& r : out_.sum_at.ranges()) {
        std::size_t here = 0;
        for (const Label& l : labels_) {
          if (!depends_on(r.begin, l.symbol)) continue;
          const auto affine = symbolic::affine_in(r.begin, l.symbol);
          if (!affine || !affine->slope.constant() || ++here > 1 || !kept.insert(l.symbol).second)
            no("not provable that points write different elements of '" + out_.sum + "'");
        }
        for (const std::string& s : symbolic::free_symbols(r.begin)) {
          if (!names_.contains(s)) known_outside(s);
        }
      }
    }
    for (std::size_t k = 0; k < labels_.size(); ++k) {
      const Label& l = labels_[k];
      const bool a = out_.a.strides.contains(l.symbol), b = out_.b.strides.contains(l.symbol);
      if (!kept.contains(l.symbol)) {
        // The work of a point happens once for all that is summed.
        if (point_ && k < *point_)
          unlike("the work beside the sum happens for each " + quoted(l.symbol) + ", which the sum runs over");
        out_.summed.push_back(l);
        continue;
      }
      if (point_ && k >= *point_ && !(out_.before.empty() && out_.after.empty()))
        unlike("the work beside the sum happens once for all " + quoted(l.symbol) + ", each of which has its own sum");
      // Loops around the work of points may pass something on from one to the next.
      if (l.ordered && !(out_.before.empty() && out_.after.empty()))
        unlike("the loop over " + quoted(l.symbol) + " stands around more than the sum");
      (a == b ? out_.batch : a ? out_.rows : out_.columns).push_back(l);
    }
    if (carried_ && std::ranges::any_of(out_.summed, [](const Label& l) { return !l.ordered; }))
      unlike("its points carry the sum from one to the next in no fixed order");
    if (out_.summed.empty()) unlike("no dimension is summed over");
    if (out_.rows.empty() || out_.columns.empty())
      unlike("no dimension of the result belongs to one operand alone: a tile would be read once");
  }

  // Locals belong to one part each.
  void sort_locals() {
    const auto used_by = [&](const std::vector<Piece>& pieces, const std::string& name) {
      return std::ranges::any_of(pieces, [&](const Piece& p) {
        return ir::containers_read(g_, *p.element).contains(name) ||
               ir::containers_written(g_, *p.element).contains(name);
      });
    };
    for (const std::string& name : locals_) {
      if (name == out_.sum || is_value(name)) continue;
      const bool before = used_by(out_.before, name), after = used_by(out_.after, name);
      if (used_by(out_.product, name) || (before && after))
        unlike("the local " + quoted(name) + " belongs to more than one part of it");
      if (!before && !after) continue;
      const ir::Container& c = container(name);
      if (c.kind != ir::ContainerKind::kScalar && c.kind != ir::ContainerKind::kArray)
        unlike("the local " + quoted(name) + " belongs to more than one part of it");
      (before ? out_.before_locals : out_.after_locals).push_back(name);
    }
    for (const std::string& name : out_.values) {
      if (used_by(out_.before, name) || used_by(out_.after, name))
        unlike("the local " + quoted(name) + " belongs to more than one part of it");
      if (!container(name).type.is_scalar())
        unlike("the local " + quoted(name) + " belongs to more than one part of it");
    }
  }

  const ir::Graph& g_;
  const ir::Element& kernel_;
  const symbolic::Facts& outside_;
  DeviceContraction out_;
  std::vector<Label> labels_;  // outermost first
  Names names_;
  std::optional<std::size_t> point_;  // labels around the work of a point
  std::vector<std::string> locals_;
  std::vector<const ir::Element*> earlier_;  // loops of a point before those over the products
  std::vector<Use> reads_, accumulations_;
  bool carried_ = false;  // the sum is read and written back, not accumulated into
};

}  // namespace

std::optional<DeviceContraction> contraction_of(const ir::Graph& g, const ir::Element& kernel,
                                                const symbolic::Facts& outside, std::string& why) {
  why.clear();
  try {
    return Recogniser(g, kernel, outside).run();
  } catch (NoContraction& none) {
    if (none.likely || adds_products(kernel)) why = std::move(none.why);
    return std::nullopt;
  }
}

}  // namespace sdfg::transform
