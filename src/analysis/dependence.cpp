// Proves independence dimension by dimension: a container dimension in which both accesses move with a parameter, by
// more than they cover.
#include "analysis/dependence.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace sdfg::analysis {

namespace {

using symbolic::Expr;
using symbolic::Facts;
using symbolic::Truth;

using Names = std::set<std::string, std::less<>>;

// What a symbol bound inside an iteration runs over; nothing if that isn't known.
struct Inner {
  std::string name;
  std::optional<ir::Range> range;
};

// Symbols bound on the way from the iteration to the access, outermost first.
std::vector<Inner> bound_on(const Access& a) {
  std::vector<Inner> out;
  for (const ir::Element* e : a.path) {
    if (const auto* m = std::get_if<ir::Map>(&e->kind)) {
      for (std::size_t d = 0; d < m->params.size(); ++d) out.push_back({m->params[d], m->ranges[d]});
    } else if (const auto* f = std::get_if<ir::For>(&e->kind)) {
      const auto loop = ir::canonical(*f);
      if (!loop) {
        out.push_back({f->variable, std::nullopt});
      } else if (loop->step > 0) {
        out.push_back({f->variable, ir::Range{loop->begin, loop->end, Expr(loop->step), 1}});
      } else {
        out.push_back({f->variable, ir::Range{loop->end, loop->begin, Expr(-loop->step), 1}});
      }
    } else if (const auto* c = std::get_if<ir::Consume>(&e->kind)) {
      out.push_back({c->worker, std::nullopt});
    }
  }
  return out;
}

struct Interval {
  Expr low, high;
};

// Bounds of [low, high] after the inner symbols took all their values; nothing if some has no known or no monotone
// influence.
std::optional<Interval> widen(Interval at, const std::vector<Inner>& inner, const Facts& facts) {
  for (auto it = inner.rbegin(); it != inner.rend(); ++it) {  // innermost first: ranges may use symbols further out
    const bool used = depends_on(at.low, it->name) || depends_on(at.high, it->name);
    if (!used) continue;
    if (!it->range) return std::nullopt;
    const auto low = symbolic::lower_over(at.low, it->name, it->range->begin, it->range->end, facts);
    const auto high = symbolic::upper_over(at.high, it->name, it->range->begin, it->range->end, facts);
    if (!low || !high) return std::nullopt;
    at = {*low, *high};
  }
  return at;
}

struct Side {
  const Access* access;
  std::vector<Inner> inner;
};

// In container dimension d, with the other parameters free: do accesses of different values of `p` never meet?
bool separated(const Side& a, const Side& b, std::size_t d, const Parameter& p, const std::vector<Inner>& others,
               const Names& unknown, const Facts& facts) {
  Expr slope;
  bool first = true;
  Interval rest[2];
  const Side* sides[2] = {&a, &b};
  for (int k = 0; k < 2; ++k) {
    const ir::Range& r = sides[k]->access->subset[d];
    Expr low = r.begin;
    Expr high = r.end + r.tile - 1;
    if (symbolic::is_positive(r.step, facts) != Truth::kYes) {
      if (symbolic::is_positive(-r.step, facts) != Truth::kYes) return false;
      std::swap(low, high);
    }
    const auto in_low = symbolic::affine_in(low, p.name);
    const auto in_high = symbolic::affine_in(high, p.name);
    if (!in_low || !in_high || !(in_low->slope == in_high->slope)) return false;
    if (!first && !(in_low->slope == slope)) return false;
    slope = in_low->slope;
    first = false;
    // The inner symbols of this access, then the parameters that may differ too.
    std::vector<Inner> free = others;
    free.insert(free.end(), sides[k]->inner.begin(), sides[k]->inner.end());
    for (const Inner& i : free) {
      if (i.range && (depends_on(i.range->begin, p.name) || depends_on(i.range->end, p.name)) &&
          (depends_on(in_low->rest, i.name) || depends_on(in_high->rest, i.name))) {
        return false;  // a range that moves with the parameter would move the bounds
      }
    }
    const auto wide = widen({in_low->rest, in_high->rest}, free, facts);
    if (!wide) return false;
    for (const std::string& s : symbolic::free_symbols(wide->low)) {
      if (unknown.contains(s)) return false;
    }
    for (const std::string& s : symbolic::free_symbols(wide->high)) {
      if (unknown.contains(s)) return false;
    }
    rest[k] = *wide;
  }
  for (const std::string& s : symbolic::free_symbols(slope)) {
    if (unknown.contains(s)) return false;
  }
  Expr stride = slope * p.range.step;
  if (symbolic::is_positive(stride, facts) != Truth::kYes) {
    stride = -stride;
    if (symbolic::is_positive(stride, facts) != Truth::kYes) return false;
  }
  return symbolic::is_less(rest[0].high - rest[1].low, stride, facts) == Truth::kYes &&
         symbolic::is_less(rest[1].high - rest[0].low, stride, facts) == Truth::kYes;
}

// Symbols assigned below: their value in one iteration says nothing about another.
Names assigned_on(const std::vector<const ir::Element*>& path) {
  Names out;
  const auto collect = [&](const ir::Element& e) {
    if (const auto* a = std::get_if<ir::Assign>(&e.kind)) {
      for (const auto& item : a->items) out.insert(item.symbol);
    }
  };
  for (const ir::Element* e : path) {
    collect(*e);
    for (const ir::Sequence* child : ir::child_sequences(*e)) {
      ir::walk(*child, [&](const ir::Element& below, const ir::Ancestors&) { collect(below); });
    }
  }
  return out;
}

Answer overlap(const Access& a, const Access& b, const std::vector<Parameter>& parameters, const Names& assigned,
               const Facts& facts) {
  if (a.container != b.container)
    return {Truth::kNo, "'" + a.container + "' and '" + b.container + "' are different containers"};
  if (!a.placed || !b.placed) return {Truth::kUnknown, "where '" + a.container + "' is accessed is not known"};
  if (a.subset.rank() != b.subset.rank()) return {Truth::kUnknown, "accesses of '" + a.container + "' differ in rank"};
  const Side left{&a, bound_on(a)};
  const Side right{&b, bound_on(b)};
  // A dimension in which the two never meet, whatever the iterations.
  std::vector<Inner> all;
  for (const Parameter& p : parameters) all.push_back({p.name, p.range});
  const auto clean = [&](const Interval& i) {
    for (const Expr* e : {&i.low, &i.high}) {
      for (const std::string& s : symbolic::free_symbols(*e)) {
        if (assigned.contains(s)) return false;
      }
    }
    return true;
  };
  for (std::size_t d = 0; d < a.subset.rank(); ++d) {
    std::optional<Interval> box[2];
    const Side* sides[2] = {&left, &right};
    for (int k = 0; k < 2; ++k) {
      const ir::Range& r = sides[k]->access->subset[d];
      if (symbolic::is_positive(r.step, facts) != Truth::kYes) continue;
      std::vector<Inner> free = all;
      free.insert(free.end(), sides[k]->inner.begin(), sides[k]->inner.end());
      box[k] = widen({r.begin, r.end + r.tile - 1}, free, facts);
      if (box[k] && !clean(*box[k])) box[k].reset();
    }
    if (box[0] && box[1] &&
        (symbolic::is_less(box[0]->high, box[1]->low, facts) == Truth::kYes ||
         symbolic::is_less(box[1]->high, box[0]->low, facts) == Truth::kYes)) {
      return {Truth::kNo, "the two accesses of '" + a.container + "' lie apart"};
    }
  }
  // Parameters that are separated by some dimension, one after the other: where the earlier ones are equal, they are
  // the same symbol.
  std::vector<Parameter> left_over = parameters;
  for (bool progress = true; progress && !left_over.empty();) {
    progress = false;
    for (std::size_t k = 0; k < left_over.size() && !progress; ++k) {
      std::vector<Inner> others;
      for (std::size_t o = 0; o < left_over.size(); ++o) {
        if (o != k) others.push_back({left_over[o].name, left_over[o].range});
      }
      for (std::size_t d = 0; d < a.subset.rank() && !progress; ++d)
        progress = separated(left, right, d, left_over[k], others, assigned, facts);
      if (progress) left_over.erase(left_over.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  if (left_over.empty()) return {Truth::kNo, "each iteration has its own elements of '" + a.container + "'"};

  // The same single element in every iteration, and more than one iteration.
  const auto free_of_iteration = [&](const Access& x, const std::vector<Inner>& inner) {
    const symbolic::SymbolSet used = x.subset.free_symbols();
    return x.subset.is_index() &&
           std::ranges::none_of(parameters, [&](const Parameter& p) { return used.contains(p.name); }) &&
           std::ranges::none_of(inner, [&](const Inner& i) { return used.contains(i.name); }) &&
           std::ranges::none_of(assigned, [&](const std::string& s) { return used.contains(s); });
  };
  if (a.subset == b.subset && free_of_iteration(a, left.inner) && free_of_iteration(b, right.inner) && !a.dynamic &&
      !b.dynamic) {
    for (const Parameter& p : parameters) {
      if (symbolic::is_less(p.range.begin, p.range.end, facts) == Truth::kYes)
        return {Truth::kYes, "every iteration touches " + a.container + "[" + a.subset.str() + "]"};
    }
  }
  return {Truth::kUnknown, a.container + "[" + a.subset.str() + "] and " + b.container + "[" + b.subset.str() +
                               "] of different iterations may meet"};
}

}  // namespace

Truth elements_apart(const ir::Layout& layout, const Facts& facts) {
  if (layout.elements_meet()) return Truth::kNo;
  struct Dimension {
    Expr extent, stride;
  };
  std::vector<Dimension> left;
  for (std::size_t d = layout.rank(); d-- > 0;) {
    if (layout.shape()[d].is_one()) continue;
    const Expr& stride = layout.strides()[d];
    left.push_back({layout.shape()[d], symbolic::is_positive(-stride, facts) == Truth::kYes ? -stride : stride});
  }
  // From the innermost dimension out, each steps over all that came before it.
  for (Expr inner = 1; !left.empty();) {
    auto next = std::ranges::find_if(left, [&](const Dimension& d) { return d.stride == inner; });
    if (next == left.end()) {
      next = std::ranges::find_if(left, [&](const Dimension& d) {
        return symbolic::is_less_equal(inner, d.stride, facts) == Truth::kYes &&
               std::ranges::all_of(left, [&](const Dimension& other) {
                 return symbolic::is_less_equal(d.stride, other.stride, facts) == Truth::kYes;
               });
      });
    }
    if (next == left.end()) return Truth::kUnknown;
    inner = next->stride * next->extent;
    left.erase(next);
  }
  return Truth::kYes;
}

std::vector<Parameter> parameters_of(const ir::Map& m, std::size_t first) {
  std::vector<Parameter> out;
  for (std::size_t d = first; d < m.params.size(); ++d) out.push_back({m.params[d], m.ranges[d]});
  return out;
}

namespace {

// The answer for elements, turned into one for places where something accumulates.
Answer of_places(const ir::Graph& g, const Access& a, const Access& b, const Facts& facts, Answer of_elements) {
  if (of_elements.truth != Truth::kNo || a.container != b.container || (!a.wcr && !b.wcr)) return of_elements;
  const ir::Container* c = ir::resolve(g, a.container);
  if (c == nullptr || elements_apart(c->layout, facts) == Truth::kYes) return of_elements;
  return {Truth::kUnknown, "elements of '" + a.container + "' may share a place"};
}

}  // namespace

Answer overlap_across(const ir::Graph& g, const Access& a, const Access& b, const std::vector<Parameter>& parameters,
                      const Facts& facts) {
  Names assigned = assigned_on(a.path);
  assigned.merge(assigned_on(b.path));
  return of_places(g, a, b, facts, overlap(a, b, parameters, assigned, facts));
}

Answer carried(const ir::Graph& g, const AccessSet& body, const std::vector<Parameter>& parameters, const Facts& facts,
               CarriedOptions options) {
  if (body.opaque) return {Truth::kUnknown, body.opaque_reason};
  const Names local(body.declared.begin(), body.declared.end());
  Names assigned;
  const ir::Element* last = nullptr;  // accesses of one element follow each other
  for (const Access& a : body.accesses) {
    if (a.path.empty() || a.path.front() == last) continue;
    last = a.path.front();
    assigned.merge(assigned_on({last}));  // with everything below it
  }
  const auto is_local = [&](const Access& a) { return local.contains(a.container.substr(0, a.container.find('.'))); };
  const auto may_alias = [&](const Access& a) {
    const ir::Container* c = g.containers.find(a.container.substr(0, a.container.find('.')));
    return c && (c->may_alias || c->kind == ir::ContainerKind::kReference);
  };
  Answer worst{Truth::kNo, "no two iterations touch a common element"};
  const std::vector<std::size_t> first = distinct(body).first;
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Access& a = body.accesses[first[i]];
    if (is_local(a)) continue;
    for (std::size_t k = i; k < first.size(); ++k) {
      const Access& b = body.accesses[first[k]];
      if ((!a.write && !b.write) || is_local(b)) continue;
      if (a.container != b.container) {
        if (may_alias(a) && may_alias(b))
          return {Truth::kUnknown, "'" + a.container + "' and '" + b.container + "' may share memory"};
        continue;
      }
      if (options.ignore_reductions && a.wcr && b.wcr && *a.wcr == *b.wcr && *a.wcr != ir::ReduceOp::kCustom) continue;
      if (++pairs > kMostPairs) return {Truth::kUnknown, "there are too many different accesses to compare them"};
      Answer one = of_places(g, a, b, facts, overlap(a, b, parameters, assigned, facts));
      if (one.truth == Truth::kYes) return one;
      if (one.truth == Truth::kUnknown) worst = std::move(one);
    }
  }
  return worst;
}

}  // namespace sdfg::analysis
