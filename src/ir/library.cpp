// Names of library operations, and what they do with their outputs' old contents.
#include "ir/library.hpp"

#include <algorithm>
#include <type_traits>

#include "ir/graph.hpp"
#include "ir/sites.hpp"

namespace sdfg::ir {

std::string_view name_of(const LibraryOp& op) noexcept {
  return std::visit(
      [](const auto& o) -> std::string_view {
        using K = std::remove_cvref_t<decltype(o)>;
        if constexpr (std::is_same_v<K, MatMul>)
          return "MatMul";
        else if constexpr (std::is_same_v<K, Gemm>)
          return "Gemm";
        else if constexpr (std::is_same_v<K, BatchedMatMul>)
          return "BatchedMatMul";
        else if constexpr (std::is_same_v<K, Gemv>)
          return "Gemv";
        else if constexpr (std::is_same_v<K, Ger>)
          return "Ger";
        else if constexpr (std::is_same_v<K, Dot>)
          return "Dot";
        else if constexpr (std::is_same_v<K, Axpy>)
          return "Axpy";
        else if constexpr (std::is_same_v<K, Syrk>)
          return "Syrk";
        else if constexpr (std::is_same_v<K, Einsum>)
          return "Einsum";
        else if constexpr (std::is_same_v<K, Reduce>)
          return "Reduce";
        else if constexpr (std::is_same_v<K, Copy>)
          return "Copy";
        else if constexpr (std::is_same_v<K, Fill>)
          return "Fill";
        else if constexpr (std::is_same_v<K, Transpose>)
          return "Transpose";
        else if constexpr (std::is_same_v<K, TensorTranspose>)
          return "TensorTranspose";
        else if constexpr (std::is_same_v<K, TensorDot>)
          return "TensorDot";
        else if constexpr (std::is_same_v<K, Cholesky>)
          return "Cholesky";
        else if constexpr (std::is_same_v<K, Potrf>)
          return "Potrf";
        else if constexpr (std::is_same_v<K, Getrf>)
          return "Getrf";
        else if constexpr (std::is_same_v<K, Getrs>)
          return "Getrs";
        else if constexpr (std::is_same_v<K, Solve>)
          return "Solve";
        else if constexpr (std::is_same_v<K, Inv>)
          return "Inv";
        else if constexpr (std::is_same_v<K, Fft>)
          return o.inverse ? "IFFT" : "FFT";
        else if constexpr (std::is_same_v<K, Csrmv>)
          return "CSRMV";
        else if constexpr (std::is_same_v<K, Csrmm>)
          return "CSRMM";
        else if constexpr (std::is_same_v<K, Scan>)
          return "Scan";
        else if constexpr (std::is_same_v<K, ArgReduce>)
          return o.maximum ? "ArgMax" : "ArgMin";
        else if constexpr (std::is_same_v<K, UnknownLibrary>)
          return "Unknown";
        else
          static_assert(kUnhandledKind<K>);
      },
      op);
}

bool reads_output(const Library& node, std::string_view connector) noexcept {
  const auto has_input = [&](std::string_view name) {
    return std::find(node.inputs.begin(), node.inputs.end(), name) != node.inputs.end();
  };
  return std::visit(
      [&](const auto& o) -> bool {
        using K = std::remove_cvref_t<decltype(o)>;
        if constexpr (std::is_same_v<K, Gemm> || std::is_same_v<K, BatchedMatMul> || std::is_same_v<K, Syrk> ||
                      std::is_same_v<K, Csrmv> || std::is_same_v<K, Csrmm>) {
          return o.beta != 0.0 && !has_input("_cin");
        } else if constexpr (std::is_same_v<K, Gemv>) {
          return o.beta != 0.0 && !has_input("_y");
        } else if constexpr (std::is_same_v<K, Einsum> || std::is_same_v<K, TensorTranspose>) {
          return o.beta != 0.0;
        } else if constexpr (std::is_same_v<K, Reduce>) {
          return !o.identity.has_value();
        } else if constexpr (std::is_same_v<K, UnknownLibrary>) {
          return true;
        } else {
          (void)connector;
          return false;
        }
      },
      node.op);
}

}  // namespace sdfg::ir
