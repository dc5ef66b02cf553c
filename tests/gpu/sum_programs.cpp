// Device programs: accumulations into one element, some elements, axes.
#include "program_groups.hpp"

namespace sdfg::test {

namespace {

// All of A into one element of S.
Program whole_reduction(const std::string& op, const Type& type, double tolerance = 0) {
  return {"reduce " + op + " " + type.str(),
          [=](Gpu& m) {
            m.in("A", type, "M, N");
            m.inout("S", type, "1");
            symbols(m, {"M", "N"});
            // Factors near one: no order of them overflows.
            const bool factors = op == "product" && is_floating(type.scalar());
            m.tasklet(m.kernel("i, j", "0:M, 0:N"), factors ? "o = 1 + a / 256" : "o = a", {"a = gA[i, j]"},
                      {"o = gS[0] | " + op});
          },
          tolerance};
}

Program atomics(const std::string& op, const Type& type, double tolerance = 0) {
  return {"scatter " + op + " " + type.str(),
          [=](Gpu& m) {
            m.in("A", type, "N");
            m.inout("S", type, "7");
            symbols(m, {"N"});
            m.tasklet(m.kernel("i", "0:N"), "o = a", {"a = gA[i]"}, {"o = gS[i % 7] | " + op});
          },
          tolerance};
}

}  // namespace

std::vector<Program> sum_programs() {
  std::vector<Program> p;
  const Add add{p};
  // ---- accumulations
  for (const char* op : {"sum", "product", "min", "max"}) {
    p.push_back(whole_reduction(op, kF64, kSums));
    p.push_back(whole_reduction(op, kF32, kSums));
    p.push_back(whole_reduction(op, kI32));
  }
  for (const char* op : {"band", "bor", "bxor"}) p.push_back(whole_reduction(op, kI64));
  for (const char* op : {"or", "xor"}) p.push_back(whole_reduction(op, ScalarType::kBool));
  p.push_back(whole_reduction("sum", ScalarType::kComplex128, kSums));
  p.push_back(whole_reduction("and", ScalarType::kBool));
  p.push_back(whole_reduction("sum", ScalarType::kUInt8));
  for (const char* op : {"sum", "min", "max"}) {
    p.push_back(atomics(op, kF64, kSums));
    p.push_back(atomics(op, ScalarType::kInt16));
  }
  for (const char* op : {"product", "band", "bor", "bxor", "and", "or", "xor"}) p.push_back(atomics(op, kI32));
  p.push_back(atomics("sum", ScalarType::kComplex64, kSums));
  p.push_back(atomics("custom max(a, b) + 0", kI64));
  add("exchange", [](Gpu& m) {
    m.inout("S", kI64, "7");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "0:N"), "o = 5", {}, {"o = gS[i % 7] | exchange"});
  });
  add(
      "row sums",
      [](Gpu& m) {
        m.in("A", kF64, "M, N");
        m.inout("S", kF64, "M");
        symbols(m, {"M", "N"});
        m.tasklet(m.kernel("i, j", "0:M, 0:N"), "o = a", {"a = gA[i, j]"}, {"o = gS[i] | sum"});
      },
      kSums);
  add(
      "column sums",
      [](Gpu& m) {
        m.in("A", kF64, "M, N");
        m.inout("S", kF64, "N");
        symbols(m, {"M", "N"});
        m.tasklet(m.kernel("i, j", "0:M, 0:N"), "o = a", {"a = gA[i, j]"}, {"o = gS[j] | sum"});
      },
      kSums);
  add("private accumulation", [](Gpu& m) {
    m.in("A", kF64, "N");
    m.inout("S", kF64, "N");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "0:N"), "o = a", {"a = gA[i]"}, {"o = gS[N - 1 - i] | sum"});
  });
  add(
      "matrix product",
      [](Gpu& m) {
        m.in("A", kF64, "M, K");
        m.in("B", kF64, "K, N");
        m.inout("C", kF64, "M, N");
        symbols(m, {"N", "M", "K"});
        m.tasklet(m.kernel("i, j, k", "0:M, 0:N, 0:K"), "o = a * b", {"a = gA[i, k]", "b = gB[k, j]"},
                  {"o = gC[i, j] | sum"});
      },
      kSums);
  add(
      "matrix product with a loop inside",
      [](Gpu& m) {
        m.in("A", kF64, "M, K");
        m.in("B", kF64, "K, N");
        m.inout("C", kF64, "M, N");
        symbols(m, {"N", "M", "K"});
        auto& k = m.kernel("i, j", "0:M, 0:N");
        m.tasklet(m.map(k, "k", "0:K"), "o = a * b", {"a = gA[i, k]", "b = gB[k, j]"}, {"o = gC[i, j] | sum"});
      },
      kSums);
  add("histogram", [](Gpu& m) {
    m.in("P", kI64, "N");
    m.inout("H", kI64, "10");
    m.assigned("bin");
    symbols(m, {"N"});
    auto& k = m.kernel("i", "0:N");
    m.assign(k, {{"bin", "abs(gP[i]) % 10"}});
    m.tasklet(k, "o = 1", {}, {"o = gH[bin] | sum"});
  });
  // A number is kept, whatever NaN comes before or after it.
  add("minima and maxima among NaN", [](Gpu& m) {
    m.in("A", kF64, "N");
    m.inout("S", kF64, "7");
    m.inout("L", kF64, "7");
    m.inout("T", kF32, "1");
    symbols(m, {"N"});
    m.tasklet(m.kernel("i", "0:N"), "o = sqrt(a) if a < 1 else a", {"a = gA[i]"}, {"o = gS[i % 7] | min"});
    m.tasklet(m.kernel("j", "0:N"), "o = sqrt(a) if a < 1 else a", {"a = gA[j]"}, {"o = gL[j % 7] | max"});
    m.tasklet(m.kernel("k", "0:N"), "o = sqrt(a)", {"a = gA[k]"}, {"o = gT[0] | min"});
  });
  return p;
}

}  // namespace sdfg::test
