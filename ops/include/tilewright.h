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
  const char* cache_directory; /* NULL: TILEWRIGHT_CACHE_DIR, else the user's cache */
  const char* const* archives; /* files of tilewright-pack */
  size_t num_archives;
  const char* compiler;     /* NULL: the first that is there */
  int32_t forbid_compiling; /* 1: kernels come from archives and the cache */
  const char* emulate;      /* a target: calls run on the CPU emulator; NULL: TILEWRIGHT_EMULATE, else the GPU */
} tilewright_library_options;
#define TILEWRIGHT_LIBRARY_OPTIONS {sizeof(tilewright_library_options), NULL, NULL, 0, NULL, 0, NULL}

TILEWRIGHT_API tilewright_status tilewright_configure(const tilewright_library_options* options);
TILEWRIGHT_API tilewright_status tilewright_release_workspaces(void* stream);
/* Makes an archive of tilewright-pack known that is in memory, and stays there: calls find its kernels before those of
   files. tilewright_add_kernels of CMake calls this before main. */
TILEWRIGHT_API tilewright_status tilewright_add_archive(const void* data, size_t bytes);

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

typedef enum tilewright_weight_format {
  TILEWRIGHT_WEIGHT_FORMAT_INT4 = 0,
  TILEWRIGHT_WEIGHT_FORMAT_MXFP4 = 1,
  TILEWRIGHT_WEIGHT_FORMAT_NVFP4 = 2,
  TILEWRIGHT_WEIGHT_FORMAT_MXFP8 = 3,
  TILEWRIGHT_WEIGHT_FORMAT_INT8 = 4,
  TILEWRIGHT_WEIGHT_FORMAT_E4M3 = 5,
  TILEWRIGHT_WEIGHT_FORMAT_MXFP8_E5M2 = 6,
  TILEWRIGHT_WEIGHT_FORMAT_MXFP6_E2M3 = 7,
  TILEWRIGHT_WEIGHT_FORMAT_MXFP6_E3M2 = 8
} tilewright_weight_format;

/* See narrow_weights and gemm_options of the C++ interface. */
typedef struct tilewright_narrow_gemm_options {
  size_t size;
  int32_t format;                 /* a tilewright_weight_format */
  int32_t group;                  /* int4: 32, 64 or a multiple of 128 */
  const tilewright_tensor* zeros; /* int4: as scales, i8; NULL: 8 */
  float alpha, beta;
  const tilewright_tensor* scale;        /* one f32 */
  const tilewright_tensor* row_scale;    /* (m) f32 */
  const tilewright_tensor* column_scale; /* (n) f32 */
  const tilewright_tensor* bias;         /* (n) of C's type */
  int32_t activate;                      /* a tilewright_activation */
  const tilewright_tensor* residual;     /* as C */
  void* workspace;                       /* NULL: the library's */
  int64_t workspace_bytes;
  void* stream;
  const tilewright_tensor* a_scales; /* of an A that is stored as B is; NULL: A is f16 or bf16 */
  int32_t a_format;                  /* a tilewright_weight_format, with a_scales */
  int32_t a_group;                   /* as group, of A */
} tilewright_narrow_gemm_options;
#define TILEWRIGHT_NARROW_GEMM_OPTIONS     \
  {sizeof(tilewright_narrow_gemm_options), \
   0,                                      \
   128,                                    \
   NULL,                                   \
   1.0f,                                   \
   0.0f,                                   \
   NULL,                                   \
   NULL,                                   \
   NULL,                                   \
   NULL,                                   \
   0,                                      \
   NULL,                                   \
   NULL,                                   \
   0,                                      \
   NULL,                                   \
   NULL,                                   \
   1,                                      \
   128}

/* C (m, n) = alpha A (m, k) B^T + beta C with B in a narrow format, maybe A too: codes (n, bytes of k), and scales. */
TILEWRIGHT_API tilewright_status tilewright_narrow_gemm(const tilewright_tensor* c, const tilewright_tensor* a,
                                                        const tilewright_tensor* codes, const tilewright_tensor* scales,
                                                        const tilewright_narrow_gemm_options* options);

