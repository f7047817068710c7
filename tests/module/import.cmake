# SPDX-License-Identifier: MIT
# The commands of docs/toolchains.md, without warnings.
set(flags -std=c++20 -Wall -Wextra -Werror -I${SOURCE}/include)
execute_process(
  COMMAND
    ${COMPILER} ${flags} -Wno-include-angled-in-module-purview --precompile ${SOURCE}/include/tilewright/tilewright.cppm
    -o ${WORK}/tilewright.pcm
  COMMAND_ERROR_IS_FATAL ANY
)
execute_process(
  COMMAND
    ${COMPILER} ${flags} -fmodule-file=tilewright=${WORK}/tilewright.pcm ${CMAKE_CURRENT_LIST_DIR}/program.cpp -o ${WORK}/program
  COMMAND_ERROR_IS_FATAL ANY
)
execute_process(COMMAND ${WORK}/program COMMAND_ERROR_IS_FATAL ANY)
