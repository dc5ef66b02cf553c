// Reading of the small parts of a file.
#include "io/read_parts.hpp"

#include <algorithm>

#include "io/json_scan.hpp"
#include "symbolic/print.hpp"

namespace sdfg::io::dace {

Json parse_text(std::string_view text, const ReadLimits& limits, const std::string& path) {
  const JsonScan scan = scan_json(text);
  // Each level of the graph costs a handful of brackets; the parser itself is not recursive, but what reads its result
  // is.
  if (scan.depth > limits.max_depth * 16)
    throw Error(ErrorClass::kLimit, "brackets are nested " + std::to_string(scan.depth) + " deep (at " + path + ")");
  if (scan.values > limits.max_values) {
    throw Error(ErrorClass::kLimit, "more than " + std::to_string(limits.max_values) + " values (at " + path + ")");
  }
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& e) {  // also numbers that no double can hold
    throw Error(ErrorClass::kGraph, std::string("this is not JSON: ") + e.what() + " (at " + path + ")");
  }
  if (!scan.duplicate.empty())
    throw Error(ErrorClass::kGraph, "a key is given twice (at " + path + scan.duplicate.substr(1) + ")");
  return json;
}

void PartReader::check_name(const std::string& text, const Cursor& at) const {
  if (text.size() > limits_.max_name)
    at.fail("a name of " + std::to_string(text.size()) + " characters; at most " + std::to_string(limits_.max_name) +
                " are allowed",
            ErrorClass::kLimit);
  if (text.empty()) at.fail("an empty name");
}

std::string PartReader::optional_name(const Cursor& at, std::string_view key) const {
  const Json* v = at.find(key);
  return v == nullptr || (v->is_string() && v->get_ref<const std::string&>().empty()) ? std::string()
                                                                                      : name(Cursor(at, key, *v));
}

SourceLocation PartReader::location(const Cursor& attributes) const {
  const Json* v = attributes.find("debuginfo");
  if (v == nullptr || !v->is_object()) return {};
  const Cursor c(attributes, "debuginfo", *v);
  SourceLocation out;
  if (const Json* file = c.find("filename"); file != nullptr && file->is_string()) out.file = file->get<std::string>();
  if (const Json* index = c.find("file_index"); index != nullptr && index->is_number_integer()) {
    const auto i = index->get<std::int64_t>();
    if (i >= 0 && i < static_cast<std::int64_t>(source_files_.size()))
      out.file = source_files_[static_cast<std::size_t>(i)];
  }
  if (const Json* line = c.find("start_line"); line != nullptr && line->is_number_integer())
    out.line = static_cast<std::uint32_t>(std::clamp<std::int64_t>(line->get<std::int64_t>(), 0, 1 << 30));
  if (const Json* column = c.find("start_column"); column != nullptr && column->is_number_integer())
    out.column = static_cast<std::uint32_t>(std::clamp<std::int64_t>(column->get<std::int64_t>(), 0, 1 << 20));
  return out;
}

Expr PartReader::expression(const Cursor& at) {
  if (at.json().is_number()) return Expr(at.integer());
  const std::string& text = at.text();
  if (auto it = expressions_.find(text); it != expressions_.end()) return it->second;
  symbolic::ParseOptions options;
  options.typed = typed_;
  options.on_symbol_type = [this](const std::string& symbol, const std::string& dtype) {
    if (auto type = scalar_type_from_string(dtype)) occurrence_types_->insert_or_assign(symbol, Type(*type));
  };
  try {
    Expr e = symbolic::parse_python(text, options);
    expressions_.emplace(text, e);
    return e;
  } catch (const Error& e) {
    at.fail(e.message(), e.error_class() == ErrorClass::kLimit ? ErrorClass::kLimit : ErrorClass::kGraph);
  }
}

std::vector<Expr> PartReader::expressions(const Cursor& at) {
  std::vector<Expr> out;
  const auto& list = at.array();
  out.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) out.push_back(expression(Cursor(at, i, list[i])));
  return out;
}

Subset PartReader::subset(const Cursor& at) {
  const Cursor type(at, "type", at.need("type"));
  if (type.text() == "Indices") {
    const Cursor list(at, "indices", at.need("indices"));
    const auto indices = expressions(list);
    return Subset::index(indices);
  }
  if (type.text() != "Range") type.fail("unknown kind of subset '" + type.text() + "'");
  const Cursor list(at, "ranges", at.need("ranges"));
  std::vector<symbolic::Range> ranges;
  for (std::size_t i = 0; i < list.array().size(); ++i) {
    const Cursor r(list, i, list.array()[i]);
    symbolic::Range range;
    range.begin = expression(Cursor(r, "start", r.need("start")));
    range.end = expression(Cursor(r, "end", r.need("end")));
    if (const Json* step = r.find("step")) range.step = expression(Cursor(r, "step", *step));
    if (const Json* tile = r.find("tile")) range.tile = expression(Cursor(r, "tile", *tile));
    ranges.push_back(std::move(range));
  }
  return Subset(std::move(ranges));
}

CodeBlock PartReader::code(const Cursor& at) {
  CodeBlock out;
  out.path = at.path();
  if (at.json().is_string()) {
    out.text = at.text() == "NoCode" ? "" : at.text();
    return out;
  }
  if (at.json().is_boolean() || at.json().is_number()) {
    out.text = at.json().dump();
    return out;
  }
  if (const Json* text = at.find("string_data")) {
    const Cursor c(at, "string_data", *text);
    out.text = text->is_string() ? c.text() : text->dump();
  }
  if (const Json* language = at.find("language")) {
    const std::string& l = Cursor(at, "language", *language).text();
    auto ends = [&](std::string_view suffix) {
      return l.size() >= suffix.size() && l.compare(l.size() - suffix.size(), suffix.size(), suffix) == 0;
    };
    out.language = ends("Python") ? Language::kPython : ends("CPP") ? Language::kCpp : Language::kOther;
  }
  return out;
}

std::optional<CodeBlock> PartReader::optional_code(const Cursor& at, std::string_view key) {
  const Json* v = at.find(key);
  if (v == nullptr) return std::nullopt;
  CodeBlock c = code(Cursor(at, key, *v));
  if (c.text.empty()) return std::nullopt;
  return c;
}

std::vector<std::string> PartReader::texts(const Cursor& at, std::string_view key) {
  std::vector<std::string> out;
  if (const Json* v = at.find(key)) {
    const Cursor c(at, key, *v);
    for (std::size_t i = 0; i < c.array().size(); ++i) out.push_back(name(Cursor(c, i, c.array()[i])));
  }
  return out;
}

}  // namespace sdfg::io::dace
