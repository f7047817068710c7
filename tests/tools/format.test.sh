#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ./dev format --check names what ./dev format would change, code and comments, and nothing else: format.test.sh ROOT
set -u
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp "$1/dev" "$1/.clang-format" "$tree"
mkdir -p "$tree"/{benchmarks,examples,include,jit,ops,tests,tools}
printf 'int good = 1;\n' >"$tree/include/good.hpp"
printf 'int  code = 1;\n' >"$tree/tests/code.cu"
printf '// %0121d is too wide a word beside others\nint comment = 1;\n' 0 >"$tree/tools/comment.hip"
printf '// EXPECT: %0121d is what a compiler says\nint expected = 1;\n' 0 >"$tree/tests/expected.cpp"
failed=0
expect() { [[ $2 == *"$3"* ]] || { echo "$1: expected '$3', found '$2'"; failed=1; }; }

found=$("$tree/dev" format --check 2>&1) && expect "exit code of a tree to be formatted" 0 "not 0"
expect "a file with spaces" "$found" "tests/code.cu:1"
expect "a file with a wide comment" "$found" "tools/comment.hip:1"
[[ $found == *good* || $found == *expected* ]] && expect "files that are as they should be" "$found" "neither"
"$tree/dev" format
found=$("$tree/dev" format --check 2>&1) || expect "exit code of a formatted tree" "not 0" 0
expect "what is said of a formatted tree" "'$found'" "''"
exit $failed
