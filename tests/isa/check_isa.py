#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the instructions of a compiled GEMM kernel against a table of budgets.

usage: check_isa.py BUDGETS TARGET KERNEL.s
       check_isa.py --self-test

The hot loop is the innermost one with matrix instructions, found by its backward branch. Exit status: 0 when every budget is
kept, and each of them made wrong would be noticed, 1 when not, 2 for input that makes no sense, 77 (skipped) when another compiler wrote the kernel.
"""

import re
import sys
from pathlib import Path

COMPILER = re.compile(r"\.ident\s+\"[^\"]*clang version 22\.")

# Each instruction is counted in the first row that matches.
INSTRUCTIONS = {
    "matrix instructions": r"v_(mfma|wmma|smfmac|swmmac)_",
    "LDS reads of 16 bytes": r"ds_(read|load)_b128$",
    "transposing LDS reads": r"ds_read_b64_tr_b(8|16)$",
    "other LDS reads": r"ds_(read|load)",
    "LDS writes of 16 bytes": r"ds_(write|store)_b128$",
    "other LDS writes": r"ds_",
    "copies to LDS of 16 bytes": r"buffer_load_dwordx4\.lds$",
    "copies to LDS of 4 bytes": r"buffer_load_dword\.lds$",
    "tensor loads": r"tensor_load_to_lds$",
    "loads of 16 bytes": r"(buffer|global)_load_(dwordx4|b128)$",
    "other global memory accesses": r"(buffer|global|flat)_(load|store|atomic)",
    "scratch accesses": r"scratch_",
    "vector XOR": r"v_(xor|xnor|xad|dual_xor)",
    "other vector ALU": r"v_",
    "waits for memory": r"s_wait(cnt|_\w*cnt)",
    "barriers": r"s_barrier(_wait)?$",
    "priority changes": r"s_setprio$",
    "scheduling": r"s_(barrier_signal|wait|nop|clause|delay_alu|sched|sleep|c?branch)",
    "scalar loads": r"s_(load|buffer_load)",
    "scalar ALU": r"s_",
}
METADATA = {
    "VGPRs": "vgpr_count",
    "accumulation VGPRs": "agpr_count",
    "bytes of scratch": "private_segment_fixed_size",
    "VGPR spills": "vgpr_spill_count",
    "SGPR spills": "sgpr_spill_count",
}
ALL = "instructions"
LONGEST_LDS_RUN = "LDS instructions between two matrix instructions"  # at most
PASSED_BY = "barriers that some waves pass by"
MIXED_PHASES = "stretches between barriers with matrix and memory instructions"
KNOWN = {"in the hot loop": {**INSTRUCTIONS, ALL: "", LONGEST_LDS_RUN: "", MIXED_PHASES: ""}, "in the whole kernel": {**METADATA, PASSED_BY: ""}}


class Senseless(Exception):
    """The input makes no sense; the message is one sentence."""


def instructions_and_labels(assembly):
    """The mnemonics and operands of the kernel in their order, and the number of the instruction after each label."""
    instructions, labels = [], {}
    for line in assembly.splitlines():
        line = line.split(";")[0].split("//")[0].rstrip()
        if label := re.match(r"(\.LBB\w+):", line):
            labels[label[1]] = len(instructions)
        elif instruction := re.match(r"\s+([a-z]\w*)\s*(.*)", line):
            instructions.append((instruction[1], instruction[2]))
    return instructions, labels


def hot_loop(assembly):
    """The mnemonics of the hot loop, those of loads that write LDS with the suffix .lds."""
    return [line.split()[0] + (".lds" if line.endswith(" lds") else "") for line in hot_loop_lines(assembly)]


def hot_loop_lines(assembly):
    """The innermost loop with matrix instructions; of several, the one with most of these."""
    instructions, labels = instructions_and_labels(assembly)
    is_matrix = re.compile(INSTRUCTIONS["matrix instructions"]).match
    loops = {}
    for end, (mnemonic, operands) in enumerate(instructions):
        begin = labels.get(operands, end + 1) if re.match(r"s_c?branch", mnemonic) else end + 1
        if begin <= end and any(is_matrix(m) for m, _ in instructions[begin:end + 1]):
            loops[begin, end] = [f"{m} {operands}".strip() for m, operands in instructions[begin:end + 1]]
    innermost = [body for (begin, end), body in loops.items()
                 if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in loops)]
    if not innermost:
        raise Senseless("the kernel has no loop with matrix instructions")
    return max(innermost, key=lambda body: sum(bool(is_matrix(m)) for m in body))


def matches(row, mnemonic):
    return re.match(INSTRUCTIONS[row], mnemonic) is not None


def pieces(loop, separator):
    """The instructions between those of the row `separator`; the loop's end continues at its start."""
    at = [i for i, mnemonic in enumerate(loop) if matches(separator, mnemonic)]
    return [(loop + loop)[begin + 1:end] for begin, end in zip(at, at[1:] + [at[0] + len(loop)])] if at else [loop]


