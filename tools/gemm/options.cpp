// SPDX-License-Identifier: MIT
// The command line of the gemm program.
#include "options.hpp"

#include <cmath>
#include <utility>

#include "../program/command_line.hpp"

namespace gemm_program {
namespace {

using program::command_line;

constexpr const char* matrices =
    R"(A is m x k, B is k x n, C is m x n. Without --a, --b or --c a matrix is random: uniform in
[-1, 1], int8 in [-128, 127]. fp8 and bf8 are those of the machine: e4m3fnuz and e5m2fnuz on
gfx942, e4m3 and e5m2 on gfx950, gfx1201 and sm_90.
Files are NumPy .npy with float16, bfloat16 ('<V2', as NumPy writes the bfloat16 of ml_dtypes, or
its bits as '<u2'), 8-bit floating-point numbers ('|V1' or their bits as '|u1'; --dtype says
which), int8, int32, or float32, which is rounded to --dtype. A batch has three dimensions. Files
fix their sizes, order and type; options must not contradict them.)";
constexpr const char* verification =
    R"(The reference is computed in double precision from the same inputs. Where it is NaN or infinite the
result must be so, too; what is beyond the range of --out-dtype must be infinite, and what is
beyond that of the sums in float32 may be NaN. An error of half the smallest number of --out-dtype
does not count. The error of the rest is measured in the Frobenius norm.)";
constexpr const char* exit_codes =
    R"(0 success; 1 the result is wrong or the kernel failed; 2 the request cannot be carried out.
C.npy is written whole, or not at all: it is not written when the exit code is 1 or 2.
With --json an error is an object with the members program, error and exit_code.)";

bool is_finite(float v) { return std::isfinite(v); }
constexpr const char* a_float = "a number within the range of float32";

