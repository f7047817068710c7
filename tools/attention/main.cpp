// SPDX-License-Identifier: MIT
// The attention program: reads or draws the tensors, computes on a machine, checks and reports.
#include <cstdio>
#include <exception>
#include <new>

#include <tilewright/launch/launch_error.hpp>

#include "atomic_file.hpp"
#include "npy.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace {

using namespace attention_program;
using gemm_program::progress_line;

enum exit_code { success = 0, wrong_result = 1, refused = 2 };

int fail(exit_code code, std::string sentence) {
  for (char& c : sentence)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  std::fprintf(stderr, "attention: %s\n", sentence.c_str());
  return code;
}

void print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) throw refusal("cannot write the report");
}

outcome run(const options& o, inputs& data) {
  if (o.on_gpu != false) {
    if (std::optional<outcome> result = attend_on_gpu(data, o)) return *result;
    if (o.on_gpu == true)
      throw refusal(
          "this program has no kernels for GPUs; attention-hip and attention-cuda do, and --device host emulates one");
  }
  progress_line line("computing");
  return attend_on_cpu(data, o, [&line](double fraction) { line(fraction); });
}

int attend(const options& o) {
  for (const auto* file : {&o.out_file, &o.lse_file, &o.d_q_file, &o.d_k_file, &o.d_v_file})
    if (*file) gemm_program::require_writable(**file);
  inputs data = prepare_inputs(o);
  report r{.data = data, .seed = o.seed, .result = run(o, data), .verification = {}};
  if (o.verify) {
    progress_line line("verifying");
    r.verification = compare_with_reference(data, [&line](double fraction) { line(fraction); });
  }
  const bool wrong = o.verify && !is_correct(*r.verification, data.o.type);
  print(o.json ? to_json(r) : to_text(r));
  if (wrong) return fail(wrong_result, failure_sentence(r));
  for (const auto& [file, tensor] : {std::pair{&o.out_file, &data.o},
                                     {&o.lse_file, &data.lse},
                                     {&o.d_q_file, &data.d_q},
                                     {&o.d_k_file, &data.d_k},
                                     {&o.d_v_file, &data.d_v}})
    if (*file) gemm_program::write_npy(**file, *tensor);
  return success;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const options o = parse_options(argc, argv, emulated_targets());
    if (!o.help.empty()) {
      print(o.help);
      return success;
    }
    return attend(o);
  } catch (const refusal& error) {
    return fail(refused, error.what());
  } catch (const tilewright::launch_error& error) {
    return fail(refused, error.what());
  } catch (const std::bad_alloc&) {
    return fail(refused, "this machine does not have enough memory for these tensors");
  } catch (const std::exception& error) {
    return fail(wrong_result, std::string("the kernel failed: ") + error.what());
  }
}
