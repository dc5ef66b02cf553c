// Finds the vendor call in the text, splits its arguments and translates column-major conventions to the row-major ones
// of our nodes.
#include "io/raise_expansions.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace sdfg::io {

namespace {

bool word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string trimmed(std::string s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.erase(s.begin());
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.pop_back();
  return s;
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

struct Call {
  std::string callee;
  char letter = 0;  // s, d, c, z
  std::vector<std::string> args;
  std::string assigned_to;  // `name = callee(...)`
};

// The arguments of the call whose opening parenthesis is at `open`; nothing if it is not closed.
std::optional<std::vector<std::string>> arguments_at(const std::string& text, std::size_t open) {
  std::vector<std::string> args(1);
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') {
      if (depth++ == 0) continue;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth == 0) {
        for (std::string& a : args) a = trimmed(a);
        return args;
      }
    } else if (c == ',' && depth == 1) {
      args.emplace_back();
      continue;
    }
    args.back() += c;
  }
  return std::nullopt;
}

// The call of `prefix` + type letter + `operation`.
std::optional<Call> find_call(const std::string& text, std::string_view prefix, std::string_view operation,
                              std::size_t arguments) {
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
    if (at > 0 && word_char(text[at - 1])) continue;
    std::size_t end = at;
    while (end < text.size() && word_char(text[end])) ++end;
    const std::string word = text.substr(at, end - at);
    if (word.size() != prefix.size() + 1 + operation.size() ||
        word.compare(prefix.size() + 1, std::string::npos, operation) != 0)
      continue;
    const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(word[prefix.size()])));
    if (std::string_view("sdcz").find(letter) == std::string_view::npos) continue;
    while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end == text.size() || text[end] != '(') continue;
    auto args = arguments_at(text, end);
    if (!args || args->size() != arguments) continue;
    Call c{word, letter, std::move(*args), {}};
    std::size_t before = at;
    while (before > 0 && std::isspace(static_cast<unsigned char>(text[before - 1])) != 0) --before;
    if (before > 0 && text[before - 1] == '=') {
      --before;
      while (before > 0 && std::isspace(static_cast<unsigned char>(text[before - 1])) != 0) --before;
      std::size_t begin = before;
      while (begin > 0 && word_char(text[begin - 1])) --begin;
      c.assigned_to = text.substr(begin, before - begin);
    }
    return c;
  }
  return std::nullopt;
}

// "double(1)", "1.0", "&alpha" are not all numbers: a factor must be a literal, perhaps in a cast, or one of the
// constants' names.
std::optional<double> factor(std::string text) {
  if (text.find("Pone()") != std::string::npos) return 1.0;
  if (text.find("Zero()") != std::string::npos) return 0.0;
  if (text.find("Mone()") != std::string::npos) return -1.0;
  for (const std::string_view type : {"double", "float", "dace::complex64", "dace::complex128"}) {
    if (text.rfind(std::string(type) + "(", 0) == 0 && text.back() == ')')
      text = text.substr(type.size() + 1, text.size() - type.size() - 2);
  }
  char* end = nullptr;
  const double v = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return std::nullopt;
  while (*end == 'f' || *end == ' ') ++end;
  return *end == 0 ? std::optional(v) : std::nullopt;
}

// A connector behind casts and an address-of.
std::string operand(std::string text) {
  while (!text.empty() && text.front() == '(') {
    const std::size_t close = text.find(')');
    if (close == std::string::npos) break;
    const std::string inside = text.substr(1, close - 1);
    text = inside.find('*') != std::string::npos ? trimmed(text.substr(close + 1))
                                                 : trimmed(inside + text.substr(close + 1));
  }
  if (!text.empty() && text.front() == '&') text = trimmed(text.substr(1));
  return text;
}

std::optional<bool> transposed(const std::string& text) {
  if (text == "CblasNoTrans" || text == "CUBLAS_OP_N") return false;
  if (text == "CblasTrans" || text == "CUBLAS_OP_T") return true;
  return std::nullopt;
}

class Raiser {
 public:
  Raiser(const std::string& text, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs)
      : text_(without_comments(text)), inputs_(inputs), outputs_(outputs) {}

