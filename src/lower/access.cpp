// Spells accesses: identifiers, subscripts through index helpers, addresses.
#include <algorithm>
#include <utility>

#include "lower/lowering.hpp"
#include "symbolic/print.hpp"

namespace sdfg::lower {

bool is_primary(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth != 0) continue;
    const bool word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    const bool arrow =
        (c == '-' && i + 1 < text.size() && text[i + 1] == '>') || (c == '>' && i > 0 && text[i - 1] == '-');
    const bool close = c == ')' || c == ']' || c == '}';
    // `(T)(x)` is a cast, not a primary expression: something follows a closing parenthesis that isn't a subscript or
    // member.
    if (close && c == ')' && i + 1 < text.size() && text[i + 1] != '[' && text[i + 1] != '.' && text[i + 1] != '-')
      return false;
    if (!word && !arrow && !close) return false;
  }
  return !text.empty();
}

bool mentions(std::string_view text, std::string_view word) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool starts = at == 0 || !is_word(text[at - 1]);
    const bool ends = at + word.size() >= text.size() || !is_word(text[at + word.size()]);
    if (starts && ends) return true;
  }
  return false;
}

const ir::Container& Lowering::container(std::string_view path) const {
  if (const ir::Container* c = ir::resolve(g_, path)) return *c;
  throw Error(ErrorClass::kInternal, "no container named '" + std::string(path) + "'");
}

bool Lowering::is_pointer(std::string_view path) const {
  const ir::Container& c = container(path);
  if (!c.is_scalar()) return true;
  if (kernel_ != nullptr) return c.storage == ir::Storage::kGpuGlobal && !kernel_->declared.contains(root_name(path));
  if (c.storage == ir::Storage::kGpuGlobal) return true;
  if (path.find('.') != std::string_view::npos || c.constant) return false;
  if (!c.transient) return uses_.written(path);
  return c.lifetime != ir::Lifetime::kScope;
}

bool Lowering::is_read_only(std::string_view path) const {
  const std::string_view root = root_name(path);
  if (root.empty()) return false;
  return g_.containers.at(root).constant.has_value() || !written_here(root);
}

Text Lowering::base(std::string_view path) {
  auto it = spelled_.find(path);
  if (it != spelled_.end()) return it->second;
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return names_.of(path);
  return base(path.substr(0, dot)) + "->" + sanitised(path.substr(dot + 1));
}

Text Lowering::expr(const symbolic::Expr& e) {
  if (const auto constant = e.constant()) {
    return *constant == INT64_MIN ? Text("(-9223372036854775807 - 1)") : std::to_string(*constant);
  }
  if (e.kind() == symbolic::Kind::kSymbol) return names_.of(e.name());
  symbolic::CppPrinter printer;
  printer.symbol = [&](const std::string& s) { return names_.of(s); };
  printer.read = [&](const std::string& c, std::span<const symbolic::Expr> indices) {
    std::vector<Text> at;
    for (const symbolic::Expr& i : indices) at.push_back(expr(i));
    return element_of(c, at);
  };
  return symbolic::to_cpp(e, printer, facts());
}

std::vector<Text> Lowering::texts(const std::vector<symbolic::Expr>& exprs) {
  std::vector<Text> out;
  for (const symbolic::Expr& e : exprs) out.push_back(expr(e));
  return out;
}

