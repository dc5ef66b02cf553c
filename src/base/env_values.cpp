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

std::int64_t read_quantity(std::string_view value, std::string_view where, std::span<const Unit> units,
                           std::string_view expected, std::string_view example) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || number < 0) bad_value(where, value, expected, number < 0 ? "0" : example);
  const std::string_view suffix = trimmed(std::string_view(end, value.data() + value.size()));
  if (suffix.empty()) return number;
  for (const Unit& unit : units) {
    if (!equal_ignoring_case(unit.suffix, suffix)) continue;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(number, unit.factor, &product)) bad_value(where, value, expected, std::to_string(kMost));
    return product;
  }
  bad_value(where, value, expected, example);
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

std::string_view nearest_in(std::string_view value, std::span<const std::string_view> names) {
  return nearest_of(value, names);
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
  if (error == std::errc::result_out_of_range) {
    bad_value(where, value, expected, std::to_string(value.starts_with('-') ? least : most));
  }
  if (error != std::errc() || end != value.data() + value.size())
    bad_value(where, value, expected, std::to_string(least));
  if (number < least || number > most)
    bad_value(where, value, expected, std::to_string(std::clamp(number, least, most)));
  return number;
}

bool read_bool(std::string_view value, std::string_view where) {
  static constexpr Named<bool> kNames[] = {{"1", true},   {"0", false},  {"on", true},   {"off", false},
                                           {"yes", true}, {"no", false}, {"true", true}, {"false", false}};
  return read_enum<bool>(kNames, value, where, "one of ");
}

std::int64_t read_bytes(std::string_view value, std::string_view where) {
  return read_quantity(value, where, kByteUnits, "a number of bytes such as 512M or 2G", "1G");
}

std::int64_t read_seconds(std::string_view value, std::string_view where) {
  return read_quantity(value, where, kTimeUnits, "a time such as 90s, 15m, 12h or 30d", "30d");
}

DeviceChoice read_device(std::string_view value, std::string_view where) {
  static constexpr Named<DeviceChoice::Kind> kNames[] = {{"auto", DeviceChoice::Kind::kAuto},
                                                         {"cpu", DeviceChoice::Kind::kCpu},
                                                         {"cuda", DeviceChoice::Kind::kCuda},
                                                         {"emulated", DeviceChoice::Kind::kEmulated}};
  DeviceChoice choice;
  if (value.starts_with("cuda:")) {
    choice.kind = DeviceChoice::Kind::kCuda;
    choice.ordinal =
        static_cast<int>(read_integer(value.substr(5), std::string(where) + ": the number after 'cuda:'", 0, 1023));
    return choice;
  }
  // Nearest in letters would be "cpu".
  if (value == "gpu") bad_value(where, value, "cuda:N or one of auto, cpu, cuda, emulated", "cuda");
  choice.kind = read_enum<DeviceChoice::Kind>(kNames, value, where, "cuda:N or one of ");
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
  if (value == "off") return {};
  if (value == "auto") return {HostMaps::Mode::kAuto, {}};
  HostMaps maps{HostMaps::Mode::kNamed, split_list(value)};
  if (maps.labels.empty()) bad_value(where, value, "off, auto, or labels of maps", "off");
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
  enum class Item : std::uint8_t {
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
  static constexpr Named<Item> kNames[] = {{"contract", Item::kContract},
                                           {"reassociate", Item::kReassociate},
                                           {"finite", Item::kFinite},
                                           {"approximate", Item::kApproximate},
                                           {"scalar-math", Item::kScalarMath},
                                           {"none", Item::kNone},
                                           {"fast", Item::kFast},
                                           {"strict", Item::kStrict},
                                           {"default", Item::kDefault}};
  FloatingPoint fp;
  fp.contract = false;
  const std::vector<std::string> items = split_list(value);
  if (items.empty())
    bad_value(where, value, "strict, default, or a list of contract, reassociate, finite, fast", "default");
  for (const std::string& item : items) {
    switch (read_enum<Item>(kNames, item, where, "strict, default, or a list of ")) {
      case Item::kContract: fp.contract = true; break;
      case Item::kReassociate: fp.reassociate = true; break;
      case Item::kFinite: fp.finite = true; break;
      case Item::kApproximate: fp.approximate = true; break;
      case Item::kScalarMath: fp.vector_math = false; break;
      case Item::kNone: break;
      case Item::kFast: fp.contract = fp.reassociate = fp.finite = fp.approximate = true; break;
      case Item::kStrict:
      case Item::kDefault: bad_value(where, value, "strict or default only alone, not in a list", item);
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
  BlockSize size;
  size.threads = {1, 1, 1};
  std::size_t dimension = 0;
  std::int64_t product = 1;
  std::string_view rest = value;
  while (true) {
    const std::size_t cross = std::min(rest.find('x'), rest.size());
    const std::string_view item = rest.substr(0, cross);
    int number = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (dimension == 3 || error != std::errc() || end != item.data() + item.size() || number < 1) {
      bad_value(where, value, kExpected, "128");
    }
    size.threads[dimension++] = number;
    product *= number;
    if (product > 1024) bad_value(where, value, kExpected, "1024");
    if (cross == rest.size()) return size;
    rest.remove_prefix(cross + 1);
  }
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
  static constexpr std::string_view kAlways = "always:";
  if (value.starts_with(kAlways)) return {std::string(value.substr(kAlways.size())), true};
  return {std::string(value), false};
}

std::string write_reproducer(const Reproducer& value) {
  return (value.always ? "always:" : "") + value.folder;
}

EnumSet<Style> read_style(std::string_view value, std::string_view where) {
  EnumSet<Style> set;
  std::vector<std::string> names;
  for (const StyleName& style : kStyles) {
    if (style.on_by_default) set.insert(style.value);
    names.emplace_back(style.name);
    names.push_back("no-" + std::string(style.name));
  }
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

}  // namespace sdfg::env
