// SPDX-License-Identifier: MIT
// The command line of the gemm program.
#include "options.hpp"

#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include <CLI/CLI.hpp>

namespace gemm_example {
namespace {

constexpr const char* description = "C = alpha A B + beta C for 16-bit floating-point matrices, in one tiled kernel.";
constexpr const char* footer = R"(
A is m x k, B is k x n, C is m x n. Without --a, --b or --c a matrix is random: uniform in [-1, 1].
Files are NumPy .npy with float16, bfloat16 ('<V2', as NumPy writes the bfloat16 of ml_dtypes, or its bits as '<u2')
or float32, which is rounded to --dtype. Files fix their sizes, order and 16-bit type; options must not contradict them.

Exit code: 0 success; 1 the result is wrong or the kernel failed; 2 the request cannot be carried out.
C.npy is written whole, or not at all: it is not written when the exit code is 1 or 2.)";

template <class Number>
bool parse(const std::string& text, Number& value) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto result = std::from_chars(begin, end, value);
  return result.ec == std::errc() && result.ptr == end;
}

/// A number that CLI11 must not convert itself: it takes 0x10, 1e3 and overflow in its own way.
template <class Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, const std::string& type_name, const std::string& help,
                        const std::string& wanted, bool (*is_fit)(Number), const std::function<void(Number)>& set) {
  return app
      .add_option_function<std::string>(
          name,
          [=](const std::string& text) {
            Number value{};
            if (!parse(text, value) || !is_fit(value))
              throw refusal(name + " must be " + wanted + ", not '" + text + "'");
            set(value);
          },
          help)
      ->type_name(type_name);
}

template <class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, const std::string& help,
                        const std::map<std::string, Value>& choices, const std::function<void(Value)>& set) {
  std::string names;
  for (const auto& [text, value] : choices) names += (names.empty() ? "" : "|") + text;
  return app
      .add_option_function<std::string>(
          name,
          [=](const std::string& text) {
            const auto found = choices.find(text);
            if (found == choices.end()) throw refusal(name + " must be one of " + names + ", not '" + text + "'");
            set(found->second);
          },
          help)
      ->type_name(names);
}

order order_of(char letter) { return letter == 'r' ? order::row_major : order::col_major; }

void set_layout(options& o, const std::string& text) {
  if (text.size() != 3 || text.find_first_not_of("rc") != std::string::npos)
    throw refusal("--layout must be three letters for A, B and C, each r (row-major) or c (column-major), not '" +
                  text + "'");
  o.a_order = order_of(text[0]);
  o.b_order = order_of(text[1]);
  o.c_order = order_of(text[2]);
}

void add_problem(CLI::App& app, options& o) {
  const auto add_size = [&](const std::string& name, std::optional<std::int64_t>& size, const std::string& help) {
    add_number<std::int64_t>(
        app, name, "SIZE", help + " (default 512)", "a positive whole number", [](std::int64_t v) { return v > 0; },
        [&size](std::int64_t v) { size = v; });
  };
  const auto add_factor = [&](const std::string& name, float& factor, const std::string& help) {
    return add_number<float>(
        app, name, "NUMBER", help, "a number within the range of float32", [](float v) { return std::isfinite(v); },
        [&factor](float v) { factor = v; });
  };
  add_size("--m", o.m, "Rows of A and C");
  add_size("--n", o.n, "Columns of B and C");
  add_size("--k", o.k, "Columns of A and rows of B");
  add_choice<element>(app, "--dtype", "Elements of A, B and C (default f16)",
                      {{"f16", element::f16}, {"bf16", element::bf16}}, [&o](element v) { o.type = v; });
  app.add_option_function<std::string>(
         "--layout", [&o](const std::string& text) { set_layout(o, text); },
         "Order of A, B and C: row-major or column-major each (default rrr)")
      ->type_name("rrr|rcr|...");
  add_factor("--alpha", o.alpha, "Factor of A B (default 1)");
  CLI::Option* const beta = add_factor("--beta", o.beta, "Factor of the initial C (default 0)");
  app.add_option("--a", o.a_file, "Read A from this file")->type_name("A.npy");
  app.add_option("--b", o.b_file, "Read B from this file")->type_name("B.npy");
  app.add_option("--c", o.c_file, "Read the initial C from this file")->type_name("C.npy")->needs(beta);
  app.add_option("--out", o.out_file, "Write the result to this file")->type_name("C.npy");
  add_number<std::uint64_t>(
      app, "--seed", "NUMBER", "Chooses the random matrices (default 1)", "a whole number of at most 64 bits",
      [](std::uint64_t) { return true; }, [&o](std::uint64_t v) { o.seed = v; });
}

void add_run(CLI::App& app, options& o, const std::vector<std::string>& targets) {
  add_choice<device>(app, "--device", "Run on the CPU, or on the GPU of this machine (default host)",
                     {{"host", device::host}, {"gpu", device::gpu}}, [&o](device v) { o.where = v; });
  std::map<std::string, std::string> target_map;
  for (const std::string& target : targets) target_map[target] = target;
  add_choice<std::string>(app, "--arch", "GPU that the CPU emulates (default " + o.target + ")", target_map,
                          [&o](std::string v) { o.target = std::move(v); });
  CLI::Option* const verify = app.add_flag_callback(
      "--verify", [&o] { o.verify = true; },
      "Compare with a double-precision reference (default: up to m n k = 2^36, for instance 4096 x 4096 x 4096)");
  app.add_flag_callback("--no-verify", [&o] { o.verify = false; }, "Do not compare")->excludes(verify);
  add_number<int>(
      app, "--repeat", "TIMES", "Run this often; the best time counts (default 1)", "a whole number from 1 to 1000000",
      [](int v) { return v >= 1 && v <= 1000000; }, [&o](int v) { o.repeat = v; });
  app.add_flag("--json", o.json, "Report as one JSON object");
  CLI::Option* const explain =
      app.add_flag("--explain", o.explain,
                   "Run nothing: print what bounds the f16 kernels of --arch, and the best one for m, n and k");
  app.add_flag("--explain-shapes", o.explain_shapes, "Likewise: the best ones for 40 problems, as a table")
      ->excludes(explain);
}

}  // namespace

options parse_options(int argc, const char* const* argv, const std::vector<std::string>& targets) {
  options result;
  CLI::App app(description, "gemm");
  app.footer(footer);
  app.get_formatter()->column_width(26);
  add_problem(app, result);
  add_run(app, result, targets);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    result.help = app.help();
    return result;
  } catch (const CLI::ParseError& error) {
    throw refusal(std::string(error.what()) + "; gemm --help lists the options");
  }
  if (result.where == device::gpu && app.count("--arch") > 0)
    throw refusal("--arch chooses what the CPU emulates; it does not go with --device gpu");
  return result;
}

}  // namespace gemm_example
