// Reads types, descriptors of containers, and constants.
#pragma once

#include "io/read_parts.hpp"

namespace sdfg::io::dace {

class ContainerReader : public PartReader {
 public:
  using PartReader::PartReader;

 protected:
  Type type(const Cursor& at, int depth = 0);

  static DescriptorClass descriptor_class(const std::string& text);

  Descriptor descriptor(const Cursor& at, std::string its_name, int depth = 0);

  Constant constant(const Cursor& at, const std::string& its_name);

  void append_values(const Cursor& at, ScalarType type_of, std::vector<std::uint8_t>& out);

  // Complex numbers and NaN appear as Python's repr: "(1+2j)", "nan", "inf".
  static tasklet::Value value_from_text(const Cursor& at);
};

}  // namespace sdfg::io::dace
