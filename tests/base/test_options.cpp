// Options, the environment, and how they resolve.
#include <catch2/catch.hpp>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sdfg/error.hpp>
#include <sdfg/options.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include "base/env.hpp"
#include "base/suggest.hpp"

namespace test_options {

using sdfg::Options;

namespace {

// Sets a variable for the life of the object.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

std::string error_text(const Options& options = {}) {
  try {
    sdfg::resolve(options);
  } catch (const sdfg::Error& error) {
    return error.what();
  }
  return "no error";
}

// A value other than the default, for each variable.
const std::pair<const char*, const char*> kOtherValues[] = {
    {"SDFG_DEVICE", "cuda:3"},           {"SDFG_HOST_MAPS", "outer,copy"},   {"SDFG_OPT", "1"},
    {"SDFG_PASSES", "simplify,fuse"},    {"SDFG_SKIP_PASSES", "fuse"},       {"SDFG_FP", "reassociate,finite"},
    {"SDFG_NUM_THREADS", "7"},           {"SDFG_THREADS_BACKEND", "libomp"}, {"SDFG_TARGET_CPU", "x86-64-v3"},
    {"SDFG_GPU_ARCH", "sm_90"},          {"SDFG_CACHE", "readonly"},         {"SDFG_CACHE_DIR", "/tmp/x"},
    {"SDFG_CACHE_MAX_SIZE", "1048576"},  {"SDFG_CACHE_MAX_AGE", "60"},       {"SDFG_COMPILE_THREADS", "2"},
    {"SDFG_COMPILE_MODE", "helper"},     {"SDFG_COMPILE_TIMEOUT", "5"},      {"SDFG_GPU_BLOCK_SIZE", "16x16"},
    {"SDFG_GPU_STREAMS", "-1"},          {"SDFG_GPU_GRAPHS", "off"},         {"SDFG_GPU_SYNC", "1"},
    {"SDFG_GPU_POOL_MAX", "4096"},       {"SDFG_CHECK", "bounds,nan"},       {"SDFG_VERIFY", "1"},
    {"SDFG_VALIDATE", "first"},          {"SDFG_DUMP", "source,asm"},        {"SDFG_DUMP_DIR", "out"},
    {"SDFG_LOG", "pass=debug"},          {"SDFG_LOG_FILE", "log.txt"},       {"SDFG_DEBUG", "2"},
    {"SDFG_TRACE", "trace.json"},        {"SDFG_PROFILE", "table,gdb"},      {"SDFG_REPRO_DIR", "always:bundle"},
    {"SDFG_STYLE", "no-comments,braces"}};

}  // namespace

TEST_CASE("every variable is read, written back, and reaches exactly its field") {
  const Options base = sdfg::resolve({});
  std::set<std::string_view> tried;
  for (const auto& [name, value] : kOtherValues) {
    INFO(name);
    const Environment variable(name, value);
    const Options options = sdfg::resolve({});
    int differing = 0;
    for (const sdfg::Variable& row : sdfg::variables()) {
      CHECK(row.is_set(options));
      if (row.name == name) CHECK(row.write(options) == value);
      if (row.write(options) != row.write(base)) ++differing;
    }
    CHECK(differing == 1);
    CHECK_FALSE(options == base);
    tried.insert(name);
  }
  CHECK(tried.size() == sdfg::variables().size());
}

TEST_CASE("the program wins over the environment, which wins over the default") {
  CHECK(sdfg::resolve({}).opt_level == 3);
  const Environment variable("SDFG_OPT", "1");
  CHECK(sdfg::resolve({}).opt_level == 1);
  Options options;
  options.opt_level = 2;
  CHECK(sdfg::resolve(options).opt_level == 2);
}

TEST_CASE("resolving twice changes nothing") {
  const Environment variable("SDFG_FP", "fast");
  const Options once = sdfg::resolve({});
  CHECK(sdfg::resolve(once) == once);
}

TEST_CASE("an empty variable counts as not set") {
  const Environment variable("SDFG_OPT", "");
  CHECK(sdfg::resolve({}).opt_level == 3);
}

TEST_CASE("a wrong value names variable, value, what is taken and the nearest valid value") {
  {
    const Environment variable("SDFG_OPT", "9");
    CHECK(error_text() ==
          "usage error: SDFG_OPT has the value '9', but takes an integer from 0 to 3\n"
          "  hint: the nearest valid value is '3'");
  }
  {
    const Environment variable("SDFG_CACHE", "memroy");
    CHECK(error_text() ==
          "usage error: SDFG_CACHE has the value 'memroy', but takes one of on, off, memory, readonly, refresh\n"
          "  hint: the nearest valid value is 'memory'");
  }
  {
    const Environment variable("SDFG_CHECK", "bounds,nans");
    CHECK(error_text() ==
          "usage error: SDFG_CHECK has the value 'nans', but takes a list of bounds, races, nan, uninitialised\n"
          "  hint: the nearest valid value is 'nan'");
  }
  {
    const Environment variable("SDFG_LOG", "pas=debug");
    CHECK(error_text().find("the nearest valid value is 'pass'") != std::string::npos);
  }
  for (const char* wrong : {"emu", "Emulator", "emulate"}) {
    const Environment variable("SDFG_DEVICE", wrong);
    INFO(wrong);
    CHECK(error_text().find("the nearest valid value is 'emulated'") != std::string::npos);
  }
  {
    const Environment variable("SDFG_DEVICE", "gpu");
    CHECK(error_text().find("the nearest valid value is 'cuda'") != std::string::npos);
  }
  {
    const Environment variable("SDFG_GPU_BLOCK_SIZE", "64x64");
    CHECK(error_text() ==
          "usage error: SDFG_GPU_BLOCK_SIZE has the value '64x64', but takes up to three numbers such as 128 or 16x16, "
          "with a product of at most 1024\n"
          "  hint: the nearest valid value is '64x16'");
  }
  {
    const Environment variable("SDFG_NUM_THREADS", "99999999999999999999");
    CHECK(error_text().find("the nearest valid value is '4096'") != std::string::npos);
  }
}

TEST_CASE("the nearest valid value of a number out of range is the bound") {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"SDFG_OPT", "-1", "0"},
      {"SDFG_OPT", "99999999999999999999", "3"},
      {"SDFG_OPT", "-99999999999999999999", "0"},
      {"SDFG_GPU_STREAMS", "-2", "-1"},
      {"SDFG_GPU_STREAMS", "1025", "1024"},
      {"SDFG_DEVICE", "cuda:-1", "0"},
      {"SDFG_DEVICE", "cuda:1024", "1023"},
      {"SDFG_GPU_BLOCK_SIZE", "2048", "1024"},
      {"SDFG_GPU_BLOCK_SIZE", "0x4", "1x4"},
      {"SDFG_GPU_BLOCK_SIZE", "32x32x2", "32x32x1"},
      {"SDFG_GPU_BLOCK_SIZE", "99999999999x-3", "1024x1"},
      {"SDFG_CACHE_MAX_SIZE", "-1", "0"},
      {"SDFG_CACHE_MAX_SIZE", "-5G", "0"},
      {"SDFG_CACHE_MAX_SIZE", "9223372036854775808", "9223372036854775807"},
      {"SDFG_CACHE_MAX_SIZE", "9999999999999T", "8388607T"},
      {"SDFG_CACHE_MAX_AGE", "999999999999999999d", "106751991167300d"},
      {"SDFG_COMPILE_TIMEOUT", "99999999999999999999 m", "153722867280912930m"}};
  for (const auto& [name, value, bound] : cases) {
    INFO(name << "=" << value);
    const Environment variable(name, value);
    CHECK(error_text().ends_with("\n  hint: the nearest valid value is '" + std::string(bound) + "'"));
    const Environment mended(name, std::string(name) == "SDFG_DEVICE" ? "cuda:0" : bound);
    CHECK(error_text() == "no error");
  }
}

