// Slots of names, evaluation of indices, and checked access to elements.
#include "interpret/frame.hpp"

#include <algorithm>

namespace sdfg::interpret {

using tasklet::Value;

namespace {

std::string element_text(const std::string& path, std::span<const std::int64_t> indices) {
  std::string out = path + "[";
  for (std::size_t d = 0; d < indices.size(); ++d) out += (d == 0 ? "" : ", ") + std::to_string(indices[d]);
  return out + "]";
}

std::int64_t field_size(const ir::Container& member) {
  return member.is_scalar() ? member.type.size() : std::int64_t{sizeof(void*)};
}
std::int64_t field_alignment(const ir::Container& member) {
  return member.is_scalar() ? std::max<std::int64_t>(member.type.alignment(), 1) : std::int64_t{alignof(void*)};
}
std::int64_t align_up(std::int64_t at, std::int64_t alignment) {
  return (at + alignment - 1) / alignment * alignment;
}

}  // namespace

std::int64_t structure_size(const ir::Container& structure) {
  std::int64_t at = 0, alignment = 1;
  for (const ir::Container& m : structure.members) {
    at = align_up(at, field_alignment(m)) + field_size(m);
    alignment = std::max(alignment, field_alignment(m));
  }
  return align_up(at, alignment);
}

Slots::Slots(const ir::Graph& graph) {
  for (const ir::Symbol& s : graph.symbols) {
    symbol_slots_.emplace(s.name, static_cast<int>(symbols.size()));
    symbols.push_back(&s);
  }
  for (const ir::Container& c : graph.containers) {
    const int slot = static_cast<int>(containers.size());
    container_slots_.emplace(c.name, slot);
    containers.push_back({c.name, &c});
    if (c.kind != ir::ContainerKind::kContainerArray) add_members(slot);
  }
}

void Slots::add_members(int parent) {
  std::int64_t at = 0;
  const ir::Container& desc = *containers[static_cast<std::size_t>(parent)].desc;
  for (const ir::Container& m : desc.members) {
    const int slot = static_cast<int>(containers.size());
    const std::string path = containers[static_cast<std::size_t>(parent)].path + "." + m.name;
    at = align_up(at, field_alignment(m));
    container_slots_.emplace(path, slot);
    containers.push_back({path, &m, parent, at});
    at += field_size(m);
    if (m.kind != ir::ContainerKind::kContainerArray) add_members(slot);
  }
}

int Slots::find_symbol(std::string_view name) const {
  auto it = symbol_slots_.find(name);
  return it == symbol_slots_.end() ? -1 : it->second;
}

int Slots::find_container(std::string_view path) const {
  auto it = container_slots_.find(path);
  return it == container_slots_.end() ? -1 : it->second;
}

int Slots::symbol(std::string_view name) const {
  const int slot = find_symbol(name);
  if (slot < 0) throw Error(ErrorClass::kGraph, "there is no symbol '" + std::string(name) + "'");
  return slot;
}

int Slots::container(std::string_view path) const {
  const int slot = find_container(path);
  if (slot < 0) throw Error(ErrorClass::kGraph, "there is no container '" + std::string(path) + "'");
  return slot;
}

Frame::Frame(const Slots& s)
    : slots(&s),
      symbols(s.symbols.size()),
      defined(s.symbols.size()),
      callbacks(s.symbols.size()),
      containers(s.containers.size()) {
  for (std::size_t i = 0; i < containers.size(); ++i) containers[i].desc = s.containers[i].desc;
}

void Frame::fail_undefined(int slot) const {
  throw Error(ErrorClass::kGraph,
              "symbol '" + slots->symbols[static_cast<std::size_t>(slot)]->name + "' has no value here");
}

Value Frame::symbol_value(int slot) const {
  const Type& type = slots->symbols[static_cast<std::size_t>(slot)]->type;
  const std::int64_t value = symbol(slot);
  if (type.scalar() == ScalarType::kBool) return Value::boolean(value != 0);
  return Value::integer(value, type.scalar());
}

void Frame::set_symbol_value(int slot, const Value& value) {
  const Type& type = slots->symbols[static_cast<std::size_t>(slot)]->type;
  set_symbol(slot, value.cast(type.scalar()).as_int());
}

const Live& Frame::existing(int slot) const {
  const Live& c = live(slot);
  const std::string& path = slots->containers[static_cast<std::size_t>(slot)].path;
  if (!c.alive) throw Error(ErrorClass::kGraph, "container '" + path + "' is used where it doesn't exist");
  if (c.base == nullptr && c.desc->kind == ir::ContainerKind::kReference)
    throw Error(ErrorClass::kGraph, "reference '" + path + "' is used before it was set");
  return c;
}

Index::Index(const symbolic::Expr& e, const Slots& slots) : expr_(e) {
  if (symbolic::has_reads(e))
    throw Error(ErrorClass::kGraph, "'" + e.str() + "' reads a container where only symbols may be used");
  for (const std::string& name : symbolic::free_symbols(e)) slots.symbol(name);
  if (e.is_boolean_valued()) {
    general_ = true;
    return;
  }
  const symbolic::Linear linear = symbolic::linear_terms(e);
  constant_ = linear.constant;
  for (const auto& [term, factor] : linear.terms) {
    if (term.kind() != symbolic::Kind::kSymbol) {
      general_ = true;
      return;
    }
    terms_.emplace_back(slots.symbol(term.name()), factor);
  }
}

std::int64_t Index::evaluate(const Frame& frame) const {
  symbolic::Valuation values;
  values.symbol = [&](std::string_view name) -> std::optional<std::int64_t> {
    return frame.symbol(frame.slots->symbol(name));
  };
  return symbolic::evaluate(expr_, values);
}

void Index::fail_overflow() const {
  throw Error(ErrorClass::kLimit, "the value of '" + expr_.str() + "' overflows 64-bit integers");
}

std::int64_t flat_index(const Live& c, const std::string& path, std::span<const std::int64_t> indices, bool allow_oob) {
  if (indices.size() != c.shape.size())
    throw Error(ErrorClass::kGraph, element_text(path, indices) + " has " + std::to_string(indices.size()) +
                                        " indices, but '" + path + "' has " + std::to_string(c.shape.size()) +
                                        " dimensions");
  std::int64_t flat = c.start_offset;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const std::int64_t at = indices[d] + c.offset[d];
    if (!allow_oob && (at < 0 || at >= c.shape[d])) {
      throw Error(ErrorClass::kLaunch,
                  element_text(path, indices) + " is out of bounds: index " + std::to_string(indices[d]) +
                      " in dimension " + std::to_string(d) + " of '" + path + "', extent " +
                      std::to_string(c.shape[d]) +
                      (c.offset[d] == 0 ? std::string() : ", offset " + std::to_string(c.offset[d])));
    }
    flat += at * c.strides[d];
  }
  return flat;
}

