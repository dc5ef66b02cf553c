// Requests and results as bytes, for the helper process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compile/request.hpp"

namespace sdfg::compiler {

std::vector<std::uint8_t> to_bytes(const CompileRequest& request);
std::vector<std::uint8_t> to_bytes(const CompileResult& result);

// Nothing when the bytes are not what to_bytes writes.
std::optional<CompileRequest> request_from_bytes(std::span<const std::uint8_t> bytes);
std::optional<CompileResult> result_from_bytes(std::span<const std::uint8_t> bytes);

// A frame is a 64-bit length and that many bytes. False or nothing on end of file and on errors. `deadline_ns` is a
// time of CLOCK_MONOTONIC; 0 means none. Never raises SIGPIPE.
bool send_frame(int socket, std::span<const std::uint8_t> bytes);
enum class Received : std::uint8_t { kFrame, kEnd, kTimeout };
Received receive_frame(int socket, std::vector<std::uint8_t>& bytes, std::int64_t deadline_ns);

}  // namespace sdfg::compiler
