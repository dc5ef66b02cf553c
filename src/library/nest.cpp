// The loop nest of a sum of products, ordered by the strides of its operands.
#include <algorithm>
#include <functional>

#include "library/contraction.hpp"

namespace sdfg::library {

Expr stride_in(const Operand& o, const Labels& labels, int label) {
  Expr s = 0;
  for (std::size_t d = 0; d < labels.size(); ++d) {
    if (labels[d] == label) s += o.stride(d);
  }
  return s;
}

std::map<int, Expr> extents_of(const Node& n, const Contraction& c) {
  std::map<int, Expr> extent;
  auto add = [&](const Operand& o, const Labels& labels) {
    if (o.rank() != labels.size())
      n.emitter->fail("has operand " + o.text() + " where " + std::to_string(labels.size()) + " dimensions are needed");
    for (std::size_t d = 0; d < labels.size(); ++d) {
      auto [it, fresh] = extent.emplace(labels[d], o.extent(d));
      if (fresh || it->second == o.extent(d)) continue;
      if ((it->second - o.extent(d)).constant())
        n.emitter->fail("has operand " + o.text() + ", whose dimension " + std::to_string(d) + " should have extent " +
                        it->second.str());
    }
  };
  for (std::size_t k = 0; k < c.in.size(); ++k) add(c.in[k], c.labels[k]);
  add(c.out, c.out_labels);
  return extent;
}

namespace {

// Elements of the output that one thread works on when there is no other dimension to share among threads.
constexpr std::int64_t kNestTile = 512;

std::vector<Expr> indices_of(const Labels& labels, const std::map<int, Expr>& at) {
  std::vector<Expr> out;
  for (const int l : labels) out.push_back(at.at(l));
  return out;
}

class Nest {
 public:
  Nest(const Node& n, const Contraction& c) : n_(n), c_(c), extent_(extents_of(n, c)) {
    for (const auto& [label, size] : extent_) {
      if (std::find(c.out_labels.begin(), c.out_labels.end(), label) == c.out_labels.end()) summed_.push_back(label);
    }
  }

  void run() const {
    const Emitter& e = *n_.emitter;
    const int vector = vector_label();
    if (summed_.empty()) {
      n_.reason("element-wise product: one map");
      point_map(e);
    } else if (n_.makes_kernels && c_.out_labels.empty()) {
      n_.reason("one accumulation over all terms");
      accumulate(e);
    } else if (vector >= 0) {
      n_.reason("sum in the order of rows: the innermost loop runs along contiguous elements of the result");
      initialise(e);
      rows(e, vector);
    } else {
      n_.reason("one sum per element of the result: the innermost loop runs along the summed dimension");
      sums(e);
    }
  }

 private:
  // The label of the output along which everything is contiguous or constant: the innermost loop vectorises over it.
  // Not when the operands are contiguous along a summed dimension and the result is small.
  int vector_label() const {
    for (std::size_t d = c_.out_labels.size(); d-- > 0;) {
      const int l = c_.out_labels[d];
      if (!stride_in(c_.out, c_.out_labels, l).is_one()) continue;
      bool fits = true, used = false;
      for (std::size_t k = 0; k < c_.in.size(); ++k) {
        const Expr s = stride_in(c_.in[k], c_.labels[k], l);
        fits = fits && (s.is_zero() || s.is_one());
        used = used || s.is_one();
      }
      if (fits && used) return l;
    }
    return -1;
  }

  std::vector<std::pair<std::string, Expr>> ranges(const Labels& labels) const {
    std::vector<std::pair<std::string, Expr>> out;
    constexpr const char* kNames[] = {"i", "j", "k", "l", "m", "n"};
    for (std::size_t d = 0; d < labels.size(); ++d)
      out.emplace_back(kNames[std::min<std::size_t>(d, 5)], extent_.at(labels[d]));
    return out;
  }