std::byte* address_at(const Live& c, const std::string& path, std::int64_t flat) {
  std::byte* at = c.base + flat * c.element_size;
  if (c.limit_low != nullptr && (at < c.limit_low || at + c.element_size > c.limit_high))
    throw Error(ErrorClass::kLaunch,
                "element number " + std::to_string(flat) + " of '" + path + "' lies outside its memory of " +
                    std::to_string((c.limit_high - c.limit_low) / std::max<std::int64_t>(c.element_size, 1)) +
                    " elements");
  return at;
}

std::byte* address_of(const Live& c, const std::string& path, std::span<const std::int64_t> indices, bool allow_oob) {
  return address_at(c, path, flat_index(c, path, indices, allow_oob));
}

ScalarType element_scalar(const Live& c, const std::string& path) {
  const Type& type = c.desc->type;
  if (type.kind() != Type::Kind::kScalar && type.kind() != Type::Kind::kVector)
    throw Error(ErrorClass::kGraph,
                "the elements of '" + path + "' have type " + type.str() + ", which has no arithmetic value");
  return type.scalar();
}

void throw_unwritten(const Live& c, const std::string& path, const std::byte* at) {
  throw Error(ErrorClass::kLaunch, "element number " +
                                       std::to_string((at - c.base) / std::max<std::int64_t>(c.element_size, 1)) +
                                       " of '" + path + "' is read before it was written");
}

Value load_element(const Live& c, const std::string& path, const std::byte* at, int lane) {
  const ScalarType type = element_scalar(c, path);
  const std::byte* from = at + lane * size_of(type);
  if (c.allocation && c.allocation->is_tracked() && !c.allocation->is_written(from, size_of(type)))
    throw_unwritten(c, path, at);
  return Value::load(from, type);
}

void store_element(const Live& c, const std::string& path, std::byte* at, const Value& value, int lane) {
  const ScalarType type = element_scalar(c, path);
  std::byte* to = at + lane * size_of(type);
  value.cast(type).store(to);
  if (c.allocation && c.allocation->is_tracked()) c.allocation->mark_written(to, size_of(type));
}

}  // namespace sdfg::interpret
