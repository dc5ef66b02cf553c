// Canonical form, digest and canonical ordinals of a graph.
#include "ir/digest.hpp"

#include <algorithm>
#include <unordered_map>

#include "ir/cpp_text.hpp"
#include "ir/rewrite.hpp"
#include "ir/sites.hpp"

namespace sdfg::ir {

namespace {

using symbolic::Expr;
using symbolic::Kind;

// Raised when the format of the bytes changes, so that old disk entries can't match by accident.
constexpr std::uint32_t kFormat = 1;

// Gives every symbol and container its place. Declared things count in order of declaration, graph-wide transients in
// order of first use, so neither the insertion order of the tables nor a name decides.
class Numbering : public SiteVisitor {
 public:
  explicit Numbering(const Graph& g) : g_(g) {
    for (const std::string& name : g.parameters) {
      if (g.containers.contains(name)) add_container(name);
      if (g.symbols.contains(name)) add_symbol(name);
    }
    for (const std::string& name : g.locals) add_container(name);
    for_each_element(g.body, [&](const Element& e) {
      if (const auto* block = std::get_if<Block>(&e.kind)) {
        for (const std::string& name : block->locals) add_container(name);
      } else if (const auto* consume = std::get_if<Consume>(&e.kind)) {
        add_container(consume->element);
      }
    });
    for_each_element(g.body, [&](const Element& e) { visit_sites(e, *this); });
    for (std::size_t i = 0; i < containers.size(); ++i) use(g.containers.at(containers[i]).viewed);
    std::vector<std::string> unused;
    for (const Container& c : g.containers) {
      if (!of_container.contains(c.name)) unused.push_back(c.name);
    }
    std::sort(unused.begin(), unused.end());
    for (const std::string& name : unused) add_container(name);
  }

  void access(const Node&, const Access& a) { use(a.data); }
  void tasklet(const State&, const Node&, const Tasklet& t) {
    for (const std::string& base : outer_uses(t).subscripted) use(base);
  }
  void code(const tasklet::Expr& e) {
    for (const std::string& base : tasklet::uses_of(e).subscripted) use(base);
  }
  void binder(const std::string& name) { add_symbol(name); }
  void container(const std::string& name) { use(name); }

  std::map<std::string, int, std::less<>> of_container;
  std::vector<std::string> containers;
  std::map<std::string, int, std::less<>> of_symbol;
  std::vector<std::string> symbols;

 private:
  void use(std::string_view path) {
    if (!path.empty()) add_container(std::string(root_name(path)));
  }
  void add_container(const std::string& name) {
    if (!g_.containers.contains(name)) return;
    if (of_container.emplace(name, static_cast<int>(containers.size())).second) containers.push_back(name);
  }
  void add_symbol(const std::string& name) {
    if (of_symbol.emplace(name, static_cast<int>(symbols.size())).second) symbols.push_back(name);
  }

  const Graph& g_;
};

class Writer {
 public:
  explicit Writer(const Graph& g) : g_(g), numbering_(g) {
    const std::size_t parameters = static_cast<std::size_t>(
        std::count_if(g.parameters.begin(), g.parameters.end(), [&](const auto& n) { return g.symbols.contains(n); }));
    for (std::size_t i = parameters; i < numbering_.symbols.size(); ++i) {
      const std::string spelled = "$" + std::to_string(i);
      symbols_.emplace(numbering_.symbols[i], Expr::symbol(spelled));
      trees_.emplace(numbering_.symbols[i], tasklet::Expr::name(spelled));
      words_.emplace(numbering_.symbols[i], spelled);
    }
    for (std::size_t i = 0; i < numbering_.containers.size(); ++i) {
      bases_.emplace(numbering_.containers[i], "@" + std::to_string(i));
    }
  }

  std::vector<std::uint8_t> graph() {
    out_.u32(kFormat);
    list(g_.parameters, [&](const std::string& name) {
      out_.text(name);
      out_.boolean(g_.containers.contains(name));
    });
    list(numbering_.symbols, [&](const std::string& name) {
      const Symbol* s = g_.symbols.find(name);
      out_.boolean(s != nullptr);
      if (s == nullptr) return;
      type(s->type);
      out_.u8(static_cast<std::uint8_t>(s->binder));
      optional(s->lower, [&](const Expr& e) { expr(e); });
      optional(s->upper, [&](const Expr& e) { expr(e); });
    });
    list(numbering_.containers, [&](const std::string& name) { container(g_.containers.at(name)); });
    list(g_.locals, [&](const std::string& name) { path(name); });
    out_.text(g_.code.host);
    out_.text(g_.code.device);
    out_.text(g_.code.init);
    out_.text(g_.code.exit);
    sequence(g_.body);
    return out_.take();
  }

