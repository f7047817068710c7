// SPDX-License-Identifier: MIT
// Module tilewright: layouts, distributions, LDS analysis and the choice of layouts, for programs that compute with
// them. Kernels for GPUs include headers. Entities are those of the headers, so that a program may use both.
module;
#include <initializer_list>

export module tilewright;

export extern "C++" {
#include <tilewright/core.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/layout_solver.hpp>
}