  tasklet::Expr product(std::vector<Read>& reads, const std::map<int, Expr>& at) const {
    tasklet::Expr code;
    for (std::size_t k = 0; k < c_.in.size(); ++k) {
      const std::string connector(1, static_cast<char>('a' + static_cast<int>(k)));
      reads.push_back({connector, c_.in[k].data(), c_.in[k].element(indices_of(c_.labels[k], at))});
      // Products are formed in the type of the result, as wide as it is: integers of narrow operands don't wrap early.
      tasklet::Expr x = name(connector, c_.in[k].type());
      if (c_.in[k].type() != c_.out.type() && promote(c_.in[k].type(), c_.out.type()) == c_.out.type())
        x = cast(x, c_.out.type());
      code = k == 0 ? x : mul(code, x);
    }
    return code;
  }

  // out = beta * old, or 0
  void initialise(const Emitter& e) const {
    if (c_.beta == 1.0 && c_.addend == nullptr) return;
    e.map(ranges(c_.out_labels), [&](Emitter& inner, const std::vector<Expr>& p) { store_old(inner, p, nullptr); });
  }
  // Stores alpha * sum + beta * old at a point; without a sum only the second part.
  void store_old(const Emitter& e, const std::vector<Expr>& p, const std::string* sum) const {
    const ScalarType t = c_.out.type();
    std::vector<Read> reads;
    tasklet::Expr code;
    if (sum != nullptr) {
      reads.push_back({"sum", *sum, {}});
      code = scaled(c_.alpha, name("sum", t), t);
    }
    if (c_.beta != 0.0) {
      const Operand& old = c_.addend != nullptr ? *c_.addend : c_.out;
      reads.push_back({"old", old.data(), old.element(p)});
      const tasklet::Expr part = scaled(c_.beta, name("old", old.type()), t);
      code = sum != nullptr ? add(code, part) : part;
    } else if (sum == nullptr) {
      code = literal(0.0, t);
    }
    e.compute(reads, cast(code, t), {c_.out.data(), c_.out.element(p), {}});
  }

  // out = beta * old; for all summed { out += alpha * product }, both as kernels: nothing of it happens on the host
  void accumulate(const Emitter& e) const {
    if (c_.beta != 1.0 || c_.addend != nullptr)
      e.map({{"once", 1}}, [&](Emitter& inner, const std::vector<Expr>&) { store_old(inner, {}, nullptr); });
    e.map(ranges(summed_), [&](Emitter& term, const std::vector<Expr>& k) {
      std::map<int, Expr> at;
      for (std::size_t d = 0; d < summed_.size(); ++d) at[summed_[d]] = k[d];
      std::vector<Read> reads;
      const tasklet::Expr code = scaled(c_.alpha, product(reads, at), c_.out.type());
      term.compute(reads, cast(code, c_.out.type()),
                   {c_.out.data(), c_.out.element({}), ir::Wcr{ir::ReduceOp::kSum, {}, ir::WcrLowering::kUndecided}});
    });
  }