 private:
  template <typename T, typename F>
  void list(const T& items, const F& each) {
    out_.u32(static_cast<std::uint32_t>(items.size()));
    for (const auto& item : items) each(item);
  }

  template <typename T, typename F>
  void optional(const std::optional<T>& value, const F& each) {
    out_.boolean(value.has_value());
    if (value) each(*value);
  }

  void integer(std::int64_t value) { out_.i64(value); }
  void texts(const std::vector<std::string>& names) {
    list(names, [&](const std::string& n) { out_.text(n); });
  }

  // A container by its ordinal, what follows in the path by name. What is no container stays as it is.
  void path(std::string_view p) {
    const auto found = numbering_.of_container.find(root_name(p));
    out_.u32(found == numbering_.of_container.end() ? ~std::uint32_t{0} : static_cast<std::uint32_t>(found->second));
    out_.text(found == numbering_.of_container.end() ? p : p.substr(root_name(p).size()));
  }

  void symbol(const std::string& name) {
    const auto found = numbering_.of_symbol.find(name);
    out_.u32(found == numbering_.of_symbol.end() ? ~std::uint32_t{0} : static_cast<std::uint32_t>(found->second));
    if (found == numbering_.of_symbol.end()) out_.text(name);
  }

  void type(const Type& t) {
    out_.u8(static_cast<std::uint8_t>(t.kind()));
    switch (t.kind()) {
      case Type::Kind::kVoid: break;
      case Type::Kind::kScalar: out_.u8(static_cast<std::uint8_t>(t.scalar())); break;
      case Type::Kind::kVector:
        out_.u8(static_cast<std::uint8_t>(t.scalar()));
        out_.u32(static_cast<std::uint32_t>(t.lanes()));
        break;
      case Type::Kind::kPointer: type(t.pointee()); break;
      case Type::Kind::kStruct:
        out_.text(t.structure().name);
        list(t.structure().fields, [&](const StructField& f) {
          out_.text(f.name);
          type(f.type);
        });
        break;
      case Type::Kind::kOpaque: out_.text(t.opaque_name()); break;
      case Type::Kind::kCallback:
        list(t.callback().returns, [&](const Type& r) { type(r); });
        list(t.callback().arguments, [&](const Type& a) { type(a); });
        break;
    }
  }

  // An expression is written once; later occurrences refer back. Symbols are renamed first, because the order of a
  // sum's terms follows the names.
  void expr(const Expr& e) {
    if (e.is_integer()) {
      out_.u8(0);
      integer(e.value());
      return;
    }
    const auto [known, is_new] = written_.try_emplace(e, static_cast<std::uint32_t>(written_.size()));
    if (!is_new) {
      out_.u8(1);
      out_.u32(known->second);
      return;
    }
    out_.u8(2);
    const Expr renamed = symbols_.empty() ? e : symbolic::substitute(e, symbols_);
    structure(symbolic::has_reads(renamed) ? symbolic::rename_reads(renamed, bases_) : renamed);
  }

  void structure(const Expr& e) {
    out_.u8(static_cast<std::uint8_t>(e.kind()));
    if (e.kind() == Kind::kInteger || e.kind() == Kind::kBoolean) {
      integer(e.value());
      return;
    }
    if (e.kind() == Kind::kSymbol || e.kind() == Kind::kRead || e.kind() == Kind::kCall) out_.text(e.name());
    out_.u32(static_cast<std::uint32_t>(e.args().size()));
    for (const Expr& arg : e.args()) structure(arg);
  }

  void exprs(const std::vector<Expr>& es) {
    list(es, [&](const Expr& e) { expr(e); });
  }

  void range(const Range& r) {
    expr(r.begin);
    expr(r.end);
    expr(r.step);
    expr(r.tile);
  }

  void subset(const Subset& s) {
    list(s.ranges(), [&](const Range& r) { range(r); });
  }

