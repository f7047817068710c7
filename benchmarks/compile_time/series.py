#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What one more descriptor, distribution, curve, window or LDS proof costs the compiler: template instantiations, and user time.

    series.py [--repeat N]      the table of docs/compile_time.md
    series.py --check BUDGETS   instantiations only, against budgets.txt; status 1 above a budget, 77 without the compiler
    series.py --self-test BUDGETS

Files with 1, 4 and 16 items that all differ are compiled for gfx942. Instantiations are clang's own count (-ftime-trace: classes
and functions), the same in every run; the version of clang that the budgets were taken with counts.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = "clang++-22"
HEAD = """#include <tilewright/kernels/gemm.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/descriptor/make_graph.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;
"""


def packed_descriptor(i):
    return f"""TILEWRIGHT_GLOBAL void item_{i}(index_t* out, index_t m, index_t k) {{
  constexpr auto rows = tw::make_naive_tensor_descriptor_packed(make_tuple(number<{32 * (i + 1)}>{{}}, number<64>{{}}));
  *out = rows.calculate_offset({{m, k}});
}}
"""


def swizzled_descriptor(i):
    m = 32 * (i + 1)
    return f"""TILEWRIGHT_GLOBAL void item_{i}(index_t* out, index_t m, index_t k) {{
  constexpr auto rows = tw::make_naive_tensor_descriptor_packed(make_tuple(number<4>{{}}, number<{m}>{{}}, number<8>{{}}));
  constexpr auto swizzled = tw::transform_tensor_descriptor(rows,
      make_tuple(tw::make_xor_transform(make_tuple(number<{m}>{{}}, number<4>{{}})), tw::make_pass_through_transform(number<8>{{}})),
      make_tuple(sequence<1, 0>{{}}, sequence<2>{{}}), make_tuple(sequence<1, 0>{{}}, sequence<2>{{}}));
  constexpr auto layout = tw::transform_tensor_descriptor(swizzled,
      make_tuple(tw::make_pass_through_transform(number<{m}>{{}}), tw::make_merge_transform(make_tuple(number<4>{{}}, number<8>{{}}))),
      make_tuple(sequence<1>{{}}, sequence<0, 2>{{}}), make_tuple(sequence<0>{{}}, sequence<1>{{}}));
  *out = layout.calculate_offset({{m, k}});
}}
"""


def descriptor_value(i):
    m = 32 * (i + 1)
    return f"""namespace item {{
inline constexpr tw::tensor_graph rows_{i} = tw::packed_graph(4, {m}, 8);
inline constexpr tw::tensor_graph swizzled_{i} = tw::transform_graph(rows_{i},
    tw::place_transform(tw::transform_kind::xor_modulo, {{1, 0}}, {{1, 0}}, {m}, 4),
    tw::place_transform(tw::transform_kind::pass_through, {{2}}, {{2}}, 8));
inline constexpr tw::tensor_graph layout_{i} = tw::transform_graph(swizzled_{i},
    tw::place_transform(tw::transform_kind::pass_through, {{1}}, {{0}}, {m}),
    tw::place_transform(tw::transform_kind::merge, {{0, 2}}, {{1}}, 4, 8));
}}
TILEWRIGHT_GLOBAL void item_{i}(index_t* out, index_t m, index_t k) {{
  *out = tw::tensor_descriptor<item::layout_{i}>{{}}.calculate_offset({{m, k}});
}}
"""


def distribution(i):
    return f"""TILEWRIGHT_GLOBAL void item_{i}(index_t* out, index_t wave, index_t lane) {{
  using encoding = tw::tile_distribution_encoding<sequence<>, tuple<sequence<{i + 1}, 4, 8>, sequence<8, 8>>, tuple<sequence<1>, sequence<1, 2>>,
                                                  tuple<sequence<1>, sequence<2, 0>>, sequence<1, 2>, sequence<0, 1>>;
  constexpr auto distribution = tw::make_static_tile_distribution(encoding{{}});
  const auto x = distribution.calculate_index({{wave, lane}});
  out[0] = x[0];
  out[1] = x[1];
}}
"""


def distribution_value(i):
    return f"""TILEWRIGHT_GLOBAL void item_{i}(index_t* out, index_t wave, index_t lane) {{
  constexpr tw::distribution_encoding encoding = tw::make_pattern_encoding(
      tw::tile_distribution_pattern::block_raked, {{.rows = 32 * {i + 1}, .cols = 64, .vector = 8, .waves = 4, .wave_size = 64}});
  const auto x = tw::tile_distribution<encoding>::calculate_index({{wave, lane}});
  out[0] = x[0];
  out[1] = x[1];
}}
"""


def space_filling_curve(i):
    return f"""TILEWRIGHT_GLOBAL void item_{i}(index_t* out, index_t access) {{
  using by_rows = tw::space_filling_curve<2, sequence<{i + 2}, 16>, sequence<0, 1>, sequence<1, 8>, true>;
  const auto index = by_rows::get_index(access);
  out[0] = index[0];
  out[1] = index[1];
}}
"""


