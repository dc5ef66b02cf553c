// The JITLink side of the loader; the only file of the runtime that includes LLVM.
#include "runtime/loader.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <sdfg/error.hpp>
#include <utility>

#include "runtime/externals.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#pragma GCC diagnostic ignored "-Wredundant-move"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#if defined(__x86_64__)
#include "llvm/ExecutionEngine/JITLink/ELF_x86_64.h"
#include "llvm/ExecutionEngine/JITLink/x86_64.h"
#elif defined(__aarch64__)
#include "llvm/ExecutionEngine/JITLink/ELF_aarch64.h"
#endif
#pragma GCC diagnostic pop

namespace sdfg::runtime {
namespace {

using llvm::jitlink::BasicLayout;
using llvm::jitlink::JITLinkAsyncLookupContinuation;
using llvm::jitlink::JITLinkContext;
using llvm::jitlink::JITLinkDylib;
using llvm::jitlink::JITLinkMemoryManager;
using llvm::jitlink::LinkGraph;
using llvm::jitlink::PassConfiguration;
using llvm::orc::ExecutorAddr;
using llvm::orc::MemProt;

namespace elf {
using Header = Elf64_Ehdr;
#if defined(__x86_64__)
constexpr auto kMachine = EM_X86_64;
#else
constexpr auto kMachine = EM_AARCH64;
#endif
}  // namespace elf

llvm::Error link_error(const llvm::Twine& text) {
  return llvm::make_error<llvm::StringError>(text, llvm::inconvertibleErrorCode());
}

bool contains(MemProt set, MemProt bit) {
  return (static_cast<int>(set) & static_cast<int>(bit)) != 0;
}

// Puts the segments of one graph into one CodeAllocation. Finalising copies nothing and calls no mprotect: the linker
// has written through the write view already.
class AreaAllocator final : public JITLinkMemoryManager {
 public:
  class InFlight final : public InFlightAlloc {
   public:
    explicit InFlight(CodeAllocation allocation) : allocation_(std::move(allocation)) {}
    void abandon(OnAbandonedFunction done) override {
      allocation_ = CodeAllocation();
      done(llvm::Error::success());
    }
    void finalize(OnFinalizedFunction done) override {
#if defined(__aarch64__)
      const auto& code = allocation_.extent(CodeArea::kExecute);
      __builtin___clear_cache(reinterpret_cast<char*>(code.run), reinterpret_cast<char*>(code.run + code.size));
#endif
      done(FinalizedAlloc(ExecutorAddr::fromPtr(new CodeAllocation(std::move(allocation_)))));
    }

   private:
    CodeAllocation allocation_;
  };

  void allocate(const JITLinkDylib*, LinkGraph& graph, OnAllocatedFunction done) override {
    BasicLayout layout(graph);
    std::array<CodeMemory::Request, kCodeAreas> requests{};
    std::vector<std::pair<BasicLayout::Segment*, std::pair<std::size_t, std::size_t>>> places;
    for (auto& [group, segment] : layout.segments()) {
      const MemProt protection = group.getMemProt();
      const bool executable = contains(protection, MemProt::Exec);
      const bool writable = contains(protection, MemProt::Write);
      if (executable && writable) return done(link_error("a section is both writable and executable"));
      const auto area = static_cast<std::size_t>(executable ? CodeArea::kExecute
                                                 : writable ? CodeArea::kData
                                                            : CodeArea::kConstant);
      const std::size_t alignment = segment.Alignment.value();
      if (alignment > 4096)
        return done(link_error("a section wants an alignment of " + llvm::Twine(alignment) + " bytes"));
      auto& request = requests[area];
      const std::size_t offset = (request.size + alignment - 1) & ~(alignment - 1);
      places.push_back({&segment, {area, offset}});
      request.alignment = std::max(request.alignment, alignment);
      request.size = offset + segment.ContentSize + segment.ZeroFillSize;
    }
    std::optional<CodeAllocation> allocation;
    try {
      allocation = CodeMemory::instance().allocate(requests);
    } catch (const Error& error) {
      return done(link_error(error.message()));
    }
    for (auto& [segment, place] : places) {
      const auto& extent = allocation->extent(static_cast<CodeArea>(place.first));
      segment->WorkingMem = reinterpret_cast<char*>(extent.write + place.second);
      segment->Addr = ExecutorAddr::fromPtr(extent.run + place.second);
    }
    if (auto error = layout.apply()) return done(std::move(error));
    done(std::make_unique<InFlight>(std::move(*allocation)));
  }