  void container(const Container& c) {
    out_.u8(static_cast<std::uint8_t>(c.kind));
    type(c.type);
    exprs(c.layout.shape());
    exprs(c.layout.strides());
    exprs(c.layout.offset());
    expr(c.layout.total_size());
    expr(c.layout.start_offset());
    out_.u8(static_cast<std::uint8_t>(c.storage));
    out_.u8(static_cast<std::uint8_t>(c.lifetime));
    out_.boolean(c.transient);
    out_.boolean(c.may_alias);
    out_.boolean(c.zeroed);
    integer(c.alignment);
    path(c.viewed);
    subset(c.viewed_subset);
    expr(c.buffer_size);
    list(c.members, [&](const Container& member) {
      out_.text(member.name);
      container(member);
    });
    optional(c.constant, [&](const std::vector<std::uint8_t>& bytes) { out_.blob(bytes); });
  }

  // Code of control flow.
  void code(const tasklet::Expr& e) {
    const tasklet::Uses uses = tasklet::uses_of(e);
    tasklet::Expr renamed = e;
    if (mentions(uses.read, trees_) || mentions(uses.called, trees_)) renamed = tasklet::replace_names(renamed, trees_);
    const Names bases = base_names(uses.subscripted, {});
    if (!bases.empty()) renamed = tasklet::rename_bases(renamed, bases);
    tasklet::write_canonical(renamed, out_);
  }

