// Disk caches that come into use late, or go away while a process runs.
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <sdfg/jit.hpp>
#include <string>

#include "../support/folder.hpp"
#include "scale.hpp"

namespace test_late_cache {

namespace {

using namespace sdfg;
namespace fs = std::filesystem;

using sdfg::test::Folder;

// Entries of a disk cache: files whose names are keys.
int entries(const std::string& cache) {
  int count = 0;
  std::error_code ignored;
  for (fs::recursive_directory_iterator at(cache, ignored), end; at != end; at.increment(ignored))
    count += at->is_regular_file() && at->path().filename().string().size() == 64 ? 1 : 0;
  return count;
}

using sdfg::test::plain;
using sdfg::test::scale;
using sdfg::test::Scale;
Options on_disk(const std::string& folder) {
  Options o;
  o.cache = CacheMode::kOn;
  o.cache_dir = folder;
  return o;
}

}  // namespace

TEST_CASE("a program from memory is written to the disk caches that are used later") {
  const Folder f;
  const std::string first = f / "first", second = f / "second";
  double a[2] = {1, 2};
  compile<Scale>(scale("late", 3), plain())(a, 2);
  CHECK(compile<Scale>(scale("late", 3), on_disk(first)).stats().origin == CompileStats::Origin::kMemory);
  CHECK(entries(first) == 1);
  // Its object is gone from memory now: another folder gets it from the first.
  CHECK(compile<Scale>(scale("late", 3), on_disk(second)).stats().origin == CompileStats::Origin::kMemory);
  CHECK(entries(second) == 1);
  for (const std::string& folder : {first, second}) {
    clear_memory_cache();
    const auto loaded = compile<Scale>(scale("late", 3), on_disk(folder));
    CHECK(loaded.stats().origin == CompileStats::Origin::kDisk);
    loaded(a, 2);
  }
  CHECK(a[1] == 54);
}

TEST_CASE("dumps and bundles are written whatever the caches have") {
  const Folder f;
  const std::string cache = f / "cache";
  compile(scale("wanted", 11), on_disk(cache));
  const auto with = [&](const char* folder) {
    Options o = on_disk(cache);
    o.dump = EnumSet<Dump>{Dump::kGraph, Dump::kSource};
    o.dump_dir = f / folder;
    o.repro = Reproducer{f / (std::string(folder) + "_bundles"), true};
    return o;
  };
  const auto files = [&](const char* folder) {
    const std::string bundles = f / (std::string(folder) + "_bundles");
    int bundle_files = 0;
    std::error_code ignored;
    for (fs::recursive_directory_iterator at(bundles, ignored), end; at != end; at.increment(ignored))
      bundle_files += at->path().filename() == "source.cpp" ? 1 : 0;
    const fs::path dumps = f / folder;
    return fs::exists(dumps / "wanted.cpp") && fs::exists(dumps / "wanted.graph.txt") && bundle_files == 1;
  };
  const auto call = [](const AnyFunction& made) {
    double a[2] = {1, 2};
    made.bind("A", a).bind("N", 2).call();
    return a[1];
  };
  // In memory, made without files.
  const AnyFunction hit = compile(scale("wanted", 11), with("memory"));
  CHECK(hit.stats().origin == CompileStats::Origin::kMemory);
  CHECK(files("memory"));
  CHECK(call(hit) == 22);
  // On disk only.
  clear_memory_cache();
  const AnyFunction anew = compile(scale("wanted", 11), with("disk"));
  CHECK(anew.stats().origin == CompileStats::Origin::kCompiled);
  CHECK(files("disk"));
  CHECK(call(anew) == 22);
  CHECK(entries(cache) == 1);
  // Once per process and folder, and no longer when nothing is asked for.
  const std::int64_t before = statistics().compilations;
  compile(scale("wanted", 11), with("disk"));
  clear_memory_cache();
  CHECK(compile(scale("wanted", 11), on_disk(cache)).stats().origin == CompileStats::Origin::kDisk);
  CHECK(statistics().compilations == before);
}

TEST_CASE("programs with a state of their own are written late, too, and still make new instances") {
  const Folder f;
  const auto counter = [] {
    Builder g("late_counter");
    auto R = g.array<std::int64_t>("R", {1});
    auto n = g.persistent<std::int64_t>("n");
    n += 1;
    R(0) = n;
    return g;
  };
  using Count = void(std::int64_t*);
  const auto one = compile<Count>(counter(), plain());
  const auto two = compile<Count>(counter(), on_disk(f / "c"));
  CHECK(entries(f / "c") == 1);
  const auto three = compile<Count>(counter(), on_disk(f / "c"));
  std::int64_t r = 0;
  one(&r);
  one(&r);
  CHECK(r == 2);
  two(&r);
  CHECK(r == 1);
  three(&r);
  CHECK(r == 1);
}

TEST_CASE("a cache folder that was removed is made again") {
  const Folder f;
  const Options o = on_disk(f / "c");
  compile<Scale>(scale("kept", 5), o);
  CHECK(entries(f / "c") == 1);
  fs::remove_all(f / "c");
  clear_memory_cache();
  CHECK(compile<Scale>(scale("kept", 5), o).stats().origin == CompileStats::Origin::kCompiled);
  CHECK(entries(f / "c") == 1);
  clear_memory_cache();
  CHECK(compile<Scale>(scale("kept", 5), o).stats().origin == CompileStats::Origin::kDisk);
}

TEST_CASE("a refreshing compilation is one, also of a program in memory") {
  const Folder f;
  Options o = on_disk(f / "c");
  compile<Scale>(scale("refreshed", 7), o);
  fs::remove_all(f / "c");
  o.cache = CacheMode::kRefresh;
  CHECK(compile<Scale>(scale("refreshed", 7), o).stats().origin == CompileStats::Origin::kCompiled);
  CHECK(entries(f / "c") == 1);
  o.cache = CacheMode::kOn;
  CHECK(compile<Scale>(scale("refreshed", 7), o).stats().origin == CompileStats::Origin::kMemory);
}

}  // namespace test_late_cache