def arrangement(loop):
    """Which kinds of instructions follow each other."""
    def has(piece, pattern):
        return any(re.match(pattern, mnemonic) for mnemonic in piece)

    def lds(piece):
        return sum(mnemonic.startswith("ds_") for mnemonic in piece)

    memory = r"ds_|buffer_|global_|flat_"
    return {
        LONGEST_LDS_RUN: max(lds(piece) for piece in pieces(loop, "matrix instructions")),
        MIXED_PHASES: sum(has(piece, INSTRUCTIONS["matrix instructions"]) and has(piece, memory)
                          for piece in pieces(loop, "barriers")),
    }


def barriers_passed_by(assembly):
    """How many barriers stand alone between a conditional branch and the place that it goes to."""
    instructions, labels = instructions_and_labels(assembly)
    return sum(branch.startswith("s_cbranch") and matches("barriers", barrier) and labels.get(to) == i + 2
               for i, ((branch, to), (barrier, _)) in enumerate(zip(instructions, instructions[1:])))


def count(assembly):
    """The numbers of both parts of the table."""
    found = dict.fromkeys(INSTRUCTIONS, 0)
    loop = hot_loop(assembly)
    for mnemonic in loop:
        row = next((name for name, pattern in INSTRUCTIONS.items() if re.match(pattern, mnemonic)), None)
        if row is None:
            raise Senseless(f"{mnemonic} is in no row of INSTRUCTIONS")
        found[row] += 1
    found[ALL] = sum(found.values())
    found.update(arrangement(loop))
    kernel = {}
    for name, key in METADATA.items():
        values = re.findall(rf"^\s*(?:- )?\.{key}:\s+(\d+)$", assembly, re.MULTILINE)
        if not values and key == "agpr_count" and re.search(r"^\s*\.vgpr_count:", assembly, re.MULTILINE):
            values = [0]  # the target has none
        if len(values) != 1:
            raise Senseless(f"the file has {len(values)} kernels with .{key}, not one")
        kernel[name] = int(values[0])
    kernel[PASSED_BY] = barriers_passed_by(assembly)
    return {"in the hot loop": found, "in the whole kernel": kernel}


def read_budgets(text, target):
    """A list of (part, name, relation, number) for one target."""
    budgets, part, targets = [], None, []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        where = f"line {number} of the budgets"
        head = next((part for part in KNOWN if line.startswith(part)), None)
        if head:
            part, targets = head, line[len(head):].split()
            continue
        row = re.fullmatch(r"(.+?)\s*(<=|=)((?:\s+\d+)+)", line)
        if part is None or not row or len(row[3].split()) != len(targets):
            raise Senseless(f"{where} is not a name, = or <=, and a number for each target: '{line}'")
        if row[1] not in KNOWN[part]:
            raise Senseless(f"{where}: nothing counts '{row[1]}' {part}")
        if target not in targets:
            raise Senseless(f"{where}: there is no column for {target}")
        budgets.append((part, row[1], row[2], int(row[3].split()[targets.index(target)])))
    if not budgets:
        raise Senseless("the budgets are empty")
    return budgets


def violations(budgets, found):
    """A sentence for each budget that is not kept."""
    result = []
    for part, name, relation, expected in budgets:
        number = found[part][name]
        if number > expected or (relation == "=" and number != expected):
            at_most = "at most " if relation == "<=" else ""
            result.append(f"{name} {part}: expected {at_most}{expected}, found {number}")
    return result


def planted(budgets, found):
    """Each budget in turn, replaced by one that the kernel does not keep, with the sentence that must come out."""
    for i, (part, name, relation, _) in enumerate(budgets):
        number = found[part][name]
        for wrong in (number - 1, number + 1)[:2 if relation == "=" else 1]:
            at_most = "at most " if relation == "<=" else ""
            sentence = f"{name} {part}: expected {at_most}{wrong}, found {number}"
            yield budgets[:i] + [(part, name, relation, wrong)] + budgets[i + 1:], sentence


