// Judges the accesses of kernels: bounds, spaces, alignment, constness, initialisation, races.
#include <algorithm>
#include <cstring>

#include "device/emulated/executor.hpp"

namespace sdfg::device::emulated {

namespace {

using codegen::kAccessAlignmentMask;
using codegen::kAccessAlignmentShift;
using codegen::kAccessAtomic;
using codegen::kAccessLineShift;
using codegen::kAccessSizeMask;
using codegen::kAccessWrite;

std::uint32_t line_of(std::uint64_t what) {
  return static_cast<std::uint32_t>(what >> kAccessLineShift);
}

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// "container 'A' (400 bytes)"
std::string text_of(const Allocation& memory) {
  const std::string what = memory.place.what.empty() ? "an unnamed allocation" : memory.place.what;
  return what + " (" + bytes_text(memory.bytes) + ")";
}

std::string verb(std::uint64_t what) {
  if ((what & kAccessAtomic) != 0) return "updates";
  return (what & kAccessWrite) != 0 ? "writes" : "reads";
}

std::string address_text(const void* address) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (auto value = reinterpret_cast<std::uint64_t>(address); value != 0; value >>= 4) text += kDigits[value & 15];
  std::reverse(text.begin(), text.end());
  return "0x" + (text.empty() ? "0" : text);
}

}  // namespace

void* Executor::access(const void* address, std::uint64_t what) {
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - space_.base();
  const std::uint64_t bytes = what & kAccessSizeMask;
  if (offset < space_.size()) [[likely]] {
    if (Allocation* memory = space_.owner(offset); memory != nullptr) [[likely]] {
      const std::uint64_t inside = offset - memory->begin;
      const std::uint64_t alignment = std::uint64_t{1} << (what >> kAccessAlignmentShift & kAccessAlignmentMask);
      const bool fits = inside <= memory->accessible && bytes <= memory->accessible - inside;
      const bool allowed = !memory->read_only || (what & kAccessWrite) == 0;
      if (fits && allowed && (offset & (alignment - 1)) == 0) [[likely]] {
        if (shadowing_ && memory->checked) return shadow(*memory, offset, bytes, what);
        if ((what & kAccessWrite) != 0) {
          if (bytes <= 16) {
            space_.set_initialised_small(offset, bytes);
          } else {
            space_.set_initialised(offset, bytes, true);
          }
        }
        return space_.real(offset);
      }
    }
  }
  return refuse(address, bytes, what);
}

// Everything that is not a plain access to device memory: allowed kinds first, else the report.
void* Executor::refuse(const void* address, std::uint64_t bytes, std::uint64_t what) {
  if (fiber_ != nullptr && fiber_->owns(address)) return const_cast<void*>(address);
  if (pinned_(address, bytes)) return const_cast<void*>(address);
  const bool reads = (what & kAccessWrite) == 0;
  if (reads && run_.holds && run_.holds(address, bytes)) return const_cast<void*>(address);
  void* const harmless = bytes <= scratch_.size() ? scratch_.data() : nullptr;
  if (fault_) return harmless;
  const std::uint32_t line = line_of(what);
  const std::string who = "kernel '" + run_.kernel->name + "' " + verb(what) + " " + bytes_text(bytes) + " ";
  if (!space_.contains(address)) {
    if (reinterpret_cast<std::uint64_t>(address) < AddressSpace::kPage) {
      report(who + "through a null pointer" + thread_text(), line);
    } else {
      report(who + "of host memory, at address " + address_text(address) + thread_text(), line, nullptr,
             "kernels reach device memory only: a copy to the device, or its result, is not used here");
    }
    return harmless;
  }
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - space_.base();
  const Allocation* memory = space_.owner(offset);
  if (memory == nullptr) {
    report(who + "at device address " + address_text(address) + ", which belongs to no allocation" + thread_text(),
           line);
    return harmless;
  }
  const auto inside = static_cast<std::int64_t>(offset - memory->begin);
  if (memory->freed()) {
    report(who + "of " + text_of(*memory) + ", which has been released" + thread_text(), line, memory);
  } else if (inside < 0 || static_cast<std::uint64_t>(inside) + bytes > memory->accessible) {
    const std::int64_t element =
        bytes == 0    ? inside
        : inside >= 0 ? inside / static_cast<std::int64_t>(bytes)
                      : -((-inside + static_cast<std::int64_t>(bytes) - 1) / static_cast<std::int64_t>(bytes));
    report(who + (inside < 0 ? "before the begin of " : "outside of ") + text_of(*memory) + ", at byte " +
               std::to_string(inside) + " (element " + std::to_string(element) + " of " + bytes_text(bytes) + ")" +
               thread_text(),
           line, memory);
  } else if (memory->read_only && (what & kAccessWrite) != 0) {
    report(who + "of " + text_of(*memory) + ", which it got as a constant argument" + thread_text(), line, memory);
    return harmless;
  } else {
    const std::uint64_t alignment = std::uint64_t{1} << (what >> kAccessAlignmentShift & kAccessAlignmentMask);
    report(who + "of " + text_of(*memory) + " at byte " + std::to_string(inside) + ", which is not aligned to the " +
               bytes_text(alignment) + " that the access relies on" + thread_text(),
           line, memory);
  }
  return harmless;
}

