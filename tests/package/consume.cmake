# SPDX-License-Identifier: MIT
# Configures, builds and runs consumer/ in one way, and compares the command that compiles its bystander with the one that the
# project has without Tilewright (HOW=none).
set(build "${WORK}/${HOW} build")  # dependency files must cope with a space
file(REMOVE_RECURSE ${build})
set(options)
if(EXISTS ${PREFIX}/include/tilewright_single.hpp)
  list(APPEND options -DPACKAGE_HAS_SINGLE_HEADER=ON)
endif()
if(HOW STREQUAL "find_package_host_missing")
  list(APPEND options -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON)
endif()
execute_process(
  COMMAND
    ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${build} -DHOW=${HOW} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DTILEWRIGHT_SOURCE=${SOURCE} -DCMAKE_PREFIX_PATH=${PREFIX} ${options}
  COMMAND_ERROR_IS_FATAL ANY
)

file(READ ${build}/compile_commands.json commands)
string(REPLACE ${build} "" commands "${commands}")
string(JSON last LENGTH "${commands}")
math(EXPR last "${last} - 1")
foreach(i RANGE ${last})
  string(JSON file GET "${commands}" ${i} file)
  if(file MATCHES "bystander.cpp$")
    string(JSON command GET "${commands}" ${i} command)
  endif()
endforeach()
if(HOW STREQUAL "none")
  file(WRITE ${WORK}/bystander.txt "${command}")
  return()
endif()
file(READ ${WORK}/bystander.txt expected)
if(NOT command STREQUAL expected)
  message(FATAL_ERROR "Tilewright changes how other sources are compiled, from\n  ${expected}\nto\n  ${command}")
endif()

if(HOW MATCHES "_missing$")
  return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${build}/consumer COMMAND_ERROR_IS_FATAL ANY)
if(EXISTS ${build}/consumer_c)
  execute_process(COMMAND ${build}/consumer_c COMMAND_ERROR_IS_FATAL ANY)
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(GENERATOR STREQUAL "Ninja" AND NOT output MATCHES "no work to do")
  message(FATAL_ERROR "a second build compiles again:\n${output}")
endif()