TEST_CASE("text of another form than the variable's gets an example, not a nearest value") {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"SDFG_OPT", "three", "an integer from 0 to 3\n  hint: an example is '1'"},
      {"SDFG_OPT", "2.5", "an integer from 0 to 3\n  hint: an example is '1'"},
      {"SDFG_GPU_STREAMS", "all", "an integer from -1 to 1024\n  hint: an example is '1'"},
      {"SDFG_CACHE_MAX_SIZE", "plenty", "a number of bytes such as 512M or 2G\n  hint: an example is '1G'"},
      {"SDFG_CACHE_MAX_SIZE", "1.5G", "a number of bytes such as 512M or 2G\n  hint: an example is '1G'"},
      {"SDFG_CACHE_MAX_SIZE", "7X", "a number of bytes such as 512M or 2G\n  hint: an example is '1G'"},
      {"SDFG_CACHE_MAX_AGE", "never", "a time such as 90s, 15m, 12h or 30d\n  hint: an example is '30d'"},
      {"SDFG_COMPILE_TIMEOUT", "5 parsecs", "a time such as 90s, 15m, 12h or 30d\n  hint: an example is '30d'"},
      {"SDFG_GPU_BLOCK_SIZE", "large",
       "up to three numbers such as 128 or 16x16, with a product of at most 1024\n  hint: an example is '16x16'"},
      {"SDFG_GPU_BLOCK_SIZE", "0xfoo",
       "up to three numbers such as 128 or 16x16, with a product of at most 1024\n  hint: an example is '16x16'"}};
  for (const auto& [name, value, rest] : cases) {
    const Environment variable(name, value);
    CHECK(error_text() == "usage error: " + std::string(name) + " has the value '" + value + "', but takes " + rest);
  }
}

