// Resolves allowed externals: fixed addresses from tables, libm and libmvec through private handles.
#include "runtime/externals.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <unordered_map>

#include "runtime/float_helpers.hpp"
#include "runtime/openmp.hpp"

// Helpers of libgcc; declared only for their addresses.
// clang-format off
extern "C" {
#define SDFG_LIBGCC_HELPERS(X)                                                                                      \
  X(__muldc3)                                                                                                       \
  X(__divdc3)                                                                                                       \
  X(__mulsc3)                                                                                                       \
  X(__divsc3)                                                                                                       \
  X(__extendhfsf2)                                                                                                  \
  X(__truncsfhf2)                                                                                                   \
  X(__truncdfhf2)                                                                                                   \
  X(__divti3)                                                                                                       \
  X(__modti3)                                                                                                       \
  X(__udivti3) X(__umodti3) X(__fixdfti) X(__fixsfti) X(__fixunsdfti) X(__fixunssfti) X(__floattidf) X(__floattisf) \
      X(__floatuntidf) X(__floatuntisf) X(__powidf2) X(__powisf2) X(__popcountdi2)
// Under names of our own: the compiler knows some of them as builtins with other types.
#define SDFG_DECLARE(name) void sdfg_address_of##name() __asm__(#name);
SDFG_LIBGCC_HELPERS(SDFG_DECLARE)
#undef SDFG_DECLARE
}
// clang-format on

namespace sdfg::runtime {
namespace {

// libm's functions by their double name; the float twin has the suffix f. What is not listed is not resolved, even if
// the library has it: dlsym on a handle also searches the handle's dependencies, so `system` would be found without a
// list.
constexpr std::array<std::string_view, 92> kMath = {
    "acos",      "acosh",    "asin",   "asinh",  "atan",      "atan2",   "atanh",  "cabs",      "cacos",     "cacosh",
    "carg",      "casin",    "casinh", "catan",  "catanh",    "cbrt",    "ccos",   "ccosh",     "ceil",      "cexp",
    "cimag",     "clog",     "clog10", "conj",   "copysign",  "cos",     "cosh",   "cpow",      "cproj",     "creal",
    "csin",      "csinh",    "csqrt",  "ctan",   "ctanh",     "erf",     "erfc",   "exp",       "exp10",     "exp2",
    "expm1",     "fabs",     "fdim",   "floor",  "fma",       "fmax",    "fmin",   "fmod",      "frexp",     "hypot",
    "ilogb",     "j0",       "j1",     "jn",     "ldexp",     "lgamma",  "llrint", "llround",   "log",       "log10",
    "log1p",     "log2",     "logb",   "lrint",  "lround",    "modf",    "nan",    "nearbyint", "nextafter", "pow",
    "remainder", "remquo",   "rint",   "round",  "roundeven", "scalbln", "scalbn", "sin",       "sincos",    "sinh",
    "sqrt",      "tan",      "tanh",   "tgamma", "trunc",     "y0",      "y1",     "yn",        "fmaximum",  "fminimum",
    "lgamma_r",  "lgammaf_r"};

bool is_math(std::string_view name) {
  const auto listed = [](std::string_view text) { return std::find(kMath.begin(), kMath.end(), text) != kMath.end(); };
  return listed(name) || (name.ends_with('f') && listed(name.substr(0, name.size() - 1)));
}

// Opened once, never closed, invisible to the rest of the process. Reopening what the host already has only counts a
// reference.
void* open_private(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

void* look_up(void* handle, std::string_view name) {
  if (handle == nullptr) return nullptr;
  return dlsym(handle, std::string(name).c_str());
}

using Table = std::unordered_map<std::string_view, void*>;

template <typename Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

const Table& fixed_table() {
  static const Table* const table = [] {
    auto* t = new Table;
#define SDFG_ADD(name) t->emplace(#name, address_of(&sdfg_address_of##name));
    SDFG_LIBGCC_HELPERS(SDFG_ADD)
#undef SDFG_ADD
    t->emplace("__truncsfbf2", address_of(&float_to_bfloat));
    t->emplace("__truncdfbf2", address_of(&double_to_bfloat));
    t->emplace("__extendbfsf2", address_of(&bfloat_to_float));
    t->emplace("memcpy", address_of(&::memcpy));
    t->emplace("memmove", address_of(&::memmove));
    t->emplace("memset", address_of(&::memset));
    t->emplace("memcmp", address_of(&::memcmp));
    t->emplace("bcmp", address_of(&::memcmp));
    t->emplace("memchr", address_of(static_cast<const void* (*)(const void*, int, std::size_t)>(&std::memchr)));
    t->emplace("strlen", address_of(&::strlen));
    for (const OpenMpEntry& entry : openmp_entries()) t->emplace(entry.name, entry.address);
    return t;
  }();
  return *table;
}

}  // namespace

void* find_external(std::string_view name) {
  const bool openmp = name.starts_with("__kmpc_") || name.starts_with("omp_");
  if (const ForeignOpenMp* other = openmp ? foreign_openmp() : nullptr) return look_up(other->handle, name);
  const Table& table = fixed_table();
  if (const auto it = table.find(name); it != table.end()) return it->second;
  if (name.starts_with("_ZGV")) {
    static void* const vector_math = open_private({"libmvec.so.1"});
    return look_up(vector_math, name);
  }
  if (!is_math(name)) return nullptr;
  static void* const math = open_private({"libm.so.6", "libm.so"});
  return look_up(math, name);
}

}  // namespace sdfg::runtime
