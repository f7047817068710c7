# SPDX-License-Identifier: MIT
# tilewright_add_kernels(<target> OPERATIONS <operation>... TYPES <type>... [GPUS <gpu>...] [EMULATE <gpu>...] [options])
#   compiles kernels into a program (or its libraries), where the calls of tilewright::ops find them without a compiler.
#   OPERATIONS   calls of tilewright::ops: gemm attention rms_norm ...
#   TYPES        f16 bf16 f32 fp8 bf8 i8; with a dash and the type of results where it is another one: f16-f32, f16-fp8
#   GPUS         sm_80 sm_90a, and AMD targets such as gfx942: kernels for these, for all lengths, which tilewright-pack
#                compiles when the program is built. They need NVRTC or nvcc, or clang++.
#   EMULATE      sm_80 sm_90, and AMD targets: kernels for the CPU emulator, as code of the program, of
#                gemm attention rms_norm layer_norm softmax cross_entropy rotary
#   ORDERS       of GEMMs: the contiguous dimension of A, then of B, such as k-k (the default) and k-mn
#   HEAD_DIMS    of attention; 64 and 128 by default; 192-128: of Q and K, and of V
#   LENGTHS      of rows of norms, softmax and others, all by default: the fewer, the sooner they are compiled
#   EXPERTS      numbers of experts; 8 16 32 64 128 256 by default
#   EXPRESSIONS  of elementwise: "x * x + 1"
#   FORMATS      of narrow_gemm's weights: mxfp4 nvfp4 mxfp8 int4_128_bf16 by default; int8, e4m3, int4_zero_64_f16 ...
#   C            the program calls tilewright.h and links tilewright::c
function(tilewright_add_kernels target)
  set(lists OPERATIONS TYPES GPUS EMULATE ORDERS HEAD_DIMS LENGTHS EXPERTS EXPRESSIONS FORMATS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "C" "" "${lists}")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_OPERATIONS OR NOT arg_TYPES OR NOT (arg_EMULATE OR arg_GPUS))
    message(FATAL_ERROR "tilewright_add_kernels(<target> OPERATIONS ... TYPES ... GPUS ... EMULATE ...): OPERATIONS, TYPES and "
                        "one of GPUS and EMULATE are required; unknown: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT TARGET tilewright::ops)
    message(FATAL_ERROR "tilewright_add_kernels needs tilewright::ops and the CPU emulator: set TILEWRIGHT_JIT and TILEWRIGHT_HOST to ON "
                        "before add_subdirectory, or find_package(tilewright COMPONENTS ops host)")
  endif()
  if(NOT arg_ORDERS)
    set(arg_ORDERS k-k)
  endif()
  foreach(order IN LISTS arg_ORDERS)
    if(NOT order MATCHES "^(k|mn)-(k|mn)$")
      message(FATAL_ERROR "tilewright_add_kernels: '${order}' is no order; there are k-k, k-mn, mn-k and mn-mn")
    endif()
  endforeach()
  if(NOT arg_HEAD_DIMS)
    set(arg_HEAD_DIMS 64 128)
  endif()
  if(arg_GPUS)
    _tilewright_link_archives()
  endif()
  foreach(arch IN LISTS arg_EMULATE)
    _tilewright_add_emulated()
  endforeach()
  if(arg_C)
    target_link_libraries(${target} PRIVATE tilewright::c)
  else()
    target_link_libraries(${target} PRIVATE tilewright::ops)
  endif()
endfunction()

# A list of CMake as one of JSON; `quote` comes before and after each item.
function(_tilewright_json variable quote)
  list(TRANSFORM ARGN REPLACE "([\"\\\\])" "\\\\\\1")
  list(TRANSFORM ARGN REPLACE "(.+)" "${quote}\\1${quote}")
  list(JOIN ARGN ", " text)
  set(${variable} "[${text}]" PARENT_SCOPE)
endfunction()

# An archive for each of GPUS, made when the program is built, and a source that holds it.
macro(_tilewright_link_archives)
  find_program(TILEWRIGHT_PACK_PROGRAM tilewright-pack HINTS ${TILEWRIGHT_BIN_DIR})
  mark_as_advanced(TILEWRIGHT_PACK_PROGRAM)
  set(pack ${TILEWRIGHT_PACK_PROGRAM})
  if(TARGET tilewright-pack)
    set(pack $<TARGET_FILE:tilewright-pack>)
  elseif(NOT pack)
    message(FATAL_ERROR "tilewright_add_kernels: the program tilewright-pack, which compiles kernels for GPUS, was not found; "
                        "install Tilewright's component tools, or set TILEWRIGHT_PACK_PROGRAM")
  endif()
  _tilewright_json(orders "\"" ${arg_ORDERS})
  _tilewright_json(head_dims "\"" ${arg_HEAD_DIMS})
  _tilewright_json(expressions "\"" ${arg_EXPRESSIONS})
  set(members "\"orders\": ${orders}, \"head_dims\": ${head_dims}, \"expressions\": ${expressions}")
  if(arg_FORMATS)
    _tilewright_json(formats "\"" ${arg_FORMATS})
    string(APPEND members ", \"formats\": ${formats}")
  endif()
  foreach(numbers IN ITEMS LENGTHS EXPERTS)
    if(arg_${numbers})
      _tilewright_json(values "" ${arg_${numbers}})
      string(TOLOWER ${numbers} name)
      string(APPEND members ", \"${name}\": ${values}")
    endif()
  endforeach()
  set(sets "")
  foreach(type IN LISTS arg_TYPES)
    string(REGEX REPLACE "^([a-z0-9]+)-([a-z0-9]+)$" "\\1\", \"result\": \"\\2" types ${type})
    foreach(operation IN LISTS arg_OPERATIONS)
      list(APPEND sets "{\"operation\": \"${operation}\", \"type\": \"${types}\", ${members}}")
    endforeach()
  endforeach()
  list(JOIN sets ",\n  " sets)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels)
  get_target_property(number ${target} TILEWRIGHT_KERNEL_LISTS)  # of calls for this target
  if(NOT number)
    set(number 0)
  endif()
  math(EXPR number "${number} + 1")
  set_target_properties(${target} PROPERTIES TILEWRIGHT_KERNEL_LISTS ${number})
  set(list ${folder}/kernels_${number}.json)
  file(CONFIGURE OUTPUT ${list} @ONLY CONTENT "{\"sets\": [\n  @sets@]}\n")
  foreach(gpu IN LISTS arg_GPUS)
    _tilewright_link_archive()
  endforeach()
