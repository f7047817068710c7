// SPDX-License-Identifier: MIT
// The command line of tilewright-layout.
#include "options.hpp"

#include "layout_spec.hpp"
#include "pattern.hpp"
#include "words.hpp"

#include <tilewright/arch/arch.hpp>

#include <functional>
#include <map>

#include <CLI/CLI.hpp>

namespace tilewright_layout {
namespace {

namespace viz = tilewright::viz;

constexpr const char* description =
    "Shows what the LDS of a GPU does with a layout: bank conflicts, phase by phase, and pictures of them.";

std::string footer() {
  return std::string("Layouts\n") + layout_help + "\n\nPatterns\n" + pattern_help +
         "\n\nCurves\n"
         "ROWSxCOLS[:order=1,0][:access=RxC][:snake]   the order lists the dimensions, the last one moves fastest\n"
         "ROWSxCOLS:hilbert, ROWSxCOLS:groups=N[:snake]   from neighbour to neighbour; groups of N rows\n\n"
         "Exit code: 0 no conflicts; 1 conflicts, or more LDS than the target has, or (--evidence) a cost that nobody\n"
         "has measured, or (--direct) a write that is no such copy;\n"
         "2 the request cannot be carried out. Nothing is written to --out with exit code 2.";
}

template <class Value>
void add_choice(CLI::App& app, const std::string& name, const std::string& help,
                const std::map<std::string, Value>& choices, Value& value) {
  std::vector<std::string> names;
  for (const auto& [text, choice] : choices) names.push_back(text);
  const std::string all = joined(names, "|");
  app.add_option_function<std::string>(
         name,
         [&value, choices, name, all](const std::string& text) {
           const auto found = choices.find(text);
           if (found == choices.end()) throw refusal(name + " must be one of " + all + ", not '" + text + "'");
           value = found->second;
         },
         help)
      ->type_name(all);
}

void add_number(CLI::App& app, const std::string& name, const std::string& help, index_t least, index_t& value) {
  app.add_option_function<std::string>(
         name, [&value, name, least](const std::string& text) { value = number_of(text, name, least); }, help)
      ->type_name("NUMBER");
}

void add_output(CLI::App& app, options& o) {
  add_choice<format>(app, "--format", "What to print (default text)",
                     {{"text", format::text}, {"svg", format::svg}, {"json", format::json}}, o.as);
  app.add_option("--out", o.out_file, "Write to this file instead of standard output")->type_name("FILE");
  add_choice<viz::svg_theme>(
      app, "--theme", "Background of SVG; auto: the viewer's preference (default auto)",
      {{"auto", viz::svg_theme::automatic}, {"light", viz::svg_theme::light}, {"dark", viz::svg_theme::dark}}, o.theme);
  app.add_option("--title", o.title, "Title of a picture")->type_name("TEXT");
}

void add_target(CLI::App& app, options& o) {
  std::map<std::string, const tilewright::arch::target*> targets;
  for (const auto* t : tilewright::arch::all_targets) targets[t->name] = t;
  add_choice<const tilewright::arch::target*>(app, "--arch", "GPU (default gfx942)", targets, o.target);
}

void add_tile(CLI::App& app, options& o) {
  app.add_option_function<std::string>(
         "--tile",
         [&o](const std::string& text) {
           const std::vector<index_t> lengths = lengths_of(text, "--tile", 2);
           o.tile.rows = lengths[0];
           o.tile.cols = lengths[1];
         },
         "Rows and columns in elements (default 128x64); columns are contiguous")
      ->type_name("ROWSxCOLS");
  app.add_option_function<std::string>(
         "--dtype",
         [&o](const std::string& text) {
           const std::map<std::string, index_t> bytes{{"f8", 1},  {"i8", 1},  {"f16", 2}, {"bf16", 2},
                                                      {"f32", 4}, {"i32", 4}, {"f64", 8}};
           const auto found = bytes.find(text);
           if (found == bytes.end())
             throw refusal("--dtype must be one of f8, i8, f16, bf16, f32, i32 and f64, not '" + text + "'");
           o.dtype = text;
           o.tile.element_bytes = found->second;
         },
         "Element type (default f16)")
      ->type_name("f16|...");
  add_number(app, "--threads", "Threads of the block (default: up to 256, as many as the tile keeps busy)", 1,
             o.threads);
}

void add_access(CLI::App& app, options& o) {
  add_target(app, o);
  add_tile(app, o);
  app.add_option("--layout", o.layouts, "How the tile lies in LDS (default plain); several are compared")
      ->type_name("LAYOUT")
      ->take_all();
  app.add_option("--write", o.writes, "How it is written; may be given several times")
      ->type_name("PATTERN")
      ->take_all();
  app.add_option("--read", o.reads, "How it is read; may be given several times")->type_name("PATTERN")->take_all();
  add_choice<tilewright::lds_reading>(app, "--reading", "Which reading of disputed facts counts (default worst)",
                                      {{"worst", tilewright::lds_reading::worst},
                                       {"first", tilewright::lds_reading::first},
                                       {"second", tilewright::lds_reading::second}},
                                      o.reading);
  app.add_flag("--direct", o.direct, "Writes shall be copies from global memory that bypass registers");
  app.add_flag("--evidence", o.only_evidence, "Accept only facts that somebody documented or measured");
  add_choice<viz::lds_view>(app, "--view", "Rows of the picture: of the tile, or of banks in memory (default tile)",
                            {{"tile", viz::lds_view::tile}, {"memory", viz::lds_view::memory}}, o.view);
  add_number(app, "--show", "Draw this access, counting writes and then reads from 1 on (default: the worst)", 1,
             o.shown_access);
  add_number(app, "--phase", "Draw this phase (default: the first of the worst)", 0, o.shown_phase);
  add_output(app, o);
}

}  // namespace

parsed_line parse_command_line(int argc, const char* const* argv) {
  parsed_line line;
  options& o = line.asked;
  o.target = &tilewright::arch::gfx942::value;
  CLI::App app(description, "tilewright-layout");
  app.footer(footer());
  app.get_formatter()->column_width(34);
  add_access(app, o);

  CLI::App& distribution = *app.add_subcommand("distribution", "Draw which thread holds which element");
  distribution.add_option("pattern", o.pattern, "As for --read")->type_name("PATTERN")->required();
  add_target(distribution, o);
  add_tile(distribution, o);
  add_choice<viz::owner_part>(
      distribution, "--colours", "What the colours tell apart (default lane)",
      {{"wave", viz::owner_part::wave}, {"lane", viz::owner_part::lane}, {"register", viz::owner_part::reg}},
      o.colours);
  add_output(distribution, o);

  CLI::App& curve = *app.add_subcommand("curve", "Draw the order in which a tile is walked");
  curve.add_option("curves", o.curves, "Lengths, order, elements per access, as 4x6:order=1,0:access=1x2:snake")
      ->type_name("CURVE")
      ->required();
  add_output(curve, o);

  CLI::App& phases = *app.add_subcommand("phases", "Draw which lanes each LDS instruction serves together");
  add_target(phases, o);
  add_output(phases, o);
  app.require_subcommand(0, 1);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.help = true;
    CLI::App* const asked = app.get_subcommands().empty() ? &app : app.get_subcommands()[0];
    line.text = asked->help();
    return line;
  } catch (const CLI::ParseError& error) {
    throw refusal(std::string(error.what()) + "; --help lists the options");
  }
  o.what = distribution.parsed() ? command::distribution
           : curve.parsed()      ? command::curve
           : phases.parsed()     ? command::phases
                                 : command::access;
  if (o.layouts.empty()) o.layouts.push_back("plain");
  if (o.what == command::access && o.writes.empty() && o.reads.empty()) {
    throw refusal(
        "say with --write or --read how the tile is accessed, as in --read column:16B; --help lists the patterns");
  }
  return line;
}

}  // namespace tilewright_layout
