/* SPDX-License-Identifier: MIT */
/* The shared library takes the archive that CMake linked into this program, and refuses what is none. */
#include <string.h>
#include <tilewright.h>

extern const char tilewright_consumer_c_gfx942_1[], tilewright_consumer_c_gfx942_1_end[];

int main(void) {
  const size_t bytes = (size_t)(tilewright_consumer_c_gfx942_1_end - tilewright_consumer_c_gfx942_1);
  if (tilewright_add_archive(tilewright_consumer_c_gfx942_1, bytes) != TILEWRIGHT_OK) return 1;
  if (tilewright_add_archive("nothing", 7) != TILEWRIGHT_WRONG_CALL) return 2;
  return strstr(tilewright_last_error(), "no archive") ? 0 : 3;
}
