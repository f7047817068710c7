// SPDX-License-Identifier: MIT
// A compiler that costs nothing: a shell script that copies a prepared code object and counts how often it was called.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <tilewright/jit/compiler.hpp>

#include "fake_object.hpp"

namespace jit = tilewright::jit;
namespace fs = std::filesystem;

/// A folder of its own for each test, with the compiler in it and a cache.
class FakeCompiler : public testing::Test {
 protected:
  void SetUp() override {
    folder =
        fs::temp_directory_path() / ("tilewright-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    fs::create_directories(folder);
    object = make_object(some_facts(), "the code");
    write(folder / "object", object);
    program = make_program("cc", "cp '" + (folder / "object").string() + "' \"$out\"");
  }
  void TearDown() override { fs::remove_all(folder); }

  static void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  static std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  /// `work` is a command that makes $out.
  std::string make_program(const std::string& name, const std::string& work,
                           const std::string& version = "fake clang version 22.1") {
    const fs::path path = folder / name;
    write(path, "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '" + version + "'; exit; fi\n" +
                    "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\necho once >> '" +
                    (folder / "calls").string() + "'\n" + work + "\n");
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  int calls() const {
    const std::string text = read(folder / "calls");
    return int(std::count(text.begin(), text.end(), '\n'));
  }
  jit::compiler_options options() const {
    return {.target = "gfx942", .compiler = program, .cache = {.directory = folder / "cache"}};
  }
  fs::path only_entry() const {
    for (const fs::directory_entry& e : fs::directory_iterator(folder / "cache"))
      if (e.path().extension() == ".twk") return e.path();
    return {};
  }
  static jit::kernel_source source(const std::string& name = "scale") {
    return {.name = name, .code = "struct scale {};", .kernel = "scale"};
  }
  /// The sentence that work() fails with; empty if it succeeds.
  template <class Work>
  static std::string sentence_of(Work work) {
    try {
      work();
    } catch (const jit::error& e) {
      return e.what();
    }
    return {};
  }

  fs::path folder;
  std::string object, program;
  static inline int count = 0;
};
