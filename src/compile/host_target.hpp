// The host CPU as a compilation target: "host" and CPU names resolved to explicit feature lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/target.hpp"

namespace sdfg::compiler {

// `cpu` is "host" (or "native") or an LLVM CPU name such as "x86-64-v3". Cores and caches are always this machine's.
// An unknown name is an Error of class usage with the nearest known one. Cheap after the first call; any thread.
HostTarget host_target(std::string_view cpu = "host");

// Features that code for `target` may use but this machine lacks, sorted; empty means that it can run here.
std::vector<std::string> features_missing_here(const HostTarget& target);

}  // namespace sdfg::compiler
