// Helper functions of generated host code beyond scalar arithmetic: owned memory, checked sizes, atomic updates,
// reductions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace sdfg::lower {

enum class Helper : std::uint8_t {
  kOwned,         // sdfg_owned: memory of the runtime, released when its scope is left
  kStreamOwner,   // sdfg_stream: a queue, freed when its scope is left
  kStreamsOwner,  // sdfg_streams: an array of queues
  kChecked,       // sdfg_checked: 64-bit arithmetic that remembers overflow
  kBytes,         // sdfg_bytes: the size of a container; reports one that is negative or overflows
  kFail,          // sdfg_fail: reports a failure
  kAtomicUpdate,  // sdfg_atomic_update: compare and exchange, or a lock for elements above eight bytes
  kAtomicAdd,     // sdfg_atomic_add: integers and floating point
  kOutside,       // sdfg_outside: reports an index outside and gives a place to go on with
  kNumber,        // sdfg_is_number: by the bits, so that no freedom of the compiler removes it
  kFailed,        // sdfg_failed: has another iteration failed?
  kDeviceOwned,   // sdfg_device_owned: memory of the device, released when its scope is left
  kPinnedOwned,   // sdfg_pinned_owned: the same of pinned host memory
  kLaunch,        // sdfg_blocks, sdfg_blocks_after, sdfg_rest: numbers of blocks
  kRun,           // sdfg_run, sdfg_runs: how many points in a row one block takes, and how many blocks that makes
  kDeviceFill,    // sdfg_device_fill: rows of one value
  kDeviceCopy,    // sdfg_device_copy: a region of up to three dimensions
  kBlockReduce,   // in kernels: sdfg_block_reduce, one value of all threads of a block
  kReports,       // sdfg_reports: where kernels report failures; the call fails with the first one when it ends
  kReport,        // in kernels: sdfg_report
  kOutsideHere,   // in kernels: sdfg_outside
};

class Support {
 public:
  void need(Helper h);
  // An OpenMP reduction for types or operators that the built-in ones don't cover; `combiner` is over omp_out and
  // omp_in.
  void declare_reduction(const std::string& name, const std::string& type, const std::string& combiner,
                         const std::string& identity);
  bool empty() const { return helpers_.empty() && reductions_.empty(); }
  std::string text() const;             // helpers, in the order of the enumeration
  std::string reductions_text() const;  // after the helpers of scalar code

 private:
  std::set<Helper> helpers_;
  std::map<std::string, std::string> reductions_;
};

}  // namespace sdfg::lower
