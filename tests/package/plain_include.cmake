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

# Behind headers that define macros with short names, without exceptions, without type information.
execute_process(
  COMMAND
    ${COMPILER} -std=gnu++20 -fno-exceptions -fno-rtti -fsyntax-only -Werror -I${SOURCE}/include
    ${CMAKE_CURRENT_LIST_DIR}/consumer/behind_macros.cpp
  COMMAND_ERROR_IS_FATAL ANY
)

# Compilers and standards that cannot read the headers are told so in one sentence, first.
find_program(OLD_CLANG NAMES clang++-14 clang++-15)
foreach(way IN ITEMS "${COMPILER} -std=c++17|Tilewright needs C\\+\\+20" "${OLD_CLANG} -std=c++20|Tilewright needs clang 16 or later")
  string(REGEX REPLACE "[|].*" "" command "${way}")
  string(REGEX REPLACE ".*[|]" "" sentence "${way}")
  separate_arguments(command UNIX_COMMAND "${command}")
  list(GET command 0 compiler)
  if(compiler)
    execute_process(
      COMMAND ${command} -fsyntax-only -x c++ -I${SOURCE}/include ${SOURCE}/include/tilewright/core.hpp ERROR_VARIABLE errors RESULT_VARIABLE result
    )
    string(REGEX MATCH "error: [^\n]*" first "${errors}")
    if(result EQUAL 0 OR NOT first MATCHES "${sentence}")
      message(FATAL_ERROR "${command} says '${first}', and not '${sentence}'")
    endif()
  endif()
endforeach()

file(GLOB_RECURSE headers ${SOURCE}/include/*.hpp)
list(FILTER headers EXCLUDE REGEX "core/base/nvrtc.hpp$")  # builtins that NVRTC lacks have their own names
foreach(header IN LISTS headers)
  file(READ ${header} text)
  string(REGEX MATCHALL "#[ \t]*define[ \t]+[A-Za-z_0-9]+" macros "${text}")
  list(FILTER macros EXCLUDE REGEX "[ \t]TILEWRIGHT_")
  if(macros)
    message(NOTICE "${header} defines macros whose names do not begin with TILEWRIGHT_: ${macros}")
    message(FATAL_ERROR "a macro of another name")
  endif()
endforeach()
