// SPDX-License-Identifier: MIT
// The version of this library. CMakeLists.txt reads the three numbers from here.
#pragma once

#define TILEWRIGHT_VERSION_MAJOR 0
#define TILEWRIGHT_VERSION_MINOR 2
#define TILEWRIGHT_VERSION_PATCH 0

/// One number to compare with in #if: 10000 * major + 100 * minor + patch.
#define TILEWRIGHT_VERSION \
  (10000 * TILEWRIGHT_VERSION_MAJOR + 100 * TILEWRIGHT_VERSION_MINOR + TILEWRIGHT_VERSION_PATCH)
