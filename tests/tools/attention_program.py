#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the program attention: results against double precision, files, exit codes and refusals.

    attention_program.py PROGRAM
"""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile


def write_npy(name, shape, values, descr="<f4"):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}\n".encode()
    code = {"<f4": "f", "<f2": "e"}[descr]
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}{code}", *values))


def read_npy(name):
    with open(name, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    header = data[10:10 + length].decode()
    code, size = ("e", 2) if "<f2" in header else ("f", 4)
    body = data[10 + length:]
    return header, struct.unpack(f"<{len(body) // size}{code}", body)


def attention(q, k, v, heads, group, queries, keys, dim, value_dim, scale, left):
    """Causal, with at most `left` earlier keys; O and the log-sum-exp, flat."""
    o, lse = [], []
    for h in range(heads):
        kv = h // group
        for i in range(queries):
            own = i + keys - queries
            row = q[(h * queries + i) * dim:][:dim]
            seen = range(max(0, own - left), max(0, own + 1))
            scores = [scale * sum(x * y for x, y in zip(row, k[(kv * keys + j) * dim:][:dim])) for j in seen]
            weights = [math.exp(s) for s in scores]
            total = sum(weights)
            lse.append(math.log(total) if total else -math.inf)
            for d in range(value_dim):
                o.append(sum(w * v[(kv * keys + j) * value_dim + d] for w, j in zip(weights, seen)) / total if total else 0.0)
    return o, lse


def gradients(q, k, v, d_o, heads, group, queries, keys, dim, value_dim, scale, left):
    """Of Q, K and V, flat; the same mask."""
    d_q, d_k, d_v = [0.0] * len(q), [0.0] * len(k), [0.0] * len(v)
    for h in range(heads):
        kv = h // group
        for i in range(queries):
            own, at, at_o = i + keys - queries, (h * queries + i) * dim, (h * queries + i) * value_dim
            seen = range(max(0, own - left), max(0, own + 1))
            weights = [math.exp(scale * sum(q[at + d] * k[(kv * keys + j) * dim + d] for d in range(dim))) for j in seen]
            p = [w / sum(weights) for w in weights]
            d_p = [sum(d_o[at_o + d] * v[(kv * keys + j) * value_dim + d] for d in range(value_dim)) for j in seen]
            delta = sum(x * y for x, y in zip(p, d_p))
            for j, x, y in zip(seen, p, d_p):
                for d in range(dim):
                    d_q[at + d] += scale * x * (y - delta) * k[(kv * keys + j) * dim + d]
                    d_k[(kv * keys + j) * dim + d] += scale * x * (y - delta) * q[at + d]
                for d in range(value_dim):
                    d_v[(kv * keys + j) * value_dim + d] += x * d_o[at_o + d]
    return d_q, d_k, d_v


def main():
    program = os.path.abspath(sys.argv[1])
    failures = []

    def expect(condition, what):
        if not condition:
            failures.append(what)

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)

        def run(*arguments):
            return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)

        generator = random.Random(1)
        heads, group, queries, keys, dim, value_dim = 4, 2, 20, 13, 40, 72

        def numbers(count):
            return [struct.unpack("<e", struct.pack("<e", generator.gauss(0, 1)))[0] for _ in range(count)]
        q, k, v = numbers(heads * queries * dim), numbers(heads // group * keys * dim), numbers(heads // group * keys * value_dim)
        write_npy("q.npy", (heads, queries, dim), q)
        write_npy("k.npy", (heads // group, keys, dim), k, "<f2")
        write_npy("v.npy", (heads // group, keys, value_dim), v)
        done = run("--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy", "--lse-out", "lse.npy", "--causal", "--left", "5",
                   "--scale", "0.2", "--json")
        expect(done.returncode == 0, f"files: {done.stderr}")
        if done.returncode == 0:
            report = json.loads(done.stdout)
            expect(report["verification"]["correct"] and report["kv_heads"] == 2 and report["value_dim"] == 72, "files: the report")
            header, o = read_npy("o.npy")
            expect("(4, 20, 72)" in header and "<f2" in header, f"files: O's header is {header}")
            wanted, wanted_lse = attention(q, k, v, heads, group, queries, keys, dim, value_dim, 0.2, 5)
            expect(len(o) == len(wanted) and max(abs(x - y) for x, y in zip(o, wanted)) < 4e-3, "files: O")
            _, lse = read_npy("lse.npy")
            expect(all(x == y or abs(x - y) < 1e-3 for x, y in zip(lse, wanted_lse)) and -math.inf in lse, "files: the log-sum-exp")

        d_o = numbers(heads * queries * value_dim)
        write_npy("do.npy", (heads, queries, value_dim), d_o, "<f2")
        outputs = [f"d{name}.npy" for name in "qkv"]
        done = run("--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--d-o", "do.npy", "--causal", "--left", "5", "--scale", "0.2",
                   "--kernel", "hopper", *(x for name in "qkv" for x in (f"--d-{name}-out", f"d{name}.npy")))
        expect(done.returncode == 0 and "the kernel for Hopper" in done.stdout, f"gradients: {done.stdout}{done.stderr}")
        if done.returncode == 0:
            for name, wanted in zip(outputs, gradients(q, k, v, d_o, heads, group, queries, keys, dim, value_dim, 0.2, 5)):
                _, values = read_npy(name)
                expect(len(values) == len(wanted) and max(abs(x - y) for x, y in zip(values, wanted)) < 2e-2, f"gradients: {name}")
        done = run("--backward", "--queries", "9", "--keys", "1")
        expect(done.returncode == 0 and "of the gradients" in done.stdout, f"--backward: {done.stdout}{done.stderr}")

        done = run("--arch", "sm_90", "--dtype", "bf16", "--dim", "96", "--queries", "30", "--keys", "70", "--batch", "2")
        expect(done.returncode == 0 and ": correct" in done.stdout and "emulated sm_90" in done.stdout, f"sm_90: {done.stdout}{done.stderr}")

        # Heads of very different magnitudes: each has its own scale.
        write_npy("k8.npy", (2, 90, 72), [x * y for y in (0.01, 9) for x in numbers(90 * 72)])
        for arguments in (["gfx942", "--causal"], ["sm_90"]):
            done = run("--dtype", "fp8", "--heads", "4", "--queries", "20", "--k", "k8.npy", "--arch", *arguments)
            expect(done.returncode == 0 and ": correct" in done.stdout and "e4m3" in done.stdout, f"fp8 {arguments}: {done.stdout}{done.stderr}")

        # NaN and infinities of the input come out where they should.
        for tensor, special, index in (("q", math.nan, 5), ("k", math.nan, 90), ("k", math.inf, 90), ("v", -math.inf, 7)):
            values = numbers(30 * 40)
            values[index] = special
            write_npy("special.npy", (1, 30, 40), values)
            done = run(f"--{tensor}", "special.npy", "--causal", "--out", "special_o.npy")
            expect(done.returncode == 0 and ": correct" in done.stdout, f"--{tensor} with {special}: {done.stdout}{done.stderr}")
            if done.returncode == 0:
                expect(not all(map(math.isfinite, read_npy("special_o.npy")[1])), f"--{tensor} with {special}: everything is finite")
        with open("cut.npy", "wb") as file, open("q.npy", "rb") as whole:
            file.write(whole.read()[:200])
        files = sorted(os.listdir())
        for arguments in (["--dim", "0"], ["--dim", "257"], ["--heads", "3", "--kv-heads", "2"], ["--scale", "-1"], ["--scale", "3e38"], ["--left", "x"],
                          ["--dtype", "f64"], ["--arch", "sm_10"], ["--kernel", "fast"],
                          ["--kernel", "hopper", "--arch", "gfx942"], ["--d-o", "q.npy", "--queries", "21"], ["--arch", "gfx942", "--device", "gpu"], ["--device", "gpu"],
                          ["--causal", "--right", "1"], ["--nonsense"], ["--q", "missing.npy"], ["--q", "cut.npy"], ["--q", "."],
                          ["--q", "q.npy", "--queries", "21"], ["--q", "q.npy", "--k", "v.npy"], ["--k", "k.npy", "--dtype", "bf16"],
                          ["--k", "k.npy", "--v", "v.npy", "--batch", "4"], ["--out", "no/such/folder.npy"], ["--verify", "--no-verify"]):
            done = run("--out", "x.npy", *arguments) if "--out" not in arguments else run(*arguments)
            what = " ".join(arguments)
            expect(done.returncode == 2, f"{what}: exit code {done.returncode}")
            expect(done.stdout == "" and done.stderr.startswith("attention: ") and done.stderr.count("\n") == 1, f"{what}: {done.stderr}")
            expect(sorted(os.listdir()) == files, f"{what}: left a file")
        expect("usage" in run("--help").stdout.lower(), "--help")
        os.chdir("/")
    for failure in failures:
        print(failure)
    print("attention_program: " + ("failed" if failures else "everything is right"))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
