/* SPDX-License-Identifier: MIT */
/* The same call from C, with memory of the GPU: HIP here, cudaMalloc and cudaMemcpy on NVIDIA GPUs. */
#include <tilewright.h>

#include <stdio.h>

extern int hipMalloc(void** memory, size_t bytes);
extern int hipMemset(void* memory, int value, size_t bytes);
extern int hipMemcpy(void* to, const void* from, size_t bytes, int kind);

static tilewright_tensor matrix(int64_t rows, int64_t cols) {
  tilewright_tensor t = {NULL, TILEWRIGHT_F16, 2, {rows, cols}, {cols, 1}};
  hipMalloc(&t.data, (size_t)(rows * cols) * 2);
  hipMemset(t.data, 0x3c, (size_t)(rows * cols) * 2); /* each element is 0x3c3c: 1.05859375 */
  return t;
}

int main(void) {
  tilewright_tensor a = matrix(100, 64), b = matrix(64, 72), c = matrix(100, 72);
  tilewright_gemm_options options = TILEWRIGHT_GEMM_OPTIONS;
  options.alpha = 2;
  if (tilewright_gemm(&c, &a, &b, &options) != TILEWRIGHT_OK) {
    printf("%s\n", tilewright_last_error());
    return 1;
  }
  uint16_t first = 0;
  hipMemcpy(&first, c.data, sizeof first, 2); /* to the host; waits for the GEMM */
  printf("c[0] has the bits %04x\n", first);  /* 2 * 64 * 1.05859375^2 = 143.44 */

  b.lengths[0] = 63;
  if (tilewright_gemm(&c, &a, &b, NULL) != TILEWRIGHT_OK) printf("%s\n", tilewright_last_error());
  return 0;
}
