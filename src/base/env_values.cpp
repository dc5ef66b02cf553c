// Readers and writers of the values of environment variables.
#include "base/env_values.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <sdfg/error.hpp>

#include "base/suggest.hpp"

namespace sdfg::env {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

struct Unit {
  std::string_view suffix;
  std::int64_t factor;
};

constexpr Unit kByteUnits[] = {{"K", std::int64_t{1} << 10},
                               {"M", std::int64_t{1} << 20},
                               {"G", std::int64_t{1} << 30},
                               {"T", std::int64_t{1} << 40},
                               {"KiB", std::int64_t{1} << 10},
                               {"MiB", std::int64_t{1} << 20},
                               {"GiB", std::int64_t{1} << 30},
                               {"TiB", std::int64_t{1} << 40},
                               {"KB", std::int64_t{1} << 10},
                               {"MB", std::int64_t{1} << 20},
                               {"GB", std::int64_t{1} << 30},
                               {"TB", std::int64_t{1} << 40},
                               {"B", 1}};
constexpr Unit kTimeUnits[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && edit_distance(a, b) == 0;
}

// A number beyond the largest is told the largest in its own unit.
std::int64_t read_quantity(std::string_view value, std::string_view where, std::span<const Unit> units,
                           std::string_view expected, std::string_view example) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc::invalid_argument) bad_form(where, value, expected, example);
  const std::string_view suffix = trimmed(std::string_view(end, value.data() + value.size()));
  std::int64_t factor = 1;
  if (!suffix.empty()) {
    const auto unit = std::ranges::find_if(units, [&](const Unit& u) { return equal_ignoring_case(u.suffix, suffix); });
    if (unit == units.end()) bad_form(where, value, expected, example);
    factor = unit->factor;
  }
  if (value.starts_with('-')) bad_value(where, value, expected, "0");
  std::int64_t product = 0;
  if (error == std::errc::result_out_of_range || __builtin_mul_overflow(number, factor, &product))
    bad_value(where, value, expected, std::to_string(kMost / factor) + std::string(suffix));
  return product;
}

std::vector<std::string> suffixes(std::span<const Unit> units) {
  std::vector<std::string> words;
  for (const Unit& unit : units) words.emplace_back(unit.suffix);
  return words;
}

struct StyleName {
  std::string_view name;
  Style value;
  bool on_by_default;
};

constexpr StyleName kStyles[] = {{"comments", Style::kComments, true},
                                 {"index-helpers", Style::kIndexHelpers, true},
                                 {"const-locals", Style::kConstLocals, true},
                                 {"braces", Style::kBraces, false},
                                 {"hoist-loops", Style::kHoistLoops, false}};

constexpr Named<LogLevel> kLevels[] = {{"trace", LogLevel::kTrace}, {"debug", LogLevel::kDebug},
                                       {"info", LogLevel::kInfo},   {"warning", LogLevel::kWarning},
                                       {"error", LogLevel::kError}, {"off", LogLevel::kOff}};
constexpr Named<Logger> kLoggers[] = {{"build", Logger::kBuild},     {"pass", Logger::kPass},
                                      {"codegen", Logger::kCodegen}, {"compile", Logger::kCompile},
                                      {"cache", Logger::kCache},     {"device", Logger::kDevice},
                                      {"call", Logger::kCall}};

constexpr Named<bool> kBools[] = {{"1", true},   {"0", false},  {"on", true},   {"off", false},
                                  {"yes", true}, {"no", false}, {"true", true}, {"false", false}};
constexpr Named<DeviceChoice::Kind> kDevices[] = {{"auto", DeviceChoice::Kind::kAuto},
                                                  {"cpu", DeviceChoice::Kind::kCpu},
                                                  {"cuda", DeviceChoice::Kind::kCuda},
                                                  {"emulated", DeviceChoice::Kind::kEmulated}};
constexpr Named<HostMaps::Mode> kHostMaps[] = {{"off", HostMaps::Mode::kOff}, {"auto", HostMaps::Mode::kAuto}};

