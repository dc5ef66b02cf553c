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
