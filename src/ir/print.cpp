// Readable text of a graph, for people, goldens and diffs.
#include "ir/print.hpp"

#include <sstream>

#include "ir/sites.hpp"

namespace sdfg::ir {

namespace {

using symbolic::Expr;

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string joined(const Extents& es) {
  std::vector<std::string> parts;
  for (const Expr& e : es) parts.push_back(e.str());
  return joined(parts);
}

std::string text_of(const tasklet::Value& v) {
  return std::string(to_string(v.type())) + " " + v.str();
}

std::string text_of(std::complex<double> c) {
  std::ostringstream text;
  text.precision(17);
  text << c.real();
  if (c.imag() != 0.0) text << (c.imag() < 0 ? " - " : " + ") << std::abs(c.imag()) << "j";
  return text.str();
}

std::string text_of(const std::vector<int>& axes) {
  std::vector<std::string> parts;
  for (int axis : axes) parts.push_back(std::to_string(axis));
  return "[" + joined(parts) + "]";
}

std::string text_of(bool b) {
  return b ? "true" : "false";
}

// "name=value" of every property that is not at its default.
class Properties {
 public:
  template <typename T>
  void add(const char* name, const T& value, const T& usual) {
    if (value != usual) parts_.push_back(std::string(name) + "=" + text_of(value));
  }
  void add(std::string text) { parts_.push_back(std::move(text)); }
  std::string str() const { return parts_.empty() ? std::string() : "(" + joined(parts_) + ")"; }

 private:
  std::vector<std::string> parts_;
};

std::string reduce_text(ReduceOp op, const tasklet::Expr& custom) {
  std::string text(to_string(op));
  if (op == ReduceOp::kCustom) text += " a, b: " + tasklet::to_python(custom);
  return text;
}

std::string properties_of(const LibraryOp& op) {
  Properties p;
  const std::complex<double> one = 1.0;
  const std::complex<double> zero = 0.0;
  std::visit(
      [&](const auto& o) {
        using K = std::remove_cvref_t<decltype(o)>;
        if constexpr (std::is_same_v<K, Gemm> || std::is_same_v<K, BatchedMatMul> || std::is_same_v<K, Csrmm>) {
          p.add("trans_a", o.trans_a, false);
          p.add("trans_b", o.trans_b, false);
          p.add("alpha", o.alpha, one);
          p.add("beta", o.beta, zero);
        } else if constexpr (std::is_same_v<K, Gemv>) {
          p.add("trans_a", o.trans_a, false);
          p.add("alpha", o.alpha, one);
          p.add("beta", o.beta, zero);
        } else if constexpr (std::is_same_v<K, Csrmv>) {
          p.add("trans", o.trans, false);
          p.add("alpha", o.alpha, one);
          p.add("beta", o.beta, zero);
        } else if constexpr (std::is_same_v<K, Ger>) {
          p.add("alpha", o.alpha, one);
        } else if constexpr (std::is_same_v<K, Axpy>) {
          p.add("a", o.a, one);
        } else if constexpr (std::is_same_v<K, Syrk>) {
          p.add("trans", o.trans, false);
          p.add("lower", o.lower, true);
          p.add("alpha", o.alpha, one);
          p.add("beta", o.beta, zero);
        } else if constexpr (std::is_same_v<K, Einsum>) {
          p.add("'" + o.equation + "'");
          p.add("alpha", o.alpha, one);
          p.add("beta", o.beta, zero);
        } else if constexpr (std::is_same_v<K, Reduce>) {
          p.add(reduce_text(o.op, o.custom));
          if (!o.axes.empty()) p.add("axes=" + text_of(o.axes));
          if (o.identity) p.add("identity=" + text_of(*o.identity));
        } else if constexpr (std::is_same_v<K, Fill>) {
          p.add(text_of(o.value));
        } else if constexpr (std::is_same_v<K, TensorTranspose>) {
          p.add("axes=" + text_of(o.axes));
          p.add("alpha", o.alpha, one);
          p.add("beta", o.beta, zero);
        } else if constexpr (std::is_same_v<K, TensorDot>) {
          p.add("left=" + text_of(o.left_axes));
          p.add("right=" + text_of(o.right_axes));
          if (!o.permutation.empty()) p.add("permutation=" + text_of(o.permutation));
        } else if constexpr (std::is_same_v<K, Cholesky> || std::is_same_v<K, Potrf>) {
          p.add("lower", o.lower, true);
        } else if constexpr (std::is_same_v<K, Inv>) {
          p.add("overwrite_a", o.overwrite_a, false);
        } else if constexpr (std::is_same_v<K, Fft>) {
          if (!o.factor.is_one()) p.add("factor=" + o.factor.str());
          p.add("scale_by_length", o.scale_by_length, false);
        } else if constexpr (std::is_same_v<K, Scan>) {
          p.add(std::string(to_string(o.op)));
          p.add("exclusive", o.exclusive, false);
          if (o.axis != 0) p.add("axis=" + std::to_string(o.axis));
        } else if constexpr (std::is_same_v<K, ArgReduce>) {
          if (o.axis) p.add("axis=" + std::to_string(*o.axis));
        } else if constexpr (std::is_same_v<K, UnknownLibrary>) {
          p.add(o.class_path);
        } else {
          static_assert(std::is_same_v<K, MatMul> || std::is_same_v<K, Dot> || std::is_same_v<K, Copy> ||
                        std::is_same_v<K, Transpose> || std::is_same_v<K, Getrf> || std::is_same_v<K, Getrs> ||
                        std::is_same_v<K, Solve>);
        }
      },
      op);
  return p.str();
}

class Printer {
 public:
  explicit Printer(const Graph& g) : g_(g) {}

