// Typed access to JSON values that remembers the path, so that every complaint can say where in the file it is.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <sdfg/error.hpp>
#include <string>
#include <string_view>

namespace sdfg::io {

using Json = nlohmann::json;

// A JSON value with its path ("$.nodes[3].attributes"). The path is built only when asked for: a cursor holds its
// parent, so cursors live on the stack of the function that reads.
class Cursor {
 public:
  explicit Cursor(const Json& value) : value_(value) {}
  Cursor(const Cursor& parent, std::string_view key, const Json& value) : value_(value), parent_(&parent), key_(key) {}
  Cursor(const Cursor& parent, std::size_t index, const Json& value) : value_(value), parent_(&parent), index_(index) {}

  const Json& json() const { return value_; }
  std::string path() const {
    if (parent_ == nullptr) return "$";
    return parent_->path() + (key_.data() != nullptr ? "." + std::string(key_) : "[" + std::to_string(index_) + "]");
  }
  [[noreturn]] void fail(const std::string& what, ErrorClass error_class = ErrorClass::kGraph) const {
    throw Error(error_class, what + " (at " + path() + ")");
  }

  bool is_null() const { return value_.is_null(); }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // A present, non-null member; nullptr otherwise.
  const Json* find(std::string_view key) const {
    auto it = object().find(key);
    return it == object().end() || it->second.is_null() ? nullptr : &it->second;
  }
  const Json& need(std::string_view key) const {
    if (const Json* v = find(key)) return *v;
    fail("missing key '" + std::string(key) + "'");
  }
  const std::string& text() const {
    if (!value_.is_string()) fail("expected a string, found " + std::string(value_.type_name()));
    return value_.get_ref<const std::string&>();
  }
  std::int64_t integer() const {
    if (value_.is_number_unsigned()) {  // how the parser holds whole numbers without a sign
      if (value_.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return static_cast<std::int64_t>(value_.get<std::uint64_t>());
      fail("the number " + value_.dump() + " is out of range");
    }
    if (value_.is_number_integer()) return value_.get<std::int64_t>();
    if (value_.is_number_float()) {
      const double v = value_.get<double>();
      if (!(std::abs(v) < 0x1p63)) fail("the number " + value_.dump() + " is out of range");
      if (v == std::trunc(v)) return static_cast<std::int64_t>(v);
    }
    if (value_.is_string()) {  // ids of edges are decimal strings
      try {
        std::size_t used = 0;
        const std::int64_t v = std::stoll(value_.get_ref<const std::string&>(), &used);
        if (used == value_.get_ref<const std::string&>().size()) return v;
      } catch (const std::exception&) {  // falls through to the complaint below
      }
    }
    fail("expected an integer, found " + value_.dump().substr(0, 60));
  }
  int small_integer() const {
    const std::int64_t v = integer();
    if (v < std::numeric_limits<int>::min() || v > std::numeric_limits<int>::max())
      fail("the number " + std::to_string(v) + " is out of range");
    return static_cast<int>(v);
  }
  bool boolean() const {
    if (value_.is_boolean()) return value_.get<bool>();
    if (value_.is_number_integer()) return value_.get<std::int64_t>() != 0;
    fail("expected true or false, found " + std::string(value_.type_name()));
  }
  const Json::array_t& array() const {
    if (!value_.is_array()) fail("expected a list, found " + std::string(value_.type_name()));
    return value_.get_ref<const Json::array_t&>();
  }
  const Json::object_t& object() const {
    if (!value_.is_object()) fail("expected an object, found " + std::string(value_.type_name()));
    return value_.get_ref<const Json::object_t&>();
  }

 private:
  const Json& value_;
  const Cursor* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

}  // namespace sdfg::io
