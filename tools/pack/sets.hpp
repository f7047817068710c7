// SPDX-License-Identifier: MIT
// Sets of kernels: all that calls of an operation need on a target, whatever their lengths.
#pragma once

#include <string>
#include <vector>

#include <tilewright/jit/element.hpp>
#include <tilewright/jit/kernel_source.hpp>

#include "reader.hpp"

namespace pack {

/// An operation of tilewright::ops and the types for which kernels are wanted.
struct kernel_set {
  std::string operation;
  tilewright::jit::element type = tilewright::jit::element::f16;
  tilewright::jit::element result = tilewright::jit::element::f16;
  std::vector<std::string> orders = {"k-k"};           // of GEMMs: the contiguous dimension of A, of B: k or mn
  std::vector<std::string> head_dims = {"64", "128"};  // of attention; "192-128": of Q and K, and of V
  std::vector<int> lengths = {};                       // of rows, which follow each other without gaps; none: all
  std::vector<int> experts = {8, 16, 32, 64, 128, 256};
  std::vector<std::string> expressions = {};  // of elementwise
  std::vector<std::string> formats = {"mxfp4", "nvfp4", "mxfp8", "int4_128_bf16"};  // of narrow_gemm's weights
};

/// An entry of the list "sets".
kernel_set read_set(reader& r);

/// The kernels on a target, each once. Throws jit::error if there are none.
std::vector<tilewright::jit::kernel_source> kernels_of(const kernel_set& set, const std::string& target);

}  // namespace pack