/// A choice among values that have names.
template <class Value>
void add_choice(command_line& line, const std::string& name, const std::string& help,
                const std::vector<std::pair<std::string, Value>>& values, const std::function<void(Value)>& set) {
  std::vector<std::string> names;
  for (const auto& [text, value] : values) names.push_back(text);
  line.choice(name, help, names, [values, set](std::size_t i) { set(values[i].second); });
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

void add_types(command_line& line, options& o) {
  std::vector<std::pair<std::string, dtype>> types{{"bf16", dtype::bf16}, {"bf8", dtype::bf8}, {"f16", dtype::f16},
                                                   {"f32", dtype::f32},   {"fp8", dtype::fp8}, {"int8", dtype::int8}};
  add_choice<dtype>(line, "--dtype", "Elements of A and B (default f16)", types, [&o](dtype v) { o.type = v; });
  types.insert(types.end() - 1, {"int32", dtype::int32});
  add_choice<dtype>(line, "--out-dtype",
                    "Elements of C (default: those of A and B; f32 for fp8 and bf8, int32 for int8)", types,
                    [&o](dtype v) { o.result = v; });
  line.text(
      "--layout", "rrr|rcr|...",
      "Order of A, B and C: row-major or column-major each (default rrr for plain products of 16-bit elements, else "
      "rcr)",
      [&o](const std::string& text) { set_layout(o, text); });
}

void add_problem(command_line& line, options& o) {
  const auto add_size = [&](const char* name, std::optional<std::int64_t>& size, const char* help) {
    line.number<std::int64_t>(
        name, "SIZE", help, "a positive whole number", [](std::int64_t v) { return v > 0; },
        [&size](std::int64_t v) { size = v; });
  };
  add_size("--m", o.m, "Rows of A and C (default 512)");
  add_size("--n", o.n, "Columns of B and C (default 512)");
  add_size("--k", o.k, "Columns of A and rows of B (default 512)");
  add_size("--batch", o.batch, "Matrices of each kind (default 1)");
  add_types(line, o);
  line.number<std::int64_t>(
      "--gap", "ELEMENTS",
      "Leave a gap between rows (columns) in memory, and check that it stays untouched (default 0)",
      "a whole number from 0 to 2147483647", [](std::int64_t v) { return v >= 0 && v <= 2147483647; },
      [&o](std::int64_t v) { o.gap = v; });
  line.number<float>("--alpha", "NUMBER", "Factor of A B (default 1)", a_float, is_finite,
                     [&o](float v) { o.alpha = v; });
  line.number<float>("--beta", "NUMBER", "Factor of the initial C (default 0)", a_float, is_finite,
                     [&o](float v) { o.beta = v; });
  line.file("--a", "A.npy", "Read A from this file", o.a_file);
  line.file("--b", "B.npy", "Read B from this file", o.b_file);
  line.file("--c", "C.npy", "Read the initial C from this file; --beta is its factor", o.c_file);
  line.file("--out", "C.npy", "Write the result to this file", o.out_file);
  line.number<std::uint64_t>(
      "--seed", "NUMBER", "Seed of the random matrices (default 1)", "a whole number of at most 64 bits",
      [](std::uint64_t) { return true; }, [&o](std::uint64_t v) { o.seed = v; });
}

void add_epilogue(command_line& line, options& o) {
  line.number<float>("--scale", "NUMBER", "Multiply by this number, which the kernel reads from memory", a_float,
                     is_finite, [&o](float v) {
                       o.scale = v;
                       o.epilogue.scale = true;
                     });
  line.flag("--row-scale", "Multiply each row by a random number from [0.5, 1.5)", o.epilogue.row_scale);
  line.flag("--column-scale", "Likewise each column", o.epilogue.column_scale);
  line.flag("--bias", "Add a random number to each column", o.epilogue.bias);
  add_choice<tw::activation>(line, "--activation", "Apply this to the sum (default none)",
                             {{"gelu", tw::activation::gelu},
                              {"none", tw::activation::none},
                              {"relu", tw::activation::relu},
                              {"silu", tw::activation::silu}},
                             [&o](tw::activation v) { o.epilogue.activation = v; });
  line.flag("--residual", "Add a random matrix after the activation", o.epilogue.residual);
}

void add_kernel(command_line& line, options& o) {
  line.text("--policy", "NAME", "Use this kernel (default: the model's choice; a wrong name lists them)",
            [&o](const std::string& name) { o.kernel.policy = name; });
  line.number<std::int64_t>(
      "--split-k", "PARTS", "Divide k among this many blocks and add up their results (default 1)",
      "a whole number from 1 to 65535", [](std::int64_t v) { return v >= 1 && v <= 65535; },
      [&o](std::int64_t v) { o.kernel.split_k = v; });
  add_choice<tw::grid_curve>(line, "--grid-order", "Order in which blocks take the tiles of C (default row-groups)",
                             {{"hilbert", tw::grid_curve::hilbert},
                              {"row-groups", tw::grid_curve::row_groups},
                              {"rows", tw::grid_curve::rows}},
                             [&o](tw::grid_curve v) { o.kernel.grid_order = v; });
}

void add_run(command_line& line, options& o, const std::vector<std::string>& targets) {
  add_choice<device>(line, "--device",
                     "Run on the CPU, or on the GPU of this machine (default host; gpu in gemm-hip and gemm-cuda)",
                     {{"gpu", device::gpu}, {"host", device::host}}, [&o](device v) { o.where = v; });
  line.flag("--jit", "Run on this machine's GPU, with a kernel that is compiled for this problem", o.jit);
  line.choice("--arch", "GPU that the CPU emulates (default " + o.target + ")", targets,
              [&o, targets](std::size_t i) { o.target = targets[i]; });
  line.flag("--verify",
            "Compare with a double-precision reference (default: up to m n k = 2^36, as 4096 x 4096 x 4096)",
            [&o] { o.verify = true; });
  line.flag("--no-verify", "Do not compare", [&o] { o.verify = false; });
  line.number<int>(
      "--repeat", "TIMES", "Run this many times; the best time counts (default 1)", "a whole number from 1 to 1000000",
      [](int v) { return v >= 1 && v <= 1000000; }, [&o](int v) { o.repeat = v; });
  line.flag("--json", "Report as one JSON object", o.json);
  line.flag("--explain", "Run nothing: print what bounds the f16 kernels of --arch, and the best one for m, n and k",
            o.explain);
  line.flag("--explain-shapes", "Likewise: the best ones for 40 problems, as a table", o.explain_shapes);
}

/// --explain and --explain-shapes look at no other option.
void refuse_unexplained(const command_line& line, const options& o) {
  if (!o.explain && !o.explain_shapes) return;
  const std::string asked = o.explain ? "--explain" : "--explain-shapes";
  for (const program::option& other : line.options()) {
    const bool is_size = other.name == "--m" || other.name == "--n" || other.name == "--k";
    if (other.count == 0 || other.name == asked || other.name == "--arch" || (o.explain && is_size)) continue;
    throw refusal(asked + " takes --arch" + (o.explain ? ", --m, --n and --k" : "") +
                  " and prints text; it cannot be combined with " + other.name);
  }
}

void describe(command_line& line) {
  line.section_of_help("Matrices and files", matrices);
  line.section_of_help("What is correct", verification);
  line.section_of_help("Exit code", exit_codes);
  line.example("gemm --m 1000 --n 333 --k 77 --dtype bf16 --layout crc --arch gfx1201",
               "Multiplies random matrices of odd lengths with a kernel for an RX 9070");
  line.example("gemm --a a.npy --b b.npy --bias --activation relu --out c.npy", "Multiplies files");
  line.example("gemm --json --repeat 5", "Reports the best of five runs as JSON");
}

}  // namespace

options parse_options(int argc, const char* const* argv, const std::vector<std::string>& targets) {
  options result;
  command_line line("gemm", "C = activation(alpha A B + bias) + residual + beta C, in one tiled kernel");
  line.heading("The product");
  add_problem(line, result);
  line.heading("The epilogue");
  add_epilogue(line, result);
  line.heading("The kernel");
  add_kernel(line, result);
  line.heading("The run");
  add_run(line, result, targets);
  describe(line);
  if (const std::optional<std::string> text = line.parse(argc, argv)) {
    result.help = *text;
    return result;
  }
  if (result.c_file && !line.has("--beta")) throw refusal("--c needs --beta, the factor of the initial C");
  line.refuse_both("--verify", "--no-verify");
  line.refuse_both("--explain", "--explain-shapes");
  refuse_unexplained(line, result);
  line.refuse_both("--jit", "--arch");
  line.refuse_both("--jit", "--device");
  if (line.has("--arch")) {
    if (result.where == device::gpu)
      throw refusal("--arch chooses what the CPU emulates; it cannot be combined with --device gpu");
    result.where = device::host;
  }
  return result;
}

}  // namespace gemm_program
