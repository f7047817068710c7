// SPDX-License-Identifier: MIT
#include "program_archives.hpp"

#include <mutex>
#include <utility>

namespace tilewright::jit {
namespace {

struct archive_list {
  std::mutex mutex;
  std::vector<std::shared_ptr<const archive>> archives;
};
archive_list& all_archives() {
  static auto* const only = new archive_list;  // programs add before main and load kernels until they end
  return *only;
}

}  // namespace

void add_program_archive(std::string_view bytes) {
  auto added = std::make_shared<const archive>(bytes, "linked into the program");
  const std::lock_guard guard(all_archives().mutex);
  all_archives().archives.push_back(std::move(added));
}

std::vector<std::shared_ptr<const archive>> program_archives() {
  const std::lock_guard guard(all_archives().mutex);
  return all_archives().archives;
}

}  // namespace tilewright::jit