const Lowering::Layouted& Lowering::layout_of(std::string_view path) {
  auto it = layouts_.find(path);
  if (it != layouts_.end()) return it->second;
  const ir::Layout& layout = container(path).layout;
  Layouted result;
  const symbolic::SymbolSet used = layout.free_symbols();
  std::vector<symbolic::Expr> indices;
  std::vector<std::string> parameters;
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    std::string name = "i" + std::to_string(d);
    // The helper's own parameters and the symbols it takes are in one scope.
    while (used.contains(name) || std::ranges::any_of(used, [&](const std::string& s) { return names_.of(s) == name; }))
      name += "_";
    indices.push_back(symbolic::Expr::symbol(name));
    parameters.push_back(name);
  }
  const symbolic::Expr flat = layout.address(indices);
  result.direct = layout.rank() == 0 ? flat.is_zero() : layout.rank() == 1 && flat == indices.front();
  if (!result.direct) {
    IndexHelper helper;
    helper.parameters = parameters;
    for (const std::string& s : symbolic::free_symbols(flat)) {
      if (std::ranges::find(parameters, s) == parameters.end()) result.extras.push_back(s);
    }
    for (const std::string& s : result.extras) helper.parameters.push_back(names_.of(s));
    std::string wish(path);
    std::ranges::replace(wish, '.', '_');
    result.helper = helper.name = names_.fresh(wish + "_idx");
    symbolic::CppPrinter printer;
    printer.symbol = [&](const std::string& s) {
      return std::ranges::find(parameters, s) != parameters.end() ? s : names_.of(s);
    };
    helper.value = symbolic::to_cpp(flat, printer);
    unit_.helpers.push_back(std::move(helper));
  }
  return layouts_.emplace(std::string(path), std::move(result)).first->second;
}

Text Lowering::written_out_index(std::string_view path, std::span<const Text> indices) {
  const ir::Layout& layout = container(path).layout;
  const symbolic::SymbolSet used = layout.free_symbols();
  std::map<std::string, Text, std::less<>> spelled;
  std::vector<symbolic::Expr> symbols;
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    std::string name = "i" + std::to_string(d);
    while (used.contains(name)) name += "_";
    symbols.push_back(symbolic::Expr::symbol(name));
    spelled.emplace(name, parenthesised(indices[d]));
  }
  symbolic::CppPrinter printer;
  printer.symbol = [&](const std::string& s) {
    const auto it = spelled.find(s);
    return it != spelled.end() ? it->second : names_.of(s);
  };
  return symbolic::to_cpp(layout.address(symbols), printer);
}

Text Lowering::flat_index(std::string_view path, std::span<const Text> indices) {
  if (!options_.index_helpers) return written_out_index(path, indices);
  const Layouted& layout = layout_of(path);
  if (layout.direct) return indices.empty() ? Text("0") : indices[0];
  Text out = layout.helper + "(";
  bool first = true;
  for (const Text& i : indices) {
    out += (first ? "" : ", ") + i;
    first = false;
  }
  for (const std::string& s : layout.extras) {
    out += (first ? "" : ", ") + names_.of(s);
    first = false;
  }
  return out + ")";
}

Text Lowering::element_of(std::string_view path, std::span<const Text> indices) {
  const ir::Container& c = container(path);
  if (c.is_scalar()) return is_pointer(path) ? "(*" + base(path) + ")" : base(path);
  if (indices.size() != c.rank()) {
    throw Error(ErrorClass::kInternal, "an access of '" + std::string(path) + "' has " +
                                           std::to_string(indices.size()) + " indices, its rank is " +
                                           std::to_string(c.rank()));
  }
  if (options_.check_bounds && !unchecked_ && c.rank() > 0 && !c.constant) return checked_element(path, indices);
  return base(path) + "[" + flat_index(path, indices) + "]";
}

