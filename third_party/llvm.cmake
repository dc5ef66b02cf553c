# Finds LLVM and Clang 22 and says how to link them.
#
# Not through their CMake packages: Debian's exported Clang targets pull in the LLVM dylib beside the static archives, and two
# copies of LLVM in one process abort with "option registered more than once".

set(SDFG_LLVM_VERSION 22)
find_program(SDFG_LLVM_CONFIG NAMES llvm-config-${SDFG_LLVM_VERSION} HINTS /usr/lib/llvm-${SDFG_LLVM_VERSION}/bin
             DOC "llvm-config of LLVM ${SDFG_LLVM_VERSION}")
if(NOT SDFG_LLVM_CONFIG)
  message(FATAL_ERROR "LLVM ${SDFG_LLVM_VERSION} was not found. third_party/install-deps.sh installs it, or set "
                      "SDFG_LLVM_CONFIG to its llvm-config.")
endif()
execute_process(COMMAND ${SDFG_LLVM_CONFIG} --includedir OUTPUT_VARIABLE SDFG_LLVM_INCLUDE
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${SDFG_LLVM_CONFIG} --libdir OUTPUT_VARIABLE SDFG_LLVM_LIBDIR
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${SDFG_LLVM_CONFIG} --version OUTPUT_VARIABLE SDFG_LLVM_FULL_VERSION
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

add_library(sdfg_llvm_headers INTERFACE)
target_include_directories(sdfg_llvm_headers SYSTEM INTERFACE ${SDFG_LLVM_INCLUDE})
target_compile_definitions(sdfg_llvm_headers INTERFACE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)

# BLAKE3 alone: the linker takes a few objects without dependencies out of the archive.
add_library(sdfg_blake3 INTERFACE)
target_include_directories(sdfg_blake3 SYSTEM INTERFACE ${SDFG_LLVM_INCLUDE})
target_link_libraries(sdfg_blake3 INTERFACE ${SDFG_LLVM_LIBDIR}/libLLVMSupport.a)
