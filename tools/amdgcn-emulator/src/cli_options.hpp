// SPDX-License-Identifier: MIT
// The command line of amdgcn-run.
#pragma once

#include <amdgcn_emulator.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace amdgcn_run {

struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct buffer {
  std::vector<std::uint8_t> data;
  std::string write_to;
};

struct command_line {
  std::string file, kernel;
  emu::dim3 grid, block{64, 1, 1};
  emu::options options;
  emu::kernarg args;
  bool list = false, have_block = false;
  std::size_t lds = 0;
  std::vector<std::unique_ptr<buffer>> buffers;
};

extern const char usage[];

/// Throws bad_input.
command_line read_command_line(int argc, char** argv);

}  // namespace amdgcn_run
