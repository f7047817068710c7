// SPDX-License-Identifier: MIT
// amdgcn-run: runs one kernel of a code object.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <list>
#include <map>
#include <new>
#include <stdexcept>

#include "../../program/output_file.hpp"
#include "../../program/run.hpp"
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

void print_cycles(const emu::timing& t) {
  constexpr const char* causes[] = {"issue", "the matrix unit", "vector results", "LDS", "memory", "barriers"};
  const auto share = [&](std::uint64_t busy) { return t.clocks ? 100.0 * double(busy) / double(t.clocks) : 0.0; };
  std::printf("first block, by a model: %" PRIu64 " clocks; busy: matrix unit %.0f %%, LDS %.0f %%, memory %.0f %%\n",
              t.clocks, share(t.matrix_clocks), share(t.lds_clocks), share(t.memory_clocks));
  if (t.loop_iterations) std::printf("loop: %" PRIu64 " iterations of %.0f clocks\n", t.loop_iterations, t.loop_clocks);
  for (int n = 0; n < emu::timing::num_causes; ++n)
    if (t.waited[n]) std::printf("waves waited for %s: %" PRIu64 " clocks\n", causes[n], t.waited[n]);
  for (const emu::wait_row& r : t.longest_waits)
    std::printf("%10" PRIu64 "  %-24s %s  [%s]\n", r.clocks, r.where.c_str(), r.text.c_str(), causes[r.cause]);
}

/// The buffers that are outputs, on the disk under temporary names.
std::list<program::output_file> write_outputs(const command_line& line) {
  std::list<program::output_file> files;
  for (const auto& b : line.buffers)
    if (!b->write_to.empty()) {
      files.emplace_back(b->write_to).write(b->data.data(), b->data.size());
      files.back().finish();
    }
  return files;
}

int run(const command_line& line) {
  emu::module m(line.file);
  if (line.list) return print_kernels(line.file, m), program::success;
  for (const auto& b : line.buffers)
    if (!b->write_to.empty()) program::require_writable(b->write_to);
  for (const auto& b : line.buffers) m.allow(b->data.data(), b->data.size());
  const emu::result r = m.launch(line.kernel, line.grid, line.block, line.lds, line.args, line.options);
  std::list<program::output_file> files = write_outputs(line);
  std::printf("%s on %s: %" PRIu64 " waves, %" PRIu64 " instructions, %.3f s (%.2f million per second)\n",
              line.kernel.c_str(), m.target().c_str(), r.waves, r.instructions, r.seconds,
              static_cast<double>(r.instructions) / r.seconds / 1e6);
  for (const auto& x : r.races) std::printf("race (%" PRIu64 " times): %s\n", x.count, x.message.c_str());
  if (line.options.lds_log) print_lds(r);
  if (line.options.count) print_counts(r);
  if (line.options.cycles) print_cycles(r.cycles);
  program::print("");  // refuses if standard output did not take all of it
  for (program::output_file& file : files) file.commit();
  return r.races.empty() ? program::success : program::wrong_result;
}

}  // namespace
}  // namespace amdgcn_run

int main(int argc, char** argv) {
  return program::run("amdgcn-run", argc, argv, [&]() -> int {
    const amdgcn_run::command_line line = amdgcn_run::read_command_line(argc, argv);
    if (line.text) return program::print(*line.text), program::success;
    try {
      return amdgcn_run::run(line);
    } catch (const emu::fault& error) {
      throw std::runtime_error(std::string("fault: ") + error.what());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      throw program::refusal(error.what());
    }
  });
}