/* The other calls: tensors and options are those of the C++ interface (tilewright/ops/<operation>.hpp). */

typedef struct tilewright_softmax_options {
  size_t size;
  int32_t is_log;
  void* stream;
} tilewright_softmax_options;
#define TILEWRIGHT_SOFTMAX_OPTIONS {sizeof(tilewright_softmax_options), 0, NULL}
TILEWRIGHT_API tilewright_status tilewright_softmax(const tilewright_tensor* y, const tilewright_tensor* x,
                                                    const tilewright_softmax_options* options);

typedef struct tilewright_norm_options {
  size_t size;
  float epsilon;
  const tilewright_tensor* bias;     /* (cols), layer_norm */
  const tilewright_tensor* residual; /* as x, with sum */
  const tilewright_tensor* sum;      /* as x */
  const tilewright_tensor* scales;   /* y has 8 bits */
  const tilewright_tensor* mean;     /* (rows) f32, layer_norm */
  const tilewright_tensor* rstd;     /* (rows) f32 */
  void* stream;
} tilewright_norm_options;
#define TILEWRIGHT_NORM_OPTIONS {sizeof(tilewright_norm_options), 1e-5f, NULL, NULL, NULL, NULL, NULL, NULL, NULL}
TILEWRIGHT_API tilewright_status tilewright_rms_norm(const tilewright_tensor* y, const tilewright_tensor* x,
                                                     const tilewright_tensor* weight,
                                                     const tilewright_norm_options* options);
TILEWRIGHT_API tilewright_status tilewright_layer_norm(const tilewright_tensor* y, const tilewright_tensor* x,
                                                       const tilewright_tensor* weight,
                                                       const tilewright_norm_options* options);

typedef struct tilewright_norm_gradient_options {
  size_t size;
  const tilewright_tensor* d_sum;  /* as x */
  const tilewright_tensor* d_bias; /* (cols), layer_norm_gradient */
  void* stream;
} tilewright_norm_gradient_options;
#define TILEWRIGHT_NORM_GRADIENT_OPTIONS {sizeof(tilewright_norm_gradient_options), NULL, NULL, NULL}
TILEWRIGHT_API tilewright_status tilewright_rms_norm_gradient(const tilewright_tensor* dx,
                                                              const tilewright_tensor* d_weight,
                                                              const tilewright_tensor* dy, const tilewright_tensor* x,
                                                              const tilewright_tensor* weight,
                                                              const tilewright_tensor* rstd,
                                                              const tilewright_norm_gradient_options* options);
TILEWRIGHT_API tilewright_status tilewright_layer_norm_gradient(
    const tilewright_tensor* dx, const tilewright_tensor* d_weight, const tilewright_tensor* dy,
    const tilewright_tensor* x, const tilewright_tensor* weight, const tilewright_tensor* mean,
    const tilewright_tensor* rstd, const tilewright_norm_gradient_options* options);

typedef struct tilewright_rotary_options {
  size_t size;
  int32_t is_interleaved;
  int32_t is_inverse;
  const tilewright_tensor* position; /* (tokens) i32 */
  void* stream;
} tilewright_rotary_options;
#define TILEWRIGHT_ROTARY_OPTIONS {sizeof(tilewright_rotary_options), 0, 0, NULL, NULL}
TILEWRIGHT_API tilewright_status tilewright_rotary(const tilewright_tensor* y, const tilewright_tensor* x,
                                                   const tilewright_tensor* cos, const tilewright_tensor* sin,
                                                   const tilewright_rotary_options* options);

