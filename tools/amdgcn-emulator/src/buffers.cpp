// SPDX-License-Identifier: MIT
#include "buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "memory.hpp"

namespace emu {
namespace {
constexpr u64 guard = 256, most_quarantined = u64{256} << 20, near = 4096;
void release_block(buffer_state& b) {
  b.races.unmap();
  if (b.owned) std::free(b.block);
}
}  // namespace

void race_shadow::map(u64 bytes) {
  num_lines = bytes / (4 * dwords_of_line) + 2;
  const u64 cells = num_lines * (1 + dwords_of_line);
  void* p = mmap(nullptr, cells * sizeof(race_cell), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  lines = static_cast<race_cell*>(p), dwords = lines + num_lines;
}
void race_shadow::unmap() {
  if (lines) munmap(lines, num_lines * (1 + dwords_of_line) * sizeof(race_cell));
  lines = dwords = nullptr;
}
memory::impl::~impl() {
  for (auto& [lo, b] : buffers) release_block(b);
}
buffer_state* memory::impl::at(u64 a, u64 n) {
  auto it = buffers.upper_bound(a);
  if (it == buffers.begin()) return nullptr;
  buffer_state& b = std::prev(it)->second;
  return b.freed || a + n > b.hi || a + n < a ? nullptr : &b;
}
buffer_state* memory::impl::nearest(u64 a) {
  auto it = buffers.upper_bound(a);
  buffer_state *before = it == buffers.begin() ? nullptr : &std::prev(it)->second,
               *after = it == buffers.end() ? nullptr : &it->second;
  const auto distance = [&](const buffer_state* b) {
    return !b ? ~0ull : a < b->lo ? b->lo - a : a < b->hi ? 0 : a - b->hi;
  };
  buffer_state* b = distance(before) <= distance(after) ? before : after;
  return distance(b) <= std::max(near, b ? b->bytes() : 0) ? b : nullptr;
}
void memory::impl::drop(u64 lo) {
  auto it = buffers.find(lo);
  if (it == buffers.end()) return;
  release_block(it->second);
  buffers.erase(it);
}

std::string buffer_text(const buffer_state& b, u64 a) {
  const std::string what =
      (b.freed ? "freed buffer " : "buffer ") + b.label + " of " + std::to_string(b.bytes()) + " bytes at " + hex(b.lo);
  if (a < b.lo) return std::to_string(b.lo - a) + " bytes before " + what;
  if (a >= b.hi) return std::to_string(a - b.hi) + " bytes after the end of " + what;
  return "offset " + std::to_string(a - b.lo) + " of " + what;
}

memory::memory() : p_(std::make_unique<impl>()) {}
memory::~memory() = default;
memory::memory(memory&&) noexcept = default;
memory& memory::operator=(memory&&) noexcept = default;

void* memory::allocate(std::size_t bytes, const std::string& label) {
  if (bytes > (u64{1} << 46)) throw std::bad_alloc();
  const u64 whole = guard + (bytes + guard - 1) / guard * guard + guard;
  u8* const block = static_cast<u8*>(std::aligned_alloc(guard, whole));
  if (!block) throw std::bad_alloc();
  u8* const p = block + guard;
  std::memset(p, 0xff, whole - 2 * guard);  // NaN in every floating format
  const u64 lo = reinterpret_cast<u64>(p);
  // Freed buffers whose memory was handed out again are gone.
  for (auto it = p_->buffers.lower_bound(lo - guard); it != p_->buffers.end() && it->first < lo + bytes;)
    it = it->second.owned ? std::next(it) : p_->buffers.erase(it);
  buffer_state& b = p_->buffers[lo];
  b.lo = lo, b.hi = lo + bytes, b.label = label, b.owned = true, b.block = block;
  b.state.assign(bytes, never_written);
  return p;
}
bool memory::release(void* p) {
  auto it = p_->buffers.find(reinterpret_cast<u64>(p));
  if (it == p_->buffers.end() || it->second.freed || !it->second.owned) return false;
  buffer_state& b = it->second;
  b.freed = true, b.state = {};
  p_->freed.push_back(b.lo), p_->quarantined += b.bytes();
  while (p_->quarantined > most_quarantined && !p_->freed.empty()) {
    const u64 oldest = p_->freed.front();
    p_->freed.erase(p_->freed.begin());
    p_->quarantined -= p_->buffers[oldest].bytes();
    p_->drop(oldest);
  }
  return true;
}
void memory::add(const void* p, std::size_t bytes, const std::string& label) {
  if (!bytes) return;
  u64 lo = reinterpret_cast<u64>(p), hi = lo + bytes;
  // Overlapping ranges of the host become one.
  for (auto it = p_->buffers.upper_bound(hi - 1); it != p_->buffers.begin();) {
    it = std::prev(it);
    if (it->second.hi < lo) break;
    if (it->second.owned || it->second.hi <= lo) continue;
    lo = std::min(lo, it->second.lo), hi = std::max(hi, it->second.hi);
    release_block(it->second);
    it = p_->buffers.erase(it);
  }
  buffer_state& b = p_->buffers[lo];
  if (b.owned) return;
  b.lo = lo, b.hi = hi, b.label = label;
}
void memory::forget(const void* p) {
  auto it = p_->buffers.find(reinterpret_cast<u64>(p));
  if (it != p_->buffers.end() && !it->second.owned) p_->drop(it->first);
}
void memory::clear() { p_ = std::make_unique<impl>(); }

void memory::mark_written(const void* p, std::size_t n) {
  const u64 a = reinterpret_cast<u64>(p);
  if (buffer_state* b = p_->at(a, n); b && !b->state.empty())
    std::fill_n(b->state.begin() + static_cast<std::ptrdiff_t>(a - b->lo), n, u8{written});
}
void memory::mark_copied(void* to, const void* from, std::size_t n) {
  const u64 t = reinterpret_cast<u64>(to), f = reinterpret_cast<u64>(from);
  buffer_state *d = p_->at(t, n), *s = p_->at(f, n);
  if (!d || d->state.empty()) return;
  if (!s || s->state.empty()) return mark_written(to, n);
  std::memmove(d->state.data() + (t - d->lo), s->state.data() + (f - s->lo), n);
  for (undefined_store u : s->undefined_stores) {
    if (u.hi <= f - s->lo || u.lo >= f - s->lo + n) continue;
    const u64 shift = (t - d->lo) - (f - s->lo);
    u.lo = std::max(u.lo, f - s->lo) + shift, u.hi = std::min(u.hi, f - s->lo + n) + shift;
    d->undefined_stores.push_back(u);
  }
}
bool memory::contains(const void* p, std::size_t n) const { return p_->at(reinterpret_cast<u64>(p), n) != nullptr; }
bool memory::owns(const void* p) const {
  const u64 a = reinterpret_cast<u64>(p);
  const buffer_state* b = p_->nearest(a);
  return b && b->owned && a + guard >= b->lo && a < b->hi + guard;
}
std::string memory::describe(u64 a) const {
  const buffer_state* b = p_->nearest(a);
  return b ? buffer_text(*b, a) : "";
}
std::vector<finding> memory::check_results(const void* p, std::size_t n) const {
  std::vector<finding> found;
  const u64 a = reinterpret_cast<u64>(p);
  const buffer_state* b = p_->at(a, n);
  if (!b || b->state.empty()) return found;
  const auto first = b->state.begin() + static_cast<std::ptrdiff_t>(a - b->lo),
             last = first + static_cast<std::ptrdiff_t>(n);
  for (const undefined_store& u : b->undefined_stores) {
    const u64 lo = std::max(u.lo, a - b->lo), hi = std::min(u.hi, a - b->lo + n);
    if (lo >= hi) continue;
    const auto from = b->state.begin() + static_cast<std::ptrdiff_t>(lo),
               to = b->state.begin() + static_cast<std::ptrdiff_t>(hi), bad = std::find(from, to, undefined_result);
    if (bad == to) continue;
    finding f;
    f.kind = finding_kind::uninitialised, f.kernel = u.kernel, f.site = u.store, f.other = u.load;
    f.other_role = "the load of the uninitialised value";
    f.address = b->lo + static_cast<u64>(bad - b->state.begin());
    f.message = "a result that the host reads was computed from memory that was never written";
    f.memory = buffer_text(*b, f.address);
    found.push_back(f);
  }
  const auto never = std::find(first, last, never_written);
  if (never != last) {
    finding f;
    f.kind = finding_kind::uninitialised_copy;
    f.address = b->lo + static_cast<u64>(never - b->state.begin());
    f.message = "the host reads " + std::to_string(std::count(first, last, never_written)) + " of " +
                std::to_string(n) + " bytes that were never written";
    f.memory = buffer_text(*b, f.address);
    found.push_back(f);
  }
  return found;
}
std::vector<memory::buffer> memory::live() const {
  std::vector<buffer> r;
  for (const auto& [lo, b] : p_->buffers)
    if (b.owned && !b.freed) r.push_back({reinterpret_cast<void*>(lo), b.bytes(), b.label});
  return r;
}
memory::buffer memory::find(const void* p) const {
  const buffer_state* b = p_->at(reinterpret_cast<u64>(p), 1);
  if (!b) return {nullptr, 0, ""};
  return {reinterpret_cast<void*>(b->lo), b->bytes(), b->label};
}
}  // namespace emu
