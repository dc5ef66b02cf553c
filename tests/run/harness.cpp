// Comparing every target with plain loops.
#include "harness.hpp"

#include "ir/validate.hpp"

namespace sdfg::test {

void check(const ir::Graph& graph, const Memory& start, const Reference& reference, double tolerance, int calls) {
  ir::check(graph);
  Memory want = start;
  for (int k = 0; k < calls; ++k) reference(want);
  for (const Target& target : targets()) {
    INFO("target " << target.name);
    const std::unique_ptr<Runner> runner = target.prepare(graph);
    if (runner == nullptr) continue;  // said why
    Memory got = start;
    for (int k = 0; k < calls; ++k) runner->run(got);
    const std::string difference = got.difference(want, [=](const std::string&) { return tolerance; });
    INFO(difference);
    REQUIRE(difference.empty());
  }
}

}  // namespace sdfg::test
