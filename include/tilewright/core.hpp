// SPDX-License-Identifier: MIT
// Layouts, distributions and LDS analysis: everything that any C++20 compiler can compute with, without a GPU runtime.
#pragma once

#include <tilewright/arch/arch.hpp>
#include <tilewright/descriptor/properties.hpp>
#include <tilewright/descriptor/tensor_coordinate.hpp>
#include <tilewright/descriptor/transform_descriptor.hpp>
#include <tilewright/distribution/copy_distribution.hpp>
#include <tilewright/distribution/distributed_span.hpp>
#include <tilewright/distribution/distribution_pattern.hpp>
#include <tilewright/distribution/embed_encoding.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/distribution/matrix_curves.hpp>
#include <tilewright/distribution/reduce_encoding.hpp>
#include <tilewright/distribution/slice_encoding.hpp>
#include <tilewright/distribution/space_filling_curve.hpp>
#include <tilewright/distribution/transpose_encoding.hpp>
#include <tilewright/lds/layout_presets.hpp>
#include <tilewright/lds/lds_access.hpp>
#include <tilewright/lds/lds_proof.hpp>
#include <tilewright/numeric/stochastic.hpp>
#include <tilewright/version.hpp>
