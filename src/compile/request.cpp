// The digest of a compile request.
#include "compile/request.hpp"

namespace sdfg::compiler {

Digest CompileRequest::digest() const {
  ByteWriter writer;
  writer.text("sdfg compile request 3");
  writer.u8(static_cast<std::uint8_t>(kind));
  writer.text(name);
  writer.text(source);
  writer.text(triple);
  writer.text(cpu);
  writer.texts(features);
  writer.i64(opt_level);
  writer.boolean(fp.contract);
  writer.boolean(fp.reassociate);
  writer.boolean(fp.finite);
  writer.boolean(fp.approximate);
  writer.boolean(openmp);
  writer.boolean(debug_info);
  writer.u8(static_cast<std::uint8_t>(checks));
  writer.boolean(divide);
  writer.boolean(straight);
  writer.texts(flags);
  writer.texts(build_ids);
  return writer.digest();
}

}  // namespace sdfg::compiler
