// Every device program: interpreted, as maps of the host, on the emulated device under its schedules, stream modes and
// block sizes, on a GPU when there is one; and every kernel through NVRTC.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <sdfg/compile.hpp>
#include <set>
#include <sstream>

#include "codegen/device_text.hpp"
#include "compiled.hpp"
#include "device/emulated/emulator.hpp"
#include "interpret/interpreter.hpp"
#include "ir/validate.hpp"
#include "library/expand.hpp"
#include "lower/host.hpp"
#include "programs.hpp"
#include "support/nvrtc.hpp"
#include "transform/gpu/prepare.hpp"
#include "transform/gpu/to_host.hpp"

namespace test_programs {

using namespace sdfg;
using namespace sdfg::test;
using device::emulated::Emulator;
using Order = device::emulated::Schedule;

namespace {

// SDFG_GPU_ONLY: names (or parts of names) of programs, separated by commas.
bool wanted(const std::string& name) {
  const char* only = std::getenv("SDFG_GPU_ONLY");
  if (only == nullptr || *only == 0) return true;
  std::istringstream list(only);
  for (std::string part; std::getline(list, part, ',');) {
    if (name.find(part) != std::string::npos) return true;
  }
  return false;
}

// What the interpreter makes of a program, by extent.
class Expected {
 public:
  explicit Expected(const Program& p) : program_(p), made_(make(p)) { ir::check(made_.graph); }
  const Made& made() const { return made_; }

  // The first difference of a run, as text.
  std::string compare(std::int64_t n, const std::function<void(Memory&)>& run) {
    auto it = results_.find(n);
    if (it == results_.end()) {
      Memory want = made_.memory(n);
      ir::Graph graph = made_.graph.clone();
      if (program_.value_per_thread) transform::to_host(graph);
      interpret::Instance instance(graph, {});
      for (int call = 0; call < calls(); ++call)
        instance.run(interpret::Arguments::from_packed(made_.graph, want.pack(made_.graph)));
      it = results_.emplace(n, std::move(want)).first;
    }
    Memory got = made_.memory(n);
    for (int call = 0; call < calls(); ++call) run(got);
    return got.difference(it->second, [&](const std::string&) { return program_.tolerance; });
  }

