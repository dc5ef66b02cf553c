// The list that debuggers read and the function on which they break; names and layout are GDB's ("JIT Compilation
// Interface" in its manual).
#include "runtime/debugger.hpp"

#include <elf.h>

#include <cstring>
#include <mutex>

namespace {

struct CodeEntry {
  CodeEntry* next = nullptr;
  CodeEntry* previous = nullptr;
  const std::uint8_t* object = nullptr;
  std::uint64_t size = 0;
};

enum Action : std::uint32_t { kNothing = 0, kRegister = 1, kUnregister = 2 };

struct Descriptor {
  std::uint32_t version;
  std::uint32_t action;
  CodeEntry* relevant;
  CodeEntry* first;
};

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
[[gnu::noinline, gnu::used, gnu::visibility("hidden")]] void __jit_debug_register_code();
void __jit_debug_register_code() {
  __asm__ volatile("" ::: "memory");  // a place for a breakpoint
}
[[gnu::used, gnu::visibility("hidden")]] Descriptor __jit_debug_descriptor = {1, kNothing, nullptr, nullptr};
// NOLINTEND(bugprone-reserved-identifier)
}

namespace sdfg::runtime {

namespace {

std::mutex& list_mutex() {
  static auto* const mutex = new std::mutex;  // code may be unloaded after static destruction
  return *mutex;
}

void tell(CodeEntry& entry, Action action) {
  __jit_debug_descriptor.relevant = &entry;
  __jit_debug_descriptor.action = action;
  __jit_debug_register_code();
  __jit_debug_descriptor.action = kNothing;
}

// Writes the addresses into the section headers of a relocatable object; what is out of bounds is left alone.
void place_sections(std::vector<std::uint8_t>& object, const SectionPlaces& sections) {
  Elf64_Ehdr header{};
  if (object.size() < sizeof(header)) return;
  std::memcpy(&header, object.data(), sizeof(header));
  const auto section_at = [&](std::size_t i) -> std::size_t { return header.e_shoff + i * sizeof(Elf64_Shdr); };
  if (header.e_shentsize != sizeof(Elf64_Shdr) || section_at(header.e_shnum) > object.size() ||
      header.e_shstrndx >= header.e_shnum)
    return;
  Elf64_Shdr names{};
  std::memcpy(&names, object.data() + section_at(header.e_shstrndx), sizeof(names));
  if (names.sh_offset + names.sh_size > object.size()) return;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    std::memcpy(&section, object.data() + section_at(i), sizeof(section));
    if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_name >= names.sh_size) continue;
    const char* text = reinterpret_cast<const char*>(object.data() + names.sh_offset + section.sh_name);
    const std::string name(text, strnlen(text, names.sh_size - section.sh_name));
    for (const auto& [known, address] : sections) {
      if (known == name) section.sh_addr = address;
    }
    std::memcpy(object.data() + section_at(i), &section, sizeof(section));
  }
}

}  // namespace

struct DebuggerEntry::Node : CodeEntry {};

DebuggerEntry::DebuggerEntry(std::vector<std::uint8_t> object, const SectionPlaces& sections)
    : object_(std::move(object)), node_(std::make_unique<Node>()) {
  place_sections(object_, sections);
  node_->object = object_.data();
  node_->size = object_.size();
  const std::lock_guard lock(list_mutex());
  node_->next = __jit_debug_descriptor.first;
  if (node_->next != nullptr) node_->next->previous = node_.get();
  __jit_debug_descriptor.first = node_.get();
  tell(*node_, kRegister);
}

DebuggerEntry::~DebuggerEntry() {
  const std::lock_guard lock(list_mutex());
  if (node_->next != nullptr) node_->next->previous = node_->previous;
  (node_->previous != nullptr ? node_->previous->next : __jit_debug_descriptor.first) = node_->next;
  tell(*node_, kUnregister);
}

int DebuggerEntry::count() noexcept {
  const std::lock_guard lock(list_mutex());
  int entries = 0;
  for (const CodeEntry* e = __jit_debug_descriptor.first; e != nullptr; e = e->next) ++entries;
  return entries;
}

}  // namespace sdfg::runtime
