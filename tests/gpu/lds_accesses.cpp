// SPDX-License-Identifier: MIT
// Random accesses to LDS with their predicted cost. check_lds.py runs this program under a profiler and compares.
//   lds_accesses list   a line of JSON for each launch, in order
//   lds_accesses run    names the GPU, does the launches, checks the data
#include "lds_accesses.hpp"

#include "../core/lds/random_access.hpp"

#include <tilewright/core/arch/sm90.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

namespace {

using namespace lds_accesses;
namespace random_access = tilewright::random_access;
using arch::lds_op;

struct one_access {
  lds_op op;
  std::string layout, lanes;
  std::vector<int> address;
  tw::lds_access_cost predicted;
};

constexpr lds_op all_ops[] = {lds_op::read_b8,   lds_op::read_b16,  lds_op::read_b32,   lds_op::read_b64,
                              lds_op::read_b128, lds_op::ldmatrix,  lds_op::write_b8,   lds_op::write_b16,
                              lds_op::write_b32, lds_op::write_b64, lds_op::write_b128, lds_op::stmatrix};
/// The least of each instruction, with all lanes active and with some inactive.
constexpr index_t whole_waves = 24, partial_waves = 6;
/// Addresses for each instruction that no layout gives.
constexpr index_t scattered = 6, sharing = 10;

bool is_matrix(lds_op op) { return op == lds_op::ldmatrix || op == lds_op::stmatrix; }

/// Random instructions of random tile accesses until every kind of instruction has its share.
std::vector<one_access> make_accesses() {
  random_access::random_engine random(2026);
  const auto below = [&](index_t n) { return random_access::below(random, n); };
  std::vector<one_access> all;
  for (const lds_op op : all_ops) {
    const index_t bytes = arch::access_bytes(op);
    for (index_t found = 0; found < whole_waves + (is_matrix(op) ? 0 : partial_waves);) {
      tw::lds_tile tile{8 << below(4), 16 << below(3), tw::min(bytes, 1 << below(3))};
      const random_access::layout where = random_access::random_layout(random, tile);
      const tw::distribution_encoding e = random_access::random_distribution(random, tile, wave_size);
      if (!check_encoding(e).is_sound()) continue;
      const tw::lds_access_pattern pattern(where.graph, e, tile.element_bytes);
      if (pattern.bytes_per_lane() != bytes) continue;
      const tw::lds_addresses address = pattern.addresses(below(pattern.num_waves()), below(pattern.num_access()));
      one_access access{op, where.name, "all", {}, {}};
      tw::lds_addresses used{};
      for (index_t lane = 0; lane < used.size(); ++lane) {
        const bool active = lane < wave_size && (found < whole_waves || below(3) != 0);
        used[lane] = active ? address[lane] : -1;
        if (lane < wave_size) access.address.push_back(used[lane]);
      }
      if (*std::max_element(access.address.begin(), access.address.end()) + bytes > lds_bytes) continue;
      access.predicted = tw::lds_cost(arch::sm90::value, op, used);
      // Accesses without conflicts are half of them, at most.
      if (access.predicted.conflicts == 0 && below(3) != 0) continue;
      const std::set<int> places(access.address.begin(), access.address.end());
      if (found >= whole_waves) {
        access.lanes = "some inactive";
      } else if (index_t(places.size()) < wave_size) {
        access.lanes = "some share addresses";
      }
      all.push_back(access);
      ++found;
    }
    for (index_t i = 0; i < scattered + sharing; ++i) {
      const index_t places = 4 << below(7), mask = i < scattered ? 0 : 1 << i % 5;
      one_access access{
          op, "none", i < scattered ? "scattered" : "l and l ^ " + std::to_string(mask) + " share", {}, {}};
      tw::lds_addresses used{};
      for (index_t lane = 0; lane < used.size(); ++lane) {
        used[lane] = lane >= wave_size ? -1 : lane & mask ? used[lane ^ mask] : below(places) * bytes;
        // Half of those that share are a row of neighbours.
        if (lane < wave_size && !(lane & mask) && i >= scattered + sharing / 2) {
          used[lane] = (lane / (2 * mask) * mask + lane % mask) * bytes;
        }
        if (lane < wave_size) access.address.push_back(used[lane]);
      }
      access.predicted = tw::lds_cost(arch::sm90::value, op, used);
      all.push_back(access);
    }
  }
  return all;
}

const char* mnemonic(lds_op op) { return arch::instruction_name(arch::instruction_set::ptx, op); }

struct line_of_a_launch {
  index_t launch;
  const char* kind;
  std::string layout, lanes;
};

void print(const line_of_a_launch& line, lds_op op, index_t phases, index_t cycles) {
  std::printf(
      "{\"launch\": %d, \"kind\": \"%s\", \"instruction\": \"%s\", \"layout\": \"%s\", \"lanes\": \"%s\", "
      "\"phases\": %d, \"predicted\": %d}\n",
      line.launch, line.kind, mnemonic(op), line.layout.c_str(), line.lanes.c_str(), phases, cycles);
}

/// The store and the load of one kernel.
template <class Access>
void print_tile_access(index_t launch) {
  constexpr auto descriptor = Access::descriptor::descriptor();
  for (const auto kind : {tw::lds_access_kind::write, tw::lds_access_kind::read}) {
    const tw::lds_access_analysis a =
        kind == tw::lds_access_kind::write
            ? tw::analyze_lds_access<arch::sm90>(descriptor, typename Access::write{}, Access::element_bytes, kind)
            : tw::analyze_lds_access<arch::sm90>(descriptor, typename Access::read{}, Access::element_bytes, kind);
    print({launch, "tile", Access::descriptor::name, "all"}, a.op, a.phases, a.cycles);
  }
}

/// The word that a lane must have got.
unsigned expected_word(const one_access& a, index_t lane) {
  const auto word_at = [](index_t byte) { return initial_word(byte & ~3); };
  const index_t at = a.address[std::size_t(lane)];
  switch (a.op) {
    case lds_op::read_b8: return word_at(at) >> at % 4 * 8 & 0xff;
    case lds_op::read_b16: return word_at(at) >> at % 4 * 8 & 0xffff;
    case lds_op::ldmatrix: return word_at(a.address[std::size_t(lane / 4)] + lane % 4 * 4);
    case lds_op::stmatrix: return unsigned(a.address[std::size_t(lane % 8 * 4)]);
    default: return arch::is_write(a.op) ? unsigned(at) : word_at(at);
  }
}

bool has_right_data(const one_access& a, const words& result) {
  std::set<int> places(a.address.begin(), a.address.end());
  if (a.op == lds_op::stmatrix && index_t(places.size()) < wave_size) return true;  // rows written twice: either value
  places.clear();
  for (index_t lane = 0; lane < wave_size; ++lane) {
    const int at = a.address[std::size_t(lane)];
    if (at < 0) continue;
    const bool first_there = places.insert(at).second;
    if (a.op == lds_op::stmatrix && index_t(places.size()) != lane + 1)
      return true;  // rows written twice: either value
    if (!first_there && arch::is_write(a.op)) continue;
    const index_t bits = arch::is_write(a.op) && arch::access_bytes(a.op) < 4 ? 8 * arch::access_bytes(a.op) : 32;
    const unsigned mask = bits == 32 ? ~0u : (1u << bits) - 1, shift = bits == 32 ? 0u : unsigned(at % 4 * 8);
    if ((result[std::size_t(lane)] >> shift & mask) != (expected_word(a, lane) & mask)) {
      std::fprintf(stderr, "%s: lane %d at byte %d got %08x\n", mnemonic(a.op), lane, at, result[std::size_t(lane)]);
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool list = argc == 2 && std::strcmp(argv[1], "list") == 0, run = argc == 2 && std::strcmp(argv[1], "run") == 0;
  if (!list && !run) {
    std::fputs("lds_accesses list | lds_accesses run\n", stderr);
    return 2;
  }
  try {
    bool right = true;
    if (run) std::printf("%s\n", device_name().c_str());
    index_t launch = 0;
    for (const one_access& a : make_accesses()) {
      if (list) print({launch++, "instruction", a.layout, a.lanes}, a.op, a.predicted.phases, a.predicted.cycles);
      if (run) right = has_right_data(a, run_instruction(a.op, a.address)) && right;
    }
    if (list) {
      tw::apply([&](auto... accesses) { (print_tile_access<decltype(accesses)>(launch++), ...); }, tile_accesses{});
    }
    for (index_t i = 0; run && i < tile_accesses::size(); ++i) run_tile_access(i);
    return right ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lds_accesses: %s\n", e.what());
    return 2;
  }
}
