// SPDX-License-Identifier: MIT
#include "shapes.hpp"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <tilewright/jit/error.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/jit/given_later.hpp>

#include "entry_lines.hpp"
#include "lists.hpp"

namespace pack {
namespace {

jit::kernel_source read_kernel(reader& r, const std::filesystem::path& folder) {
  jit::kernel_source s;
  s.name = r.require<std::string>("name");
  s.code = read_file(folder / r.require<std::string>("source"));
  s.kernel = r.require<std::string>("kernel");
  s.problem = r.get<std::string>("problem", "");
  if (const json* uses = r.list("uses"))
    for (const json& header : *uses) s.uses.push_back(header.is_string() ? header.get<std::string>() : "");
  return s;
}

/// The request, whose errors say which entry asks for it.
jit::kernel_request named(const std::string& where, jit::kernel_request request) {
  return [where, request = std::move(request)](const std::string& target) {
    try {
      return request(target);
    } catch (const jit::error& e) {
      const std::string sentence = e.what();
      throw jit::error(where + " for " + target + ": " + sentence.substr(sentence.find(": ") + 2));
    }
  };
}

/// The lists of a document.
class document {
 public:
  explicit document(std::string_view text)
      : lines_(entry_lines(text)), all_(json::parse(text)), reader_(all_, "the list of shapes") {}

  reader& members() { return reader_; }
  /// add(reader) for each entry of a list.
  template <class Add>
  void for_each(const char* name, Add add) {
    const json* const list = reader_.list(name);
    const std::vector<int>& lines = lines_[name];
    for (std::size_t i = 0; list && i < list->size(); ++i) {
      std::string where = std::string(name) + "[" + std::to_string(i) + "]";
      if (lines.size() == list->size()) where += " (line " + std::to_string(lines[i]) + ")";
      reader r((*list)[i], where);
      add(r);
      r.finish();
    }
  }

 private:
  std::map<std::string, std::vector<int>> lines_;
  json all_;
  reader reader_;
};

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file;
  const bool may_never_end = std::filesystem::is_character_file(path);  // /dev/zero
  if (!may_never_end && !std::filesystem::is_directory(path)) file.open(path, std::ios::binary);
  if (!file.is_open()) throw jit::error("the file " + path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

shapes read_shapes(std::string_view text, const std::filesystem::path& folder) {
  document all(text);
  shapes result;
  if (const json* targets = all.members().list("targets"))
    for (const json& t : *targets) result.targets.push_back(t.is_string() ? t.get<std::string>() : "");
  all.for_each("gemm", [&](reader& r) {
    result.products.push_back(read_product(r));
    result.kernels.push_back(named(r.where(), product_request(result.products.back())));
  });
  for (const auto& lists : {attention_lists(), grouped_lists(), row_lists(), tensor_lists()})
    for (const operation_list& list : lists)
      all.for_each(list.name, [&](reader& r) {
        try {
          result.kernels.push_back(named(r.where(), list.read(r)));
        } catch (const jit::error& e) {  // of the request; the reader's errors name the entry themselves
          const std::string sentence = std::string(e.what()).substr(5);
          if (sentence.starts_with(r.where())) throw;
          r.fail("cannot be computed: " + sentence);
        }
      });
  all.for_each("sets", [&](reader& r) { result.sets.push_back(read_set(r)); });
  all.for_each("kernels", [&](reader& r) {
    result.kernels.push_back([source = read_kernel(r, folder)](const std::string&) { return source; });
  });
  all.for_each("texts", [&](reader& r) {
    const std::string name = r.require<std::string>("name");
    result.texts[name] = read_file(folder / r.require<std::string>("file"));
  });
  add_tuned(result);
  all.members().finish();
  return result;
}

void add_tuned(shapes& all) {
  const auto tuning = all.texts.find("tuning");
  if (tuning == all.texts.end()) return;
  for (const jit::gemm_problem& given : all.products)
    for (void* const workspace : {given.args.workspace, jit::given_later(4)}) {
      jit::gemm_problem p = given;
      p.args.workspace = workspace;
      for (const jit::gemm_problem& with_choice : jit::tuned(tuning->second, p))
        all.kernels.push_back([usual = jit::gemm(given), chosen = jit::gemm(with_choice)](const std::string& target) {
          return target == "sm_90a" ? chosen(target) : usual(target);
        });
    }
}

std::vector<jit::kernel_source> sources_of(const shapes& all, const std::string& target) {
  std::vector<jit::kernel_source> sources;
  for (const jit::kernel_request& request : all.kernels) sources.push_back(request(target));
  for (const kernel_set& set : all.sets)
    for (jit::kernel_source& source : kernels_of(set, target)) sources.push_back(std::move(source));
  return sources;
}

}  // namespace pack
