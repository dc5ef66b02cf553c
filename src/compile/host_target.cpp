// Asks LLVM's target parser about CPUs; the only part of LLVM that a cache key needs.
#include "compile/host_target.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/X86TargetParser.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <sdfg/error.hpp>

#include "base/suggest.hpp"

namespace sdfg::compiler {

namespace {

std::int64_t cache_size(int name) {
  return std::max<std::int64_t>(0, sysconf(name));
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

HostTarget detect() {
  HostTarget target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    target.features.push_back((feature.second ? "+" : "-") + feature.first().str());
  }
  std::sort(target.features.begin(), target.features.end());
  target.l1_bytes = cache_size(_SC_LEVEL1_DCACHE_SIZE);
  target.l2_bytes = cache_size(_SC_LEVEL2_CACHE_SIZE);
  target.l3_bytes = cache_size(_SC_LEVEL3_CACHE_SIZE);
  if (const std::int64_t line = cache_size(_SC_LEVEL1_DCACHE_LINESIZE); line > 0) target.line_bytes = line;
  return target;
}

const HostTarget& this_machine() {
  static const HostTarget& target = *new HostTarget(detect());
  return target;
}

[[noreturn]] void unknown_cpu(std::string_view cpu) {
  llvm::SmallVector<llvm::StringRef, 128> known;
  llvm::X86::fillValidCPUArchList(known);
  std::vector<std::string_view> names = {"host"};
  for (llvm::StringRef name : known) names.emplace_back(name.data(), name.size());
  const std::string_view near = nearest_name(cpu, names);
  throw Error(ErrorClass::kUsage, "the target CPU '" + std::string(cpu) + "' is not known to the compiler", {},
              (near.empty() ? std::string() : "the nearest known name is '" + std::string(near) + "'; ") +
                  "'host' is this machine");
}

}  // namespace

HostTarget host_target(std::string_view cpu) {
  HostTarget target = this_machine();
  target.cores = usable_cores();  // affinity may change while the process runs
  if (cpu == "host" || cpu == "native" || cpu == target.cpu) return target;
  const llvm::StringRef name(cpu.data(), cpu.size());
  if (llvm::X86::parseArchX86(name, /*Only64Bit=*/true) == llvm::X86::CK_None) unknown_cpu(cpu);
  llvm::SmallVector<llvm::StringRef, 64> features;
  llvm::X86::getFeaturesForCPU(name, features, /*NeedPlus=*/false);
  // LLVM lists only what is not implied by the rest of the list.
  llvm::StringMap<bool> complete;
  for (llvm::StringRef feature : features) {
    complete[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, true, complete);
  }
  target.cpu = std::string(cpu);
  target.features.clear();
  for (const auto& feature : complete) target.features.push_back("+" + feature.first().str());
  std::sort(target.features.begin(), target.features.end());
  return target;
}

std::vector<std::string> features_missing_here(const HostTarget& target) {
  std::vector<std::string> missing;
  for (const std::string& feature : target.features) {
    if (feature.empty() || feature[0] != '+') continue;
    const std::string negative = "-" + feature.substr(1);
    const std::vector<std::string>& here = this_machine().features;
    // A feature that LLVM never reports for a host (64bit, cx8, ...) can't be checked and belongs to every x86-64 CPU.
    if (std::binary_search(here.begin(), here.end(), negative)) missing.push_back(feature.substr(1));
  }
  return missing;
}

}  // namespace sdfg::compiler
