// Lifetimes of containers in the interpreter.
#include "interpret/storage.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sdfg::interpret {

using tasklet::Value;

namespace {

std::int64_t element_size_of(const ir::Container& c) {
  if (c.kind == ir::ContainerKind::kContainerArray) return std::int64_t{sizeof(void*)};
  return c.type.size();
}

bool is_structure(const ir::Container& c) {
  return c.kind == ir::ContainerKind::kStructure || (c.kind == ir::ContainerKind::kView && !c.members.empty());
}

constexpr std::size_t kMaxRank = 32;

}  // namespace

void Storage::shape(int slot) {
  Live& c = frame_.live(slot);
  const plan::ContainerPlan& p = plan(slot);
  const auto all = [&](const std::vector<Index>& from, std::vector<std::int64_t>& to) {
    to.clear();
    for (const Index& i : from) to.push_back(i(frame_));
  };
  try {
    all(p.shape, c.shape);
    all(p.strides, c.strides);
    all(p.offset, c.offset);
    c.start_offset = p.start_offset(frame_);
  } catch (const Error& e) {
    throw Error(e.error_class(), "the layout of container '" + path(slot) + "' can't be evaluated: " + e.message());
  }
  if (c.shape.size() > kMaxRank)
    throw Error(ErrorClass::kLimit,
                "container '" + path(slot) + "' has more than " + std::to_string(kMaxRank) + " dimensions");
  for (std::size_t d = 0; d < c.shape.size(); ++d)
    if (c.shape[d] < 0)
      throw Error(ErrorClass::kUsage, "extent " + std::to_string(c.shape[d]) + " of dimension " + std::to_string(d) +
                                          " of container '" + path(slot) + "' is negative (" + p.shape[d].expr().str() +
                                          ")");
  c.element_size = element_size_of(*c.desc);
}

std::int64_t Storage::bytes(int slot) const {
  const Live& c = frame_.live(slot);
  if (c.desc->kind == ir::ContainerKind::kStructure) return structure_size(*c.desc);
  std::int64_t elements = 1, total = 0, size = 0;
  for (std::int64_t extent : c.shape)
    if (__builtin_mul_overflow(elements, extent, &elements))
      throw Error(ErrorClass::kLimit,
                  "the number of elements of container '" + path(slot) + "' overflows 64-bit integers");
  try {
    total = plan(slot).total_size(frame_);
  } catch (const Error& e) {
    throw Error(e.error_class(), "the size of container '" + path(slot) + "' can't be evaluated: " + e.message());
  }
  if (elements == 0) return 0;
  if (total < 0 || __builtin_mul_overflow(total, c.element_size, &size))
    throw Error(ErrorClass::kLimit, "the size of container '" + path(slot) + "' overflows 64-bit integers");
  return size;
}

void Storage::allocate(int slot) {
  Live& c = frame_.live(slot);
  shape(slot);
  c.alive = true;
  switch (c.desc->kind) {
    case ir::ContainerKind::kView: bind_view(slot); return;
    case ir::ContainerKind::kReference:
      c.base = nullptr;
      rebind_views(slot);
      return;
    case ir::ContainerKind::kStream:
      c.queues = std::make_shared<std::vector<Queue>>(static_cast<std::size_t>(c.num_elements()));
      for (Queue& q : *c.queues) {
        q.desc = c.desc;
        q.capacity = plan(slot).buffer_size(frame_);
        if (q.capacity < 0)
          throw Error(ErrorClass::kLaunch,
                      "stream '" + path(slot) + "' would have the capacity " + std::to_string(q.capacity));
      }
      return;
    case ir::ContainerKind::kScalar:
    case ir::ContainerKind::kArray:
    case ir::ContainerKind::kContainerArray:
    case ir::ContainerKind::kStructure: break;
  }
  const std::int64_t size = bytes(slot);
  const bool structure = c.desc->kind == ir::ContainerKind::kStructure;
  c.allocation = std::make_shared<Allocation>(size, c.desc->alignment, track_ && !structure);
  c.base = c.allocation->data();
  c.limit_low = c.base;
  c.limit_high = c.base + size;
  const Type& type = c.desc->type;
  if (c.desc->zeroed || c.desc->kind == ir::ContainerKind::kContainerArray)
    c.allocation->zero();
  else if (type.kind() == Type::Kind::kScalar || type.kind() == Type::Kind::kVector)
    c.allocation->poison(type.scalar());
  else
    c.allocation->poison_bytes();
  if (structure) allocate_members(slot);
}

