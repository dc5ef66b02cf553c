/// DaCe's `.sdfg` files: reading.
#pragma once

#include <sdfg/export.hpp>
#include <sdfg/graph.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sdfg {

/// Reads a `.sdfg` or gzipped `.sdfgz` file of DaCe 1.x or 2.x. The graph is translated, not validated: `compile` and
/// `Graph::check` do that.
///
/// What was read with a substitute (an unknown storage, say) is told in `warnings`, if given. Throws Error: kUsage when
/// the file can't be read, kGraph with the JSON path when its content is wrong, kLimit when it is too large or nested
/// too deeply. C++ code in the file is kept but only compiled when `Options::allow_foreign_code` is set. Thread rule:
/// any thread.
SDFG_EXPORT Graph load_sdfg(const std::string& path, std::vector<std::string>* warnings = nullptr);
/// The same for the bytes of a file.
SDFG_EXPORT Graph parse_sdfg(std::string_view bytes, std::vector<std::string>* warnings = nullptr);

}  // namespace sdfg
