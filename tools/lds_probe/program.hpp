// SPDX-License-Identifier: MIT
// The program around the kernels: launches them, has the times explained, prints. Included by lds_probe.hip.
#pragma once

#include "../gpu/runtime.hpp"
#include "phase_finder.hpp"
#include "row_text.hpp"

#include <tilewright/core/arch/arch.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>

namespace tw = tilewright;

namespace lds_probe {

/// Clocks per instruction of a wave, each with a ballast instruction;
/// that of the ballast itself is subtracted by the caller.
inline std::vector<double> time_with_ballast(const void* kernel, index_t wave_size,
                                             const std::vector<tw::lds_addresses>& patterns) {
  constexpr std::size_t batch = 256, per_pattern = 2 * repetitions * max_waves;
  static gpu::buffer<int> addresses(batch * 64);
  static gpu::buffer<unsigned> clocks(batch * per_pattern), sink(1);
  std::vector<double> times;
  for (std::size_t first = 0; first < patterns.size(); first += batch) {
    int count = int(patterns.size() - first < batch ? patterns.size() - first : batch);
    std::vector<int> table;
    for (int i = 0; i < count; ++i) {
      for (index_t lane = 0; lane < 64; ++lane) table.push_back(patterns[first + std::size_t(i)][lane]);
    }
    addresses.upload(table);
    const int* in = addresses.data();
    unsigned *out = clocks.data(), *nowhere = sink.data();
    int zero = 0;
    void* arguments[] = {&in, &count, &zero, &out, &nowhere};
    gpu::run_block(kernel, block_size, lds_bytes, arguments);
    const std::vector<unsigned> measured = clocks.download();
    for (int i = 0; i < count; ++i) {
      // The slowest wave says when the block was done; of several runs, the quickest was disturbed least.
      double best[2];
      for (int length = 0; length < 2; ++length) {
        best[length] = 1e30;
        for (int repetition = 0; repetition < repetitions; ++repetition) {
          const auto at = std::size_t(((i * 2 + length) * repetitions + repetition) * max_waves);
          unsigned slowest = 0;
          for (index_t w = 0; w < block_size / wave_size; ++w)
            slowest = measured[at + std::size_t(w)] > slowest ? measured[at + std::size_t(w)] : slowest;
          best[length] = slowest < best[length] ? slowest : best[length];
        }
      }
      times.push_back((best[1] - best[0]) / (double(many - few) * unroll * (block_size / wave_size)));
    }
  }
  return times;
}

template <lds_op Op>
finding probe(index_t wave_size) {
  const void* kernel = reinterpret_cast<const void*>(&time_patterns<Op>);
  tw::lds_addresses ballast{};
  for (index_t lane = 0; lane < 64; ++lane) ballast[lane] = (lane & 3) * 1024 + (lane >> 2 & 1) * 16;
  (void)time_with_ballast(kernel, wave_size, {ballast});  // warms up
  const double of_ballast = time_with_ballast(kernel, wave_size, {ballast})[0] / 2;
  const bool whole_wave = Op == lds_op::ldmatrix || Op == lds_op::stmatrix;
  phase_finder finder(wave_size, arch::access_bytes(Op), arch::is_write(Op), whole_wave,
                      [&](const std::vector<tw::lds_addresses>& patterns) {
                        std::vector<double> times = time_with_ballast(kernel, wave_size, patterns);
                        for (double& t : times) t -= of_ballast;
                        return times;
                      });
  return finder.run();
}

struct instruction {
  lds_op op;
  finding (*probe)(index_t wave_size);
};
inline constexpr instruction instructions[] = {
    {lds_op::read_b8, probe<lds_op::read_b8>},     {lds_op::read_b16, probe<lds_op::read_b16>},
    {lds_op::read_b32, probe<lds_op::read_b32>},   {lds_op::read_b64, probe<lds_op::read_b64>},
    {lds_op::read_b96, probe<lds_op::read_b96>},   {lds_op::read_b128, probe<lds_op::read_b128>},
    {lds_op::write_b8, probe<lds_op::write_b8>},   {lds_op::write_b16, probe<lds_op::write_b16>},
    {lds_op::write_b32, probe<lds_op::write_b32>}, {lds_op::write_b64, probe<lds_op::write_b64>},
    {lds_op::write_b96, probe<lds_op::write_b96>}, {lds_op::write_b128, probe<lds_op::write_b128>},
    {lds_op::ldmatrix, probe<lds_op::ldmatrix>},   {lds_op::stmatrix, probe<lds_op::stmatrix>},
};

inline constexpr const char* usage =
    "lds_probe [--json FILE] [--only MNEMONIC]\n"
    "Measures which lanes each LDS instruction of GPU 0 serves together and how many banks it sees.\n"
    "Exit code: 0 all measured, and as in Tilewright's table; 1 a measurement is not consistent;\n"
    "2 no usable GPU, or wrong usage; 3 consistent, but not as in the table.\n";

inline int run(const std::string& json_file, const std::string& only) {
  const gpu::device_facts device = gpu::device();
  const arch::target* target = nullptr;
  for (const arch::target* t : arch::all_targets) target = device.target == t->name ? t : target;
  if (target == nullptr) throw gpu::unusable("Tilewright has no table for this GPU, " + device.target);
  std::string json;
  bool inconsistent = false, differs = false, found_any = false;
  for (const instruction& i : instructions) {
    const arch::lds_instruction* row = target->find(i.op);
    const std::string name = arch::instruction_name(target->isa, i.op);
    if (row == nullptr || (!only.empty() && only != name)) continue;
    found_any = true;
    const finding found = i.probe(target->wave_size);
    const comparison comparison = compare(found, *row);
    inconsistent = inconsistent || !found.problem.empty();
    differs = differs || (found.problem.empty() && !comparison.agrees);
    std::fputs(row_text(name, i.op, found, comparison, device.name).c_str(), stdout);
    std::fflush(stdout);
    json += (json.empty() ? "" : ",\n") + row_json(name, found, comparison);
  }
  if (!found_any) throw gpu::unusable("this GPU has no instruction '" + only + "'");
  if (!json_file.empty()) {
    std::ofstream file(json_file);
    file << "{\"device\": \"" << device.name << "\", \"target\": \"" << device.target << "\", \"instructions\": [\n"
         << json << "\n]}\n";
    if (!file.flush()) throw std::runtime_error("cannot write " + json_file);
  }
  return inconsistent ? 1 : differs ? 3 : 0;
}

}  // namespace lds_probe

int main(int argc, char** argv) {
  std::string json_file, only;
  for (int i = 1; i < argc; i += 2) {
    const bool has_value = i + 1 < argc;
    if (std::strcmp(argv[i], "--help") == 0) {
      std::fputs(lds_probe::usage, stdout);
      return 0;
    }
    if (has_value && std::strcmp(argv[i], "--json") == 0) {
      json_file = argv[i + 1];
    } else if (has_value && std::strcmp(argv[i], "--only") == 0) {
      only = argv[i + 1];
    } else {
      std::fprintf(stderr, "lds_probe: '%s' is not understood\n%s", argv[i], lds_probe::usage);
      return 2;
    }
  }
  try {
    return lds_probe::run(json_file, only);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lds_probe: %s\n", e.what());
    return 2;
  }
}
