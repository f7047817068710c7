// SPDX-License-Identifier: MIT
// What a tuning file, as text, knows of a problem.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tilewright/launch/tuning/tuning_file.hpp>

namespace tilewright::jit {

/// The entries for a problem that this version of the library wrote, of all GPUs.
std::vector<tuning_file::entry> find_tunings(std::string_view text, const std::string& problem);

}  // namespace tilewright::jit
