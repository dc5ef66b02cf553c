// The form that reading gives every graph, so that writing and reading it again gives the same one.
#pragma once

#include <set>

#include "ir/graph.hpp"

namespace sdfg::io {

// Control flow as jumps between blocks would be raised: blocks that declare nothing and that nothing leaves are their
// content, a block that is the whole body of a map is that map's iteration, other blocks begin where they can first be
// left; nothing stands behind a jump, none goes where the flow goes anyway; a branch that leaves needs no else, one
// that skips the rest of its sequence has that for its else, an else branch that is a branch joins the one around,
// branches without content are dropped. Blocks in `keep` stay.
void normalise_flow(ir::Graph& g, const std::set<ir::Id>& keep);

// States: drops access nodes that move nothing and order edges that order nothing, joins the access nodes by which a
// state begins or ends at one container, sorts nodes and edges, and gives tasklet connectors names that are neither
// containers nor symbols. Changes no meaning: sources and sinks of a state are not ordered among each other. Likewise
// the parts of an assignment, which are sorted by symbol.
void normalise_states(ir::Graph& g);

// Conditions and assignments read what a view shows, not the view, where the element can be told: files know views in
// states only.
void resolve_view_reads(ir::Graph& g);

}  // namespace sdfg::io
