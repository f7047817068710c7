// SPDX-License-Identifier: MIT
#include "source_text.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <tilewright/jit/error.hpp>

namespace tilewright::jit {
namespace {

bool is_identifier(const std::string& name) {
  const auto is_fit = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), is_fit);
}

std::string entry(const std::string& name, const std::string& kernel, const std::string& args) {
  return "extern \"C\" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(" + kernel +
         "::block_size, tilewright::detail::blocks_at_once_of<" + kernel +
         ">()) TILEWRIGHT_WAVES_PER_SIMD(tilewright::detail::waves_per_simd_of<" + kernel + ">()) void " + name +
         "(TILEWRIGHT_JIT_PARAMETER " + args + " args) {\n#if TILEWRIGHT_DEVICE_PASS\n  " + kernel +
         "{}(args);\n#endif\n}\n";
}

}  // namespace

std::string follower_name(const std::string& kernel, int i) { return kernel + (i == 0 ? "_then" : "_last"); }

translation_unit make_unit(const kernel_source& source) {
  if (!is_identifier(source.name))
    throw error("'" + source.name + "' cannot name a kernel; use letters, digits and underscores");
  if (source.kernel.empty()) throw error(source.name + " has no kernel_source::kernel, the type of the kernel");
  translation_unit unit;
  unit.name = source.name;
  if (!source.uses.empty()) {
    unit.definitions.push_back("TILEWRIGHT_ONLY");
    std::vector<std::string> uses = source.uses;
    uses.insert(uses.end(), {"launch/kernel_facts.hpp", "launch/run_kernel.hpp"});
    for (std::string header : uses) {
      if (header.ends_with(".hpp")) header.resize(header.size() - 4);
      for (char& c : header) c = std::isalnum(static_cast<unsigned char>(c)) ? char(std::toupper(c)) : '_';
      unit.definitions.push_back("TILEWRIGHT_USES_" + header + "=1");
    }
  }
  unit.text =
      "#include \"tilewright_single.hpp\"\nnamespace tw = tilewright;\nusing tilewright::index_t;\n"
      "using tilewright::long_index_t;\n#line 1 \"" +
      source.name + "\"\n" + source.code + "\n#line 1 \"tilewright_jit\"\nnamespace tilewright_jit {\n" +
      "using kernel = " + source.kernel + ";\nusing args_type = tilewright::detail::launched_args_t<kernel>;\n" +
      "constexpr tilewright::kernel_facts facts = tilewright::kernel_facts::of<kernel>(" + source.problem +
      ");\n"
      "using then = tilewright::detail::follower_or_none<kernel>::type;\n"
      "using last = tilewright::detail::follower_or_none<then>::type;\n}\n"
      "#if defined(__CUDACC__) && !defined(__clang__)\n"
      "#define TILEWRIGHT_JIT_PARAMETER const __grid_constant__\n"
      "#else\n#define TILEWRIGHT_JIT_PARAMETER const\n#endif\n"
      "extern \"C\" __attribute__((device, used)) tilewright::kernel_facts tilewright_facts = "
      "tilewright_jit::facts;\n" +
      entry(source.name, "tilewright_jit::kernel", "tilewright_jit::args_type") +
      entry(follower_name(source.name, 0), "tilewright_jit::then",
            "tilewright::detail::launched_args_t<tilewright_jit::then>") +
      entry(follower_name(source.name, 1), "tilewright_jit::last",
            "tilewright::detail::launched_args_t<tilewright_jit::last>");
  return unit;
}

kernel_request remembered(kernel_request make) {
  struct memory {
    std::mutex mutex;
    std::map<std::string, kernel_source> sources;
  };
  return [make = std::move(make), known = std::make_shared<memory>()](const std::string& target) {
    const std::lock_guard guard(known->mutex);
    const auto found = known->sources.find(target);
    return found != known->sources.end() ? found->second : known->sources.emplace(target, make(target)).first->second;
  };
}

}  // namespace tilewright::jit