void* Executor::object_access(const void* address, std::uint64_t what, const void* object, std::uint64_t bytes) {
  const std::uint64_t size = what & kAccessSizeMask;
  const auto inside = reinterpret_cast<std::int64_t>(address) - reinterpret_cast<std::int64_t>(object);
  if (inside >= 0 && static_cast<std::uint64_t>(inside) <= bytes && size <= bytes - static_cast<std::uint64_t>(inside))
    return const_cast<void*>(address);
  report("kernel '" + run_.kernel->name + "' " + verb(what) + " " + bytes_text(size) + " outside of a variable of " +
             bytes_text(bytes) + ", at byte " + std::to_string(inside) + thread_text(),
         line_of(what));
  return scratch_.data();
}

void* Executor::shadow(Allocation& memory, std::uint64_t offset, std::uint64_t bytes, std::uint64_t what) {
  const std::uint64_t inside = offset - memory.begin;
  const bool writes = (what & kAccessWrite) != 0;
  const bool reads = !writes || (what & kAccessAtomic) != 0;
  if (reads && settings_.uninitialised && !fault_ && !space_.is_initialised(offset, bytes)) {
    report("kernel '" + run_.kernel->name + "' reads " + bytes_text(bytes) + " of " + text_of(memory) + " at byte " +
               std::to_string(inside) + " (element " + std::to_string(bytes == 0 ? 0 : inside / bytes) + " of " +
               bytes_text(bytes) + ") that nothing has written" + thread_text(),
           line_of(what), &memory, "a copy to the device, or a fill, is missing before the kernel");
  }
  if (settings_.races && !fault_) race_check(memory, inside, bytes, what);
  if (writes) space_.set_initialised(offset, bytes, true);
  return space_.real(offset);
}

void Executor::race_check(Allocation& memory, std::uint64_t inside, std::uint64_t bytes, std::uint64_t what) {
  RaceCell* cells = space_.cells(memory);
  if (cells == nullptr || bytes == 0) return;
  const bool shared = memory.kind == MemoryKind::kShared;
  const auto warp_size = static_cast<unsigned>(settings_.warp_size);
  const bool writes = (what & kAccessWrite) != 0;
  RaceAccess now;
  now.launch = launch_;
  now.block = static_cast<std::uint32_t>(slot_->linear);
  now.epoch = slot_->epoch;
  now.warp_epoch = slot_->warp_epochs[thread_->index / warp_size];
  now.line = line_of(what);
  now.thread = thread_->index;
  now.atomic = (what & kAccessAtomic) != 0;
  for (std::uint64_t cell = inside / 4; cell <= (inside + bytes - 1) / 4; ++cell) {
    const std::uint64_t from = std::max(inside, cell * 4) - cell * 4;
    const std::uint64_t to = std::min(inside + bytes, cell * 4 + 4) - cell * 4;
    now.bytes = static_cast<std::uint8_t>((1u << to) - (1u << from));
    RaceCell& seen = cells[cell];
    const RaceAccess* before = nullptr;
    if (conflict(seen.writer, now, warp_size, shared)) before = &seen.writer;
    if (writes) {
      for (const RaceAccess& reader : seen.readers) {
        if (before == nullptr && conflict(reader, now, warp_size, shared)) before = &reader;
      }
    }
    if (before != nullptr) {
      const bool same_block = before->block == now.block;
      const std::string other = before == &seen.writer ? (before->atomic ? "updated atomically" : "written") : "read";
      report("race in kernel '" + run_.kernel->name + "': element at byte " + std::to_string(inside) + " of " +
                 text_of(memory) + " is " + other + " in line " + std::to_string(before->line) + " by thread " +
                 std::to_string(before->thread) + " of block " + std::to_string(before->block) + ", and then " +
                 (now.atomic ? "updated atomically"
                  : writes   ? "written"
                             : "read") +
                 " in line " + std::to_string(now.line) + " by thread " + std::to_string(now.thread) + " of block " +
                 std::to_string(now.block) + "; nothing orders the two",
             now.line, &memory,
             same_block ? "a __syncthreads is missing between them, or the accumulation has to be atomic"
                        : "different blocks may only meet in atomic operations",
             before->line);
      return;
    }
    const bool same_writer = seen.writer.launch == now.launch && seen.writer.block == now.block &&
                             seen.writer.thread == now.thread && seen.writer.epoch == now.epoch;
    if (writes) {
      const std::uint8_t kept = same_writer && seen.writer.atomic == now.atomic ? seen.writer.bytes : 0;
      seen.writer = now;
      seen.writer.bytes |= kept;
    } else {
      RaceAccess& last = seen.readers[0];
      const bool same = last.launch == now.launch && last.block == now.block && last.thread == now.thread;
      if (!same && last.launch == now.launch) {
        // Keep a reader of another block rather than one of this.
        RaceAccess& older = seen.readers[1];
        if (older.launch != now.launch || older.block == now.block || last.block != now.block) older = last;
      }
      const std::uint8_t kept = same && last.epoch == now.epoch ? last.bytes : 0;
      last = now;
      last.bytes |= kept;
    }
  }
}

