// Facts about this process that the runtime depends on: whether it is a forked child, and how many CPUs it may use.
#pragma once

namespace sdfg::runtime {

// True in a child of fork() (or a raw clone) of the process that first used the runtime. Such a child has none of the
// runtime's threads and shares its code pages with the parent, so it may not use the runtime unless it execs.
// Costs one load; also right for clone() called behind libc's back, which pthread_atfork would miss.
bool in_forked_child() noexcept;

// Throws a usage error that names `what` when called in a forked child.
void require_original_process(const char* what);

// CPUs in this process' affinity mask at the first call, at least 1.
int usable_cpus() noexcept;

}  // namespace sdfg::runtime