  std::string graph() {
    line("graph " + g_.name + "(" + joined(g_.parameters) + ")");
    indent_ = 1;
    for (const Container& c : g_.containers) line("container " + container(c));
    for (const Symbol& s : g_.symbols) line("symbol " + symbol(s));
    if (!g_.locals.empty()) line("locals " + joined(g_.locals));
    block_of_text("host code", g_.code.host);
    block_of_text("device code", g_.code.device);
    block_of_text("init code", g_.code.init);
    block_of_text("exit code", g_.code.exit);
    sequence(g_.body);
    return std::move(text_);
  }

  std::string alone(const Element& e) {
    element(e);
    return std::move(text_);
  }

 private:
  void line(const std::string& text) {
    text_.append(static_cast<std::size_t>(indent_) * 2, ' ');
    text_ += text;
    text_ += '\n';
  }

  void block_of_text(const std::string& head, const std::string& body) {
    if (body.empty()) return;
    line(head + ":");
    ++indent_;
    std::istringstream lines(body);
    for (std::string one; std::getline(lines, one);) line(one);
    --indent_;
  }

  std::string container(const Container& c) const {
    std::string text = c.name + ": " + std::string(to_string(c.kind));
    if (!c.type.is_void()) text += " " + c.type.str();
    if (c.rank() != 0) text += "[" + joined(c.layout.shape()) + "]";
    if (c.transient) text += " transient";
    if (!c.layout.is_packed()) {
      text += " strides [" + joined(c.layout.strides()) + "]";
      bool offsets = false;
      for (const Expr& o : c.layout.offset()) offsets = offsets || !o.is_zero();
      if (offsets) text += " offset [" + joined(c.layout.offset()) + "]";
      text += " size " + c.layout.total_size().str();
      if (!c.layout.start_offset().is_zero()) text += " start " + c.layout.start_offset().str();
    }
    if (c.storage != Storage::kDefault) text += " in " + std::string(to_string(c.storage));
    if (c.lifetime != Lifetime::kScope) text += " " + std::string(to_string(c.lifetime));
    if (c.may_alias) text += " may_alias";
    if (c.zeroed) text += " zeroed";
    if (c.alignment != 0) text += " aligned " + std::to_string(c.alignment);
    if (!c.viewed.empty()) text += " of " + c.viewed + subset(c.viewed_subset);
    if (!c.buffer_size.is_zero()) text += " buffer " + c.buffer_size.str();
    if (!c.members.empty()) {
      std::vector<std::string> members;
      for (const Container& member : c.members) members.push_back(container(member));
      text += " {" + joined(members) + "}";
    }
    if (c.constant) text += " constant (" + std::to_string(c.constant->size()) + " bytes)";
    return text;
  }

  std::string symbol(const Symbol& s) const {
    std::string text = s.name + ": " + s.type.str() + " " + std::string(to_string(s.binder));
    if (s.lower) text += " >= " + s.lower->str();
    if (s.upper) text += " <= " + s.upper->str();
    return text;
  }

