// SPDX-License-Identifier: MIT
#include "elf_facts.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include <elf.h>

#include <tilewright/jit/error.hpp>

namespace tilewright::jit {
namespace {

/// The i-th T of a table in the file, if it lies within.
template <class T>
std::optional<T> read(std::string_view file, std::uint64_t offset, std::uint64_t i = 0) {
  if (offset > file.size() || i > file.size() / sizeof(T)) return std::nullopt;
  if (file.size() - offset < (i + 1) * sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset + i * sizeof(T), sizeof(T));
  return value;
}

bool has_name(std::string_view file, std::uint64_t offset, std::string_view name) {
  return offset < file.size() && file.size() - offset > name.size() && file.substr(offset, name.size()) == name &&
         file[offset + name.size()] == 0;
}

std::optional<kernel_facts> find_facts(std::string_view file) {
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  const auto section = [&](std::uint64_t i) { return read<Elf64_Shdr>(file, header->e_shoff, i); };
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto symbols = section(i);
    if (!symbols || (symbols->sh_type != SHT_SYMTAB && symbols->sh_type != SHT_DYNSYM)) continue;
    const auto names = section(symbols->sh_link);
    if (!names) continue;
    for (std::uint64_t s = 0; s < symbols->sh_size / sizeof(Elf64_Sym); ++s) {
      const auto symbol = read<Elf64_Sym>(file, symbols->sh_offset, s);
      if (!symbol) break;
      if (!has_name(file, names->sh_offset + symbol->st_name, "tilewright_facts")) continue;
      const auto home = section(symbol->st_shndx);
      if (!home || home->sh_type == SHT_NOBITS || symbol->st_value < home->sh_addr) continue;
      return read<kernel_facts>(file, home->sh_offset + (symbol->st_value - home->sh_addr));
    }
  }
  return std::nullopt;
}

}  // namespace

kernel_facts read_facts(std::string_view code_object, const std::string& kernel) {
  static_assert(std::is_trivially_copyable_v<kernel_facts>);
  const std::optional<kernel_facts> facts = find_facts(code_object);
  if (!facts || facts->version != kernel_facts{}.version || facts->block_size < 1 || facts->args_bytes < 1 ||
      facts->refusal[sizeof facts->refusal - 1] != 0)
    throw error("what was compiled for " + kernel + " is no code object of this library");
  return *facts;
}

}  // namespace tilewright::jit
