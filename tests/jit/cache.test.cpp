// SPDX-License-Identifier: MIT
#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_compiler.hpp"
#include "file_cache.hpp"
#include "files.hpp"

namespace {

class Cache : public FakeCompiler {
 protected:
  /// Runs work() in a process of its own.
  template <class Work>
  static pid_t in_a_process(Work work) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    bool is_good = false;
    try {
      is_good = work();
    } catch (...) {
    }
    ::_exit(is_good ? 0 : 1);
  }
  static bool succeeds(pid_t child) {
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
};

TEST_F(Cache, KeepsKernelsForLaterRuns) {
  EXPECT_EQ(jit::compiler(options()).code_object(source()), object);
  EXPECT_EQ(jit::compiler(options()).code_object(source()), object);
  EXPECT_EQ(calls(), 1);
}

TEST_F(Cache, KeysHoldWhatCodeDependsOnAndNoMore) {
  (void)jit::compiler(options()).code_object(source());
  // The same compiler elsewhere, the cache elsewhere.
  fs::create_directories(folder / "moved");
  fs::copy(program, folder / "moved/cc");
  fs::rename(folder / "cache", folder / "moved/cache");
  jit::compiler_options moved = options();
  moved.compiler = folder / "moved/cc";
  moved.cache.directory = folder / "moved/cache";
  (void)jit::compiler(moved).code_object(source());
  EXPECT_EQ(calls(), 1);

  const auto compiles_again = [&](const jit::compiler_options& with, const jit::kernel_source& s) {
    const int before = calls();
    (void)jit::compiler(with).code_object(s);
    return calls() == before + 1;
  };
  jit::kernel_source changed = source();
  changed.code += " ";
  EXPECT_TRUE(compiles_again(moved, changed));
  changed = source();
  changed.problem = "scale_args{}";
  EXPECT_TRUE(compiles_again(moved, changed));
  jit::compiler_options other = moved;
  other.flags = {"-g"};
  EXPECT_TRUE(compiles_again(other, source()));
  other = moved;
  other.target = "gfx1201";
  EXPECT_TRUE(compiles_again(other, source()));
  other = moved;
  other.compiler = make_program("newer", "cp '" + (folder / "object").string() + "' \"$out\"", "fake clang version 23");
  EXPECT_TRUE(compiles_again(other, source()));
}

TEST_F(Cache, DamagedEntriesAreMadeAgain) {
  jit::compiler compiler(options());
  (void)compiler.code_object(source());
  const fs::path entry = only_entry();
  const std::string intact = read(entry);
  std::mt19937 random(7);
  int expected = 1;
  for (int i = 0; i < 40; ++i) {
    std::string damaged = intact;
    if (i % 4 == 0)
      damaged.resize(random() % damaged.size());
    else
      damaged[random() % damaged.size()] ^= char(1 << random() % 8);
    write(entry, damaged);
    EXPECT_EQ(compiler.code_object(source()), object) << i;
    EXPECT_EQ(calls(), ++expected) << i;
    EXPECT_EQ(read(entry), intact) << i;
  }
}

TEST_F(Cache, AnEntryUnderAnotherNameIsNotTaken) {
  jit::compiler compiler(options());
  (void)compiler.code_object(source("first"));
  const fs::path first = only_entry();
  const fs::path kept = folder / "kept";
  fs::rename(first, kept);
  (void)compiler.code_object(source("second"));
  fs::copy_file(kept, only_entry(), fs::copy_options::overwrite_existing);
  (void)compiler.code_object(source("second"));
  EXPECT_EQ(calls(), 3);
}

TEST_F(Cache, TwoHundredProcessesCompileOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 200; ++i)
    children.push_back(in_a_process([&] { return jit::compiler(options()).code_object(source()) == object; }));
  int good = 0;
  for (const pid_t child : children) good += succeeds(child);
  EXPECT_EQ(good, 200);
  EXPECT_EQ(calls(), 1);
}

