# SPDX-License-Identifier: MIT
# Runs PROGRAM: it must succeed and print what the file EXPECTED holds.
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT status STREQUAL "0")
  message(FATAL_ERROR "${PROGRAM} failed (${status}): ${errors}")
endif()
file(READ ${EXPECTED} expected)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} printed\n${output}\nbut ${EXPECTED} holds\n${expected}")
endif()