def check(budgets_file, target, assembly_file):
    assembly = Path(assembly_file).read_text(encoding="utf-8")
    if not COMPILER.search(assembly):
        print("skipped: the budgets are for clang 22")
        return 77
    budgets = read_budgets(Path(budgets_file).read_text(encoding="utf-8"), target)
    found = count(assembly)
    for part, name, relation, expected in budgets:
        print(f"{target}: {found[part][name]:4} {name} {part} (budget: {relation} {expected})")
    wrong = violations(budgets, found)
    wrong += [f"not noticed: {sentence}" for other, sentence in planted(budgets, found) if sentence not in violations(other, found)]
    for sentence in wrong:
        print(f"{target}: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


SAMPLE_KERNEL = """
kernel:
\tv_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]
.LBB0_1:                                ; an outer loop
\tv_xor_b32_e32 v1, v2, v3
.LBB0_2:                                ; the hot loop
\tv_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]
\tds_read_b128 v[0:3], v4 offset:16
\tds_read2_b64 v[0:3], v4 offset1:1
\tbuffer_load_dwordx4 v4, s[0:3], 0 offen lds
\ts_waitcnt lgkmcnt(0)
\ts_setprio 1
\tv_add_u32_e32 v1, v2, v3
\ts_add_i32 s0, s0, 1
\ts_cbranch_scc0 .LBB0_2
.LBB0_3:                                ; a loop that does not multiply
\tbuffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen
\ts_cbranch_scc0 .LBB0_3
\ts_cbranch_scc1 .LBB0_1
\ts_branch .LBB0_4
.LBB0_4:
\ts_endpgm
    .private_segment_fixed_size: 0
    .sgpr_spill_count: 0
    .vgpr_count:     20
    .vgpr_spill_count: 3
"""

SAMPLE_BUDGETS = """
in the hot loop         gfx1  gfx2
matrix instructions   =    1     2
LDS reads of 16 bytes =    1     1
other LDS reads       =    1     1  # a comment
vector XOR            =    0     0
other vector ALU     <=    1     1
scalar ALU           <=    3     0
waits for memory      =    1     1
loads of 16 bytes     =    0     0
priority changes      =    1     1
copies to LDS of 16 bytes = 1    1
instructions         <=    9     9
LDS instructions between two matrix instructions                  <=    2     1
stretches between barriers with matrix and memory instructions     =    1     0
in the whole kernel     gfx1  gfx2
VGPRs                <=   20    20
VGPR spills           =    3     0
"""


def self_test():
    found = count(SAMPLE_KERNEL)
    assert violations(read_budgets(SAMPLE_BUDGETS, "gfx1"), found) == []
    assert violations(read_budgets(SAMPLE_BUDGETS, "gfx2"), found) == [
        "matrix instructions in the hot loop: expected 2, found 1",
        "scalar ALU in the hot loop: expected at most 0, found 1",
        "LDS instructions between two matrix instructions in the hot loop: expected at most 1, found 2",
        "stretches between barriers with matrix and memory instructions in the hot loop: expected 0, found 1",
        "VGPR spills in the whole kernel: expected 0, found 3",
    ]
    for budgets, sentence in planted(read_budgets(SAMPLE_BUDGETS, "gfx1"), found):
        assert violations(budgets, found) == [sentence], sentence

    assert found["in the whole kernel"][PASSED_BY] == 0
    alone = "\ts_cbranch_scc1 .LBB1\n\ts_barrier\n.LBB1:\n\ts_barrier\n"
    assert barriers_passed_by(alone) == 1 and barriers_passed_by(alone.replace("s_cbranch_scc1 .LBB1", "s_nop 0")) == 0

    # The last stretch goes on at the beginning.
    loop = ["ds_read_b128", "s_barrier", "v_mfma_a", "v_mfma_b", "s_barrier", "ds_write_b128", "buffer_load_dwordx4"]
    assert arrangement(loop) == {LONGEST_LDS_RUN: 2, MIXED_PHASES: 0}
    assert arrangement(loop[:4] + loop[5:]) == {LONGEST_LDS_RUN: 2, MIXED_PHASES: 1}

    def refused(function, *arguments):
        try:
            function(*arguments)
        except Senseless:
            return True
        return False

    assert refused(count, SAMPLE_KERNEL.replace("v_mfma", "v_add"))
    assert refused(count, SAMPLE_KERNEL.replace("s_add_i32", "unheard_of"))
    assert refused(count, SAMPLE_KERNEL + SAMPLE_KERNEL)
    assert refused(read_budgets, SAMPLE_BUDGETS, "gfx3")
    assert refused(read_budgets, SAMPLE_BUDGETS.replace("vector XOR", "vector OR"), "gfx1")
    assert refused(read_budgets, SAMPLE_BUDGETS.replace("3     0", "3"), "gfx1")
    assert refused(read_budgets, "", "gfx1")
    return 0


def main(arguments):
    try:
        if arguments == ["--self-test"]:
            return self_test()
        if len(arguments) == 3:
            return check(*arguments)
        print(__doc__, file=sys.stderr)
    except (Senseless, OSError) as problem:
        print(f"check_isa: {problem}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
