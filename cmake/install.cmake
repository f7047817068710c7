# SPDX-License-Identifier: MIT
# Install rules, and the files that find_package(tilewright CONFIG) reads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# The package can be moved: what it installs names no path. `cmake --install build --component headers` (or host, jit,
# single_header, tools) installs a part. What was not built is named and left out: the headers need no build.
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/tilewright)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME headers)

function(tilewright_name_if_missing component)
  foreach(file IN LISTS ARGN)
    install(CODE "
      if(NOT EXISTS \"${file}\")
        message(STATUS \"Not built, left out: ${file}\")
      endif()" COMPONENT ${component})
  endforeach()
endfunction()

# An export for each component of find_package: the headers alone stay free of dependencies, whatever the components `host` and `jit` need.
install(TARGETS tilewright EXPORT tilewright-targets FILE_SET HEADERS)
install(FILES ${PROJECT_SOURCE_DIR}/include/tilewright/tilewright.cppm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilewright)
install(TARGETS tilewright_host EXPORT tilewright-host-targets)
if(TARGET tilewright_jit)
  install(TARGETS tilewright_jit EXPORT tilewright-jit-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT jit OPTIONAL
    FILE_SET HEADERS COMPONENT jit)
  tilewright_name_if_missing(jit $<TARGET_FILE:tilewright_jit>)
  install(EXPORT tilewright-jit-targets NAMESPACE tilewright:: DESTINATION ${package_dir} COMPONENT jit)
endif()
if(TARGET tilewright_ops)
  install(TARGETS tilewright_ops tilewright_c EXPORT tilewright-ops-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ops OPTIONAL LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ops OPTIONAL
    FILE_SET HEADERS COMPONENT ops)
  tilewright_name_if_missing(ops $<TARGET_FILE:tilewright_ops> $<TARGET_FILE:tilewright_c>)
  install(EXPORT tilewright-ops-targets NAMESPACE tilewright:: DESTINATION ${package_dir} COMPONENT ops)
endif()
if(TARGET tilewright_single_header)
  install(FILES ${single_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT single_header OPTIONAL)
  tilewright_name_if_missing(single_header ${single_headers})
endif()
install(EXPORT tilewright-targets NAMESPACE tilewright:: DESTINATION ${package_dir})
install(EXPORT tilewright-host-targets NAMESPACE tilewright:: DESTINATION ${package_dir})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/tilewright-config.cmake.in ${PROJECT_BINARY_DIR}/package/tilewright-config.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR
  NO_SET_AND_CHECK_MACRO
)
configure_file(${CMAKE_CURRENT_LIST_DIR}/tilewright-config-version.cmake.in ${PROJECT_BINARY_DIR}/package/tilewright-config-version.cmake @ONLY)
install(
  FILES ${PROJECT_BINARY_DIR}/package/tilewright-config.cmake
        ${PROJECT_BINARY_DIR}/package/tilewright-config-version.cmake
        ${CMAKE_CURRENT_LIST_DIR}/tilewright-device.cmake
        ${CMAKE_CURRENT_LIST_DIR}/tilewright-kernels.cmake
  DESTINATION ${package_dir}
)
# For other build systems: pkg-config --cflags --libs tilewright (or tilewright-host, tilewright-jit).
foreach(module IN ITEMS tilewright tilewright-host tilewright-jit tilewright-ops tilewright-c)
  set(pc_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)
  set(component headers)
  if(module MATCHES "^tilewright-(jit|ops|c)$")
    if(NOT TARGET tilewright_${CMAKE_MATCH_1})
      continue()
    endif()
    set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    string(REPLACE "c" "ops" component "${CMAKE_MATCH_1}")  # the C library belongs to the component ops
  endif()
  file(RELATIVE_PATH up /${pc_dir} /)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${module}.pc.in ${PROJECT_BINARY_DIR}/package/${module}.pc @ONLY)
  if(module MATCHES "^tilewright-(jit|ops|c)$")  # with the library that it names
    install(CODE "
      if(EXISTS \"$<TARGET_FILE:tilewright_${CMAKE_MATCH_1}>\")
        file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${pc_dir}\" TYPE FILE FILES \"${PROJECT_BINARY_DIR}/package/${module}.pc\")
      endif()" COMPONENT ${component})
  else()
    install(FILES ${PROJECT_BINARY_DIR}/package/${module}.pc DESTINATION ${pc_dir} COMPONENT ${component})
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/tilewright)

# A program, and its manual page and completion scripts, which it makes itself.
function(tilewright_install_program program)
  install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
  tilewright_name_if_missing(tools $<TARGET_FILE:${program}>)
  set(folder ${PROJECT_BINARY_DIR}/program_texts)
  set(quoted "\"$<TARGET_FILE:${program}>\"")
  install(CODE "
    file(MAKE_DIRECTORY \"${folder}\")
    foreach(text IN ITEMS \"man|${program}.1\" \"completion=bash|${program}\" \"completion=zsh|_${program}\" \"completion=fish|${program}.fish\")
      string(REPLACE \"|\" \";\" text \"\${text}\")
      list(GET text 0 option)
      list(GET text 1 name)
      if(EXISTS ${quoted})
        execute_process(COMMAND ${quoted} --\${option} OUTPUT_FILE \"${folder}/\${name}\" COMMAND_ERROR_IS_FATAL ANY)
      else()
        file(REMOVE \"${folder}/\${name}\")  # of an earlier build
      endif()
    endforeach()")
  install(FILES ${folder}/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
  install(FILES ${folder}/${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
  install(FILES ${folder}/_${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
  install(FILES ${folder}/${program}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
endfunction()
if(TILEWRIGHT_BUILD_TOOLS)
  set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME tools)
  foreach(program IN ITEMS tilewright-layout tilewright-pack gemm attention)
    if(TARGET ${program})
      tilewright_install_program(${program})
    endif()
  endforeach()
  # tilewright-check finds its libraries in this folder. It is built on request: cmake --build build --target tilewright-check.
  if(TARGET tilewright-check)
    install(PROGRAMS $<TARGET_FILE:tilewright-check> DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT check OPTIONAL)
    install(FILES $<TARGET_FILE:tilewright_check_runtime> DESTINATION ${CMAKE_INSTALL_LIBDIR}/tilewright/check COMPONENT check OPTIONAL)
    foreach(version IN ITEMS 5 6 7)
      install(FILES $<TARGET_SONAME_FILE:tilewright_check_amdhip64_${version}>
                    $<TARGET_SONAME_FILE:tilewright_check_hiprtc_${version}>
              DESTINATION ${CMAKE_INSTALL_LIBDIR}/tilewright/check/names/${version} COMPONENT check OPTIONAL)
    endforeach()
    # cpack -G DEB: a package with this component alone. llvm has the disassembler and the source lines.
    set(CPACK_COMPONENTS_ALL check)
    set(CPACK_DEB_COMPONENT_INSTALL ON)
    set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
    set(CPACK_PACKAGE_CONTACT "Tilewright")
    set(CPACK_DEBIAN_CHECK_PACKAGE_NAME tilewright-check)
    set(CPACK_DEBIAN_CHECK_FILE_NAME DEB-DEFAULT)
    set(CPACK_DEBIAN_CHECK_PACKAGE_SECTION devel)
    set(CPACK_DEBIAN_CHECK_PACKAGE_DEPENDS "libc6, libstdc++6, llvm-22 | llvm")
    set(CPACK_DEBIAN_CHECK_PACKAGE_SUGGESTS "clang-22 | clang, libzstd1, zlib1g")
    set(CPACK_DEBIAN_CHECK_DESCRIPTION "finds mistakes of HIP kernels without a GPU")
    set(CPACK_COMPONENT_CHECK_DESCRIPTION "finds mistakes of HIP kernels without a GPU")
    set(CPACK_STRIP_FILES ON)
    include(CPack)
  endif()
  # The program gemm loads the kernels of a target from this folder.
  if(TARGET gemm)
    file(RELATIVE_PATH modules ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/tilewright)
    set_target_properties(gemm PROPERTIES INSTALL_RPATH "\$ORIGIN/${modules}")
  endif()
  tilewright_known_archs(amd_archs amd)
  foreach(target IN LISTS amd_archs ITEMS sm_80 sm_90)
    if(TARGET gemm_${target})
      install(TARGETS gemm_${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tilewright OPTIONAL)
    endif()
  endforeach()
endif()
