#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of others that tilewright-check was tried on. It fetches nothing.
#
#   foreign.sh                                  lists them: name, repository, commit, source, arguments
#   foreign.sh hundred                          lists the hundred of docs/lab/check.md: the first ones that compile, have their data in
#                                               their repository, and whose host part ends. The rule is of after most of their runs
#   foreign.sh FOLDER COMPILER CHECK [NAME...]  compiles and checks them, the hundred if NAME is that word: FOLDER holds the repositories
#                                               under their names, COMPILER is a command that compiles HIP (for instance
#                                               "hipcc -g -O2 --offload-arch=gfx942"), CHECK is tilewright-check. foreign_sizes.txt makes
#                                               the sizes smaller that are written into some sources. A line for each program, and
#                                               everything that compiler, program and checker print in foreign.out/NAME
set -u
commits='rocm-examples ROCm/rocm-examples 7dfb7d4
HIP-Examples ROCm/HIP-Examples cdf9d10
hipCUB ROCm/hipCUB 84d9c1c
composable_kernel ROCm/composable_kernel 8e22e1ae3
HeCBench zjin-lcf/HeCBench f27000a51'
# name | repository | sources and options | arguments
programs=$(
  for p in convolution histogram bitonic_sort prefix_sum; do echo "$p|rocm-examples|Applications/$p/main.hip"; done
  echo 'floyd_warshall|rocm-examples|Applications/floyd_warshall/main.hip|-n 32 -i 1'
  for p in warp_shuffle saxpy bit_extract hello_world_cuda gpu_arch occupancy multi_gpu_data_transfer hello_world shared_memory events \
           cooperative_groups device_globals streams inline_assembly dynamic_shared texture_management moving_average; do
    echo "$p|rocm-examples|HIP-Basic/$p/main.hip"
  done
  echo 'matrix_multiplication|rocm-examples|HIP-Basic/matrix_multiplication/main.hip|--A_rows 128 --A_cols 128 --B_cols 128'
  for v in 1 2 3 4 5 6 7 8 9; do echo "reduction_v$v|rocm-examples|Tutorials/reduction/example/v$v.hip"; done
  for p in 'BinomialOption|-x 16' 'BitonicSort|-x 512' 'FastWalshTransform|-x 512' 'FloydWarshall|-x 64' 'HelloWorld|' 'Histogram|-x 512 -y 64' \
           'MatrixMultiplication|-x 64 -y 64 -z 64' 'PrefixSum|' 'SimpleConvolution|-x 64 -y 64' 'dct|-x 64 -y 64' 'dwtHaar1D|-x 1024'; do
    n=${p%%|*}
    echo "$n|HIP-Examples|HIP-Examples-Applications/$n/$n.cpp|-e ${p#*|}"
  done
  echo 'RecursiveGaussian|HIP-Examples|HIP-Examples-Applications/RecursiveGaussian/RecursiveGaussian.cpp|-e'
  echo 'rtm8|HIP-Examples|rtm8/rtm8.cpp'
  echo 'strided-access|HIP-Examples|strided-access/benchmark-hip.cpp'
  echo 'cuda-stream|HIP-Examples|cuda-stream/stream.cpp|-n 65536 -b 256'
  echo 'vectorAdd|HIP-Examples|vectorAdd/vectoradd_hip.cpp'
  echo 'reduction|HIP-Examples|reduction/reduction.cpp|65536'
  for p in module_api runtime_compilation bandwidth; do echo "$p|rocm-examples|HIP-Basic/$p/main.hip"; done
  for p in hipCUB/device_radix_sort hipCUB/device_sum rocPRIM/block_sum rocPRIM/device_sum; do
    echo "${p//\//_}|rocm-examples|Libraries/$p/main.hip"
  done
  for p in partition_flagged partition_if radix_sort reduce scan select_flagged select_if select_unique sort_find_non_trivial_runs; do
    echo "cub_$p|hipCUB|examples/device/example_device_$p.cpp"
  done
  for p in '03_gemm/gemm_basic|-m=256 -n=128 -k=128' '04_img2col/image_to_column|' '05_reduce/reduce|-m=128 -n=512 -warmup=0 -repeat=1'; do
    n=${p%%|*}
    echo "ck_${n#*/}|composable_kernel|example/ck_tile/$n.cpp|${p#*|}"
  done
  # 56 and 24 programs drawn from the 419 of HeCBench that need no library (python: random.Random(39), random.Random(40)): those
  # with a folder are made by its Makefile.
  cat "$(dirname "$0")/foreign_hecbench.txt"
)
# Not of the hundred. Their host part loops for ever, on any machine: RandomBits in example_utils.hpp ends for floating-point types only.
endless='cub_partition_flagged cub_partition_if cub_radix_sort cub_select_flagged cub_select_if cub_select_unique cub_sort_find_non_trivial_runs'
# Data that is not in the repository.
no_data='bfs bitcracker columnarSolver floydwarshall2 geodesic haversine heartwall mnist mpc tpacf word2vec'
# Libraries, Python packages, and errors of clang 22.
not_compiled='reduction_v8 dwconv1d diamond flip daphne logic-resim sss mxfp4'
hundred=$(while IFS='|' read -r name rest; do
  [[ " $endless $no_data $not_compiled " == *" $name "* ]] || echo "$name|$rest"
done <<<"$programs" | head -100)
if [[ ${1:-} == hundred ]]; then
  cut -d '|' -f 1-2 <<<"$hundred"
  exit 0
