// SPDX-License-Identifier: MIT
// A folder for the files of one test, and what the tests of the gemm program do with files.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include <gtest/gtest.h>

#include <stdlib.h>

namespace gemm_program {

/// Empty in the beginning, removed in the end.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = testing::TempDir() + "gemm-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::ptrdiff_t file_count() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path path_;
};

inline void write_bytes(const std::string& name, std::string_view bytes) {
  std::ofstream(name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string read_bytes(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A .npy file, valid if the arguments are. version 1 has a two-byte header length, 2 and 3 a four-byte one.
inline std::string npy_bytes(const std::string& dictionary, std::string_view data, int version = 1) {
  std::string header = dictionary + "\n";
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> 8 * i & 0xff);
  return bytes + header + std::string(data);
}

/// The sentence with which an action is refused; empty if it is not.
template <class Exception, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace gemm_program
