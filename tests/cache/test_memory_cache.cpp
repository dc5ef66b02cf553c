// The memory cache: made once, awaited, kept up to a cap, failures included.
#include <atomic>
#include <catch2/catch.hpp>
#include <sdfg/error.hpp>
#include <string>
#include <thread>
#include <vector>

#include "runtime/memory_cache.hpp"

namespace test_memory_cache {

using namespace sdfg;
using namespace sdfg::runtime;

namespace {

using Cache = MemoryCache<std::string>;
Digest key(int number) {
  return digest_of("key " + std::to_string(number));
}
Cache make_cache(std::uint64_t cap = 1000) {
  return Cache(cap, [](const std::string& text) { return text.size(); });
}
Cache::Pointer text(std::string value) {
  return std::make_shared<std::string>(std::move(value));
}

}  // namespace

TEST_CASE("32 threads asking for one key make it once", "[memory-cache]") {
  Cache cache = make_cache();
  std::atomic<int> makes{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 32; ++t) {
    threads.emplace_back([&] {
      const auto value = cache.get(key(1), [&] {
        ++makes;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return text("made");
      });
      if (*value != "made") ++wrong;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(makes == 1);
  CHECK(wrong == 0);
  CHECK(cache.stats().hits == 31);
}

TEST_CASE("Different keys are made at the same time", "[memory-cache]") {
  Cache cache = make_cache();
  std::atomic<int> inside{0};
  const auto meet = [&] {
    ++inside;
    for (int i = 0; i < 2000 && inside < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return text(inside == 2 ? "met" : "alone");
  };
  std::string other;
  std::thread thread([&] { other = *cache.get(key(1), meet); });
  CHECK(*cache.get(key(2), meet) == "met");
  thread.join();
  CHECK(other == "met");
}

TEST_CASE("A failure of the compiler is kept, one of resources or of the graph is not", "[memory-cache]") {
  Cache cache = make_cache();
  int tries = 0;
  const auto fails = [&]() -> Cache::Pointer {
    ++tries;
    throw Error(ErrorClass::kCompile, "no such function");
  };
  CHECK_THROWS_WITH(cache.get(key(1), fails), Catch::Contains("no such function"));
  CHECK_THROWS_WITH(cache.get(key(1), fails), Catch::Contains("no such function"));
  CHECK(tries == 1);
  CHECK(cache.find(key(1)) == nullptr);
  cache.erase(key(1));
  CHECK(*cache.get(key(1), [] { return text("now"); }) == "now");
  const auto starves = [&]() -> Cache::Pointer { throw Error(ErrorClass::kResource, "no memory"); };
  CHECK_THROWS_AS(cache.get(key(2), starves), Error);
  CHECK(*cache.get(key(2), [] { return text("later"); }) == "later");
  const auto lacks = [&]() -> Cache::Pointer { throw Error(ErrorClass::kEnvironment, "no library"); };
  CHECK_THROWS_AS(cache.get(key(5), lacks), Error);
  CHECK(*cache.get(key(5), [] { return text("installed"); }) == "installed");
  // Its text names the places of one graph, and the key stands for all that mean the same.
  const auto breaks_a_rule = [&](const char* where) {
    return [where]() -> Cache::Pointer { throw Error(ErrorClass::kGraph, where); };
  };
  CHECK_THROWS_WITH(cache.get(key(4), breaks_a_rule("map 'i'")), Catch::Contains("map 'i'"));
  CHECK_THROWS_WITH(cache.get(key(4), breaks_a_rule("map 'k'")), Catch::Contains("map 'k'"));
  CHECK_THROWS_AS(cache.get(key(3), []() -> Cache::Pointer { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK(*cache.get(key(3), [] { return text("again"); }) == "again");
}

TEST_CASE("Waiters get the failure of the one that tried", "[memory-cache]") {
  Cache cache = make_cache();
  std::atomic<int> tries{0};
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      try {
        cache.get(key(1), [&]() -> Cache::Pointer {
          ++tries;
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
          throw Error(ErrorClass::kCompile, "bad");
        });
      } catch (const Error&) {
        ++failed;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(tries == 1);
  CHECK(failed == 8);
}

TEST_CASE("Asking for the key that is being made is an error, not a deadlock", "[memory-cache]") {
  Cache cache = make_cache();
  const auto inner = [&] { return cache.get(key(1), [] { return text("never"); }); };
  CHECK_THROWS_WITH(cache.get(key(1), inner), Catch::Contains("asks for itself"));
  CHECK(*cache.get(key(2), [&] { return cache.get(key(3), [] { return text("other keys are fine"); }); }) ==
        "other keys are fine");
}

TEST_CASE("Beyond the cap the least recently used value goes, unless somebody holds it", "[memory-cache]") {
  Cache cache = make_cache(250);
  const auto hundred = [] { return text(std::string(100, 'x')); };
  const auto held = cache.get(key(1), hundred);
  cache.get(key(2), hundred);
  cache.get(key(1), hundred);
  cache.get(key(3), hundred);  // 2 goes
  CHECK(cache.find(key(2)) == nullptr);
  CHECK(cache.find(key(3)) != nullptr);
  cache.get(key(4), hundred);
  cache.get(key(5), hundred);  // 1 goes from the cache, but lives here
  CHECK(cache.stats().bytes <= 250);
  int makes = 0;
  CHECK(cache.get(key(1), [&] {
    ++makes;
    return hundred();
  }) == held);
  CHECK(makes == 0);
  // One value larger than the cap is still given out.
  CHECK(cache.get(key(6), [] { return text(std::string(5000, 'y')); })->size() == 5000);
  cache.clear();
  CHECK(cache.stats().bytes == 0);
  CHECK(cache.stats().entries == 0);
}

TEST_CASE("Clearing while others make and ask", "[memory-cache]") {
  Cache cache = make_cache(500);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread clearer([&] {
    while (!stop) {
      cache.clear();
      cache.erase(key(3));
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3000; ++i) {
        const int n = i % 9;
        const auto value = cache.get(key(n), [&] { return text(std::string(100, static_cast<char>('a' + n))); });
        if (value->at(0) != 'a' + n) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  stop = true;
  clearer.join();
  CHECK(wrong == 0);
}

}  // namespace test_memory_cache
