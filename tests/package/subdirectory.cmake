# Builds a consumer that takes the project in with add_subdirectory, and runs it.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command} ended with ${status}:\n${output}")
  endif()
endfunction()

# Through the environment: it is a list, which an argument would not survive.
set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} "${LAUNCHER}")
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK} -G ${GENERATOR} -DSDFG_DIRECTORY=${SOURCE}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
    "-DCMAKE_CXX_FLAGS_RELEASE=${FLAGS}" -DSDFG_WERROR=ON)
run(${CMAKE_COMMAND} --build ${WORK} --target consumer)
run(${WORK}/consumer)
