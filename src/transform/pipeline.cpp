// Runs lists of passes.
#include "transform/pipeline.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/suggest.hpp"
#include "ir/validate.hpp"
#include "transform/gpu/prepare.hpp"
#include "transform/lower_prepare/prepare.hpp"

namespace sdfg::transform {

namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_names(const std::vector<std::string>& names, std::string_view where, bool may_be_required) {
  std::vector<Pass> passes = passes_for_cpu({});
  for (Pass& p : passes_for_device({}, {})) {
    const bool is_new = std::none_of(passes.begin(), passes.end(), [&](const Pass& q) { return q.name == p.name; });
    if (is_new) passes.push_back(std::move(p));
  }
  std::vector<std::string_view> known;
  for (const Pass& p : passes) known.push_back(p.name);
  for (const std::string& name : names) {
    const auto found = std::find_if(passes.begin(), passes.end(), [&](const Pass& p) { return p.name == name; });
    if (found == passes.end()) {
      const std::string_view near = nearest_name(name, known);
      std::string hint = "did you mean '" + std::string(near) + "'?";
      if (near.empty()) {
        hint = "the passes are";
        for (const std::string_view k : known) hint += (k == known.front() ? " " : ", ") + std::string(k);
      }
      throw Error(ErrorClass::kUsage, std::string(where) + " names '" + name + "', which is no pass", {},
                  std::move(hint));
    }
    if (found->required && !may_be_required)
      throw Error(ErrorClass::kUsage,
                  std::string(where) + " names '" + name + "', which code generation can't do without");
  }
}

}  // namespace

void check_selection(const PassSelection& selection) {
  check_names(selection.only, "SDFG_PASSES", true);
  check_names(selection.skip, "SDFG_SKIP_PASSES", false);
}

void run_passes(ir::Graph& g, std::span<const Pass> passes, const PassSelection& selection) {
  for (const Pass& p : passes) {
    const bool chosen = selection.only.empty() || contains(selection.only, p.name);
    if (!p.required && (!chosen || contains(selection.skip, p.name))) continue;
    p.run(g);
    if (selection.verify) {
      try {
        ir::check(g);
      } catch (const Error& e) {
        throw Error(ErrorClass::kInternal, "pass '" + std::string(p.name) + "' broke the graph: " + e.message(),
                    e.places(), e.hint());
      }
    }
    if (selection.verify && log_enabled(Logger::kPass, LogLevel::kDebug))
      log(Logger::kPass, LogLevel::kDebug, "graph '" + g.name + "' is valid after " + std::string(p.name));
    if (selection.ran) selection.ran(p.name, g);
  }
}

}  // namespace sdfg::transform
