// SPDX-License-Identifier: MIT
// Layouts, distributions and LDS analysis: everything that any C++20 compiler can compute with, without a GPU runtime.
#pragma once

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/fp8.hpp>
#include <tilewright/core/base/packed.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/descriptor/properties.hpp>
#include <tilewright/core/descriptor/tensor_coordinate.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/distribution/copy_distribution.hpp>
#include <tilewright/core/distribution/distribution_pattern.hpp>
#include <tilewright/core/distribution/embed_encoding.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/distribution/matrix_curves.hpp>
#include <tilewright/core/distribution/reduce_encoding.hpp>
#include <tilewright/core/distribution/slice_encoding.hpp>
#include <tilewright/core/distribution/space_filling_curve.hpp>
#include <tilewright/core/distribution/transpose_encoding.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/lds_access.hpp>
#include <tilewright/core/lds/lds_proof.hpp>
#include <tilewright/version.hpp>
