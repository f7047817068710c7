// SPDX-License-Identifier: MIT
// Matrices in NumPy .npy files.
#include "npy.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <sys/stat.h>

#include "atomic_file.hpp"

namespace gemm_example {

static_assert(std::endian::native == std::endian::little, "gemm reads and writes little-endian .npy files as they are");

namespace {

void read_exactly(std::FILE* file, void* target, std::size_t bytes, const std::string& name) {
  if (std::fread(target, 1, bytes, file) != bytes) throw refusal("cannot read all of " + name);
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
  if (header_.scalar != npy_scalar::f32 && (header_.scalar == npy_scalar::f16) != (type == element::f16))
    throw refusal(name_ + " does not hold " + name_of(type));
  if (fseeko(file_.get(), static_cast<off_t>(header_.data_offset), SEEK_SET) != 0)
    throw refusal("cannot read " + name_ + ": " + std::strerror(errno));

  matrix result{.rows = header_.rows, .cols = header_.cols, .storage = header_.storage, .elements = {}};
  result.elements.resize(static_cast<std::size_t>(header_.rows * header_.cols));
  if (header_.scalar != npy_scalar::f32) {
    read_exactly(file_.get(), result.elements.data(), result.elements.size() * sizeof(std::uint16_t), name_);
    return result;
  }
  std::vector<float> chunk(std::min<std::size_t>(result.elements.size(), 1 << 16));
  for (std::size_t begin = 0; begin < result.elements.size(); begin += chunk.size()) {
    const std::size_t count = std::min(chunk.size(), result.elements.size() - begin);
    read_exactly(file_.get(), chunk.data(), count * sizeof(float), name_);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t bits = bits_of(type, chunk[i]);
      if (std::isfinite(chunk[i]) && !std::isfinite(value_of(type, bits)))
        throw refusal(name_ + " holds " + std::to_string(chunk[i]) + ", which is too large for " + name_of(type));
      result.elements[begin + i] = bits;
    }
  }
  return result;
}

void write_npy(const std::string& name, const matrix& source, element type) {
  atomic_file file(name);
  const std::string header = make_npy_header(type, source.storage, source.rows, source.cols);
  file.write(header.data(), header.size());
  file.write(source.elements.data(), source.elements.size() * sizeof(std::uint16_t));
  file.commit();
}

}  // namespace gemm_example
