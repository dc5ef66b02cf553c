// Code in memory, after linking.
#include <algorithm>
#include <utility>

#include "runtime/loader.hpp"
#include "runtime/process.hpp"

namespace sdfg::runtime {

LoadedCode::LoadedCode(std::vector<CodeAllocation> memory, std::vector<LoadedSymbol> symbols,
                       std::vector<std::unique_ptr<DebuggerEntry>> debugger)
    : memory_(std::move(memory)), symbols_(std::move(symbols)), debugger_(std::move(debugger)) {}

void* LoadedCode::find(std::string_view name) const noexcept {
  const auto it =
      std::lower_bound(symbols_.begin(), symbols_.end(), name,
                       [](const LoadedSymbol& symbol, std::string_view text) { return symbol.name < text; });
  return it != symbols_.end() && it->name == name ? it->address : nullptr;
}

std::size_t LoadedCode::bytes() const noexcept {
  std::size_t total = 0;
  for (const auto& memory : memory_) {
    for (const auto area : {CodeArea::kExecute, CodeArea::kConstant, CodeArea::kData})
      total += memory.extent(area).size;
  }
  return total;
}

std::shared_ptr<const LoadedCode> load_objects(std::span<const std::span<const std::uint8_t>> objects,
                                               const LoadSlots& slots) {
  require_original_process("loading code");
  LinkedObjects linked = link_objects(objects, slots);
  std::vector<std::unique_ptr<DebuggerEntry>> debugger;
  for (std::size_t i = 0; slots.debugger && i < objects.size(); ++i) {
    debugger.push_back(std::make_unique<DebuggerEntry>(std::vector<std::uint8_t>(objects[i].begin(), objects[i].end()),
                                                       linked.sections[i]));
  }
  return std::make_shared<const LoadedCode>(std::move(linked.memory), std::move(linked.symbols), std::move(debugger));
}

bool LoadedCode::holds(const void* address, std::size_t bytes) const noexcept {
  const auto* at = static_cast<const std::byte*>(address);
  for (const CodeAllocation& memory : memory_) {
    for (const CodeArea area : {CodeArea::kConstant, CodeArea::kData}) {
      const CodeAllocation::Extent& extent = memory.extent(area);
      if (at >= extent.run && bytes <= extent.size && static_cast<std::size_t>(at - extent.run) <= extent.size - bytes)
        return true;
    }
  }
  return false;
}

}  // namespace sdfg::runtime
