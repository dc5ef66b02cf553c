// Prints the runtime ABI as C++ text from the one list in the header.
#include "lower/abi.hpp"

namespace sdfg::lower {

namespace {

constexpr const char* kTypes =
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;\n"
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t; typedef unsigned "
    "long uint64_t;\n";
constexpr const char* kSlots = "extern \"C\" { const sdfg_abi_table* sdfg_abi; void* sdfg_program; }\n";

}  // namespace

const std::string& abi_slots() {
  static const std::string& text = *new std::string(std::string(kTypes) + "struct sdfg_abi_table;\n" + kSlots);
  return text;
}

const std::string& abi_prelude() {
  static const std::string& text = *new std::string([] {
    std::string out = kTypes;
    out +=
        "struct sdfg_call { void* program; void* arena; int32_t status; int32_t flags; void* device; void* "
        "reserved[3]; };\n"
        "struct sdfg_copy { void* to; const void* from; int32_t to_space; int32_t from_space; int64_t bytes; "
        "int64_t count[2]; int64_t to_stride[2]; int64_t from_stride[2]; };\n"
        "struct sdfg_launch { int64_t grid[3]; int64_t block[3]; int64_t shared; int32_t cooperative; };\n"
        "struct sdfg_abi_table {\n";
#define SDFG_PRINT_ENTRY(result, name, parameters) out += "  " #result " (*" #name ")" #parameters ";\n";
    SDFG_ABI_ENTRIES(SDFG_PRINT_ENTRY)
#undef SDFG_PRINT_ENTRY
    out += "};\n";
    out += kSlots;
    return out;
  }());
  return text;
}

const Digest& abi_digest() {
  static const Digest digest = digest_of(abi_prelude());
  return digest;
}

}  // namespace sdfg::lower