  void deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction done) override {
    for (auto& allocation : allocations) delete allocation.release().toPtr<CodeAllocation*>();
    done(llvm::Error::success());
  }
};

// Everything about one object between its layout and its end; filled by its Context.
struct ObjectState {
  std::unique_ptr<JITLinkAsyncLookupContinuation> continuation;
  std::vector<std::pair<llvm::orc::SymbolStringPtr, llvm::jitlink::SymbolLookupFlags>> wanted;
  std::vector<LoadedSymbol> defined;
  std::vector<bool> weak;  // parallel to defined
  SectionPlaces sections;
  std::optional<CodeAllocation> memory;
  std::optional<std::string> failure;
};

bool is_slot(std::string_view name) {
  return name == "sdfg_abi" || name == "sdfg_program" || name == "sdfg_emulator";
}

// Unwind tables are dropped: no exception crosses generated frames, and nothing else reads them. (Profilers and
// debuggers walk frame pointers.) Notes and the like are not loaded either.
llvm::Error drop_unwind_sections(LinkGraph& graph) {
  std::vector<llvm::jitlink::Section*> doomed;
  for (auto& section : graph.sections()) {
    if (section.getName() == ".eh_frame") doomed.push_back(&section);
  }
  for (auto* section : doomed) graph.removeSection(*section);
  return llvm::Error::success();
}

// Nobody would run them, and generated code has none; user-supplied text might.
llvm::Error refuse_constructors(LinkGraph& graph) {
  for (auto& section : graph.sections()) {
    const llvm::StringRef name = section.getName();
    const bool runs = name.starts_with(".init_array") || name.starts_with(".fini_array") || name.starts_with(".ctors");
    if (runs && !section.blocks().empty())
      return link_error("it has static constructors or destructors (" + name + ")");
  }
  return llvm::Error::success();
}

llvm::Error build_tables([[maybe_unused]] LinkGraph& graph) {
#if defined(__x86_64__)
  llvm::jitlink::x86_64::GOTTableManager got(graph);
  llvm::jitlink::x86_64::PLTTableManager plt(graph, got);
  llvm::jitlink::visitExistingEdges(graph, got, plt);
#endif
  return llvm::Error::success();
}

class Context final : public JITLinkContext {
 public:
  Context(AreaAllocator& allocator, ObjectState& state)
      : JITLinkContext(nullptr), allocator_(allocator), state_(state) {}

  JITLinkMemoryManager& getMemoryManager() override { return allocator_; }
  void notifyFailed(llvm::Error error) override { state_.failure = llvm::toString(std::move(error)); }

  // The objects of a program refer to each other, so an answer must wait until all are laid out.
  void lookup(const LookupMap& symbols, std::unique_ptr<JITLinkAsyncLookupContinuation> continuation) override {
    for (const auto& [name, flags] : symbols) state_.wanted.emplace_back(name, flags);
    state_.continuation = std::move(continuation);
  }

  llvm::Error notifyResolved(LinkGraph& graph) override {
    for (auto* symbol : graph.defined_symbols()) {
      if (!symbol->hasName() || symbol->getScope() == llvm::jitlink::Scope::Local) continue;
      state_.defined.push_back({(*symbol->getName()).str(), symbol->getAddress().toPtr<void*>(),
                                static_cast<std::size_t>(symbol->getSize()), symbol->isCallable()});
      state_.weak.push_back(symbol->getLinkage() == llvm::jitlink::Linkage::Weak);
    }
    for (auto& section : graph.sections()) {
      const llvm::jitlink::SectionRange range(section);
      if (!range.empty()) state_.sections.emplace_back(section.getName().str(), range.getStart().getValue());
    }
    return llvm::Error::success();
  }

  void notifyFinalized(JITLinkMemoryManager::FinalizedAlloc allocation) override {
    std::unique_ptr<CodeAllocation> memory(allocation.release().toPtr<CodeAllocation*>());
    state_.memory = std::move(*memory);
  }

#if defined(__x86_64__)
  // The target's default passes are replaced, not extended: LLVM 22 relaxes a GOT load of a target below 4 GiB with an
  // absolute fix-up that is wrong in non-PIE hosts. Without relaxation a GOT load is always right.
  bool shouldAddDefaultTargetPasses(const llvm::Triple&) const override { return false; }
#endif

  llvm::Error modifyPassConfig(LinkGraph&, PassConfiguration& passes) override {
    passes.PrePrunePasses.insert(passes.PrePrunePasses.begin(), drop_unwind_sections);
    passes.PrePrunePasses.insert(passes.PrePrunePasses.begin(), refuse_constructors);
#if defined(__x86_64__)
    passes.PrePrunePasses.push_back(llvm::jitlink::markAllSymbolsLive);
    passes.PostPrunePasses.push_back(build_tables);
#endif
    return llvm::Error::success();
  }

