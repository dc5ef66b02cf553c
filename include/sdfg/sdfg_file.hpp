/// DaCe's `.sdfg` files: reading and writing.
#pragma once

#include <cstdint>
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

/// Which DaCe a file is written for: main with its typed expressions (2.0.0a6), or the release 1.0.2 with plain ones.
enum class SdfgDialect : std::uint8_t { kV2, kV1 };

struct SaveOptions {
  SdfgDialect dialect = SdfgDialect::kV2;
  /// Pack with gzip. `save_sdfg` also packs when the path ends in ".gz" or ".sdfgz".
  bool gzip = false;
  /// Indent the JSON text.
  bool readable = false;
};

/// The `.sdfg` bytes of a graph. Equal graphs give equal bytes, and reading them back gives a graph of the same digest
/// when the graph came from a file; one made by a builder is brought to the reader's normal form first.
///
/// What the format has no word for but does not change a result (a decided lowering, an upper bound assumed of a
/// symbol) is told in `warnings`, if given. What can't be expressed otherwise throws Error(kGraph) naming the element.
/// Thread rule: any thread.
SDFG_EXPORT std::string format_sdfg(const Graph& graph, const SaveOptions& options = {},
                                    std::vector<std::string>* warnings = nullptr);
/// The same into a file: replaced as a whole, where symbolic links lead. What is no regular file (a pipe, a device),
/// has other names or another owner is written to in place. Throws Error(kUsage) when the file can't be written, Error
/// (kResource) when the disk is full or a limit of the process is met; a file that would be replaced stays as it was.
SDFG_EXPORT void save_sdfg(const Graph& graph, const std::string& path, const SaveOptions& options = {},
                           std::vector<std::string>* warnings = nullptr);

}  // namespace sdfg