def window_encoding(i):
    return f"""constexpr tw::distribution_encoding encoding = tw::make_pattern_encoding(
      tw::tile_distribution_pattern::block_raked, {{.rows = 32 * {i + 1}, .cols = 64, .vector = 8, .waves = {i + 1}, .wave_size = 64}});"""


def global_window(i):
    return f"""TILEWRIGHT_GLOBAL void item_{i}(const tw::half_t* from, index_t height, index_t width, index_t row, tw::half_t* to) {{
  {window_encoding(i)}
  const auto view = tw::make_naive_tensor_view<tw::address_space_enum::global>(from, make_tuple(height, width),
                                                                               make_tuple(width, number<1>{{}}), number<8>{{}});
  const auto tile = tw::load_tile(
      tw::make_tile_window(view, make_tuple(number<{32 * (i + 1)}>{{}}, number<64>{{}}), {{row, 0}}, tw::tile_distribution<encoding>{{}}));
  *to = tile.thread_buffer[0];
}}
"""


def lds_window(i):
    return f"""TILEWRIGHT_GLOBAL void item_{i}(tw::half_t* to) {{
  {window_encoding(i)}
  constexpr tw::swizzled_layout rows{{.tile = {{.rows = {32 * (i + 1)}, .cols = 64, .element_bytes = 2}}}};
  const auto view = tw::make_tensor_view<tw::address_space_enum::lds, tw::half_t>(tw::exec::lds_allocate<65536>(), tw::make_lds_descriptor<rows>());
  const auto tile = tw::load_tile(
      tw::make_tile_window(view, make_tuple(number<{32 * (i + 1)}>{{}}, number<64>{{}}), {{0, 0}}, tw::tile_distribution<encoding>{{}}));
  *to = tile.thread_buffer[0];
}}
"""


