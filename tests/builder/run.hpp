// Checks a builder's graph and runs it with the interpreter.
#pragma once

#include <sdfg/builder.hpp>

#include "builder/access.hpp"
#include "interpret/interpreter.hpp"
#include "ir/validate.hpp"

namespace sdfg::test {

using interpret::Arguments;

// Every graph that a test runs must keep the rules.
inline void run(const Builder& g, const Arguments& arguments,
                interpret::MapOrder order = interpret::MapOrder::kForward) {
  ir::check(builder::graph_of(g));
  interpret::Options options;
  options.order = order;
  options.check_uninitialised = true;
  interpret::run(builder::graph_of(g), arguments, options);
}

}  // namespace sdfg::test
