# SPDX-License-Identifier: MIT
# Target header_checks: every header includes what it uses, and every compiler found here compiles all headers that it may include,
# twice, in one file. The umbrella headers link when two files include them.
#
# What a header for C++ compilers includes is checked by clang with all of them as submodules of one module: a name is visible only
# to those that include its header, and each header is parsed once. Headers for GPU compilers are compiled alone.

# Where a header may be included from. The first folder that matches decides; anything else is for all of them.
#   cpu: a C++ compiler    hip: clang, code for an AMD GPU    hip_host: clang, the host half of a HIP compilation
#   cuda: nvcc, both halves    cuda_device: nvcc, code for the GPU alone
set(header_rules
  "machine/emulator/=cpu"
  "machine/exec/host/=cpu"
  "machine/exec/amdgcn/=hip"
  "machine/exec/stub/=hip_host"
  "machine/exec/no_schedule.hpp=cpu=hip_host=cuda"
  "launch/tuning/find_fastest.hpp=cpu=cuda"
  "machine/exec/nvptx/make_tensor_map.hpp=cuda"
  "machine/exec/nvptx/=cuda_device"
  "launch/launch_on_cpu.hpp=cpu"
  "launch/launch_on_gpu.hpp=hip=hip_host=cuda"
  "launch/detail/gpu_runtime.hpp=hip_host=cuda"
  "kernels/gemm/choice/gemm_plan.hpp=cuda"
  "kernels/gemm/choice/gemm_kernels.hpp=cuda"
  "kernels/gemm/choice/gemm_choice.hpp=cpu=cuda"
  "kernels/gemm/choice/hopper_tile_family.hpp=cpu=cuda"
  "launch/tuning/tuning_file.hpp=cpu=cuda"
  "kernels/gemm/choice/gemm_autotune.hpp=cuda"
  "kernels/parallel/peer_memory.hpp=cuda"
  "kernels/parallel/communicator.hpp=cuda"
  "kernels/parallel.hpp=cpu=cuda"
  "kernels/parallel/parallel_gemm.hpp=cpu=cuda"
  "kernels/parallel/emulated_rank.hpp=cpu"
)

find_program(TILEWRIGHT_CHECK_GXX g++)
find_program(TILEWRIGHT_CHECK_CLANGXX NAMES clang++-22 clang++-21 clang++-20 clang++-19 clang++)
mark_as_advanced(TILEWRIGHT_CHECK_GXX TILEWRIGHT_CHECK_CLANGXX)
tilewright_find_device_compiler(amd_compiler gfx942)
tilewright_find_device_compiler(nvidia_compiler sm_90a)

set(checks)  # each with its machine, its command and, in alone_<name>, the check that looks at a single header
# A user's project may warn of more than this one does; these flags find nothing in the headers.
set(warnings -Wall -Wextra -Wconversion -Wshadow)
set(plain -std=c++20 ${warnings} -Wpedantic -Werror -I${PROJECT_SOURCE_DIR}/include -fsyntax-only)
set(gxx_machine cpu)
set(gxx_command ${TILEWRIGHT_CHECK_GXX} ${plain} -x c++)
set(clang_machine cpu)
set(clang_command ${TILEWRIGHT_CHECK_CLANGXX} ${plain} -x c++)
set(hip_machine hip)
set(hip_command ${amd_compiler} ${plain} -x hip --offload-arch=gfx942 -nogpulib -nogpuinc --offload-device-only)
set(hip_host_machine hip_host)
set(hip_host_command ${amd_compiler} ${plain} -x hip --offload-arch=gfx942 -nogpulib -nogpuinc --offload-host-only)
set(cuda_machine cuda)
list(JOIN warnings "," host_warnings)
set(cuda_command ${nvidia_compiler} -std=c++20 -Werror all-warnings -Xcompiler=${host_warnings} -I${PROJECT_SOURCE_DIR}/include -arch=sm_90a -x cu)
set(cuda_device_machine cuda_device)
set(cuda_device_command ${cuda_command} -ptx)
list(APPEND cuda_command -c)
set(alone_hip hip)
set(alone_hip_host hip_host)
set(alone_cuda cuda_device)  # reads both halves
set(alone_cuda_device cuda_device)
if(TILEWRIGHT_CHECK_GXX)
  list(APPEND checks gxx)
endif()
if(TILEWRIGHT_CHECK_CLANGXX)
  list(APPEND checks clang)
endif()
if(TILEWRIGHT_BUILD_DEVICE AND amd_compiler)
  list(APPEND checks hip hip_host)