enum class FpWord : std::uint8_t {
  kContract,
  kReassociate,
  kFinite,
  kApproximate,
  kScalarMath,
  kNone,
  kFast,
  kStrict,
  kDefault
};
constexpr Named<FpWord> kFpWords[] = {{"contract", FpWord::kContract},
                                      {"reassociate", FpWord::kReassociate},
                                      {"finite", FpWord::kFinite},
                                      {"approximate", FpWord::kApproximate},
                                      {"scalar-math", FpWord::kScalarMath},
                                      {"none", FpWord::kNone},
                                      {"fast", FpWord::kFast},
                                      {"strict", FpWord::kStrict},
                                      {"default", FpWord::kDefault}};

constexpr std::string_view kAlways = "always:";

FloatingPoint fast() {
  FloatingPoint fp;
  fp.reassociate = fp.finite = fp.approximate = true;
  return fp;
}
FloatingPoint strict() {
  FloatingPoint fp;
  fp.contract = fp.vector_math = false;
  return fp;
}

}  // namespace

void bad_value(std::string_view where, std::string_view value, std::string_view expected, std::string_view nearest) {
  std::string hint;
  if (!nearest.empty()) hint = "the nearest valid value is '" + std::string(nearest) + "'";
  throw Error(ErrorClass::kUsage,
              std::string(where) + " has the value '" + std::string(value) + "', but takes " + std::string(expected),
              {}, hint);
}

void bad_form(std::string_view where, std::string_view value, std::string_view expected, std::string_view example) {
  throw Error(ErrorClass::kUsage,
              std::string(where) + " has the value '" + std::string(value) + "', but takes " + std::string(expected),
              {}, "an example is '" + std::string(example) + "'");
}

std::string_view nearest_in(std::string_view value, std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(value, names);
  // Words of one or two letters are within the allowed distance of anything as short.
  const auto letters = static_cast<int>(std::max(value.size(), nearest.size()));
  return edit_distance(value, nearest) < letters ? nearest : std::string_view();
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (const std::string_view item = trimmed(text.substr(0, comma)); !item.empty()) items.emplace_back(item);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

std::string join_list(std::span<const std::string> items) {
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) text += ',';
    text += item;
  }
  return text;
}

std::int64_t read_integer(std::string_view value, std::string_view where, std::int64_t least, std::int64_t most) {
  const std::string expected = most == kMost
                                   ? "an integer of at least " + std::to_string(least)
                                   : "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc::invalid_argument || end != value.data() + value.size())
    bad_form(where, value, expected, std::to_string(std::clamp<std::int64_t>(1, least, most)));
  if (error == std::errc::result_out_of_range) number = value.starts_with('-') ? least : most;
  const std::int64_t nearest = std::clamp(number, least, most);
  if (error != std::errc() || nearest != number) bad_value(where, value, expected, std::to_string(nearest));
  return number;
}

bool read_bool(std::string_view value, std::string_view where) {
  return read_enum<bool>(kBools, value, where, "one of ");
}

std::int64_t read_bytes(std::string_view value, std::string_view where) {
  return read_quantity(value, where, kByteUnits, "a number of bytes such as 512M or 2G", "1G");
}

std::int64_t read_seconds(std::string_view value, std::string_view where) {
  return read_quantity(value, where, kTimeUnits, "a time such as 90s, 15m, 12h or 30d", "30d");
}

DeviceChoice read_device(std::string_view value, std::string_view where) {
  DeviceChoice choice;
  if (value.starts_with("cuda:")) {
    choice.kind = DeviceChoice::Kind::kCuda;
    choice.ordinal =
        static_cast<int>(read_integer(value.substr(5), std::string(where) + ": the number after 'cuda:'", 0, 1023));
    return choice;
  }
  // Nearest in letters would be "cpu".
  if (value == "gpu") bad_value(where, value, "cuda:N or one of auto, cpu, cuda, emulated", "cuda");
  choice.kind = read_enum<DeviceChoice::Kind>(kDevices, value, where, "cuda:N or one of ");
  return choice;
}

