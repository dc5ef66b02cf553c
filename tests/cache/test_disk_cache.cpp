// The disk cache: whatever happens to its files, an answer is right or a miss.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sdfg/options.hpp>
#include <thread>

#include "../support/folder.hpp"
#include "runtime/cache_entry.hpp"
#include "runtime/disk_cache.hpp"

namespace test_disk_cache {

using namespace sdfg;
using namespace sdfg::runtime;
using sdfg::test::Folder;

namespace {

Digest key_of(int number) {
  return digest_of("key " + std::to_string(number));
}

std::vector<std::uint8_t> record_of(int number) {
  const std::string text =
      "graph digest; generator 1; options -O3; x86_64 +avx2; LLVM 22; ABI 5; key " + std::to_string(number);
  return {text.begin(), text.end()};
}

CacheEntry entry_of(int number, std::size_t payload_bytes = 300) {
  CacheEntry entry;
  entry.input_record = record_of(number);
  entry.metadata = {1, 2, 3, static_cast<std::uint8_t>(number)};
  std::vector<std::uint8_t> bytes(payload_bytes);
  std::mt19937 random(static_cast<unsigned>(number));
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  entry.payloads.push_back({compiler::CodeKind::kHostObject, "", bytes});
  entry.payloads.push_back({compiler::CodeKind::kCubin, "kernels", {7, 7}});
  entry.diagnostics.push_back({compiler::Severity::kWarning, 3, 9, "unused variable"});
  entry.source = "extern \"C\" int f() { return " + std::to_string(number) + "; }\n";
  entry.source_map = {9, 8, 7};
  entry.compile_ns = 123456789;
  entry.created = 1700000000;
  entry.producer = "sdfg 0.1.0";
  return entry;
}

bool same(const CacheEntry& a, const CacheEntry& b) {
  return encode_entry(a) == encode_entry(b);
}

std::string file_of(const std::string& directory, const Digest& key) {
  return directory + "/" + key.hex().substr(0, 2) + "/" + key.hex();
}

std::vector<std::uint8_t> slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void spill(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

bool exists(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0;
}

int files_named_like(const std::string& directory, const std::string& prefix) {
  int count = 0;
  const std::string command = "find '" + directory + "' -name '" + prefix + "*' | wc -l";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (std::fscanf(pipe, "%d", &count) != 1) count = -1;
  pclose(pipe);
  return count;
}

struct Warnings {
  std::vector<std::string> texts;
  DiskCacheOptions options(const std::string& directory, DiskCacheMode mode = DiskCacheMode::kReadWrite) {
    DiskCacheOptions result;
    result.directory = directory;
    result.mode = mode;
    result.log = [this](bool important, const std::string& text) {
      if (important) texts.push_back(text);
    };
    return result;
  }
};

}  // namespace

TEST_CASE("What is stored comes back, in this and in another cache object", "[disk]") {
  const Folder folder;
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  REQUIRE(cache.writable());
  CHECK_FALSE(cache.load(key_of(1), record_of(1)));
  CHECK(cache.store(key_of(1), entry_of(1)));
  const auto again = cache.load(key_of(1), record_of(1));
  REQUIRE(again);
  CHECK(same(*again, entry_of(1)));
  DiskCache other(warnings.options((folder / "cache") + "/"));
  REQUIRE(other.load(key_of(1), record_of(1)));
  CHECK(cache.stats().hits == 1);
  CHECK(cache.stats().misses == 1);
  CHECK(warnings.texts.empty());
  struct stat info{};
  REQUIRE(stat((folder / "cache").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
}

TEST_CASE("An entry with nothing in it and one with megabytes both come back", "[disk]") {
  const Folder folder;
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  CacheEntry empty;
  empty.created = 5;
  CHECK(cache.store(key_of(1), empty));
  REQUIRE(cache.load(key_of(1), {}));
  CHECK(same(*cache.load(key_of(1), {}), empty));
  CHECK(cache.store(key_of(2), entry_of(2, 5'000'011)));
  CHECK(same(*cache.load(key_of(2), record_of(2)), entry_of(2, 5'000'011)));
}

TEST_CASE("Flipping any byte of an entry makes it a miss", "[disk]") {
  const auto image = encode_entry(entry_of(3));
  REQUIRE(decode_entry(image));
  for (std::size_t i = 0; i < image.size(); ++i) {
    for (const std::uint8_t flip : {0x01, 0x80, 0xff}) {
      auto damaged = image;
      damaged[i] ^= flip;
      INFO("byte " << i);
      REQUIRE_FALSE(decode_entry(damaged));
    }
  }
}

TEST_CASE("Cutting an entry anywhere, or lengthening it, makes it a miss", "[disk]") {
  const auto image = encode_entry(entry_of(3));
  for (std::size_t size = 0; size < image.size(); ++size) {
    REQUIRE_FALSE(decode_entry(std::span(image).first(size)));
  }
  auto longer = image;
  longer.push_back(0);
  CHECK_FALSE(decode_entry(longer));
}

TEST_CASE("A body with a right checksum and wrong lengths is refused without reading outside", "[disk]") {
  // As an attacker or a bug would write it: damage the body, then fix size and checksum.
  const auto image = encode_entry(entry_of(3));
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto damaged = image;
    const int changes = 1 + static_cast<int>(random() % 3);
    for (int c = 0; c < changes; ++c)
      damaged[40 + random() % (damaged.size() - 40)] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) damaged.resize(40 + random() % (damaged.size() - 40));
    for (int b = 0; b < 8; ++b)
      damaged[16 + static_cast<std::size_t>(b)] = static_cast<std::uint8_t>(damaged.size() >> (8 * b));
    const Digest digest = digest_of(std::span(damaged).subspan(40));
    std::copy_n(digest.bytes.begin(), 16, damaged.begin() + 24);
    accepted += decode_entry(damaged) ? 1 : 0;
  }
  CHECK(accepted > 0);  // harmless changes (a letter of the source's name) still decode
}

TEST_CASE("A damaged file is removed once, and the next store replaces it", "[disk]") {
  const Folder folder;
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  REQUIRE(cache.store(key_of(1), entry_of(1)));
  const std::string path = file_of(folder / "cache", key_of(1));
  auto bytes = slurp(path);
  bytes[bytes.size() / 2] ^= 1;
  spill(path, bytes);
  CHECK(cache.verify() == std::vector<Digest>{key_of(1)});
  CHECK_FALSE(cache.load(key_of(1), record_of(1)));
  CHECK_FALSE(exists(path));
  CHECK(cache.stats().corrupt == 1);
  CHECK(cache.store(key_of(1), entry_of(1)));
  CHECK(cache.load(key_of(1), record_of(1)));
  CHECK(cache.verify().empty());
}

TEST_CASE("A changed input record is a miss that is logged, whatever byte differs", "[disk]") {
  const Folder folder;
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  REQUIRE(cache.store(key_of(1), entry_of(1)));
  const auto record = record_of(1);
  for (std::size_t i = 0; i < record.size(); ++i) {
    auto other = record;
    other[i] ^= 4;
    REQUIRE_FALSE(cache.load(key_of(1), other));
  }
  auto longer = record;
  longer.push_back(0);
  CHECK_FALSE(cache.load(key_of(1), longer));
  CHECK_FALSE(cache.load(key_of(1), {}));
  CHECK(cache.stats().mismatches == static_cast<std::int64_t>(record.size()) + 2);
  CHECK_FALSE(warnings.texts.empty());
  CHECK(cache.load(key_of(1), record));  // the entry itself is left alone
}

TEST_CASE("An existing entry is never replaced, except to refresh", "[disk]") {
  const Folder folder;
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  CHECK(cache.store(key_of(1), entry_of(1)));
  CacheEntry second = entry_of(1);
  second.producer = "another";
  CHECK_FALSE(cache.store(key_of(1), second));
  CHECK(cache.load(key_of(1), record_of(1))->producer == "sdfg 0.1.0");
  CHECK(cache.writable());
  DiskCache refresh(warnings.options(folder / "cache", DiskCacheMode::kRefresh));
  CHECK_FALSE(refresh.load(key_of(1), record_of(1)));
  CHECK(refresh.store(key_of(1), second));
  CHECK(cache.load(key_of(1), record_of(1))->producer == "another");
  CHECK(files_named_like(folder / "cache", ".tmp-") == 0);
}

TEST_CASE("A read-only cache is read and not written", "[disk]") {
  const Folder folder;
  Warnings warnings;
  {
    DiskCache cache(warnings.options(folder / "cache"));
    REQUIRE(cache.store(key_of(1), entry_of(1)));
  }
  DiskCache cache(warnings.options(folder / "cache", DiskCacheMode::kReadOnly));
  CHECK(cache.load(key_of(1), record_of(1)));
  CHECK_FALSE(cache.store(key_of(2), entry_of(2)));
  CHECK_FALSE(cache.remove(key_of(1)));
  CHECK(warnings.texts.empty());
  DiskCache absent(warnings.options(folder / "absent", DiskCacheMode::kReadOnly));
  CHECK_FALSE(absent.usable());
  CHECK_FALSE(absent.load(key_of(1), record_of(1)));
  CHECK_FALSE(exists(folder / "absent"));
}

TEST_CASE("A directory that can't be written ends writing with one warning", "[disk]") {
  const Folder folder;
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  REQUIRE(cache.store(key_of(1), entry_of(1)));
  if (geteuid() == 0) {
    // Permissions don't hold for root: a file in the place of the folder does the same.
    spill((folder / "cache") + "/" + key_of(2).hex().substr(0, 2), {1});
  } else {
    chmod((folder / "cache").c_str(), 0500);
  }
  CHECK_FALSE(cache.store(key_of(2), entry_of(2)));
  CHECK_FALSE(cache.store(key_of(2), entry_of(2)));
  CHECK_FALSE(cache.writable());
  CHECK(warnings.texts.size() == 1);
  CHECK(cache.load(key_of(1), record_of(1)));
}

TEST_CASE("A full disk ends writing with one warning, and leaves nothing behind", "[disk]") {
  // RLIMIT_FSIZE stands in for the disk; in a child, since it also limits this process' files.
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    Warnings warnings;
    DiskCache cache(warnings.options(folder / "cache"));
    int wrong = cache.store(key_of(1), entry_of(1)) ? 0 : 1;
    rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    if (cache.store(key_of(2), entry_of(2, 100'000))) wrong |= 2;
    if (cache.writable() || warnings.texts.size() != 1) wrong |= 4;
    if (cache.store(key_of(3), entry_of(3))) wrong |= 8;
    if (!cache.load(key_of(1), record_of(1))) wrong |= 16;
    _exit(wrong);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(files_named_like(folder / "cache", ".tmp-") == 0);
}

TEST_CASE("A really full file system ends writing with one warning", "[disk]") {
  const Folder folder;
  const std::string mount = "mount -t tmpfs -o size=64k,mode=0700 none '" + folder.str() + "' 2>/dev/null";
  if (std::system(mount.c_str()) != 0) {
    WARN("a small file system can't be mounted here");
    return;
  }
  {
    Warnings warnings;
    DiskCache cache(warnings.options(folder / "cache"));
    CHECK(cache.store(key_of(1), entry_of(1)));
    CHECK_FALSE(cache.store(key_of(2), entry_of(2, 200'000)));
    CHECK_FALSE(cache.writable());
    CHECK(warnings.texts.size() == 1);
    CHECK(cache.load(key_of(1), record_of(1)));
    CHECK(files_named_like(folder / "cache", ".tmp-") == 0);
  }
  CHECK(std::system(("umount '" + folder.str() + "'").c_str()) == 0);
}

TEST_CASE("Directories that are links, foreign or open to others are refused", "[disk]") {
  const Folder folder;
  const std::string target = folder / "target";
  const std::string link = folder / "link";
  REQUIRE(mkdir(target.c_str(), 0700) == 0);
  REQUIRE(symlink(target.c_str(), link.c_str()) == 0);
  Warnings warnings;
  CHECK_FALSE(DiskCache(warnings.options(link)).usable());
  CHECK(warnings.texts.size() == 1);
  const std::string open_to_all = folder / "open";
  REQUIRE(mkdir(open_to_all.c_str(), 0700) == 0);
  chmod(open_to_all.c_str(), 0777);
  CHECK_FALSE(DiskCache(warnings.options(open_to_all)).usable());
  CHECK(warnings.texts.size() == 2);
  const std::string file = folder / "file";
  spill(file, {1});
  CHECK_FALSE(DiskCache(warnings.options(file)).usable());
  if (geteuid() == 0) {
    const std::string foreign = folder / "foreign";
    REQUIRE(mkdir(foreign.c_str(), 0700) == 0);
    REQUIRE(chown(foreign.c_str(), 12345, 12345) == 0);
    CHECK_FALSE(DiskCache(warnings.options(foreign)).usable());
  }
}

TEST_CASE("An entry that is a link, a folder or a pipe is a miss", "[disk]") {
  const Folder folder;
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  for (int i = 1; i <= 3; ++i) REQUIRE(cache.store(key_of(i), entry_of(i)));
  const auto swap = [&](int i, auto&& make) {
    const std::string path = file_of(folder / "cache", key_of(i));
    rename(path.c_str(), (folder / "moved" + std::to_string(i)).c_str());
    make(path);
  };
  swap(1, [&](const std::string& path) { REQUIRE(symlink((folder / "moved1").c_str(), path.c_str()) == 0); });
  swap(2, [&](const std::string& path) { REQUIRE(mkdir(path.c_str(), 0700) == 0); });
  swap(3, [&](const std::string& path) { REQUIRE(mkfifo(path.c_str(), 0600) == 0); });
  for (int i = 1; i <= 3; ++i) CHECK_FALSE(cache.load(key_of(i), record_of(i)));
}

TEST_CASE("A directory removed under a running cache is a miss, and made again by the next store", "[disk]") {
  const Folder folder;
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  REQUIRE(cache.store(key_of(1), entry_of(1)));
  REQUIRE(std::system(("rm -rf '" + folder / "cache" + "'").c_str()) == 0);
  CHECK_FALSE(cache.load(key_of(1), record_of(1)));
  CHECK(cache.list().empty());
  CHECK(cache.store(key_of(1), entry_of(1)));
  CHECK(cache.load(key_of(1), record_of(1)));
  CHECK(cache.list().size() == 1);
  // Made again by somebody else, with another content.
  REQUIRE(std::system(("rm -rf '" + folder / "cache" + "'").c_str()) == 0);
  DiskCache other(warnings.options(folder / "cache"));
  REQUIRE(other.store(key_of(2), entry_of(2)));
  CHECK(cache.store(key_of(1), entry_of(1)));
  CHECK(cache.load(key_of(2), record_of(2)));
  CHECK(other.load(key_of(1), record_of(1)));
  CHECK(warnings.texts.empty());
  // A parent that can't be made ends writing with one warning.
  REQUIRE(std::system(("rm -rf '" + folder / "cache" + "'").c_str()) == 0);
  spill(folder / "cache", {1});
  CHECK_FALSE(cache.store(key_of(1), entry_of(1)));
  CHECK_FALSE(cache.writable());
}

TEST_CASE("Many threads whose directory is removed make it again once", "[disk]") {
  const Folder folder;
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  REQUIRE(std::system(("rm -rf '" + folder / "cache" + "'").c_str()) == 0);
  std::atomic<int> stored{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] { stored += cache.store(key_of(t), entry_of(t)) ? 1 : 0; });
  }
  for (std::thread& t : threads) t.join();
  CHECK(stored == 8);
  CHECK(cache.list().size() == 8);
  CHECK(warnings.texts.empty());
}

TEST_CASE("Pruning removes the least recently used first, old ones, and left temporaries", "[disk]") {
  const Folder folder;
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  std::uint64_t total = 0;
  for (int i = 0; i < 10; ++i) {
    REQUIRE(cache.store(key_of(i), entry_of(i, 10'000)));
    const timespec times[2] = {{1'700'000'000 + i * 1000, 0}, {1'700'000'000, 0}};
    utimensat(AT_FDCWD, file_of(folder / "cache", key_of(i)).c_str(), times, 0);
  }
  for (const auto& item : cache.list()) total += item.bytes;
  CHECK(cache.list().size() == 10);
  // Using an old entry saves it.
  REQUIRE(cache.load(key_of(0), record_of(0)));
  const PruneResult result = cache.prune(total / 2, 0);
  CHECK(result.kept + result.removed == 10);
  CHECK(result.kept_bytes <= total / 2);
  CHECK(result.kept >= 4);
  CHECK(cache.load(key_of(0), record_of(0)));
  CHECK(cache.load(key_of(9), record_of(9)));
  CHECK_FALSE(cache.load(key_of(1), record_of(1)));

  const std::string left = folder / "cache" + "/" + key_of(0).hex().substr(0, 2) + "/.tmp-0123";
  spill(left, {1, 2});
  cache.prune(total, 0);
  CHECK(exists(left));  // its writer may live
  const timespec old[2] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
  utimensat(AT_FDCWD, left.c_str(), old, 0);
  cache.prune(total, 0);
  CHECK_FALSE(exists(left));

  utimensat(AT_FDCWD, file_of(folder / "cache", key_of(9)).c_str(), old, 0);
  CHECK(cache.prune(total, 3600).removed >= 1);
  CHECK_FALSE(cache.load(key_of(9), record_of(9)));
  CHECK(cache.load(key_of(0), record_of(0)));
  CHECK(cache.remove(key_of(0)));
  CHECK_FALSE(cache.remove(key_of(0)));
}

TEST_CASE("A store sweeps beyond the size cap at most once an hour over all processes", "[disk]") {
  const Folder folder;
  Warnings warnings;
  const auto open_small = [&] {
    auto options = warnings.options(folder / "cache");
    options.max_bytes = 25'000;
    return options;
  };
  DiskCache first(open_small());
  for (int i = 0; i < 6; ++i) REQUIRE(first.store(key_of(i), entry_of(i, 10'000)));
  const auto after_first = first.list().size();
  DiskCache second(open_small());
  CHECK(second.store(key_of(10), entry_of(10, 10'000)));
  CHECK(second.list().size() == after_first + 1);  // not due
  const timespec old[2] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
  REQUIRE(utimensat(AT_FDCWD, ((folder / "cache") + "/sweep.stamp").c_str(), old, 0) == 0);
  DiskCache third(open_small());
  CHECK(third.store(key_of(11), entry_of(11, 10'000)));
  std::uint64_t total = 0;
  for (const auto& item : third.list()) total += item.bytes;
  CHECK(total <= 25'000);
}

TEST_CASE("Many threads storing and loading the same keys", "[disk]") {
  const Folder folder;
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 60; ++i) {
        const int n = i % 13;
        cache.store(key_of(n), entry_of(n));
        const auto entry = cache.load(key_of(n), record_of(n));
        if (!entry || !same(*entry, entry_of(n))) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(cache.stats().stores == 13);
  CHECK(files_named_like(folder / "cache", ".tmp-") == 0);
}

TEST_CASE("64 processes, killed at random while they write, leave only whole entries", "[disk]") {
  const Folder folder;
  constexpr int kProcesses = 64;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      DiskCacheOptions options;
      options.directory = folder / "cache";
      DiskCache cache(options);
      for (int round = 0;; ++round) {
        const int n = (p * 7 + round) % 40;
        const auto entry = cache.load(key_of(n), record_of(n));
        if (entry && !same(*entry, entry_of(n, 20'000))) _exit(3);
        if (!entry) cache.store(key_of(n), entry_of(n, 20'000));
        if (round % 17 == 0) cache.remove(key_of(n));
        if (cache.stats().corrupt != 0) _exit(4);
        usleep(500);  // leaves the machine to others; most kills still hit a write
      }
    }
    children.push_back(child);
  }
  std::mt19937 random(5);
  std::shuffle(children.begin(), children.end(), random);
  for (const pid_t child : children) {
    usleep(random() % 20'000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
  }
  Warnings warnings;
  DiskCache cache(warnings.options(folder / "cache"));
  CHECK(cache.verify().empty());
  for (const auto& item : cache.list()) CHECK(cache.read(item.key));
  CHECK_FALSE(cache.list().empty());
}

TEST_CASE("Resolved options become the disk cache's", "[disk]") {
  Options options;
  options.cache = CacheMode::kReadOnly;
  options.cache_dir = "/somewhere";
  options.cache_max_size = 12345;
  options.cache_max_age = 60;
  const DiskCacheOptions disk = disk_cache_options(resolve(options));
  CHECK(disk.mode == DiskCacheMode::kReadOnly);
  CHECK(disk.directory == "/somewhere");
  CHECK(disk.max_bytes == 12345);
  CHECK(disk.max_age_seconds == 60);
  CHECK(disk.log);
}

TEST_CASE("The default directory follows the environment, absolute paths only", "[disk]") {
  const auto with = [](const char* chosen, const char* xdg, const char* home) {
    const auto set = [](const char* name, const char* value) {
      value != nullptr ? setenv(name, value, 1) : unsetenv(name);
    };
    std::vector<std::pair<const char*, std::string>> saved;
    std::vector<const char*> absent;
    for (const char* name : {"SDFG_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) {
      if (const char* value = std::getenv(name))
        saved.emplace_back(name, value);
      else
        absent.push_back(name);
    }
    set("SDFG_CACHE_DIR", chosen);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    const std::string result = default_cache_directory();
    for (const auto& [name, value] : saved) setenv(name, value.c_str(), 1);
    for (const char* name : absent) unsetenv(name);
    return result;
  };
  CHECK(with("/a", "/b", "/c") == "/a");
  CHECK(with(nullptr, "/b", "/c") == "/b/sdfg");
  CHECK(with("relative", "", "/c") == "/c/.cache/sdfg");
  CHECK(with(nullptr, nullptr, nullptr).empty());
}

}  // namespace test_disk_cache
