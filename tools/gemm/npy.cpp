// SPDX-License-Identifier: MIT
// Matrices in NumPy .npy files.
#include "npy.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <sys/stat.h>

namespace gemm_program {

static_assert(std::endian::native == std::endian::little, "gemm reads and writes little-endian .npy files as they are");

namespace {

void read_exactly(std::FILE* file, void* target, std::size_t bytes, const std::string& name) {
  if (std::fread(target, 1, bytes, file) != bytes) throw refusal("cannot read all of " + name);
}

bool holds(npy_scalar scalar, element type) {
  switch (scalar) {
    case npy_scalar::f16: return type == element::f16;
    case npy_scalar::bf16: return type == element::bf16;
    case npy_scalar::f32: return type == element::f32;
    case npy_scalar::byte: return is_fp8(type);
    case npy_scalar::i8: return type == element::i8;
    case npy_scalar::i32: break;
  }
  return type == element::i32;
}

/// Whether rounding changed a value by no more than rounding does.
bool keeps_range(element type, float value, std::uint32_t bits) {
  if (!std::isfinite(value)) return !is_integer(type);
  const double rounded = value_of(type, bits), largest = largest_of(type);
  if (!is_integer(type) && !is_fp8(type)) return std::isfinite(rounded);
  return std::abs(rounded) < largest || std::abs(double(value) - rounded) <= (is_integer(type) ? 0.5 : largest / 16);
}

}  // namespace

npy_reader::npy_reader(std::string name) : name_(std::move(name)) {
  struct stat status{};
  if (stat(name_.c_str(), &status) != 0) throw refusal("cannot read " + name_ + ": " + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw refusal("cannot read " + name_ + ": it is not a regular file");
  file_.reset(std::fopen(name_.c_str(), "rb"));
  if (!file_) throw refusal("cannot read " + name_ + ": " + std::strerror(errno));

  const std::int64_t file_bytes = status.st_size;
  std::string start(static_cast<std::size_t>(std::min<std::int64_t>(file_bytes, npy_header_limit + 12)), '\0');
  read_exactly(file_.get(), start.data(), start.size(), name_);
  header_ = parse_npy_header(start, file_bytes, name_);
}

matrix npy_reader::read(element type) {
  if (header_.scalar != npy_scalar::f32 && !holds(header_.scalar, type))
    throw refusal(name_ + " does not hold " + name_of(type));
  if (fseeko(file_.get(), static_cast<off_t>(header_.data_offset), SEEK_SET) != 0)
    throw refusal("cannot read " + name_ + ": " + std::strerror(errno));

  matrix result{
      .rows = header_.rows, .cols = header_.cols, .storage = header_.storage, .type = type, .batch = header_.batch};
  if (holds(header_.scalar, type)) {
    read_exactly(file_.get(), result.bytes.data(), result.bytes.size(), name_);
    return result;
  }
  const std::int64_t count = result.count();
  std::vector<float> chunk(static_cast<std::size_t>(std::min<std::int64_t>(count, 1 << 16)));
  for (std::int64_t begin = 0; begin < count; begin += std::int64_t(chunk.size())) {
    const std::int64_t here = std::min(std::int64_t(chunk.size()), count - begin);
    read_exactly(file_.get(), chunk.data(), static_cast<std::size_t>(here) * sizeof(float), name_);
    for (std::int64_t i = 0; i < here; ++i) {
      const float value = chunk[static_cast<std::size_t>(i)];
      const std::uint32_t bits = bits_of(type, double(value));
      if (!keeps_range(type, value, bits))
        throw refusal(name_ + " holds " + std::to_string(value) + ", which is too large for " + name_of(type));
      result.set_bits_at(begin + i, bits);
    }
  }
  return result;
}

void write_npy(program::output_file& file, const matrix& source) {
  const std::string header = make_npy_header(source.type, source.storage, source.rows, source.cols, source.batch);
  file.write(header.data(), header.size());
  const matrix dense = source.gap > 0 ? with_gap(source, 0, 0) : matrix{};
  const matrix& written = source.gap > 0 ? dense : source;
  file.write(written.bytes.data(), written.bytes.size());
  file.finish();
}

void write_npy(const std::string& name, const matrix& source) {
  program::output_file file(name);
  write_npy(file, source);
  file.commit();
}

}  // namespace gemm_program
