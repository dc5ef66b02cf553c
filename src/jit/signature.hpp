// The parameters of a graph as a C signature: derivation, text, comparison with a C++ signature.
#pragma once

#include <sdfg/function.hpp>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace sdfg::jit {

// Parameters in call order. A Scalar container that is only read is passed by value, everything else by pointer.
std::vector<Parameter> parameters_of(const ir::Graph& g);

// "void(double* A, const float* B, int64_t N)": C++ spelling of the basic types.
std::string signature_text(std::span<const Parameter> parameters);
// The same for a C++ signature, without names.
std::string signature_text(std::span<const detail::CppType> types);

// Throws Error(kUsage) naming both signatures and the first difference.
void check_signature(const std::string& graph, std::span<const Parameter> parameters,
                     std::span<const detail::CppType> types);

}  // namespace sdfg::jit
