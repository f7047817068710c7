# SPDX-License-Identifier: MIT
# Target tilewright_single_header: all headers for kernels in one file, tilewright_single.hpp, and those for one maker's GPUs in
# tilewright_single_amd.hpp and tilewright_single_nvidia.hpp. tilewright_find_single_header gives their paths.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(NOT Python3_Interpreter_FOUND)
  message(STATUS "tilewright_single.hpp needs Python 3 to be made; it is left out")
  return()
endif()

set(folder ${PROJECT_BINARY_DIR}/single_header)
set(maker_of_tilewright_single)
set(maker_of_tilewright_single_amd --maker amd)
set(maker_of_tilewright_single_nvidia --maker nvidia)
set(single_headers)
foreach(name IN ITEMS tilewright_single tilewright_single_amd tilewright_single_nvidia)
  set(output ${folder}/${name}.hpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/make_single_header.py -o ${output} ${maker_of_${name}}
    DEPENDS ${headers} ${PROJECT_SOURCE_DIR}/tools/make_single_header.py
    COMMENT "Joining the headers to ${name}.hpp"
    VERBATIM
  )
  list(APPEND single_headers ${output})
endforeach()
add_custom_target(tilewright_single_header ALL DEPENDS ${single_headers})
set_target_properties(tilewright_single_header PROPERTIES TILEWRIGHT_FOLDER ${folder})
