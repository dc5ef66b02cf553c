// Splits the text into statements, takes set-up for what it is, and translates the column-major conventions of the one
// call to the row-major ones of our nodes.
#include "io/raise_expansions.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "base/words.hpp"
#include "symbolic/facts.hpp"
#include "symbolic/print.hpp"

namespace sdfg::io {

namespace {

using Complex = std::complex<double>;

std::string trimmed(std::string s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.erase(s.begin());
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.pop_back();
  return s;
}

bool starts_with(const std::string& s, std::string_view prefix) {
  return s.compare(0, prefix.size(), prefix) == 0;
}
bool ends_with(const std::string& s, std::string_view suffix) {
  return s.size() >= suffix.size() && s.compare(s.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::string without_comments(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string::npos ? text.size() : end + 2;
    } else {
      out += text[i++];
    }
  }
  return out;
}

// Parts between separators that stand in no brackets; nothing when brackets don't match.
std::optional<std::vector<std::string>> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && --depth < 0) return std::nullopt;
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  if (depth != 0) return std::nullopt;
  for (std::string& p : parts) p = trimmed(p);
  return parts;
}

// A statement that is nothing but a call.
struct Call {
  std::string callee;
  std::vector<std::string> args;
};
std::optional<Call> call_in(const std::string& statement) {
  const std::size_t open = statement.find('(');
  if (open == std::string::npos || statement.back() != ')') return std::nullopt;
  int depth = 0;
  for (std::size_t i = open; i < statement.size(); ++i) {
    if (statement[i] == '(') ++depth;
    if (statement[i] == ')' && --depth == 0 && i + 1 != statement.size()) return std::nullopt;
  }
  auto args = split(statement.substr(open + 1, statement.size() - open - 2), ',');
  if (!args) return std::nullopt;
  return Call{trimmed(statement.substr(0, open)), std::move(*args)};
}

// "double(1.5)", "1.0f", "dace::complex128(1, -2)", "-0.5"
std::optional<Complex> literal(std::string text) {
  for (const std::string_view type : {"double", "float", "dace::complex64", "dace::complex128"}) {
    if (!starts_with(text, std::string(type) + "(") || text.back() != ')') continue;
    const auto parts = split(text.substr(type.size() + 1, text.size() - type.size() - 2), ',');
    if (!parts || parts->size() > 2) return std::nullopt;
    const auto re = literal((*parts)[0]);
    const auto im = parts->size() == 2 ? literal((*parts)[1]) : std::optional(Complex(0.0));
    if (!re || !im) return std::nullopt;
    return *re + *im * Complex(0.0, 1.0);
  }
  char* end = nullptr;
  const double v = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return std::nullopt;
  if (*end == 'f') ++end;
  return *end == 0 ? std::optional(Complex(v)) : std::nullopt;
}

// What is left of casts of pointers, and an address-of: "(double*)_b", "(cuDoubleComplex *)&alpha".
std::string operand(std::string text) {
  while (!text.empty() && text.front() == '(') {
    const std::size_t close = text.find(')');
    if (close == std::string::npos || text[close - 1] != '*') break;
    text = trimmed(text.substr(close + 1));
  }
  if (!text.empty() && text.front() == '&') text = trimmed(text.substr(1));
  return text;
}

std::optional<bool> transposed(const std::string& text) {
  if (text == "CblasNoTrans" || text == "CUBLAS_OP_N") return false;
  if (text == "CblasTrans" || text == "CUBLAS_OP_T") return true;
  return std::nullopt;  // the conjugate is no property of our nodes
}

// Statements that prepare a call or check its result and compute nothing of it.
bool is_set_up(const std::string& s) {
  for (const std::string_view type : {"cublasHandle_t", "cusolverDnHandle_t"}) {
    if (!starts_with(s, type)) continue;
    const std::size_t equals = s.find('=');
    return equals != std::string::npos && starts_with(trimmed(s.substr(equals + 1)), "__state->") &&
           s.find("_handle.Get(") != std::string::npos;
  }
  if (starts_with(s, "int ")) {  // int __dace_workspace_size = 0
    const std::size_t equals = s.find('=');
    return equals != std::string::npos && trimmed(s.substr(equals + 1)) == "0";
  }
  for (const std::string_view type : {"double", "float", "dace::complex64", "dace::complex128"}) {
    if (!starts_with(s, type)) continue;
    const std::string rest = trimmed(s.substr(type.size()));  // a pointer without a value
    if (!rest.empty() && rest.front() == '*')
      return std::all_of(rest.begin() + 1, rest.end(),
                         [](char c) { return is_word(c) || std::isspace(static_cast<unsigned char>(c)) != 0; });
  }
  const auto call = call_in(s);
  if (!call) return false;
  for (const std::string_view callee : {"cublasSetStream", "cublasSetPointerMode", "cusolverDnSetStream", "cudaFree"}) {
    if (call->callee == callee) return true;
  }
  return starts_with(call->callee, "cudaMalloc") ||
         (starts_with(call->callee, "cusolverDn") && ends_with(call->callee, "potrf_bufferSize"));
}