void Storage::allocate_members(int slot) {
  const Live& structure = frame_.live(slot);
  for (int m : plan(slot).members) {
    Live& member = frame_.live(m);
    std::byte* field = structure.base + program_.slots.containers[static_cast<std::size_t>(m)].field_offset;
    if (member.desc->is_scalar()) {
      bind(m, field);
      if (structure.desc->zeroed) std::memset(field, 0, static_cast<std::size_t>(member.element_size));
      continue;
    }
    allocate(m);
    if (structure.desc->zeroed && member.allocation && member.desc->kind != ir::ContainerKind::kStructure)
      member.allocation->zero();
    std::memcpy(field, &member.base, sizeof(void*));
  }
}

// Members of a structure that exists in memory: scalars in place, everything else behind a pointer.
void Storage::bind_members(int slot) {
  const Live& structure = frame_.live(slot);
  for (int m : plan(slot).members) {
    std::byte* field = structure.base + program_.slots.containers[static_cast<std::size_t>(m)].field_offset;
    if (frame_.live(m).desc->is_scalar()) {
      bind(m, field);
      continue;
    }
    void* memory = nullptr;
    std::memcpy(&memory, field, sizeof(void*));
    bind(m, memory);
  }
}

void Storage::bind(int slot, void* memory, bool bounded) {
  Live& c = frame_.live(slot);
  shape(slot);
  c.alive = true;
  c.allocation.reset();
  c.base = static_cast<std::byte*>(memory);
  const std::int64_t size = bytes(slot);
  if (memory == nullptr && size > 0)
    throw Error(ErrorClass::kUsage,
                "the address of container '" + path(slot) + "' is null, but it has " + std::to_string(size) + " bytes");
  c.limit_low = bounded ? c.base : nullptr;
  c.limit_high = bounded ? c.base + size : nullptr;
  if (c.desc->kind == ir::ContainerKind::kStream)
    throw Error(ErrorClass::kUsage, "stream '" + path(slot) + "' can't be an argument");
  if (is_structure(*c.desc)) bind_members(slot);
  rebind_views(slot);
}

void Storage::bind_value(int slot, const Value& value) {
  Live& c = frame_.live(slot);
  if (!c.desc->is_scalar())
    throw Error(ErrorClass::kUsage, "argument '" + path(slot) + "' is a value, but the parameter is no scalar");
  shape(slot);
  c.alive = true;
  c.allocation = std::make_shared<Allocation>(c.element_size, 0, false);
  c.base = c.allocation->data();
  c.limit_low = c.base;
  c.limit_high = c.base + c.element_size;
  value.cast(element_scalar(c, path(slot))).store(c.base);
}

void Storage::bind_constant(int slot) {
  Live& c = frame_.live(slot);
  // Writes to constants are refused by every writer.
  auto* data = const_cast<std::uint8_t*>(c.desc->constant->data());
  shape(slot);
  if (static_cast<std::int64_t>(c.desc->constant->size()) < bytes(slot))
    throw Error(ErrorClass::kGraph, "constant '" + path(slot) + "' holds " + std::to_string(c.desc->constant->size()) +
                                        " bytes, but its layout needs " + std::to_string(bytes(slot)));
  bind(slot, data);
}

void Storage::adopt(int slot, const Live& kept) {
  Live& c = frame_.live(slot);
  shape(slot);
  c.alive = true;
  c.base = kept.base;
  c.limit_low = kept.limit_low;
  c.limit_high = kept.limit_high;
  c.allocation = kept.allocation;
  c.queues = kept.queues;
}

void Storage::release(int slot) {
  Live& c = frame_.live(slot);
  for (int m : plan(slot).members) release(m);
  c.alive = false;
  c.base = nullptr;
  c.allocation.reset();
  c.queues.reset();
}

void Storage::bind_view(int slot) {
  show(slot, *plan(slot).window);
}

void Storage::show(int slot, const Region& window) {
  Live& view = frame_.live(slot);
  const Live& target = frame_.live(window.container);
  if (!target.alive)
    throw Error(ErrorClass::kGraph,
                "'" + path(slot) + "' shows container '" + path(window.container) + "', which doesn't exist here");
  view.queues = target.queues;
  view.allocation = target.allocation;
  view.limit_low = target.limit_low;
  view.limit_high = target.limit_high;
  if (target.base == nullptr || target.desc->kind == ir::ContainerKind::kStream) {
    view.base = target.base;
    return;
  }
  if (target.desc->kind == ir::ContainerKind::kStructure) {
    view.base = target.base;
  } else {
    std::int64_t begin[kMaxRank] = {};
    for (std::size_t d = 0; d < window.ranges.size(); ++d) begin[d] = window.ranges[d].begin(frame_);
    const std::span<const std::int64_t> indices(begin, window.ranges.size());
    // An empty window may begin at the end of its container.
    const bool empty = view.num_elements() == 0 || target.num_elements() == 0;
    std::byte* at = target.base + flat_index(target, path(window.container), indices, empty || window.allow_oob) *
                                      target.element_size;
    if (target.desc->kind == ir::ContainerKind::kContainerArray &&
        view.desc->kind != ir::ContainerKind::kContainerArray && view.desc->type.kind() != Type::Kind::kPointer) {
      void* element = nullptr;
      std::memcpy(&element, at, sizeof(void*));
      if (element == nullptr)
        throw Error(ErrorClass::kGraph,
                    "'" + path(slot) + "' shows an element of '" + path(window.container) + "' that holds no address");
      at = static_cast<std::byte*>(element);
      view.allocation.reset();
      view.limit_low = view.limit_high = nullptr;
    }
    view.base = at;
  }
  if (is_structure(*view.desc)) bind_members(slot);
}

