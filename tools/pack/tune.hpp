// SPDX-License-Identifier: MIT
// Tiles by time, for the GEMMs of a list.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tilewright/jit/compiler.hpp>

#include "shapes.hpp"

namespace pack {

/// Finds the fastest tile of each of the list's GEMMs on the compiler's GPU, remembers it in a tuning file, adds that
/// file to the list's texts and the kernels to its kernels. Returns the choices. Throws tilewright::jit::error if the
/// list has no GEMM, the GPU is none for which tiles are timed, or the file cannot be written.
std::vector<std::string> tune(shapes& all, const std::filesystem::path& file, tilewright::jit::compiler& by);

}  // namespace pack
