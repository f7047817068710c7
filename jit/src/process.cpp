// SPDX-License-Identifier: MIT
#include "process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace tilewright::jit {

bool is_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  return false;
}

command_result run_command(const std::vector<std::string>& words) {
  command_result result;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    result.output = std::strerror(errno);
    return result;
  }
  std::vector<char*> arguments, environment;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  for (char** v = environ; *v != nullptr; ++v)
    if (!std::string_view(*v).starts_with("LC_ALL=")) environment.push_back(*v);
  std::string english = "LC_ALL=C";
  environment.push_back(english.data());
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    result.output = std::strerror(failed);
    return result;
  }
  result.started = true;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    result.output.append(buffer, std::size_t(got));
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

unsigned cpus_of_quota(const std::string& quota_and_period) {
  long long quota = 0, period = 0;
  std::istringstream(quota_and_period) >> quota >> period;  // "max", or -1: no quota
  return quota > 0 && period > 0 ? unsigned((quota + period - 1) / period) : 0;
}

unsigned usable_cpus() {
  const auto read = [](const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  const std::string old = "/sys/fs/cgroup/cpu/cpu.cfs_";  // before version 2
  unsigned cpus = std::max(1u, std::thread::hardware_concurrency());
  for (const std::string& quota :
       {read("/sys/fs/cgroup/cpu.max"), read(old + "quota_us") + " " + read(old + "period_us")})
    if (const unsigned paid = cpus_of_quota(quota)) cpus = std::min(cpus, paid);
  return cpus;
}

}  // namespace tilewright::jit
