// Correct kernels on the emulated device: every word of the vocabulary, under every schedule.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "kernels.hpp"

using namespace sdfg;
using namespace sdfg::test;

namespace {

constexpr Schedule kSchedules[] = {Schedule::kForward, Schedule::kReverse, Schedule::kRandom};

Settings all_checks(Schedule schedule, std::uint64_t seed = 1) {
  Settings settings;
  settings.schedule = schedule;
  settings.seed = seed;
  settings.races = true;
  settings.uninitialised = true;
  return settings;
}

std::vector<float> iota(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

}  // namespace

TEST_CASE("a guarded kernel scales arrays of any extent") {
  for (const Schedule schedule : kSchedules) {
    Emulator& device = emulator(all_checks(schedule));
    Program p = make_program(device, {{"scale",
                                       {"float* A", "float a", "int n"},
                                       "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                       "  if (i < n) A[i] = a * A[i];"}});
    for (const std::size_t n : {1u, 31u, 128u, 129u, 1009u}) {
      const Array<float> a(device, iota(n));
      launch(device, p.kernel(), shape((static_cast<std::int64_t>(n) + 127) / 128, 128), a.data(), 3.0f,
             static_cast<int>(n));
      CHECK(fault_of(device).empty());
      const std::vector<float> values = a.read();
      for (std::size_t i = 0; i < n; ++i) REQUIRE(values[i] == 3.0f * static_cast<float>(i + 1));
    }
  }
}