std::byte* Executor::range(const void* address, std::uint64_t bytes, std::uint64_t what) {
  const std::uint64_t plain = what & ~(kAccessSizeMask | (kAccessAlignmentMask << kAccessAlignmentShift));
  if (Allocation* memory = space_.find(address); memory != nullptr) {
    const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - space_.base();
    const std::uint64_t inside = offset - memory->begin;
    const bool allowed = !memory->read_only || (what & kAccessWrite) == 0;
    if (inside <= memory->accessible && bytes <= memory->accessible - inside && allowed) {
      if (shadowing_ && memory->checked) {
        // In pieces as small as one access, so that the checks see what they know.
        for (std::uint64_t done = 0; done < bytes; done += 16)
          shadow(*memory, offset + done, std::min<std::uint64_t>(bytes - done, 16), plain);
      } else if ((what & kAccessWrite) != 0) {
        space_.set_initialised(offset, bytes, true);
      }
      return space_.real(offset);
    }
  }
  const bool own = (fiber_ != nullptr && fiber_->owns(address)) || pinned_(address, bytes);
  if (own) return static_cast<std::byte*>(const_cast<void*>(address));
  refuse(address, bytes, plain);
  return nullptr;
}

void Executor::copy(void* to, const void* from, std::uint64_t bytes, std::uint64_t what) {
  if (bytes == 0) return;
  const std::byte* source = range(from, bytes, what & ~kAccessWrite);
  std::byte* target = range(to, bytes, what | kAccessWrite);
  if (source != nullptr && target != nullptr) std::memmove(target, source, bytes);
}

void Executor::fill(void* to, std::int32_t value, std::uint64_t bytes, std::uint64_t what) {
  if (bytes == 0) return;
  if (std::byte* target = range(to, bytes, what | kAccessWrite)) std::memset(target, value, bytes);
}

void Executor::copy_async(void* to, const void* from, std::uint64_t bytes, std::uint32_t line) {
  const auto unaligned = [&](const void* address) {
    return (reinterpret_cast<std::uint64_t>(address) & (bytes - 1)) != 0;
  };
  if (unaligned(to) || unaligned(from)) {
    report(
        "an asynchronous copy of " + bytes_text(bytes) + " has an address that is not aligned to them" + thread_text(),
        line);
  }
  thread_->pending.push_back({to, from, bytes, line, thread_->groups});
}

void Executor::commit_async() {
  ++thread_->groups;
}

// Only now do the bytes arrive, so that whoever reads them too early finds poison.
void Executor::wait_async(std::int32_t pending) {
  Thread& thread = *thread_;
  const std::uint32_t done =
      thread.groups > static_cast<std::uint32_t>(pending) ? thread.groups - static_cast<std::uint32_t>(pending) : 0;
  std::vector<AsyncCopy> left;
  std::vector<AsyncCopy> copies = std::move(thread.pending);
  for (const AsyncCopy& copy_of : copies) {
    if (copy_of.group < done) {
      copy(copy_of.to, copy_of.from, copy_of.bytes, std::uint64_t{copy_of.line} << kAccessLineShift);
    } else {
      left.push_back(copy_of);
    }
  }
  thread.pending = std::move(left);
}

}  // namespace sdfg::device::emulated