std::string write_device(const DeviceChoice& value) {
  switch (value.kind) {
    case DeviceChoice::Kind::kAuto: return "auto";
    case DeviceChoice::Kind::kCpu: return "cpu";
    case DeviceChoice::Kind::kCuda: return value.ordinal == 0 ? "cuda" : "cuda:" + std::to_string(value.ordinal);
    case DeviceChoice::Kind::kEmulated: return "emulated";
  }
  return {};
}

HostMaps read_host_maps(std::string_view value, std::string_view where) {
  for (const Named<HostMaps::Mode>& row : kHostMaps) {
    if (row.name == value) return {row.value, {}};
  }
  HostMaps maps{HostMaps::Mode::kNamed, split_list(value)};
  if (maps.labels.empty()) bad_form(where, value, "off, auto, or labels of maps", "off");
  return maps;
}

std::string write_host_maps(const HostMaps& value) {
  switch (value.mode) {
    case HostMaps::Mode::kOff: return "off";
    case HostMaps::Mode::kAuto: return "auto";
    case HostMaps::Mode::kNamed: return join_list(value.labels);
  }
  return {};
}

FloatingPoint read_fp(std::string_view value, std::string_view where) {
  if (value == "strict") return strict();
  if (value == "default") return {};
  FloatingPoint fp;
  fp.contract = false;
  const std::vector<std::string> items = split_list(value);
  if (items.empty()) bad_form(where, value, "strict, default, or a list of " + names_of(rows(kFpWords)), "default");
  for (const std::string& item : items) {
    switch (read_enum<FpWord>(kFpWords, item, where, "strict, default, or a list of ")) {
      case FpWord::kContract: fp.contract = true; break;
      case FpWord::kReassociate: fp.reassociate = true; break;
      case FpWord::kFinite: fp.finite = true; break;
      case FpWord::kApproximate: fp.approximate = true; break;
      case FpWord::kScalarMath: fp.vector_math = false; break;
      case FpWord::kNone: break;
      case FpWord::kFast: fp.contract = fp.reassociate = fp.finite = fp.approximate = true; break;
      case FpWord::kStrict:
      case FpWord::kDefault: bad_value(where, value, "strict or default only alone, not in a list", item);
    }
  }
  return fp;
}

std::string write_fp(const FloatingPoint& value) {
  if (value == FloatingPoint{}) return "default";
  if (value == strict()) return "strict";
  if (value == fast()) return "fast";
  std::vector<std::string> items;
  if (value.contract) items.emplace_back("contract");
  if (value.reassociate) items.emplace_back("reassociate");
  if (value.finite) items.emplace_back("finite");
  if (value.approximate) items.emplace_back("approximate");
  if (!value.vector_math) items.emplace_back("scalar-math");
  if (items.empty()) return "none";
  return join_list(items);
}

BlockSize read_block_size(std::string_view value, std::string_view where) {
  static constexpr std::string_view kExpected =
      "up to three numbers such as 128 or 16x16, with a product of at most 1024";
  std::vector<int> numbers;
  for (std::string_view rest = value;;) {
    const std::size_t cross = std::min(rest.find('x'), rest.size());
    const std::string_view item = rest.substr(0, cross);
    int number = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (numbers.size() == 3 || error == std::errc::invalid_argument || end != item.data() + item.size())
      bad_form(where, value, kExpected, "16x16");
    if (error == std::errc::result_out_of_range) number = item.starts_with('-') ? 0 : std::numeric_limits<int>::max();
    numbers.push_back(number);
    if (cross == rest.size()) break;
    rest.remove_prefix(cross + 1);
  }
  BlockSize size;
  size.threads = {1, 1, 1};
  int room = 1024;
  bool fits = true;
  std::string nearest;
  for (std::size_t d = 0; d < numbers.size(); ++d) {
    size.threads[d] = std::clamp(numbers[d], 1, room);
    room /= size.threads[d];
    fits = fits && size.threads[d] == numbers[d];
    nearest += (d > 0 ? "x" : "") + std::to_string(size.threads[d]);
  }
  if (!fits) bad_value(where, value, kExpected, nearest);
  return size;
}

