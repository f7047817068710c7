/* SPDX-License-Identifier: MIT */
/* The calls of tilewright::ops for C and for languages that call C (docs/ops.md). Link libtilewright; it needs neither
   CUDA nor ROCm when it is linked. Functions may be called from several threads. */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TILEWRIGHT_API __attribute__((visibility("default")))
#else
#define TILEWRIGHT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What every call returns. tilewright_last_error() says more. */
typedef enum tilewright_status {
  TILEWRIGHT_OK = 0,
  TILEWRIGHT_WRONG_CALL = 1,    /* the arguments; nothing was queued */
  TILEWRIGHT_NO_DEVICE = 2,     /* there is no GPU, and no CPU emulator was asked for */
  TILEWRIGHT_NO_KERNEL = 3,     /* none is compiled in, and none could be compiled */
  TILEWRIGHT_DEVICE_FAILED = 4, /* the driver's message */
  TILEWRIGHT_INTERNAL = 5       /* anything else, such as no memory */
} tilewright_status;

/* The message of the last call of this thread that failed, one sentence; "" if none did. Valid until the thread's next
   call. */
TILEWRIGHT_API const char* tilewright_last_error(void);
/* The library's version: 10000 major + 100 minor + patch. */
TILEWRIGHT_API int tilewright_version(void);

typedef enum tilewright_element {
  TILEWRIGHT_F16 = 0,
  TILEWRIGHT_BF16 = 1,
  TILEWRIGHT_F32 = 2,
  TILEWRIGHT_FP8 = 3, /* e4m3, as the GPU's matrix instructions take it */
  TILEWRIGHT_BF8 = 4, /* e5m2 */
  TILEWRIGHT_I8 = 5,
  TILEWRIGHT_I32 = 6
} tilewright_element;

#define TILEWRIGHT_MAX_RANK 5

/* A view of memory of the device. This struct does not change. */
typedef struct tilewright_tensor {
  void* data;   /* the element of index 0, 0, ... */
  int32_t type; /* a tilewright_element */
  int32_t rank; /* number of dimensions */
  int64_t lengths[TILEWRIGHT_MAX_RANK];
  int64_t strides[TILEWRIGHT_MAX_RANK]; /* in elements */
} tilewright_tensor;

/* Structs of options begin with their size, which their initialiser sets. A struct that a program was compiled with may
   be shorter than the library's: members that it lacks have their defaults. A pointer to options may be NULL: defaults.
   Tensors in options are pointers: NULL: none. */

/* Where kernels are found; see library_options of the C++ interface. */
typedef struct tilewright_library_options {
  size_t size;
  const char* cache_directory;  /* NULL: TILEWRIGHT_CACHE_DIR, else the user's cache */
  const char* const* archives;  /* files of tilewright-pack */
  size_t num_archives;
  const char* compiler;         /* NULL: the first that is there */
  int32_t forbid_compiling;     /* 1: kernels come from archives and the cache */
  const char* emulate;          /* a target: calls run on the CPU emulator; NULL: TILEWRIGHT_EMULATE, else the GPU */
} tilewright_library_options;
#define TILEWRIGHT_LIBRARY_OPTIONS {sizeof(tilewright_library_options), NULL, NULL, 0, NULL, 0, NULL}

TILEWRIGHT_API tilewright_status tilewright_configure(const tilewright_library_options* options);
TILEWRIGHT_API tilewright_status tilewright_release_workspaces(void* stream);

/* Between these two, calls of this thread are validated, and their kernels made ready, but not queued. The second one
   returns a line for each kernel: what would run, and why. NULL if the first was not called. Valid until the thread's
   next call. */
TILEWRIGHT_API void tilewright_begin_explain(void);
TILEWRIGHT_API const char* tilewright_end_explain(void);

typedef enum tilewright_activation {
  TILEWRIGHT_NO_ACTIVATION = 0,
  TILEWRIGHT_RELU = 1,
  TILEWRIGHT_GELU = 2, /* with tanh */
  TILEWRIGHT_SILU = 3
} tilewright_activation;

/* See gemm_options of the C++ interface. */
typedef struct tilewright_gemm_options {
  size_t size;
  float alpha, beta;
  const tilewright_tensor* scale;        /* one f32 */
  const tilewright_tensor* row_scale;    /* (m) f32 */
  const tilewright_tensor* column_scale; /* (n) f32 */
  const tilewright_tensor* bias;         /* (n) of C's type */
  int32_t activate;                      /* a tilewright_activation */
  const tilewright_tensor* residual;     /* as C */
  const tilewright_tensor* gate;         /* as B: SwiGLU */
  const char* choice;                    /* NULL: the library chooses */
  void* workspace;                       /* NULL: the library's */
  int64_t workspace_bytes;
  void* stream; /* cudaStream_t, CUstream or hipStream_t; NULL: the default stream */
} tilewright_gemm_options;
#define TILEWRIGHT_GEMM_OPTIONS \
  {sizeof(tilewright_gemm_options), 1.0f, 0.0f, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, NULL}

/* C (m, n) = alpha A (m, k) B (k, n) + beta C; a third, first dimension is a batch. */
TILEWRIGHT_API tilewright_status tilewright_gemm(const tilewright_tensor* c, const tilewright_tensor* a,
                                                 const tilewright_tensor* b, const tilewright_gemm_options* options);

#ifdef __cplusplus
}
#endif
#endif
