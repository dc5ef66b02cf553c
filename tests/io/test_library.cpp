// Library nodes in files: class paths, properties and connectors of every kind, and what a dialect lacks.
#include "file.hpp"

namespace test_library {

using namespace sdfg;
using namespace sdfg::test;

namespace {

constexpr ScalarType kF = ScalarType::kFloat64;

struct Case {
  ir::LibraryOp op;
  std::vector<std::string> inputs, outputs;
  std::string class_name;
  bool in_v1 = true;
};

std::vector<Case> cases() {
  using namespace ir;
  std::vector<Case> all;
  const std::vector<std::string> ab{"_a = A", "_b = B"};
  all.push_back({MatMul{}, ab, {"_c = C"}, "blas.nodes.matmul.MatMul"});
  all.push_back({Gemm{true, false, 2.0, 0.0}, ab, {"_c = C"}, "blas.nodes.gemm.Gemm"});
  all.push_back(
      {Gemm{false, true, {1.0, -2.5}, 1.5}, {"_a = A", "_b = B", "_cin = D"}, {"_c = C"}, "blas.nodes.gemm.Gemm"});
  all.push_back({BatchedMatMul{false, true, 1.0, 0.0}, ab, {"_c = C"}, "blas.nodes.batched_matmul.BatchedMatMul"});
  all.push_back({Gemv{true, 0.5, 0.0}, {"_A = A", "_x = x"}, {"_y = y"}, "blas.nodes.gemv.Gemv"});
  all.push_back({Ger{3.0}, {"_x = x", "_y = y", "_A = A"}, {"_res = C"}, "blas.nodes.ger.Ger"});
  all.push_back({Dot{}, {"_x = x", "_y = y"}, {"_result = s"}, "blas.nodes.dot.Dot"});
  all.push_back({Axpy{-0.25}, {"_x = x", "_y = y"}, {"_res = z"}, "blas.nodes.axpy.Axpy"});
  all.push_back({Syrk{true, false, 2.0, 0.0}, {"_a = A"}, {"_c = C"}, "blas.nodes.syrk.Syrk", false});
  all.push_back({Einsum{"ij,jk->ik", 1.0, 0.0}, ab, {"_c = C"}, "blas.nodes.einsum.Einsum"});
  all.push_back({Reduce{ReduceOp::kMax, {}, {1}, tasklet::Value::floating(-std::numeric_limits<double>::infinity())},
                 {"_in = A"},
                 {"_out = x"},
                 "standard.nodes.reduce.Reduce"});
  all.push_back(
      {Reduce{ReduceOp::kSum, {}, {}, std::nullopt}, {"_in = A"}, {"_out = s"}, "standard.nodes.reduce.Reduce"});
  all.push_back({Reduce{ReduceOp::kMin, {}, {0, 1}, tasklet::Value::integer(std::numeric_limits<std::int64_t>::max())},
                 {"_in = A"},
                 {"_out = s"},
                 "standard.nodes.reduce.Reduce"});
  all.push_back({Copy{}, {"_in = A"}, {"_out = B"}, "standard.nodes.copy_node.CopyLibraryNode", false});
  all.push_back(
      {Fill{tasklet::Value::floating(0.5)}, {}, {"_out = B"}, "standard.nodes.fill_node.FillLibraryNode", false});
  all.push_back({Transpose{}, {"_inp = A"}, {"_out = B"}, "nodes.transpose.Transpose"});
  all.push_back({TensorTranspose{{1, 0}, 1.0, 0.0},
                 {"_inp_tensor = A"},
                 {"_out_tensor = B"},
                 "nodes.ttranspose.TensorTranspose"});
  all.push_back({TensorDot{{1}, {0}, {1, 0}},
                 {"_left_tensor = A", "_right_tensor = B"},
                 {"_out_tensor = C"},
                 "linalg.nodes.tensordot.TensorDot"});
  all.push_back({Cholesky{false}, {"_a = A"}, {"_b = B"}, "linalg.nodes.cholesky.Cholesky"});
  all.push_back({Potrf{true}, {"_xin = A"}, {"_xout = B", "_res = i"}, "lapack.nodes.potrf.Potrf"});
  all.push_back({Getrf{}, {"_xin = A"}, {"_xout = B", "_ipiv = p", "_res = i"}, "lapack.nodes.getrf.Getrf"});
  all.push_back(
      {Getrs{}, {"_a = A", "_ipiv = p", "_rhs_in = B"}, {"_rhs_out = C", "_res = i"}, "lapack.nodes.getrs.Getrs"});
  all.push_back({Solve{}, {"_ain = A", "_bin = B"}, {"_bout = C"}, "linalg.nodes.solve.Solve"});
  all.push_back({Inv{true}, {"_ain = A"}, {"_aout = B"}, "linalg.nodes.inv.Inv"});
  all.push_back({Fft{true, 3, false}, {"_inp = cx"}, {"_out = cy"}, "fft.nodes.fft.IFFT"});
  all.push_back({Csrmv{1.0, 0.0, false},
                 {"_a_rows = r", "_a_cols = p", "_a_vals = x", "_b = y"},
                 {"_c = z"},
                 "sparse.nodes.csrmv.CSRMV"});
  all.push_back({Csrmm{2.0, 0.0, false, true},
                 {"_a_rows = r", "_a_cols = p", "_a_vals = x", "_b = A"},
                 {"_c = B"},
                 "sparse.nodes.csrmm.CSRMM"});
  all.push_back({Scan{ReduceOp::kProduct, true, 1}, {"_in = A"}, {"_out = B"}, "sdfg.nodes.Scan"});
  all.push_back({ArgReduce{false, 1}, {"_in = A"}, {"_idx = p"}, "sdfg.nodes.ArgReduce"});
  all.push_back({UnknownLibrary{"somebody.nodes.Strange", R"({"label":"odd","name":"odd","weight":[1,"$N"]})"},
                 {"in1 = A"},
                 {"out1 = B"},
                 "somebody.nodes.Strange"});
  return all;
}

Maker with(const Case& c) {
  Maker m("library");
  m.symbol("N");
  for (const char* name : {"A", "B", "C", "D"}) m.array(name, kF, "N, N");
  for (const char* name : {"x", "y", "z"}) m.array(name, kF, "N");
  for (const char* name : {"cx", "cy"}) m.array(name, ScalarType::kComplex128, "N");
  for (const char* name : {"p", "r"}) m.array(name, ScalarType::kInt32, "N");
  m.array("i", ScalarType::kInt32, "1");
  m.array("s", kF, "1");
  m.library(m.body(), c.op, c.inputs, c.outputs).implementation = "pure";
  return m;
}

}  // namespace

TEST_CASE("library nodes of every kind read back as themselves") {
  for (const Case& c : cases()) {
    INFO(c.class_name);
    const Maker m = with(c);
    const Json node = only(json_of(m.g), "LibraryNode");
    const std::string path = node.at("classpath");
    CHECK(path.ends_with(c.class_name));
    CHECK(node.at("attributes").at("implementation") == "pure");
    CHECK(ir::digest(read_back(m.g)) == ir::digest(read_back(read_back(m.g))));
    const ir::Graph again = read_back(m.g);
    const auto& s = std::get<ir::State>(again.body.items.at(0)->kind);
    for (const ir::Node& n : s.nodes) {
      if (const auto* l = std::get_if<ir::Library>(&n.kind)) {
        CHECK(l->op.index() == c.op.index());
        CHECK(l->implementation == "pure");
      }
    }
    // Nothing of the node is lost: only its order among the nodes of its state may change.
    const auto normal = [](const ir::Graph& g) { return ir::digest(read_back(g)); };
    CHECK(normal(m.g) == ir::digest(again));
  }
}

TEST_CASE("the release refuses nodes that it lacks and names them") {
  for (const Case& c : cases()) {
    INFO(c.class_name);
    const Maker m = with(c);
    if (c.in_v1) {
      CHECK(ir::digest(read_back(m.g, SdfgDialect::kV1)) == ir::digest(read_back(m.g)));
      continue;
    }
    try {
      written(m.g, SdfgDialect::kV1);
      FAIL("written");
    } catch (const Error& e) {
      CHECK(e.error_class() == ErrorClass::kGraph);
      CHECK(e.message().find("1.0.2") != std::string::npos);
    }
  }
}

TEST_CASE("a reduction's identity is a string for main and a number for the release") {
  Maker m("identity");
  m.array("A", kF, "4");
  m.array("s", kF, "1");
  m.library(m.body(), ir::Reduce{ir::ReduceOp::kSum, {}, {0}, tasklet::Value::floating(0.0)}, {"_in = A"},
            {"_out = s"});
  CHECK(only(json_of(m.g), "LibraryNode").at("attributes").at("identity") == "0.0");
  CHECK(only(json_of(m.g, SdfgDialect::kV1), "LibraryNode").at("attributes").at("identity").is_number());
}

}  // namespace test_library
