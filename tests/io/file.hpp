// Writing a graph and looking at the JSON; reading it back; running it.
#pragma once

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "../support/make.hpp"
#include "io/sdfg_file.hpp"
#include "ir/digest.hpp"
#include "ir/print.hpp"
#include "ir/validate.hpp"

namespace sdfg::test {

using Json = nlohmann::json;

inline std::string written(const ir::Graph& g, SdfgDialect dialect = SdfgDialect::kV2) {
  SaveOptions options;
  options.dialect = dialect;
  return io::write_bytes(g, options).bytes;
}
inline Json json_of(const ir::Graph& g, SdfgDialect dialect = SdfgDialect::kV2) {
  return Json::parse(written(g, dialect));
}
inline ir::Graph read_back(const ir::Graph& g, SdfgDialect dialect = SdfgDialect::kV2) {
  return io::load_bytes(written(g, dialect)).graph;
}

// Reads back valid, and once read is a fixed point of both dialects.
inline ir::Graph stable(const ir::Graph& g) {
  ir::Graph first = read_back(g);
  const auto problems = ir::validate(first);
  INFO(ir::to_text(first));
  if (!problems.empty()) FAIL(problems.front().message);
  for (const auto dialect : {SdfgDialect::kV2, SdfgDialect::kV1}) {
    const ir::Graph again = read_back(first, dialect);
    INFO("read again\n" << ir::to_text(again));
    REQUIRE(ir::digest(again) == ir::digest(first));
    // Jumps have no labels to carry, so only main's text is the same to the byte.
    if (dialect == SdfgDialect::kV2) REQUIRE(written(again, dialect) == written(first, dialect));
  }
  return first;
}

// Every object of a type below a JSON value, in order.
inline std::vector<Json> all_of(const Json& in, const std::string& type) {
  std::vector<Json> out;
  if (in.is_object()) {
    if (in.contains("type") && in["type"] == type) out.push_back(in);
    for (const auto& [key, value] : in.items()) {
      for (Json& found : all_of(value, type)) out.push_back(std::move(found));
    }
  } else if (in.is_array()) {
    for (const Json& value : in) {
      for (Json& found : all_of(value, type)) out.push_back(std::move(found));
    }
  }
  return out;
}
inline Json only(const Json& in, const std::string& type) {
  const std::vector<Json> found = all_of(in, type);
  REQUIRE(found.size() == 1);
  return found.front();
}

}  // namespace sdfg::test
