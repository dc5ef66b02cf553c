// What every reader of a file's parts needs: names, numbers, enumerations, expressions, code; limits on depth and
// count.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/dace_model.hpp"
#include "io/json_reader.hpp"

namespace sdfg::io::dace {

template <typename E>
struct EnumName {
  const char* name;
  E value;
};

// JSON text whose nesting and number of values are bounded and whose keys are unique in each object.
Json parse_text(std::string_view text, const ReadLimits& limits, const std::string& path);

class PartReader {
 public:
  PartReader(const ReadLimits& limits, std::vector<std::string>& warnings) : limits_(limits), warnings_(warnings) {}

 protected:
  std::string name(const Cursor& at) const {
    check_name(at.text(), at);
    return at.text();
  }
  void check_name(const std::string& text, const Cursor& at) const;
  std::string optional_name(const Cursor& at, std::string_view key) const;
  // The members of a table by name.
  template <typename F>
  void entries(const Cursor& at, std::string_view key, const F& each) {
    const Json* v = at.find(key);
    if (v == nullptr) return;
    const Cursor c(at, key, *v);
    for (const auto& [its_name, value] : c.object()) {
      check_name(its_name, c);
      each(its_name, Cursor(c, its_name, value));
    }
  }
  bool flag(const Cursor& at, std::string_view key, bool fallback) const {
    const Json* v = at.find(key);
    return v == nullptr ? fallback : Cursor(at, key, *v).boolean();
  }
  std::int64_t integer(const Cursor& at, std::string_view key, std::int64_t fallback) const {
    const Json* v = at.find(key);
    return v == nullptr ? fallback : Cursor(at, key, *v).integer();
  }
  int small_integer(const Cursor& at, std::string_view key, int fallback) const {
    const Json* v = at.find(key);
    return v == nullptr ? fallback : Cursor(at, key, *v).small_integer();
  }

  template <typename E, std::size_t N>
  E enumeration(const Cursor& at, std::string_view key, const EnumName<E> (&names)[N], E fallback, const char* what) {
    const Json* v = at.find(key);
    if (v == nullptr) return fallback;
    const Cursor c(at, key, *v);
    std::string text;
    if (v->is_object()) {  // extensible enumerations may carry fields: {"type": "StorageType.Name", ...}
      const Cursor type(c, "type", c.need("type"));
      text = type.text();
    } else {
      text = c.text();
    }
    if (const std::size_t dot = text.rfind('.'); dot != std::string::npos) text = text.substr(dot + 1);
    for (const auto& entry : names) {
      if (text == entry.name) return entry.value;
    }
    warnings_.push_back(std::string(what) + " '" + text + "' is not supported and was read as the default (at " +
                        c.path() + ")");
    return fallback;
  }

  SourceLocation location(const Cursor& attributes) const;

  Expr expression(const Cursor& at);
  std::vector<Expr> expressions(const Cursor& at);
  Subset subset(const Cursor& at);
  std::optional<Subset> optional_subset(const Cursor& at, std::string_view key) {
    const Json* v = at.find(key);
    return v == nullptr ? std::nullopt : std::optional<Subset>(subset(Cursor(at, key, *v)));
  }

  CodeBlock code(const Cursor& at);
  std::optional<CodeBlock> optional_code(const Cursor& at, std::string_view key);
  std::string code_text(const Cursor& at, std::string_view key) {
    auto c = optional_code(at, key);
    return c ? c->text : std::string();
  }
  std::vector<std::string> texts(const Cursor& at, std::string_view key);

  struct DepthGuard {
    DepthGuard(PartReader& r, const Cursor& at) : reader(r) {
      if (++reader.depth_ > reader.limits_.max_depth)
        at.fail("nested more than " + std::to_string(reader.limits_.max_depth) + " deep", ErrorClass::kLimit);
    }
    ~DepthGuard() { --reader.depth_; }
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;
    PartReader& reader;
  };
  void count(const Cursor& at) {
    if (++count_ > limits_.max_nodes)
      at.fail("more than " + std::to_string(limits_.max_nodes) + " nodes, edges and containers", ErrorClass::kLimit);
  }

  const ReadLimits& limits_;
  std::vector<std::string>& warnings_;
  bool typed_ = false;  // the dialect of expressions
  std::vector<std::string> source_files_;
  std::map<std::string, Expr, std::less<>> expressions_;
  std::map<std::string, Type>* occurrence_types_ = nullptr;
  int depth_ = 0;
  std::size_t count_ = 0;
};

}  // namespace sdfg::io::dace
