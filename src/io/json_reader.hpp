// Typed access to JSON values that remembers the path, so that every complaint can say where in the file it is.
#pragma once

#include <cstdint>
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
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorClass::kGraph, what + " (at " + path() + ")");
  }

  bool is_null() const { return value_.is_null(); }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // A present, non-null member; nullptr otherwise.
  const Json* find(std::string_view key) const {
    if (!value_.is_object()) fail("expected an object, found " + std::string(value_.type_name()));
    auto it = value_.find(key);
    return it == value_.end() || it->is_null() ? nullptr : &*it;
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
    if (value_.is_number_integer()) return value_.get<std::int64_t>();
    if (value_.is_number_float() &&
        value_.get<double>() == static_cast<double>(static_cast<std::int64_t>(value_.get<double>()))) {
      return static_cast<std::int64_t>(value_.get<double>());
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
  bool boolean() const {
    if (value_.is_boolean()) return value_.get<bool>();
    if (value_.is_number_integer()) return value_.get<std::int64_t>() != 0;
    fail("expected true or false, found " + std::string(value_.type_name()));
  }
  const Json::array_t& array() const {
    if (!value_.is_array()) fail("expected a list, found " + std::string(value_.type_name()));
    return value_.get_ref<const Json::array_t&>();
  }

 private:
  const Json& value_;
  const Cursor* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

}  // namespace sdfg::io
