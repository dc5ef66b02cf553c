// Compiles kernel text for NVIDIA GPUs with NVRTC, which is opened when first needed. No GPU and no driver is needed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compile/request.hpp"

namespace sdfg::compiler {

// What NVRTC is asked for on behalf of a device.
struct DeviceBuild {
  CodeKind kind = CodeKind::kCubin;  // kPtx when this NVRTC is older than the device: the driver finishes the work
  std::string architecture;          // CompileRequest::cpu: "sm_90", or "compute_90" for PTX
  bool operator==(const DeviceBuild&) const = default;
};

// Where NVRTC was found, and what it knows.
struct NvrtcInfo {
  std::string path;
  int major = 0;
  int minor = 0;
  std::vector<int> architectures;  // 75, 80, 90, ...; sorted
};

// Opening NVRTC takes longer than all else that a hit of the disk cache does. With a folder to keep a note in, what
// depends on NVRTC's version alone (device_build_for, device_build_ids) is answered from what an earlier process noted
// of the same file, found under the same search paths. The note is only written if `writable`. Any thread; the first
// folder stays.
void keep_nvrtc_note(const std::string& folder, bool writable);
// Opens NVRTC, as a compilation does. False if earlier answers came from a note that it does not agree with: then they
// have to be asked for again.
bool confirm_nvrtc();

// All of these throw Error(kEnvironment) with a hint when NVRTC can't be opened; the failure is remembered. Any thread.
const NvrtcInfo& nvrtc_info();

// "sm_90a" and "compute_90" -> 90; 0 for a name that is no architecture.
int architecture_number(std::string_view architecture);

// Throws Error(kUsage) for a name that is no architecture; needs neither NVRTC nor a device.
void check_architecture(const std::string& architecture);

// The machine code of exactly this device where NVRTC has it, else PTX of the newest architecture that the device
// still runs. Throws Error(kEnvironment) for a device older than anything this NVRTC supports, Error(kUsage) for a name
// that is no architecture.
//
// `driver_version` (12040 for CUDA 12.4; 0: unknown) is what the code has to run on: an NVRTC of a newer major version
// is refused with Error(kEnvironment), since the driver would not load its code.
DeviceBuild device_build_for(const std::string& architecture, int driver_version = 0);

// Compiles CompileRequest::source; kind is kCubin or kPtx, `cpu` as in DeviceBuild. `flags` are further NVRTC options,
// `opt_level` is ignored (some toolkits miscompile after a change of level, so there is only one). Bad source is a
// result with ok == false and diagnostics. At most eight compilations run at a time; further callers wait.
CompileResult compile_device(const CompileRequest& request);

// "nvrtc 13.0 ...": for CompileRequest::build_ids, after library_build_id().
std::string nvrtc_build_id();
std::vector<std::string> device_build_ids();

// The messages of NVRTC's log, in order. Exposed for tests.
std::vector<Diagnostic> parse_nvrtc_log(std::string_view log, std::string_view file);

}  // namespace sdfg::compiler