endif()
if(TILEWRIGHT_BUILD_DEVICE AND nvidia_compiler)
  list(APPEND checks cuda cuda_device)
endif()

# header_check(<check> <name> <header>...): compiles a file that includes the headers, twice.
set(stamps)
function(header_check check name)
  set(base ${PROJECT_BINARY_DIR}/header_checks/${name})
  set(stamp ${base}.${check})
  set(text)
  foreach(header IN LISTS ARGN ARGN)
    string(APPEND text "#include <tilewright/${header}>\n")
  endforeach()
  file(CONFIGURE OUTPUT ${base}.${check}.cpp CONTENT "${text}")
  if(check MATCHES "^hip")
    # The driver ignores -MF when it compiles one half alone; what it calls understands -dependency-file.
    set(dependencies -Xclang -dependency-file -Xclang ${stamp}.d -Xclang -MT -Xclang ${stamp})
  else()
    set(dependencies -MD -MF ${stamp}.d -MT ${stamp})
  endif()
  if(check MATCHES "^cuda")
    list(APPEND dependencies -o ${stamp}.o)
  endif()
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${${check}_command} ${base}.${check}.cpp ${dependencies}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${base}.${check}.cpp
    DEPFILE ${stamp}.d
    COMMENT "Headers (${check}): ${name}"
    VERBATIM
  )
  set(stamps ${stamps} ${stamp} PARENT_SCOPE)
endfunction()

foreach(header IN LISTS headers)
  cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/include/tilewright)
  set(machines cpu hip hip_host cuda)
  foreach(rule IN LISTS header_rules)
    string(REPLACE "=" ";" rule ${rule})
    list(POP_FRONT rule folder)
    string(FIND ${header} ${folder} position)
    if(position EQUAL 0)
      set(machines ${rule})
      break()
    endif()
  endforeach()
  set(alone TRUE)
  foreach(check IN LISTS checks)
    if(${check}_machine IN_LIST machines)
      list(APPEND headers_of_${check} ${header})
      if(alone AND NOT ${check}_machine STREQUAL cpu)
        header_check(${alone_${check}} ${header} ${header})
      endif()
      set(alone FALSE)
    endif()
  endforeach()
endforeach()
foreach(check IN LISTS checks)
  if(headers_of_${check})
    header_check(${check} all_headers ${headers_of_${check}})
  endif()
endforeach()

if(TILEWRIGHT_CHECK_CLANGXX)
  set(base ${PROJECT_BINARY_DIR}/header_checks/alone)
  set(text "module tilewright {\n")
  foreach(header IN LISTS headers_of_clang)
    string(MAKE_C_IDENTIFIER ${header} name)
    string(APPEND text "  module ${name} { header \"${PROJECT_SOURCE_DIR}/include/tilewright/${header}\" export * }\n")
  endforeach()
  file(CONFIGURE OUTPUT ${base}/module.modulemap CONTENT "${text}}\n")
  add_custom_command(
    OUTPUT ${base}.clang
    COMMAND ${clang_command} -fmodules -Xclang -fmodules-local-submodule-visibility -fmodule-name=tilewright -Xclang -emit-module
            ${base}/module.modulemap
    COMMAND ${CMAKE_COMMAND} -E touch ${base}.clang
    DEPENDS ${base}/module.modulemap ${headers}
    COMMENT "Headers (clang): each alone"
    VERBATIM
  )
  list(APPEND stamps ${base}.clang)
endif()
add_custom_target(header_checks DEPENDS ${stamps})

foreach(umbrella IN ITEMS core tilewright kernels/gemm kernels/attention kernels/rows kernels/tensor kernels/routing)
  if(EXISTS ${PROJECT_SOURCE_DIR}/include/tilewright/${umbrella}.hpp)
    string(REPLACE / _ name ${umbrella})
    set(base ${PROJECT_BINARY_DIR}/header_checks/${name})
    file(CONFIGURE OUTPUT ${base}_first.cpp CONTENT "#include <tilewright/${umbrella}.hpp>\n")
    file(CONFIGURE OUTPUT ${base}_second.cpp CONTENT "#include <tilewright/${umbrella}.hpp>\nint main() {}\n")
    add_executable(header_check_links_${name} EXCLUDE_FROM_ALL ${base}_first.cpp ${base}_second.cpp)
    target_link_libraries(header_check_links_${name} PRIVATE tilewright::tilewright tilewright_development)
    add_dependencies(header_checks header_check_links_${name})
  endif()
endforeach()
