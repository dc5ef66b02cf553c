// Library nodes of a file by class path: properties and connector names.
#include <functional>

#include "io/importer.hpp"
#include "io/json_reader.hpp"

namespace sdfg::io {

namespace {

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('.') == std::string::npos ? 0 : path.rfind('.') + 1);
}

std::complex<double> scalar(const Cursor& a, std::string_view key, std::complex<double> fallback) {
  const Json* v = a.find(key);
  if (v == nullptr) return fallback;
  if (v->is_number()) return v->get<double>();
  if (v->is_boolean()) return v->get<bool>() ? 1.0 : 0.0;
  const Cursor c(a, key, *v);
  try {
    const tasklet::Expr e = tasklet::infer_types(
        tasklet::parse_expression(c.text()),
        {[](std::string_view) { return std::nullopt; }, [](std::string_view) { return std::nullopt; }});
    return tasklet::evaluate(e, {}).as_complex();
  } catch (const Error& error) {
    c.fail("'" + c.text() + "' is not a number: " + error.message());
  }
}
bool flag(const Cursor& a, std::string_view key, bool fallback) {
  const Json* v = a.find(key);
  return v == nullptr ? fallback : Cursor(a, key, *v).boolean();
}
std::vector<int> integers(const Cursor& a, std::string_view key) {
  std::vector<int> out;
  if (const Json* v = a.find(key)) {
    const Cursor c(a, key, *v);
    for (std::size_t i = 0; i < c.array().size(); ++i)
      out.push_back(static_cast<int>(Cursor(c, i, c.array()[i]).integer()));
  }
  return out;
}
std::string text(const Cursor& a, std::string_view key) {
  const Json* v = a.find(key);
  return v == nullptr ? std::string() : Cursor(a, key, *v).text();
}
// A number with all its digits: integers stay integers.
tasklet::Value exact(const Cursor& a, std::string_view key, double fallback) {
  const Json* v = a.find(key);
  if (v == nullptr) return tasklet::Value::floating(fallback);
  if (v->is_number_unsigned())
    return tasklet::Value::integer(static_cast<std::int64_t>(v->get<std::uint64_t>()),
                                   v->get<std::uint64_t>() >> 63 != 0 ? ScalarType::kUInt64 : ScalarType::kInt64);
  if (v->is_number_integer()) return tasklet::Value::integer(v->get<std::int64_t>());
  if (v->is_number() || v->is_boolean()) return tasklet::Value::floating(scalar(a, key, fallback).real());
  const Cursor c(a, key, *v);
  try {
    const tasklet::Expr e = tasklet::infer_types(
        tasklet::parse_expression(c.text()),
        {[](std::string_view) { return std::nullopt; }, [](std::string_view) { return std::nullopt; }});
    return tasklet::evaluate(e, {});
  } catch (const Error& error) {
    c.fail("'" + c.text() + "' is not a number: " + error.message());
  }
}

}  // namespace