TEST_CASE("a word that resembles no valid one gets no suggestion") {
  for (const auto& [name, value] :
       {std::pair("SDFG_CACHE", "purple"), std::pair("SDFG_GPU_SYNC", "2"), std::pair("SDFG_GPU_SYNC", "x"),
        std::pair("SDFG_DEVICE", "quantum"), std::pair("SDFG_FP", "sloppy"), std::pair("SDFG_CHECK", "everything"),
        std::pair("SDFG_LOG", "loud"), std::pair("SDFG_STYLE", "zen")}) {
    const Environment variable(name, value);
    INFO(error_text());
    CHECK(error_text().starts_with("usage error: " + std::string(name) + " has the value '" + value + "', but takes "));
    CHECK(error_text().find("hint") == std::string::npos);
  }
}

TEST_CASE("a wrong value set by the program is an error too") {
  Options options;
  options.opt_level = -4;
  CHECK(error_text(options) ==
        "usage error: the option for SDFG_OPT has the value '-4', but takes an integer from 0 to 3\n"
        "  hint: the nearest valid value is '0'");
  Options block;
  block.gpu_block_size = sdfg::BlockSize{{0, 1, 1}};
  CHECK(error_text(block).find("SDFG_GPU_BLOCK_SIZE") != std::string::npos);
}

TEST_CASE("sizes and times take units") {
  const Environment size("SDFG_CACHE_MAX_SIZE", "512MiB");
  const Environment age("SDFG_CACHE_MAX_AGE", "12h");
  const Options options = sdfg::resolve({});
  CHECK(options.cache_max_size == std::int64_t{512} << 20);
  CHECK(options.cache_max_age == 12 * 3600);
  const Environment wrong("SDFG_COMPILE_TIMEOUT", "5 parsecs");
  CHECK(error_text().find("SDFG_COMPILE_TIMEOUT has the value '5 parsecs'") != std::string::npos);
  const Environment overflow("SDFG_COMPILE_TIMEOUT", "999999999999999999d");
  CHECK(error_text().find("106751991167300d") != std::string::npos);
}

TEST_CASE("every combination of floating-point freedoms survives its text") {
  for (int bits = 0; bits < 32; ++bits) {
    Options options;
    sdfg::FloatingPoint fp;
    fp.contract = bits & 1;
    fp.reassociate = bits & 2;
    fp.finite = bits & 4;
    fp.approximate = bits & 8;
    fp.vector_math = bits & 16;
    options.fp = fp;
    CHECK(sdfg::resolve(options).fp == fp);
  }
}

TEST_CASE("an unknown variable gives a warning with the nearest name") {
  const Environment variable("SDFG_DUMPS", "1");
  const Environment tests("SDFG_TEST_COUNTS", "x");
  const std::vector<std::string> warnings = sdfg::unknown_variable_warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] == "the environment variable SDFG_DUMPS is not known and has no effect; did you mean SDFG_DUMP?");
}

