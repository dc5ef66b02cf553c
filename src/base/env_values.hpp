// Conversions between the text of a variable and its typed value. Private to env.cpp.
#pragma once

#include <cstdint>
#include <sdfg/options.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdfg::env {

// An enumerator and its name; tables are in the order of the enumeration.
template <typename E>
struct Named {
  std::string_view name;
  E value;
};

template <typename E, std::size_t kSize>
std::span<const Named<E>> rows(const Named<E> (&table)[kSize]) {
  return table;
}

// The value of `where` is wrong: an Error of class usage. `nearest`, if there is one, is valid and close to what was
// written: a word with few other letters, or the bound of a number that is out of range.
[[noreturn]] void bad_value(std::string_view where, std::string_view value, std::string_view expected,
                            std::string_view nearest);
// The same for text of another form, of which nothing can be said to be near.
[[noreturn]] void bad_form(std::string_view where, std::string_view value, std::string_view expected,
                           std::string_view example);

std::vector<std::string> split_list(std::string_view text);
std::string join_list(std::span<const std::string> items);
std::string_view trimmed(std::string_view text);

std::int64_t read_integer(std::string_view value, std::string_view where, std::int64_t least, std::int64_t most);
bool read_bool(std::string_view value, std::string_view where);
std::int64_t read_bytes(std::string_view value, std::string_view where);    // "512M", "1GiB", "0"
std::int64_t read_seconds(std::string_view value, std::string_view where);  // "90", "90s", "15m", "12h", "30d"
DeviceChoice read_device(std::string_view value, std::string_view where);
HostMaps read_host_maps(std::string_view value, std::string_view where);
FloatingPoint read_fp(std::string_view value, std::string_view where);
BlockSize read_block_size(std::string_view value, std::string_view where);
LogFilter read_log(std::string_view value, std::string_view where);
Reproducer read_reproducer(std::string_view value, std::string_view where);
EnumSet<Style> read_style(std::string_view value, std::string_view where);

// The words that each of these readers knows, which the documentation has to list.
using Words = std::vector<std::string>;
Words words_of_bool();
Words words_of_bytes();
Words words_of_seconds();
Words words_of_device();
Words words_of_host_maps();
Words words_of_fp();
Words words_of_log();
Words words_of_reproducer();
Words words_of_style();

std::string write_device(const DeviceChoice& value);
std::string write_host_maps(const HostMaps& value);
std::string write_fp(const FloatingPoint& value);
std::string write_block_size(const BlockSize& value);
std::string write_log(const LogFilter& value);
std::string write_reproducer(const Reproducer& value);
std::string write_style(const EnumSet<Style>& value);

template <typename E>
std::string names_of(std::span<const Named<E>> table) {
  std::string text;
  for (const Named<E>& row : table) {
    if (!text.empty()) text += ", ";
    text += row.name;
  }
  return text;
}

template <typename E>
std::vector<std::string> words_in(std::span<const Named<E>> table) {
  std::vector<std::string> words;
  for (const Named<E>& row : table) words.emplace_back(row.name);
  return words;
}

// Empty when none of the names resembles the value.
std::string_view nearest_in(std::string_view value, std::span<const std::string_view> names);

template <typename E>
E read_enum(std::span<const Named<E>> table, std::string_view value, std::string_view where,
            std::string_view expected) {
  std::vector<std::string_view> names;
  for (const Named<E>& row : table) {
    if (row.name == value) return row.value;
    names.push_back(row.name);
  }
  bad_value(where, value, std::string(expected) + names_of(table), nearest_in(value, names));
}

template <typename E>
std::string_view write_enum(std::span<const Named<E>> table, E value) {
  for (const Named<E>& row : table) {
    if (row.value == value) return row.name;
  }
  return {};
}

template <typename E>
EnumSet<E> read_set(std::span<const Named<E>> table, std::string_view value, std::string_view where) {
  EnumSet<E> set;
  for (const std::string& item : split_list(value)) set.insert(read_enum(table, item, where, "a list of "));
  return set;
}

template <typename E>
std::string write_set(std::span<const Named<E>> table, const EnumSet<E>& set) {
  std::vector<std::string> items;
  for (const Named<E>& row : table) {
    if (set.has(row.value)) items.emplace_back(row.name);
  }
  return join_list(items);
}

}  // namespace sdfg::env
