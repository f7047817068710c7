// SPDX-License-Identifier: MIT
// amdgcn-run: runs one kernel of a code object.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>

#include "cli_options.hpp"

namespace amdgcn_run {
namespace {

void print_kernels(const std::string& file, const emu::module& m) {
  std::printf("%s: %s\n", file.c_str(), m.target().c_str());
  for (const auto& s : m.kernels()) {
    std::printf(
        "%s: lds %u, scratch %u, vgprs %u, agprs %u, sgprs %u, vgpr spills %u, sgpr spills %u, max workgroup %u\n",
        s.name.c_str(), s.lds_bytes, s.scratch_bytes, s.vgprs, s.agprs, s.sgprs, s.vgpr_spills, s.sgpr_spills,
        s.max_workgroup);
    for (const auto& g : s.args)
      std::printf("  argument at %u, %u bytes: %s %s\n", g.offset, g.size, g.kind.c_str(), g.name.c_str());
    for (const auto& u : s.unsupported) std::printf("  not supported: %s\n", u.c_str());
  }
}
void print_lds(const emu::result& r) {
  std::uint64_t total = 0;
  std::printf("LDS instructions: executions, clocks of the phases, without conflicts, conflict cycles, worst degree\n");
  for (const auto& x : r.lds) {
    total += x.conflicts;
    std::printf("%8" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %4" PRIu64 "  %-24s %s  [%s]%s\n", x.executions,
                x.cycles, x.ideal, x.conflicts, x.worst, x.where.c_str(), x.text.c_str(), x.model.c_str(),
                x.same_dword_writes ? " lanes overwrite each other" : "");
  }
  std::printf("conflict cycles in all: %" PRIu64 "\n", total);
}
void print_counts(const emu::result& r) {
  std::map<std::string, std::uint64_t> by;
  std::size_t size = 0;
  for (std::size_t k = 0; k < r.counts.size(); ++k) {
    const auto& c = r.counts[k];
    if (c.block) {
      for (size = 1; k + size < r.counts.size() && !r.counts[k + size].block;) ++size;
      std::printf("block %s: %zu instructions, executed %" PRIu64 " times\n", c.where.c_str(), size, c.executions);
    }
    std::printf("%10" PRIu64 "  %-24s %s\n", c.executions, c.where.c_str(), c.text.c_str());
    by[c.text.substr(0, c.text.find(' '))] += c.executions;
  }
  std::printf("per mnemonic:\n");
  std::vector<std::pair<std::uint64_t, std::string>> v;
  for (const auto& [n, c] : by) v.emplace_back(c, n);
  std::sort(v.rbegin(), v.rend());
  for (const auto& [c, n] : v) std::printf("%10" PRIu64 "  %s\n", c, n.c_str());
}

int run(int argc, char** argv) {
  if (argc < 2 || std::string(argv[1]) == "--help" || std::string(argv[1]) == "-h")
    return std::fputs(usage, argc < 2 ? stderr : stdout), argc < 2 ? 2 : 0;
  const command_line line = read_command_line(argc, argv);
  emu::module m(line.file);
  if (line.list) return print_kernels(line.file, m), 0;
  if (line.kernel.empty()) throw bad_input("--kernel or --list is needed");
  if (!line.have_block) throw bad_input("--block is needed");
  for (const auto& b : line.buffers) m.allow(b->data.data(), b->data.size());
  const emu::result r = m.launch(line.kernel, line.grid, line.block, line.lds, line.args, line.options);
  for (const auto& b : line.buffers)
    if (!b->write_to.empty()) {
      std::ofstream f(b->write_to, std::ios::binary);
      f.write(reinterpret_cast<const char*>(b->data.data()), static_cast<std::streamsize>(b->data.size()));
      if (!f) throw bad_input("cannot write '" + b->write_to + "'");
    }
  std::printf("%s on %s: %" PRIu64 " waves, %" PRIu64 " instructions, %.3f s (%.2f million per second)\n",
              line.kernel.c_str(), m.target().c_str(), r.waves, r.instructions, r.seconds,
              static_cast<double>(r.instructions) / r.seconds / 1e6);
  for (const auto& x : r.races) std::printf("race (%" PRIu64 " times): %s\n", x.count, x.message.c_str());
  if (line.options.lds_log) print_lds(r);
  if (line.options.count) print_counts(r);
  return r.races.empty() ? 0 : 1;
}

}  // namespace
}  // namespace amdgcn_run

int main(int argc, char** argv) {
  try {
    return amdgcn_run::run(argc, argv);
  } catch (const emu::fault& e) {
    std::fprintf(stderr, "amdgcn-run: fault: %s\n", e.what());
    return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "amdgcn-run: %s\n", e.what());
    return 2;
  }
}
