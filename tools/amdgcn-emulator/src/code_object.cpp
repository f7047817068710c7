// SPDX-License-Identifier: MIT
#include "code_object.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <variant>

#include "source_lines.hpp"

namespace emu {
namespace {
// MessagePack, as much of it as the metadata note uses.
struct value {
  std::map<std::string, value> map;
  std::vector<value> list;
  std::string str;
  i64 num = 0;
  const value* get(const std::string& k) const {
    auto it = map.find(k);
    return it == map.end() ? nullptr : &it->second;
  }
  i64 number(const std::string& k, i64 d = 0) const { return get(k) ? get(k)->num : d; }
  std::string text(const std::string& k) const { return get(k) ? get(k)->str : std::string(); }
};
struct reader {
  const u8* p;
  const u8* end;
  u64 be(int n) {
    if (end - p < n) throw std::runtime_error("metadata is truncated");
    u64 v = 0;
    while (n--) v = v << 8 | *p++;
    return v;
  }
  value string(u64 n) {
    if (static_cast<u64>(end - p) < n) throw std::runtime_error("metadata is truncated");
    value v;
    v.str.assign(reinterpret_cast<const char*>(p), n);
    p += n;
    return v;
  }
  value array(u64 n) {
    value v;
    while (n--) v.list.push_back(one());
    return v;
  }
  value dict(u64 n) {
    value v;
    while (n--) {
      value k = one();
      v.map[k.str] = one();
    }
    return v;
  }
  value one() {
    const u64 t = be(1);
    value v;
    if (t <= 0x7f) return v.num = static_cast<i64>(t), v;
    if (t <= 0x8f) return dict(t & 15);
    if (t <= 0x9f) return array(t & 15);
    if (t <= 0xbf) return string(t & 31);
    if (t >= 0xe0) return v.num = static_cast<i64>(t) - 256, v;
    switch (t) {
      case 0xc0:
      case 0xc2: return v;
      case 0xc3: return v.num = 1, v;
      case 0xc4:
      case 0xd9: return string(be(1));
      case 0xc5:
      case 0xda: return string(be(2));
      case 0xc6:
      case 0xdb: return string(be(4));
      case 0xca: return be(4), v;
      case 0xcb: return be(8), v;
      case 0xcc: return v.num = static_cast<i64>(be(1)), v;
      case 0xcd: return v.num = static_cast<i64>(be(2)), v;
      case 0xce: return v.num = static_cast<i64>(be(4)), v;
      case 0xcf: return v.num = static_cast<i64>(be(8)), v;
      case 0xd0: return v.num = static_cast<i8>(be(1)), v;
      case 0xd1: return v.num = static_cast<i16>(be(2)), v;
      case 0xd2: return v.num = static_cast<i32>(be(4)), v;
      case 0xd3: return v.num = static_cast<i64>(be(8)), v;
      case 0xdc: return array(be(2));
      case 0xdd: return array(be(4));
      case 0xde: return dict(be(2));
      case 0xdf: return dict(be(4));
    }
    throw std::runtime_error("metadata holds an unknown tag");
  }
};
template <class T>
T at(const std::vector<u8>& f, u64 o) {
  if (o + sizeof(T) > f.size()) throw std::runtime_error("the file is truncated");
  T v;
  std::memcpy(&v, f.data() + o, sizeof v);
  return v;
}
struct section {
  u32 name, type, link;
  u64 flags, addr, off, size;
};
}  // namespace

code_object::code_object(const std::string& p) : path(p) {
  std::ifstream in;
  if (!std::filesystem::is_character_file(p)) in.open(p, std::ios::binary);  // /dev/zero never ends
  if (!in.is_open()) throw std::runtime_error("cannot open '" + p + "'");
  const std::vector<u8> f((std::istreambuf_iterator<char>(in)), {});
  if (f.size() < 64 || std::memcmp(f.data(), "\177ELF", 4) || at<u16>(f, 18) != 224)
    throw std::runtime_error("'" + p + "' is not an AMD GPU code object (ELF); compile with --no-gpu-bundle-output");
  static constexpr int abis[] = {2, 3, 4, 5, 6};
  abi = f[8] < 5 ? abis[f[8]] : f[8];
  const u64 ph = at<u64>(f, 32), sh = at<u64>(f, 40);
  const u16 phs = at<u16>(f, 54), phn = at<u16>(f, 56), shs = at<u16>(f, 58), shn = at<u16>(f, 60);

  u64 top = 0;
  for (int i = 0; i < phn; ++i)
    if (at<u32>(f, ph + i * phs) == 1)
      top = std::max(top, at<u64>(f, ph + i * phs + 16) + at<u64>(f, ph + i * phs + 40));
  image_.assign((top + 4095) & ~4095ull, 0);
  value meta;
  for (int i = 0; i < phn; ++i) {
    const u64 o = ph + static_cast<u64>(i) * phs, off = at<u64>(f, o + 8), va = at<u64>(f, o + 16),
              fs = at<u64>(f, o + 32), ms = at<u64>(f, o + 40);
    const u32 type = at<u32>(f, o), flags = at<u32>(f, o + 4);
    if (off + fs > f.size()) throw std::runtime_error("'" + p + "' is truncated");
    if (type == 1) {
      std::memcpy(image_.data() + va, f.data() + off, fs);
      if (flags & 1) text_lo = std::min(text_lo, va), text_hi = std::max(text_hi, va + ms);
    } else if (type == 4) {
      for (u64 n = off; n + 12 <= off + fs;) {
        const u32 ns = at<u32>(f, n), ds = at<u32>(f, n + 4), nt = at<u32>(f, n + 8);
        const u64 desc = n + 12 + ((ns + 3) & ~3u);
        if (nt == 32 && desc + ds <= f.size()) meta = reader{f.data() + desc, f.data() + desc + ds}.one();
        n = desc + ((ds + 3) & ~3u);
      }
    }
  }
  std::vector<section> secs;
  for (int i = 0; i < shn; ++i) {
    const u64 o = sh + static_cast<u64>(i) * shs;
    secs.push_back({at<u32>(f, o), at<u32>(f, o + 4), at<u32>(f, o + 40), at<u64>(f, o + 8), at<u64>(f, o + 16),
                    at<u64>(f, o + 24), at<u64>(f, o + 32)});
  }
  const u64 section_names = shn ? secs.at(at<u16>(f, 62)).off : 0;
  std::set<u64> in_data;  // indices of sections
  for (std::size_t k = 0; k < secs.size(); ++k) {
    const std::string name = reinterpret_cast<const char*>(f.data() + section_names + secs[k].name);
    if (name == ".data" || name == ".bss")
      in_data.insert(k);
    else if (secs[k].flags & 2)
      readable.push_back({secs[k].addr, secs[k].size});
  }
  if (secs.empty()) readable.push_back({0, image_.size()});
  for (const section& s : secs) {
    if (s.type != 2 && s.type != 11) continue;
    const u64 str = secs.at(s.link).off;
    for (u64 o = s.off; o < s.off + s.size; o += 24) {
      const std::string name = reinterpret_cast<const char*>(f.data() + str + at<u32>(f, o));
      const u8 info = f[o + 4];
      if (name.empty() || at<u16>(f, o + 6) == 0 || at<u16>(f, o + 6) == 0xfff1) continue;
      const symbol sym{at<u64>(f, o + 8), at<u64>(f, o + 16)};
      if (in_data.contains(at<u16>(f, o + 6))) readable.push_back(sym);
      if ((info & 15) == 2)
        functions[name] = sym;
      else
        objects[name] = sym;
    }
  }
  for (const section& s : secs) {
    if (s.type != 4 || !(s.flags & 2)) continue;
    for (u64 o = s.off; o < s.off + s.size; o += 24) {
      const u64 where = at<u64>(f, o), info = at<u64>(f, o + 8), add = at<u64>(f, o + 16), type = info & 0xffffffff;
      u64 v = base() + add;
      if (info >> 32) v += at<u64>(f, secs.at(s.link).off + (info >> 32) * 24 + 8);
      if (type == 13 || type == 3)
        std::memcpy(image_.data() + where, &v, 8);
      else if (type == 1 || type == 6)
        std::memcpy(image_.data() + where, &v, 4);
      else if (type == 2) {
        const u32 h = static_cast<u32>(v >> 32);
        std::memcpy(image_.data() + where, &h, 4);
      } else if (type)
        throw std::runtime_error("'" + p + "' has a relocation of an unknown type");
    }
  }
  const std::string triple = meta.text("amdhsa.target");
  const auto dash = triple.rfind("--");
  target = dash == std::string::npos ? "" : triple.substr(dash + 2);
  target = target.substr(0, target.find(':'));
  if (target.rfind("gfx9", 0) == 0)
    fam = family::gfx9;
  else if (target.rfind("gfx11", 0) == 0)
    fam = family::gfx11;
  else if (target.rfind("gfx12", 0) == 0)
    fam = family::gfx12;
  else
    throw std::runtime_error("'" + p + "' is for '" + target + "', which this emulator does not know");

  bool any32 = false, any64 = false;
  const value* list = meta.get("amdhsa.kernels");
  for (const value& k : list ? list->list : std::vector<value>()) {
    kernel_info ki;
    ki.name = k.text(".name");
    std::string kd = k.text(".symbol");
    auto it = objects.find(kd);
    if (it == objects.end()) continue;
    const u64 d = ki.descriptor = it->second.address;
    ki.lds_bytes = at<u32>(image_, d), ki.scratch_bytes = at<u32>(image_, d + 4),
    ki.kernarg_bytes = at<u32>(image_, d + 8);
    ki.entry = d + at<u64>(image_, d + 16);
    ki.rsrc3 = at<u32>(image_, d + 44), ki.rsrc1 = at<u32>(image_, d + 48), ki.rsrc2 = at<u32>(image_, d + 52);
    ki.props = at<u16>(image_, d + 56), ki.preload = at<u16>(image_, d + 58);
    ki.scratch_bytes = std::max<u32>(ki.scratch_bytes, static_cast<u32>(k.number(".private_segment_fixed_size")));
    ki.kernarg_bytes = std::max<u32>(ki.kernarg_bytes, static_cast<u32>(k.number(".kernarg_segment_size")));
    ki.max_workgroup = static_cast<u32>(k.number(".max_flat_workgroup_size", 1024));
    ki.vgprs = static_cast<u32>(k.number(".vgpr_count")), ki.agprs = static_cast<u32>(k.number(".agpr_count")),
    ki.sgprs = static_cast<u32>(k.number(".sgpr_count"));
    ki.vgpr_spills = static_cast<u32>(k.number(".vgpr_spill_count")),
    ki.sgpr_spills = static_cast<u32>(k.number(".sgpr_spill_count"));
    ki.dynamic_stack = k.number(".uses_dynamic_stack") != 0;
    if (const value* r = k.get(".reqd_workgroup_size"); r && r->list.size() == 3)
      for (int i = 0; i < 3; ++i) ki.reqd[i] = static_cast<u32>(r->list[i].num);
    if (const value* c = k.get(".cluster_dims"); c && c->list.size() == 3)
      for (int i = 0; i < 3; ++i) ki.cluster[i] = static_cast<u32>(c->list[i].num);
    if (const value* a = k.get(".args"))
      for (const value& x : a->list)
        ki.args.push_back({x.text(".name"), x.text(".value_kind"), static_cast<u32>(x.number(".offset")),
                           static_cast<u32>(x.number(".size"))});
    (k.number(".wavefront_size", 64) == 32 ? any32 : any64) = true;
    if (auto fn = functions.find(ki.name); fn != functions.end()) ki.code_end = fn->second.address + fn->second.size;
    kernels[ki.name] = ki;
  }
  if (any32 && any64)
    throw std::runtime_error("'" + p + "' mixes kernels of wave size 32 and 64, which this emulator does not support");
  wave32 = any32;
}

const std::vector<source_frame>& code_object::frames(u64 va) const {
  auto [it, fresh] = frames_.try_emplace(va);
  if (fresh) it->second = source_lines(path, va);
  return it->second;
}
std::string code_object::where(u64 va) const {
  char buf[64];
  for (const auto& [n, s] : functions)
    if (va >= s.address && va < s.address + std::max<u64>(s.size, 4)) {
      std::snprintf(buf, sizeof buf, "+0x%llx", static_cast<unsigned long long>(va - s.address));
      return n + buf;
    }
  std::snprintf(buf, sizeof buf, "address 0x%llx", static_cast<unsigned long long>(va));
  return buf;
}
}  // namespace emu
