// SPDX-License-Identifier: MIT
// A compiler that costs nothing: a shell script that copies a prepared code object and counts how often it was called.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <elf.h>

#include <tilewright/jit/compiler.hpp>

namespace jit = tilewright::jit;
namespace fs = std::filesystem;

/// An ELF file with tilewright_facts and, so that objects differ, some text.
inline std::string make_object(const tilewright::kernel_facts& facts, const std::string& text = {}) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  Elf64_Shdr sections[4] = {};
  Elf64_Sym symbol{};
  const std::string names = std::string("\0tilewright_facts", 18);
  const std::size_t names_at = sizeof header, symbol_at = names_at + names.size(), facts_at = symbol_at + sizeof symbol;
  header.e_shoff = facts_at + sizeof facts;
  header.e_shnum = 4;
  const auto section = [](unsigned type, std::size_t at, std::size_t bytes) {
    Elf64_Shdr s{};
    s.sh_type = type;
    s.sh_offset = at;
    s.sh_size = bytes;
    return s;
  };
  sections[1] = section(SHT_SYMTAB, symbol_at, sizeof symbol);
  sections[1].sh_link = 2;
  sections[2] = section(SHT_STRTAB, names_at, names.size());
  sections[3] = section(SHT_PROGBITS, facts_at, sizeof facts);
  sections[3].sh_addr = 0x1000;
  symbol.st_name = 1;
  symbol.st_shndx = 3;
  symbol.st_value = 0x1000;
  const auto bytes = [](const auto& x) { return std::string(reinterpret_cast<const char*>(&x), sizeof x); };
  return bytes(header) + names + bytes(symbol) + bytes(facts) + bytes(sections) + text;
}
inline tilewright::kernel_facts some_facts() {
  tilewright::kernel_facts facts;
  facts.block_size = 256;
  facts.args_bytes = 8;
  return facts;
}

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