TEST_F(Cache, AProcessThatIsKilledHoldsNobodyUp) {
  jit::compiler_options slow = options();
  slow.compiler = make_program("slow", "exec sleep 5");
  const pid_t child = in_a_process([&] { return jit::compiler(slow).code_object(source()).empty(); });
  while (calls() == 0) ::usleep(1000);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  write(folder / "cache/half.1-1.new", "half an ent");
  slow.compiler = make_program("slow", "cp '" + (folder / "object").string() + "' \"$out\"");
  EXPECT_EQ(jit::compiler(slow).code_object(source()), object);
}

TEST_F(Cache, ForgetsWhatWasNotUsedForTheLongestTime) {
  jit::compiler_options small = options();
  small.cache.max_bytes = 5 * (object.size() + 200);
  jit::compiler compiler(small);
  for (int i = 0; i < 12; ++i) {
    (void)compiler.code_object(source("kernel_" + std::to_string(i)));
    // Entries of one second look as old as each other.
    for (const fs::directory_entry& e : fs::directory_iterator(folder / "cache"))
      fs::last_write_time(e.path(), e.last_write_time() - std::chrono::seconds(100));
    if (i >= 1) (void)compiler.code_object(source("kernel_0"));  // in use
  }
  std::uintmax_t total = 0;
  for (const fs::directory_entry& e : fs::directory_iterator(folder / "cache")) total += e.file_size();
  EXPECT_LE(total, small.cache.max_bytes);
  const int before = calls();
  EXPECT_EQ(before, 12);
  (void)compiler.code_object(source("kernel_11"));
  (void)compiler.code_object(source("kernel_0"));
  EXPECT_EQ(calls(), before);
  (void)compiler.code_object(source("kernel_1"));
  EXPECT_EQ(calls(), before + 1);
}

TEST_F(Cache, ReadOnlyCachesAreAskedToo) {
  (void)jit::compiler(options()).code_object(source());
  const fs::file_time_type an_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(only_entry(), an_hour_ago);
  jit::compiler_options other = options();
  other.cache.read_only = {folder / "cache"};
  other.cache.directory = folder / "empty";
  EXPECT_EQ(jit::compiler(other).code_object(source()), object);
  EXPECT_EQ(calls(), 1);
  EXPECT_EQ(fs::last_write_time(only_entry()), an_hour_ago) << "nor are they changed";
}

TEST_F(Cache, FoldersThatOthersMayWriteToAreNotTrusted) {
  (void)jit::compiler(options()).code_object(source());
  jit::compiler_options reads = options();
  reads.cache = {.directory = folder / "mine", .read_only = {folder / "cache"}};
  int expected = 1;
  for (const fs::perms open : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(folder / "cache", open, fs::perm_options::add);
    jit::compiler own(options());
    for (int i = 0; i < 2; ++i) EXPECT_EQ(own.code_object(source()), object);
    EXPECT_EQ(calls(), expected += 2) << "neither read nor written";
    EXPECT_EQ(own.cache_trouble(), (folder / "cache").string() +
                                       " may be written by its group or by others (chmod go-w); kernels in it are not "
                                       "used");
    jit::compiler other(reads);
    EXPECT_EQ(other.code_object(source()), object);
    EXPECT_EQ(calls(), ++expected);
    EXPECT_EQ(other.cache_trouble(), own.cache_trouble());
    fs::permissions(folder / "cache", open, fs::perm_options::remove);
    fs::remove_all(folder / "mine");
  }
  EXPECT_EQ(jit::compiler(options()).code_object(source()), object);
  EXPECT_EQ(jit::compiler(reads).code_object(source()), object);
  EXPECT_EQ(calls(), expected) << "trusted again";
}

TEST_F(Cache, EntriesThatOthersMayWriteToAreMadeAgain) {
  (void)jit::compiler(options()).code_object(source());
  fs::permissions(only_entry(), fs::perms::group_write, fs::perm_options::add);
  const std::string entry = only_entry().string();
  jit::compiler compiler(options());
  EXPECT_EQ(compiler.code_object(source()), object);
  EXPECT_EQ(calls(), 2);
  EXPECT_TRUE(compiler.cache_trouble().starts_with(entry + " may be written")) << compiler.cache_trouble();
  jit::compiler later(options());
  EXPECT_EQ(later.code_object(source()), object);
  EXPECT_EQ(calls(), 2);
  EXPECT_EQ(later.cache_trouble(), "");
}

