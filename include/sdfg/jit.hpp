/// Everything an application needs: build or load a graph, compile it, call it.
#pragma once

#include <sdfg/builder.hpp>
#include <sdfg/compile.hpp>
#include <sdfg/device.hpp>
#include <sdfg/error.hpp>
#include <sdfg/function.hpp>
#include <sdfg/graph.hpp>
#include <sdfg/log.hpp>
#include <sdfg/options.hpp>
#include <sdfg/sdfg_file.hpp>
#include <sdfg/types.hpp>
