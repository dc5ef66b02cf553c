// Library nodes in the words of DaCe: class path, properties, connector names.
#include <cmath>

#include "io/json_reader.hpp"
#include "io/writer.hpp"

namespace sdfg::io {

namespace {

// The shortest text that is a number in Python.
std::string real_text(double v) {
  if (std::isinf(v)) return v < 0 ? "-oo" : "oo";
  if (std::isnan(v)) return "nan";
  std::string text = Json(v).dump();
  return text;
}
std::string complex_text(std::complex<double> v) {
  const std::string imaginary = real_text(v.imag());
  return "(" + real_text(v.real()) + (imaginary.front() == '-' ? "" : "+") + imaginary + "j)";
}

class Speller {
 public:
  Speller(SdfgDialect dialect, const std::string& what) : dialect_(dialect), what_(what) {}

  LibrarySpelling run(const ir::Library& l) {
    std::visit([&](const auto& op) { operation(op); }, l.op);
    if (std::holds_alternative<ir::Gemm>(l.op)) {
      const auto& gemm = std::get<ir::Gemm>(l.op);
      bool has = false;
      for (const std::string& c : l.inputs) has = has || c == "_cin";
      if (gemm.beta != 0.0 && !has) a_["cin"] = false;
    }
    out_.properties = a_.dump();
    return std::move(out_);
  }

 private:
  void path(const std::string& p) { out_.class_path = "dace.libraries." + p; }
  void not_in_v1() const {
    if (dialect_ == SdfgDialect::kV1)
      throw Error(ErrorClass::kGraph, what_ + " is a library node that DaCe 1.0.2 does not have", {},
                  "write it for main, or expand it first");
  }
  void number(const char* key, std::complex<double> v, double fallback) {
    if (v == fallback) return;
    if (v.imag() != 0.0) {
      a_[key] = complex_text(v);
    } else if (!std::isfinite(v.real())) {
      a_[key] = real_text(v.real());
    } else if (v.real() == std::floor(v.real()) && std::fabs(v.real()) < 1e15 && !std::signbit(v.real())) {
      a_[key] = static_cast<std::int64_t>(v.real());
    } else {
      a_[key] = v.real();
    }
  }
  template <typename O>
  void scaled(const O& o) {
    number("alpha", o.alpha, 1.0);
    number("beta", o.beta, 0.0);
  }
  void flag(const char* key, bool v, bool fallback) {
    if (v != fallback) a_[key] = v;
  }
  static Json exact(const tasklet::Value& v) {
    if (is_complex(v.type())) return complex_text(v.as_complex());
    if (is_floating(v.type())) {
      const double d = v.as_double();
      return std::isfinite(d) ? Json(d) : Json(real_text(d));
    }
    if (v.type() == ScalarType::kUInt64) return static_cast<std::uint64_t>(v.as_int());
    if (v.type() == ScalarType::kBool) return v.as_bool() ? 1 : 0;
    return v.as_int();
  }

