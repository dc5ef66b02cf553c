// Stacks switched by hand, also as the sanitizers see them: frames of their own, exceptions, and what is left behind.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/emulated/fiber.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace test_fiber {

using sdfg::device::emulated::Fiber;
using sdfg::device::emulated::switch_fiber;

namespace {

struct Flow {
  void* main = nullptr;
  Fiber* fiber = nullptr;
  int depth = 0;
  std::vector<int> seen;
};

void wait(Flow& flow) {
  switch_fiber(flow.fiber, nullptr, &flow.main);
}

void go_on(Flow& flow) {
  switch_fiber(nullptr, flow.fiber, &flow.main);
}

// Frames with arrays, which the address sanitizer surrounds with marks; the innermost one waits, then throws.
__attribute__((noinline)) int deep(Flow& flow, int left) {
  volatile char room[200];
  for (int i = 0; i < 200; ++i) room[i] = static_cast<char>(left + i);
  if (left == 0) {
    wait(flow);
    throw std::runtime_error("from the bottom");
  }
  const int below = deep(flow, left - 1);
  return below + room[left % 200];
}

void body(void* argument) {
  auto& flow = *static_cast<Flow*>(argument);
  while (true) {
    try {
      flow.seen.push_back(deep(flow, flow.depth));
    } catch (const std::runtime_error&) {
      flow.seen.push_back(-1);
    }
    wait(flow);
  }
}

}  // namespace

TEST_CASE("a fiber waits deep in its calls, goes on, and catches what they throw") {
  Fiber fiber;
  Flow flow{nullptr, &fiber, 40, {}};
  fiber.start(&body, &flow);
  for (int round = 1; round <= 3; ++round) {
    go_on(flow);
    CHECK(flow.seen.size() == static_cast<std::size_t>(round - 1));
    CHECK_THROWS_AS(throw std::logic_error("on the thread's own stack"), std::logic_error);
    go_on(flow);
    CHECK(flow.seen == std::vector<int>(static_cast<std::size_t>(round), -1));
  }
}

TEST_CASE("a fiber left in the middle of its calls starts again as if it were new") {
  Fiber fiber;
  for (int round = 0; round < 50; ++round) {
    Flow flow{nullptr, &fiber, round * 7 % 60, {}};
    fiber.start(&body, &flow);
    go_on(flow);
    CHECK(flow.seen.empty());
    if (round % 3 == 0) continue;  // abandoned
    go_on(flow);
    CHECK(flow.seen == std::vector<int>{-1});
  }
}

TEST_CASE("many fibers wait at the same time and end while they do") {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<std::unique_ptr<Flow>> flows;
  for (int i = 0; i < 100; ++i) {
    fibers.push_back(std::make_unique<Fiber>());
    flows.push_back(std::make_unique<Flow>(Flow{nullptr, fibers.back().get(), i % 17, {}}));
    fibers.back()->start(&body, flows.back().get());
    go_on(*flows.back());
  }
  for (std::size_t i = 0; i < flows.size(); i += 2) {
    go_on(*flows[i]);
    CHECK(flows[i]->seen == std::vector<int>{-1});
  }
}

#if defined(__SANITIZE_ADDRESS__)
TEST_CASE("the address sanitizer takes the stack of the fiber that runs for a stack") {
  const auto where = [](const void* address) {
    char name[64];
    void* low = nullptr;
    std::size_t bytes = 0;
    return std::string(__asan_locate_address(const_cast<void*>(address), name, sizeof name, &low, &bytes));
  };
  struct Seen {
    Flow flow;
    std::function<std::string(const void*)> where;
    std::string in_fiber;
  };
  Fiber fiber;
  Seen seen{{nullptr, &fiber, 0, {}}, where, {}};
  fiber.start(
      [](void* argument) {
        auto& s = *static_cast<Seen*>(argument);
        s.in_fiber = s.where(__builtin_frame_address(0));
        while (true) wait(s.flow);
      },
      &seen);
  go_on(seen.flow);
  CHECK(seen.in_fiber == "stack");
  CHECK(where(__builtin_frame_address(0)) == "stack");
}
#endif

}  // namespace test_fiber
