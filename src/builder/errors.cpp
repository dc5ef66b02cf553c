// Errors of the builder: thrown at the user's call, with the scopes around it.
#include <algorithm>

#include "base/suggest.hpp"
#include "builder/impl.hpp"

namespace sdfg::detail {

SourceLocation location_of(Where where) {
  return where.line() == 0 ? SourceLocation() : SourceLocation(where);
}

void index_too_large(std::uint64_t value, Where where) {
  throw Error(ErrorClass::kLimit, "the index " + std::to_string(value) + " does not fit in a signed 64-bit integer",
              {{"index", location_of(where)}});
}

std::vector<Error::Place> BuilderImpl::places(const SourceLocation& where, std::string what) const {
  std::vector<Error::Place> out;
  if (where.known() || !what.empty()) out.push_back({std::move(what), where});
  for (auto scope = stack_.rbegin(); scope != stack_.rend(); ++scope) {
    if ((*scope)->kind == ScopeKind::kGraph) continue;
    const ScopeInfo& info = infos_.at((*scope)->id);
    out.push_back({"in " + info.what, info.where});
  }
  return out;
}

void BuilderImpl::fail(const SourceLocation& where, std::string message, std::string hint, std::string what) const {
  throw Error(ErrorClass::kUsage, std::move(message), places(where, std::move(what)), std::move(hint));
}

std::string BuilderImpl::show(const symbolic::Expr& e) const {
  symbolic::Substitution labels;
  for (const std::string& name : symbolic::free_symbols(e)) {
    const auto info = symbols.find(name);
    if (info != symbols.end() && info->second.label != name)
      labels.emplace(name, symbolic::Expr::symbol(info->second.label));
  }
  return symbolic::substitute(e, labels).str();
}

void BuilderImpl::check_usable(const SourceLocation& where) const {
  if (gone) fail(where, "a handle of graph '" + graph.name + "' is used after its builder was destroyed");
  if (broken) {
    fail(where,
         "the builder of graph '" + graph.name + "' can't be used any more: an exception left one of its bodies");
  }
}

void BuilderImpl::check_open(const Scopes& scopes, const SourceLocation& where, std::string_view what) const {
  for (ScopeId id : scopes) {
    if (is_open(id)) continue;
    const ScopeInfo& info = infos_.at(id);
    std::string message = std::string(what) + " is used after the end of the scope it belongs to: " + info.what;
    if (info.where.known()) message += " at " + info.where.str();
    fail(where, std::move(message), "keep the value in a container declared outside, or use it inside the body");
  }
}

std::string BuilderImpl::unknown_hint(std::string_view user_name) const {
  std::vector<std::string> known;
  for (const auto& [name, info] : symbols) known.push_back(info.label);
  for (const auto& [name, info] : containers) known.push_back(info.label);
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const std::string_view near = nearest_name(user_name, candidates);
  return near.empty() ? std::string() : "did you mean '" + std::string(near) + "'?";
}

}  // namespace sdfg::detail
