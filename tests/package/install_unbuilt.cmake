# SPDX-License-Identifier: MIT
# Configures, builds nothing, and installs: the headers must be there, and what is missing must be named.
file(REMOVE_RECURSE ${WORK} ${PREFIX})
execute_process(
  COMMAND
    ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${WORK} -DCMAKE_CXX_COMPILER=${COMPILER} -DTILEWRIGHT_BUILD_TESTS=OFF
    -DTILEWRIGHT_BUILD_EXAMPLES=OFF -DTILEWRIGHT_BUILD_DEVICE=OFF
    -DTILEWRIGHT_HOST=${HOST}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY
)
# A component alone, and everything, with what an earlier build left of a program's texts.
execute_process(COMMAND ${CMAKE_COMMAND} --install ${WORK} --component headers --prefix ${PREFIX} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${PREFIX})
file(WRITE ${WORK}/program_texts/tilewright-layout.1 "stale")
execute_process(COMMAND ${CMAKE_COMMAND} --install ${WORK} --prefix ${PREFIX} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${PREFIX}/include/tilewright/core.hpp)
  message(FATAL_ERROR "the headers were not installed")
endif()
file(GLOB_RECURSE others ${PREFIX}/bin/* ${PREFIX}/share/man/* ${PREFIX}/tilewright-jit.pc ${PREFIX}/tilewright-ops.pc ${PREFIX}/tilewright-c.pc)
if(others)
  message(FATAL_ERROR "installed, although it was not built: ${others}")
endif()
foreach(missing IN LISTS MISSING)
  if(NOT output MATCHES "Not built, left out: [^\n]*/${missing}\n")
    message(FATAL_ERROR "it is not said that ${missing} was not built:\n${output}")
  endif()
endforeach()