typedef struct tilewright_cross_entropy_options {
  size_t size;
  const tilewright_tensor* gradient; /* as logits */
  const tilewright_tensor* log_sum;  /* (rows) f32 */
  const tilewright_tensor* factor;   /* (rows) f32 */
  float scale;
  void* stream;
} tilewright_cross_entropy_options;
#define TILEWRIGHT_CROSS_ENTROPY_OPTIONS {sizeof(tilewright_cross_entropy_options), NULL, NULL, NULL, 1.0f, NULL}
TILEWRIGHT_API tilewright_status tilewright_cross_entropy(const tilewright_tensor* loss,
                                                          const tilewright_tensor* logits,
                                                          const tilewright_tensor* target,
                                                          const tilewright_cross_entropy_options* options);

typedef struct tilewright_quantise_options {
  size_t size;
  void* stream;
} tilewright_quantise_options;
#define TILEWRIGHT_QUANTISE_OPTIONS {sizeof(tilewright_quantise_options), NULL}
TILEWRIGHT_API tilewright_status tilewright_quantise(const tilewright_tensor* y, const tilewright_tensor* scales,
                                                     const tilewright_tensor* x,
                                                     const tilewright_quantise_options* options);

typedef struct tilewright_attention_options {
  size_t size;
  float scale; /* 0: 1 / sqrt(head dimension) */
  int32_t causal;
  int32_t window_left, window_right;     /* -1: no limit */
  const tilewright_tensor* lse;          /* (batch, queries, heads) f32 */
  const tilewright_tensor* query_starts; /* (sequences + 1) i32 */
  const tilewright_tensor* key_starts;
  int32_t max_queries, max_keys;
  void* stream;
  const tilewright_tensor* sinks;   /* (heads) f32: a score for each head that has no value */
  const tilewright_tensor* d_sinks; /* (heads) f32: a result of attention_backward */
  /* block_mask, where batch and heads may be 1: a bit for each tile of keys that a tile of queries sees */
  const tilewright_tensor* block_mask; /* (batch, heads, tiles of queries, words of 32 tiles) i32 */
  int32_t mask_queries, mask_keys;     /* of a tile: powers of two from 16 to 2^20 */
} tilewright_attention_options;
#define TILEWRIGHT_ATTENTION_OPTIONS \
  {sizeof(tilewright_attention_options), 0.0f, 0, -1, -1, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 128, 128}
TILEWRIGHT_API tilewright_status tilewright_attention(const tilewright_tensor* o, const tilewright_tensor* q,
                                                      const tilewright_tensor* k, const tilewright_tensor* v,
                                                      const tilewright_attention_options* options);
TILEWRIGHT_API tilewright_status tilewright_attention_backward(const tilewright_tensor* dq, const tilewright_tensor* dk,
                                                               const tilewright_tensor* dv,
                                                               const tilewright_tensor* d_o, const tilewright_tensor* q,
                                                               const tilewright_tensor* k, const tilewright_tensor* v,
                                                               const tilewright_tensor* o,
                                                               const tilewright_attention_options* options);

typedef struct tilewright_attention_decode_options {
  size_t size;
  float scale;
  int32_t causal;
  int32_t window_left;
  const tilewright_tensor* lse;
  const tilewright_tensor* key_counts;  /* (batch) i32 */
  const tilewright_tensor* block_table; /* (batch, pages) i32 */
  void* stream;
  const tilewright_tensor* query_starts; /* (batch + 1) i32: q and o are (rows, heads, dim) */
  int32_t max_queries;                   /* with query_starts: the most of a sequence */
  const tilewright_tensor* k_scales;     /* of fp8 or i8: (batch or pages, keys or rows, kv_heads) f32, each may be 1 */
  const tilewright_tensor* v_scales;     /* the same of v */
  const tilewright_tensor* sinks;        /* (heads) f32: a score for each head that has no value */
} tilewright_attention_decode_options;
#define TILEWRIGHT_ATTENTION_DECODE_OPTIONS \
  {sizeof(tilewright_attention_decode_options), 0.0f, 0, -1, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL}