// C = op(A): rows x columns elements, `leading` between columns (or rows, where the order is row-major).
Walk matrix(bool row_major, const std::string& rows, const std::string& columns, const std::string& leading) {
  return row_major ? Walk{{rows, leading}, {columns, "1"}} : Walk{{rows, "1"}, {columns, leading}};
}

class ExpansionRaiser {
 public:
  ExpansionRaiser(const std::string& text, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs)
      : text_(without_comments(text)), inputs_(inputs), outputs_(outputs) {}

  std::optional<RaisedCall> run() {
    // Braces, directives and strings have no place in these forms.
    if (text_.find_first_of("{}#\"?") != std::string::npos) return std::nullopt;
    const auto statements = split(text_, ';');
    if (!statements) return std::nullopt;
    std::optional<RaisedCall> found;
    for (std::string s : *statements) {
      if (s.empty()) continue;
      // dace::blas::CheckCublasError(call)
      if (const auto outer = call_in(s);
          outer && starts_with(outer->callee, "dace::") && ends_with(outer->callee, "Error") && outer->args.size() == 1)
        s = outer->args[0];
      if (is_set_up(s) || declares_factors(s)) continue;
      std::string assigned;
      if (const std::size_t equals = s.find('='); equals != std::string::npos && equals < s.find('(')) {
        assigned = trimmed(s.substr(0, equals));
        s = trimmed(s.substr(equals + 1));
      }
      const auto call = call_in(s);
      if (found || !call) return std::nullopt;
      found = raised(*call, assigned);
      if (!found) return std::nullopt;
    }
    return found;
  }

 private:
  // double alpha = double(2.5), beta = double(0)
  bool declares_factors(const std::string& s) {
    for (const std::string_view type : {"double", "float", "dace::complex64", "dace::complex128"}) {
      if (!starts_with(s, std::string(type) + " ")) continue;
      const auto parts = split(s.substr(type.size() + 1), ',');
      if (!parts) return false;
      for (const std::string& p : *parts) {
        const std::size_t equals = p.find('=');
        if (equals == std::string::npos) return false;
        const auto value = literal(trimmed(p.substr(equals + 1)));
        const std::string name = trimmed(p.substr(0, equals));
        if (!value || name.empty() || !std::all_of(name.begin(), name.end(), is_word)) return false;
        factors_[name] = *value;
      }
      return true;
    }
    return false;
  }

  // A literal, the address of a declared factor, or one of the constants of the vendor library's environment.
  std::optional<Complex> factor(const std::string& text) const {
    if (starts_with(text, "__state->")) {
      if (ends_with(text, "Pone()")) return 1.0;
      if (ends_with(text, "Zero()")) return 0.0;
      return std::nullopt;
    }
    if (const auto it = factors_.find(operand(text)); it != factors_.end()) return it->second;
    return literal(text);
  }

  // The type letter of `prefix` + letter + `operation`.
  static std::optional<ScalarType> letter_of(const std::string& callee, std::string_view prefix,
                                             std::string_view operation) {
    if (callee.size() != prefix.size() + 1 + operation.size() || !starts_with(callee, prefix) ||
        !ends_with(callee, operation))
      return std::nullopt;
    switch (std::tolower(static_cast<unsigned char>(callee[prefix.size()]))) {
      case 's': return ScalarType::kFloat32;
      case 'd': return ScalarType::kFloat64;
      case 'c': return ScalarType::kComplex64;
      case 'z': return ScalarType::kComplex128;
      default: return std::nullopt;
    }
  }