  std::optional<RaisedCall> run() const {
    if (const auto c = find_call(text_, "cblas_", "gemm", 14)) {
      const bool row = c->args[0] == "CblasRowMajor";
      return gemm(row, c->args[1], c->args[2], c->args[6], c->args[7], c->args[9], c->args[11], c->args[12]);
    }
    if (const auto c = find_call(text_, "cublas", "gemm", 14))
      return gemm(false, c->args[1], c->args[2], c->args[6], c->args[7], c->args[9], c->args[11], c->args[12]);
    if (const auto c = find_call(text_, "cblas_", "gemv", 12)) {
      return gemv(c->args[0] == "CblasRowMajor", c->args[1], c->args[4], c->args[5], c->args[7], c->args[9],
                  c->args[10]);
    }
    if (const auto c = find_call(text_, "cublas", "gemv", 12))
      return gemv(false, c->args[1], c->args[4], c->args[5], c->args[7], c->args[9], c->args[10]);
    if (const auto c = find_call(text_, "cblas_", "dot", 5)) return dot(c->args[1], c->args[3], c->assigned_to);
    if (const auto c = find_call(text_, "cublas", "dot", 7)) return dot(c->args[2], c->args[4], operand(c->args[6]));
    if (const auto c = find_call(text_, "LAPACKE_", "potrf", 5)) {
      const bool lower = c->args[1] == "'L'", upper = c->args[1] == "'U'";
      if (!lower && !upper) return std::nullopt;
      return potrf(operand(c->args[3]), lower == (c->args[0] == "LAPACK_ROW_MAJOR"));
    }
    if (const auto c = find_call(text_, "cusolverDn", "potrf", 8)) {
      const bool lower = c->args[1] == "CUBLAS_FILL_MODE_LOWER";
      if (!lower && c->args[1] != "CUBLAS_FILL_MODE_UPPER") return std::nullopt;
      return potrf(operand(c->args[3]), !lower);  // column-major: the other triangle
    }
    if (const auto c = find_call(text_, "cublas", "geam", 13)) {
      // C = op(A) + 0 B with op a transposition.
      const auto a = transposed(c->args[1]);
      if (a != true || factor(c->args[5]) != 1.0 || factor(c->args[8]) != 0.0) return std::nullopt;
      return checked({ir::Transpose{}, {{operand(c->args[6]), "_inp"}}, {{operand(c->args[11]), "_out"}}});
    }
    return std::nullopt;
  }

 private:
  std::optional<RaisedCall> gemm(bool row_major, const std::string& op_a, const std::string& op_b,
                                 const std::string& alpha, const std::string& a, const std::string& b,
                                 const std::string& beta, const std::string& c) const {
    const auto ta = transposed(op_a), tb = transposed(op_b);
    const auto al = factor(alpha), be = factor(beta);
    if (!ta || !tb || !al || !be) return std::nullopt;
    // Column-major C = A B is row-major C^T = B^T A^T: the operands change places.
    ir::Gemm g{row_major ? *ta : *tb, row_major ? *tb : *ta, *al, *be};
    const std::string first = operand(row_major ? a : b), second = operand(row_major ? b : a);
    if (first == second) return std::nullopt;  // one connector can't be both operands
    return checked({g, {{first, "_a"}, {second, "_b"}}, {{operand(c), "_c"}}});
  }

  std::optional<RaisedCall> gemv(bool row_major, const std::string& op, const std::string& alpha, const std::string& a,
                                 const std::string& x, const std::string& beta, const std::string& y) const {
    const auto t = transposed(op);
    const auto al = factor(alpha), be = factor(beta);
    if (!t || !al || !be) return std::nullopt;
    return checked(
        {ir::Gemv{row_major ? *t : !*t, *al, *be}, {{operand(a), "_A"}, {operand(x), "_x"}}, {{operand(y), "_y"}}});
  }

  std::optional<RaisedCall> dot(const std::string& x, const std::string& y, const std::string& result) const {
    if (operand(x) == operand(y)) return std::nullopt;
    return checked({ir::Dot{}, {{operand(x), "_x"}, {operand(y), "_y"}}, {{result, "_result"}}});
  }

  // The factorisation works in place: the tasklet's array output is the same memory as its input.
  std::optional<RaisedCall> potrf(const std::string& matrix, bool lower) const {
    std::map<std::string, std::string> outputs;
    for (const std::string& o : outputs_) outputs.emplace(o, o == "_res" ? "_res" : "_xout");
    return checked({ir::Potrf{lower}, {{matrix, "_xin"}}, std::move(outputs)});
  }