 private:
  int calls() const { return program_.persistent ? 2 : 1; }
  const Program& program_;
  Made made_;
  std::map<std::int64_t, Memory> results_;
};

// Runs `each` for every program and gathers what it says.
std::string for_all(const std::function<std::string(const Program&, Expected&)>& each) {
  std::string failures;
  int count = 0;
  for (const Program& p : programs()) {
    if (!wanted(p.name)) continue;
    ++count;
    try {
      Expected expected(p);
      const std::string failure = each(p, expected);
      if (!failure.empty()) failures += "== " + p.name + ": " + failure + "\n";
    } catch (const std::exception& e) {
      failures += "== " + p.name + ": " + e.what() + "\n";
    }
  }
  CHECK(count > 0);
  return failures;
}

std::string run_extents(Expected& expected, const AnyFunction& f, const std::vector<std::int64_t>& extents,
                        const std::function<void(std::size_t)>& before = {}) {
  for (std::size_t k = 0; k < extents.size(); ++k) {
    if (before) before(k);
    const std::string difference =
        expected.compare(extents[k], [&](Memory& m) { f.call_packed(m.pack(expected.made().graph)); });
    if (!difference.empty()) return "N = " + std::to_string(extents[k]) + ": " + difference;
  }
  return {};
}

Emulator& emulator() {
  return static_cast<Emulator&>(*device::open({DeviceChoice::Kind::kEmulated, 0}));
}

struct Block {
  std::array<int, 3> threads;
  std::vector<std::int64_t> extents;
};
const std::vector<Block>& blocks() {
  static const std::vector<Block> kBlocks = {{{1, 1, 1}, {0, 1, 2, 13}},     {{7, 1, 1}, {0, 6, 7, 8, 37}},
                                             {{32, 1, 1}, {1, 31, 32, 33}},  {{128, 1, 1}, {0, 1, 127, 129}},
                                             {{16, 16, 1}, {0, 15, 16, 17}}, {{5, 3, 2}, {1, 4, 5, 6, 37}}};
  return kBlocks;
}

std::string cuda_text(const ir::Graph& g, const transform::DeviceOptions& options, bool checks = false) {
  ir::Graph work = g.clone();
  library::expand_library_nodes(work, {}, nullptr);
  transform::prepare_for_device(work, {}, options);
  lower::LowerOptions lowering;
  lowering.device = true;
  lowering.check_bounds = lowering.check_numbers = checks;
  const lower::Lowered l = lower::lower_graph(work, lowering, ir::ordinals(g));
  return l.device.empty() ? std::string() : codegen::print_device(l.device, codegen::DeviceDialect::kCuda).text;
}

}  // namespace

TEST_CASE("the suite has at least eighty programs, each of its own name") {
  std::set<std::string> names;
  for (const Program& p : programs()) CHECK(names.insert(p.name).second);
  CHECK(names.size() >= 80);
}

TEST_CASE("device programs as maps of the host") {
  const std::string failures = for_all([](const Program&, Expected& expected) {
    const AnyFunction f = compiled(expected.made().graph, options_on(DeviceChoice::Kind::kCpu));
    return run_extents(expected, f, {0, 1, 7, 32, 37});
  });
  INFO(failures);
  CHECK(failures.empty());
}

TEST_CASE("device programs on the emulated device") {
  Emulator& device = emulator();
  std::size_t turn = 0;
  const std::string failures = for_all([&](const Program& p, Expected& expected) -> std::string {
    for (std::size_t b = 0; b < blocks().size(); ++b) {
      if (p.blocks_given && b != 2) continue;
      // Over the suite every block size meets every stream mode, and every extent every schedule.
      Options o = options_on(DeviceChoice::Kind::kEmulated);
      o.gpu_block_size = BlockSize{blocks()[b].threads};
      o.verify = b == 2;  // every pass leaves a valid graph
      if (b == 1) o.check = EnumSet<Check>{Check::kBounds};
      o.gpu_graphs = std::array{Toggle::kOn, Toggle::kAuto, Toggle::kOff, Toggle::kOn}[(turn + b) % 4];
      o.gpu_streams = std::array{0, -1, 2}[(turn + b) % 3];
      std::string where = "block " + std::to_string(blocks()[b].threads[0]) + "x" +
                          std::to_string(blocks()[b].threads[1]) + "x" + std::to_string(blocks()[b].threads[2]) +
                          ", streams " + std::to_string(*o.gpu_streams);
      try {
        const AnyFunction f = compiled(expected.made().graph, o);
        for (const Order schedule : {Order::kForward, Order::kReverse, Order::kRandom}) {
          const bool every = (b == 1 || b == 2) && !p.heavy;
          if (!every && static_cast<std::size_t>(schedule) != (turn + b) % 3) continue;
          device::emulated::Settings settings;
          settings.schedule = schedule;
          settings.seed = turn + 1;
          settings.races = true;
          settings.uninitialised = true;
          device.set_settings(settings);
          const std::string failure =
              p.persistent ? run_extents(expected, compiled(expected.made().graph, o), {37})
                           : run_extents(expected, f, p.heavy ? std::vector<std::int64_t>{1, 33} : blocks()[b].extents);
          if (!failure.empty())
            return where + ", schedule " + std::to_string(static_cast<int>(schedule)) + ": " + failure;
        }
      } catch (const std::exception& e) {
        return where + ": " + e.what();
      }
    }
    ++turn;
    return {};
  });
  device.set_settings({});
  INFO(failures);
  CHECK(failures.empty());
}

TEST_CASE("device programs on a GPU") {
  if (!device::cuda_available()) {
    std::cout << "NOTICE: there is no CUDA device; its tests are skipped\n";
    return;
  }
  std::size_t turn = 0;
  const std::string failures = for_all([&](const Program& p, Expected& expected) -> std::string {
    for (std::size_t b = 0; b < blocks().size(); ++b) {
      if (p.blocks_given && b != 2) continue;
      Options o = options_on(DeviceChoice::Kind::kCuda);
      o.gpu_block_size = BlockSize{blocks()[b].threads};
      o.gpu_streams = std::array{0, -1, 2}[(turn + b) % 3];
      o.gpu_graphs = std::array{Toggle::kOn, Toggle::kAuto, Toggle::kOff, Toggle::kOn}[(turn + b) % 4];
      const AnyFunction f = compiled(expected.made().graph, o);
      const std::string failure =
          run_extents(expected, f, p.persistent ? std::vector<std::int64_t>{37} : blocks()[b].extents);
      if (!failure.empty()) return "block " + std::to_string(blocks()[b].threads[0]) + ": " + failure;
    }
    ++turn;
    return {};
  });
  INFO(failures);
  CHECK(failures.empty());
}

TEST_CASE("NVRTC compiles every kernel of the programs") {
  const Nvrtc& nvrtc = Nvrtc::get();
  if (!nvrtc.present()) {
    std::cout << "NOTICE: NVRTC is not installed; the compilation of kernels is skipped\n";
    return;
  }
  constexpr std::array kArchitectures = {"sm_70", "sm_80", "sm_90", "sm_100"};
  std::size_t turn = 0;
  const std::string failures = for_all([&](const Program& p, Expected& expected) -> std::string {
    const std::string text = cuda_text(expected.made().graph, {});
    if (text.empty()) return {};
    ++turn;
    for (const char* arch : kArchitectures) {
      if (p.heavy && arch != kArchitectures[turn % kArchitectures.size()]) continue;
      const std::string log = nvrtc.compile(text, arch);
      if (!log.empty()) return std::string(arch) + ": " + log + "\n" + text;
    }
    if (p.heavy || turn % 4 != 0) return {};
    const std::string checked = cuda_text(expected.made().graph, {}, true);
    const std::string log = nvrtc.compile(checked, kArchitectures[turn / 4 % kArchitectures.size()]);
    if (!log.empty()) return "with checks: " + log + "\n" + checked;
    return {};
  });
  INFO(failures);
  CHECK(failures.empty());
}

}  // namespace test_programs
