/// Visibility of the public symbols of libsdfg.
#pragma once

#define SDFG_EXPORT __attribute__((visibility("default")))
