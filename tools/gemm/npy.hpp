// SPDX-License-Identifier: MIT
// Matrices in NumPy .npy files.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "../program/output_file.hpp"
#include "matrix.hpp"
#include "npy_header.hpp"

namespace gemm_program {

/// An open .npy file whose header has been read and checked; the elements are read on demand.
/// Both functions throw refusal with one sentence, and allocate no more than the file holds.
class npy_reader {
 public:
  explicit npy_reader(std::string name);

  const std::string& name() const { return name_; }
  const npy_header& header() const { return header_; }

  /// The matrices in elements of `type`: float32 is rounded and must stay finite where it was; other elements must be
  /// of that type, where bytes ('|V1', '|u1') are any 8-bit floating-point type.
  matrix read(element type);

 private:
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string name_;
  std::unique_ptr<std::FILE, closer> file_;
  npy_header header_;
};

/// Writes all of the file or, when it throws refusal, nothing.
void write_npy(const std::string& name, const matrix& source);
/// Leaves commit() to the caller; everything is on the disk.
void write_npy(program::output_file& file, const matrix& source);

}  // namespace gemm_program