TILEWRIGHT_API tilewright_status tilewright_attention_decode(const tilewright_tensor* o, const tilewright_tensor* q,
                                                             const tilewright_tensor* k, const tilewright_tensor* v,
                                                             const tilewright_attention_decode_options* options);

typedef struct tilewright_grouped_gemm_options {
  size_t size;
  float alpha;
  void* stream;
} tilewright_grouped_gemm_options;
#define TILEWRIGHT_GROUPED_GEMM_OPTIONS {sizeof(tilewright_grouped_gemm_options), 1.0f, NULL}
TILEWRIGHT_API tilewright_status tilewright_grouped_gemm(const tilewright_tensor* c, const tilewright_tensor* a,
                                                         const tilewright_tensor* b, const tilewright_tensor* ends,
                                                         const tilewright_grouped_gemm_options* options);

/* A collective that a program queues on a stream: NULL, or a sentence that says why it was not. See communicator of the
   C++ interface. */
typedef const char* (*tilewright_collective)(void* context, const void* sent, void* received, int64_t bytes,
                                             void* stream);
typedef struct tilewright_communicator {
  size_t size;
  int32_t rank, ranks;
  void* context;
  tilewright_collective all_gather;
  tilewright_collective all_to_all;
} tilewright_communicator;
/* By NCCL or RCCL: comm is an ncclComm_t. */
TILEWRIGHT_API tilewright_status tilewright_nccl_communicator(tilewright_communicator* to, void* comm, int32_t rank,
                                                              int32_t ranks);
/* C (ranks m, n) = A of all ranks (m, k each) times B (k, n). */
TILEWRIGHT_API tilewright_status tilewright_all_gather_gemm(const tilewright_tensor* c, const tilewright_tensor* a,
                                                            const tilewright_tensor* b,
                                                            const tilewright_communicator* ranks,
                                                            const tilewright_gemm_options* options);
typedef struct tilewright_reduce_scatter_options {
  size_t size;
  float alpha;
  void* stream;
} tilewright_reduce_scatter_options;
#define TILEWRIGHT_REDUCE_SCATTER_OPTIONS {sizeof(tilewright_reduce_scatter_options), 1.0f, NULL}
/* C (m / ranks, n) = this rank's rows of the sum over ranks of A (m, k) B (k, n). */
TILEWRIGHT_API tilewright_status tilewright_gemm_reduce_scatter(const tilewright_tensor* c, const tilewright_tensor* a,
                                                                const tilewright_tensor* b,
                                                                const tilewright_communicator* ranks,
                                                                const tilewright_reduce_scatter_options* options);

typedef struct tilewright_map_options {
  size_t size;
  void* stream;
} tilewright_map_options;
#define TILEWRIGHT_MAP_OPTIONS {sizeof(tilewright_map_options), NULL}
TILEWRIGHT_API tilewright_status tilewright_permute(const tilewright_tensor* y, const tilewright_tensor* x,
                                                    const tilewright_map_options* options);
/* x2 may be NULL. */
TILEWRIGHT_API tilewright_status tilewright_elementwise(const tilewright_tensor* y, const tilewright_tensor* x,
                                                        const char* expression, const tilewright_tensor* x2,
                                                        const tilewright_map_options* options);

typedef enum tilewright_reduce_kind {
  TILEWRIGHT_SUM = 0,
  TILEWRIGHT_MEAN = 1,
  TILEWRIGHT_MAXIMUM = 2
} tilewright_reduce_kind;
typedef struct tilewright_reduce_options {
  size_t size;
  int32_t kind; /* a tilewright_reduce_kind */
  void* stream;
} tilewright_reduce_options;
#define TILEWRIGHT_REDUCE_OPTIONS {sizeof(tilewright_reduce_options), TILEWRIGHT_SUM, NULL}
TILEWRIGHT_API tilewright_status tilewright_reduce(const tilewright_tensor* y, const tilewright_tensor* x,
                                                   const tilewright_reduce_options* options);