endmacro()

macro(_tilewright_link_archive)
  set(archive ${folder}/${gpu}_${number}.twa)
  add_custom_command(
    OUTPUT ${archive}
    COMMAND ${CMAKE_COMMAND} -E env TILEWRIGHT_CACHE_DIR=${CMAKE_BINARY_DIR}/tilewright_cache
            ${pack} ${list} --target ${gpu} -o ${archive}
    DEPENDS ${list} ${pack}
    COMMENT "Compiling kernels for ${gpu}"
    VERBATIM
  )
  string(MAKE_C_IDENTIFIER tilewright_${target}_${gpu}_${number} symbol)
  set(declaration "#include <tilewright/jit/archive.hpp>\n")
  set(addition "tilewright::jit::add_program_archive({${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})})")
  set(initialiser "namespace {\n[[maybe_unused]] const bool is_added = (${addition}, true);\n}\n")
  set(language cpp)
  if(arg_C)
    set(declaration "#include <tilewright.h>\n")
    set(addition "(void)tilewright_add_archive(${symbol}, (size_t)(${symbol}_end - ${symbol}))")
    set(initialiser "__attribute__((constructor)) static void add_archive(void) { ${addition}; }\n")
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT CXX IN_LIST languages)
      set(language c)
    endif()
  endif()
  file(CONFIGURE OUTPUT ${folder}/${gpu}_${number}.${language} @ONLY CONTENT "/* Made by tilewright_add_kernels. */
@declaration@
#ifdef __cplusplus
extern \"C\" {
#endif
extern const char @symbol@[], @symbol@_end[];
#ifdef __cplusplus
}
#endif
__asm__(\".pushsection .rodata\\n.balign 16\\n.globl @symbol@\\n.hidden @symbol@\\n@symbol@:\\n.incbin \\\"@archive@\\\"\\n\"
        \".globl @symbol@_end\\n.hidden @symbol@_end\\n@symbol@_end:\\n.byte 0\\n.popsection\\n\");
@initialiser@")
  target_sources(${target} PRIVATE ${folder}/${gpu}_${number}.${language})
  set_source_files_properties(${folder}/${gpu}_${number}.${language} PROPERTIES OBJECT_DEPENDS ${archive} SKIP_UNITY_BUILD_INCLUSION ON)
endmacro()

# Kernels for the CPU emulator, a source for each.
macro(_tilewright_add_emulated)
  set(type_f16 half_t)
  set(type_bf16 bfloat16_t)
  set(type_f32 float)
  string(REPLACE "sm_" "sm" arch_type ${arch})
  foreach(type IN LISTS arg_TYPES)
    if(NOT DEFINED type_${type})
      message(FATAL_ERROR "tilewright_add_kernels: there is no type '${type}' for EMULATE; there are f16, bf16 and f32")
    endif()
    foreach(operation IN LISTS arg_OPERATIONS)
      set(common "tilewright::arch::${arch_type}, tilewright::${type_${type}}")
      set(calls "")
      if(operation STREQUAL "gemm")
        foreach(order IN LISTS arg_ORDERS)
          string(REPLACE "-" ", tilewright::operand_major::" majors ${order})
          list(APPEND calls "add_gemm<${common}, tilewright::operand_major::${majors}>()")
        endforeach()
      elseif(operation STREQUAL "attention")
        foreach(dim IN LISTS arg_HEAD_DIMS)
          list(APPEND calls "add_attention<${common}, ${dim}>()")
        endforeach()
      elseif(operation MATCHES "^(rms_norm|layer_norm|softmax|cross_entropy|rotary)$")
        set(calls "add_${operation}<${common}>()")
      else()
        message(FATAL_ERROR "tilewright_add_kernels: no kernels of '${operation}' can be compiled in for EMULATE; there are gemm, "
                            "attention, rms_norm, layer_norm, softmax, cross_entropy and rotary; programs with other calls run on the "
                            "emulated AMD GPU (docs/ops.md, Without a GPU)")
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
  target_link_libraries(${target} PRIVATE tilewright::host)
endmacro()
