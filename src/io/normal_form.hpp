// The form that reading gives every graph, so that writing and reading it again gives the same one.
#pragma once

#include <set>

#include "ir/graph.hpp"

namespace sdfg::io {

// Replaces blocks that declare nothing and that nothing leaves by their content, and a block that is the whole body of
// a map by that map's iteration. Blocks in `keep` stay.
void splice_blocks(ir::Graph& g, const std::set<ir::Id>& keep);

// States: drops access nodes that move nothing and order edges that order nothing, joins the access nodes by which a
// state begins or ends at one container, sorts nodes and edges, and gives tasklet connectors names that are neither
// containers nor symbols. Changes no meaning: sources and sinks of a state are not ordered among each other.
void normalise_states(ir::Graph& g);

// Conditions and assignments read what a view shows, not the view, where the element can be told: files know views in
// states only.
void resolve_view_reads(ir::Graph& g);

}  // namespace sdfg::io
