// The installed Clang, dlopen, and a runtime with the entries that plain programs use.
#include "run_tools.hpp"

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "../support/folder.hpp"
#include "lower/abi.hpp"
#include "lower/host.hpp"
#include "transform/lower_prepare/prepare.hpp"

namespace sdfg::test {

namespace {

using sdfg_call = lower::CallState;
using sdfg_copy = lower::DeviceCopy;
using sdfg_launch = lower::DeviceLaunch;

Report& current() {
  static Report report;
  return report;
}
std::mutex& lock() {
  static std::mutex mutex;
  return mutex;
}

#define SDFG_TABLE_ENTRY(result, name, parameters) result(*name) parameters;
struct Table {
  SDFG_ABI_ENTRIES(SDFG_TABLE_ENTRY)
};
#undef SDFG_TABLE_ENTRY

void* test_allocate(sdfg_call* call, int64_t bytes, int64_t alignment, int32_t ordinal) {
  const std::lock_guard guard(lock());
  Report& r = current();
  ++r.allocations;
  if (bytes > (std::int64_t{1} << 40)) {
    call->status = 1;
    r.code = 1;
    r.ordinal = ordinal;
    return nullptr;
  }
  ++r.live;
  call->arena = &current();
  void* memory = std::aligned_alloc(static_cast<std::size_t>(alignment),
                                    static_cast<std::size_t>((bytes + alignment - 1) / alignment * alignment));
  return memory;
}
void test_release(sdfg_call*, void* memory) {
  const std::lock_guard guard(lock());
  --current().live;
  std::free(memory);
}
void test_fail(sdfg_call* call, int32_t code, int32_t ordinal, const int64_t* values, int32_t count) {
  const std::lock_guard guard(lock());
  if (call->status != 0) return;
  call->status = code;
  Report& r = current();
  r.code = code;
  r.ordinal = ordinal;
  r.values.assign(values, values + count);
}
void test_finish(sdfg_call*) {
  ++current().finished;
}
void* test_persistent(sdfg_call*, int32_t ordinal, int64_t bytes, int64_t, int32_t zero) {
  static std::deque<std::pair<int32_t, std::vector<char>>> kept;
  for (auto& [o, memory] : kept) {
    if (o == ordinal && static_cast<int64_t>(memory.size()) == bytes) return memory.data();
  }
  kept.emplace_back(ordinal, std::vector<char>(static_cast<std::size_t>(bytes), zero ? 0 : 1));
  return kept.back().second.data();
}

struct TestQueue {
  std::int64_t bytes;
  std::deque<std::vector<char>> items;
};
void* test_stream_make(sdfg_call*, int64_t bytes, int64_t) {
  return new TestQueue{bytes, {}};
}
void test_stream_free(sdfg_call*, void* stream) {
  delete static_cast<TestQueue*>(stream);
}
int32_t test_stream_push(sdfg_call*, void* stream, const void* value) {
  const std::lock_guard guard(lock());
  auto* q = static_cast<TestQueue*>(stream);
  const char* at = static_cast<const char*>(value);
  q->items.emplace_back(at, at + q->bytes);
  return 1;
}
int32_t test_stream_pop(sdfg_call*, void* stream, void* value) {
  const std::lock_guard guard(lock());
  auto* q = static_cast<TestQueue*>(stream);
  if (q->items.empty()) return 0;
  std::copy(q->items.front().begin(), q->items.front().end(), static_cast<char*>(value));
  q->items.pop_front();
  return 1;
}
int64_t test_stream_size(void* stream) {
  return static_cast<int64_t>(static_cast<TestQueue*>(stream)->items.size());
}

Table& table() {
  static Table t = [] {
    Table made{};
    made.allocate = test_allocate;
    made.release = test_release;
    made.fail = test_fail;
    made.finish = test_finish;
    made.persistent = test_persistent;
    made.stream_make = test_stream_make;
    made.stream_free = test_stream_free;
    made.stream_push = test_stream_push;
    made.stream_pop = test_stream_pop;
    made.stream_size = test_stream_size;
    return made;
  }();
  return t;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

codegen::Source emit(const ir::Graph& g, const RunOptions& options) {
  ir::Graph copy = g.clone();
  transform::prepare_for_cpu(copy, options.prepare);
  return codegen::print(lower::lower_host(copy, options.lower));
}

}  // namespace

std::string emitted(const ir::Graph& g, const RunOptions& options) {
  return emit(g, options).text;
}

Compiled::Compiled(const ir::Graph& g, const RunOptions& options) : source_(emit(g, options)) {
  const Folder folder;
  const std::string text = folder / "unit.cpp", object = folder / "unit.so", log = folder / "unit.log";
  std::ofstream(text) << source_.text;
  const std::string command = "clang-22 " + options.optimisation +
                              " -fopenmp -fwrapv -fno-exceptions -fno-rtti -fPIC -shared -x c++ -std=c++20 -Wall "
                              "-Werror -Wno-pass-failed -Wno-unused-function "
                              "-Wno-unused-const-variable -ffp-contract=off " +
                              text + " -o " + object + " -lm > " + log + " 2>&1";
  const int status = std::system(command.c_str());
  const std::string messages = read_file(log);
  if (status != 0) FAIL("the emitted text does not compile:\n" << messages << "\n" << source_.text);
  library_ = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) FAIL(dlerror());
  *static_cast<void**>(dlsym(library_, "sdfg_abi")) = &table();
  entry_ = dlsym(library_, "sdfg_entry");
  packed_ = dlsym(library_, "sdfg_packed");
  REQUIRE(entry_ != nullptr);
  REQUIRE(packed_ != nullptr);
}

Compiled::~Compiled() {
  if (library_) dlclose(library_);
}

void Compiled::before_call() {
  current() = Report();
}

std::int32_t Compiled::packed(std::vector<void*> arguments) {
  before_call();
  return reinterpret_cast<std::int32_t (*)(void* const*)>(packed_)(arguments.data());
}

const Report& Compiled::report() const {
  return current();
}

std::string own_part(const std::string& text) {
  // Helpers and the prelude come first; the graph's own text starts at its first table, index helper or function.
  std::istringstream in(text);
  std::string line, out;
  bool own = false;
  while (std::getline(in, line)) {
    const bool starts = line.starts_with("static constexpr ") && line.find(" sdfg_") == std::string::npos;
    own = own || starts || (line.starts_with("static void ") && line.find("sdfg_") != 12);
    if (own) out += line + "\n";
  }
  return out;
}

void check_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(SDFG_SOURCE_DIR) / "tests" / "golden" / name;
  if (std::getenv("SDFG_UPDATE_GOLDEN")) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return;
  }
  INFO("golden file " << path << "; set SDFG_UPDATE_GOLDEN=1 to accept the new text");
  CHECK(text == read_file(path));
}

}  // namespace sdfg::test