LibraryTranslation translate_library(const dace::LibraryNode& n, const std::string& path,
                                     const std::function<ir::Wcr(const std::string&)>& wcr,
                                     const std::function<symbolic::Expr(const std::string&)>& expression) {
  const Json json = Json::parse(n.properties);
  const Cursor a(json);
  const std::string kind = last_part(n.class_path);
  const auto alpha = [&] { return scalar(a, "alpha", 1.0); };
  const auto beta = [&] { return scalar(a, "beta", 0.0); };
  LibraryTranslation t;
  auto fail_path = [&](const Error& e) {
    return Error(e.error_class(), e.message() + " (in the library node at " + path + ")");
  };
  try {
    if (kind == "MatMul") {
      const auto al = alpha(), be = beta();
      if (al == 1.0 && be == 0.0)
        t.op = ir::MatMul{};
      else
        t.op = ir::BatchedMatMul{flag(a, "transA", false), flag(a, "transB", false), al, be};
    } else if (kind == "Gemm") {
      t.op = ir::Gemm{flag(a, "transA", false), flag(a, "transB", false), alpha(), beta()};
      t.inputs = {{"_c", "_cin"}};
    } else if (kind == "BatchedMatMul") {
      t.op = ir::BatchedMatMul{flag(a, "transA", false), flag(a, "transB", false), alpha(), beta()};
    } else if (kind == "Gemv") {
      t.op = ir::Gemv{flag(a, "transA", false), alpha(), beta()};
    } else if (kind == "Dot") {
      t.op = ir::Dot{};
    } else if (kind == "Axpy") {
      t.op = ir::Axpy{scalar(a, "a", 1.0)};
    } else if (kind == "Ger") {
      t.op = ir::Ger{alpha()};
    } else if (kind == "Syrk") {
      t.op = ir::Syrk{flag(a, "trans", false), flag(a, "lower", true), alpha(), beta()};
    } else if (kind == "Einsum") {
      t.op = ir::Einsum{text(a, "einsum_str"), alpha(), beta()};
    } else if (kind == "Reduce") {
      ir::Reduce r;
      const ir::Wcr w = wcr(text(a, "wcr"));
      r.op = w.op;
      r.custom = w.custom;
      r.axes = integers(a, "axes");
      if (a.find("identity") != nullptr) r.identity = exact(a, "identity", 0.0);
      t.op = std::move(r);
      t.inputs = {{"", "_in"}};
      t.outputs = {{"", "_out"}};
    } else if (kind == "CopyLibraryNode") {
      t.op = ir::Copy{};
      t.inputs = {{"_cpy_in", "_in"}};
      t.outputs = {{"_cpy_out", "_out"}};
    } else if (kind == "FillLibraryNode") {
      t.op = ir::Fill{exact(a, "value", 0.0)};
      t.outputs = {{"_fill_out", "_out"}};
    } else if (kind == "Transpose") {
      t.op = ir::Transpose{};
    } else if (kind == "TensorTranspose") {
      t.op = ir::TensorTranspose{integers(a, "axes"), alpha(), beta()};
    } else if (kind == "TensorDot") {
      t.op = ir::TensorDot{integers(a, "left_axes"), integers(a, "right_axes"), integers(a, "permutation")};
    } else if (kind == "Cholesky") {
      t.op = ir::Cholesky{flag(a, "lower", true)};
    } else if (kind == "Potrf") {
      t.op = ir::Potrf{flag(a, "lower", true)};
    } else if (kind == "Getrf") {
      t.op = ir::Getrf{};
    } else if (kind == "Getrs") {
      t.op = ir::Getrs{};
    } else if (kind == "Solve") {
      t.op = ir::Solve{};
    } else if (kind == "Inv") {
      t.op = ir::Inv{flag(a, "overwrite", false)};
    } else if (kind == "FFT" || kind == "IFFT") {
      ir::Fft f;
      f.inverse = kind == "IFFT";
      if (const Json* factor = a.find("factor"))
        f.factor = factor->is_string() ? expression(factor->get<std::string>())
                                       : symbolic::Expr(Cursor(a, "factor", *factor).integer());
      t.op = std::move(f);
    } else if (kind == "CSRMV") {
      t.op = ir::Csrmv{alpha(), beta(), flag(a, "transA", false)};
    } else if (kind == "CSRMM") {
      t.op = ir::Csrmm{alpha(), beta(), flag(a, "transA", false), flag(a, "transB", false)};
    } else if (n.class_path == "sdfg.nodes.Scan") {
      t.op = ir::Scan{wcr(text(a, "wcr")).op, flag(a, "exclusive", false),
                      static_cast<int>(a.find("axis") == nullptr ? 0 : Cursor(a, "axis", *a.find("axis")).integer())};
    } else if (n.class_path == "sdfg.nodes.ArgReduce") {
      ir::ArgReduce r{flag(a, "maximum", true), std::nullopt};
      if (const Json* axis = a.find("axis")) r.axis = static_cast<int>(Cursor(a, "axis", *axis).integer());
      t.op = r;
    } else {
      Json kept = json;  // where it stood and which object it was mean nothing in another file
      kept.erase("debuginfo");
      kept.erase("guid");
      t.op = ir::UnknownLibrary{n.class_path, kept.dump()};
    }
  } catch (const Error& e) {
    throw fail_path(e);
  }
  return t;
}

}  // namespace sdfg::io
