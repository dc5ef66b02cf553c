// The finished graph as a shared handle, and its check. Apart from the rest of the builder, so that tests of this room
// link without the facade.
#include <sdfg/builder.hpp>

#include "builder/access.hpp"
#include "builder/impl.hpp"
#include "ir/validate.hpp"

namespace sdfg {

Graph Builder::graph(Where where) const {
  impl(where).check_usable(detail::location_of(where));
  return Graph(std::make_shared<const ir::Graph>(builder::graph_of(*this).clone()));
}

void Builder::check(Where where) const {
  impl(where).check_usable(detail::location_of(where));
  ir::check(builder::graph_of(*this));
}

}  // namespace sdfg
