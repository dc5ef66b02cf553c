// Functions of device libraries as generated code calls them: what expansions write down, and the device room runs.
//
// Every call has whole numbers, scalars and addresses of device memory. Matrices lie by columns (`ld` elements between
// the beginnings of two), vectors have a distance between neighbours. Sizes may be zero.
//   numbers   the ScalarType first, then:
//     kGemm     m n k, a: transposed ld stride, b: transposed ld stride, c: ld stride, batch     c = alpha op(a) op(b)
//     +
//               beta c
//     kGemv     rows columns transposed ld, x: distance, y: distance                      y = alpha op(a) x + beta y
//     kDot      n, x: distance, y: distance
//     kSyrk     n k transposed lower, a: ld, c: ld                        c = alpha a a^T + beta c (transposed: a^T a)
//     kPotrf    n lower ld, throws
//     kGetrf    n ld, throws                                                 pivots are rows of 64 bits, counted from 1
//     kGetrs    n columns transposed, lu: ld, x: ld
//     kFft      inverse rank, the sizes (at most three), batch                       batches are contiguous; unscaled
//     kCsrmv    rows columns entries, bytes of an index, transposed
//     kCsrmm    rows columns entries, bytes of an index, transposed, width of c, b: by rows, ld, transposed, c: by
//               rows, ld
//   scalars   alpha and beta, real and imaginary part each
//   operands  kGemm, kGemv, kSyrk: a [b | x] c, kDot: x y result, kPotrf: matrix status, kGetrf: matrix pivots status,
//             kGetrs: lu pivots x status, kFft: from to, kCsr*: rows columns values b c
// A status is an int32 in device memory. `throws`: 1, if a matrix that can't be factorised is an error of the call.
#pragma once

#include <cstdint>
#include <string_view>

namespace sdfg {

enum class DeviceFunction : std::int32_t {
  kGemm = 0,
  kGemv = 1,
  kDot = 2,
  kSyrk = 3,
  kPotrf = 4,
  kGetrf = 5,
  kGetrs = 6,
  kFft = 7,
  kCsrmv = 8,
  kCsrmm = 9,
};
inline constexpr int kDeviceFunctionCount = 10;

enum class DeviceLibrary : std::uint8_t { kBlas, kSolver, kFft, kSparse };
inline constexpr int kDeviceLibraryCount = 4;

constexpr DeviceLibrary library_of(DeviceFunction f) {
  switch (f) {
    case DeviceFunction::kGemm:
    case DeviceFunction::kGemv:
    case DeviceFunction::kDot:
    case DeviceFunction::kSyrk: return DeviceLibrary::kBlas;
    case DeviceFunction::kPotrf:
    case DeviceFunction::kGetrf:
    case DeviceFunction::kGetrs: return DeviceLibrary::kSolver;
    case DeviceFunction::kFft: return DeviceLibrary::kFft;
    case DeviceFunction::kCsrmv:
    case DeviceFunction::kCsrmm: return DeviceLibrary::kSparse;
  }
  return DeviceLibrary::kBlas;
}

constexpr std::string_view name_of(DeviceLibrary l) {
  switch (l) {
    case DeviceLibrary::kBlas: return "cuBLAS";
    case DeviceLibrary::kSolver: return "cuSOLVER";
    case DeviceLibrary::kFft: return "cuFFT";
    case DeviceLibrary::kSparse: return "cuSPARSE";
  }
  return "";
}

constexpr std::string_view name_of(DeviceFunction f) {
  switch (f) {
    case DeviceFunction::kGemm: return "gemm";
    case DeviceFunction::kGemv: return "gemv";
    case DeviceFunction::kDot: return "dot";
    case DeviceFunction::kSyrk: return "syrk";
    case DeviceFunction::kPotrf: return "potrf";
    case DeviceFunction::kGetrf: return "getrf";
    case DeviceFunction::kGetrs: return "getrs";
    case DeviceFunction::kFft: return "fft";
    case DeviceFunction::kCsrmv: return "csrmv";
    case DeviceFunction::kCsrmm: return "csrmm";
  }
  return "";
}

}  // namespace sdfg
