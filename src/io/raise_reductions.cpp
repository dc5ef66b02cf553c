// Takes a kernel of DaCe's reductions apart: one tasklet for each part it must have, ranges that cover the input
// exactly once, an accumulator that starts where folding it in 32 times does no harm.
#include <algorithm>
#include <cctype>
#include <limits>

#include "io/raise_expansions.hpp"
#include "symbolic/facts.hpp"
#include "tasklet/parse.hpp"

namespace sdfg::io {

namespace {

using symbolic::Expr;

constexpr std::int64_t kLanes = 32;

std::string without_spaces(std::string s) {
  std::erase_if(s, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
  return s;
}

bool equal(const Expr& a, const Expr& b) {
  return a == b || symbolic::is_equal(a, b, symbolic::Facts()) == symbolic::Truth::kYes;
}

// "o = b": the name on the right.
std::optional<std::string> assigned_name(const dace::TaskletNode& t, const std::string& output) {
  if (t.code.language != dace::Language::kPython) return std::nullopt;
  try {
    const tasklet::Body body = tasklet::parse_body(t.code.text);
    const auto* a = body.size() == 1 ? std::get_if<tasklet::Assign>(&body[0].node) : nullptr;
    const auto* target = a == nullptr ? nullptr : std::get_if<tasklet::Name>(&a->target.node());
    const auto* value = a == nullptr ? nullptr : std::get_if<tasklet::Name>(&a->value.node());
    if (target == nullptr || value == nullptr || target->name != output) return std::nullopt;
    return value->name;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// "o = (- 9999)": the number on the right.
std::optional<double> assigned_number(const dace::TaskletNode& t, const std::string& output) {
  if (t.code.language != dace::Language::kPython) return std::nullopt;
  std::string s = without_spaces(t.code.text);
  if (s.rfind(output + "=", 0) != 0) return std::nullopt;
  std::erase_if(s, [](char c) { return c == '(' || c == ')'; });
  const char* begin = s.c_str() + output.size() + 1;
  char* end = nullptr;
  const double v = std::strtod(begin, &end);
  return end != begin && *end == 0 ? std::optional(v) : std::nullopt;
}

struct Operator {
  const char* name;  // in dace::ReductionType
  ir::ReduceOp op;
  std::optional<double> neutral;  // of every type
  bool idempotent;                // folding one value in several times is folding it in once
};
constexpr Operator kOperators[] = {
    {"Sum", ir::ReduceOp::kSum, 0.0, false},
    {"Product", ir::ReduceOp::kProduct, 1.0, false},
    {"Min", ir::ReduceOp::kMin, std::nullopt, true},
    {"Max", ir::ReduceOp::kMax, std::nullopt, true},
    {"Bitwise_And", ir::ReduceOp::kBitAnd, std::nullopt, true},
    {"Bitwise_Or", ir::ReduceOp::kBitOr, 0.0, true},
    {"Bitwise_Xor", ir::ReduceOp::kBitXor, 0.0, false},
    {"Logical_And", ir::ReduceOp::kLogicalAnd, 1.0, true},
    {"Logical_Or", ir::ReduceOp::kLogicalOr, 0.0, true},
    {"Logical_Xor", ir::ReduceOp::kLogicalXor, 0.0, false},
};

// The edges of one node.
struct Ports {
  std::vector<const dace::Edge*> in, out;
};

class Kernel {
 public:
  Kernel(const dace::Sdfg& g, const dace::State& s) : g_(g), s_(s), ports_(s.nodes.size()) {
    for (const dace::Edge& e : s.edges) {
      ports_[static_cast<std::size_t>(e.src)].out.push_back(&e);
      ports_[static_cast<std::size_t>(e.dst)].in.push_back(&e);
    }
  }

  // Sorts the nodes into the parts; false when one is missing or something is left over.
  bool take_apart() {
    for (const dace::Node& n : s_.nodes) {
      if (const auto* t = std::get_if<dace::TaskletNode>(&n.kind)) {
        if (!take_tasklet(n, *t)) return false;
      } else if (const auto* m = std::get_if<dace::MapEntry>(&n.kind)) {
        const dace::MapInfo*& place = m->map.schedule == dace::Schedule::kGpuDevice        ? grid
                                      : m->map.schedule == dace::Schedule::kGpuThreadBlock ? lanes
                                                                                           : inner;
        if (place != nullptr || m->map.params.size() != m->map.range.rank()) return false;
        place = &m->map;
      } else if (std::holds_alternative<dace::AccessNode>(n.kind)) {
        for (const dace::Edge* e : ports_[static_cast<std::size_t>(n.index)].out) {
          if (std::holds_alternative<dace::AccessNode>(node(e->dst).kind)) return false;  // a copy
        }
      } else if (!std::holds_alternative<dace::MapExit>(n.kind)) {
        return false;
      }
    }
    if (read == nullptr || write == nullptr || fold == nullptr || !start || type_name.empty() || grid == nullptr ||
        lanes == nullptr || inner == nullptr || !read->memlet.subset || !write->memlet.subset)
      return false;
    return lanes->params.size() == 1 && lanes->range.rank() == 1 && lanes->range[0].begin.is_zero() &&
           equal(lanes->range[0].end, kLanes - 1) && lanes->range[0].step.is_one();
  }

  const dace::MapInfo *grid = nullptr, *lanes = nullptr, *inner = nullptr;
  const dace::Edge *read = nullptr, *write = nullptr, *fold = nullptr;  // of the input, the output, the accumulator
  std::string accumulator, type_name, operator_name;
  std::optional<double> start;  // of the accumulator

 private:
  const dace::Node& node(int v) const { return s_.nodes[static_cast<std::size_t>(v)]; }

  bool is_accumulator(const dace::Edge& e) {
    const dace::Descriptor* d = g_.find(e.memlet.data);
    if (d == nullptr || !d->transient || d->kind != dace::DescriptorClass::kScalar) return false;
    if (accumulator.empty()) accumulator = e.memlet.data;
    return accumulator == e.memlet.data;
  }
  bool is_parameter(const dace::Edge& e) const {
    const dace::Descriptor* d = g_.find(e.memlet.data);
    return d != nullptr && !d->transient && d->kind == dace::DescriptorClass::kArray;
  }

  bool take_tasklet(const dace::Node& n, const dace::TaskletNode& t) {
    const Ports& p = ports_[static_cast<std::size_t>(n.index)];
    if (n.outputs.size() != 1 || p.out.size() != 1) return false;
    const std::string& output = n.outputs.front().name;
    const dace::Edge& to = *p.out.front();
    std::vector<const dace::Edge*> from;
    for (const dace::Edge* e : p.in) {
      if (!e->memlet.data.empty()) from.push_back(e);
    }
    if (from.empty()) {  // acc = number
      if (start || !to.memlet.wcr.empty() || !is_accumulator(to)) return false;
      start = assigned_number(t, output);
      return start.has_value();
    }
    if (t.code.language == dace::Language::kCpp) {  // acc = warpReduce(acc)
      return from.size() == 1 && type_name.empty() && to.memlet.wcr.empty() && is_accumulator(*from[0]) &&
             is_accumulator(to) && take_warp(without_spaces(t.code.text), output, from[0]->dst_connector);
    }
    if (const auto value = assigned_name(t, output)) {  // acc (wcr)= in
      if (fold != nullptr || to.memlet.wcr.empty() || !is_accumulator(to)) return false;
      fold = &to;
      for (const dace::Edge* e : from) {
        if (e->dst_connector == *value) {
          if (!is_parameter(*e)) return false;
          read = e;
        } else if (!is_accumulator(*e)) {  // DaCe hands the old value over, too
          return false;
        }
      }
      return read != nullptr;
    }
    // out = acc, in lane 0
    if (write != nullptr || from.size() != 1 || !is_accumulator(*from[0]) || !is_parameter(to)) return false;
    std::string text = without_spaces(t.code.text);
    std::erase_if(text, [](char c) { return c == '(' || c == ')'; });
    if (text != "ifthreadIdx.x==0:" + output + "=" + from[0]->dst_connector) return false;
    write = &to;
    return true;
  }

  // out=dace::warpReduce<dace::ReductionType::Max,double>::reduce(in);
  bool take_warp(const std::string& text, const std::string& output, const std::string& input) {
    const std::string head = output + "=dace::warpReduce<dace::ReductionType::";
    const std::string tail = ">::reduce(" + input + ");";
    if (text.size() <= head.size() + tail.size() || text.rfind(head, 0) != 0 ||
        text.compare(text.size() - tail.size(), tail.size(), tail) != 0)
      return false;
    const std::string middle = text.substr(head.size(), text.size() - head.size() - tail.size());
    const std::size_t comma = middle.find(',');
    if (comma == std::string::npos) return false;
    operator_name = middle.substr(0, comma);
    type_name = middle.substr(comma + 1);
    return true;
  }

  const dace::Sdfg& g_;
  const dace::State& s_;
  std::vector<Ports> ports_;
};

bool has_warp(const dace::State& s) {
  return std::any_of(s.nodes.begin(), s.nodes.end(), [](const dace::Node& n) {
    const auto* t = std::get_if<dace::TaskletNode>(&n.kind);
    return t != nullptr && t->code.text.find("dace::warpReduce<") != std::string::npos;
  });
}

// The parameter that an index is, if it is nothing else.
std::optional<std::size_t> parameter_of(const symbolic::Range& r, const std::vector<std::string>& params) {
  if (r.begin.kind() != symbolic::Kind::kSymbol || r.end != r.begin) return std::nullopt;
  const auto it = std::find(params.begin(), params.end(), r.begin.name());
  if (it == params.end()) return std::nullopt;
  return static_cast<std::size_t>(it - params.begin());
}

bool covers(const symbolic::Range& r, const Expr& extent) {
  return r.begin.is_zero() && equal(r.end, extent - 1) && r.step.is_one();
}

// A state that sets all of `output` to a number.
std::optional<double> number_set(const dace::Sdfg& g, const dace::State& s, const std::string& output) {
  const dace::MapInfo* map = nullptr;
  const dace::Node* tasklet = nullptr;
  for (const dace::Node& n : s.nodes) {
    if (std::holds_alternative<dace::TaskletNode>(n.kind)) {
      if (tasklet != nullptr || n.outputs.size() != 1) return std::nullopt;
      tasklet = &n;
    } else if (const auto* m = std::get_if<dace::MapEntry>(&n.kind)) {
      if (map != nullptr) return std::nullopt;
      map = &m->map;
    } else if (const auto* a = std::get_if<dace::AccessNode>(&n.kind)) {
      if (a->data != output) return std::nullopt;
    } else if (!std::holds_alternative<dace::MapExit>(n.kind)) {
      return std::nullopt;
    }
  }
  if (tasklet == nullptr) return std::nullopt;
  const dace::Edge* write = nullptr;
  for (const dace::Edge& e : s.edges) {
    if (e.dst == tasklet->index && !e.memlet.data.empty()) return std::nullopt;
    if (e.src == tasklet->index) write = write == nullptr ? &e : nullptr;
  }
  if (write == nullptr || write->memlet.data != output || !write->memlet.wcr.empty() || !write->memlet.subset)
    return std::nullopt;
  const dace::Descriptor& d = *g.find(output);
  const ir::Subset& at = *write->memlet.subset;
  if (at.rank() != d.shape.size()) return std::nullopt;
  std::set<std::size_t> used;
  for (std::size_t k = 0; k < at.rank(); ++k) {
    const auto p = map == nullptr ? std::nullopt : parameter_of(at[k], map->params);
    const bool whole = p ? used.insert(*p).second && covers(map->range[*p], d.shape[k]) : covers(at[k], d.shape[k]);
    if (!whole) return std::nullopt;
  }
  return assigned_number(std::get<dace::TaskletNode>(tasklet->kind), tasklet->outputs.front().name);
}

const char* type_in_cpp(ScalarType t) {
  switch (t) {
    case ScalarType::kFloat64: return "double";
    case ScalarType::kFloat32: return "float";
    case ScalarType::kInt32: return "int";
    case ScalarType::kInt64: return "int64_t";
    case ScalarType::kUInt32: return "unsignedint";
    case ScalarType::kUInt64: return "uint64_t";
    case ScalarType::kBool:
    case ScalarType::kInt8:
    case ScalarType::kInt16:
    case ScalarType::kUInt8:
    case ScalarType::kUInt16:
    case ScalarType::kFloat16:
    case ScalarType::kBFloat16:
    case ScalarType::kComplex64:
    case ScalarType::kComplex128: break;
  }
  return "?";
}

// Which axes of the input are folded; nothing when the iterations do not visit every element exactly once, or write
// elsewhere than at the axes that stay.
std::optional<std::vector<int>> folded_axes(const dace::Sdfg& g, const Kernel& k) {
  const dace::Descriptor& in = *g.find(k.read->memlet.data);
  const dace::Descriptor& out = *g.find(k.write->memlet.data);
  const ir::Subset& at = *k.read->memlet.subset;
  const ir::Subset& to = *k.write->memlet.subset;
  if (at.rank() != in.shape.size() || to.rank() != out.shape.size()) return std::nullopt;
  const Expr lane = Expr::symbol(k.lanes->params.front());
  std::vector<int> axes;
  std::vector<std::string> kept;
  std::set<std::string> used;  // parameters of grid and inner map
  int by_lane = 0;
  for (std::size_t d = 0; d < at.rank(); ++d) {
    const Expr& extent = in.shape[d];
    if (const auto p = parameter_of(at[d], k.grid->params)) {
      if (!covers(k.grid->range[*p], extent) || !used.insert(k.grid->params[*p]).second) return std::nullopt;
      kept.push_back(k.grid->params[*p]);
      continue;
    }
    const auto p = parameter_of(at[d], k.inner->params);
    if (!p || !used.insert(k.inner->params[*p]).second) return std::nullopt;
    axes.push_back(static_cast<int>(d));
    const symbolic::Range& r = k.inner->range[*p];
    if (covers(r, extent)) continue;
    ++by_lane;
    if (!equal(r.step, kLanes)) return std::nullopt;
    if (equal(r.begin, lane)) {
      if (!equal(r.end, extent - 1)) return std::nullopt;
      continue;
    }
    // Chunks of the axis, dealt to the blocks of the grid in turn: j = chunk * b, chunk * (b + blocks), ...
    const Expr base = r.begin - lane;
    if (base.kind() != symbolic::Kind::kSymbol) return std::nullopt;
    const auto j = std::find(k.inner->params.begin(), k.inner->params.end(), base.name());
    if (j == k.inner->params.end() || !used.insert(base.name()).second) return std::nullopt;
    const symbolic::Range& chunks = k.inner->range[static_cast<std::size_t>(j - k.inner->params.begin())];
    bool matches = false;
    for (std::size_t b = 0; b < k.grid->params.size() && !matches; ++b) {
      const symbolic::Range& blocks = k.grid->range[b];
      if (used.contains(k.grid->params[b]) || !blocks.begin.is_zero() || !blocks.step.is_one()) continue;
      const Expr block = Expr::symbol(k.grid->params[b]);
      const Expr chunk = symbolic::substitute(chunks.begin, {{k.grid->params[b], Expr(1)}});
      const auto size = chunk.constant();
      matches = size && *size > 0 && *size % kLanes == 0 && equal(chunks.begin, chunk * block) &&
                equal(chunks.end, extent - 1) && equal(chunks.step, chunk * (blocks.end + 1)) &&
                equal(r.end, symbolic::min(extent - 1, base + chunk - 1));
      if (matches) used.insert(k.grid->params[b]);
    }
    // Several blocks write one element.
    if (!matches || k.write->memlet.wcr.empty()) return std::nullopt;
  }
  if (by_lane != 1 || axes.empty() || used.size() != k.grid->params.size() + k.inner->params.size())
    return std::nullopt;
  std::vector<std::string> written;
  for (std::size_t d = 0; d < to.rank(); ++d) {
    if (const auto p = parameter_of(to[d], k.grid->params))
      written.push_back(k.grid->params[*p]);
    else if (!covers(to[d], 1))
      return std::nullopt;
  }
  if (written != kept) return std::nullopt;
  if (kept.empty()) axes.clear();
  return axes;
}

}  // namespace

std::optional<RaisedReduction> raise_reduction(const dace::Sdfg& nested,
                                               const std::function<ir::ReduceOp(const std::string&)>& operation) {
  const dace::State *kernel_state = nullptr, *first = nullptr;
  int kernel_at = -1;
  for (std::size_t b = 0; b < nested.body.blocks.size(); ++b) {
    const auto* s = std::get_if<dace::State>(&nested.body.blocks[b].kind);
    if (s == nullptr) return std::nullopt;
    const dace::State*& place = has_warp(*s) ? kernel_state : first;
    if (place != nullptr) return std::nullopt;
    place = s;
    if (has_warp(*s)) kernel_at = static_cast<int>(b);
  }
  if (kernel_state == nullptr) return std::nullopt;
  const auto& edges = nested.body.edges;
  if (first == nullptr
          ? !edges.empty()
          : edges.size() != 1 || edges[0].dst != kernel_at || edges[0].src == kernel_at ||
                !edges[0].assignments.empty() || !(edges[0].condition.text.empty() || edges[0].condition.text == "1"))
    return std::nullopt;

  Kernel k(nested, *kernel_state);
  if (!k.take_apart()) return std::nullopt;
  const auto* known = std::find_if(std::begin(kOperators), std::end(kOperators),
                                   [&](const Operator& o) { return k.operator_name == o.name; });
  if (known == std::end(kOperators) || operation(k.fold->memlet.wcr) != known->op) return std::nullopt;
  const std::string& write_wcr = k.write->memlet.wcr;
  if (!write_wcr.empty() && operation(write_wcr) != known->op) return std::nullopt;

  const Type type = nested.find(k.accumulator)->type;
  if (!type.is_scalar() || k.type_name != type_in_cpp(type.scalar()) ||
      !(nested.find(k.read->memlet.data)->type == type) || !(nested.find(k.write->memlet.data)->type == type))
    return std::nullopt;

  RaisedReduction out;
  out.wcr = k.fold->memlet.wcr;
  out.input = k.read->memlet.data;
  out.output = k.write->memlet.data;
  const auto axes = folded_axes(nested, k);
  if (!axes) return std::nullopt;
  out.axes = *axes;

  // Every lane starts from the same number, so it is folded in 32 times, and with what the output held.
  const bool neutral = known->neutral && *k.start == *known->neutral;
  if (!neutral && !known->idempotent) return std::nullopt;
  std::optional<double> before;
  if (first != nullptr) {
    before = number_set(nested, *first, out.output);
    if (!before) return std::nullopt;
  }
  if (write_wcr.empty()) {
    out.identity = k.start;
    return out;
  }
  // The start must not show in the result: it is neutral, or what the output starts from swallows it.
  const bool lowest = type == Type(ScalarType::kFloat64)   ? *k.start <= std::numeric_limits<double>::lowest()
                      : type == Type(ScalarType::kFloat32) ? *k.start <= -3.4028234663852886e+38
                                                           : false;
  const bool highest = type == Type(ScalarType::kFloat64)   ? *k.start >= std::numeric_limits<double>::max()
                       : type == Type(ScalarType::kFloat32) ? *k.start >= 3.4028234663852886e+38
                                                            : false;
  const bool hidden = neutral || (before && *before == *k.start) ||
                      (known->op == ir::ReduceOp::kMax && (lowest || (before && *k.start <= *before))) ||
                      (known->op == ir::ReduceOp::kMin && (highest || (before && *k.start >= *before)));
  if (!hidden) return std::nullopt;
  out.identity = before;
  return out;
}

}  // namespace sdfg::io
