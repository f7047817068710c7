# SPDX-License-Identifier: MIT
# No build system: a compiler and -I.
set(program ${WORK}/plain_include)
execute_process(
  COMMAND ${COMPILER} -std=c++20 -I${SOURCE}/include ${CMAKE_CURRENT_LIST_DIR}/consumer/main.cpp -o ${program}
  COMMAND_ERROR_IS_FATAL ANY
)
execute_process(COMMAND ${program} COMMAND_ERROR_IS_FATAL ANY)
