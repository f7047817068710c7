// SPDX-License-Identifier: MIT
// The command line of tilewright-layout.
#include "options.hpp"

#include "../program/command_line.hpp"
#include "layout_spec.hpp"
#include "pattern.hpp"
#include "words.hpp"

#include <tilewright/core/arch/arch.hpp>

#include <map>
#include <optional>

namespace tilewright_layout {
namespace {

namespace viz = tilewright::viz;
using program::command_line;

constexpr const char* curve_help =
    "ROWSxCOLS[:order=1,0][:access=RxC][:snake]   the order lists the dimensions, the last one moves fastest\n"
    "ROWSxCOLS:hilbert, ROWSxCOLS:groups=N[:snake]   from neighbour to neighbour; groups of N rows";
constexpr const char* exit_codes =
    "0 no conflicts; 1 conflicts, or more LDS than the target has, or (--evidence) a cost that no source\n"
    "gives, or (--direct) a write that is no such copy; 2 the request cannot be carried out.\n"
    "--out is written whole, or not at all: nothing is written with exit code 2. With --format json an\n"
    "error is an object with the members program, error and exit_code.";

template <class Value>
void add_choice(command_line& line, const std::string& name, const std::string& help,
                const std::map<std::string, Value>& choices, Value& value) {
  std::vector<std::string> names;
  for (const auto& [text, choice] : choices) names.push_back(text);
  line.choice(name, help, names, [&value, choices, names](std::size_t i) { value = choices.at(names[i]); });
}

void add_number(command_line& line, const std::string& name, const std::string& help, index_t least, index_t most,
                index_t& value) {
  line.text(name, "NUMBER", help,
            [&value, name, least, most](const std::string& text) { value = number_of(text, name, least, most); });
}

void add_output(command_line& line, options& o) {
  line.heading("Output");
  add_choice<format>(line, "--format", "What to print (default text)",
                     {{"text", format::text}, {"svg", format::svg}, {"json", format::json}}, o.as);
  line.file("--out", "FILE", "Write to this file instead of standard output",
            [&o](const std::string& name) { o.out_file = name; });
  add_choice<viz::svg_theme>(
      line, "--theme", "Background of SVG; auto: the viewer's preference (default auto)",
      {{"auto", viz::svg_theme::automatic}, {"light", viz::svg_theme::light}, {"dark", viz::svg_theme::dark}}, o.theme);
  line.text("--title", "TEXT", "Title of a picture", [&o](const std::string& text) { o.title = text; });
}

void add_target(command_line& line, options& o) {
  std::vector<std::string> names;
  for (const auto* t : tilewright::arch::all_targets) names.push_back(t->name);
  const std::string all = joined(names, "|");
  program::option& arch =
      line.text("--arch", all, "GPUs, as gfx942,gfx950 (default gfx942)", [&o, all](const std::string& list) {
        for (const std::string& name : split(list, ',')) {
          const tilewright::arch::target* const target = tilewright::arch::find_target(name.c_str());
          if (target == nullptr) throw refusal("--arch must be one of " + all + ", not '" + name + "'");
          o.targets.push_back(target);
        }
      });
  arch.choices = names;
  arch.repeats = true;
}

void set_dtype(options& o, const std::string& text) {
  const std::map<std::string, index_t> bytes{{"fp8", 1},  {"bf8", 1}, {"f8", 1},  {"i8", 1}, {"f16", 2},
                                             {"bf16", 2}, {"f32", 4}, {"i32", 4}, {"f64", 8}};
  const auto found = bytes.find(text);
  if (found == bytes.end())
    throw refusal("--dtype must be one of fp8, bf8, i8, f16, bf16, f32, i32 and f64, not '" + text + "'");
  o.dtype = text;
  o.tile.element_bytes = found->second;
}

void add_tile(command_line& line, options& o) {
  line.text("--tile", "ROWSxCOLS",
            "Rows and columns in elements (default 128x64); columns are contiguous. The tile of A is (M, K), that of B "
            "(N, K), that of a transposing read (K, M) or (K, N)",
            [&o](const std::string& text) {
              const std::vector<index_t> lengths = lengths_of(text, "--tile", 2);
              o.tile.rows = lengths[0];
              o.tile.cols = lengths[1];
            });
  line.text("--dtype", "fp8|bf8|i8|f16|bf16|f32|i32|f64", "Element type (default f16)",
            [&o](const std::string& text) { set_dtype(o, text); })
      .choices = {"fp8", "bf8", "i8", "f16", "bf16", "f32", "i32", "f64"};
  add_number(line, "--threads", "Threads of the block (default: up to 256, as many as the tile keeps busy)", 1, 1024,
             o.threads);
}

void add_access(command_line& line, options& o) {
  line.heading("The access");
  add_target(line, o);
  add_tile(line, o);
  line.list("--layout", "LAYOUT", "How the tile lies in LDS (default plain); several are compared", o.layouts);
  line.list("--write", "PATTERN", "How it is written", o.writes);
  line.list("--read", "PATTERN", "How it is read", o.reads);
  line.heading("The analysis");
  add_choice<tilewright::lds_reading>(line, "--reading", "Which reading of disputed facts counts (default worst)",
                                      {{"worst", tilewright::lds_reading::worst},
                                       {"first", tilewright::lds_reading::first},
                                       {"second", tilewright::lds_reading::second}},
                                      o.reading);
  line.flag("--direct", "Writes shall be copies from global memory that bypass registers", o.direct);
  line.flag("--evidence", "Accept only facts that somebody documented or measured", o.only_evidence);
  add_choice<viz::lds_view>(line, "--view", "Rows of the picture: of the tile, or of banks in memory (default tile)",
                            {{"tile", viz::lds_view::tile}, {"memory", viz::lds_view::memory}}, o.view);
  add_number(line, "--show", "Draw this access, counting writes and then reads from 1 on (default: the worst)", 1,
             1 << 20, o.shown_access);
  add_number(line, "--phase", "Draw this phase (default: the first of the worst)", 0, 1 << 20, o.shown_phase);
  add_number(line, "--explain-bank", "List which lanes want which words of this bank in the drawn phase", 0, 63,
             o.explained_bank);
  add_output(line, o);
}

void add_commands(command_line& line, options& o) {
  command_line& distribution = line.command("distribution", "Draw which thread holds which element");
  distribution.text("pattern", "PATTERN", "As for --read", [&o](const std::string& text) { o.pattern = text; });
  add_target(distribution, o);
  add_tile(distribution, o);
  add_choice<viz::owner_part>(
      distribution, "--colours", "What the colours tell apart (default lane)",
      {{"wave", viz::owner_part::wave}, {"lane", viz::owner_part::lane}, {"register", viz::owner_part::reg}},
      o.colours);
  add_output(distribution, o);

  command_line& curve = line.command("curve", "Draw the order in which a tile is traversed");
  curve.list("curve", "CURVE", "Lengths, order, elements per access, as 4x6:order=1,0:access=1x2:snake", o.curves);
  add_output(curve, o);

  command_line& phases = line.command("phases", "Draw which lanes each LDS instruction serves together");
  add_target(phases, o);
  add_output(phases, o);
}

void describe(command_line& line) {
  line.section_of_help("Layouts", layout_help);
  line.section_of_help("Patterns", pattern_help);
  line.section_of_help("Curves", curve_help);
  line.section_of_help("Exit code", exit_codes);
  line.example("tilewright-layout --read mfma:32x32x16 --write rows:16B --layout plain --layout xor",
               "Compares two layouts of a tile of 128x64 f16 on gfx942");
  line.example("tilewright-layout --arch gfx942,gfx950 --layout solve --write rows:16B --read mfma:16x16x32",
               "Finds a layout without conflicts on two GPUs");
  line.example("tilewright-layout curve 8x8:hilbert --format svg --out curve.svg", "Draws a Hilbert curve");
}

/// What the options say together.
void fence_operand(options& o, const std::string& used) {
  if (o.targets.empty()) o.targets.push_back(&tilewright::arch::gfx942::value);
  o.target = o.targets[0];
  o.what = used == "distribution" ? command::distribution
           : used == "curve"      ? command::curve
           : used == "phases"     ? command::phases
                                  : command::access;
  if (o.what == command::distribution && o.pattern.empty())
    throw refusal("say which distribution, as in 'distribution mfma:32x32x16'; --help lists the patterns");
  if (o.what == command::curve && o.curves.empty())
    throw refusal("say which curve, as in 'curve 4x6:snake'; --help explains them");
  if (o.what != command::access && o.targets.size() > 1)
    throw refusal("distribution and phases take one --arch at a time");
  if (o.as == format::svg && o.targets.size() > 1) throw refusal("--format svg takes one --arch at a time");
  if (o.as != format::text && o.explained_bank >= 0)
    throw refusal("--explain-bank explains in --format text; JSON has the address of every lane");
  if (o.layouts.empty()) o.layouts.push_back("plain");
  if (o.what == command::access && o.writes.empty() && o.reads.empty()) {
    throw refusal(
        "say with --write or --read how the tile is accessed, as in --read column:16B; --help lists the patterns");
  }
}

}  // namespace

parsed_line parse_command_line(int argc, const char* const* argv) {
  parsed_line result;
  command_line line(
      "tilewright-layout",
      "Shows what the LDS of a GPU does with a layout: bank conflicts, phase by phase, and pictures of them");
  add_access(line, result.asked);
  add_commands(line, result.asked);
  describe(line);
  if (const std::optional<std::string> text = line.parse(argc, argv)) {
    result.help = true;
    result.text = *text;
  } else {
    fence_operand(result.asked, line.used_command());
  }
  return result;
}

}  // namespace tilewright_layout
