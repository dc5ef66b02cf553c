// NVRTC, opened at run time: does a text compile?
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <string>

namespace sdfg::test {

class Nvrtc {
 public:
  static const Nvrtc& get() {
    static const Nvrtc one;
    return one;
  }
  bool present() const { return handle_ != nullptr; }

  // The log if the text does not compile, else nothing. What the toolkit no longer knows counts as compiled.
  std::string compile(const std::string& code, const std::string& arch) const {
    void* program = nullptr;
    call<int(void**, const char*, const char*, int, const char* const*, const char* const*)>("nvrtcCreateProgram")(
        &program, code.c_str(), "kernels.cu", 0, nullptr, nullptr);
    const std::string target = "--gpu-architecture=" + arch;
    int major = 0;
    int minor = 0;
    call<int(int*, int*)>("nvrtcVersion")(&major, &minor);
    // From 12.4 on the library asks for it, so no text may need more than it leaves.
    const bool has_minimal = major > 12 || (major == 12 && minor >= 4);
    const char* options[] = {target.c_str(), "--std=c++17", "--disable-warnings", "--minimal"};
    const int count = has_minimal ? 4 : 3;
    const int status = call<int(void*, int, const char* const*)>("nvrtcCompileProgram")(program, count, options);
    std::size_t size = 0;
    call<int(void*, std::size_t*)>("nvrtcGetProgramLogSize")(program, &size);
    std::string log(size, '\0');
    call<int(void*, char*)>("nvrtcGetProgramLog")(program, log.data());
    call<int(void**)>("nvrtcDestroyProgram")(&program);
    constexpr int kInvalidOption = 5;
    if (status == 0 || (status == kInvalidOption && log.find("gpu-architecture") != std::string::npos)) return "";
    return log.empty() ? "status " + std::to_string(status) : log.substr(0, 4000);
  }

 private:
  Nvrtc() {
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so",
                             "/usr/local/cuda-13.0/lib/libnvrtc.so.13"}) {
      handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
    }
  }
  template <typename Signature>
  Signature* call(const char* name) const {
    return reinterpret_cast<Signature*>(::dlsym(handle_, name));
  }
  void* handle_ = nullptr;
};

}  // namespace sdfg::test