std::string write_block_size(const BlockSize& value) {
  std::string text = std::to_string(value.threads[0]);
  if (value.threads[1] != 1 || value.threads[2] != 1) text += "x" + std::to_string(value.threads[1]);
  if (value.threads[2] != 1) text += "x" + std::to_string(value.threads[2]);
  return text;
}

LogFilter read_log(std::string_view value, std::string_view where) {
  LogFilter filter;
  for (const std::string& item : split_list(value)) {
    const std::size_t equal = item.find('=');
    if (equal == std::string::npos) {
      filter.levels.fill(read_enum<LogLevel>(kLevels, item, where, "LEVEL or LOGGER=LEVEL with a level of "));
      continue;
    }
    const Logger logger = read_enum<Logger>(kLoggers, trimmed(std::string_view(item).substr(0, equal)), where,
                                            "LOGGER=LEVEL with a logger of ");
    filter[logger] = read_enum<LogLevel>(kLevels, trimmed(std::string_view(item).substr(equal + 1)), where,
                                         "LOGGER=LEVEL with a level of ");
  }
  return filter;
}

std::string write_log(const LogFilter& value) {
  std::vector<std::string> items;
  for (int i = 0; i < kLoggerCount; ++i) {
    const auto logger = static_cast<Logger>(i);
    if (value[logger] == LogLevel::kOff) continue;
    items.push_back(std::string(to_string(logger)) + "=" + std::string(to_string(value[logger])));
  }
  return join_list(items);
}

Reproducer read_reproducer(std::string_view value, std::string_view) {
  if (value.starts_with(kAlways)) return {std::string(value.substr(kAlways.size())), true};
  return {std::string(value), false};
}

std::string write_reproducer(const Reproducer& value) {
  return std::string(value.always ? kAlways : "") + value.folder;
}

EnumSet<Style> read_style(std::string_view value, std::string_view where) {
  EnumSet<Style> set;
  for (const StyleName& style : kStyles) {
    if (style.on_by_default) set.insert(style.value);
  }
  const std::vector<std::string> names = words_of_style();
  for (const std::string& item : split_list(value)) {
    const bool off = item.starts_with("no-");
    const std::string_view name = std::string_view(item).substr(off ? 3 : 0);
    const auto* style =
        std::find_if(std::begin(kStyles), std::end(kStyles), [&](const StyleName& s) { return s.name == name; });
    if (style == std::end(kStyles)) {
      const std::vector<std::string_view> views(names.begin(), names.end());
      bad_value(where, item, "a list of " + join_list(names), nearest_in(item, views));
    }
    if (off)
      set.erase(style->value);
    else
      set.insert(style->value);
  }
  return set;
}

std::string write_style(const EnumSet<Style>& value) {
  std::vector<std::string> items;
  for (const StyleName& style : kStyles) {
    if (value.has(style.value) == style.on_by_default) continue;
    items.push_back((style.on_by_default ? "no-" : "") + std::string(style.name));
  }
  return join_list(items);
}

std::vector<std::string> words_of_bool() {
  return words_in(rows(kBools));
}
std::vector<std::string> words_of_bytes() {
  return suffixes(kByteUnits);
}
std::vector<std::string> words_of_seconds() {
  return suffixes(kTimeUnits);
}
std::vector<std::string> words_of_device() {
  return words_in(rows(kDevices));
}
std::vector<std::string> words_of_host_maps() {
  return words_in(rows(kHostMaps));
}
std::vector<std::string> words_of_fp() {
  return words_in(rows(kFpWords));
}
std::vector<std::string> words_of_log() {
  std::vector<std::string> words = words_in(rows(kLoggers));
  for (const Named<LogLevel>& level : kLevels) words.emplace_back(level.name);
  return words;
}
std::vector<std::string> words_of_reproducer() {
  return {std::string(kAlways)};
}
std::vector<std::string> words_of_style() {
  std::vector<std::string> words;
  for (const StyleName& style : kStyles) {
    words.emplace_back(style.name);
    words.push_back("no-" + std::string(style.name));
  }
  return words;
}

}  // namespace sdfg::env
