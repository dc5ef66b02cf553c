// Operations that fold, move or permute elements: Reduce, Scan, ArgReduce, Copy, Fill, transposes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/reduce.hpp"
#include "library/expansions.hpp"

namespace sdfg::library {

namespace {

using tasklet::BinaryOp;
constexpr std::int64_t kMoveTile = 512;

std::size_t axis_of(int axis, std::size_t rank, const Node& n) {
  const int wrapped = axis < 0 ? axis + static_cast<int>(rank) : axis;
  if (wrapped < 0 || wrapped >= static_cast<int>(rank)) {
    n.emitter->fail("names axis " + std::to_string(axis) + " of an operand with " + std::to_string(rank) +
                    " dimensions");
  }
  return static_cast<std::size_t>(wrapped);
}

tasklet::Expr constant(const tasklet::Value& v, ScalarType type) {
  const tasklet::Value c = v.cast(type);
  if (is_complex(type)) return tasklet::Expr::literal(c.as_complex(), type);
  if (is_floating(type)) return tasklet::Expr::literal(c.as_double(), type);
  if (type == ScalarType::kBool) return tasklet::Expr::literal(c.as_bool());
  return tasklet::Expr::literal(c.as_int(), type);
}

tasklet::Value start_of(ir::ReduceOp op, ScalarType type, const Node& n) {
  if (const auto identity = ir::identity_of(op, type)) return *identity;
  n.emitter->fail("needs the identity of " + std::string(ir::to_string(op)) + " for " + std::string(to_string(type)) +
                  ", which has none");
}

// op(a, b) as code, for scans.
tasklet::Expr combined(const ir::ReduceOp op, const tasklet::Expr& a, const tasklet::Expr& b, const Node& n) {
  switch (op) {
    case ir::ReduceOp::kSum: return add(a, b);
    case ir::ReduceOp::kProduct: return mul(a, b);
    case ir::ReduceOp::kMin: return call(tasklet::Function::kMin, {a, b});
    case ir::ReduceOp::kMax: return call(tasklet::Function::kMax, {a, b});
    case ir::ReduceOp::kBitAnd: return binary(BinaryOp::kBitAnd, a, b);
    case ir::ReduceOp::kBitOr: return binary(BinaryOp::kBitOr, a, b);
    case ir::ReduceOp::kBitXor: return binary(BinaryOp::kBitXor, a, b);
    case ir::ReduceOp::kLogicalAnd: return binary(BinaryOp::kAnd, a, b);
    case ir::ReduceOp::kLogicalOr: return binary(BinaryOp::kOr, a, b);
    case ir::ReduceOp::kLogicalXor: return binary(BinaryOp::kNotEqual, a, b);
    case ir::ReduceOp::kExchange: return b;
    case ir::ReduceOp::kCustom: break;
  }
  n.emitter->fail("scans with a custom operator, which has no expansion");
}

std::vector<std::pair<std::string, Expr>> named(const std::vector<Expr>& extents, const std::string& stem = "i") {
  std::vector<std::pair<std::string, Expr>> out;
  for (std::size_t d = 0; d < extents.size(); ++d) out.emplace_back(stem + std::to_string(d), extents[d]);
  return out;
}

// A map over the extents, or the body itself when there are none.
void over(Emitter& e, const std::vector<Expr>& extents, const std::string& stem, const Emitter::Body& body) {
  if (extents.empty())
    body(e, {});
  else
    e.map(named(extents, stem), body);
}

// The row-major index of a point, and a point from a row-major index: for operands of equal count and different shape.
std::vector<Expr> unflattened(Expr flat, const std::vector<Expr>& extents) {
  std::vector<Expr> out(extents.size());
  for (std::size_t d = extents.size(); d-- > 0;) {
    if (d == 0) {
      out[d] = flat;
    } else {
      out[d] = symbolic::mod(flat, extents[d]);
      flat = symbolic::floor_div(flat, extents[d]);
    }
  }
  return out;
}
Expr flattened(const std::vector<Expr>& at, const std::vector<Expr>& extents) {
  Expr flat = 0;
  for (std::size_t d = 0; d < at.size(); ++d) flat = flat * extents[d] + at[d];
  return flat;
}
// The element of `o` that corresponds to a point of another operand with equal count.
ir::Subset corresponding(const Operand& o, const std::vector<Expr>& at, const std::vector<Expr>& extents) {
  if (o.extents() == extents) return o.element(at);
  auto without_ones = [](const std::vector<Expr>& list, const std::vector<Expr>& by) {
    std::vector<Expr> out;
    for (std::size_t d = 0; d < list.size(); ++d) {
      if (!by[d].is_one()) out.push_back(list[d]);
    }
    return out;
  };
  const std::vector<Expr> ours = without_ones(o.extents(), o.extents());
  if (ours == without_ones(extents, extents)) {
    std::vector<Expr> compact = without_ones(at, extents), full;
    std::size_t next = 0;
    for (std::size_t d = 0; d < o.rank(); ++d) full.push_back(o.extent(d).is_one() ? Expr(0) : compact[next++]);
    return o.element(full);
  }
  return o.element(unflattened(flattened(at, extents), o.extents()));
}

}  // namespace

void expand(const ir::Reduce& op, const Node& n) {
  const Operand &in = n.only_in(), &out = n.only_out();
  std::vector<bool> reduced(in.rank(), op.axes.empty());
  for (const int axis : op.axes) reduced[axis_of(axis, in.rank(), n)] = true;
  std::vector<std::size_t> kept, summed;
  for (std::size_t d = 0; d < in.rank(); ++d) (reduced[d] ? summed : kept).push_back(d);
  std::vector<Expr> kept_extents, summed_extents;
  for (const std::size_t d : kept) kept_extents.push_back(in.extent(d));
  for (const std::size_t d : summed) summed_extents.push_back(in.extent(d));
  if ((symbolic::product(kept_extents) - out.size()).constant().value_or(0) != 0) {
    n.emitter->fail("gives " + symbolic::product(kept_extents).str() + " results, but its output " + out.text() +
                    " has " + out.size().str() + " elements");
  }
  const ScalarType t = out.type();
  ir::Wcr wcr{op.op, op.custom, ir::WcrLowering::kUndecided};
  auto target = [&](const std::vector<Expr>& p) { return corresponding(out, p, kept_extents); };
  auto source = [&](const std::vector<Expr>& p, const std::vector<Expr>& s) {
    std::vector<Expr> at(in.rank());
    for (std::size_t k = 0; k < kept.size(); ++k) at[kept[k]] = p[k];
    for (std::size_t k = 0; k < summed.size(); ++k) at[summed[k]] = s[k];
    return in.element(at);
  };
  auto fold = [&](Emitter& e, const std::vector<Expr>& p, const std::vector<Expr>& s) {
    e.compute({{"a", in.data(), source(p, s)}}, cast(name("a", in.type()), t), {out.data(), target(p), wcr});
  };

  // Along rows when the contiguous dimension stays and an outer one is reduced; else one fold per result.
  const bool rows = !kept.empty() && !summed.empty() && kept.back() > summed.back() && in.stride(kept.back()).is_one();
  if (!rows) {
    n.reason(kept.empty() ? "one accumulation over all elements" : "one accumulation per result");
    if (op.identity) {
      over(*n.emitter, kept_extents, "i", [&](Emitter& e, const std::vector<Expr>& p) {
        e.compute({}, constant(*op.identity, t), {out.data(), target(p), {}});
      });
    }
    over(*n.emitter, kept_extents, "i", [&](Emitter& e, const std::vector<Expr>& p) {
      over(e, summed_extents, "k", [&](Emitter& inner, const std::vector<Expr>& s) { fold(inner, p, s); });
    });
    return;
  }
  n.reason("accumulation along rows: the innermost loop runs over contiguous results");
  const Expr columns = kept_extents.back();
  const std::vector<Expr> outer(kept_extents.begin(), kept_extents.end() - 1);
  auto strip = [&](Emitter& e, const std::vector<Expr>& p, const ir::Range& range) {
    auto point = [&](const Expr& j) {
      std::vector<Expr> full = p;
      full.push_back(j);
      return full;
    };
    if (op.identity) {
      e.map_ranges({{"j", range}}, [&](Emitter& inner, const std::vector<Expr>& q) {
        inner.compute({}, constant(*op.identity, t), {out.data(), target(point(q[0])), {}});
      });
    }
    std::vector<Expr> s;
    std::function<void(Emitter&, std::size_t)> loops = [&](Emitter& here, std::size_t next) {
      if (next == summed_extents.size()) {
        here.map_ranges({{"j", range}},
                        [&](Emitter& inner, const std::vector<Expr>& q) { fold(inner, point(q[0]), s); });
        return;
      }
      here.loop("k", 0, summed_extents[next], [&](Emitter& deeper, const Expr& k) {
        s.push_back(k);
        loops(deeper, next + 1);
        s.pop_back();
      });
    };
    loops(e, 0);
  };
  if (outer.empty()) {
    n.emitter->map_ranges({{"block", {0, columns - 1, kMoveTile, 1}}}, [&](Emitter& e, const std::vector<Expr>& p) {
      strip(e, {}, {p[0], symbolic::min(p[0] + (kMoveTile - 1), columns - 1), 1, 1});
    });
  } else {
    n.emitter->map(named(outer),
                   [&](Emitter& e, const std::vector<Expr>& p) { strip(e, p, ir::Range::half_open(0, columns)); });
  }
}

void expand(const ir::Copy&, const Node& n) {
  const Operand &in = n.only_in(), &out = n.only_out();
  if ((in.size() - out.size()).constant().value_or(0) != 0)
    n.emitter->fail("has input " + in.text() + " and output " + out.text() + " of different sizes");
  n.emitter->copy(in.data(), in.subset(), out.data(), out.subset());
}

void expand(const ir::Fill& op, const Node& n) {
  const Operand& out = n.only_out();
  over(*n.emitter, out.extents(), "i", [&](Emitter& e, const std::vector<Expr>& p) {
    if (n.inputs.empty())
      e.compute({}, constant(op.value, out.type()), {out.data(), out.element(p), {}});
    else
      e.compute({{"a", n.inputs[0].data(), n.inputs[0].fitted(0).element({})}},
                cast(name("a", n.inputs[0].type()), out.type()), {out.data(), out.element(p), {}});
  });
}

namespace {

void permute(const Node& n, const Operand& in, const Operand& out, const std::vector<int>& axes,
             std::complex<double> alpha, std::complex<double> beta) {
  if (axes.size() != in.rank() || out.rank() != in.rank())
    n.emitter->fail("permutes " + in.text() + " to " + out.text() + " by " + std::to_string(axes.size()) + " axes");
  const ScalarType t = out.type();
  over(*n.emitter, out.extents(), "i", [&](Emitter& e, const std::vector<Expr>& p) {
    std::vector<Expr> from(in.rank());
    for (std::size_t d = 0; d < axes.size(); ++d) from[axis_of(axes[d], in.rank(), n)] = p[d];
    std::vector<Read> reads{{"a", in.data(), in.element(from)}};
    tasklet::Expr code = scaled(alpha, name("a", in.type()), t);
    if (beta != 0.0) {
      reads.push_back({"old", out.data(), out.element(p)});
      code = add(code, scaled(beta, name("old", t), t));
    }
    e.compute(reads, cast(code, t), {out.data(), out.element(p), {}});
  });
}

}  // namespace

namespace {

// Through a tile of shared memory, so that both sides are touched along contiguous rows: 32 x 32 elements a block,
// eight rows at a time. The tile's rows are one longer, or a column would lie in one bank.
void transpose_by_tiles(const Node& n, const Operand& in, const Operand& out) {
  constexpr std::int64_t kSide = 32, kRows = 8;
  const ScalarType t = out.type();
  const Expr &rows = in.extent(0), &columns = in.extent(1);
  const auto tiles = [](const Expr& extent) { return symbolic::ceil_div(extent, kSide); };
  n.emitter
      ->map({{"tile_row", tiles(rows)}, {"tile_column", tiles(columns)}},
            [&](Emitter& block, const std::vector<Expr>& b) {
              block.with_transient("tile", t, {Expr(kSide), Expr(kSide + 1)}, [&](Emitter& e, const std::string& tile) {
                e.graph().containers.at(tile).storage = ir::Storage::kGpuShared;
                const auto phase = [&](const std::function<void(Emitter&, const Expr& slow, const Expr& fast)>& body) {
                  ir::Map& threads =
                      e.map({{"y", Expr(kRows)}, {"x", Expr(kSide)}}, [&](Emitter& thread, const std::vector<Expr>& p) {
                        thread.loop("r", 0, kSide / kRows,
                                    [&](Emitter& here, const Expr& r) { body(here, p[0] + r * Expr(kRows), p[1]); });
                      });
                  threads.schedule = ir::Schedule::kThreadBlock;
                };
                const auto inside = [&](const Expr& i, const Expr& j) {
                  return tasklet::from_symbolic(symbolic::logical_and(symbolic::lt(i, rows), symbolic::lt(j, columns)));
                };
                phase([&](Emitter& here, const Expr& slow, const Expr& fast) {
                  const Expr i = b[0] * Expr(kSide) + slow, j = b[1] * Expr(kSide) + fast;
                  here.branch(inside(i, j), [&](Emitter& point) {
                    point.compute({{"a", in.data(), in.element(std::vector<Expr>{i, j})}},
                                  cast(name("a", in.type()), t), {tile, ir::Subset::index({slow, fast}), {}});
                  });
                });
                phase([&](Emitter& here, const Expr& slow, const Expr& fast) {
                  const Expr i = b[0] * Expr(kSide) + fast, j = b[1] * Expr(kSide) + slow;
                  here.branch(inside(i, j), [&](Emitter& point) {
                    point.compute({{"a", tile, ir::Subset::index({fast, slow})}}, name("a", t),
                                  {out.data(), out.element(std::vector<Expr>{j, i}), {}});
                  });
                });
              });
            })
      .schedule = ir::Schedule::kDevice;
}

}  // namespace

void expand(const ir::Transpose&, const Node& n) {
  const Operand in = n.only_in().fitted(2), out = n.only_out().fitted(2);
  if (n.makes_kernels && in.stride(1).is_one() && out.stride(1).is_one() && size_of(out.type()) <= 16) {
    n.reason("tiles of shared memory");
    transpose_by_tiles(n, in, out);
    return;
  }
  permute(n, n.only_in().fitted(2), n.only_out().fitted(2), {1, 0}, 1.0, 0.0);
}

void expand(const ir::TensorTranspose& op, const Node& n) {
  permute(n, n.only_in().fitted(op.axes.size()), n.only_out().fitted(op.axes.size()), op.axes, op.alpha, op.beta);
}

void expand(const ir::Scan& op, const Node& n) {
  const Operand &in = n.only_in(), &out = n.only_out();
  if (in.rank() == 0) n.emitter->fail("needs an operand with at least one dimension");
  const std::size_t axis = axis_of(op.axis, in.rank(), n);
  const ScalarType t = out.type();
  std::vector<Expr> others;
  for (std::size_t d = 0; d < in.rank(); ++d) {
    if (d != axis) others.push_back(in.extent(d));
  }
  over(*n.emitter, others, "i", [&](Emitter& e, const std::vector<Expr>& p) {
    e.with_transient("running", t, {}, [&](Emitter& body, const std::string& running) {
      auto at = [&](const Expr& k) {
        std::vector<Expr> point = p;
        point.insert(point.begin() + static_cast<std::ptrdiff_t>(axis), k);
        return point;
      };
      auto item = [&](const Expr& k) { return Read{"a", in.data(), in.element(at(k))}; };
      const tasklet::Expr a = cast(name("a", in.type()), t), r = name("r", t);
      if (op.exclusive) {
        body.compute({}, constant(start_of(op.op, t, n), t), {running, {}, {}});
        body.loop("k", 0, in.extent(axis), [&](Emitter& inner, const Expr& k) {
          inner.with_transient("next", t, {}, [&](Emitter& deep, const std::string& next) {
            deep.compute({item(k), {"r", running, {}}}, cast(combined(op.op, r, a, n), t), {next, {}, {}});
            deep.compute({{"r", running, {}}}, r, {out.data(), corresponding(out, at(k), in.extents()), {}});
            deep.compute({{"r", next, {}}}, r, {running, {}, {}});
          });
        });
        return;
      }
      body.loop("k", 0, in.extent(axis), [&](Emitter& inner, const Expr& k) {
        inner.branch(
            binary(BinaryOp::kEqual, tasklet::from_symbolic(k), tasklet::Expr::literal(std::int64_t{0})),
            [&](Emitter& first) { first.compute({item(k)}, a, {running, {}, {}}); },
            [&](Emitter& later) {
              later.compute({item(k), {"r", running, {}}}, cast(combined(op.op, r, a, n), t), {running, {}, {}});
            });
        inner.compute({{"r", running, {}}}, r, {out.data(), corresponding(out, at(k), in.extents()), {}});
      });
    });
  });
}

// The first of several equal extremes counts; a NaN counts only where everything is NaN. Of no elements the position is
// 0, and the value too.
void expand(const ir::ArgReduce& op, const Node& n) {
  const Operand& in = n.only_in();
  const Operand& index = n.find_out("_idx") != nullptr ? n.out("_idx") : n.only_out();
  const Operand* value = n.find_out("_value");
  std::vector<Expr> others, along;
  std::vector<std::size_t> axes;
  for (std::size_t d = 0; d < in.rank(); ++d) {
    const bool folded = !op.axis || d == axis_of(*op.axis, in.rank(), n);
    (folded ? along : others).push_back(in.extent(d));
    if (folded) axes.push_back(d);
  }
  const ScalarType t = in.type();
  auto position = [&](const std::vector<Expr>& p, const Expr& flat) {
    const std::vector<Expr> folded = unflattened(flat, along);
    std::vector<Expr> at;
    std::size_t next_other = 0, next_folded = 0;
    for (std::size_t d = 0; d < in.rank(); ++d) {
      const bool is_folded = std::find(axes.begin(), axes.end(), d) != axes.end();
      at.push_back(is_folded ? folded[next_folded++] : p[next_other++]);
    }
    return in.element(at);
  };
  over(*n.emitter, others, "i", [&](Emitter& e, const std::vector<Expr>& p) {
    e.with_transient("best", t, {}, [&](Emitter& outer, const std::string& best) {
      outer.with_transient("where", ScalarType::kInt64, {}, [&](Emitter& body, const std::string& where) {
        const auto begin = [&](Emitter& some) {
          some.compute({{"a", in.data(), position(p, 0)}}, name("a", t), {best, {}, {}});
        };
        const Expr length = symbolic::product(along);
        if (length.is_integer() && length.value() > 0) {
          begin(body);
        } else {
          body.compute({}, cast(tasklet::Expr::literal(std::int64_t{0}), t), {best, {}, {}});
          body.branch(tasklet::from_symbolic(symbolic::gt(length, 0)), begin);
        }
        body.compute({}, tasklet::Expr::literal(std::int64_t{0}), {where, {}, {}});
        body.loop("k", 1, symbolic::product(along), [&](Emitter& inner, const Expr& k) {
          inner.with_transient("item", t, {}, [&](Emitter& deep, const std::string& item) {
            deep.compute({{"a", in.data(), position(p, k)}}, name("a", t), {item, {}, {}});
            const tasklet::Expr a = element_of(item, {}, t), b = element_of(best, {}, t);
            tasklet::Expr better = binary(op.maximum ? BinaryOp::kGreater : BinaryOp::kLess, a, b);
            if (is_floating(t)) {
              const tasklet::Expr replaces_nan =
                  binary(BinaryOp::kAnd, call(tasklet::Function::kIsNan, {b}),
                         tasklet::Expr::unary(tasklet::UnaryOp::kNot, call(tasklet::Function::kIsNan, {a})));
              better = binary(BinaryOp::kOr, better, replaces_nan);
            }
            deep.branch(better, [&](Emitter& take) {
              take.compute({{"a", item, {}}}, name("a", t), {best, {}, {}});
              take.compute({}, tasklet::from_symbolic(k), {where, {}, {}});
            });
          });
        });
        body.compute({{"w", where, {}}}, cast(name("w", ScalarType::kInt64), index.type()),
                     {index.data(), corresponding(index, p, others), {}});
        if (value != nullptr)
          body.compute({{"b", best, {}}}, cast(name("b", t), value->type()),
                       {value->data(), corresponding(*value, p, others), {}});
      });
    });
  });
}

}  // namespace sdfg::library
