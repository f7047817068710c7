# SPDX-License-Identifier: MIT
# Functions that compile kernels for GPUs. Including this file defines them and does nothing else.
#
# A kernel source is one .hip file. An architecture is named as its compiler names it: gfx942, sm_90a.
# AMD: clang++ 22, 21, 20 or 19 (TILEWRIGHT_AMD_COMPILER names another). NVIDIA: nvcc (TILEWRIGHT_NVIDIA_COMPILER).
#
#   tilewright_known_archs(<variable> amd|nvidia)
#       The architectures that Tilewright knows.
#
#   tilewright_find_device_compiler(<variable> <arch>)
#       The compiler for this architecture, or an empty string where there is none.
#
#   tilewright_add_device_object(<target> SOURCE <file> ARCH <arch>
#                                [OUTPUT <file>] [INCLUDE_DIRECTORIES <dir>...] [DEFINITIONS <def>...] [OPTIONS <opt>...])
#       A target that compiles the kernels of a source to a code object (AMD) or a cubin (NVIDIA), for a program that loads
#       it at run time. $<TARGET_PROPERTY:<target>,TILEWRIGHT_DEVICE_OBJECT> is its path.
#
#   tilewright_add_device_objects(<prefix> SOURCE <file> [ARCHS <arch>...] [the other options above])
#       The same for each architecture that has a compiler here: targets <prefix>_<arch>. <prefix>_TARGETS lists them in the
#       caller's scope. Without ARCHS: all that Tilewright knows.
#
#   tilewright_find_gpu_archs(<variable> <name variable> amd|nvidia)
#       The architectures that a program for GPUs of a vendor can be built for here: those that have a compiler, if the runtime was
#       found; else nothing. TILEWRIGHT_GPU_ARCHS (a|b) leaves out the others. The other variable gets the runtime's name, hip or cuda.
#
#   tilewright_target_gpu_source(<program> SOURCE <file> ARCHS <arch>... [NAME <name>] [DEFINITIONS <def>...] [OPTIONS <opt>...])
#       Compiles the host and the device half of a source, adds the object to the program, and links the GPU's runtime
#       (tilewright::hip: HIP's; CUDA::cudart_static). All architectures of one call belong to one vendor. A source that is compiled
#       several times for one program needs a NAME for each.
#
#   tilewright_find_gpu_runtime(<variable> amd|nvidia)
#       The runtime's target, where this machine has its headers and library, and for AMD the program clang-offload-bundler
#       that belongs to the compiler (Debian: clang-tools-22); else an empty string.
#
#   tilewright_find_single_header(<variable> [amd|nvidia])
#       The path of tilewright_single.hpp, the headers for kernels in one file, or of the one for one maker's GPUs; an empty string
#       where it is not there. In Tilewright's own build the target tilewright_single_header makes it.

function(tilewright_find_single_header variable)
  set(name tilewright_single.hpp)
  if(ARGC GREATER 1)
    set(name tilewright_single_${ARGV1}.hpp)
  endif()
  if(TARGET tilewright_single_header)
    get_target_property(folder tilewright_single_header TILEWRIGHT_FOLDER)
    set(${variable} ${folder}/${name} PARENT_SCOPE)
    return()
  endif()
  get_target_property(folders tilewright::tilewright HEADER_DIRS)
  find_file(header ${name} PATHS ${folders} NO_DEFAULT_PATH NO_CACHE)
  if(NOT header)
    set(header "")
  endif()
  set(${variable} "${header}" PARENT_SCOPE)
endfunction()

function(tilewright_known_archs variable vendor)
  if(vendor STREQUAL amd)
    get_target_property(folders tilewright::tilewright HEADER_DIRS)
    list(GET folders 0 folder)
    file(STRINGS ${folder}/tilewright/core/arch/arch.hpp line REGEX "^using amd_targets")
    string(REGEX MATCHALL "gfx[0-9a-f]+" archs "${line}")
    set(${variable} ${archs} PARENT_SCOPE)
  else()
    set(${variable} sm_80 sm_90a PARENT_SCOPE)
  endif()