  template <typename M>
  static bool mentions(const std::vector<std::string>& names, const M& map) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return map.contains(n); });
  }

  Names base_names(const std::vector<std::string>& bases, const std::vector<std::string>& hidden) const {
    Names names;
    for (const std::string& base : bases) {
      if (std::find(hidden.begin(), hidden.end(), base) != hidden.end()) continue;
      std::string renamed = renamed_path(base, bases_);
      if (renamed != base) names.emplace(base, std::move(renamed));
    }
    return names;
  }

  void tasklet(const Tasklet& t) {
    for (const auto* connectors : {&t.inputs, &t.outputs}) {
      list(*connectors, [&](const Connector& c) {
        out_.text(c.name);
        type(c.type);
      });
    }
    out_.u8(static_cast<std::uint8_t>(t.code.language));
    optional(t.side_effects, [&](bool b) { out_.boolean(b); });
    out_.text(t.code.global_text);
    const tasklet::Uses uses = outer_uses(t);
    switch (t.code.language) {
      case tasklet::Language::kTree: {
        std::map<std::string, tasklet::Expr, std::less<>> names;
        for (const auto* list_of : {&uses.read, &uses.called}) {
          for (const std::string& name : *list_of) {
            const auto found = trees_.find(name);
            if (found != trees_.end()) names.insert(*found);
          }
        }
        const Names bases = base_names(uses.subscripted, {});
        if (names.empty() && bases.empty()) {
          tasklet::write_canonical(t.code.body, out_);
          return;
        }
        tasklet::Body body = tasklet::replace_names(t.code.body, names);
        if (!bases.empty()) body = tasklet::rename_bases(body, bases);
        tasklet::write_canonical(body, out_);
        return;
      }
      case tasklet::Language::kCpp: {
        Names words;
        for (const std::string& name : uses.read) {
          if (const auto s = words_.find(name); s != words_.end()) words.insert(*s);
          if (const auto c = bases_.find(name); c != bases_.end()) words.insert(*c);
        }
        out_.text(replace_identifiers(t.code.text, words));
        return;
      }
    }
  }

  void number(std::complex<double> c) {
    out_.f64(c.real());
    out_.f64(c.imag());
  }

  void value(const tasklet::Value& v) {
    out_.u8(static_cast<std::uint8_t>(v.type()));
    if (is_complex(v.type())) {
      number(v.as_complex());
    } else if (is_floating(v.type())) {
      out_.f64(v.as_double());
    } else {
      integer(v.as_int());
    }
  }

  void axes(const std::vector<int>& numbers) {
    list(numbers, [&](int n) { integer(n); });
  }

  void custom(ReduceOp op, const tasklet::Expr& e) {
    out_.u8(static_cast<std::uint8_t>(op));
    if (op != ReduceOp::kCustom) return;
    std::map<std::string, tasklet::Expr, std::less<>> names = trees_;
    names.erase("a");  // the operands' own names
    names.erase("b");
    tasklet::write_canonical(tasklet::replace_names(e, names), out_);
  }

  void library(const Library& l) {
    out_.u8(static_cast<std::uint8_t>(l.op.index()));
    std::visit([&](const auto& op) { operation(op); }, l.op);
    texts(l.inputs);
    texts(l.outputs);
    out_.text(l.implementation);
  }

  void operation(const MatMul&) {}
  void operation(const Gemm& o) { scaled(o.alpha, o.beta), out_.boolean(o.trans_a), out_.boolean(o.trans_b); }
  void operation(const BatchedMatMul& o) { scaled(o.alpha, o.beta), out_.boolean(o.trans_a), out_.boolean(o.trans_b); }
  void operation(const Gemv& o) { scaled(o.alpha, o.beta), out_.boolean(o.trans_a); }
  void operation(const Ger& o) { number(o.alpha); }
  void operation(const Dot&) {}
  void operation(const Axpy& o) { number(o.a); }
  void operation(const Syrk& o) { scaled(o.alpha, o.beta), out_.boolean(o.trans), out_.boolean(o.lower); }
  void operation(const Einsum& o) { scaled(o.alpha, o.beta), out_.text(o.equation); }
  void operation(const Reduce& o) {
    custom(o.op, o.custom);
    axes(o.axes);
    optional(o.identity, [&](const tasklet::Value& v) { value(v); });
  }
  void operation(const Copy&) {}
  void operation(const Fill& o) { value(o.value); }
  void operation(const Transpose&) {}
  void operation(const TensorTranspose& o) { scaled(o.alpha, o.beta), axes(o.axes); }
  void operation(const TensorDot& o) { axes(o.left_axes), axes(o.right_axes), axes(o.permutation); }
  void operation(const Cholesky& o) { out_.boolean(o.lower); }
  void operation(const Potrf& o) { out_.boolean(o.lower); }
  void operation(const Getrf&) {}
  void operation(const Getrs&) {}
  void operation(const Solve&) {}
  void operation(const Inv& o) { out_.boolean(o.overwrite_a); }
  void operation(const Fft& o) { out_.boolean(o.inverse), expr(o.factor), out_.boolean(o.scale_by_length); }
  void operation(const Csrmv& o) { scaled(o.alpha, o.beta), out_.boolean(o.trans); }
  void operation(const Csrmm& o) { scaled(o.alpha, o.beta), out_.boolean(o.trans_a), out_.boolean(o.trans_b); }
  void operation(const Scan& o) {
    out_.u8(static_cast<std::uint8_t>(o.op));
    out_.boolean(o.exclusive);
    integer(o.axis);
  }
  void operation(const ArgReduce& o) {
    out_.boolean(o.maximum);
    optional(o.axis, [&](int axis) { integer(axis); });
  }
  void operation(const UnknownLibrary& o) { out_.text(o.class_path), out_.text(o.json); }

  void scaled(std::complex<double> alpha, std::complex<double> beta) { number(alpha), number(beta); }

  void state(const State& s) {
    out_.boolean(s.barrier);
    std::map<Id, std::uint32_t> position;
    for (const Node& node : s.nodes) position.emplace(node.id, static_cast<std::uint32_t>(position.size()));
    const auto end = [&](Id id) {
      const auto found = position.find(id);
      out_.u32(found == position.end() ? ~std::uint32_t{0} : found->second);
    };
    next_ordinal_ += static_cast<std::uint32_t>(s.nodes.size() + s.edges.size());
    list(s.nodes, [&](const Node& node) {
      out_.u8(static_cast<std::uint8_t>(node.kind.index()));
      std::visit(
          [&](const auto& n) {
            using N = std::remove_cvref_t<decltype(n)>;
            if constexpr (std::is_same_v<N, Access>) {
              path(n.data);
            } else if constexpr (std::is_same_v<N, Tasklet>) {
              tasklet(n);
            } else {
              library(n);
            }
          },
          node.kind);
    });
    list(s.edges, [&](const Memlet& m) {
      end(m.src);
      end(m.dst);
      out_.text(m.src_connector);
      out_.text(m.dst_connector);
      optional(m.src_subset, [&](const Subset& x) { subset(x); });
      optional(m.dst_subset, [&](const Subset& x) { subset(x); });
      optional(m.wcr, [&](const Wcr& w) {
        custom(w.op, w.custom);
        out_.u8(static_cast<std::uint8_t>(w.lowering));
      });
      out_.boolean(m.dynamic);
      out_.boolean(m.allow_oob);
      out_.boolean(m.set_reference);
    });
  }

  void sequence(const Sequence& s) {
    list(s.items, [&](const std::unique_ptr<Element>& item) { element(*item); });
  }

  void element(const Element& e) {
    ordinal_[e.id] = next_ordinal_++;
    out_.u8(static_cast<std::uint8_t>(e.kind.index()));
    optional(e.issue, [&](const DeviceIssue& i) {
      integer(i.stream);
      for (const auto* numbers : {&i.host_waits, &i.awaited_events, &i.recorded_events}) axes(*numbers);
    });
    std::visit([&](const auto& kind) { body(kind); }, e.kind);
  }

  void body(const State& s) { state(s); }
  void body(const Assign& a) {
    list(a.items, [&](const Assign::Item& item) {
      symbol(item.symbol);
      code(item.value);
    });
  }
  void body(const Block& b) {
    list(b.locals, [&](const std::string& name) { path(name); });
    sequence(b.body);
  }
  void body(const For& f) {
    symbol(f.variable);
    code(f.init);
    code(f.condition);
    code(f.update);
    out_.u8(static_cast<std::uint8_t>(f.form));
    out_.boolean(f.unroll);
    integer(f.unroll_factor);
    sequence(f.body);
  }
  void body(const While& w) {
    code(w.condition);
    out_.boolean(w.test_first);
    sequence(w.body);
  }
  void body(const If& i) {
    list(i.branches, [&](const If::Branch& branch) {
      code(branch.condition);
      sequence(branch.body);
    });
  }
  void body(const Map& m) {
    list(m.params, [&](const std::string& name) { symbol(name); });
    list(m.ranges, [&](const Range& r) { range(r); });
    out_.u8(static_cast<std::uint8_t>(m.schedule));
    out_.boolean(m.unroll);
    integer(m.collapse);
    integer(m.num_threads);
    out_.u8(static_cast<std::uint8_t>(m.omp_schedule));
    integer(m.omp_chunk);
    out_.boolean(m.simd);
    list(m.reductions, [&](const Map::Reduction& r) {
      path(r.container);
      out_.u8(static_cast<std::uint8_t>(r.op));
    });
    list(m.gpu_block_size, [&](std::int64_t n) { integer(n); });
    out_.text(m.gpu_launch_bounds);
    integer(m.gpu_max_registers);
    integer(m.gpu_max_blocks);
    sequence(m.body);
  }
  void body(const Consume& c) {
    path(c.stream);
    path(c.element);
    symbol(c.worker);
    expr(c.num_workers);
    optional(c.condition, [&](const tasklet::Expr& e) { code(e); });
    integer(c.chunk_size);
    out_.u8(static_cast<std::uint8_t>(c.schedule));
    sequence(c.body);
  }
  void body(const Exit& x) {
    out_.u8(static_cast<std::uint8_t>(x.kind));
    // The target encloses the exit, so it has been numbered.
    const auto found = ordinal_.find(x.target);
    out_.u32(found == ordinal_.end() ? ~std::uint32_t{0} : found->second);
  }
  void body(const Return&) {}

  const Graph& g_;
  Numbering numbering_;
  symbolic::Substitution symbols_;                           // binders to ordinals
  std::map<std::string, tasklet::Expr, std::less<>> trees_;  // the same as names in code
  Names words_;                                              // the same as words in C++ text
  Names bases_;                                              // containers to ordinals
  std::unordered_map<Expr, std::uint32_t, symbolic::ExprHash> written_;
  std::map<Id, std::uint32_t> ordinal_;
  std::uint32_t next_ordinal_ = 0;
  ByteWriter out_;
};

}  // namespace

std::vector<std::uint8_t> canonical_form(const Graph& g) {
  return Writer(g).graph();
}

Digest digest(const Graph& g) {
  return digest_of(canonical_form(g));
}

Ordinals ordinals(const Graph& g) {
  Ordinals result;
  const auto add = [&](Id id) {
    result.of_id.emplace(id, static_cast<int>(result.ids.size()));
    result.ids.push_back(id);
  };
  for_each_element(g.body, [&](const Element& e) {
    add(e.id);
    const auto* state = std::get_if<State>(&e.kind);
    if (state == nullptr) return;
    for (const Node& node : state->nodes) add(node.id);
    for (const Memlet& edge : state->edges) add(edge.id);
  });
  Numbering numbering(g);
  result.of_container = std::move(numbering.of_container);
  result.containers = std::move(numbering.containers);
  return result;
}

}  // namespace sdfg::ir
