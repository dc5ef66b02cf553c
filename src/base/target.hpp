// What is known of a machine, as plain data: filled by `compile` for the host and by the device room for a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sdfg {

struct HostTarget {
  std::string triple;                 // e.g. x86_64-pc-linux-gnu
  std::string cpu;                    // LLVM's CPU name, never "native"
  std::vector<std::string> features;  // complete and sorted: "+avx2", "-avx512f"
  int cores = 1;                      // usable by this process
  std::int64_t l1_bytes = 0;          // data caches, per core; 0 when unknown
  std::int64_t l2_bytes = 0;
  std::int64_t l3_bytes = 0;
  std::int64_t line_bytes = 64;

  bool has(const std::string& feature) const {
    for (const std::string& entry : features) {
      if (entry.size() == feature.size() + 1 && entry[0] == '+' && entry.compare(1, std::string::npos, feature) == 0) {
        return true;
      }
    }
    return false;
  }
  // Widest vector of doubles or floats the target computes with, in bytes.
  int vector_bytes() const { return has("avx512f") ? 64 : has("avx") ? 32 : 16; }
};

struct DeviceTarget {
  std::string name;          // as the driver says it
  std::string architecture;  // "sm_90"; what the compiler is asked for
  int multiprocessors = 0;
  int warp_size = 32;
  int max_threads_per_block = 1024;
  std::int64_t shared_bytes_per_block = 48 * 1024;  // without opting in
  std::int64_t shared_bytes_per_block_optin = 48 * 1024;
  std::int64_t shared_bytes_per_multiprocessor = 0;
  int registers_per_multiprocessor = 65536;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  double memory_bytes_per_second = 0;  // 0 when unknown
};

}  // namespace sdfg
