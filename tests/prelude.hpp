// SPDX-License-Identifier: MIT
// What most tests include, precompiled with clang: see CMakeLists.txt.
#include <tilewright/core.hpp>
#include <tilewright/kernels/gemm.hpp>
#include <tilewright/tilewright.hpp>

#if __has_include(<boost/context/fiber.hpp>)
#include <tilewright/machine/emulator/launch.hpp>
#endif

#include <gtest/gtest.h>
