// The target over files of graphs; apart from the others, so that a program with it alone links only the rooms above.
#include <string_view>

#include "io/sdfg_file.hpp"
#include "ir/print.hpp"
#include "ir/validate.hpp"
#include "targets.hpp"

namespace sdfg::fuzz {

void feed_loader(Bytes bytes) {
  io::dace::ReadLimits limits;
  limits.max_bytes = 1 << 20;
  limits.max_values = 1 << 17;
  try {
    const io::LoadedGraph loaded = io::load_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, limits);
    (void)ir::validate(loaded.graph);
    (void)ir::to_text(loaded.graph);
  } catch (const Error&) {  // wrong files are the usual case
  }
}

}  // namespace sdfg::fuzz
