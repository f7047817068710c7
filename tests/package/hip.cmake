# SPDX-License-Identifier: MIT
# A project with LANGUAGES HIP, and hipcc where it is installed, with clang 22. CMake and Debian's hipcc expect the folders of ROCm and
# clang 15, so WORK gets a prefix with clang 22 and Debian's files, and HIP's headers get the macro that clang 22 has no more (ROCm 6
# and 7 need none of this). The programs run on the emulator of AMD code objects.
set(flags -nogpulib -D__AMDGCN_WAVEFRONT_SIZE=64 -O3 -DNDEBUG)
file(REMOVE_RECURSE ${WORK})
set(root ${WORK}/rocm)  # hip-lang-config.cmake is four folders below the prefix that it means
set(modules ${root}/lib/cmake)
set(debian /usr/lib/x86_64-linux-gnu)
file(COPY ${debian}/cmake/hip-lang DESTINATION ${modules})
file(WRITE ${modules}/AMDDeviceLibs/AMDDeviceLibsConfig.cmake "# Kernels of tilewright need no device libraries.\n")
file(MAKE_DIRECTORY ${WORK}/include ${WORK}/lib ${WORK}/bin)
file(CREATE_LINK ${debian}/cmake/amd_comgr ${modules}/amd_comgr SYMBOLIC)
file(CREATE_LINK ${debian} ${WORK}/lib/x86_64-linux-gnu SYMBOLIC)
foreach(name IN ITEMS hip hsa)
  file(CREATE_LINK /usr/include/${name} ${WORK}/include/${name} SYMBOLIC)
endforeach()

function(run program)
  set(ENV{LD_LIBRARY_PATH} ${EMULATOR})
  execute_process(COMMAND ${program} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${program} ended with ${result}")
  endif()
endfunction()

list(JOIN flags " " flags_text)
set(ENV{CMAKE_PREFIX_PATH} "${root}:${PREFIX}")
execute_process(
  COMMAND
    ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/hip -B ${WORK}/build -DCMAKE_HIP_COMPILER=${CLANG}
    -DCMAKE_HIP_COMPILER_ROCM_ROOT=${root} -DCMAKE_HIP_ARCHITECTURES=gfx942 "-DCMAKE_HIP_FLAGS=${flags_text}"
  COMMAND_ERROR_IS_FATAL ANY
)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
run(${WORK}/build/consumer)

find_program(HIPCC hipcc)
if(HIPCC)
  foreach(name IN ITEMS clang-15 clang++-15)
    file(CREATE_LINK ${CLANG} ${WORK}/bin/${name} SYMBOLIC)
  endforeach()
  execute_process(
    COMMAND ${CLANG} --rtlib=compiler-rt --print-libgcc-file-name OUTPUT_VARIABLE builtins OUTPUT_STRIP_TRAILING_WHITESPACE
  )
  file(CREATE_LINK ${builtins} ${WORK}/lib/libclang_rt.builtins-x86_64.a SYMBOLIC)
  execute_process(
    COMMAND
      ${CMAKE_COMMAND} -E env HIP_PLATFORM=amd HIP_CLANG_PATH=${WORK}/bin HIP_PATH=${WORK} ROCM_PATH=${WORK} ${HIPCC} -std=c++20 ${flags}
      --offload-arch=gfx942 -I${PREFIX}/include ${CMAKE_CURRENT_LIST_DIR}/hip/program.hip -o ${WORK}/by_hipcc
    COMMAND_ERROR_IS_FATAL ANY
  )
  run(${WORK}/by_hipcc)
endif()
