// SPDX-License-Identifier: MIT
// The command line of tilewright-layout.
#include "options.hpp"

#include "layout_spec.hpp"
#include "pattern.hpp"
#include "words.hpp"

#include <tilewright/arch/arch.hpp>
#include <tilewright/version.hpp>

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

void add_number(CLI::App& app, const std::string& name, const std::string& help, index_t least, index_t most,
                index_t& value) {
  app.add_option_function<std::string>(
         name, [&value, name, least, most](const std::string& text) { value = number_of(text, name, least, most); },
         help)
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
  std::vector<std::string> names;
  for (const auto* t : tilewright::arch::all_targets) names.push_back(t->name);
  const std::string all = joined(names, "|");
  app.add_option_function<std::vector<std::string>>(
         "--arch",
         [&o, all](const std::vector<std::string>& given) {
           for (const std::string& list : given) {
             for (const std::string& name : split(list, ',')) {
               const tilewright::arch::target* const target = tilewright::arch::find_target(name.c_str());
               if (target == nullptr) throw refusal("--arch must be one of " + all + ", not '" + name + "'");
               o.targets.push_back(target);
             }
           }
         },
         "GPUs, as gfx942,gfx950 (default gfx942)")
      ->type_name(all)
      ->take_all();
}

void add_tile(CLI::App& app, options& o) {
  app.add_option_function<std::string>(
         "--tile",
         [&o](const std::string& text) {
           const std::vector<index_t> lengths = lengths_of(text, "--tile", 2);
           o.tile.rows = lengths[0];
           o.tile.cols = lengths[1];
         },
         "Rows and columns in elements (default 128x64); columns are contiguous. The tile of A is (M, K), that of B "
         "(N, K), that of a transposing read (K, M) or (K, N)")
      ->type_name("ROWSxCOLS");
  app.add_option_function<std::string>(
         "--dtype",
         [&o](const std::string& text) {
           const std::map<std::string, index_t> bytes{{"fp8", 1},  {"bf8", 1}, {"f8", 1},  {"i8", 1}, {"f16", 2},
                                                      {"bf16", 2}, {"f32", 4}, {"i32", 4}, {"f64", 8}};
           const auto found = bytes.find(text);
           if (found == bytes.end())
             throw refusal("--dtype must be one of fp8, bf8, i8, f16, bf16, f32, i32 and f64, not '" + text + "'");
           o.dtype = text;
           o.tile.element_bytes = found->second;
         },
         "Element type (default f16)")
      ->type_name("fp8|bf8|i8|f16|bf16|f32|i32|f64");
  add_number(app, "--threads", "Threads of the block (default: up to 256, as many as the tile keeps busy)", 1, 1024,
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
             1 << 20, o.shown_access);
  add_number(app, "--phase", "Draw this phase (default: the first of the worst)", 0, 1 << 20, o.shown_phase);
  add_number(app, "--explain-bank", "List which lanes want which words of this bank in the drawn phase", 0, 63,
             o.explained_bank);
  add_output(app, o);
}

}  // namespace

parsed_line parse_command_line(int argc, const char* const* argv) {
  parsed_line line;
  options& o = line.asked;
  CLI::App app(description, "tilewright-layout");
  app.footer(footer());
  app.get_formatter()->column_width(34);
  add_access(app, o);

  CLI::App& distribution = *app.add_subcommand("distribution", "Draw which thread holds which element");
  distribution.add_option("pattern", o.pattern, "As for --read")->type_name("PATTERN");
  add_target(distribution, o);
  add_tile(distribution, o);
  add_choice<viz::owner_part>(
      distribution, "--colours", "What the colours tell apart (default lane)",
      {{"wave", viz::owner_part::wave}, {"lane", viz::owner_part::lane}, {"register", viz::owner_part::reg}},
      o.colours);
  add_output(distribution, o);

  CLI::App& curve = *app.add_subcommand("curve", "Draw the order in which a tile is walked");
  curve.add_option("curves", o.curves, "Lengths, order, elements per access, as 4x6:order=1,0:access=1x2:snake")
      ->type_name("CURVE");
  add_output(curve, o);

  CLI::App& phases = *app.add_subcommand("phases", "Draw which lanes each LDS instruction serves together");
  add_target(phases, o);
  add_output(phases, o);
  app.require_subcommand(0, 1);
  bool version = false;
  app.add_flag("--version", version, "Print the version");

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
  if (version) {
    line.help = true;
    line.text = "tilewright-layout " + std::to_string(TILEWRIGHT_VERSION_MAJOR) + "." +
                std::to_string(TILEWRIGHT_VERSION_MINOR) + "." + std::to_string(TILEWRIGHT_VERSION_PATCH) + "\n";
    return line;
  }
  if (o.targets.empty()) o.targets.push_back(&tilewright::arch::gfx942::value);
  o.target = o.targets[0];
  o.what = distribution.parsed() ? command::distribution
           : curve.parsed()      ? command::curve
           : phases.parsed()     ? command::phases
                                 : command::access;
  if (o.what == command::distribution && o.pattern.empty())
    throw refusal("say which distribution, as in 'distribution mfma:32x32x16'; --help lists the patterns");
  if (o.what == command::curve && o.curves.empty())
    throw refusal("say which curve, as in 'curve 4x6:snake'; --help explains them");
  if (o.what != command::access && o.targets.size() > 1)
    throw refusal("distribution and phases take one --arch at a time");
  if (o.as == format::svg && o.targets.size() > 1) throw refusal("--format svg takes one --arch at a time");
  if (o.layouts.empty()) o.layouts.push_back("plain");
  if (o.what == command::access && o.writes.empty() && o.reads.empty()) {
    throw refusal(
        "say with --write or --read how the tile is accessed, as in --read column:16B; --help lists the patterns");
  }
  return line;
}

}  // namespace tilewright_layout
