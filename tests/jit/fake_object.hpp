// SPDX-License-Identifier: MIT
// A code object that no compiler has made.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include <elf.h>

#include <tilewright/launch/kernel_facts.hpp>

/// An ELF file with tilewright_facts, another variable, and, so that objects differ, some text.
inline std::string make_object(const tilewright::kernel_facts& facts, const std::string& text = {}) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  Elf64_Shdr sections[4] = {};
  Elf64_Sym symbols[2] = {};
  const std::string names = std::string("\0tilewright_facts\0variable", 27);
  const std::size_t names_at = sizeof header, symbol_at = names_at + names.size(),
                    facts_at = symbol_at + sizeof symbols;
  header.e_shoff = facts_at + sizeof facts;
  header.e_shnum = 4;
  const auto section = [](unsigned type, std::size_t at, std::size_t bytes) {
    Elf64_Shdr s{};
    s.sh_type = type;
    s.sh_offset = at;
    s.sh_size = bytes;
    return s;
  };
  sections[1] = section(SHT_SYMTAB, symbol_at, sizeof symbols);
  sections[1].sh_link = 2;
  sections[2] = section(SHT_STRTAB, names_at, names.size());
  sections[3] = section(SHT_PROGBITS, facts_at, sizeof facts);
  sections[3].sh_addr = 0x1000;
  for (Elf64_Sym& s : symbols) {
    s.st_name = &s == symbols ? 18 : 1;
    s.st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
    s.st_shndx = 3;
    s.st_value = 0x1000;
  }
  const auto bytes = [](const auto& x) { return std::string(reinterpret_cast<const char*>(&x), sizeof x); };
  return bytes(header) + names + bytes(symbols) + bytes(facts) + bytes(sections) + text;
}
inline tilewright::kernel_facts some_facts() {
  tilewright::kernel_facts facts;
  facts.block_size = 256;
  facts.args_bytes = 8;
  return facts;
}
