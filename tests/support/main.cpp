// The main function of every test executable; adds its counts of test cases to the file that SDFG_TEST_COUNTS names.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>

namespace {

// `tests/run.sh` sums these lines; one write each, so that executables that run in parallel don't mix theirs.
class CountListener : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testRunEnded(const Catch::TestRunStats& stats) override {
    const char* path = std::getenv("SDFG_TEST_COUNTS");
    if (path == nullptr) return;
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "%s %zu %zu\n", stats.runInfo.name.c_str(),
                   stats.totals.testCases.passed + stats.totals.testCases.failedButOk, stats.totals.testCases.failed);
      std::fclose(file);
    }
  }
};

}  // namespace

CATCH_REGISTER_LISTENER(CountListener)
