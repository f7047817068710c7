# SPDX-License-Identifier: MIT
# No build system: a compiler and -I, with the standards and the warnings that a user may ask for. Macros are all our own.
set(program ${WORK}/plain_include)
foreach(standard IN ITEMS 20 23)
  execute_process(
    COMMAND
      ${COMPILER} -std=c++${standard} -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
      -I${SOURCE}/include ${CMAKE_CURRENT_LIST_DIR}/consumer/main.cpp -o ${program}
    COMMAND_ERROR_IS_FATAL ANY
  )
  execute_process(COMMAND ${program} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

file(GLOB_RECURSE headers ${SOURCE}/include/*.hpp)
list(FILTER headers EXCLUDE REGEX "config/nvrtc.hpp$")  # builtins that NVRTC lacks have their own names
foreach(header IN LISTS headers)
  file(READ ${header} text)
  string(REGEX MATCHALL "#[ \t]*define[ \t]+[A-Za-z_0-9]+" macros "${text}")
  list(FILTER macros EXCLUDE REGEX "[ \t]TILEWRIGHT_")
  if(macros)
    message(NOTICE "${header} defines macros whose names do not begin with TILEWRIGHT_: ${macros}")
    message(FATAL_ERROR "a macro of another name")
  endif()
endforeach()
