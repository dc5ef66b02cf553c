// Decides what is worth a graph, records it, and falls back to single launches where the device refuses.
#include "runtime/repeat.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "runtime/device_program.hpp"

namespace sdfg::runtime {

namespace {

// Measured on an H200 with two jacobi kernels of 128 x 128 per iteration: a plain launch takes 3.2 us; in graphs of g
// kernels one takes 1.30 us + 1 us / g, and 1.02 us + 1 us / g where launches overlap (20: 1.08, 50: 1.04, 250: 1.03).
// Recording takes 2 to 4 us per kernel of the graph. For a loop of K kernels that runs once, graphs of about sqrt(K) /
// 2 would be the cheapest; of four times as many, the recording costs little more, and loops that are called again
// gain. From 256 kernels on nothing is left to gain.
constexpr std::int64_t kFewestPerGraph = 32;
constexpr std::int64_t kMostPerGraph = 256;
// A recording pays from about 60 kernels on; in all below this they are launched one by one.
constexpr std::int64_t kWorthRecording = 128;
// Longer bodies keep the device busy by themselves, and their graphs would take long to make.
constexpr std::size_t kMostLaunches = 512;

// What is recorded may begin while the kernel in front of it, of the same graph, still runs.
enum class Start : std::uint8_t { kOrdinary, kFirstRecorded, kRecorded };

void launch(DeviceProgram& program, device::Stream& stream, const std::vector<KeptLaunch>& launches, Start start) {
  std::vector<void*> arguments;
  bool first = start != Start::kRecorded;
  for (const KeptLaunch& kept : launches) {
    arguments.clear();
    for (const std::size_t at : kept.positions) arguments.push_back(const_cast<std::byte*>(&kept.values[at]));
    device::Launch shape = kept.shape;
    shape.overlapping = start != Start::kOrdinary && !first;
    first = false;
    program.device().launch(stream, program.kernel(kept.kernel), shape, arguments.data(),
                            program.kernel_site(kept.kernel));
  }
}

}  // namespace

KeptLaunch::KeptLaunch(std::int32_t index, const device::Launch& launch, const device::KernelInfo& info,
                       void* const* arguments)
    : kernel(index), shape(launch) {
  constexpr std::size_t kAlignment = 16;
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(info.parameters[i].bytes);
    const std::size_t at = (values.size() + kAlignment - 1) / kAlignment * kAlignment;
    values.resize(at + std::max<std::size_t>(bytes, 1));
    std::memcpy(&values[at], arguments[i], bytes);
    positions.push_back(at);
  }
}

std::int64_t iterations_of_graph(std::int64_t trips, std::int64_t launches) {
  trips = std::max<std::int64_t>(trips, 1);
  launches = std::max<std::int64_t>(launches, 1);
  const double kernels = static_cast<double>(trips) * static_cast<double>(launches);
  const std::int64_t wanted =
      std::clamp(static_cast<std::int64_t>(2 * std::sqrt(kernels)), kFewestPerGraph, kMostPerGraph);
  const std::int64_t about = std::clamp<std::int64_t>(wanted / launches, 1, trips);
  std::int64_t best = about;
  const std::int64_t most = std::max(about, std::min({about + about / 4, kMostPerGraph / launches, trips}));
  for (std::int64_t n = most; n >= about - about / 4; --n) {
    if (trips % n < trips % best || (trips % n == trips % best && n > best)) best = n;
  }
  return best;
}

void Repeater::repeat(DeviceProgram& program, device::Stream& stream, std::vector<KeptLaunch> launches,
                      std::int64_t trips, std::int32_t ordinal) {
  if (launches.empty()) return;
  const Kept* kept = graph_of(program, stream, launches, trips, ordinal);
  if (kept != nullptr) {
    for (; trips >= kept->iterations; trips -= kept->iterations) program.device().launch_graph(stream, *kept->graph);
  }
  const std::vector<KeptLaunch>& rest = kept != nullptr ? kept->launches : launches;
  for (; trips > 0; --trips) launch(program, stream, rest, Start::kOrdinary);
}

const Repeater::Kept* Repeater::graph_of(DeviceProgram& program, device::Stream& stream,
                                         std::vector<KeptLaunch>& launches, std::int64_t trips, std::int32_t ordinal) {
  if (launches.size() > kMostLaunches) return nullptr;
  // A graph launched while the application records the stream would break its recording; single launches become part of
  // it.
  if (program.device().is_capturing(stream)) return nullptr;
  const auto found = kept_.find(ordinal);
  if (found != kept_.end() && found->second.launches == launches) {
    if (found->second.graph == nullptr) return nullptr;
    if (found->second.iterations <= trips) return &found->second;
  }
  const auto count = static_cast<std::int64_t>(launches.size());
  if (program.graphs() == Toggle::kAuto && trips < (kWorthRecording + count - 1) / count) return nullptr;
  Kept made;
  made.iterations = iterations_of_graph(trips, count);
  try {
    made.graph = record(program, launches, made.iterations);
  } catch (const Error& error) {
    if (program.device().lost()) throw;
    // What is wrong with a launch itself, the launches one by one will tell.
    log(Logger::kDevice, LogLevel::kWarning,
        "a loop's kernels could not be recorded and are launched one by one: " + error.message());
  }
  made.launches = std::move(launches);
  Kept& kept = kept_[ordinal] = std::move(made);
  if (kept.graph != nullptr) return &kept;
  launches = kept.launches;
  return nullptr;
}

std::unique_ptr<device::Graph> Repeater::record(DeviceProgram& program, const std::vector<KeptLaunch>& launches,
                                                std::int64_t iterations) {
  device::Device& on = program.device();
  if (!recorder_) recorder_ = on.make_stream();
  on.begin_capture(*recorder_);
  try {
    for (std::int64_t i = 0; i < iterations; ++i)
      launch(program, *recorder_, launches, i == 0 ? Start::kFirstRecorded : Start::kRecorded);
  } catch (...) {
    try {
      (void)on.end_capture(*recorder_);
    } catch (const Error&) {
      // The launch's own error says more.
    }
    throw;
  }
  return on.end_capture(*recorder_);
}

void Repeater::clear() noexcept {
  kept_.clear();
  recorder_.reset();
}

}  // namespace sdfg::runtime
