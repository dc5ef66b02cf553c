// The same C++ text, helpers included, is accepted by NVRTC.
#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "tasklet/functions.hpp"
#include "tasklet/print_cpp.hpp"
#include "typed_names.hpp"

namespace device_text_test {

using namespace sdfg;
using namespace sdfg::tasklet;

namespace {

class Nvrtc {
 public:
  Nvrtc() {
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so",
                             "/usr/local/cuda-13.0/lib/libnvrtc.so.13"}) {
      handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
    }
  }
  bool present() const { return handle_ != nullptr; }

  // The log if the text does not compile, else nothing.
  std::string compile(const std::string& code) const {
    void* program = nullptr;
    call<int(void**, const char*, const char*, int, const char* const*, const char* const*)>("nvrtcCreateProgram")(
        &program, code.c_str(), "code.cu", 0, nullptr, nullptr);
    const char* options[] = {"--gpu-architecture=sm_90", "--std=c++17", "--disable-warnings"};
    const int status = call<int(void*, int, const char* const*)>("nvrtcCompileProgram")(program, 3, options);
    std::size_t size = 0;
    call<int(void*, std::size_t*)>("nvrtcGetProgramLogSize")(program, &size);
    std::string log(size, '\0');
    call<int(void*, char*)>("nvrtcGetProgramLog")(program, log.data());
    call<int(void**)>("nvrtcDestroyProgram")(&program);
    return status == 0 ? "" : log.substr(0, 4000);
  }

 private:
  template <typename Signature>
  Signature* call(const char* name) const {
    return reinterpret_cast<Signature*>(::dlsym(handle_, name));
  }
  void* handle_ = nullptr;
};

}  // namespace

TEST_CASE("NVRTC accepts the text of every operator and function") {
  const Nvrtc nvrtc;
  if (!nvrtc.present()) {
    WARN("NVRTC is not installed: the compilation of device text is skipped");
    return;
  }
  std::string code = "struct In {\n";
  for (const auto& [name, type] : tests::names()) {
    if (type.is_scalar()) code += "  " + cpp_type(type) + " " + name + ";\n";
  }
  code += "};\n";
  CppStyle style;
  style.name = [](std::string_view name, const Type&) { return "in." + std::string(name); };
  int count = 0;
  const auto add = [&](const Expr& untyped) {
    try {
      const Expr e = infer_types(untyped, tests::environment());
      const std::string type = cpp_type(e.type());
      code += "static __device__ void f" + std::to_string(count++) + "(const In& in, " + type +
              "* out) { *out = " + to_cpp_as(e, e.type(), style) + "; }\n";
    } catch (const Error&) {
    }
  };
  const std::pair<const char*, const char*> pairs[] = {
      {"i8", "i8b"},   {"i32", "i64"},  {"u32", "i32"},  {"u64", "u64b"}, {"f32", "i64"}, {"f64", "f64b"},
      {"f16", "f16b"}, {"bf16", "f64"}, {"c64", "c64b"}, {"c128", "f32"}, {"b", "bb"}};
  for (const auto& [a, b] : pairs) {
    for (int op = 0; op <= static_cast<int>(BinaryOp::kOr); ++op)
      add(Expr::binary(static_cast<BinaryOp>(op), Expr::name(a), Expr::name(b)));
    for (const FunctionInfo& info : all_functions()) {
      const std::vector<Expr> args{Expr::name(a), Expr::name(b), Expr::name(a)};
      add(Expr::call(info.function, {args.begin(), args.begin() + info.max_args}));
    }
    for (const char* power : {"2", "5", "-2", "i32"}) add(parse_expression(std::string(a) + " ** " + power));
    for (int type = 0; type < kScalarTypeCount; ++type) add(Expr::cast(static_cast<ScalarType>(type), Expr::name(a)));
  }
  CHECK(count > 400);
  CHECK(nvrtc.compile(cpp_helpers(code) + code) == "");
}

}  // namespace device_text_test