  void operation(const ir::MatMul&) { path("blas.nodes.matmul.MatMul"); }
  void operation(const ir::Gemm& o) {
    path("blas.nodes.gemm.Gemm");
    scaled(o);
    flag("transA", o.trans_a, false);
    flag("transB", o.trans_b, false);
    out_.inputs["_cin"] = "_c";
  }
  void operation(const ir::BatchedMatMul& o) {
    path("blas.nodes.batched_matmul.BatchedMatMul");
    scaled(o);
    flag("transA", o.trans_a, false);
    flag("transB", o.trans_b, false);
  }
  void operation(const ir::Gemv& o) {
    path("blas.nodes.gemv.Gemv");
    scaled(o);
    flag("transA", o.trans_a, false);
  }
  void operation(const ir::Ger& o) {
    path("blas.nodes.ger.Ger");
    number("alpha", o.alpha, 1.0);
  }
  void operation(const ir::Dot&) { path("blas.nodes.dot.Dot"); }
  void operation(const ir::Axpy& o) {
    path("blas.nodes.axpy.Axpy");
    a_["a"] = o.a.imag() == 0.0 ? real_text(o.a.real()) : complex_text(o.a);
  }
  void operation(const ir::Syrk& o) {
    not_in_v1();
    path("blas.nodes.syrk.Syrk");
    scaled(o);
    flag("trans", o.trans, false);
    flag("lower", o.lower, true);
  }
  void operation(const ir::Einsum& o) {
    path("blas.nodes.einsum.Einsum");
    a_["einsum_str"] = o.equation;
    scaled(o);
  }
  void operation(const ir::Reduce& o) {
    path("standard.nodes.reduce.Reduce");
    a_["wcr"] = spell_wcr(o.op, o.custom);
    if (!o.axes.empty()) a_["axes"] = o.axes;
    if (o.identity) {
      Json value = exact(*o.identity);
      if (dialect_ == SdfgDialect::kV2 && !value.is_string()) value = value.dump();
      a_["identity"] = std::move(value);
    }
    out_.inputs["_in"] = "";
    out_.outputs["_out"] = "";
  }
  void operation(const ir::Copy&) {
    not_in_v1();
    path("standard.nodes.copy_node.CopyLibraryNode");
    out_.inputs["_in"] = "_cpy_in";
    out_.outputs["_out"] = "_cpy_out";
  }
  void operation(const ir::Fill& o) {
    not_in_v1();
    path("standard.nodes.fill_node.FillLibraryNode");
    a_["value"] = exact(o.value);
    out_.outputs["_out"] = "_fill_out";
  }
  void operation(const ir::Transpose&) {
    path(dialect_ == SdfgDialect::kV1 ? "standard.nodes.transpose.Transpose" : "linalg.nodes.transpose.Transpose");
  }
  void operation(const ir::TensorTranspose& o) {
    path(dialect_ == SdfgDialect::kV1 ? "standard.nodes.ttranspose.TensorTranspose"
                                      : "linalg.nodes.ttranspose.TensorTranspose");
    a_["axes"] = o.axes;
    scaled(o);
  }
  void operation(const ir::TensorDot& o) {
    path("linalg.nodes.tensordot.TensorDot");
    a_["left_axes"] = o.left_axes;
    a_["right_axes"] = o.right_axes;
    if (!o.permutation.empty()) a_["permutation"] = o.permutation;
  }
  void operation(const ir::Cholesky& o) {
    path("linalg.nodes.cholesky.Cholesky");
    a_["lower"] = o.lower;
  }
  void operation(const ir::Potrf& o) {
    path("lapack.nodes.potrf.Potrf");
    a_["lower"] = o.lower;
  }
  void operation(const ir::Getrf&) { path("lapack.nodes.getrf.Getrf"); }
  void operation(const ir::Getrs&) { path("lapack.nodes.getrs.Getrs"); }
  void operation(const ir::Solve&) { path("linalg.nodes.solve.Solve"); }
  void operation(const ir::Inv& o) {
    path("linalg.nodes.inv.Inv");
    flag("overwrite", o.overwrite_a, false);
  }
  void operation(const ir::Fft& o) {
    path(std::string("fft.nodes.fft.") + (o.inverse ? "IFFT" : "FFT"));
    if (o.scale_by_length)
      throw Error(ErrorClass::kGraph, what_ + " divides by its length, which can't be written yet", {},
                  "scale the result in a map instead");
    if (!o.factor.is_one()) {
      if (!o.factor.is_integer())
        throw Error(ErrorClass::kGraph, what_ + " has the factor " + o.factor.str() + "; only numbers can be written");
      a_["factor"] = std::to_string(o.factor.value());
    }
  }
  void operation(const ir::Csrmv& o) {
    path("sparse.nodes.csrmv.CSRMV");
    scaled(o);
    flag("transA", o.trans, false);
  }
  void operation(const ir::Csrmm& o) {
    path("sparse.nodes.csrmm.CSRMM");
    scaled(o);
    flag("transA", o.trans_a, false);
    flag("transB", o.trans_b, false);
  }
  // Kinds of our own: DaCe does not have them, we read them back.
  void operation(const ir::Scan& o) {
    out_.class_path = "sdfg.nodes.Scan";
    a_["wcr"] = spell_wcr(o.op, {});
    flag("exclusive", o.exclusive, false);
    if (o.axis != 0) a_["axis"] = o.axis;
  }
  void operation(const ir::ArgReduce& o) {
    out_.class_path = "sdfg.nodes.ArgReduce";
    flag("maximum", o.maximum, true);
    if (o.axis) a_["axis"] = *o.axis;
  }
  void operation(const ir::UnknownLibrary& o) {
    out_.class_path = o.class_path;
    a_ = Json::parse(o.json);
  }

  SdfgDialect dialect_;
  const std::string& what_;
  Json a_ = Json::object();
  LibrarySpelling out_;
};

}  // namespace

LibrarySpelling spell_library(const ir::Library& l, SdfgDialect dialect, const std::string& what) {
  return Speller(dialect, what).run(l);
}

std::string spell_wcr(ir::ReduceOp op, const tasklet::Expr& custom) {
  const auto lambda = [](const std::string& value) { return "(lambda x, y: " + value + ")"; };
  switch (op) {
    case ir::ReduceOp::kSum: return lambda("(x + y)");
    case ir::ReduceOp::kProduct: return lambda("(x * y)");
    case ir::ReduceOp::kMin: return lambda("min(x, y)");
    case ir::ReduceOp::kMax: return lambda("max(x, y)");
    case ir::ReduceOp::kBitAnd: return lambda("(x & y)");
    case ir::ReduceOp::kBitOr: return lambda("(x | y)");
    case ir::ReduceOp::kBitXor: return lambda("(x ^ y)");
    case ir::ReduceOp::kLogicalAnd: return lambda("(x and y)");
    case ir::ReduceOp::kLogicalOr: return lambda("(x or y)");
    case ir::ReduceOp::kLogicalXor: return lambda("(x != y)");
    case ir::ReduceOp::kExchange: return lambda("y");
    case ir::ReduceOp::kCustom: return "(lambda a, b: " + tasklet::to_python(custom) + ")";
  }
  return {};
}

}  // namespace sdfg::io
