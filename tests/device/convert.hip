// SPDX-License-Identifier: MIT
// Conversions to and from 8-bit elements, by the machine where it has instructions for them.
#include <tilewright/core/base/types.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tw = tilewright;
namespace exec = tilewright::exec;

/// out[0..3]: bits of in as fp8_ocp, bf8_ocp, fp8_fnuz, bf8_fnuz; out[4]: as int8; back[0..3]: those numbers as floats;
/// pairs: as out[0..3].
struct convert_args {
  const float* in;
  unsigned char* out[5];
  unsigned char* pairs[4];
  float* back[4];
  int length;
};

#if TILEWRIGHT_DEVICE_PASS
template <class T>
TILEWRIGHT_HD void convert(const convert_args& args, int format, int i) {
  const T value = tw::type_convert<T>(args.in[i]);
  args.out[format][i] = value.bits;
  args.back[format][i] = value;
  args.pairs[format][i] = tw::convert_pair<T>(args.in[i], args.in[0])[0].bits;
}
#endif

extern "C" TILEWRIGHT_GLOBAL void convert_all(convert_args args) {
#if TILEWRIGHT_DEVICE_PASS
  const int i = exec::block_id().x * 256 + exec::thread_id();
  if (i >= args.length) return;
  convert<tw::fp8_ocp_t>(args, 0, i);
  convert<tw::bf8_ocp_t>(args, 1, i);
  convert<tw::fp8_fnuz_t>(args, 2, i);
  convert<tw::bf8_fnuz_t>(args, 3, i);
  args.out[4][i] = static_cast<unsigned char>(tw::type_convert<tw::int8_t>(args.in[i]));
#endif
}