typedef struct tilewright_choose_experts_options {
  size_t size;
  int32_t is_normalised;
  void* stream;
  int32_t score;                       /* a tilewright_expert_score */
  const tilewright_tensor* score_bias; /* (experts) f32 */
  int32_t groups, kept_groups;
  float scale;
  int32_t shared; /* experts of each token, after those of the logits */
} tilewright_choose_experts_options;
#define TILEWRIGHT_CHOOSE_EXPERTS_OPTIONS {sizeof(tilewright_choose_experts_options), 1, NULL, 0, NULL, 1, 1, 1.0f, 0}
TILEWRIGHT_API tilewright_status tilewright_choose_experts(const tilewright_tensor* expert,
                                                           const tilewright_tensor* weight,
                                                           const tilewright_tensor* logits,
                                                           const tilewright_choose_experts_options* options);

typedef struct tilewright_routing_options {
  size_t size;
  void* stream;
} tilewright_routing_options;
#define TILEWRIGHT_ROUTING_OPTIONS {sizeof(tilewright_routing_options), NULL}
TILEWRIGHT_API tilewright_status tilewright_order_by_expert(const tilewright_tensor* ends,
                                                            const tilewright_tensor* source,
                                                            const tilewright_tensor* position,
                                                            const tilewright_tensor* expert,
                                                            const tilewright_routing_options* options);
TILEWRIGHT_API tilewright_status tilewright_rows_to_experts(const tilewright_tensor* y, const tilewright_tensor* x,
                                                            const tilewright_tensor* position,
                                                            const tilewright_routing_options* options);
/* weight may be NULL. */
TILEWRIGHT_API tilewright_status tilewright_rows_from_experts(const tilewright_tensor* y, const tilewright_tensor* x,
                                                              const tilewright_tensor* position,
                                                              const tilewright_tensor* weight,
                                                              const tilewright_routing_options* options);

typedef enum tilewright_expert_score {
  TILEWRIGHT_EXPERT_SCORE_SOFTMAX = 0,
  TILEWRIGHT_EXPERT_SCORE_SIGMOID = 1
} tilewright_expert_score;

/* See moe_options of the C++ interface. */
typedef struct tilewright_moe_options {
  size_t size;
  int32_t choices; /* experts of a token; required */
  int32_t is_normalised;
  int32_t score;                       /* a tilewright_expert_score */
  const tilewright_tensor* score_bias; /* (experts - shared) f32 */
  int32_t groups, kept_groups;
  float scale;
  int32_t shared;
  const tilewright_tensor* expert;        /* (tokens, choices + shared) i32 */
  const tilewright_tensor* weight;        /* (tokens, choices + shared) f32 */
  const tilewright_tensor* gate_up_scale; /* (experts, 2 n) f32, for weights of fp8; others: moe_options */
  const tilewright_tensor* down_scale;    /* (experts, d) f32 */
  const tilewright_tensor* gate_up_bias;  /* (experts, 2 n) */
  const tilewright_tensor* down_bias;     /* (experts, d) */
  int32_t is_interleaved;
  float swiglu_alpha, swiglu_limit, swiglu_shift;
  void* workspace; /* NULL: the library's */
  int64_t workspace_bytes;
  void* stream;
  int32_t capacity;                       /* the most entries that an expert takes; 0: all */
  int32_t first_expert;                   /* without logits: the number of the weights' first expert */
  const tilewright_tensor* gate_up_zeros; /* int4: zero points, i8 as the scales */
  const tilewright_tensor* down_zeros;
  const tilewright_tensor* gate_up_factor; /* NVFP4: (experts) f32 */
  const tilewright_tensor* down_factor;
  const tilewright_tensor* d_gate_up_bias; /* tilewright_moe_gradient: receives the gradient; NULL: none */
  const tilewright_tensor* d_down_bias;
} tilewright_moe_options;
#define TILEWRIGHT_MOE_OPTIONS     \
  {sizeof(tilewright_moe_options), \
   0,                              \
   1,                              \
   0,                              \
   NULL,                           \
   1,                              \
   1,                              \
   1.0f,                           \
   0,                              \
   NULL,                           \
   NULL,                           \
   NULL,                           \
   NULL,                           \
   NULL,                           \
   NULL,                           \
   0,                              \
   1.0f,                           \
   0.0f,                           \
   0.0f,                           \
   NULL,                           \
   0,                              \
   NULL,                           \
   0,                              \
   0,                              \
   NULL,                           \
   NULL,                           \
   NULL,                           \
   NULL,                           \
   NULL,                           \
   NULL}