  static std::string subset(const Subset& s) { return s.rank() == 0 ? std::string() : "[" + s.str() + "]"; }

  static std::string range(const std::string& name, const Range& r) { return name + "=" + Subset({r}).str(); }

  // "#12 map i=0:N": every element starts with its id; a label and a place follow.
  void head(const Element& e, const std::string& what) {
    std::string text = "#" + std::to_string(e.id) + " " + what;
    if (!e.label.empty()) text += " '" + e.label + "'";
    if (e.issue) text += issue(*e.issue);
    line(text);
  }

  static std::string issue(const DeviceIssue& i) {
    std::string text;
    const auto list = [&](const char* what, const std::vector<int>& numbers) {
      std::vector<std::string> parts;
      for (const int n : numbers) parts.push_back(std::to_string(n));
      if (!numbers.empty()) text += std::string(what) + joined(parts);
    };
    list(" after the host waited for stream ", i.host_waits);
    text += " on stream " + std::to_string(i.stream);
    list(" after event ", i.awaited_events);
    list(" then event ", i.recorded_events);
    return text;
  }

  void sequence(const Sequence& s) {
    for (const auto& item : s.items) element(*item);
  }

  void nested(const Sequence& s) {
    ++indent_;
    sequence(s);
    --indent_;
  }

  void element(const Element& e) {
    std::visit([&](const auto& kind) { body(e, kind); }, e.kind);
  }

  void body(const Element& e, const State& s) {
    head(e, s.barrier ? "state behind a barrier" : "state");
    ++indent_;
    for (const Node& n : s.nodes) node(n);
    for (const Memlet& m : s.edges) memlet(s, m);
    --indent_;
  }

  void body(const Element& e, const Assign& a) {
    std::vector<std::string> items;
    for (const Assign::Item& item : a.items) items.push_back(item.symbol + " = " + tasklet::to_python(item.value));
    head(e, "assign " + joined(items));
  }

  void body(const Element& e, const Block& b) {
    head(e, b.locals.empty() ? "block" : "block with " + joined(b.locals));
    nested(b.body);
  }

  void body(const Element& e, const For& f) {
    std::string text = "for " + f.variable + " = " + tasklet::to_python(f.init);
    const std::string condition = " while " + tasklet::to_python(f.condition);
    const std::string update = " then " + tasklet::to_python(f.update);
    switch (f.form) {
      case LoopForm::kTestFirst: text += condition + update; break;
      case LoopForm::kUpdateThenTest: text += " do" + update + condition; break;
      case LoopForm::kTestThenUpdate: text += " do" + condition + update; break;
    }
    if (f.unroll) text += " unroll" + (f.unroll_factor == 0 ? std::string() : " " + std::to_string(f.unroll_factor));
    head(e, text);
    nested(f.body);
  }

  void body(const Element& e, const While& w) {
    head(e, (w.test_first ? "while " : "do while ") + tasklet::to_python(w.condition));
    nested(w.body);
  }

  void body(const Element& e, const If& i) {
    head(e, "branch");
    for (const If::Branch& branch : i.branches) {
      line("if " + tasklet::to_python(branch.condition));
      nested(branch.body);
    }
  }

  void body(const Element& e, const Map& m) {
    std::vector<std::string> ranges;
    for (std::size_t d = 0; d < m.params.size(); ++d) {
      ranges.push_back(d < m.ranges.size() ? range(m.params[d], m.ranges[d]) : m.params[d]);
    }
    std::string text = "map " + joined(ranges);
    if (m.schedule != Schedule::kDefault) text += " " + std::string(to_string(m.schedule));
    if (m.unroll) text += " unroll";
    if (m.simd) text += " simd";
    if (m.collapse != 0) text += " collapse " + std::to_string(m.collapse);
    if (m.num_threads != 0) text += " threads " + std::to_string(m.num_threads);
    if (m.omp_schedule != OmpSchedule::kDefault) text += " schedule " + std::string(to_string(m.omp_schedule));
    if (m.omp_chunk != 0) text += " chunk " + std::to_string(m.omp_chunk);
    for (const Map::Reduction& r : m.reductions)
      text += " reduce " + r.container + " by " + std::string(to_string(r.op));
    if (!m.gpu_block_size.empty()) {
      std::vector<std::string> sizes;
      for (std::int64_t n : m.gpu_block_size) sizes.push_back(std::to_string(n));
      text += " block [" + joined(sizes) + "]";
    }
    if (!m.gpu_launch_bounds.empty()) text += " launch bounds " + m.gpu_launch_bounds;
    if (m.gpu_max_registers != 0) text += " registers " + std::to_string(m.gpu_max_registers);
    if (m.gpu_max_blocks != 0) text += " at most " + std::to_string(m.gpu_max_blocks) + " blocks";
    head(e, text);
    nested(m.body);
  }

