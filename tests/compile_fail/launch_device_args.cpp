// SPDX-License-Identifier: MIT
// A kernel for several targets whose prepared arguments are another type for each: the GPU's code would not be found.
// COMPILERS: sm_80
// EXPECT: launch: device_args of a kernel for several targets must be one type
#include <tilewright/launch/launch.hpp>

namespace tw = tilewright;

struct size {
  int n;
};
struct blocks {
  int x, y, z;
};
template <class Arch>
struct kernel {
  using args_type = size;
  struct device_args {
    int n;
  };
  static const char* check(const size&) { return nullptr; }
  static device_args prepare(const size& s, const tw::launch_facts&) { return {s.n}; }
  static blocks grid(const device_args&) { return {1, 1, 1}; }
  static constexpr int block_size = 64, lds_bytes = 0;
  TILEWRIGHT_HD void operator()(const device_args&) const {}
};
void launch_it() { tw::launch<kernel>(size{1}); }
