// SPDX-License-Identifier: MIT
// Runs the kernel on the CPU for several targets; compares the copy,
// and the counted LDS conflicts with the predicted ones.
#include "tile_copy.hpp"

#include <tilewright/launch/launch.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

using namespace tile_copy_example;

/// Returns whether the copy is right and costs what was predicted.
template <class Layout, class Arch>
bool run(const char* layout) {
  constexpr const tw::arch::target& target = Arch::value;
  constexpr index_t wave = target.wave_size, height = 100, width = 200;
  std::vector<half_t> from(height * width), to(height * width);
  for (index_t i = 0; i < height * width; ++i) from[std::size_t(i)] = half_t(float(i % 2048));

  const tw::emulator::launch_report report = tw::launch<tile_copy<Layout, wave>>(
      {from.data(), to.data(), height, width},
      {.emulate = target, .check_lds = tw::emulator::lds_checks::on});  // finds missing barriers

  constexpr auto write =
      tw::analyze_lds_access<Arch>(Layout::descriptor(), by_rows<wave>{}, sizeof(half_t), tw::lds_access_kind::write);
  constexpr auto read =
      tw::analyze_lds_access<Arch>(Layout::descriptor(), by_columns<wave>{}, sizeof(half_t), tw::lds_access_kind::read);
  const tw::long_index_t written = report.of(write.op).conflicts, seen = report.of(read.op).conflicts;
  std::printf("%-8s %-9s %17lld %9lld %17lld %9lld\n", target.name, layout, report.blocks * write.conflicts, written,
              report.blocks * read.conflicts, seen);
  return std::memcmp(from.data(), to.data(), from.size() * sizeof(half_t)) == 0 &&
         written == report.blocks * write.conflicts && seen == report.blocks * read.conflicts;
}

/// The swizzled tile is free of bank conflicts on these targets, or this does not compile.
/// gfx950 reads from 64 banks and needs MLdsLayer = 2.
template <class Arch>
using write_rows = tw::lds_access<Arch, swizzled_rows::descriptor(), by_rows<Arch::value.wave_size>, half_t,
                                  tw::lds_access_kind::write>;
template <class Arch>
using read_columns = tw::lds_access<Arch, swizzled_rows::descriptor(), by_columns<Arch::value.wave_size>, half_t,
                                    tw::lds_access_kind::read>;
template <class... Archs>
constexpr bool is_proven = (tw::require_conflict_free<write_rows<Archs>, read_columns<Archs>>() && ...);
static_assert(is_proven<tw::arch::gfx90a, tw::arch::gfx942, tw::arch::gfx1100, tw::arch::gfx1201, tw::arch::sm80,
                        tw::arch::sm90>);

int main() {
  std::printf("extra LDS cycles   writes predicted   counted   reads predicted   counted\n");
  using namespace tw::arch;
  bool right = run<plain_rows, gfx942>("plain");
  right &= run<plain_rows, gfx1201>("plain");
  right &= run<plain_rows, sm90>("plain");
  right &= run<swizzled_rows, gfx942>("swizzled");
  right &= run<swizzled_rows, gfx1201>("swizzled");
  right &= run<swizzled_rows, sm90>("swizzled");
  return right ? 0 : 1;
}