  void body(const Element& e, const Consume& c) {
    std::string text = "consume " + c.element + " from " + c.stream;
    if (!c.worker.empty()) text += " by " + range(c.worker, {0, c.num_workers - 1});
    if (c.condition) text += " until " + tasklet::to_python(*c.condition);
    if (c.chunk_size != 1) text += " chunk " + std::to_string(c.chunk_size);
    if (c.schedule != Schedule::kDefault) text += " " + std::string(to_string(c.schedule));
    head(e, text);
    nested(c.body);
  }

  void body(const Element& e, const Exit& x) {
    head(e, (x.kind == Exit::Kind::kBreak ? "break #" : "continue #") + std::to_string(x.target));
  }

  void body(const Element& e, const Return&) { head(e, "return"); }

  static std::string connectors(const std::vector<Connector>& list) {
    std::vector<std::string> parts;
    for (const Connector& c : list) parts.push_back(c.type.is_void() ? c.name : c.name + ": " + c.type.str());
    return "(" + joined(parts) + ")";
  }

  void node(const Node& n) {
    std::string text = "#" + std::to_string(n.id) + " ";
    const std::string label = n.label.empty() ? std::string() : " '" + n.label + "'";
    if (const auto* a = std::get_if<Access>(&n.kind)) {
      line(text + "access " + a->data);
    } else if (const auto* t = std::get_if<Tasklet>(&n.kind)) {
      text += "tasklet" + label + " " + connectors(t->inputs) + " -> " + connectors(t->outputs);
      if (t->side_effects) text += *t->side_effects ? " with side effects" : " pure";
      switch (t->code.language) {
        case tasklet::Language::kTree: block_of_text(text, tasklet::to_python(t->code.body)); break;
        case tasklet::Language::kCpp:
          block_of_text(text + " C++", t->code.text.empty() ? std::string("\n") : t->code.text);
          ++indent_;
          block_of_text("global code", t->code.global_text);
          --indent_;
          break;
      }
    } else {
      const auto& l = std::get<Library>(n.kind);
      text += "library " + std::string(name_of(l.op)) + properties_of(l.op) + label + " (" + joined(l.inputs) +
              ") -> (" + joined(l.outputs) + ")";
      if (!l.implementation.empty()) text += " by " + l.implementation;
      line(text);
    }
  }

  std::string side(const State& s, Id id, const std::optional<Subset>& at, const std::string& connector) const {
    const Node* n = s.find_node(id);
    const auto* a = n == nullptr ? nullptr : std::get_if<Access>(&n->kind);
    std::string text = "#" + std::to_string(id);
    if (!connector.empty()) text += "." + connector;
    if (at) text += " " + (a == nullptr ? std::string() : a->data) + subset(*at);
    return text;
  }

  void memlet(const State& s, const Memlet& m) {
    std::string text = "#" + std::to_string(m.id) + " " + side(s, m.src, m.src_subset, m.src_connector) + " -> " +
                       side(s, m.dst, m.dst_subset, m.dst_connector);
    if (m.is_order_only()) text += " order";
    if (m.wcr) {
      text += " wcr " + reduce_text(m.wcr->op, m.wcr->custom);
      switch (m.wcr->lowering) {
        case WcrLowering::kUndecided: break;
        case WcrLowering::kPlain: text += " plain"; break;
        case WcrLowering::kAtomic: text += " atomic"; break;
        case WcrLowering::kReduction: text += " reduction"; break;
      }
    }
    if (m.dynamic) text += " dynamic";
    if (m.allow_oob) text += " allow_oob";
    if (m.set_reference) text += " set_reference";
    line(text);
  }

  const Graph& g_;
  int indent_ = 0;
  std::string text_;
};

}  // namespace

std::string to_text(const Graph& g) {
  return Printer(g).graph();
}
std::string to_text(const Graph& g, const Element& e) {
  return Printer(g).alone(e);
}

}  // namespace sdfg::ir
