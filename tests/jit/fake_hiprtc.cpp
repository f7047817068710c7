// SPDX-License-Identifier: MIT
// Stands for hipRTC, which is not there in CI. The code object that it makes holds the options that it was given.
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "fake_object.hpp"

namespace {

struct program {
  std::string source, header, log, code;
};
enum result { success = 0, invalid = 4, failed = 6 };

result copy(const std::string& text, char* to) {
  std::memcpy(to, text.c_str(), text.size());
  return success;
}

}  // namespace

extern "C" {

result hiprtcVersion(int* major, int* minor) {
  *major = 7;
  *minor = 1;
  return success;
}
const char* hiprtcGetErrorString(result r) { return r == failed ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_ERROR"; }
result hiprtcCreateProgram(program** made, const char* source, const char*, int count, const char* const* headers,
                           const char* const* names) {
  if (count != 1 || std::string_view(names[0]) != "tilewright_single.hpp") return invalid;
  *made = new program{source, headers[0], {}, {}};
  return success;
}
result hiprtcCompileProgram(program* p, int count, const char* const* options) {
  constexpr std::string_view wrong = "#error ";
  const std::size_t at = p->source.find(wrong);
  if (at != std::string::npos) {
    const std::string rest = p->source.substr(at + wrong.size());
    p->log = "scale:1:2: error: " + rest.substr(0, rest.find('\n')) + '\0';
    return failed;
  }
  if (p->source.find("#include \"tilewright_single.hpp\"") == std::string::npos ||
      p->header.find("namespace tilewright") == std::string::npos)
    return invalid;
  std::string list;
  for (int i = 0; i < count; ++i) list.append(options[i]).append(" ");
  p->code = make_object(some_facts(), list);
  return success;
}
result hiprtcGetProgramLogSize(program* p, std::size_t* size) {
  *size = p->log.size();
  return success;
}
result hiprtcGetProgramLog(program* p, char* log) { return copy(p->log, log); }
result hiprtcGetCodeSize(program* p, std::size_t* size) {
  *size = p->code.size();
  return success;
}
result hiprtcGetCode(program* p, char* code) { return copy(p->code, code); }
result hiprtcDestroyProgram(program** p) {
  delete *p;
  *p = nullptr;
  return success;
}
}