endfunction()

# The language and the architectures, which belong to one vendor.
function(_tilewright_flags variable)
  if("${ARGN}" MATCHES "^sm_")
    set(flags -x cu -std=c++20 -O2)
  else()
    set(flags -x hip -nogpulib -std=c++20 -O3)
  endif()
  foreach(arch IN LISTS ARGN)
    if(arch MATCHES "^sm_(.*)")
      list(APPEND flags -gencode=arch=compute_${CMAKE_MATCH_1},code=sm_${CMAKE_MATCH_1})
    else()
      list(APPEND flags --offload-arch=${arch})
    endif()
  endforeach()
  set(${variable} "${flags}" PARENT_SCOPE)
endfunction()

function(tilewright_find_device_compiler variable arch)
  if(arch MATCHES "^sm_")
    find_program(TILEWRIGHT_NVIDIA_COMPILER nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(TILEWRIGHT_NVIDIA_COMPILER)
    set(compiler ${TILEWRIGHT_NVIDIA_COMPILER})
  else()
    find_program(TILEWRIGHT_AMD_COMPILER NAMES clang++-22 clang++-21 clang++-20 clang++-19 amdclang++ PATHS /opt/rocm/bin)
    mark_as_advanced(TILEWRIGHT_AMD_COMPILER)
    set(compiler ${TILEWRIGHT_AMD_COMPILER})
  endif()
  if(NOT compiler)
    set(${variable} "" PARENT_SCOPE)
    return()
  endif()
  # An older compiler may not know a newer architecture, so ask it, once.
  if(arch MATCHES "^gfx")
    set(answer ${TILEWRIGHT_COMPILER_FOR_${arch}})
    if(NOT answer STREQUAL "${compiler}" AND NOT answer STREQUAL "not ${compiler}")
      _tilewright_flags(flags ${arch})
      execute_process(
        COMMAND ${compiler} ${flags} -nogpuinc --offload-device-only -fsyntax-only /dev/null
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET
      )
      set(answer ${compiler})
      if(failed)
        set(answer "not ${compiler}")
      endif()
      set(TILEWRIGHT_COMPILER_FOR_${arch} ${answer} CACHE INTERNAL "Compiler that was asked whether it knows ${arch}")
    endif()
    if(NOT answer STREQUAL "${compiler}")
      set(compiler "")
    endif()
  endif()
  set(${variable} "${compiler}" PARENT_SCOPE)
endfunction()

function(tilewright_add_device_object target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;ARCH;OUTPUT" "INCLUDE_DIRECTORIES;DEFINITIONS;OPTIONS")
  if(NOT arg_SOURCE OR NOT arg_ARCH OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilewright_add_device_object(${target}): give SOURCE and ARCH; not understood: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  tilewright_find_device_compiler(compiler ${arg_ARCH})
  if(NOT compiler)
    message(FATAL_ERROR "tilewright_add_device_object(${target}): no compiler for ${arg_ARCH} was found "
                        "(gfx...: clang++ 22 and lld; sm_...: nvcc)")
  endif()
  cmake_path(ABSOLUTE_PATH arg_SOURCE NORMALIZE)
  if(NOT arg_OUTPUT AND arg_ARCH MATCHES "^sm_")
    set(arg_OUTPUT ${target}.cubin)
  elseif(NOT arg_OUTPUT)
    set(arg_OUTPUT ${target}.co)
  endif()
  cmake_path(ABSOLUTE_PATH arg_OUTPUT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
  _tilewright_flags(flags ${arg_ARCH})
  string(REPLACE " " "\\ " escaped ${arg_OUTPUT})  # what ninja reads in the dependency file
  if(arg_ARCH MATCHES "^sm_")
    list(APPEND flags -cubin -MD -MF ${arg_OUTPUT}.d -MT ${escaped})
  else()
    # For device code the driver ignores -MF; what it calls understands -dependency-file.
    list(APPEND flags -nogpuinc --offload-device-only --no-gpu-bundle-output)
    list(APPEND flags -Xclang -dependency-file -Xclang ${arg_OUTPUT}.d -Xclang -MT -Xclang ${escaped})
  endif()
  list(TRANSFORM arg_DEFINITIONS PREPEND -D)
  list(TRANSFORM arg_INCLUDE_DIRECTORIES PREPEND -I)

  cmake_path(GET arg_SOURCE FILENAME name)
  add_custom_command(
    OUTPUT ${arg_OUTPUT}
    COMMAND
      ${compiler} ${flags} ${arg_INCLUDE_DIRECTORIES}
      "-I$<JOIN:$<TARGET_PROPERTY:tilewright::tilewright,INTERFACE_INCLUDE_DIRECTORIES>,;-I>"
      ${arg_DEFINITIONS} ${arg_OPTIONS} ${arg_SOURCE} -o ${arg_OUTPUT}
    DEPENDS ${arg_SOURCE}
    DEPFILE ${arg_OUTPUT}.d
    COMMENT "Compiling ${name} for ${arg_ARCH}"
    COMMAND_EXPAND_LISTS VERBATIM
  )
  add_custom_target(${target} DEPENDS ${arg_OUTPUT})
  set_target_properties(${target} PROPERTIES TILEWRIGHT_DEVICE_OBJECT ${arg_OUTPUT} TILEWRIGHT_ARCH ${arg_ARCH})
  if(TARGET tilewright_device_objects)
    add_dependencies(tilewright_device_objects ${target})
  endif()
endfunction()

function(tilewright_add_device_objects prefix)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ARCHS")
  if(NOT arg_ARCHS)
    tilewright_known_archs(amd amd)
    tilewright_known_archs(nvidia nvidia)
    set(arg_ARCHS ${amd} ${nvidia})
  endif()
  set(targets)
  foreach(arch IN LISTS arg_ARCHS)
    tilewright_find_device_compiler(compiler ${arch})
    if(compiler)
      tilewright_add_device_object(${prefix}_${arch} ARCH ${arch} ${arg_UNPARSED_ARGUMENTS})
      list(APPEND targets ${prefix}_${arch})
    endif()
  endforeach()
  set(${prefix}_TARGETS ${targets} PARENT_SCOPE)
endfunction()

function(tilewright_find_gpu_runtime variable vendor)
  set(runtime "")
  if(vendor STREQUAL nvidia)
    find_package(CUDAToolkit QUIET)
    if(TARGET CUDA::cudart_static)
      set(runtime CUDA::cudart_static)
    endif()
  elseif(vendor STREQUAL amd)
    find_path(TILEWRIGHT_HIP_INCLUDE_DIR hip/hip_runtime_api.h HINTS ENV ROCM_PATH PATHS /opt/rocm PATH_SUFFIXES include)
    find_library(TILEWRIGHT_HIP_LIBRARY amdhip64 HINTS ENV ROCM_PATH PATHS /opt/rocm PATH_SUFFIXES lib)
    mark_as_advanced(TILEWRIGHT_HIP_INCLUDE_DIR TILEWRIGHT_HIP_LIBRARY)
    tilewright_find_device_compiler(compiler gfx942)
    set(bundler clang-offload-bundler)
    if(compiler)
      execute_process(
        COMMAND ${compiler} -print-prog-name=${bundler} OUTPUT_VARIABLE bundler OUTPUT_STRIP_TRAILING_WHITESPACE
      )
    endif()
    if(TILEWRIGHT_HIP_INCLUDE_DIR AND TILEWRIGHT_HIP_LIBRARY AND EXISTS "${bundler}")
      if(NOT TARGET tilewright::hip)
        add_library(tilewright::hip INTERFACE IMPORTED)
        target_include_directories(tilewright::hip INTERFACE ${TILEWRIGHT_HIP_INCLUDE_DIR})
        target_compile_definitions(tilewright::hip INTERFACE __HIP_PLATFORM_AMD__)
        target_link_libraries(tilewright::hip INTERFACE ${TILEWRIGHT_HIP_LIBRARY})
      endif()
      set(runtime tilewright::hip)
    endif()
  else()
    message(FATAL_ERROR "tilewright_find_gpu_runtime: '${vendor}' is neither amd nor nvidia")
  endif()
  set(${variable} "${runtime}" PARENT_SCOPE)
endfunction()

function(tilewright_find_gpu_archs variable name_variable vendor)
  tilewright_find_gpu_runtime(runtime ${vendor})
  set(archs)
  if(runtime)
    tilewright_known_archs(known ${vendor})
    if(TILEWRIGHT_GPU_ARCHS)
      list(FILTER known INCLUDE REGEX "^(${TILEWRIGHT_GPU_ARCHS})$")
    endif()
    foreach(arch IN LISTS known)
      tilewright_find_device_compiler(compiler ${arch})
      if(compiler)
        list(APPEND archs ${arch})
      endif()
    endforeach()
  endif()
  set(name hip)
  if(vendor STREQUAL nvidia)
    set(name cuda)
  endif()
  set(${variable} "${archs}" PARENT_SCOPE)
  set(${name_variable} ${name} PARENT_SCOPE)
endfunction()

function(tilewright_target_gpu_source program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;NAME" "ARCHS;DEFINITIONS;OPTIONS")
  if(NOT arg_SOURCE OR NOT arg_ARCHS OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilewright_target_gpu_source(${program}): give SOURCE and ARCHS; not understood: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  set(vendors ${arg_ARCHS})
  list(TRANSFORM vendors REPLACE "^sm_.*" nvidia)
  list(TRANSFORM vendors REPLACE "^gfx.*" amd)
  list(REMOVE_DUPLICATES vendors)
  if(NOT vendors MATCHES "^(amd|nvidia)$")
    message(FATAL_ERROR "tilewright_target_gpu_source(${program}): the architectures '${arg_ARCHS}' are not of one vendor")
  endif()
  foreach(arch IN LISTS arg_ARCHS)
    tilewright_find_device_compiler(compiler ${arch})
    if(NOT compiler)
      message(FATAL_ERROR "tilewright_target_gpu_source(${program}): no compiler for ${arch} was found")
    endif()
  endforeach()
  tilewright_find_gpu_runtime(runtime ${vendors})
  if(NOT runtime)
    message(FATAL_ERROR "tilewright_target_gpu_source(${program}): the ${vendors} runtime was not found")
  endif()

  cmake_path(ABSOLUTE_PATH arg_SOURCE NORMALIZE)
  cmake_path(GET arg_SOURCE FILENAME name)
  if(NOT arg_NAME)
    set(arg_NAME ${name})
  endif()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${program}.${arg_NAME}.${vendors}.o)
  _tilewright_flags(flags ${arg_ARCHS})
  if(vendors STREQUAL amd)
    # Headers of older HIP versions ask for it; it is no statement about these architectures.
    list(APPEND flags -D__AMDGCN_WAVEFRONT_SIZE=64)
  endif()
  list(TRANSFORM arg_DEFINITIONS PREPEND -D)
  string(REPLACE " " "\\ " escaped ${output})
  set(include_directories $<TARGET_PROPERTY:${program},INCLUDE_DIRECTORIES>)
  add_custom_command(
    OUTPUT ${output}
    COMMAND
      ${compiler} ${flags} -c -MD -MF ${output}.d -MT ${escaped} "$<$<BOOL:${include_directories}>:-I$<JOIN:${include_directories},;-I>>"
      ${arg_DEFINITIONS} ${arg_OPTIONS} ${arg_SOURCE} -o ${output}
    DEPENDS ${arg_SOURCE}
    DEPFILE ${output}.d
    COMMENT "Compiling ${arg_NAME} for ${arg_ARCHS}"
    COMMAND_EXPAND_LISTS VERBATIM
  )
  target_sources(${program} PRIVATE ${output})
  target_link_libraries(${program} PRIVATE ${runtime})
endfunction()