Text Lowering::checked_element(std::string_view path, std::span<const Text> indices) {
  // What tells of the failure: the call, and in kernels the place for reports.
  const Text teller = kernel_ != nullptr ? Text(kToldName) : Text("call");
  needs_call_ = needs_call_ || kernel_ == nullptr;
  auto it = accessors_.find(path);
  if (it == accessors_.end()) {
    support_.need(kernel_ != nullptr ? Helper::kOutsideHere : Helper::kOutside);
    const ir::Layout& layout = container(path).layout;
    const Layouted& how = layout_of(path);
    Accessor accessor;
    std::string wish(path);
    std::ranges::replace(wish, '.', '_');
    accessor.name = names_.fresh(wish + "_at");
    symbolic::SymbolSet used = layout.free_symbols();
    used.insert(how.extras.begin(), how.extras.end());
    accessor.extras.assign(used.begin(), used.end());
    Text parameters, arguments, tests;
    for (std::size_t d = 0; d < layout.rank(); ++d) {
      Text index = "at" + std::to_string(d);  // symbols of the layout share the scope
      while (std::ranges::any_of(used, [&](const std::string& s) { return names_.of(s) == index; })) index += "_";
      parameters += ", int64_t " + index;
      arguments += (d ? ", " : "") + index;
      symbolic::CppPrinter printer;
      printer.symbol = [&](const std::string& s) { return names_.of(s); };
      const Text extent = symbolic::to_cpp(layout.shape()[d], printer);
      const Text shifted =
          layout.offset()[d].is_zero()
              ? index
              : "(" + index + " + " + parenthesised(symbolic::to_cpp(layout.offset()[d], printer)) + ")";
      const int known = container_ordinal(root_name(path));
      tests += "  if (" + shifted + " < 0 || " + shifted + " >= " + parenthesised(extent) +
               ") return sdfg_outside<T>(" + teller + ", " + std::to_string(known) + ", " + std::to_string(d) + ", " +
               index + ", " + extent + ");\n";
    }
    std::vector<Text> own;
    for (std::size_t begin = 0; begin < arguments.size();) {
      const std::size_t comma = std::min(arguments.find(", ", begin), arguments.size());
      own.push_back(arguments.substr(begin, comma - begin));
      begin = comma + 2;
    }
    for (const std::string& s : accessor.extras) parameters += ", [[maybe_unused]] int64_t " + names_.of(s);
    unit_.accessors += Text("template <typename T>\n") + (kernel_ != nullptr ? "__device__ " : "") +
                       "static inline T& " + accessor.name + (kernel_ != nullptr ? "(int64_t* " : "(sdfg_call* ") +
                       teller + ", T* base" + parameters + ") {\n" + tests + "  return base[" + flat_index(path, own) +
                       "];\n}\n";
    it = accessors_.emplace(std::string(path), std::move(accessor)).first;
  }
  Text out = it->second.name + "(" + teller + ", " + base(path);
  for (const Text& i : indices) out += ", " + i;
  for (const std::string& s : it->second.extras) out += ", " + names_.of(s);
  return out + ")";
}

Text Lowering::element_at(std::string_view path, const ir::Subset& subset) {
  if (container(path).is_scalar()) return element_of(path, {});
  return element_of(path, texts(subset.begins()));
}

Text Lowering::address_at(std::string_view path, const ir::Subset& subset) {
  const ir::Container& c = container(path);
  if (c.is_scalar()) return is_pointer(path) ? base(path) : "&" + base(path);
  const std::vector<symbolic::Expr> begins = subset.begins();
  if (c.layout.address(begins).is_zero()) return base(path);
  return "&" + base(path) + "[" + flat_index(path, texts(begins)) + "]";
}

std::vector<ir::Subset> Lowering::lanes_of(const Type& connector, std::string_view path, const ir::Subset& subset,
                                           ir::Id origin) {
  const ir::Container& c = container(path);
  if (connector.kind() != Type::Kind::kVector || !c.type.is_scalar() || c.kind == ir::ContainerKind::kStream) return {};
  std::vector<std::vector<symbolic::Expr>> points{{}};
  for (const ir::Range& r : subset.ranges()) {
    const auto size = symbolic::simplify(r.size(), facts()).constant();
    if (!size || !r.tile.is_one() || *size * static_cast<std::int64_t>(points.size()) > connector.lanes())
      unsupported(origin, "a vector of " + std::to_string(connector.lanes()) + " elements at " + std::string(path) +
                              "[" + subset.str() + "]");
    std::vector<std::vector<symbolic::Expr>> next;
    for (const auto& point : points) {
      for (std::int64_t k = 0; k < *size; ++k) {
        next.push_back(point);
        next.back().push_back(r.begin + symbolic::Expr(k) * r.step);
      }
    }
    points = std::move(next);
  }
  if (std::cmp_not_equal(points.size(), connector.lanes()))
    unsupported(origin, "a vector of " + std::to_string(connector.lanes()) + " elements at " + std::string(path) + "[" +
                            subset.str() + "]");
  std::vector<ir::Subset> out;
  for (const auto& point : points) out.push_back(ir::Subset::index(point));
  return out;
}

}  // namespace sdfg::lower