/* logits may be NULL: expert and weight of the options are given. */
TILEWRIGHT_API tilewright_status tilewright_moe(const tilewright_tensor* y, const tilewright_tensor* x,
                                                const tilewright_tensor* logits, const tilewright_tensor* gate_up,
                                                const tilewright_tensor* down, const tilewright_moe_options* options);
/* The same of experts that several GPUs have: logits (tokens, ranks x experts of each). */
TILEWRIGHT_API tilewright_status tilewright_expert_parallel_moe(const tilewright_tensor* y, const tilewright_tensor* x,
                                                                const tilewright_tensor* logits,
                                                                const tilewright_tensor* gate_up,
                                                                const tilewright_tensor* down,
                                                                const tilewright_communicator* ranks,
                                                                const tilewright_moe_options* options);
/* Sets `bytes` to what tilewright_moe_options::workspace needs. */
TILEWRIGHT_API tilewright_status tilewright_moe_workspace_bytes(int64_t* bytes, const tilewright_tensor* x,
                                                                const tilewright_tensor* gate_up,
                                                                const tilewright_tensor* down,
                                                                const tilewright_moe_options* options);

/* Gradients, of which each may be NULL; d_weight: (tokens, choices + shared) f32. Options as those of tilewright_moe.
 */
TILEWRIGHT_API tilewright_status tilewright_moe_gradient(
    const tilewright_tensor* d_x, const tilewright_tensor* d_logits, const tilewright_tensor* d_weight,
    const tilewright_tensor* d_gate_up, const tilewright_tensor* d_down, const tilewright_tensor* dy,
    const tilewright_tensor* x, const tilewright_tensor* logits, const tilewright_tensor* gate_up,
    const tilewright_tensor* down, const tilewright_moe_options* options);
/* Sets `bytes` to what tilewright_moe_options::workspace needs for tilewright_moe_gradient. */
TILEWRIGHT_API tilewright_status tilewright_moe_gradient_workspace_bytes(int64_t* bytes, const tilewright_tensor* x,
                                                                         const tilewright_tensor* gate_up,
                                                                         const tilewright_tensor* down,
                                                                         const tilewright_moe_options* options);

/* For Python packages: a call whose tensors are objects of a library with DLPack's C exchange API, such as PyTorch's.
 */
typedef struct tilewright_dlpack_call {
  void* function;            /* of this file: it takes tensors, then options */
  const void* api;           /* DLPackExchangeAPI of the objects' classes */
  const int32_t* options_at; /* where in the options the pointers to their tensors are, in bytes */
  int32_t num_tensors;       /* that the function takes, at most 10 */
  int32_t num_options;       /* tensors among the options */
  int32_t stream_at;         /* where in the options the stream is, in bytes */
} tilewright_dlpack_call;
/* objects: a tuple with the tensors of the function and then those of the options; None: no tensor. The thread holds
   Python's lock, which is free while the call is made. The stream is the current one of the objects' library. Returns a
   tilewright_status; -1, without a call, if an object is on no GPU, on another GPU than others or one whose default
   stream is current elsewhere, or has elements or dimensions that a tilewright_tensor does not have. */
TILEWRIGHT_API int tilewright_call_dlpack(const tilewright_dlpack_call* call, const void* options, void* objects);

#ifdef __cplusplus
}
#endif
#endif
