# SPDX-License-Identifier: MIT
# tilewright_add_kernels(<target> OPERATIONS <operation>... TYPES <type>... EMULATE <target>... [ORDERS <order>...] [HEAD_DIMS <dim>...])
#   compiles kernels for the CPU emulator into a program (or its libraries), where the calls of tilewright::ops find them.
#   OPERATIONS  gemm attention rms_norm layer_norm softmax cross_entropy rotary
#   TYPES       f16 bf16 f32
#   EMULATE     gfx90a gfx942 gfx950 gfx1100 gfx1201 sm_80 sm_90
#   ORDERS      of gemm: the contiguous dimension of A, then of B, such as k-k (the default) and k-mn
#   HEAD_DIMS   of attention; 64 and 128 by default
function(tilewright_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPERATIONS;TYPES;EMULATE;ORDERS;HEAD_DIMS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_OPERATIONS OR NOT arg_TYPES OR NOT arg_EMULATE)
    message(FATAL_ERROR "tilewright_add_kernels(<target> OPERATIONS ... TYPES ... EMULATE ... [ORDERS ...] [HEAD_DIMS ...]): "
                        "OPERATIONS, TYPES and EMULATE are required; unknown: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT TARGET tilewright::ops)
    message(FATAL_ERROR "tilewright_add_kernels needs tilewright::ops and the CPU emulator: set TILEWRIGHT_JIT and TILEWRIGHT_HOST to ON "
                        "before add_subdirectory, or find_package(tilewright COMPONENTS ops host)")
  endif()
  if(NOT arg_ORDERS)
    set(arg_ORDERS k-k)
  endif()
  if(NOT arg_HEAD_DIMS)
    set(arg_HEAD_DIMS 64 128)
  endif()
  set(type_f16 half_t)
  set(type_bf16 bfloat16_t)
  set(type_f32 float)
  foreach(arch IN LISTS arg_EMULATE)
    string(REPLACE "sm_" "sm" arch_type ${arch})
    foreach(type IN LISTS arg_TYPES)
      if(NOT DEFINED type_${type})
        message(FATAL_ERROR "tilewright_add_kernels: there is no type '${type}'; there are f16, bf16 and f32")
      endif()
      foreach(operation IN LISTS arg_OPERATIONS)
        set(common "tilewright::arch::${arch_type}, tilewright::${type_${type}}")
        set(calls "")
        if(operation STREQUAL "gemm")
          foreach(order IN LISTS arg_ORDERS)
            if(NOT order MATCHES "^(k|mn)-(k|mn)$")
              message(FATAL_ERROR "tilewright_add_kernels: '${order}' is no order; there are k-k, k-mn, mn-k and mn-mn")
            endif()
            list(APPEND calls "add_gemm<${common}, tilewright::operand_major::${CMAKE_MATCH_1}, tilewright::operand_major::${CMAKE_MATCH_2}>()")
          endforeach()
        elseif(operation STREQUAL "attention")
          foreach(dim IN LISTS arg_HEAD_DIMS)
            list(APPEND calls "add_attention<${common}, ${dim}>()")
          endforeach()
        elseif(operation MATCHES "^(rms_norm|layer_norm|softmax|cross_entropy|rotary)$")
          set(calls "add_${operation}<${common}>()")
        else()
          message(FATAL_ERROR "tilewright_add_kernels: no kernels of '${operation}' can be compiled in; there are gemm, attention, "
                              "rms_norm, layer_norm, softmax, cross_entropy and rotary")
        endif()
        set(number 0)
        foreach(call IN LISTS calls)
          math(EXPR number "${number} + 1")
          set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels/${operation}_${type}_${arch}_${number}.cpp)
          file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "// Made by tilewright_add_kernels.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/ops/add_kernels.hpp>
namespace {
[[maybe_unused]] const bool is_added = tilewright::ops::@call@;
}
")
          target_sources(${target} PRIVATE ${file})
          set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        endforeach()
      endforeach()
    endforeach()
  endforeach()
  target_link_libraries(${target} PRIVATE tilewright::ops tilewright::host)
endfunction()
