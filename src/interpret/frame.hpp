// The state of one execution: symbol values, live containers, callbacks; and names resolved once to slots of it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interpret/arguments.hpp"
#include "interpret/memory.hpp"
#include "ir/graph.hpp"

namespace sdfg::interpret {

// Slots of all symbols and of all containers; members of structures have their own under their path "st.x".
struct Slots {
  explicit Slots(const ir::Graph& graph);

  int symbol(std::string_view name) const;          // throws Error(kGraph) when there is none
  int container(std::string_view path) const;       // throws Error(kGraph) when there is none
  int find_symbol(std::string_view name) const;     // -1: none
  int find_container(std::string_view path) const;  // -1: none

  struct ContainerSlot {
    std::string path;
    const ir::Container* desc;
    int parent = -1;                // the structure (or structure view) this is a member of
    std::int64_t field_offset = 0;  // bytes into the parent's C structure
  };
  std::vector<const ir::Symbol*> symbols;
  std::vector<ContainerSlot> containers;

 private:
  void add_members(int parent);
  std::map<std::string, int, std::less<>> symbol_slots_;
  std::map<std::string, int, std::less<>> container_slots_;
};

// Bytes of the C structure that a Structure container points to: scalars in place, everything else as a pointer.
std::int64_t structure_size(const ir::Container& structure);

struct Frame {
  explicit Frame(const Slots& slots);

  const Slots* slots;
  std::vector<std::int64_t> symbols;  // booleans as 0 or 1, uint64 by bits
  std::vector<std::uint8_t> defined;  // per symbol
  std::vector<Callback> callbacks;    // per symbol
  std::vector<Live> containers;

  std::int64_t symbol(int slot) const {
    if (!defined[static_cast<std::size_t>(slot)]) fail_undefined(slot);
    return symbols[static_cast<std::size_t>(slot)];
  }
  void set_symbol(int slot, std::int64_t value) {
    symbols[static_cast<std::size_t>(slot)] = value;
    defined[static_cast<std::size_t>(slot)] = 1;
  }
  tasklet::Value symbol_value(int slot) const;
  void set_symbol_value(int slot, const tasklet::Value& value);  // converts to the symbol's type
  Live& live(int slot) { return containers[static_cast<std::size_t>(slot)]; }
  const Live& live(int slot) const { return containers[static_cast<std::size_t>(slot)]; }
  // The container, or Error(kGraph) when it doesn't exist here or is a Reference that was not set.
  const Live& existing(int slot) const;

 private:
  [[noreturn]] void fail_undefined(int slot) const;
};

// A symbolic expression ready to evaluate: affine ones as terms over slots, all others by symbolic::evaluate.
class Index {
 public:
  Index() = default;  // 0
  Index(const symbolic::Expr& e, const Slots& slots);

  std::int64_t operator()(const Frame& frame) const {
    if (general_) return evaluate(frame);
    std::int64_t sum = constant_;
    for (const auto& [slot, factor] : terms_) {
      std::int64_t term = 0;
      if (__builtin_mul_overflow(frame.symbol(slot), factor, &term) || __builtin_add_overflow(sum, term, &sum))
        fail_overflow();
    }
    return sum;
  }
  const symbolic::Expr& expr() const { return expr_; }

 private:
  std::int64_t evaluate(const Frame& frame) const;
  [[noreturn]] void fail_overflow() const;

  symbolic::Expr expr_;
  bool general_ = false;
  std::int64_t constant_ = 0;
  std::vector<std::pair<int, std::int64_t>> terms_;
};

// Address of an element. Checks each index against the extent (unless `allow_oob`) and the address against the
// container's memory.
std::byte* address_of(const Live& c, const std::string& path, std::span<const std::int64_t> indices, bool allow_oob);
// The same for an element number of the layout: start_offset + sum (i_d + offset_d) * stride_d.
std::byte* address_at(const Live& c, const std::string& path, std::int64_t flat);
std::int64_t flat_index(const Live& c, const std::string& path, std::span<const std::int64_t> indices, bool allow_oob);

[[noreturn]] void throw_unwritten(const Live& c, const std::string& path, const std::byte* at);
// Element values. `lane` selects the component of a vector type. Loading checks the flags of written bytes where they
// are kept.
tasklet::Value load_element(const Live& c, const std::string& path, const std::byte* at, int lane = 0);
void store_element(const Live& c, const std::string& path, std::byte* at, const tasklet::Value& value, int lane = 0);
// The basic type of a container's elements; throws Error(kGraph) for pointers, structures and opaque types.
ScalarType element_scalar(const Live& c, const std::string& path);

}  // namespace sdfg::interpret
