// SPDX-License-Identifier: MIT
// A loaded AMDGPU code object: ELF segments, symbols, kernel descriptors, metadata.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <amdgcn_emulator.hpp>

#include "numeric.hpp"

namespace emu {
struct kernel_arg {
  std::string name, kind;
  u32 offset = 0, size = 0;
};
struct kernel_info {
  std::string name;
  u64 descriptor = 0, entry = 0, code_end = 0;  // virtual addresses in the code object
  u32 lds_bytes = 0, scratch_bytes = 0, kernarg_bytes = 0, rsrc1 = 0, rsrc2 = 0, rsrc3 = 0, props = 0, preload = 0;
  u32 cluster[3] = {1, 1, 1};  // workgroups along each dimension
  u32 max_workgroup = 1024, reqd[3] = {0, 0, 0}, vgprs = 0, agprs = 0, sgprs = 0, vgpr_spills = 0, sgpr_spills = 0;
  bool dynamic_stack = false;
  std::vector<kernel_arg> args;
  bool prop(int b) const { return props >> b & 1; }
  u32 cluster_size() const { return cluster[0] * cluster[1] * cluster[2]; }
};
enum class family { gfx9, gfx11, gfx12 };
struct symbol {
  u64 address, size;
};

class code_object {
 public:
  explicit code_object(const std::string& path);
  std::string path, target;
  int abi = 0;
  family fam = family::gfx9;
  bool wave32 = false;
  std::map<std::string, kernel_info> kernels;
  std::map<std::string, symbol> functions, objects;
  std::vector<symbol> readable;  // what kernels may access: variables, and sections whose variables may have no names
  u8* image() { return image_.data(); }
  u64 base() const { return reinterpret_cast<u64>(image_.data()); }
  u64 size() const { return image_.size(); }
  u64 text_lo = ~0ull, text_hi = 0;  // executable addresses
  std::string where(u64 vaddr) const;
  const std::vector<source_frame>& frames(u64 vaddr) const;  // asks once for each address

 private:
  std::vector<u8> image_;
  mutable std::map<u64, std::vector<source_frame>> frames_;
};
}  // namespace emu
