// SPDX-License-Identifier: MIT
// The probe's reasoning on simulated GPUs: it finds every row of every table, and notices times that make no sense.
#include "../../tools/lds_probe/phase_finder.hpp"
#include "../../tools/lds_probe/row_text.hpp"

#include <tilewright/core/arch/arch.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tw = tilewright;
namespace arch = tw::arch;
using lds_probe::finding;
using lds_probe::index_t;
using tw::lds_addresses;

namespace {

/// How a simulated GPU serves one kind of instruction.
struct simulated_gpu {
  index_t wave_size = 64;
  index_t bytes = 16;
  index_t banks = 32;
  std::vector<index_t> group_of = {};  // by lane
  double clocks_per_word = 2;
  double noise = 0.05;  // of a word
  bool writes = false;
  bool same_word_merges = true;
  bool pairs_merge = false;  // groups 2 i and 2 i + 1 are one where lanes l and l ^ 1 touch the same place

  /// Word by word: in every group the bank with the most words decides.
  double words(const lds_addresses& address) const {
    std::vector<long long> accesses;  // group, bank and word in one number each
    bool merged = pairs_merge;
    for (index_t lane = 0; lane < wave_size; ++lane) merged = merged && address[lane] == address[lane ^ 1];
    for (index_t lane = 0; lane < wave_size; ++lane) {
      if (address[lane] < 0) continue;
      for (index_t word = address[lane] / 4; word <= (address[lane] + bytes - 1) / 4; ++word)
        accesses.push_back(((group_of[std::size_t(lane)] >> merged) * banks + word % banks) * (1ll << 32) + word);
    }
    std::sort(accesses.begin(), accesses.end());
    if (same_word_merges) accesses.erase(std::unique(accesses.begin(), accesses.end()), accesses.end());
    std::array<index_t, 64> degree{};  // by group
    index_t in_bank = 0;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      in_bank = i > 0 && accesses[i] >> 32 == accesses[i - 1] >> 32 ? in_bank + 1 : 1;
      index_t& most = degree[std::size_t((accesses[i] >> 32) / banks)];
      most = std::max(most, in_bank);
    }
    return std::accumulate(degree.begin(), degree.end(), 0.0);
  }

  lds_probe::stopwatch stopwatch() const {
    return [*this, random = std::mt19937(1)](const std::vector<lds_addresses>& patterns) mutable {
      std::uniform_real_distribution<double> error(-noise, noise);
      std::vector<double> clocks;
      for (const lds_addresses& p : patterns) clocks.push_back(clocks_per_word * (words(p) + error(random)));
      return clocks;
    };
  }
  finding probe(bool needs_whole_wave = false) const {
    return lds_probe::phase_finder(wave_size, bytes, writes, needs_whole_wave, stopwatch()).run();
  }
};

simulated_gpu gpu_of(arch::lds_op op, const arch::lds_service& service) {
  simulated_gpu gpu{.wave_size = service.phases.wave_size, .bytes = arch::access_bytes(op), .banks = service.banks};
  gpu.writes = arch::is_write(op);
  gpu.group_of.resize(64);
  for (index_t place = 0; place < gpu.wave_size; ++place)
    gpu.group_of[std::size_t(service.phases.lane_at_position(place))] = place / service.phases.lanes_per_phase;
  return gpu;
}

TEST(PhaseFinder, FindsEveryRowOfEveryTarget) {
  index_t rows = 0;
  std::set<std::tuple<index_t, index_t, index_t, bool, std::vector<index_t>>> known;  // targets share services
  for (const arch::target* target : arch::all_targets) {
    for (const arch::lds_instruction& row : target->lds) {
      for (const arch::lds_service& service : row.readings) {
        SCOPED_TRACE(std::string(target->name) + ' ' + arch::instruction_name(target->isa, row.op));
        simulated_gpu gpu = gpu_of(row.op, service);
        ++rows;
        if (!known.insert({gpu.wave_size, gpu.bytes, gpu.banks, gpu.writes, gpu.group_of}).second) continue;
        const finding found = gpu.probe();
        EXPECT_EQ(found.problem, "");
        EXPECT_TRUE(lds_probe::agrees(found, service)) << lds_probe::all_phases(found.phases) << ' ' << found.banks;
        EXPECT_NEAR(found.unit, 2, 0.01);
        EXPECT_NEAR(found.clocks, 2 * service.phases.num_phases(), 0.2);
        EXPECT_LT(found.worst_deviation, 0.2);
        EXPECT_TRUE(found.same_word_merges);
        EXPECT_TRUE(found.merging.empty());
      }
    }
  }
  EXPECT_GT(rows, 80);
  EXPECT_GT(known.size(), 10u);
}

TEST(PhaseFinder, ARowWithOtherPhasesOrBanksDoesNotAgree) {
  const arch::lds_instruction& row = *arch::gfx942::value.find(arch::lds_op::read_b128);
  const finding found = gpu_of(row.op, row.readings[0]).probe();
  arch::lds_service other = row.readings[0];
  other.banks = 64;
  EXPECT_FALSE(lds_probe::agrees(found, other));
  other = row.readings[0];
  other.phases = arch::contiguous_phases(64, 8);
  EXPECT_FALSE(lds_probe::agrees(found, other));
  other.phases = arch::contiguous_phases(64, 16);
  EXPECT_FALSE(lds_probe::agrees(found, other));
}

TEST(PhaseFinder, WritesOfOneWordThatDoNotMergeAreProbedWithTheOtherLanesInactive) {
  const arch::lds_service service{arch::contiguous_phases(64, 16), 32, arch::grade::unknown, ""};
  simulated_gpu gpu = gpu_of(arch::lds_op::write_b64, service);
  gpu.same_word_merges = false;
  const finding found = gpu.probe();
  EXPECT_EQ(found.problem, "");
  EXPECT_FALSE(found.same_word_merges);
  EXPECT_TRUE(lds_probe::agrees(found, service));
  EXPECT_NE(gpu.probe(true).problem.find("none may be inactive"), std::string::npos);
}

