// SPDX-License-Identifier: MIT
// Calls with tensors of Python libraries that have DLPack's C exchange API. Nothing of Python is linked: its functions
// are those of the process.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <dlfcn.h>

#include <tilewright.h>

#include "c_calls.hpp"

namespace tilewright::ops {
namespace {

/// DLTensor.
struct dlpack_tensor {
  void* data;
  std::int32_t device_type, device, dims;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  const std::int64_t *lengths, *strides;
  std::uint64_t byte_offset;
};
/// DLPackExchangeAPI of version 1.
struct dlpack_api {
  std::uint32_t major, minor;
  const void* previous;
  void* managed[3];  // functions for tensors that are kept
  int (*view)(void* object, dlpack_tensor* to);
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};
constexpr int cuda = 2, rocm = 10, most_tensors = 16;

/// What is called of Python; all null in a process without it.
struct python_functions {
  void* (*item)(void* tuple, std::ptrdiff_t) = nullptr;
  void* none = nullptr;
  void (*clear_error)() = nullptr;
  void* (*release_lock)() = nullptr;
  void (*take_lock)(void*) = nullptr;

  python_functions() {
    const auto find = [](auto& to, const char* name) {
      to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(dlsym(RTLD_DEFAULT, name));
    };
    find(item, "PyTuple_GetItem");
    find(none, "_Py_NoneStruct");
    find(clear_error, "PyErr_Clear");
    find(release_lock, "PyEval_SaveThread");
    find(take_lock, "PyEval_RestoreThread");
  }
  bool are_there() const { return item && none && clear_error && release_lock && take_lock; }
};

/// The element of DLPack's code and bits; -1: none that all targets have.
int element_of(const dlpack_tensor& t) {
  const int kind = t.lanes == 1 ? t.code * 256 + t.bits : 0;
  switch (kind) {
    case 2 * 256 + 16: return TILEWRIGHT_F16;
    case 4 * 256 + 16: return TILEWRIGHT_BF16;
    case 2 * 256 + 32: return TILEWRIGHT_F32;
    case 10 * 256 + 8: return TILEWRIGHT_FP8;
    case 12 * 256 + 8: return TILEWRIGHT_BF8;
    case 0 * 256 + 8: return TILEWRIGHT_I8;
    case 0 * 256 + 32: return TILEWRIGHT_I32;
    default: return -1;
  }
}

/// Whether the view is one of a GPU's memory that a tilewright_tensor can have.
bool convert(const dlpack_tensor& from, tilewright_tensor& to) {
  const int element = element_of(from);
  if (element < 0 || from.dims < 0 || from.dims > TILEWRIGHT_MAX_RANK) return false;
  if (from.device_type != cuda && from.device_type != rocm) return false;
  to.data = from.data ? static_cast<char*>(from.data) + from.byte_offset : nullptr;
  to.type = element;
  to.rank = from.dims;
  std::int64_t packed = 1;
  for (int i = from.dims; i-- > 0; packed *= from.lengths[i]) {
    to.lengths[i] = from.lengths[i];
    to.strides[i] = from.strides ? from.strides[i] : packed;
  }
  return true;
}

/// Objects that were read, and their GPU.
struct read_objects {
  std::array<tilewright_tensor, most_tensors> tensors{};
  std::array<const void*, most_tensors> pointers{};  // null: None
  std::int32_t device_type = 0, device = -1;

  /// False if one of them is nothing that this file reads.
  bool read(const python_functions& python, const dlpack_api& api, void* tuple, int count) {
    for (int i = 0; i < count; ++i) {
      void* const object = python.item(tuple, i);
      dlpack_tensor view{};
      if (object == python.none) continue;
      if (object == nullptr || api.view(object, &view) != 0) return python.clear_error(), false;
      if (!convert(view, tensors[std::size_t(i)]) || (device >= 0 && view.device != device)) return false;
      device = view.device, device_type = view.device_type;
      pointers[std::size_t(i)] = &tensors[std::size_t(i)];
    }
    return device >= 0;
  }
};

template <std::size_t>
using parameter = const void*;
template <std::size_t... I>
int invoke(void* function, const void* const* parameters, std::index_sequence<I...>) {
  using type = int (*)(parameter<I>...);
  return reinterpret_cast<type>(function)(parameters[I]...);
}
/// A function of tilewright.h that takes 2 to 11 pointers.
int invoke(void* function, const void* const* parameters, int count) {
  int status = -1;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((count == int(I) + 2 ? void(status = invoke(function, parameters, std::make_index_sequence<I + 2>{})) : void()),
     ...);
  }(std::make_index_sequence<10>{});
  return status;
}

}  // namespace
}  // namespace tilewright::ops

extern "C" int tilewright_call_dlpack(const tilewright_dlpack_call* call, const void* options, void* objects) {
  using namespace tilewright::ops;
  static const python_functions python;
  const auto* const api = static_cast<const dlpack_api*>(call->api);
  const int count = call->num_tensors + call->num_options;
  if (!python.are_there() || api->major != 1 || !api->view || !api->current_stream || count > most_tensors) return -1;
  read_objects read;
  if (!read.read(python, *api, objects, count)) return -1;
  void* stream = nullptr;
  if (api->current_stream(read.device_type, read.device, &stream) != 0) return python.clear_error(), -1;
  if (stream == nullptr && read.device != 0) return -1;  // the default stream is that of the current GPU

  alignas(8) unsigned char own[512];  // the options, with the stream and their tensors
  std::size_t bytes = 0;
  std::memcpy(&bytes, options, sizeof bytes);
  if (bytes > sizeof own) return -1;
  std::memcpy(own, options, bytes);
  std::memcpy(own + call->stream_at, &stream, sizeof stream);
  for (int i = 0; i < call->num_options; ++i)
    std::memcpy(own + call->options_at[i], &read.pointers[std::size_t(call->num_tensors + i)], sizeof(void*));
  read.pointers[std::size_t(call->num_tensors)] = own;
  void* const thread = python.release_lock();
  const int status = invoke(call->function, read.pointers.data(), call->num_tensors + 1);
  python.take_lock(thread);
  return status;
}
