# SPDX-License-Identifier: MIT
# Writes OUTPUT, a C++ file with the text of HEADER.
file(READ ${HEADER} text)
string(SHA256 digest "${text}")
file(WRITE ${OUTPUT} "#include \"embedded_header.hpp\"
namespace tilewright::jit {
std::string_view embedded_header() {
  using namespace std::string_view_literals;
  return R\"tilewright(${text})tilewright\"sv;  // counted by the lexer: strlen takes clang seconds
}
const std::string& embedded_header_digest() {
  static const std::string digest = \"${digest}\";
  return digest;
}
}
")
