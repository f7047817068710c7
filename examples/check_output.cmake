# SPDX-License-Identifier: MIT
# Runs PROGRAM: it must succeed and print what the file EXPECTED holds. What is wrong is printed as a notice: CMake folds the lines of
# an error at its own width.
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT status STREQUAL "0")
  message(NOTICE "${PROGRAM} failed (${status}): ${errors}")
  message(FATAL_ERROR "the program failed")
endif()
file(READ ${EXPECTED} expected)
if(NOT output STREQUAL expected)
  message(NOTICE "${PROGRAM} printed\n${output}\nbut ${EXPECTED} holds\n${expected}")
  message(FATAL_ERROR "the program printed something else")
endif()
