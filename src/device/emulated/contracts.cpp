// The checks of copies, fills and arguments.
#include "device/emulated/contracts.hpp"

#include <cstdlib>
#include <cstring>

namespace sdfg::device::emulated {

namespace {

std::string_view name_of(Space space) {
  switch (space) {
    case Space::kHost: return "host";
    case Space::kPinned: return "pinned host";
    case Space::kDevice: return "device";
  }
  return "unknown";
}

}  // namespace

Reach span_of(const Copy& copy, const std::array<std::int64_t, 2>& stride) {
  std::int64_t low = 0;
  std::int64_t high = copy.bytes;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t reach = (copy.count[d] - 1) * stride[d];
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

void Contracts::check_side(const char* verb, const void* address, Space space, Reach reach, const Site& site) const {
  const std::string who = std::string("an operation ") + verb + " ";
  if (address == nullptr) {
    throw operation_error(ErrorClass::kLaunch, who + "through a null pointer", site);
  }
  const bool on_device = space_.contains(address);
  if (on_device != (space == Space::kDevice)) {
    const Allocation* memory = space_.find(address);
    throw operation_error(
        ErrorClass::kLaunch,
        who + (on_device ? "device" : "host") + " memory" +
            (memory != nullptr && !memory->place.what.empty() ? " (" + memory->place.what + ")" : "") +
            ", but its direction says " + std::string(name_of(space)) + " memory",
        site, "the direction of the copy does not match where the containers lie");
  }
  if (!on_device) {
    if (space == Space::kPinned && !pinned_(static_cast<const char*>(address) + reach.first,
                                            static_cast<std::uint64_t>(reach.second - reach.first))) {
      throw operation_error(ErrorClass::kLaunch,
                            who + "pinned memory that was not allocated as such, or beyond its end", site);
    }
    return;
  }
  const Allocation* memory = space_.find(address);
  const std::string what = memory == nullptr || memory->place.what.empty() ? "device memory" : memory->place.what;
  std::vector<Error::Place> places;
  if (site.names && site.ordinal >= 0) places.push_back(site.names->place(site.ordinal));
  if (memory != nullptr && !memory->place.what.empty()) places.push_back(memory->place);
  if (memory == nullptr || memory->kind != MemoryKind::kGlobal) {
    throw Error(ErrorClass::kLaunch, who + "a device address that belongs to no allocation", std::move(places));
  }
  if (memory->freed() || memory->release_queued) {
    throw Error(ErrorClass::kLaunch, who + what + ", which has been released", std::move(places));
  }
  const auto inside =
      static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(address) - space_.base() - memory->begin);
  if (inside + reach.first < 0 || inside + reach.second > static_cast<std::int64_t>(memory->bytes)) {
    throw Error(ErrorClass::kLaunch,
                who + "bytes " + std::to_string(inside + reach.first) + " to " + std::to_string(inside + reach.second) +
                    " of " + what + ", which has " + std::to_string(memory->bytes),
                std::move(places));
  }
}

void Contracts::check_overlap(const Copy& copy, const Site& site) {
  if (copy.to_space != copy.from_space) return;
  const auto to = span_of(copy, copy.to_stride);
  const auto from = span_of(copy, copy.from_stride);
  const auto begin_to = reinterpret_cast<std::int64_t>(copy.to);
  const auto begin_from = reinterpret_cast<std::int64_t>(copy.from);
  if (begin_to + to.first >= begin_from + from.second || begin_from + from.first >= begin_to + to.second) return;
  // The spans meet; strided sides may still interleave. Exact for what is small, else by equal strides.
  const bool same = copy.to_stride == copy.from_stride;
  bool meets = copy.count[0] * copy.count[1] == 1;
  if (same && !meets) {
    const std::int64_t distance = std::abs(begin_to - begin_from);
    for (std::int64_t i = 0; i < copy.count[0] && !meets; ++i) {
      const std::int64_t rest = std::abs(distance - i * std::abs(copy.to_stride[0]));
      if (copy.count[1] <= 1) {
        meets = rest < copy.bytes;
      } else if (copy.to_stride[1] != 0) {
        const std::int64_t step = std::abs(copy.to_stride[1]);
        const std::int64_t j = rest / step;
        meets = (j < copy.count[1] && rest - j * step < copy.bytes) ||
                (j + 1 < copy.count[1] && (j + 1) * step - rest < copy.bytes);
      }
    }
  }
  if (meets) {
    throw operation_error(ErrorClass::kLaunch, "a copy within the same memory reads what it writes", site);
  }
}

void Contracts::check_arguments(const KernelInfo& info, const Task& task, const Site& site) const {
  const auto pointer = [&](std::size_t i) {
    void* value = nullptr;
    std::memcpy(&value, &task.parameters[task.offsets[i]], sizeof value);
    return value;
  };
  const auto named = [&](std::size_t i) {
    const std::int32_t ordinal = info.parameters[i].ordinal;
    const bool known = site.names && ordinal >= 0;
    return known ? site.names->place(ordinal).what : "argument " + std::to_string(i);
  };
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    const ParameterInfo& parameter = info.parameters[i];
    if (!parameter.is_pointer) continue;
    const void* value = pointer(i);
    if (value == nullptr || pinned_(value, 1)) continue;
    const Allocation* memory = space_.find(value);
    if (!space_.contains(value)) {
      throw operation_error(ErrorClass::kLaunch, "kernel '" + info.name + "' gets " + named(i) + " in host memory",
                            site, "a copy to the device is missing, or its result is not used");
    }
    if (memory == nullptr || memory->kind != MemoryKind::kGlobal || memory->freed() || memory->release_queued) {
      throw operation_error(
          ErrorClass::kLaunch,
          "kernel '" + info.name + "' gets " + named(i) +
              (memory == nullptr ? " at a device address of no allocation" : ", which has been released"),
          site);
    }
    for (std::size_t j = 0; j < i; ++j) {
      const ParameterInfo& other = info.parameters[j];
      const bool promised = parameter.is_restrict && other.is_restrict && other.is_pointer;
      if (promised && (!parameter.is_const || !other.is_const) && pointer(j) == value && memory->bytes > 0) {
        throw operation_error(ErrorClass::kLaunch,
                              "kernel '" + info.name + "' gets the same memory as " + named(j) + " and as " + named(i) +
                                  ", writes it, and was promised that they do not overlap (__restrict__)",
                              site, "mark the containers as aliases of each other");
      }
    }
  }
}

}  // namespace sdfg::device::emulated
