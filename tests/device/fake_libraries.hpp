// A stand-in for cuBLAS, cuSOLVER, cuFFT and cuSPARSE: computes on the host, records every call, and fails when told
// to.
#pragma once

#include <string>
#include <vector>

namespace sdfg::test {

struct FakeLibraries {
  int fail_with = 0;                // status of every call that does work
  std::vector<std::string> calls;   // the work, with sizes and layouts
  std::vector<std::string> faults;  // arguments that the real library would refuse
  std::vector<void*> streams;       // that were set
  int made = 0;                     // handles and plans
  int alive = 0;                    // descriptors and plans
};

}  // namespace sdfg::test