TEST(PhaseFinder, PhasesThatMergeWhereLanesShareAddressesDoNotDeceiveIt) {
  const arch::lds_service service{arch::contiguous_phases(32, 8), 32, arch::grade::unknown, ""};
  simulated_gpu gpu = gpu_of(arch::lds_op::read_b128, service);
  gpu.pairs_merge = true;
  gpu.noise = 0;
  const finding found = gpu.probe();
  EXPECT_EQ(found.problem, "");
  EXPECT_TRUE(lds_probe::agrees(found, service));
  // All sets of lane bits with the lowest: then all lanes l and l ^ 1 share an address.
  EXPECT_EQ(found.merging.size(), 16u);
  for (const auto& [mask, words] : found.merging) {
    EXPECT_EQ(mask & 1, 1) << mask;
    EXPECT_EQ(words, 2);
  }
}

std::string problem_of(const simulated_gpu& gpu) { return gpu.probe().problem; }

TEST(PhaseFinder, NoticesWhatMakesNoSense) {
  const arch::lds_service service{arch::contiguous_phases(64, 16), 32, arch::grade::unknown, ""};
  const simulated_gpu good = gpu_of(arch::lds_op::read_b64, service);
  EXPECT_EQ(problem_of(good), "");

  simulated_gpu noisy = good;
  noisy.noise = 0.5;
  EXPECT_NE(problem_of(noisy).find("neither 0 nor 1"), std::string::npos) << problem_of(noisy);

  simulated_gpu uneven = good;  // groups of 24, 8, 16 and 16 lanes
  for (index_t lane = 16; lane < 24; ++lane) uneven.group_of[std::size_t(lane)] = 0;
  EXPECT_NE(problem_of(uneven).find("no subspace"), std::string::npos) << problem_of(uneven);

  simulated_gpu swapped = good;  // lanes of the later groups only
  std::swap(swapped.group_of[40], swapped.group_of[60]);
  EXPECT_NE(problem_of(swapped).find("by the symmetry"), std::string::npos) << problem_of(swapped);

  simulated_gpu alone = good;
  for (index_t lane = 0; lane < 64; ++lane) alone.group_of[std::size_t(lane)] = lane;
  EXPECT_NE(problem_of(alone), "");

  simulated_gpu odd_banks = good;
  odd_banks.banks = 48;
  EXPECT_NE(problem_of(odd_banks), "");

  const auto probe = [&](const lds_probe::stopwatch& time) {
    return lds_probe::phase_finder(64, 8, false, false, time).run().problem;
  };
  EXPECT_NE(probe([](const auto& patterns) { return std::vector<double>(patterns.size(), 8.0); }).find("at work"),
            std::string::npos);
  // Lane 5 conflicts with 6 and 6 with 7, but 5 not with 7.
  const auto partial = [&, time = good.stopwatch()](const std::vector<lds_addresses>& patterns) {
    std::vector<double> clocks = time(patterns);
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (patterns[i][5] == 1024 && patterns[i][7] == 2048) clocks[i] -= good.clocks_per_word;
    }
    return clocks;
  };
  EXPECT_NE(probe(partial).find("is served with"), std::string::npos) << probe(partial);
  // As good, but a pattern of more than two words in a bank takes as long as one of two.
  const auto capped = [&, time = good.stopwatch()](const std::vector<lds_addresses>& patterns) {
    std::vector<double> clocks = time(patterns);
    for (std::size_t i = 0; i < patterns.size() && patterns.size() == 100; ++i) clocks[i] = std::min(clocks[i], 14.0);
    return clocks;
  };
  EXPECT_NE(probe(capped).find("random pattern"), std::string::npos) << probe(capped);
}

TEST(RowText, ReadsAsARowOfATable) {
  const arch::lds_instruction& row = *arch::gfx950::value.find(arch::lds_op::read_b128);
  simulated_gpu gpu = gpu_of(row.op, row.readings[0]);
  gpu.noise = 0;
  const finding found = gpu.probe();
  const lds_probe::comparison known = lds_probe::compare(found, row);
  EXPECT_EQ(
      lds_probe::row_text("ds_read_b128", row.op, found, known, "a simulation"),
      "ds_read_b128: 4 x 16 lanes {0-3,12-15,20-27} {4-11,16-19,28-31} {32-35,44-47,52-59} {36-43,48-51,60-63}, 64 "
      "banks\n"
      "  8 clocks without conflicts, 2 for each further word of a bank; random patterns within 0 words\n"
      "  lds_row(lds_op::read_b128, lds_service{lds_phases{64, 16, {{1, 2, 12, 20, 4, 32}}}, 64, grade::measured_here, "
      "\"lds_probe on a simulation\", 4})\n"
      "  as in the table (" +
          known.known_by + ")\n");
  EXPECT_EQ(known.known_by.substr(0, 3), "V: ") << known.known_by;
  const std::string json = lds_probe::row_json("ds_read_b128", found, known);
  EXPECT_NE(json.find("\"banks\": 64, \"clocks\": 8"), std::string::npos) << json;
  EXPECT_NE(json.find("\"as_in_table\": true"), std::string::npos) << json;
  finding bad;
  bad.problem = "too noisy";
  EXPECT_EQ(lds_probe::row_text("ds_read_b32", arch::lds_op::read_b32, bad, {}, ""),
            "ds_read_b32: NOT CONSISTENT: too noisy\n");
}

}  // namespace