void Storage::rebind_views(int slot) {
  for (int v : plan(slot).views) {
    if (!frame_.live(v).alive) continue;
    bind_view(v);
    rebind_views(v);
  }
}

void Storage::set_reference(int slot, const Region& target) {
  Live& reference = frame_.live(slot);
  if (!reference.alive) throw Error(ErrorClass::kGraph, "reference '" + path(slot) + "' is set where it doesn't exist");
  shape(slot);
  show(slot, target);
  rebind_views(slot);
}

std::vector<std::byte*> elements_of(const Region& region, const Frame& frame) {
  const Live& c = frame.existing(region.container);
  const std::string& name = frame.slots->containers[static_cast<std::size_t>(region.container)].path;
  const std::size_t rank = region.ranges.size();
  std::vector<EvaluatedRange> ranges;
  bool tiled = false;
  std::int64_t total = 1;
  for (const RangePlan& r : region.ranges) {
    ranges.push_back(evaluate(r, frame));
    tiled = tiled || ranges.back().tile != 1;
    total *= ranges.back().count * ranges.back().tile;
  }
  std::vector<std::byte*> out;
  if (total == 0) return out;
  out.reserve(static_cast<std::size_t>(total));
  // Counters of the points, then (for tiled ranges) of the offsets inside the tiles.
  std::vector<std::int64_t> limits, counter(tiled ? 2 * rank : rank, 0), index(rank);
  for (const EvaluatedRange& r : ranges) limits.push_back(r.count);
  if (tiled)
    for (const EvaluatedRange& r : ranges) limits.push_back(r.tile);
  while (true) {
    for (std::size_t d = 0; d < rank; ++d)
      index[d] = ranges[d].begin + counter[d] * ranges[d].step + (tiled ? counter[rank + d] : 0);
    out.push_back(address_of(c, name, index, region.allow_oob));
    std::size_t d = counter.size();
    while (d > 0 && ++counter[d - 1] == limits[d - 1]) counter[--d] = 0;
    if (d == 0) return out;
  }
}

std::byte* element_of(const Region& region, const Live& c, const std::string& path, const Frame& frame) {
  std::int64_t index[kMaxRank];
  const std::size_t rank = region.ranges.size();
  if (rank > kMaxRank) throw Error(ErrorClass::kLimit, "a memlet on '" + path + "' has too many dimensions");
  for (std::size_t d = 0; d < rank; ++d) index[d] = region.ranges[d].begin(frame);
  return address_of(c, path, {index, rank}, region.allow_oob);
}

void Queue::push(std::vector<std::byte> element) {
  if (capacity > 0 && std::cmp_greater_equal(size(), capacity))
    throw Error(ErrorClass::kLaunch,
                "stream '" + desc->name + "' is full: it has room for " + std::to_string(capacity) + " elements");
  push_back(std::move(element));
}

Queue& queue_of(const Region& region, Frame& frame) {
  const Live& c = frame.existing(region.container);
  const std::string& path = frame.slots->containers[static_cast<std::size_t>(region.container)].path;
  if (c.queues == nullptr) throw Error(ErrorClass::kGraph, "'" + path + "' is no stream");
  std::int64_t number = 0;
  for (std::size_t d = 0; d < c.shape.size(); ++d) {
    const EvaluatedRange r =
        d < region.ranges.size() ? evaluate(region.ranges[d], frame) : EvaluatedRange{0, 1, c.shape[d], 1};
    if (r.count != 1)
      throw Error(ErrorClass::kGraph,
                  "a memlet selects " + std::to_string(r.count) + " queues of the streams '" + path + "'");
    if (r.begin < 0 || r.begin >= c.shape[d])
      throw Error(ErrorClass::kLaunch, path + "[" + std::to_string(r.begin) + "] is out of bounds: index " +
                                           std::to_string(r.begin) + " in dimension " + std::to_string(d) + " of '" +
                                           path + "', extent " + std::to_string(c.shape[d]));
    number = number * c.shape[d] + r.begin;
  }
  return (*c.queues)[static_cast<std::size_t>(number)];
}

}  // namespace sdfg::interpret
