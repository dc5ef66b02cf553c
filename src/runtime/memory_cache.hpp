// Results by key in this process: made once, awaited by everyone else, kept up to a cap, failures included.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sdfg/error.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "base/digest.hpp"

namespace sdfg::runtime {

struct MemoryCacheStats {
  std::int64_t hits = 0;  // found, or waited for
  std::int64_t makes = 0;
  std::int64_t failures = 0;
  std::int64_t entries = 0;
  std::uint64_t bytes = 0;  // of the values kept
};

// Thread-safe. A value lives while anyone holds it; the cache holds the most recently used ones up to its cap and still
// finds the others while they live. A failure of a compiler or a loader is kept: the same key gives the same
// error without a second try. Others are quick to find again, and their texts name places of the graph at hand, which
// the key does not know; of resources there may be more next time, and what is missing may be installed.
template <typename Value>
class MemoryCache {
 public:
  using Pointer = std::shared_ptr<Value>;
  using Make = std::function<Pointer()>;
  using Cost = std::function<std::uint64_t(const Value&)>;

  explicit MemoryCache(std::uint64_t cap_bytes, Cost cost) : cap_(cap_bytes), cost_(std::move(cost)) {}

  // The value of `key`, made by `make` if there is none. At most one `make` per key runs at a time; others wait for it.
  // Throws what `make` threw, now or earlier. `make` runs without locks; it may use the cache for other keys.
  Pointer get(const Digest& key, const Make& make) {
    std::unique_lock lock(mutex_);
    std::shared_ptr<Slot> slot;
    for (;;) {
      // Looked up again after each wait: the slot may have been forgotten in between. While it has a maker it can't be.
      std::shared_ptr<Slot>& place = slots_[key];
      if (!place) place = std::make_shared<Slot>();
      slot = place;
      if (slot->error) {
        ++stats_.hits;
        std::rethrow_exception(slot->error);
      }
      if (Pointer value = slot->value ? slot->value : slot->evicted.lock()) {
        ++stats_.hits;
        keep(key, *slot, value);
        return value;
      }
      if (slot->maker == std::thread::id{}) break;
      if (slot->maker == std::this_thread::get_id()) {
        throw Error(ErrorClass::kInternal, "making the program " + key.hex() + " asks for itself");
      }
      made_.wait(lock);
    }
    slot->maker = std::this_thread::get_id();
    ++stats_.makes;
    lock.unlock();
    Pointer value;
    std::exception_ptr error;
    bool sticky = false;
    try {
      value = make();
    } catch (const Error& problem) {
      error = std::current_exception();
      sticky = is_kept(problem.error_class());
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    slot->maker = {};
    if (error) {
      ++stats_.failures;
      if (sticky) slot->error = error;
      forget_dead();
    } else if (value) {
      keep(key, *slot, value);
    }
    made_.notify_all();
    lock.unlock();
    if (error) std::rethrow_exception(error);
    return value;
  }

  // The value if it is there now; never waits. A kept failure is nothing here.
  Pointer find(const Digest& key) {
    const std::lock_guard lock(mutex_);
    const auto it = slots_.find(key);
    if (it == slots_.end()) return nullptr;
    Pointer value = it->second->value ? it->second->value : it->second->evicted.lock();
    if (value) keep(key, *it->second, value);
    return value;
  }

  // Forgets a key, a kept failure too. Values that are held elsewhere live on; a running `make` is not disturbed.
  void erase(const Digest& key) {
    Pointer dropped;
    const std::lock_guard lock(mutex_);
    const auto it = slots_.find(key);
    if (it == slots_.end() || it->second->maker != std::thread::id{}) return;
    dropped = drop(*it->second);
    slots_.erase(it);
  }

  void clear() {
    std::vector<Pointer> dropped;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    for (auto it = slots_.begin(); it != slots_.end();) {
      if (it->second->maker != std::thread::id{}) {
        ++it;
        continue;
      }
      dropped.push_back(drop(*it->second));
      it = slots_.erase(it);
    }
  }

  MemoryCacheStats stats() const {
    const std::lock_guard lock(mutex_);
    MemoryCacheStats stats = stats_;
    stats.entries = static_cast<std::int64_t>(slots_.size());
    stats.bytes = bytes_;
    return stats;
  }

 private:
  static bool is_kept(ErrorClass failure) {
    switch (failure) {
      case ErrorClass::kCompile:
      case ErrorClass::kLoad:
      case ErrorClass::kDeviceLost:
      case ErrorClass::kInternal: return true;
      case ErrorClass::kUsage:
      case ErrorClass::kGraph:
      case ErrorClass::kLimit:
      case ErrorClass::kLaunch:
      case ErrorClass::kResource:
      case ErrorClass::kEnvironment: return false;
    }
    return false;
  }

  struct Slot {
    Pointer value;  // kept
    std::weak_ptr<Value> evicted;
    std::exception_ptr error;
    std::thread::id maker;  // of the running `make`
    std::uint64_t bytes = 0;
    typename std::list<Digest>::iterator use;
  };

  // Most recently used first; evicts beyond the cap, but never what was just asked for.
  void keep(const Digest& key, Slot& slot, const Pointer& value) {
    if (slot.value) {
      uses_.splice(uses_.begin(), uses_, slot.use);
      return;
    }
    slot.value = value;
    slot.bytes = cost_(*value);
    slot.use = uses_.insert(uses_.begin(), key);
    bytes_ += slot.bytes;
    while (bytes_ > cap_ && uses_.size() > 1) {
      const auto oldest = slots_.find(uses_.back());
      const Pointer gone = drop(*oldest->second);
      oldest->second->evicted = gone;
      // Without another holder nothing can find it again: forget the slot too.
      if (gone.use_count() == 1) slots_.erase(oldest);
    }
    forget_dead();
  }

  // Slots of failures that are not kept, and of evicted values that have died since.
  void forget_dead() {
    if (slots_.size() < 2 * uses_.size() + 64) return;
    for (auto it = slots_.begin(); it != slots_.end();) {
      const Slot& slot = *it->second;
      const bool dead = !slot.value && !slot.error && slot.maker == std::thread::id{} && slot.evicted.expired();
      it = dead ? slots_.erase(it) : std::next(it);
    }
  }

  Pointer drop(Slot& slot) {
    if (!slot.value) return nullptr;
    bytes_ -= slot.bytes;
    uses_.erase(slot.use);
    return std::exchange(slot.value, nullptr);
  }

  mutable std::mutex mutex_;
  std::condition_variable made_;
  std::map<Digest, std::shared_ptr<Slot>> slots_;
  std::list<Digest> uses_;
  std::uint64_t cap_;
  std::uint64_t bytes_ = 0;
  Cost cost_;
  MemoryCacheStats stats_;
};

}  // namespace sdfg::runtime
