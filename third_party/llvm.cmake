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

# LLVM's linker takes a second for libsdfg-compiler.so, GNU ld ten; used where it is installed.
find_program(SDFG_LLD NAMES ld.lld HINTS ${SDFG_LLVM_LIBDIR}/../bin NO_DEFAULT_PATH)
if(SDFG_LLD)
  get_filename_component(folder ${SDFG_LLD} DIRECTORY)
  add_link_options(-B${folder} -fuse-ld=lld)
endif()

add_library(sdfg_llvm_headers INTERFACE)
target_include_directories(sdfg_llvm_headers SYSTEM INTERFACE ${SDFG_LLVM_INCLUDE})

# sdfg_llvm_archives(VARIABLE component...): the static archives of LLVM components and all they need, in link order.
function(sdfg_llvm_archives variable)
  execute_process(COMMAND ${SDFG_LLVM_CONFIG} --link-static --libnames ${ARGN} OUTPUT_VARIABLE names
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(names)
  list(FILTER names EXCLUDE REGEX "Polly")  # named by llvm-config, but not packaged; see compile/clang/no_polly.cpp
  list(TRANSFORM names PREPEND ${SDFG_LLVM_LIBDIR}/)
  set(${variable} ${names} PARENT_SCOPE)
endfunction()

# What the archives need of the system. The static zlib and zstd, where there are any, keep the list of shared libraries short.
find_library(SDFG_ZLIB NAMES libz.a z REQUIRED)
find_library(SDFG_ZSTD NAMES libzstd.a zstd REQUIRED)
find_package(Threads REQUIRED)
set(SDFG_LLVM_SYSTEM ${SDFG_ZSTD} ${SDFG_ZLIB} Threads::Threads ${CMAKE_DL_LIBS} m rt)

# sdfg_llvm: what loads objects (ORC, JITLink) and knows the host CPU. sdfg_clang: the whole compiler for the host.
# sdfg_blake3: LLVM's digest alone.
add_library(sdfg_llvm INTERFACE)
add_library(sdfg_clang INTERFACE)
add_library(sdfg_blake3 INTERFACE)
foreach(target sdfg_llvm sdfg_clang sdfg_blake3)
  target_link_libraries(${target} INTERFACE sdfg_llvm_headers)
endforeach()
# Our code never throws LLVM's classes nor casts to them dynamically; LLVM itself is built without RTTI.
if(SDFG_SHARED_LLVM)
  find_library(SDFG_LLVM_DYLIB NAMES LLVM-${SDFG_LLVM_VERSION} LLVM PATHS ${SDFG_LLVM_LIBDIR} NO_DEFAULT_PATH REQUIRED)
  find_library(SDFG_CLANG_DYLIB NAMES libclang-cpp.so.${SDFG_LLVM_VERSION}.1 libclang-cpp.so.${SDFG_LLVM_VERSION} clang-cpp
               PATHS ${SDFG_LLVM_LIBDIR} NO_DEFAULT_PATH REQUIRED)
  target_link_libraries(sdfg_llvm INTERFACE ${SDFG_LLVM_DYLIB})
  target_link_libraries(sdfg_clang INTERFACE ${SDFG_CLANG_DYLIB} ${SDFG_LLVM_DYLIB})
  # Not the archive: what else the linker takes out of it would be a second LLVM, with handlers and options of its own.
  target_link_libraries(sdfg_blake3 INTERFACE ${SDFG_LLVM_DYLIB})
else()
  # The linker takes a few objects without dependencies out of the archive.
  target_link_libraries(sdfg_blake3 INTERFACE ${SDFG_LLVM_LIBDIR}/libLLVMSupport.a)
  sdfg_llvm_archives(archives orcjit jitlink orctargetprocess orcdebugging object targetparser support)
  target_link_libraries(sdfg_llvm INTERFACE ${archives} ${SDFG_LLVM_SYSTEM})

  set(clang_archives)
  foreach(part Tooling Frontend FrontendTool Driver Options Serialization CodeGen Parse Sema Analysis AnalysisLifetimeSafety
               APINotes Edit Rewrite RewriteFrontend AST ASTMatchers ToolingCore Lex Basic Support)
    if(EXISTS ${SDFG_LLVM_LIBDIR}/libclang${part}.a)
      list(APPEND clang_archives ${SDFG_LLVM_LIBDIR}/libclang${part}.a)
    endif()
  endforeach()
  sdfg_llvm_archives(archives x86codegen x86asmparser x86desc x86info passes codegen coverage lto linker irreader bitreader
                     bitwriter frontendopenmp frontenddriver frontendhlsl frontendoffloading option instrumentation ipo
                     coroutines objcarcopts hipstdpar target mc profiledata plugins targetparser support)
  target_link_libraries(sdfg_clang INTERFACE -Wl,--start-group ${clang_archives} -Wl,--end-group ${archives}
                        ${SDFG_LLVM_SYSTEM})
endif()
