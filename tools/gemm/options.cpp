// SPDX-License-Identifier: MIT
// The command line of the gemm program.
#include "options.hpp"

#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include <CLI/CLI.hpp>

namespace gemm_program {
namespace {

constexpr const char* description = "C = activation(alpha A B + bias) + residual + beta C, in one tiled kernel.";
constexpr const char* footer = R"(
A is m x k, B is k x n, C is m x n. Without --a, --b or --c a matrix is random: uniform in [-1, 1], int8 in [-128, 127].
fp8 and bf8 are those of the machine: e4m3fnuz and e5m2fnuz on gfx942, e4m3 and e5m2 on gfx950, gfx1201 and sm_90.
Files are NumPy .npy with float16, bfloat16 ('<V2', as NumPy writes the bfloat16 of ml_dtypes, or its bits as '<u2'), 8-bit
floating-point numbers ('|V1' or their bits as '|u1'; --dtype says which), int8, int32, or float32, which is rounded to --dtype.
A batch has three dimensions. Files fix their sizes, order and type; options must not contradict them.

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
        app, name, "SIZE", help + (name == "--batch" ? " (default 1)" : " (default 512)"), "a positive whole number",
        [](std::int64_t v) { return v > 0; }, [&size](std::int64_t v) { size = v; });
  };
  const auto add_factor = [&](const std::string& name, float& factor, const std::string& help) {
    return add_number<float>(
        app, name, "NUMBER", help, "a number within the range of float32", [](float v) { return std::isfinite(v); },
        [&factor](float v) { factor = v; });
  };
  add_size("--m", o.m, "Rows of A and C");
  add_size("--n", o.n, "Columns of B and C");
  add_size("--k", o.k, "Columns of A and rows of B");
  add_size("--batch", o.batch, "Matrices of each kind");
  const std::map<std::string, dtype> operand_types{{"f16", dtype::f16}, {"bf16", dtype::bf16}, {"f32", dtype::f32},
                                                   {"fp8", dtype::fp8}, {"bf8", dtype::bf8},   {"int8", dtype::int8}};
  std::map<std::string, dtype> result_types = operand_types;
  result_types["int32"] = dtype::int32;
  add_choice<dtype>(app, "--dtype", "Elements of A and B (default f16)", operand_types, [&o](dtype v) { o.type = v; });
  add_choice<dtype>(app, "--out-dtype",
                    "Elements of C (default: those of A and B; f32 for fp8 and bf8, int32 for int8)", result_types,
                    [&o](dtype v) { o.result = v; });
  app.add_option_function<std::string>(
         "--layout", [&o](const std::string& text) { set_layout(o, text); },
         "Order of A, B and C: row-major or column-major each (default rrr for plain products of 16-bit elements, else "
         "rcr)")
      ->type_name("rrr|rcr|...");
  add_number<std::int64_t>(
      app, "--gap", "ELEMENTS",
      "Leave a gap between rows (columns) in memory, and check that it stays untouched (default 0)",
      "a whole number from 0 to 2147483647", [](std::int64_t v) { return v >= 0 && v <= 2147483647; },
      [&o](std::int64_t v) { o.gap = v; });
  add_factor("--alpha", o.alpha, "Factor of A B (default 1)");
  add_factor("--beta", o.beta, "Factor of the initial C (default 0)");
  app.add_option("--a", o.a_file, "Read A from this file")->type_name("A.npy");
  app.add_option("--b", o.b_file, "Read B from this file")->type_name("B.npy");
  app.add_option("--c", o.c_file, "Read the initial C from this file; --beta is its factor")->type_name("C.npy");
  app.add_option("--out", o.out_file, "Write the result to this file")->type_name("C.npy");
  add_number<std::uint64_t>(
      app, "--seed", "NUMBER", "Seed of the random matrices (default 1)", "a whole number of at most 64 bits",
      [](std::uint64_t) { return true; }, [&o](std::uint64_t v) { o.seed = v; });
}

void add_epilogue(CLI::App& app, options& o) {
  add_number<float>(
      app, "--scale", "NUMBER", "Multiply by this number, which the kernel reads from memory",
      "a number within the range of float32", [](float v) { return std::isfinite(v); },
      [&o](float v) {
        o.scale = v;
        o.epilogue.scale = true;
      });
  app.add_flag("--row-scale", o.epilogue.row_scale, "Multiply each row by a random number from [0.5, 1.5)");
  app.add_flag("--column-scale", o.epilogue.column_scale, "Likewise each column");
  app.add_flag("--bias", o.epilogue.bias, "Add a random number to each column");
  add_choice<tw::activation>(app, "--activation", "Apply this to the sum (default none)",
                             {{"none", tw::activation::none},
                              {"relu", tw::activation::relu},
                              {"gelu", tw::activation::gelu},
                              {"silu", tw::activation::silu}},
                             [&o](tw::activation v) { o.epilogue.activation = v; });
  app.add_flag("--residual", o.epilogue.residual, "Add a random matrix after the activation");
}

