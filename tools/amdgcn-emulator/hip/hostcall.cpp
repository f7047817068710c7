// SPDX-License-Identifier: MIT
// Calls of the host by kernels: printf, and the memory of malloc in kernels. A wave takes a packet from a list of free
// ones, fills in a row of eight words for each lane, sends an interrupt, and waits until the packet is not ready any
// more.
#include "state.hpp"

#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>

namespace emulated_hip {
namespace {
struct packet_header {
  std::uint64_t next, lanes;
  std::uint32_t service, control;  // bit 0 of control: ready
};
struct packet_rows {
  std::uint64_t words[64][8];
};
struct signal {
  std::int64_t kind = 0, value = 0;
  std::uint64_t mailbox = 0;
  std::uint32_t event = 1, pad = 0;
  std::uint64_t rest[4] = {};
};
struct buffer {
  packet_header* headers;
  packet_rows* rows;
  signal* doorbell;
  std::uint64_t free_list, ready_list, index_mask, rest[8];
};
struct everything {
  buffer call{};
  packet_header headers[2]{};
  packet_rows rows[2]{};
  signal doorbell;
  std::uint64_t mailbox = 0;
};
using words = std::vector<std::uint64_t>;

/// printf with arguments of 8 bytes each; strings are in the words, padded.
void print(const words& message) {
  FILE* const stream = message[0] & 1 ? stderr : stdout;
  const auto text = [&](std::size_t n) { return reinterpret_cast<const char*>(message.data() + n); };
  const std::string format = text(1);
  std::size_t next = 1 + format.size() / 8 + 1;
  for (std::size_t at = 0; at < format.size();) {
    const std::size_t start = format.find('%', at);
    std::fwrite(format.data() + at, 1, std::min(start, format.size()) - at, stream);
    if (start == format.npos) break;
    if (start + 1 < format.size() && format[start + 1] == '%') {
      std::fputc('%', stream);
      at = start + 2;
      continue;
    }
    const std::size_t end = format.find_first_of("diouxXfFeEgGaAcspn", start + 1);
    if (end == format.npos || next >= message.size()) break;
    std::string spec = format.substr(start, end - start + 1);
    for (std::size_t star; (star = spec.find('*')) != spec.npos && next + 1 < message.size();)
      spec.replace(star, 1, std::to_string(static_cast<int>(message[next++])));
    const char kind = spec.back();
    if (kind == 's') {
      std::fprintf(stream, spec.c_str(), text(next));
      next += std::strlen(text(next)) / 8 + 1;
    } else if (std::strchr("fFeEgGaA", kind)) {
      std::fprintf(stream, spec.c_str(), std::bit_cast<double>(message[next++]));
    } else if (kind == 'n') {
      ++next;
    } else if (kind == 'p') {
      std::fprintf(stream, spec.c_str(), reinterpret_cast<void*>(message[next++]));
    } else {
      std::fprintf(stream, spec.c_str(), message[next++]);
    }
    at = end + 1;
  }
}
/// A message comes in pieces of seven words; the first word says which message it is, and how many words follow.
void take_message(std::uint64_t* row) {
  static std::map<std::uint64_t, words> open;
  static std::uint64_t latest = 0;
  const bool begin = row[0] & 1, end = row[0] & 2;
  std::uint64_t id = row[0] >> 8;
  if (begin) id = ++latest & 0xffffff, row[0] = (row[0] & 0xfe) | id << 8;
  words& message = open[id];
  message.insert(message.end(), row + 1, row + 1 + std::min<std::uint64_t>(row[0] >> 5 & 7, 7));
  if (!end) return;
  if (message.size() > 1) {
    message.push_back(0);
    print(message);
  }
  open.erase(id);
  row[0] = 0;
}
/// Memory of malloc in kernels: a large allocation of its own, or a slab of 2 MB that the device library divides. The
/// library finds the slab of an address by its alignment, and takes multiples of 4096 for allocations of their own.
void device_memory(std::uint64_t* row) {
  constexpr std::size_t slab_bytes = std::size_t{2} << 20;
  emu::memory& memory = runtime().memory;
  if (void* const p = reinterpret_cast<void*>(row[0])) {
    memory.forget(p);
    std::free(p);
    row[0] = 0;
    return;
  }
  const std::size_t bytes = row[1], whole = (bytes + 4095) / 4096 * 4096;
  void* const p = std::aligned_alloc(bytes == slab_bytes ? slab_bytes : 4096, whole);
  if (p) std::memset(p, 0xa5, whole), memory.add(p, bytes, "malloc in kernels");
  row[0] = reinterpret_cast<std::uint64_t>(p);
}
}  // namespace

void* hostcall_buffer() {
  static everything* const all = [] {
    auto* const e = new everything;
    e->doorbell.mailbox = reinterpret_cast<std::uint64_t>(&e->mailbox);
    // Two packets. A position in a list is a counter above the number of the packet.
    e->headers[0].next = 0, e->headers[1].next = 2;
    e->call = {e->headers, e->rows, &e->doorbell, 3, 0, 1, {}};
    runtime().memory.add(e, sizeof *e, "the runtime's own memory");
    return e;
  }();
  return &all->call;
}

void* device_heap() {
  constexpr std::size_t bytes = 128 << 10;  // what HIP's runtime gives it
  static void* const heap = [] {
    void* const p = std::calloc(1, bytes);
    runtime().memory.add(p, bytes, "the runtime's own memory");
    return p;
  }();
  return heap;
}

void serve_hostcall(void* p) {
  buffer& b = *static_cast<buffer*>(p);
  for (std::uint64_t at = std::exchange(b.ready_list, 0); at;) {
    packet_header& h = b.headers[at & b.index_mask];
    at = h.next;
    for (std::uint64_t m = h.lanes; m; m &= m - 1) {
      std::uint64_t* row = b.rows[static_cast<std::size_t>(&h - b.headers)].words[std::countr_zero(m)];
      if (h.service == 2) take_message(row);
      if (h.service == 3) device_memory(row);
      if (h.service == 1) note_cannot_run("kernels that call functions of the host are not supported");
    }
    h.control &= ~1u;
  }
  std::fflush(stdout);
}
}  // namespace emulated_hip