  // for all rows { for summed { for contiguous: out += alpha * product } }
  void rows(const Emitter& e, int vector) const {
    Labels outer;
    for (const int l : c_.out_labels) {
      if (l != vector) outer.push_back(l);
    }
    auto inner_loops = [&](Emitter& at_row, std::map<int, Expr> at, const ir::Range& columns) {
      std::function<void(Emitter&, std::size_t)> sum = [&](Emitter& here, std::size_t next) {
        if (next < summed_.size()) {
          here.loop("k", 0, extent_.at(summed_[next]), [&](Emitter& deeper, const Expr& k) {
            at[summed_[next]] = k;
            sum(deeper, next + 1);
          });
          return;
        }
        here.map_ranges({{"j", columns}}, [&](Emitter& body, const std::vector<Expr>& p) {
          at[vector] = p[0];
          std::vector<Read> reads;
          const tasklet::Expr code = scaled(c_.alpha, product(reads, at), c_.out.type());
          body.compute(reads, cast(code, c_.out.type()),
                       {c_.out.data(), c_.out.element(indices_of(c_.out_labels, at)),
                        ir::Wcr{ir::ReduceOp::kSum, {}, ir::WcrLowering::kPlain}});  // a point belongs to one thread
        });
      };
      sum(at_row, 0);
    };
    const Expr columns = extent_.at(vector);
    if (outer.empty()) {
      e.map_ranges({{"block", {0, columns - 1, kNestTile, 1}}}, [&](Emitter& inner, const std::vector<Expr>& p) {
        inner_loops(inner, {}, {p[0], symbolic::min(p[0] + (kNestTile - 1), columns - 1), 1, 1});
      });
      return;
    }
    e.map(ranges(outer), [&](Emitter& inner, const std::vector<Expr>& p) {
      std::map<int, Expr> at;
      for (std::size_t d = 0; d < outer.size(); ++d) at[outer[d]] = p[d];
      inner_loops(inner, at, ir::Range::half_open(0, columns));
    });
  }

  // for all points { sum over the summed labels; out = alpha * sum + beta * old }
  void sums(const Emitter& e) const {
    auto at_point = [&](Emitter& here, const std::vector<Expr>& p) {
      here.with_transient("sum", c_.out.type(), {}, [&](Emitter& body, const std::string& sum) {
        body.compute({}, literal(0.0, c_.out.type()), {sum, {}, {}});
        std::map<int, Expr> at;
        for (std::size_t d = 0; d < p.size(); ++d) at[c_.out_labels[d]] = p[d];
        body.map(ranges(summed_), [&](Emitter& term, const std::vector<Expr>& k) {
          for (std::size_t d = 0; d < summed_.size(); ++d) at[summed_[d]] = k[d];
          std::vector<Read> reads;
          const tasklet::Expr code = product(reads, at);
          term.compute(reads, cast(code, c_.out.type()),
                       {sum, {}, ir::Wcr{ir::ReduceOp::kSum, {}, ir::WcrLowering::kUndecided}});
        });
        store_old(body, p, &sum);
      });
    };
    if (c_.out_labels.empty()) {
      Emitter here = e;
      at_point(here, {});
      return;
    }
    e.map(ranges(c_.out_labels), [&](Emitter& inner, const std::vector<Expr>& p) { at_point(inner, p); });
  }

  void point_map(const Emitter& e) const {
    const ScalarType t = c_.out.type();
    auto body = [&](Emitter& here, const std::vector<Expr>& p) {
      std::map<int, Expr> at;
      for (std::size_t d = 0; d < p.size(); ++d) at[c_.out_labels[d]] = p[d];
      std::vector<Read> reads;
      tasklet::Expr code = scaled(c_.alpha, product(reads, at), t);
      if (c_.beta != 0.0) {
        const Operand& old = c_.addend != nullptr ? *c_.addend : c_.out;
        reads.push_back({"old", old.data(), old.element(p)});
        code = add(code, scaled(c_.beta, name("old", old.type()), t));
      }
      here.compute(reads, cast(code, t), {c_.out.data(), c_.out.element(p), {}});
    };
    if (c_.out_labels.empty() && n_.makes_kernels) {
      e.map({{"once", 1}}, [&](Emitter& inner, const std::vector<Expr>&) { body(inner, {}); });
      return;
    }
    if (c_.out_labels.empty()) {
      Emitter here = e;
      body(here, {});
      return;
    }
    e.map(ranges(c_.out_labels), [&](Emitter& inner, const std::vector<Expr>& p) { body(inner, p); });
  }

  const Node& n_;
  const Contraction& c_;
  std::map<int, Expr> extent_;
  Labels summed_;
};

}  // namespace

void loop_nest(const Node& n, const Contraction& c) {
  Nest(n, c).run();
}

}  // namespace sdfg::library
