// Programs of several objects, from the builder to calls: results, the cache, debuggers, damaged entries.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sdfg/jit.hpp>

#include "../support/folder.hpp"
#include "runtime/cache_entry.hpp"
#include "runtime/debugger.hpp"

namespace test_parts {

namespace {

using namespace sdfg;

class Folder : public test::Folder {
 public:
  // The one entry below.
  std::filesystem::path entry() const {
    std::vector<std::filesystem::path> found;
    for (const auto& file : std::filesystem::recursive_directory_iterator(path())) {
      if (file.is_regular_file() && file.file_size() > 1000) found.push_back(file.path());
    }
    REQUIRE(found.size() == 1);
    return found[0];
  }
  std::vector<std::uint8_t> bytes() const {
    std::ifstream in(entry(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void replace(const std::vector<std::uint8_t>& image) const {
    std::ofstream out(entry(), std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
  }
};

// Stencils, a sum, a transient whose extent the data decides, an early end, a counter behind a helper.
Builder many_maps(const std::string& name, int maps) {
  Builder g(name);
  auto N = g.symbol("N");
  auto x = g.array<double>("x", {N});
  auto y = g.array<double>("y", {N});
  auto total = g.array<double>("total", {1});
  auto t = g.transient<double>("t", {N, 3});
  for (int k = 0; k < maps; ++k) {
    const double factor = 0.25 + 0.01 * k;
    g.map({"i", 1, N - 1}, {"j", 0, 3},
          [&](auto i, auto j) { t(i, j) = factor * (x(i - 1) + x(i + 1)) + cast<double>(j); });
    g.map({"i", 1, N - 1}, [&](auto i) { y(i) = t(i, 0) + min(t(i, 1), t(i, 2)) * 0.5; });
    g.map({"i", 1, N - 1}, [&](auto i) { total(0) += y(i); });
    g.if_(total(0) > 1e6, [&] { g.return_(); });
    g.map({"i", 1, N - 1}, [&](auto i) { x(i) = 0.125 * y(i); });
  }
  return g;
}

// Loops in order, scalars that are set under a condition and read later, a view beside its array, leaving loops early,
// a transient inside a loop, a return: all in one long function.
Builder long_body(const std::string& name, int rounds) {
  Builder g(name);
  auto N = g.symbol("N");
  auto x = g.array<double>("x", {N});
  auto y = g.array<double>("y", {N});
  auto total = g.array<double>("total", {1});
  auto inner = g.view("inner", x.slice(range(1, N)));
  auto s = g.scalar<double>("s");
  g.order({"x", "y", "total", "s", "N"});
  auto mode = g.local("mode", 0.0);
  auto limit = g.local("limit", s * 100.0);
  g.loop("round", 0, 3, [&](auto round) {
    for (int k = 0; k < rounds; ++k) {
      auto sum = g.local("sum" + std::to_string(k), 0.0);
      g.loop("i", 1, N, [&](auto i) {
        sum = sum + x(i - 1) * (0.5 + 0.01 * k);
        g.if_(sum > limit, [&] { g.break_(); });
        inner(i - 1) = 0.25 * (x(i - 1) + inner(i - 1)) + 0.001 * s;
      });
      g.if_(sum > 1.0, [&] { mode = mode + 1.0; });
      g.block("phase", [&] {
        auto t = g.transient<double>("t", {N});
        g.map({"i", 0, N}, [&](auto i) { t(i) = x(i) - mode * 0.001; });
        g.map({"i", 0, N}, [&](auto i) { y(i) = t(i) + cast<double>(round); });
      });
      total(0) = total(0) + sum + mode;
      g.if_(total(0) > 1e5, [&] { g.return_(); });
      g.loop("j", 1, N, [&](auto j) { x(j) = 0.5 * x(j - 1) + 0.125 * y(j); });
    }
  });
  return g;
}

using Maps = void(double*, double*, double*, std::int64_t);

std::vector<double> results(const Function<Maps>& f, std::int64_t n) {
  std::vector<double> x(static_cast<std::size_t>(n)), y(x.size(), 0.5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1 * static_cast<double>(i % 17);
  double total = 0;
  f(x.data(), y.data(), &total, n);
  x.insert(x.end(), y.begin(), y.end());
  x.push_back(total);
  return x;
}

// The order of a sum's parts is free.
bool close(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double p, double q) { return std::abs(p - q) <= 1e-9 * (1 + std::abs(q)); });
}

Options with(const Folder& cache) {
  Options o;
  o.cache = CacheMode::kOn;
  o.cache_dir = cache.str();
  return o;
}

runtime::CacheEntry entry_of(const Folder& cache) {
  const auto entry = runtime::decode_entry(cache.bytes());
  REQUIRE(entry.has_value());
  return *entry;
}

}  // namespace

TEST_CASE("a program of several objects gives what the interpreter gives, at every level") {
  for (const int level : {0, 1, 3}) {
    Options o;
    o.cache = CacheMode::kMemory;
    o.opt_level = level;
    o.validate = ValidateMode::kAlways;
    const auto f = compile<Maps>(many_maps("validated", level == 0 ? 40 : 7), o);
    for (const std::int64_t n : {2, 3, 31, 1009}) CHECK_NOTHROW(results(f, n));
  }
}

TEST_CASE("a long body is cut into functions that do the same") {
  using Long = void(double*, double*, double*, double, std::int64_t);
  for (const int level : {0, 3}) {
    Options o;
    o.cache = CacheMode::kMemory;
    o.opt_level = level;
    o.validate = ValidateMode::kAlways;
    const auto f = compile<Long>(long_body("long_body", 40), o);
    CHECK(f.source().find("__attribute__((noinline)) bool long_body_1(") != std::string::npos);
    for (const std::int64_t n : {1, 2, 7, 103}) {
      for (const double scale : {0.01, 3.0, 5000.0}) {  // breaks at once, later, and returns early
        std::vector<double> x(static_cast<std::size_t>(n)), y(x.size(), 0.5);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = scale * static_cast<double>(i % 13);
        double total = 0;
        CHECK_NOTHROW(f(x.data(), y.data(), &total, scale, n));
      }
    }
  }
  CHECK(compile(long_body("short_body", 2)).source().find("short_body_1") == std::string::npos);
}

TEST_CASE("a long body of a map goes through strips and does the same") {
  const auto long_map = [](const std::string& name, int statements, bool threads, bool branches) {
    Builder g(name);
    auto N = g.symbol("N");
    auto x = g.array<double>("x", {N});
    auto y = g.array<double>("y", {N});
    auto total = g.array<double>("total", {1});
    g.order({"x", "y", "total", "N"});
    g.map({"i", 1, N - 1},
          [&](auto i) {
            for (int k = 0; k < statements; ++k) {
              auto t = g.local("t" + std::to_string(k), x(i - 1) * (0.25 + 0.0001 * k));
              y(i) = 0.5 * y(i) + 0.125 * t * x(i + 1);
              if (branches) {
                g.if_(y(i) > 3.0, [&] { y(i) = y(i) - t; });  // no vectors
              } else {
                y(i) = min(y(i), 3.0 + t);
              }
            }
          },
          {.schedule = threads ? Schedule::kParallel : Schedule::kSequential});
    total(0) = 1.0;
    return g;
  };
  for (const int level : {0, 3}) {
    for (const bool threads : {false, true}) {
      for (const bool branches : {false, true}) {
        Options o;
        o.cache = CacheMode::kMemory;
        o.opt_level = level;
        o.validate = ValidateMode::kAlways;
        const auto f = compile<Maps>(long_map("long_map", 300, threads, branches), o);
        const bool strips = f.source().find("i_from") != std::string::npos;
        CHECK(strips == (level == 3 && !branches));
        for (const std::int64_t n : {0, 1, 2, 3, 65, 66, 67, 130, 1009}) CHECK_NOTHROW(results(f, n));
      }
    }
  }
  CHECK(compile(long_map("few", 20, true, false)).source().find("i_from") == std::string::npos);
}

TEST_CASE("source, parts and objects of a program are the same for any number of lanes and threads of the machine") {
  const Folder one, many;
  Options alone = with(one), crowd = with(many);
  alone.compile_threads = 1;
  crowd.compile_threads = 4;
  clear_memory_cache();
  const auto f = compile<Maps>(many_maps("lanes", 7), alone);
  clear_memory_cache();
  const auto g = compile<Maps>(many_maps("lanes", 7), crowd);
  CHECK(g.stats().origin == CompileStats::Origin::kCompiled);
  CHECK(f.source() == g.source());
  const runtime::CacheEntry a = entry_of(one), b = entry_of(many);
  CHECK(a.payloads.size() > 1);
  CHECK(a.payloads == b.payloads);
  CHECK(close(results(f, 101), results(g, 101)));
}

TEST_CASE("an entry with several objects is loaded again, and damage to one of them is a miss") {
  const Folder cache;
  const Options o = with(cache);
  clear_memory_cache();
  const auto first = compile<Maps>(many_maps("stored", 7), o);
  const std::vector<double> expected = results(first, 211);
  const std::vector<std::uint8_t> good = cache.bytes();
  const auto again = [&] {
    clear_memory_cache();
    const auto f = compile<Maps>(many_maps("stored", 7), o);
    CHECK(close(results(f, 211), expected));
    return f.stats().origin;
  };
  CHECK(again() == CompileStats::Origin::kDisk);

  // Truncated, flipped: no entry at all. (A refused entry is removed, and written anew.)
  std::vector<std::uint8_t> bad(good.begin(), good.end() - 1);
  cache.replace(bad);
  CHECK(again() == CompileStats::Origin::kCompiled);
  for (const std::size_t at : {good.size() / 3, good.size() / 2, good.size() - 2}) {
    bad = good;
    bad[at] ^= 0x20;
    cache.replace(bad);
    CHECK(again() == CompileStats::Origin::kCompiled);
  }
  CHECK(again() == CompileStats::Origin::kDisk);

  // A sound image in which an object is missing: its symbols can't be resolved.
  runtime::CacheEntry entry = entry_of(cache);
  entry.payloads.pop_back();
  cache.replace(runtime::encode_entry(entry));
  CHECK(again() == CompileStats::Origin::kCompiled);
}

TEST_CASE("debuggers are told of every object") {
  Options o;
  o.cache = CacheMode::kMemory;
  o.profile = EnumSet<Profile>{Profile::kGdb};
  const int before = runtime::DebuggerEntry::count();
  {
    const auto f = compile<Maps>(many_maps("debugged", 7), o);
    CHECK(runtime::DebuggerEntry::count() > before + 1);
    results(f, 31);
  }
}

TEST_CASE("long expressions and chains of indices are right, and their text grows with their length") {
  const std::int64_t n = 7;
  std::vector<double> x = {1, 2, 3, 4, 5, 6, 7};
  std::vector<std::int64_t> p = {3, 0, 6, 1, 5, 2, 4};
  const auto characters = [&](int terms, bool indices) {
    Builder g("long_expression");
    auto N = g.symbol("N");
    auto X = g.array<double>("x", {N}), Y = g.array<double>("y", {N});
    auto P = g.array<std::int64_t>("p", {N});
    g.map({"i", 0, N}, [&](auto i) {
      if (indices) {
        auto q = P(i) + 0;
        for (int k = 0; k < terms; ++k) q = P(q % N) + 1;
        Y(i) = X(q % N);
      } else {
        auto v = X(i) + 0.0;
        for (int k = 0; k < terms; ++k) v = v + v * 0.5;
        Y(i) = v;
      }
    });
    Options o;
    o.cache = CacheMode::kOff;
    auto f = compile<void(double*, double*, std::int64_t*, std::int64_t)>(g, o);
    std::vector<double> y(x.size());
    f(x.data(), y.data(), p.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::int64_t q = p[i];
      double v = x[i];
      for (int k = 0; k < terms; ++k) {
        q = p[static_cast<std::size_t>(q % n)] + 1;
        v = v + v * 0.5;
      }
      CHECK(y[i] == Approx(indices ? x[static_cast<std::size_t>(q % n)] : v).epsilon(1e-11));
    }
    return f.source().size();
  };
  for (const bool indices : {false, true}) CHECK(characters(800, indices) < 5 * characters(200, indices));
}

}  // namespace test_parts
