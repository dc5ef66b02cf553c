// Links object files into this process with JITLink: bytes in, callable addresses out. No compiler, no process-wide
// symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/debugger.hpp"
#include "runtime/memory_manager.hpp"

namespace sdfg::runtime {

struct LoadedSymbol {
  std::string name;
  void* address = nullptr;
  std::size_t size = 0;
  bool code = false;
};

// Code of one program in memory; immutable. Unloaded with the last reference: whoever may still call it holds one.
class LoadedCode {
 public:
  LoadedCode(std::vector<CodeAllocation> memory, std::vector<LoadedSymbol> symbols,
             std::vector<std::unique_ptr<DebuggerEntry>> debugger = {});
  // The address of a global symbol of the program, nullptr if it has none of this name. Thread-safe.
  void* find(std::string_view name) const noexcept;
  // All global symbols, sorted by name.
  const std::vector<LoadedSymbol>& symbols() const noexcept { return symbols_; }
  std::size_t bytes() const noexcept;
  // Whether these bytes are constants or data of the program.
  bool holds(const void* address, std::size_t bytes) const noexcept;

 private:
  std::vector<CodeAllocation> memory_;
  std::vector<LoadedSymbol> symbols_;
  std::vector<std::unique_ptr<DebuggerEntry>> debugger_;  // forgotten before the memory goes
};

// What the loader stores into the writable slots that each object may define.
struct LoadSlots {
  const void* abi = nullptr;  // -> sdfg_abi
  void* program = nullptr;    // -> sdfg_program
  // -> sdfg_emulator of code compiled with MemoryChecks: device::emulated::table()
  const void* emulator = nullptr;
  bool debugger = false;  // registers the code with debuggers while it is loaded
};

// What linking makes: the parts of a LoadedCode.
struct LinkedObjects {
  std::vector<CodeAllocation> memory;
  std::vector<LoadedSymbol> symbols;
  std::vector<SectionPlaces> sections;  // by object
};
// The part of load_objects that is compiled without type information, as LLVM is.
LinkedObjects link_objects(std::span<const std::span<const std::uint8_t>> objects, const LoadSlots& slots);

// Loads the relocatable ELF objects of one program. They see each other's global symbols and the externals of
// runtime/externals, nothing else. Throws Error of class load (malformed object, unresolved or duplicate symbol:
// named), resource or environment. Thread-safe; does not install signal handlers; uses little stack. The bytes are not
// kept.
std::shared_ptr<const LoadedCode> load_objects(std::span<const std::span<const std::uint8_t>> objects,
                                               const LoadSlots& slots);

}  // namespace sdfg::runtime