void add_kernel(CLI::App& app, options& o) {
  app.add_option("--policy", o.kernel.policy, "Use this kernel (default: the model's choice; a wrong name lists them)")
      ->type_name("NAME");
  add_number<std::int64_t>(
      app, "--split-k", "PARTS", "Divide k among this many blocks and add up their results (default 1)",
      "a whole number from 1 to 65535", [](std::int64_t v) { return v >= 1 && v <= 65535; },
      [&o](std::int64_t v) { o.kernel.split_k = v; });
  add_choice<tw::grid_curve>(app, "--grid-order", "Order in which blocks take the tiles of C (default row-groups)",
                             {{"rows", tw::grid_curve::rows},
                              {"row-groups", tw::grid_curve::row_groups},
                              {"hilbert", tw::grid_curve::hilbert}},
                             [&o](tw::grid_curve v) { o.kernel.grid_order = v; });
}

void add_run(CLI::App& app, options& o, const std::vector<std::string>& targets) {
  add_choice<device>(app, "--device",
                     "Run on the CPU, or on the GPU of this machine (default host; gpu in gemm-hip and gemm-cuda)",
                     {{"host", device::host}, {"gpu", device::gpu}}, [&o](device v) { o.where = v; });
  app.add_flag("--jit", o.jit, "Run on this machine's GPU, with a kernel that is compiled for this problem");
  std::map<std::string, std::string> target_map;
  for (const std::string& target : targets) target_map[target] = target;
  add_choice<std::string>(app, "--arch", "GPU that the CPU emulates (default " + o.target + ")", target_map,
                          [&o](std::string v) { o.target = std::move(v); });
  app.add_flag_callback(
      "--verify", [&o] { o.verify = true; },
      "Compare with a double-precision reference (default: up to m n k = 2^36, for instance 4096 x 4096 x 4096)");
  app.add_flag_callback("--no-verify", [&o] { o.verify = false; }, "Do not compare");
  add_number<int>(
      app, "--repeat", "TIMES", "Run this many times; the best time counts (default 1)",
      "a whole number from 1 to 1000000", [](int v) { return v >= 1 && v <= 1000000; }, [&o](int v) { o.repeat = v; });
  app.add_flag("--json", o.json, "Report as one JSON object");
  app.add_flag("--explain", o.explain,
               "Run nothing: print what bounds the f16 kernels of --arch, and the best one for m, n and k");
  app.add_flag("--explain-shapes", o.explain_shapes, "Likewise: the best ones for 40 problems, as a table");
}

void refuse_both(const CLI::App& app, const std::string& one, const std::string& other) {
  if (app.count(one) > 0 && app.count(other) > 0) throw refusal(one + " and " + other + " exclude each other");
}

}  // namespace

options parse_options(int argc, const char* const* argv, const std::vector<std::string>& targets) {
  options result;
  CLI::App app(description, "gemm");
  app.footer(footer);
  app.get_formatter()->column_width(26);
  const auto group = [&app](const char* name) { app.option_defaults()->group(name); };
  group("The product");
  add_problem(app, result);
  group("The epilogue");
  add_epilogue(app, result);
  group("The kernel");
  add_kernel(app, result);
  group("The run");
  add_run(app, result, targets);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    result.help = app.help();
    return result;
  } catch (const CLI::ParseError& error) {
    throw refusal(std::string(error.what()) + "; gemm --help lists the options");
  }
  if (result.c_file && app.count("--beta") == 0) throw refusal("--c needs --beta, the factor of the initial C");
  refuse_both(app, "--verify", "--no-verify");
  refuse_both(app, "--explain", "--explain-shapes");
  refuse_both(app, "--jit", "--arch");
  refuse_both(app, "--jit", "--device");
  if (app.count("--arch") > 0) {
    if (result.where == device::gpu)
      throw refusal("--arch chooses what the CPU emulates; it cannot be combined with --device gpu");
    result.where = device::host;
  }
  return result;
}

}  // namespace gemm_program
