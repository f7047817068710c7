// SPDX-License-Identifier: MIT
// The list of kernels that tilewright-pack compiles, from JSON.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/jit/gemm.hpp>
#include <tilewright/jit/kernel_source.hpp>

#include "sets.hpp"

namespace pack {

struct shapes {
  std::vector<std::string> targets;
  std::vector<tilewright::jit::gemm_problem> products;  // of the list "gemm", whose kernels are the first
  std::vector<tilewright::jit::kernel_request> kernels;
  std::vector<kernel_set> sets;
  std::map<std::string, std::string> texts;  // names and contents of files that travel with the kernels
};

/// Adds the kernels that jit::tuned() will ask for, by the text "tuning". For other targets than Hopper's they are
/// those that are there already.
void add_tuned(shapes& all);

/// The kernels of a list on a target; those of problems first.
std::vector<tilewright::jit::kernel_source> sources_of(const shapes& all, const std::string& target);

/// What a file or a pipe holds. Throws tilewright::jit::error if it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Files that the text names are looked for in `folder`. Throws tilewright::jit::error with a sentence that says which
/// entry is wrong.
shapes read_shapes(std::string_view text, const std::filesystem::path& folder);

}  // namespace pack