 private:
  AreaAllocator& allocator_;
  ObjectState& state_;
};

llvm::Expected<std::unique_ptr<LinkGraph>> make_graph(std::span<const std::uint8_t> object,
                                                      std::shared_ptr<llvm::orc::SymbolStringPool> pool) {
  // The linker takes the machine for granted.
  elf::Header header{};
  if (object.size() < sizeof(header)) return link_error("it has " + llvm::Twine(object.size()) + " bytes");
  std::memcpy(&header, object.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL || header.e_machine != elf::kMachine) {
    return link_error("it is not a relocatable ELF object of this machine");
  }
  const llvm::MemoryBufferRef buffer(llvm::StringRef(reinterpret_cast<const char*>(object.data()), object.size()),
                                     "object");
#if defined(__x86_64__)
  return llvm::jitlink::createLinkGraphFromELFObject_x86_64(buffer, std::move(pool));
#elif defined(__aarch64__)
  return llvm::jitlink::createLinkGraphFromELFObject_aarch64(buffer, std::move(pool));
#else
#error "the loader knows x86-64 and AArch64"
#endif
}

void start_link(std::unique_ptr<LinkGraph> graph, std::unique_ptr<JITLinkContext> context) {
#if defined(__x86_64__)
  llvm::jitlink::link_ELF_x86_64(std::move(graph), std::move(context));
#else
  llvm::jitlink::link_ELF_aarch64(std::move(graph), std::move(context));
#endif
}

using SymbolTable = std::map<std::string, LoadedSymbol, std::less<>>;

// The first strong definition of a name, else the first weak one; two strong ones are an error.
SymbolTable merge_definitions(const std::vector<ObjectState>& states) {
  SymbolTable table;
  std::map<std::string, bool, std::less<>> strong;
  for (const auto& state : states) {
    for (std::size_t i = 0; i < state.defined.size(); ++i) {
      const LoadedSymbol& symbol = state.defined[i];
      const auto [it, fresh] = table.emplace(symbol.name, symbol);
      bool& is_strong = strong[symbol.name];
      if (!fresh && !is_slot(symbol.name)) {
        if (is_strong && !state.weak[i]) {
          throw Error(ErrorClass::kLoad, "two objects of one program define the symbol '" + symbol.name + "'");
        }
        if (!is_strong && !state.weak[i]) it->second = symbol;
      }
      is_strong = is_strong || !state.weak[i];
    }
  }
  return table;
}

void resolve(ObjectState& state, const SymbolTable& table) {
  llvm::jitlink::AsyncLookupResult result;
  std::vector<std::string> missing;
  for (const auto& [name, flags] : state.wanted) {
    const llvm::StringRef text = *name;
    void* address = nullptr;
    bool code = true;
    if (const auto it = table.find(std::string_view(text)); it != table.end()) {
      address = it->second.address;
      code = it->second.code;
    } else {
      address = find_external(std::string_view(text));
    }
    if (address == nullptr && flags == llvm::jitlink::SymbolLookupFlags::RequiredSymbol) missing.push_back(text.str());
    result[name] = {
        ExecutorAddr::fromPtr(address),
        code ? llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable : llvm::JITSymbolFlags::Exported};
  }
  auto continuation = std::move(state.continuation);
  if (missing.empty()) return continuation->run(std::move(result));
  std::sort(missing.begin(), missing.end());
  std::string text = missing.size() == 1 ? "unresolved symbol '" : "unresolved symbols '";
  for (std::size_t i = 0; i < missing.size(); ++i) text += (i == 0 ? "" : "', '") + missing[i];
  continuation->run(link_error(text + "'"));
}

void fill_slots(const ObjectState& state, const LoadSlots& slots) {
  for (const auto& symbol : state.defined) {
    if (symbol.name == "sdfg_abi") *static_cast<const void**>(symbol.address) = slots.abi;
    if (symbol.name == "sdfg_program") *static_cast<void**>(symbol.address) = slots.program;
    if (symbol.name == "sdfg_emulator") *static_cast<const void**>(symbol.address) = slots.emulator;
  }
}

[[noreturn]] void fail(std::size_t object, std::size_t objects, const std::string& text) {
  const std::string which = objects == 1 ? "" : " " + std::to_string(object + 1) + " of " + std::to_string(objects);
  const bool unresolved = text.find("unresolved symbol") != std::string::npos;
  throw Error(ErrorClass::kLoad, "object" + which + " cannot be loaded: " + text, {},
              unresolved
                  ? "generated code may call libm, libmvec, libc's mem* functions, the compiler's helpers and the "
                    "runtime's table only; other libraries are reached through the table's `library` entry"
                  : "");
}

}  // namespace

LinkedObjects link_objects(std::span<const std::span<const std::uint8_t>> objects, const LoadSlots& slots) {
  auto pool = std::make_shared<llvm::orc::SymbolStringPool>();
  AreaAllocator allocator;
  std::vector<ObjectState> states(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    auto graph = make_graph(objects[i], pool);
    if (!graph) fail(i, objects.size(), llvm::toString(graph.takeError()));
    start_link(std::move(*graph), std::make_unique<Context>(allocator, states[i]));
    if (states[i].failure) fail(i, objects.size(), *states[i].failure);
  }
  const SymbolTable table = merge_definitions(states);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (states[i].continuation) resolve(states[i], table);
    if (states[i].failure) fail(i, objects.size(), *states[i].failure);
  }
  LinkedObjects linked;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!states[i].memory) throw Error(ErrorClass::kInternal, "the linker finished without an answer");
    fill_slots(states[i], slots);
    linked.memory.push_back(std::move(*states[i].memory));
    linked.sections.push_back(std::move(states[i].sections));
  }
  for (const auto& [name, symbol] : table) linked.symbols.push_back(symbol);
  return linked;
}

}  // namespace sdfg::runtime
