// Which connectors an operation has, and comparisons of its operands.
#include "ir/validate_operands.hpp"

#include <algorithm>

namespace sdfg::ir::validation {

using symbolic::Truth;

namespace {

using Names = std::vector<std::string>;

// The connectors of an operation.
struct Connectors {
  Names inputs;
  Names optional_inputs;
  Names outputs;
  Names optional_outputs;
  bool any_inputs = false;  // Einsum: operands in the order of the node's connectors
  bool any_outputs = false;
};

Connectors connectors_of(const LibraryOp& op) {
  return std::visit(
      [](const auto& o) -> Connectors {
        using K = std::remove_cvref_t<decltype(o)>;
        if constexpr (std::is_same_v<K, MatMul>) {
          return {{"_a", "_b"}, {}, {"_c"}, {}};
        } else if constexpr (std::is_same_v<K, Gemm> || std::is_same_v<K, BatchedMatMul>) {
          return {{"_a", "_b"}, {"_cin"}, {"_c"}, {}};
        } else if constexpr (std::is_same_v<K, Gemv>) {
          return {{"_A", "_x"}, {"_y"}, {"_y"}, {}};
        } else if constexpr (std::is_same_v<K, Ger>) {
          return {{"_x", "_y", "_A"}, {}, {"_res"}, {}};
        } else if constexpr (std::is_same_v<K, Dot>) {
          return {{"_x", "_y"}, {}, {"_result"}, {}};
        } else if constexpr (std::is_same_v<K, Axpy>) {
          return {{"_x", "_y"}, {}, {"_res"}, {}};
        } else if constexpr (std::is_same_v<K, Syrk>) {
          return {{"_a"}, {"_cin"}, {"_c"}, {}};
        } else if constexpr (std::is_same_v<K, Einsum>) {
          return {{}, {}, {}, {}, true, true};
        } else if constexpr (std::is_same_v<K, Reduce> || std::is_same_v<K, Copy> || std::is_same_v<K, Scan>) {
          return {{"_in"}, {}, {"_out"}, {}};
        } else if constexpr (std::is_same_v<K, Fill>) {
          return {{}, {}, {"_out"}, {}};
        } else if constexpr (std::is_same_v<K, Transpose> || std::is_same_v<K, Fft>) {
          return {{"_inp"}, {}, {"_out"}, {}};
        } else if constexpr (std::is_same_v<K, TensorTranspose>) {
          return {{"_inp_tensor"}, {}, {"_out_tensor"}, {}};
        } else if constexpr (std::is_same_v<K, TensorDot>) {
          return {{"_left_tensor", "_right_tensor"}, {}, {"_out_tensor"}, {}};
        } else if constexpr (std::is_same_v<K, Cholesky>) {
          return {{"_a"}, {}, {"_b"}, {}};
        } else if constexpr (std::is_same_v<K, Potrf>) {
          return {{"_xin"}, {}, {"_xout", "_res"}, {}};
        } else if constexpr (std::is_same_v<K, Getrf>) {
          return {{"_xin"}, {}, {"_xout", "_ipiv", "_res"}, {}};
        } else if constexpr (std::is_same_v<K, Getrs>) {
          return {{"_a", "_ipiv", "_rhs_in"}, {}, {"_rhs_out", "_res"}, {}};
        } else if constexpr (std::is_same_v<K, Solve>) {
          return {{"_ain", "_bin"}, {}, {"_bout"}, {}};
        } else if constexpr (std::is_same_v<K, Inv>) {
          return {{"_ain"}, {}, {"_aout"}, {}};
        } else if constexpr (std::is_same_v<K, Csrmv> || std::is_same_v<K, Csrmm>) {
          return {{"_a_rows", "_a_cols", "_a_vals", "_b"}, {"_cin"}, {"_c"}, {}};
        } else if constexpr (std::is_same_v<K, ArgReduce>) {
          return {{"_in"}, {}, {"_idx"}, {"_value"}};
        } else if constexpr (std::is_same_v<K, UnknownLibrary>) {
          return {{}, {}, {}, {}, true, true};
        } else {
          static_assert(kUnhandledKind<K>);
        }
      },
      op);
}

}  // namespace

void OperandChecker::check_connectors() {
  const Connectors wanted = connectors_of(l_.op);
  const auto compare = [&](const Names& have, const Names& required, const Names& optional, const char* side) {
    for (const std::string& name : required) {
      if (std::find(have.begin(), have.end(), name) == have.end()) {
        add(Rule::kConnectorMissing, "has no " + std::string(side) + " '" + name + "'");
      }
    }
    for (const std::string& name : have) {
      const bool known = std::find(required.begin(), required.end(), name) != required.end() ||
                         std::find(optional.begin(), optional.end(), name) != optional.end();
      if (!known) add(Rule::kConnectorMissing, "has no " + std::string(side) + " called '" + name + "'");
    }
  };
  if (!wanted.any_inputs) compare(l_.inputs, wanted.inputs, wanted.optional_inputs, "input");
  if (!wanted.any_outputs) compare(l_.outputs, wanted.outputs, wanted.optional_outputs, "output");
}

void OperandChecker::collect() {
  for (const Memlet& m : s_.edges) {
    const bool in = m.dst == n_.id && !m.dst_connector.empty();
    const bool out = m.src == n_.id && !m.src_connector.empty();
    if (!in && !out) continue;
    const Access* a = access_at(s_, in ? m.src : m.dst);
    const Container* c = a == nullptr ? nullptr : resolve(g_, a->data);
    const std::optional<Subset>& subset = in ? m.src_subset : m.dst_subset;
    if (c == nullptr || !subset) continue;
    Operand o;
    o.connector = in ? m.dst_connector : m.src_connector;
    for (const Range& r : subset->ranges()) o.sizes.push_back(r.is_index() ? Expr(1) : simplified_size(r));
    o.type = c->type;
    o.memlet = m.id;
    if (c->kind == ContainerKind::kStream) {
      add(Rule::kStreamUse, std::string(in ? "reads" : "writes") + " stream '" + report_.container(a->data) +
                                "' through '" + o.connector + "'");
    }
    (in ? inputs_ : outputs_).emplace(o.connector, std::move(o));
  }
}

std::string OperandChecker::text(const std::vector<Expr>& shape) const {
  std::string t = "[";
  for (std::size_t d = 0; d < shape.size(); ++d) t += (d == 0 ? "" : ", ") + report_.show(shape[d]);
  return t + "]";
}

std::optional<std::vector<Expr>> OperandChecker::as_rank(const Operand* o, std::size_t rank) {
  if (o == nullptr) return std::nullopt;
  std::vector<Expr> shape = o->sizes;
  for (std::size_t d = 0; d < shape.size() && shape.size() > rank;) {
    if (shape[d].is_one()) {
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d));
    } else {
      ++d;
    }
  }
  if (shape.size() == rank) return shape;
  add(Rule::kLibraryShape, "needs " + std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions") + " at '" +
                               o->connector + "', but its memlet has the shape " + text(o->sizes));
  return std::nullopt;
}

