// The expansions, one function per operation; expand.cpp calls them with the node's operands.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "library/emit.hpp"
#include "library/expand.hpp"

namespace sdfg::library {

// A library node on its way out: operands by connector, and where its elements go.
struct Node {
  const ir::Library* library = nullptr;
  std::vector<Operand> inputs, outputs;
  std::vector<std::optional<ir::Wcr>> output_wcr;
  Emitter* emitter = nullptr;
  std::vector<std::string>* reasons = nullptr;
  const ExpandOptions* options = nullptr;
  bool makes_kernels = false;    // an operand is in device memory, and the node is the host's
  std::vector<std::string> own;  // containers that stand for outputs; arrays among them lie in device memory then

  const Operand& in(std::string_view connector) const;
  const Operand& out(std::string_view connector) const;
  const Operand* find_in(std::string_view connector) const;
  const Operand* find_out(std::string_view connector) const;
  const Operand& only_in() const;
  const Operand& only_out() const;
  void reason(const std::string& text) const;
};

void expand(const ir::MatMul& op, const Node& n);
void expand(const ir::Gemm& op, const Node& n);
void expand(const ir::BatchedMatMul& op, const Node& n);
void expand(const ir::Gemv& op, const Node& n);
void expand(const ir::Ger& op, const Node& n);
void expand(const ir::Dot& op, const Node& n);
void expand(const ir::Axpy& op, const Node& n);
void expand(const ir::Syrk& op, const Node& n);
void expand(const ir::Einsum& op, const Node& n);
void expand(const ir::TensorDot& op, const Node& n);
void expand(const ir::Reduce& op, const Node& n);
void expand(const ir::Copy& op, const Node& n);
void expand(const ir::Fill& op, const Node& n);
void expand(const ir::Transpose& op, const Node& n);
void expand(const ir::TensorTranspose& op, const Node& n);
void expand(const ir::Scan& op, const Node& n);
void expand(const ir::ArgReduce& op, const Node& n);
void expand(const ir::Cholesky& op, const Node& n);
void expand(const ir::Potrf& op, const Node& n);
void expand(const ir::Getrf& op, const Node& n);
void expand(const ir::Getrs& op, const Node& n);
void expand(const ir::Solve& op, const Node& n);
void expand(const ir::Inv& op, const Node& n);
void expand(const ir::Fft& op, const Node& n);
void expand(const ir::Csrmv& op, const Node& n);
void expand(const ir::Csrmm& op, const Node& n);
void expand(const ir::UnknownLibrary& op, const Node& n);

}  // namespace sdfg::library
