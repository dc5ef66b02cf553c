// Compares what views finally show.
#include "ir/sharing.hpp"

namespace sdfg::ir {

bool may_share_memory(const Graph& g, const Container& a, const Container& b) {
  const Container& x = root_of(g, a);
  const Container& y = root_of(g, b);
  if (&x == &y || (x.may_alias && y.may_alias)) return true;
  return x.kind == ContainerKind::kReference || y.kind == ContainerKind::kReference;
}

}  // namespace sdfg::ir
