// SPDX-License-Identifier: MIT
// element_function: an element-wise function as text.
#pragma once

#include <string>

namespace tilewright::jit {

/// A function of one float, or of two where a problem has a second input.
struct element_function {
  std::string type = "tw::copy_function";  // a struct without state; its operator() takes and returns floats
  std::string code = {};                   // C++ that defines it, if the library does not
};

/// The function that returns a C++ expression of x, and of x2 where there are two inputs: "x * x + 1".
element_function expression(const std::string& text, int inputs = 1);

}  // namespace tilewright::jit
