// SPDX-License-Identifier: MIT
// The gemm program: reads or draws matrices, multiplies them on a machine, checks the result and reports.
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "atomic_file.hpp"
#include "comparison.hpp"
#include "explain.hpp"
#include "inputs.hpp"
#include "npy.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace {

using namespace gemm_program;

enum exit_code { success = 0, wrong_result = 1, refused = 2 };

int fail(exit_code code, std::string sentence) {
  for (char& c : sentence)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  std::fprintf(stderr, "gemm: %s\n", sentence.c_str());
  return code;
}

void print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) throw refusal("cannot write the report");
}

std::unique_ptr<backend> make_backend(const options& o) {
  if (o.jit) return make_jit_backend();
  if (o.where != device::host) {
    if (std::unique_ptr<backend> gpu = make_gpu_backend()) return gpu;
    if (o.where == device::gpu)
      throw refusal("this program has no kernels for GPUs; gemm-hip and gemm-cuda do, and --device host emulates one");
  }
  return make_cpu_backend(o.target);
}

outcome run(backend& machine, const options& o, inputs& data) {
  progress_line line("multiplying");
  run_options how{.kernel = o.kernel, .repeat = o.repeat, .progress = [&line](double fraction) { line(fraction); }};
  return machine.run(data.what, data.pointers(), how);
}

comparison verify(const inputs& data, const matrix& initial_c) {
  progress_line line("verifying");
  return compare_with_reference(data, initial_c, [&line](double fraction) { line(fraction); });
}

int multiply(const options& o) {
  if (o.out_file) require_writable(*o.out_file);
  const std::unique_ptr<backend> machine = make_backend(o);
  inputs data = prepare_inputs(o, machine->fp8(), machine->target());
  const bool verified = is_verified(o, data.what);
  const matrix initial_c = verified && data.what.beta != 0 ? data.c : matrix{};

  report r{.what = data.what,
           .a_source = data.a_source,
           .b_source = data.b_source,
           .c_source = data.c_source,
           .seed = o.seed,
           .result = run(*machine, o, data),
           .verification = {}};
  if (verified) r.verification = verify(data, initial_c);
  const bool wrong = verified && !is_correct(*r.verification, data.what.result);
  print(o.json ? to_json(r) : to_text(r));
  if (o.out_file && !wrong) write_npy(*o.out_file, data.c);
  return wrong ? fail(wrong_result, failure_sentence(r)) : success;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const options o = parse_options(argc, argv, emulated_targets());
    if (!o.help.empty()) {
      print(o.help);
      return success;
    }
    if (o.explain) {
      print(explain(o.target, o.m.value_or(512), o.n.value_or(512), o.k.value_or(512)));
      return success;
    }
    if (o.explain_shapes) {
      print(explain_shapes(o.target));
      return success;
    }
    return multiply(o);
  } catch (const refusal& error) {
    return fail(refused, error.what());
  } catch (const std::bad_alloc&) {
    return fail(refused, "this machine does not have enough memory for these matrices");
  } catch (const std::exception& error) {
    return fail(wrong_result, std::string("the kernel failed: ") + error.what());
  }
}
