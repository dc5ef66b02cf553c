# Installs, moves the installed tree, builds a consumer with find_package, and runs it.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command} ended with ${status}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/moved)
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/moved
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)

file(GLOB_RECURSE names RELATIVE ${WORK}/moved ${WORK}/moved/*)
foreach(name ${names})
  if(name MATCHES "\\.(a|o)$" OR name MATCHES "include/(llvm|clang|spdlog)")
    message(FATAL_ERROR "the installed tree holds ${name}, which is no part of the product")
  endif()
endforeach()
file(REMOVE_RECURSE ${WORK})
