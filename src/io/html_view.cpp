// The lines of the text form, nested by their indentation.
#include <map>
#include <vector>

#include "io/views.hpp"
#include "ir/print.hpp"

namespace sdfg::io {

namespace {

constexpr const char* kStyle =
    "body{font:13px/1.5 monospace;margin:1.5em;color:#222;background:#fff}"
    "details{margin-left:1.2em}summary{cursor:pointer;margin-left:-1.2em}"
    ".l{margin-left:1.2em;white-space:pre-wrap}.id{color:#999}.at{color:#2a6;margin-left:1em}"
    "h1{font-size:16px}";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::map<ir::Id, SourceLocation> places_of(const ir::Graph& g) {
  std::map<ir::Id, SourceLocation> out;
  ir::walk(g.body, [&](const ir::Element& e, const ir::Ancestors&) {
    out.emplace(e.id, e.location);
    const auto* s = std::get_if<ir::State>(&e.kind);
    if (s == nullptr) return;
    for (const ir::Node& n : s->nodes) out.emplace(n.id, n.location);
    for (const ir::Memlet& m : s->edges) out.emplace(m.id, m.location);
  });
  return out;
}

struct Line {
  std::size_t indent;
  std::string_view text;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent != std::string_view::npos) out.push_back({indent, line.substr(indent)});
  }
  return out;
}

}  // namespace

std::string to_html(const ir::Graph& g) {
  const std::string text = ir::to_text(g);
  const auto places = places_of(g);
  const std::vector<Line> lines = lines_of(text);
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(g.name) +
                    "</title><style>" + kStyle + "</style></head><body>\n<h1>" + escaped(g.name) + "</h1>\n";
  std::vector<std::size_t> open;  // indentation of the lines whose children are being written
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    while (!open.empty() && open.back() >= line.indent) {
      out += "</details>\n";
      open.pop_back();
    }
    std::string shown;
    std::string_view rest = line.text;
    if (rest.front() == '#') {  // "#12 map ..."
      ir::Id id = 0;
      std::size_t used = 1;
      while (used < rest.size() && rest[used] >= '0' && rest[used] <= '9')
        id = id * 10 + static_cast<ir::Id>(rest[used++] - '0');
      shown = "<span class=\"id\">" + std::string(rest.substr(0, used)) + "</span>";
      rest.remove_prefix(used);
      shown += escaped(rest);
      if (const auto at = places.find(id); at != places.end() && at->second.known())
        shown += "<span class=\"at\">" + escaped(at->second.str()) + "</span>";
    } else {
      shown = escaped(rest);
    }
    if (i + 1 < lines.size() && lines[i + 1].indent > line.indent) {
      out += "<details open><summary>" + shown + "</summary>\n";
      open.push_back(line.indent);
    } else {
      out += "<div class=\"l\">" + shown + "</div>\n";
    }
  }
  for (std::size_t k = open.size(); k > 0; --k) out += "</details>\n";
  return out + "</body></html>\n";
}

}  // namespace sdfg::io
