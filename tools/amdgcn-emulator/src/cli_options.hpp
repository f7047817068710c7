// SPDX-License-Identifier: MIT
// The command line of amdgcn-run.
#pragma once

#include <amdgcn_emulator.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../program/refusal.hpp"

namespace amdgcn_run {

using program::refusal;

struct buffer {
  std::vector<std::uint8_t> data;
  std::string write_to;  // a file, or empty
};

struct command_line {
  std::string file, kernel;
  emu::dim3 grid, block{64, 1, 1};
  emu::options options;
  emu::kernarg args;
  bool list = false, have_block = false;
  std::size_t lds = 0;
  std::vector<std::unique_ptr<buffer>> buffers;
  std::optional<std::string> text;  // this was asked for, and nothing else
};

/// Throws refusal.
command_line read_command_line(int argc, const char* const* argv);

}  // namespace amdgcn_run
