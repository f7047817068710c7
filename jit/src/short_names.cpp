// SPDX-License-Identifier: MIT
#include "short_names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <elf.h>

namespace tilewright::jit {
namespace {

/// The tables of an ELF file, which are changed and then written back.
struct elf_tables {
  Elf64_Ehdr header{};
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Sym> symbols;
  std::size_t symbol_table = 0, names = 0;  // which sections

  /// Whether the file has one table of symbols, and its tables lie within the file.
  bool read(std::string_view file) {
    if (!copy(file, 0, &header, 1) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
    if (!copy_table(file, header.e_shoff, header.e_shnum, sections)) return false;
    if (!copy_table(file, header.e_phoff, header.e_phnum, segments)) return false;
    const auto is_table = [](const Elf64_Shdr& s) { return s.sh_type == SHT_SYMTAB; };
    const auto found = std::find_if(sections.begin(), sections.end(), is_table);
    if (found == sections.end() || std::count_if(sections.begin(), sections.end(), is_table) != 1) return false;
    symbol_table = std::size_t(found - sections.begin());
    names = found->sh_link;
    if (names >= sections.size() || names == header.e_shstrndx) return false;
    const Elf64_Shdr& text = sections[names];
    return text.sh_offset <= file.size() && text.sh_size <= file.size() - text.sh_offset &&
           copy_table(file, found->sh_offset, found->sh_size / sizeof(Elf64_Sym), symbols);
  }

  /// Bytes behind `begin` are `removed` fewer.
  void move(std::uint64_t begin, std::uint64_t removed) {
    for (Elf64_Shdr& s : sections)
      if (s.sh_offset > begin) s.sh_offset -= removed;
    for (Elf64_Phdr& s : segments)
      if (s.p_offset > begin) s.p_offset -= removed;
    if (header.e_shoff > begin) header.e_shoff -= removed;
    if (header.e_phoff > begin) header.e_phoff -= removed;
  }

  /// False if the tables are no longer within the file.
  bool write(std::string& file) const {
    const auto paste = [&](std::uint64_t offset, const auto* table, std::size_t count) {
      if (offset > file.size() || count > (file.size() - offset) / sizeof *table) return false;
      if (count > 0) std::memcpy(file.data() + offset, table, count * sizeof *table);
      return true;
    };
    return paste(0, &header, 1) && paste(header.e_shoff, sections.data(), sections.size()) &&
           paste(header.e_phoff, segments.data(), segments.size()) &&
           paste(sections[symbol_table].sh_offset, symbols.data(), symbols.size());
  }

 private:
  template <class T>
  static bool copy(std::string_view file, std::uint64_t offset, T* to, std::uint64_t count) {
    if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return false;
    std::memcpy(to, file.data() + offset, count * sizeof(T));
    return true;
  }
  template <class T>
  static bool copy_table(std::string_view file, std::uint64_t offset, std::uint64_t count, std::vector<T>& to) {
    if (count > file.size() / sizeof(T)) return false;
    to.resize(count);
    return count == 0 || copy(file, offset, to.data(), count);
  }
};

}  // namespace

std::string with_short_names(const std::string& cubin) {
  elf_tables tables;
  if (!tables.read(cubin)) return cubin;
  const Elf64_Shdr old = tables.sections[tables.names];
  const std::string_view old_names = std::string_view(cubin).substr(old.sh_offset, old.sh_size);
  std::string names(1, '\0');
  for (std::size_t i = 0; i < tables.symbols.size(); ++i) {
    Elf64_Sym& s = tables.symbols[i];
    if (s.st_name == 0) continue;
    if (s.st_name >= old_names.size()) return cubin;
    const std::string_view rest = old_names.substr(s.st_name), name = rest.substr(0, rest.find('\0'));
    const bool is_private = ELF64_ST_BIND(s.st_info) == STB_LOCAL && ELF64_ST_TYPE(s.st_info) == STT_OBJECT;
    s.st_name = Elf64_Word(names.size());
    names.append(is_private && name.size() > 32 ? "v" + std::to_string(i) : name).append(1, '\0');
  }
  std::uint64_t alignment = 16;
  for (const Elf64_Shdr& s : tables.sections) alignment = std::max(alignment, s.sh_addralign);
  if (names.size() > old.sh_size || alignment > 4096) return cubin;
  const std::uint64_t removed = (old.sh_size - names.size()) / alignment * alignment;
  std::string result = cubin;
  result.replace(old.sh_offset, names.size(), names);
  result.erase(old.sh_offset + names.size(), removed);
  tables.sections[tables.names].sh_size -= removed;
  tables.move(old.sh_offset, removed);
  return tables.write(result) ? result : cubin;
}

}  // namespace tilewright::jit
