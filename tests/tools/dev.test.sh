#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What ./dev says when it cannot do what it is asked: dev.test.sh PATH_OF_DEV
set -u
dev=$1
failed=0
expect() {
  local what=$1 wanted=$2 found=$3
  [[ $found == *"$wanted"* ]] && return
  echo "$what: expected '$wanted', found '$found'"
  failed=1
}

expect "help lists the commands" "./dev gemm" "$("$dev" help)"
expect "no command is help" "./dev test" "$("$dev")"
found=$("$dev" nonsense 2>&1)
expect "exit code of an unknown command" 2 $?
expect "unknown command" "there is no command 'nonsense'" "$found"
found=$("$dev" format --chekc 2>&1)
expect "exit code of an unknown option" 2 $?
expect "unknown option" "./dev format has no option '--chekc', but --check" "$found"
expect "docs takes no option" "./dev docs has no option '--help'" "$("$dev" docs --help 2>&1)"
found=$("$dev" night today 2>&1)
expect "exit code of a seed that is no number" 2 $?
expect "such a seed" "the seed must be a whole number" "$found"
found=$("$dev" test core/transform nonsense 2>&1)
expect "exit code of a floor that is none" 2 $?
expect "such a floor" "there are no tests of 'nonsense', but of these: core/base core/arch" "$found"

# A machine without packages, root or sudo: stand-ins for the commands that dev asks.
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
for tool in bash env dirname cat grep; do ln -s "$(command -v $tool)" "$tools/$tool"; done
printf '#!/bin/bash\nexit 1\n' >"$tools/dpkg-query"
printf '#!/bin/bash\necho 1000\n' >"$tools/id"
printf '#!/bin/bash\necho "apt-get was called" >&2\n' >"$tools/apt-get"
chmod +x "$tools"/dpkg-query "$tools"/id "$tools"/apt-get
found=$(PATH=$tools "$dev" gemm 2>&1)
expect "exit code without packages" 1 $?
expect "which packages" "libboost-context-dev" "$found"
expect "which command" "sudo apt-get install -y" "$found"
expect "what ./dev layout needs" "libboost-context-dev" "$(PATH=$tools "$dev" layout 2>&1)"
[[ $found == *"apt-get was called"* ]] && { echo "apt-get was called without the right to"; failed=1; }

# With root they are installed, and a failure is reported.
printf '#!/bin/bash\necho 0\n' >"$tools/id"
printf '#!/bin/bash\necho "apt-get $*" >&2\n[[ $1 == update ]]\n' >"$tools/apt-get"
found=$(PATH=$tools "$dev" gemm 2>&1)
expect "exit code of a failed installation" 1 $?
expect "the installation" "apt-get install -y -q --no-install-recommends g++" "$found"
expect "the failure" "the installation failed" "$found"
exit $failed