  std::optional<RaisedCall> raised(const Call& c, const std::string& assigned) const {
    const auto& a = c.args;
    const auto is = [&](std::string_view prefix, std::string_view operation, std::size_t arguments) {
      return a.size() == arguments ? letter_of(c.callee, prefix, operation) : std::nullopt;
    };
    const bool row = !a.empty() && (a[0] == "CblasRowMajor" || a[0] == "LAPACK_ROW_MAJOR");
    const bool ordered = row || (!a.empty() && (a[0] == "CblasColMajor" || a[0] == "LAPACK_COL_MAJOR"));
    if (const auto t = is("cblas_", "dot", 5)) {
      return finished(*t, dot(a[0], a[1], a[2], a[3], a[4], assigned));
    }
    if (const auto t = is("LAPACKE_", "potrf", 5); t && ordered) {
      if (!assigned.empty() && !contains(outputs_, assigned)) return std::nullopt;
      return finished(*t, potrf(row, a[1] == "'L'", a[1] == "'U'", a[2], a[3], a[4]));
    }
    if (!assigned.empty()) return std::nullopt;
    if (const auto t = is("cblas_", "gemm", 14); t && ordered) return finished(*t, gemm(row, a));
    if (const auto t = is("cublas", "gemm", 14)) return finished(*t, gemm(false, a));
    if (const auto t = is("cblas_", "gemv", 12); t && ordered) return finished(*t, gemv(row, a));
    if (const auto t = is("cublas", "gemv", 12)) return finished(*t, gemv(false, a));
    if (const auto t = is("cublas", "dot", 7)) return finished(*t, dot(a[1], a[2], a[3], a[4], a[5], operand(a[6])));
    if (const auto t = is("cusolverDn", "potrf", 8)) {
      return finished(
          *t, potrf(false, a[1] == "CUBLAS_FILL_MODE_LOWER", a[1] == "CUBLAS_FILL_MODE_UPPER", a[2], a[3], a[4]));
    }
    if (const auto t = is("cublas", "geam", 13)) {
      // C = op(A) + 0 B with op a transposition; C is rows x columns.
      if (transposed(a[1]) != true || factor(a[5]) != 1.0 || factor(a[8]) != 0.0) return std::nullopt;
      const std::string in = operand(a[6]), out = operand(a[11]);
      return finished(*t, RaisedCall{ir::Transpose{},
                                     {{in, "_inp"}},
                                     {{out, "_out"}},
                                     {},
                                     {{in, matrix(false, a[4], a[3], a[7])}, {out, matrix(false, a[3], a[4], a[12])}},
                                     {}});
    }
    return std::nullopt;
  }

  // order or handle, op(A), op(B), m, n, k, alpha, A, lda, B, ldb, beta, C, ldc
  std::optional<RaisedCall> gemm(bool row_major, const std::vector<std::string>& a) const {
    const auto ta = transposed(a[1]), tb = transposed(a[2]);
    const auto alpha = factor(a[6]), beta = factor(a[11]);
    if (!ta || !tb || !alpha || !beta) return std::nullopt;
    const std::string x = operand(a[7]), y = operand(a[9]), c = operand(a[12]);
    if (x == y) return std::nullopt;  // one connector can't be both operands
    RaisedCall r;
    // Column-major C = A B is row-major C^T = B^T A^T: the operands change places.
    r.op = ir::Gemm{row_major ? *ta : *tb, row_major ? *tb : *ta, *alpha, *beta};
    r.inputs = {{row_major ? x : y, "_a"}, {row_major ? y : x, "_b"}};
    r.outputs = {{c, "_c"}};
    if (*beta != 0.0 && contains(inputs_, c)) r.inputs.emplace(c, "_cin");
    r.walks = {{x, matrix(row_major, *ta ? a[5] : a[3], *ta ? a[3] : a[5], a[8])},
               {y, matrix(row_major, *tb ? a[4] : a[5], *tb ? a[5] : a[4], a[10])},
               {c, matrix(row_major, a[3], a[4], a[13])}};
    return r;
  }

