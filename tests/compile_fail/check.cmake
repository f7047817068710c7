# SPDX-License-Identifier: MIT
# cmake -DCOMPILER=... -DSOURCE=... -DINCLUDE=... -P check.cmake
#
# The source says what the compiler must say, each on a line of its own:
#   // EXPECT: text           in the output of every compiler; may stand more than once
#   // EXPECT(gcc): text      in g++'s output only; likewise (clang)
#   // EXPECT_OK              the source compiles
#   // COMPILERS: also nvcc   the source is shown to nvcc as well, where it is found (read by CMakeLists.txt)
# One of EXPECT and EXPECT_OK is needed.
# Printed as a notice: CMake folds the lines of an error at its own width.
function(complain text)
  message(NOTICE "compile-fail: ${text}")
  message(FATAL_ERROR "compile-fail test failed")
endfunction()

set(ENV{LC_ALL} C)  # plain quotation marks in messages

file(STRINGS ${SOURCE} lines REGEX "^// EXPECT")
set(expected)
set(ok FALSE)
foreach(line IN LISTS lines)
  if(line MATCHES "^// EXPECT_OK$")
    set(ok TRUE)
  elseif(line MATCHES "^// EXPECT(\\((gcc|clang)\\))?: (.+)$")
    set(text "${CMAKE_MATCH_3}")
    set(only "${CMAKE_MATCH_2}")
    if(NOT only OR (only STREQUAL "clang" AND COMPILER MATCHES "clang") OR (only STREQUAL "gcc" AND NOT COMPILER MATCHES "clang"))
      list(APPEND expected "${text}")
    endif()
  else()
    complain("${SOURCE}: not understood: ${line}")
  endif()
endforeach()
if((ok AND expected) OR (NOT ok AND NOT expected))
  complain("${SOURCE} needs either '// EXPECT: text' or '// EXPECT_OK'")
endif()

if(COMPILER MATCHES "nvcc$")
  set(flags -x cu -arch=sm_90a -c -o /dev/null)
else()
  set(flags -fsyntax-only -fmessage-length=0)
endif()
execute_process(
  COMMAND ${COMPILER} -std=c++20 ${flags} -I${INCLUDE} ${SOURCE}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output
)
if(ok)
  if(NOT status EQUAL 0)
    complain("${SOURCE} should compile with ${COMPILER}:\n${output}")
  endif()
  return()
endif()
if(status EQUAL 0)
  complain("${SOURCE} compiles with ${COMPILER}, but should not")
endif()
foreach(text IN LISTS expected)
  string(FIND "${output}" "${text}" position)
  if(position EQUAL -1)
    complain("${SOURCE} is refused by ${COMPILER}, but not with the words\n  ${text}\nIt says:\n${output}")
  endif()
endforeach()
string(LENGTH "${output}" length)
message(STATUS "refused as expected, in ${length} characters")
