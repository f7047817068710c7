# SPDX-License-Identifier: MIT
# What this project's own programs (tests, examples, benchmarks) are compiled with. Never exported.
option(TILEWRIGHT_WARNINGS_AS_ERRORS "Treat warnings in this project's own programs as errors" OFF)
set(tilewright_warnings -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND tilewright_warnings -Wno-restrict)  # wrong for sums of std::string
endif()

add_library(tilewright_development INTERFACE)
target_compile_options(tilewright_development INTERFACE ${tilewright_warnings})
if(TILEWRIGHT_WARNINGS_AS_ERRORS)
  target_compile_options(tilewright_development INTERFACE -Werror)
endif()

find_program(TILEWRIGHT_CCACHE ccache)
mark_as_advanced(TILEWRIGHT_CCACHE)
if(TILEWRIGHT_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TILEWRIGHT_CCACHE})
endif()

# NCCL, for programs that run on several GPUs: TILEWRIGHT_NCCL_INCLUDE_DIR and TILEWRIGHT_NCCL_LIBRARY, where they are found.
function(tilewright_find_nccl)
  find_path(TILEWRIGHT_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(TILEWRIGHT_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
  mark_as_advanced(TILEWRIGHT_NCCL_INCLUDE_DIR TILEWRIGHT_NCCL_LIBRARY)
endfunction()
