// Tells debuggers about loaded code: GDB's JIT compilation interface, which LLDB follows too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sdfg::runtime {

// Where the linker put the sections of an object, by name.
using SectionPlaces = std::vector<std::pair<std::string, std::uint64_t>>;

// An object known to debuggers for as long as this lives. Keeps a copy of the object with the addresses of its sections
// filled in. The debugger finds the interface's symbols in this library's symbol table, so a stripped library can't be
// debugged this way. Thread-safe.
class DebuggerEntry {
 public:
  DebuggerEntry(std::vector<std::uint8_t> object, const SectionPlaces& sections);
  ~DebuggerEntry();
  DebuggerEntry(const DebuggerEntry&) = delete;
  DebuggerEntry& operator=(const DebuggerEntry&) = delete;

  // Objects registered at this moment, for tests.
  static int count() noexcept;

 private:
  struct Node;
  std::vector<std::uint8_t> object_;
  std::unique_ptr<Node> node_;
};

}  // namespace sdfg::runtime