std::vector<Expr> OperandChecker::squeezed(const std::vector<Expr>& shape) {
  std::vector<Expr> kept;
  for (const Expr& e : shape) {
    if (!e.is_one()) kept.push_back(e);
  }
  return kept;
}

bool OperandChecker::differ(const Expr& a, const Expr& b) const {
  if (a == b) return false;
  const Expr d = a - b;
  return d.is_integer() ? !d.is_zero() : symbolic::is_zero(d, facts_) == Truth::kNo;
}

void OperandChecker::same_shape(const Operand* a, const Operand* b) {
  if (a == nullptr || b == nullptr) return;
  const std::vector<Expr> x = squeezed(a->sizes);
  const std::vector<Expr> y = squeezed(b->sizes);
  bool good = x.size() == y.size();
  for (std::size_t d = 0; good && d < x.size(); ++d) good = !differ(x[d], y[d]);
  // Dimensions whose extent may turn out to be one can't be compared one by one.
  if (x.size() != y.size() && !differ(symbolic::product(x), symbolic::product(y))) good = true;
  if (!good) {
    add(Rule::kLibraryShape, "needs equal shapes, but '" + a->connector + "' has " + text(a->sizes) + " and '" +
                                 b->connector + "' has " + text(b->sizes));
  }
}

void OperandChecker::same_count(const Operand* a, const Operand* b) {
  if (a == nullptr || b == nullptr) return;
  const Expr x = symbolic::product(a->sizes);
  const Expr y = symbolic::product(b->sizes);
  if (differ(x, y)) {
    add(Rule::kLibraryShape, "moves " + report_.show(x) + " elements of '" + a->connector + "' into " +
                                 report_.show(y) + " of '" + b->connector + "'");
  }
}

void OperandChecker::same_types() {
  const Operand* first = nullptr;
  for (const auto* side : {&inputs_, &outputs_}) {
    for (const auto& [name, o] : *side) {
      if (first == nullptr) first = &o;
      pair_types(first, &o);
    }
  }
}

void OperandChecker::pair_types(const Operand* a, const Operand* b) {
  if (a == nullptr || b == nullptr || a->type == b->type) return;
  add(Rule::kLibraryTypes, "needs one element type, but '" + a->connector + "' has " + a->type.str() + " and '" +
                               b->connector + "' has " + b->type.str());
}

void OperandChecker::numeric() {
  for (const auto* side : {&inputs_, &outputs_}) {
    for (const auto& [name, o] : *side) {
      if (o.type.is_scalar() || o.type.kind() == Type::Kind::kVector) continue;
      add(Rule::kLibraryTypes, "can't compute with the " + o.type.str() + " elements at '" + name + "'");
    }
  }
}

void OperandChecker::floating(const Operand* o) {
  if (o == nullptr) return;
  const bool good = o->type.is_scalar() && (o->type.scalar() == ScalarType::kFloat32 ||
                                            o->type.scalar() == ScalarType::kFloat64 || is_complex(o->type.scalar()));
  if (good) return;
  add(Rule::kLibraryTypes,
      "needs float32, float64 or complex elements at '" + o->connector + "', but they have type " + o->type.str());
}

}  // namespace sdfg::ir::validation
