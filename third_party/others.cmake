# The other libraries, each as an interface target. Header-only or static, so that nothing of them shows outside.
# zstd for the rooms that compress.
find_path(SDFG_ZSTD_INCLUDE zstd.h REQUIRED)
add_library(sdfg_zstd INTERFACE)
target_include_directories(sdfg_zstd SYSTEM INTERFACE ${SDFG_ZSTD_INCLUDE})
target_link_libraries(sdfg_zstd INTERFACE ${SDFG_ZSTD})

# spdlog and fmt as headers only: compiled into log.cpp with hidden visibility.
find_path(SDFG_SPDLOG_INCLUDE spdlog/spdlog.h REQUIRED)
find_path(SDFG_FMT_INCLUDE fmt/format.h REQUIRED)
add_library(sdfg_spdlog INTERFACE)
target_include_directories(sdfg_spdlog SYSTEM INTERFACE ${SDFG_SPDLOG_INCLUDE} ${SDFG_FMT_INCLUDE})

# isl, for integer sets. Its GMP stays a shared library (LGPL).
find_path(SDFG_ISL_INCLUDE isl/set.h REQUIRED)
find_library(SDFG_ISL NAMES libisl.a isl REQUIRED)
find_library(SDFG_GMP NAMES gmp libgmp.so.10 REQUIRED)
add_library(sdfg_isl INTERFACE)
target_include_directories(sdfg_isl SYSTEM INTERFACE ${SDFG_ISL_INCLUDE})
target_link_libraries(sdfg_isl INTERFACE ${SDFG_ISL} ${SDFG_GMP})

# nlohmann/json, headers only.
find_path(SDFG_JSON_INCLUDE nlohmann/json.hpp REQUIRED)
add_library(sdfg_json INTERFACE)
target_include_directories(sdfg_json SYSTEM INTERFACE ${SDFG_JSON_INCLUDE})

# zlib, for gzip files.
find_path(SDFG_ZLIB_INCLUDE zlib.h REQUIRED)
add_library(sdfg_zlib INTERFACE)
target_include_directories(sdfg_zlib SYSTEM INTERFACE ${SDFG_ZLIB_INCLUDE})
target_link_libraries(sdfg_zlib INTERFACE ${SDFG_ZLIB})