TEST_CASE("an unknown variable that resembles none gets no suggestion") {
  for (const char* name : {"SDFG_BOGUS", "SDFG_X", "SDFG_FOO", "SDFG_HOME", "SDFG_COLOUR", "SDFG_"}) {
    const Environment variable(name, "1");
    const std::vector<std::string> warnings = sdfg::unknown_variable_warnings();
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0] == "the environment variable " + std::string(name) + " is not known and has no effect");
  }
  for (const auto& [name, meant] :
       {std::pair("SDFG_DUBUG", "SDFG_DEBUG"), std::pair("SDFG_CAHCE", "SDFG_CACHE"),
        std::pair("SDFG_NUMTHREADS", "SDFG_NUM_THREADS"), std::pair("SDFG_GPU_BLOCKSIZE", "SDFG_GPU_BLOCK_SIZE")}) {
    const Environment variable(name, "1");
    const std::vector<std::string> warnings = sdfg::unknown_variable_warnings();
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].ends_with("; did you mean " + std::string(meant) + "?"));
  }
}

TEST_CASE("the key changes with what influences code, and with nothing else") {
  const auto base = sdfg::bytes_for_key(sdfg::resolve({}));
  for (const auto& [name, value] : kOtherValues) {
    const Environment variable(name, value);
    const auto bytes = sdfg::bytes_for_key(sdfg::resolve({}));
    for (const sdfg::Variable& row : sdfg::variables()) {
      INFO(name);
      if (row.name == name) CHECK((bytes != base) == row.in_key);
    }
  }
  Options options;
  options.specialize = {{"N", 1000}};
  CHECK(sdfg::bytes_for_key(sdfg::resolve(options)) != base);
}

TEST_CASE("the README lists the variables as the table has them") {
  std::ifstream file(SDFG_SOURCE_DIR "/README.md");
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str().find(sdfg::variables_as_markdown()) != std::string::npos);
}

TEST_CASE("the README's row of a variable has every word that the variable takes, and the variable takes each") {
  std::ifstream file(SDFG_SOURCE_DIR "/README.md");
  std::map<std::string, std::string, std::less<>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `SDFG_")) rows[line.substr(3, line.find('`', 3) - 3)] = line;
  }
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  const auto has = [&](const std::string& row, const std::string& word) {
    for (std::size_t at = row.find(word); at != std::string::npos; at = row.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      if (!in_word(row[at - 1]) && (!in_word(word.back()) || !in_word(row[end]))) return true;
    }
    return false;
  };
  std::size_t words = 0;
  for (const sdfg::Variable& variable : sdfg::variables()) {
    REQUIRE(rows.contains(variable.name));
    for (const std::string& word : variable.words()) {
      INFO(variable.name << " takes " << word);
      CHECK(has(rows.find(variable.name)->second, word));
      ++words;
      // Alone, as a unit, as a logger.
      int taken = 0;
      for (const std::string& text : {word, "1" + word, word + "=info"}) {
        Options options;
        try {
          variable.read(options, text, variable.name);
          ++taken;
        } catch (const sdfg::Error&) {
        }
      }
      CHECK(taken > 0);
    }
  }
  CHECK(words > 100);
}

TEST_CASE("the nearest name is near, or there is none") {
  const std::string_view names[] = {"alpha", "beta", "gamma"};
  CHECK(sdfg::nearest_name("alhpa", names) == "alpha");
  CHECK(sdfg::nearest_name("Beta", names) == "beta");
  CHECK(sdfg::nearest_name("completely", names).empty());
  CHECK(sdfg::nearest_name("ga", names) == "gamma");
  const std::string_view alike[] = {"count_of_rows", "count_of_sums"};
  CHECK(sdfg::nearest_name("count_of_rwos", alike) == "count_of_rows");
  CHECK(sdfg::nearest_name("count_of_words", alike).empty());
  CHECK(sdfg::nearest_name("cuont_of_sums", alike) == "count_of_sums");
  CHECK(sdfg::nearest_name("count", alike) == "count_of_rows");
  CHECK(sdfg::edit_distance("kitten", "sitting") == 3);
  CHECK(sdfg::edit_distance("", "abc") == 3);
  CHECK(sdfg::edit_distance("ab", "ba") == 1);
}

}  // namespace test_options
