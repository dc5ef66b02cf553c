/// Values of a graph under construction with C++ operators and math functions.
#pragma once

#include <sdfg/math.hpp>
#include <sdfg/operators.hpp>
