// Device programs: types of elements, ranks and shapes of maps.
#include "program_groups.hpp"

namespace sdfg::test {

namespace {

// One kernel over whole arrays: A (and B) in, C out.
Program elementwise(const std::string& name, const std::string& code, const Type& type, double tolerance = 0) {
  return {name,
          [=](Gpu& m) {
            m.in("A", type, "N");
            m.in("B", type, "N");
            m.inout("C", type, "N");
            symbols(m, {"N"});
            m.tasklet(m.kernel("i", "0:N"), code, {"a = gA[i]", "b = gB[i]"}, {"o = gC[i]"});
          },
          tolerance};
}

// A map of some rank with a distinct value per point.
Program ranked(int rank) {
  return {"rank " + std::to_string(rank), [=](Gpu& m) {
            static const char* const kShapes[] = {"", "N", "M, N", "K, M, N", "2, K, 3, N", "2, 3, K, 2, N"};
            static const char* const kParams[] = {"", "i", "i, j", "i, j, k", "i, j, k, l", "i, j, k, l, o"};
            const std::string shape = kShapes[rank], params = kParams[rank];
            m.inout("C", kI64, shape);
            symbols(m, {"N", "M", "K"});
            std::string ranges, index, value;
            for (const auto& e : Maker::extents(shape)) ranges += (ranges.empty() ? "0:" : ", 0:") + e.str();
            std::int64_t weight = 1;
            for (const char c : params) {
              if (c == ',' || c == ' ') continue;
              value += std::string(value.empty() ? "" : " + ") + c + " * " + std::to_string(weight);
              weight *= 1000;
            }
            m.tasklet(m.kernel(params, ranges), "r = c + " + value, {"c = gC[" + params + "]"},
                      {"r = gC[" + params + "]"});
          }};
}

}  // namespace

std::vector<Program> map_programs() {
  std::vector<Program> p;
  const Add add{p};
  // ---- element-wise, types
  p.push_back(elementwise("axpy", "o = 2.5 * a + b", kF64, 1e-12));
  p.push_back(elementwise("mathematics", "o = sqrt(abs(a)) + sin(b) * exp(-abs(a))", kF64, 1e-9));
  p.push_back(elementwise("float32", "o = a * b - a", kF32, 1e-12));
  p.push_back(elementwise("int32", "o = a * b + a // 3", kI32));
  p.push_back(elementwise("int64 division", "o = (a // 7) * 100 + b % 7", kI64));
  p.push_back(elementwise("int8 wraps", "o = a + b + b", ScalarType::kInt8));
  p.push_back(elementwise("uint16", "o = a * b", ScalarType::kUInt16));
  p.push_back(elementwise("uint64", "o = a * b + 1", ScalarType::kUInt64));
  p.push_back(elementwise("bool", "o = a and not b", ScalarType::kBool));
  p.push_back(elementwise("complex128", "o = a * b + a", ScalarType::kComplex128, 1e-12));
  p.push_back(elementwise("complex64", "o = a * b - b", ScalarType::kComplex64, 1e-12));
  p.push_back(elementwise("select", "o = a if a < b else b", kF64));
  p.push_back(elementwise("minimum and maximum", "o = max(min(a, b), 0.25)", kF64));
  p.push_back(elementwise("several statements", "t = a + b\nif t > 1:\n  t = t - 1\nelse:\n  t = t + b\no = t * t",
                          kF64, 1e-12));
  for (const auto half : {ScalarType::kFloat16, ScalarType::kBFloat16}) {
    add("through " + Type(half).str(), [=](Gpu& m) {
      m.in("A", kF32, "N");
      m.inout("C", kF32, "N");
      symbols(m, {"N"});
      m.device("h", half, "N");
      m.tasklet(m.kernel("i", "0:N"), "o = a * a", {"a = gA[i]"}, {"o = h[i]"});
      m.tasklet(m.kernel("i2", "0:N"), "o = a + 1", {"a = h[i2]"}, {"o = gC[i2]"});
    });
  }

  // ---- ranks and shapes of maps
  for (int rank = 1; rank <= 5; ++rank) p.push_back(ranked(rank));
  add("strided map", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "1:N:3"), "o = i", {}, {"o = gC[i]"});
  });
  add("strided map of two dimensions", [](Gpu& m) {
    m.inout("C", kI64, "M, N");
    symbols(m, {"M", "N"});
    m.tasklet(m.kernel("i, j", "0:M:2, 1:N:3"), "o = 1000 * i + j", {}, {"o = gC[i, j]"});
  });
  add("triangle", [](Gpu& m) {
    m.inout("C", kI64, "M, M");
    symbols(m, {"M"});
    m.tasklet(m.kernel("i, j", "0:M, 0:i + 1"), "o = 1000 * i + j", {}, {"o = gC[i, j]"});
  });
  add("upper triangle", [](Gpu& m) {
    m.inout("C", kI64, "M, M");
    symbols(m, {"M"});
    m.tasklet(m.kernel("i, j", "0:M, i:M"), "o = 1000 * i + j", {}, {"o = gC[i, j]"});
  });
  add("tetrahedron", [](Gpu& m) {
    m.inout("C", kI64, "9, 9, 9");
    m.symbol("N");
    m.tasklet(m.kernel("i, j, k", "0:9, 0:i + 1, j:i + 1"), "o = 100 * i + 10 * j + k + N", {}, {"o = gC[i, j, k]"});
  });
  add("negative extent", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "5:3"), "o = 1", {}, {"o = gC[i]"});
    m.tasklet(m.kernel("j", "0:N - 4"), "o = j", {}, {"o = gC[j]"});
  });
  add("symbolic step", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N", "K"});
    m.tasklet(m.kernel("i", "0:N:K"), "o = i", {}, {"o = gC[i]"});
  });
  add("uses of coordinates beyond 32 bits", [](Gpu& m) {
    m.inout("C", kI64, "N");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "0:N"), "o = (i + 1) * 3000000000", {}, {"o = gC[i]"});
  });
  return p;
}

}  // namespace sdfg::test