fi
if [[ $# -lt 3 ]]; then
  while IFS='|' read -r name repository source arguments; do
    commit=$(awk -v r="$repository" '$1 == r { print $2 " " $3 }' <<<"$commits")
    echo "$name $commit $source ${arguments:-}"
  done <<<"$programs"
  exit 0
fi
folder=$(realpath "$1") compiler=$2 check=$(realpath "$(command -v "$3")")
shift 3
chosen=$programs
if [[ $* == hundred ]]; then
  chosen=$hundred
elif [[ $# -gt 0 ]]; then
  chosen=$(for name in "$@"; do grep "^$name|" <<<"$programs"; done)
fi
logs=$(pwd)/foreign.out
mkdir -p "$logs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The source, or a copy of it next to it with smaller sizes.
sized() {
  local edit
  edit=$(awk -F '|' -v name="$1" '$1 == name { print substr($0, length(name) + 2) }' "$(dirname "$0")/foreign_sizes.txt")
  if [[ -z $edit ]]; then
    echo "$2"
  elif [[ -d $2 ]]; then
    rm -rf "$2.sized" && cp -r "$2" "$2.sized" && rm -f "$2.sized"/*.o "$2.sized/main"
    sed -i "$edit" "$2.sized"/*.cu "$2.sized"/*.h 2>/dev/null
    echo "$2.sized"
  else
    sed "$edit" "$2" >"${2%/*}/sized_${2##*/}"
    echo "${2%/*}/sized_${2##*/}"
  fi
}
here=$(pwd)
# shellcheck disable=SC2086  # a command and its words
while IFS='|' read -r name repository source arguments; do
  cd "$here" || exit 1
  root=$folder/$repository log=$logs/$name
  source=$(sized "$name" "$root/$source")
  source=${source#"$root/"}
  if [[ -d $root/$source ]]; then
    make -C "$root/$source" CC="$compiler" program=main >"$log" 2>&1 && cp "$root/$source/main" "$work/$name" 2>>"$log"
    cd "$root/$source" || exit 1
  else
    $compiler -w -std=c++20 -I"$root/Common" -I"$root/Tutorials/reduction/include" -I"$root/HIP-Examples-Applications/include" \
      -I"$root/examples" -I"$root/include" -I"$folder/hipCUB/hipcub/include" -I"$folder/rocPRIM/rocprim/include" \
      "$root/$source" -o "$work/$name" >"$log" 2>&1
  fi
  if [[ ! -x $work/$name ]]; then
    echo "$name: not compiled: $(grep -m1 -i error "$log")"
    continue
  fi
  timeout 300 "$check" "$work/$name" ${arguments:-} >>"$log" 2>&1 </dev/null
  echo "$name: exit code $?, $(grep '^tilewright-check: ' "$log" | tail -1)"
done <<<"$chosen" | tee "$logs/all"
echo "$(grep -c 'exit code 0' "$logs/all") of $(wc -l <"$logs/all") ran to their end without findings"