def lds_window_pair(i):
    """Four layouts and four distributions of one tile, each with each."""
    pattern = ("thread_raked", "warp_raked", "block_raked", "block_raked")[i // 4]
    return f"""TILEWRIGHT_GLOBAL void item_{i}(tw::half_t* to) {{
  constexpr tw::distribution_encoding encoding = tw::make_pattern_encoding(
      tw::tile_distribution_pattern::{pattern}, {{.rows = 64, .cols = 64, .vector = 8, .waves = 2, .wave_size = 64}}, {str(i >= 12).lower()});
  constexpr auto rows = tw::make_naive_tensor_descriptor(make_tuple(number<64>{{}}, number<64>{{}}),
                                                         make_tuple(number<{64 + 8 * (i % 4)}>{{}}, number<1>{{}}));
  const auto view = tw::make_tensor_view<tw::address_space_enum::lds, tw::half_t>(tw::exec::lds_allocate<65536>(), rows);
  const auto tile = tw::load_tile(
      tw::make_tile_window(view, make_tuple(number<64>{{}}, number<64>{{}}), {{0, 0}}, tw::tile_distribution<encoding>{{}}));
  *to = tile.thread_buffer[0];
}}
"""


def chosen_layout(i):
    """The layout of a GEMM operand; every second one is written column by column, and is read on two targets."""
    rows, k = 64 << i % 4, 32 << i // 4 % 2
    major = ("k", "mn")[i // 8]
    archs = ("gfx942", "gfx942, tw::arch::gfx950")[i % 2]
    return f"""constexpr tw::block_tile tile_{i}{{{rows}, 32, {k}, 1, 1, tw::arch::matrix_op::mfma_32x32x8_x2}};
static_assert(tw::choose_lds_layout<tw::arch::{archs}>(
    tw::lds_tile{{{rows}, {k}, 2}},
    tw::lds_use{{tw::operand_copy_encoding(tw::operand_major::{major}, {rows}, {k}, 1, 64, 8, 8), tw::lds_access_kind::write}},
    tw::lds_use{{tw::detail::a_encoding(tile_{i}, true), tw::lds_access_kind::read}}).worst_degree == 1);
"""


def proof(i):
    """One access of a swizzled tile."""
    rows, k = 32 << i % 4, 32 << i // 4
    return f"""constexpr auto swizzled_{i} = tw::make_lds_descriptor<tw::xor_preshuffle_layout({{{rows}, {k}, 2}}, tw::lds_layer({k}, 2))>();
static_assert(tw::require_conflict_free<tw::lds_access<
    tw::arch::gfx942, swizzled_{i}, tw::tile_distribution<tw::encoding_of(tw::arch::describe(tw::arch::matrix_op::mfma_32x32x8_x2).a)>,
    tw::half_t, tw::lds_access_kind::read>>());
"""


SERIES = {
    "descriptor, packed": packed_descriptor,
    "descriptor, swizzled in three steps": swizzled_descriptor,
    "the same as a value": descriptor_value,
    "distribution": distribution,
    "distribution from a pattern": distribution_value,
    "space-filling curve": space_filling_curve,
    "load from global memory, 4 accesses": global_window,
    "load from LDS, 4 accesses": lds_window,
    "the same, 4 layouts x 4 distributions": lds_window_pair,
    "layout chosen for an operand": chosen_layout,
    "proof of an LDS access": proof,
}
FLAGS = ["-x", "hip", "--offload-arch=gfx942", "-nogpulib", "-nogpuinc", "-std=c++20", "--offload-device-only", f"-I{ROOT / 'include'}"]


def source(item, count, folder):
    path = pathlib.Path(folder) / f"{count}.hip"
    path.write_text(HEAD + "".join(item(i) for i in range(count)))
    return path


def compile_once(command):
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{errors}")
    return usage.ru_utime


def instantiations(item, count, folder):
    """The names of all classes and functions that are instantiated."""
    trace = pathlib.Path(folder) / "trace.json"
    compile_once([COMPILER, *FLAGS, "-fsyntax-only", "-Xclang", f"-ftime-trace={trace}", "-Xclang", "-ftime-trace-granularity=0",
                  source(item, count, folder)])
    events = json.loads(trace.read_text())["traceEvents"]
    return [e["args"]["detail"] for e in events if e["name"] in ("InstantiateClass", "InstantiateFunction")]


def count(item, folder, none):
    """Instantiations of the first item, and of each further one (the mean from the second to the sixteenth); none: those of the headers."""
    one, sixteen = (len(instantiations(item, n, folder)) for n in (1, 16))
    return one - none, (sixteen - one) / 15


def count_all(folder):
    none = len(instantiations(None, 0, folder))
    return {name: count(item, folder, none) for name, item in SERIES.items()}


def read_budgets(path):
    """Lines of: name | first | further; # begins a comment."""
    budgets = {}
    for line in pathlib.Path(path).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, first, further = (part.strip() for part in line.split("|"))
            budgets[name] = (int(first), float(further))
    return budgets


def over_budget(measured, budgets):
    """Sentences about what is above its budget, or has none."""
    problems = [f"{name}: no budget" for name in measured if name not in budgets]
    problems += [f"{name}: a budget, but no such series" for name in budgets if name not in measured]
    for name in measured.keys() & budgets.keys():
        for what, have, allowed in zip(("the first", "each further one"), measured[name], budgets[name]):
            if have > allowed:
                problems.append(f"{name}: {what} takes {have:.1f} instantiations; the budget is {allowed:g}")
    return problems


def check(path):
    if not shutil.which(COMPILER):
        print(f"{COMPILER} is not installed; instantiations are not counted")
        return 77
    budgets = read_budgets(path)
    with tempfile.TemporaryDirectory() as folder:
        measured = count_all(folder)
    for name, (first, further) in measured.items():
        print(f"{name:40} first {first:4d}, each further one {further:6.1f}")
    problems = over_budget(measured, budgets)
    for problem in problems:
        print(f"over budget: {problem}. See what they are with series.py --list '{problem.split(':')[0]}'")
    return 1 if problems else 0


def self_test(path):
    """Every kind of excess must be reported."""
    budgets = read_budgets(path)
    within = {name: (int(first), further) for name, (first, further) in budgets.items()}
    name = next(iter(SERIES))
    cases = [(within, 0), ({**within, name: (10**6, 0.0)}, 1), ({**within, name: (0, 10.0**6)}, 1), ({**within, "new": (1, 1.0)}, 1),
             ({n: v for n, v in within.items() if n != name}, 1)]
    wrong = [i for i, (measured, expected) in enumerate(cases) if len(over_budget(measured, budgets)) != expected]
    missing = [n for n in SERIES if n not in budgets]
    print(f"budgets, self-test: cases that went wrong: {wrong}; series without a budget: {missing}")
    return 1 if wrong or missing else 0


def show(name):
    with tempfile.TemporaryDirectory() as folder:
        further = collections.Counter(instantiations(SERIES[name], 2, folder))
        further.subtract(collections.Counter(instantiations(SERIES[name], 1, folder)))
    for detail, times in further.items():
        if times > 0:
            print(f"{times:3d} {detail}")
    return 0


def table(repeat):
    print("| one more ... | instantiations of the first | of each further one | ms of each further one |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (first, further) in count_all(folder).items():
            item = SERIES[name]
            times = {n: [] for n in (1, 16)}
            for _ in range(repeat):
                for n, runs in times.items():
                    runs.append(compile_once([COMPILER, *FLAGS, "-O3", "-S", "-o", os.devnull, source(item, n, folder)]))
            ms = (statistics.median(times[16]) - statistics.median(times[1])) / 15 * 1000
            print(f"| {name} | {first} | {further:.1f} | {ms:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--check", metavar="BUDGETS")
    parser.add_argument("--self-test", metavar="BUDGETS")
    parser.add_argument("--list", metavar="SERIES", choices=SERIES, help="the instantiations of a second item")
    arguments = parser.parse_args()
    if arguments.check:
        return check(arguments.check)
    if arguments.self_test:
        return self_test(arguments.self_test)
    if arguments.list:
        return show(arguments.list)
    return table(arguments.repeat)


if __name__ == "__main__":
    sys.exit(main())