  // order or handle, op(A), m, n, alpha, A, lda, x, incx, beta, y, incy; A is m x n whatever op is
  std::optional<RaisedCall> gemv(bool row_major, const std::vector<std::string>& a) const {
    const auto t = transposed(a[1]);
    const auto alpha = factor(a[4]), beta = factor(a[9]);
    if (!t || !alpha || !beta) return std::nullopt;
    const std::string m = operand(a[5]), x = operand(a[7]), y = operand(a[10]);
    if (m == x) return std::nullopt;
    RaisedCall r;
    r.op = ir::Gemv{row_major ? *t : !*t, *alpha, *beta};
    r.inputs = {{m, "_A"}, {x, "_x"}};
    r.outputs = {{y, "_y"}};
    if (*beta != 0.0 && contains(inputs_, y)) r.inputs.emplace(y, "_y");
    r.walks = {
        {m, matrix(row_major, a[2], a[3], a[6])}, {x, {{*t ? a[2] : a[3], a[8]}}}, {y, {{*t ? a[3] : a[2], a[11]}}}};
    return r;
  }

  std::optional<RaisedCall> dot(const std::string& n, const std::string& x_text, const std::string& x_step,
                                const std::string& y_text, const std::string& y_step, const std::string& result) const {
    const std::string x = operand(x_text), y = operand(y_text);
    if (x == y) return std::nullopt;
    RaisedCall r;
    r.op = ir::Dot{};
    r.inputs = {{x, "_x"}, {y, "_y"}};
    r.outputs = {{result, "_result"}};
    r.walks = {{x, {{n, x_step}}}, {y, {{n, y_step}}}, {result, {}}};
    return r;
  }

  // The factorisation works in place: the tasklet's array output is the same memory as its input.
  std::optional<RaisedCall> potrf(bool row_major, bool lower, bool upper, const std::string& n,
                                  const std::string& matrix_text, const std::string& leading) const {
    if (lower == upper) return std::nullopt;
    const std::string m = operand(matrix_text);
    RaisedCall r;
    r.op = ir::Potrf{lower == row_major};  // column-major: the other triangle
    r.inputs = {{m, "_xin"}};
    for (const std::string& o : outputs_) r.outputs.emplace(o, o == "_res" ? "_res" : "_xout");
    r.walks = {{m, matrix(row_major, n, n, leading)}};
    r.in_place = m;
    return r;
  }

  // Every operand is a connector of the tasklet and every connector is an operand.
  std::optional<RaisedCall> finished(ScalarType type, std::optional<RaisedCall> r) const {
    if (!r || r->inputs.size() != inputs_.size() || r->outputs.size() != outputs_.size()) return std::nullopt;
    for (const auto& [connector, ours] : r->inputs) {
      if (!contains(inputs_, connector)) return std::nullopt;
    }
    for (const auto& [connector, ours] : r->outputs) {
      if (!contains(outputs_, connector)) return std::nullopt;
    }
    r->type = type;
    return r;
  }

  static bool contains(const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  }

  std::string text_;
  const std::vector<std::string>& inputs_;
  const std::vector<std::string>& outputs_;
  std::map<std::string, Complex> factors_;
};

}  // namespace

std::optional<RaisedCall> raise_expansion(const std::string& text, const std::vector<std::string>& inputs,
                                          const std::vector<std::string>& outputs) {
  return ExpansionRaiser(text, inputs, outputs).run();
}

bool walks_alike(const Walk& walk, const ir::Subset& subset, const std::vector<symbolic::Expr>& strides) {
  if (strides.size() != subset.rank()) return false;
  using Dimension = std::pair<symbolic::Expr, symbolic::Expr>;
  const auto is = [](const symbolic::Expr& a, const symbolic::Expr& b) {
    return a == b || symbolic::is_equal(a, b, symbolic::Facts()) == symbolic::Truth::kYes;
  };
  std::vector<Dimension> moved, wanted;
  for (std::size_t d = 0; d < subset.rank(); ++d) {
    // Not size(), which is zero where the difference is negative: no call has negative extents either.
    const symbolic::Range& r = subset[d];
    const symbolic::Expr extent = r.step.is_one() ? r.end - r.begin + 1 : r.size();
    if (!is(extent, 1)) moved.emplace_back(extent, strides[d] * r.step);
  }
  for (const auto& [extent, distance] : walk) {
    try {
      Dimension d{symbolic::parse_python(extent), symbolic::parse_python(distance)};
      if (!is(d.first, 1)) wanted.push_back(std::move(d));
    } catch (const Error&) {
      return false;  // an expression of C++ that is none of ours
    }
  }
  if (moved.size() != wanted.size()) return false;
  return std::is_permutation(moved.begin(), moved.end(), wanted.begin(), [&](const Dimension& a, const Dimension& b) {
    return is(a.first, b.first) && is(a.second, b.second);
  });
}

}  // namespace sdfg::io