  // Every operand is a connector of the tasklet and every connector is used.
  std::optional<RaisedCall> checked(RaisedCall call) const {
    auto known = [](const std::vector<std::string>& all, const std::string& name) {
      return std::find(all.begin(), all.end(), name) != all.end();
    };
    for (const auto& [connector, ours] : call.inputs) {
      if (!known(inputs_, connector)) return std::nullopt;
    }
    for (const auto& [connector, ours] : call.outputs) {
      if (!known(outputs_, connector)) return std::nullopt;
    }
    for (const std::string& name : outputs_) {
      if (!call.outputs.contains(name)) return std::nullopt;
    }
    return call;
  }

  std::string text_;
  const std::vector<std::string>& inputs_;
  const std::vector<std::string>& outputs_;
};

}  // namespace

std::optional<RaisedCall> raise_expansion(const std::string& text, const std::vector<std::string>& inputs,
                                          const std::vector<std::string>& outputs) {
  return Raiser(text, inputs, outputs).run();
}

namespace {

// "o = -9999.0": the literal that a tasklet without inputs writes.
std::optional<double> written_literal(const dace::Node& n) {
  const auto* t = std::get_if<dace::TaskletNode>(&n.kind);
  if (t == nullptr || !n.inputs.empty() || t->code.language != dace::Language::kPython) return std::nullopt;
  const std::size_t equals = t->code.text.find('=');
  if (equals == std::string::npos) return std::nullopt;
  std::string value = trimmed(t->code.text.substr(equals + 1));
  std::erase_if(value, [](char c) { return c == '(' || c == ')' || c == ' '; });
  char* end = nullptr;
  const double v = std::strtod(value.c_str(), &end);
  return end != value.c_str() && *end == 0 ? std::optional(v) : std::nullopt;
}

}  // namespace

std::optional<RaisedReduction> raise_reduction(const dace::Sdfg& nested) {
  RaisedReduction out;
  const dace::State* kernel = nullptr;
  const dace::Edge *read = nullptr, *write = nullptr;
  std::optional<double> started, first_value;
  bool warp = false;
  for (const dace::Block& b : nested.body.blocks) {
    const auto* s = std::get_if<dace::State>(&b.kind);
    if (s == nullptr) return std::nullopt;
    bool has_warp = false;
    for (const dace::Node& n : s->nodes) {
      const auto* t = std::get_if<dace::TaskletNode>(&n.kind);
      has_warp = has_warp || (t != nullptr && t->code.text.find("dace::warpReduce<") != std::string::npos);
    }
    if (has_warp) {
      if (kernel != nullptr) return std::nullopt;
      kernel = s;
      warp = true;
    } else {
      // Anything else may only set the output to a literal before the kernel.
      for (const dace::Node& n : s->nodes) {
        if (std::holds_alternative<dace::TaskletNode>(n.kind)) started = written_literal(n);
      }
    }
  }
  if (!warp) return std::nullopt;
  for (const dace::Edge& e : kernel->edges) {
    const dace::Node& from = kernel->nodes[static_cast<std::size_t>(e.src)];
    const dace::Node& to = kernel->nodes[static_cast<std::size_t>(e.dst)];
    const dace::Descriptor* d = nested.find(e.memlet.data);
    if (const auto* t = std::get_if<dace::TaskletNode>(&to.kind); t != nullptr && d != nullptr && !d->transient)
      read = &e;
    if (const auto* t = std::get_if<dace::TaskletNode>(&from.kind); t != nullptr && d != nullptr) {
      if (!d->transient)
        write = &e;
      else if (!e.memlet.wcr.empty())
        out.wcr = e.memlet.wcr;
    }
  }
  for (const dace::Node& n : kernel->nodes) {
    if (auto v = written_literal(n)) first_value = v;
  }
  if (read == nullptr || write == nullptr || out.wcr.empty() || !read->memlet.subset || !write->memlet.subset)
    return std::nullopt;
  out.input = read->memlet.data;
  out.output = write->memlet.data;
  // An axis stays if the place that is written depends on what indexes it.
  const symbolic::SymbolSet kept = write->memlet.subset->free_symbols();
  bool all = true;
  for (std::size_t d = 0; d < read->memlet.subset->rank(); ++d) {
    bool stays = false;
    for (const std::string& s : symbolic::free_symbols((*read->memlet.subset)[d].begin))
      stays = stays || kept.contains(s);
    if (!stays)
      out.axes.push_back(static_cast<int>(d));
    else
      all = false;
  }
  if (all) out.axes.clear();
  // A plain write replaces the output; an accumulating one starts from what an earlier state wrote, or from what is
  // there.
  out.identity = write->memlet.wcr.empty() ? first_value : started;
  if (write->memlet.wcr.empty() && !out.identity) return std::nullopt;
  return out;
}

}  // namespace sdfg::io
