# SPDX-License-Identifier: MIT
# Install rules, and the files that find_package(tilewright CONFIG) reads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/tilewright)

# An export for each component: the headers alone stay free of dependencies, whatever the components `host` and `jit` need.
install(TARGETS tilewright EXPORT tilewright-targets FILE_SET HEADERS)
install(FILES ${PROJECT_SOURCE_DIR}/include/tilewright/tilewright.cppm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilewright)
install(TARGETS tilewright_host EXPORT tilewright-host-targets)
if(TARGET tilewright_jit)
  install(TARGETS tilewright_jit EXPORT tilewright-jit-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET HEADERS)
  install(EXPORT tilewright-jit-targets NAMESPACE tilewright:: DESTINATION ${package_dir})
endif()
install(EXPORT tilewright-targets NAMESPACE tilewright:: DESTINATION ${package_dir})
install(EXPORT tilewright-host-targets NAMESPACE tilewright:: DESTINATION ${package_dir})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/tilewright-config.cmake.in ${PROJECT_BINARY_DIR}/package/tilewright-config.cmake
  INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO
)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/tilewright-config-version.cmake
  COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT
)
install(
  FILES ${PROJECT_BINARY_DIR}/package/tilewright-config.cmake
        ${PROJECT_BINARY_DIR}/package/tilewright-config-version.cmake
        ${CMAKE_CURRENT_LIST_DIR}/tilewright-device.cmake
  DESTINATION ${package_dir}
)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/tilewright)

if(TILEWRIGHT_BUILD_TOOLS)
  install(TARGETS tilewright-layout RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET tilewright-pack)
    install(TARGETS tilewright-pack RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()
