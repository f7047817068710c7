# SPDX-License-Identifier: MIT
# An overlay port of this tree: vcpkg install tilewright --overlay-ports=<tree>/packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES jit TILEWRIGHT_JIT)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${features}
    -DTILEWRIGHT_HOST=OFF
    -DTILEWRIGHT_BUILD_TESTS=OFF
    -DTILEWRIGHT_BUILD_EXAMPLES=OFF
    -DTILEWRIGHT_BUILD_TOOLS=OFF
    -DTILEWRIGHT_BUILD_DEVICE=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/tilewright)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
