# SPDX-License-Identifier: MIT
# A project with LANGUAGES CUDA and nvcc. Its program is compiled and not run, since that needs a GPU.
file(REMOVE_RECURSE ${WORK})
execute_process(
  COMMAND
    ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/cuda -B ${WORK} -DCMAKE_PREFIX_PATH=${PREFIX}
    -DCMAKE_CUDA_COMPILER=${NVCC} -DCMAKE_CUDA_ARCHITECTURES=90a
  COMMAND_ERROR_IS_FATAL ANY
)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK} COMMAND_ERROR_IS_FATAL ANY)