TEST_F(Cache, OwnFoldersAreTrustedWhateverTheUmask) {
  EXPECT_TRUE(succeeds(in_a_process([&] {
    ::umask(0);
    jit::compiler_options below = options();
    below.cache.directory = folder / "a/b/";
    bool is_good = true;
    for (int i = 0; i < 2; ++i) {
      jit::compiler compiler(below);
      is_good = is_good && compiler.code_object(source()) == object && compiler.cache_trouble().empty();
    }
    return is_good;
  })));
  EXPECT_EQ(calls(), 1);
}

TEST_F(Cache, OnlyRootAndTheUserAreTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of other users";
  (void)jit::compiler(options()).code_object(source());
  const fs::path entry = only_entry();
  // Another user reads root's cache.
  jit::file_cache({.directory = folder / "root's"}).store({}, "scale", "the code");
  fs::permissions(folder, fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
  EXPECT_TRUE(succeeds(in_a_process([&] {
    if (::setuid(12345) != 0) return false;
    const jit::file_cache cache({.directory = folder / "root's"});
    return cache.trouble().empty() && cache.find({}) == "the code";
  })));
  // Root reads what is another user's: first an entry, then the folder.
  for (const fs::path& path : {entry, folder / "cache"}) {
    const int before = calls();
    ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
    jit::compiler compiler(options());
    EXPECT_EQ(compiler.code_object(source()), object);
    EXPECT_EQ(calls(), before + 1);
    EXPECT_EQ(compiler.cache_trouble(), path.string() + " belongs to another user (12345); kernels in it are not used");
  }
}

TEST_F(Cache, WithoutAPlaceForItKernelsAreStillMade) {
  jit::compiler_options bad = options();
  bad.cache.directory = "/dev/null/cache";  // as without permission, which root always has
  jit::compiler compiler(bad);
  EXPECT_EQ(compiler.code_object(source()), object);
  EXPECT_NE(compiler.cache_trouble().find("/dev/null/cache"), std::string::npos) << compiler.cache_trouble();
}

TEST_F(Cache, WhatIsNotKeptIsToldUntilSomethingIs) {
  jit::compiler_options small = options();
  small.cache.max_bytes = object.size() + 100;
  jit::compiler compiler(small);
  write(folder / "object", object + std::string(200, 'x'));
  (void)compiler.code_object(source("large"));
  EXPECT_EQ(compiler.cache_trouble(), "large for gfx942 is larger than cache_options::max_bytes");
  write(folder / "object", object);
  (void)compiler.code_object(source("small"));
  EXPECT_EQ(compiler.cache_trouble(), "");
  EXPECT_TRUE(succeeds(in_a_process([&] {
    for (const char* name : {"TILEWRIGHT_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) ::unsetenv(name);
    small.cache.directory.clear();
    jit::compiler homeless(small);
    (void)homeless.code_object(source());
    return homeless.cache_trouble().find("set TILEWRIGHT_CACHE_DIR") != std::string::npos;
  })));
}

TEST_F(Cache, FlagsInTheEnvironmentMakeOtherKernels) {
  (void)jit::compiler(options()).code_object(source());
  EXPECT_TRUE(succeeds(in_a_process([&] {
    ::setenv("CCC_OVERRIDE_OPTIONS", "+-ffast-math", 1);
    return jit::compiler(options()).code_object(source()) == object;
  })));
  EXPECT_EQ(calls(), 2);
}

TEST_F(Cache, AFullDiskLeavesNothingBehind) {
  const fs::path cache = folder / "cache";
  EXPECT_TRUE(succeeds(in_a_process([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};  // bytes of a file
    ::setrlimit(RLIMIT_FSIZE, &limit);
    jit::file_cache full({.directory = cache});
    full.store({}, "scale", std::string(5000, 'x'));
    const bool says_so = full.trouble().find("cannot write") != std::string::npos;
    const std::string sentence = sentence_of([&] { (void)jit::compiler(options()).code_object(source()); });
    return says_so && !full.find({}) && sentence.starts_with("jit: cannot compile scale: cannot write");
  })));
  EXPECT_EQ(std::distance(fs::directory_iterator(cache), {}), 1);  // the lock of the compilation
}

}  // namespace
