#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks and measures everything on this machine's GPU, AMD or NVIDIA, and writes report-<gpu>.json and report-<gpu>.md.

    ./dev gpu [--out FOLDER] [--quick] [--only STEP]... [--arch ARCH] [--no-build] [--jobs N]

Needs ROCm or CUDA, CMake, Python 3, and for the GEMM programs nlohmann-json. Nothing is fetched. Every row of the report has the
command that repeats it. Exit code: 0 if nothing failed or contradicts the tables, 1 otherwise, 2 if there is no supported GPU.
Steps: probe, kernels, products, counters, sanitizers, benchmarks, predictions.
"""
import argparse
import concurrent.futures
import csv
import datetime
import io
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "gpu"))
import check_gemm  # noqa: E402
import check_lds  # noqa: E402

AMD = tuple(re.search(r"^using amd_targets = target_list<(.*)>;", (ROOT / "include/tilewright/core/arch/arch.hpp").read_text(encoding="utf-8"), re.M)[1].split(", "))
STEPS = ("probe", "kernels", "products", "counters", "sanitizers", "benchmarks", "predictions")
PREDICTED = ("gfx942", "gfx950")  # targets that the model of docs/amd_predictions.md has facts of
VERDICTS = ("confirmed", "contradicted", "failed", "left out", "measured")


# Shapes and kernels whose times are compared with predictions: small M, tiles that fill compute units or do not, long and short k.
PREDICTED_SHAPES = ((16, 4096, 4096), (4096, 4096, 4096), (512, 4096, 7168), (1, 7168, 2048), (64, 2112, 7168), (256, 7168, 512), (1024, 10240, 4096),
                    (2048, 2048, 2048), (8192, 8192, 8192), (4096, 2112, 7168))
PREDICTED_POLICIES = ("gemm_16x64", "gemm_64x64", "gemm_128x64", "gemm_128x128", "gemm_256x256", "gemm_direct_128x128", "gemm_ping_pong", "gemm_one_wave")


class no_gpu(Exception):
    pass


def run(command, timeout=300):
    """Never raises: a program that does not end or does not exist has an exit code of its own."""
    try:
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"not done after {timeout} s")
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))


def last_line(done):
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def kfd_arch(topology):
    """The first GPU that the kernel driver of AMD GPUs lists: gfx_target_version 90402 is gfx942, 90010 gfx90a."""
    for properties in sorted(pathlib.Path(topology).glob("nodes/*/properties")):
        found = re.search(r"^gfx_target_version (\d+)$", properties.read_text(), re.MULTILINE)
        if found and int(found[1]) > 0:
            version = int(found[1])
            return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
    return None


def find_arch(topology="/sys/class/kfd/kfd/topology"):
    """The architecture as its compiler names it: gfx942, sm_90a."""
    arch = kfd_arch(topology)
    if arch:
        return arch
    done = run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"], timeout=60)
    if done.returncode == 0 and done.stdout.strip():
        capability = done.stdout.splitlines()[0].strip().replace(".", "")
        return "sm_90a" if capability == "90" else f"sm_{capability}"
    raise no_gpu("no GPU was found: neither the driver of AMD GPUs (/sys/class/kfd) nor nvidia-smi lists one")


def compute_units(arch, topology="/sys/class/kfd/kfd/topology"):
    """Of the GPU, as its driver says; without a driver those of an MI300X or MI355X."""
    for properties in sorted(pathlib.Path(topology).glob("nodes/*/properties")):
        found = dict(line.split()[:2] for line in properties.read_text().splitlines() if len(line.split()) > 1)
        if int(found.get("simd_count", 0)) > 0 and int(found.get("simd_per_cu", 0)) > 0:
            return int(found["simd_count"]) // int(found["simd_per_cu"])
    return {"gfx942": 304, "gfx950": 256}[arch]


def counters_in(folder, kernel):
    """What AMD's profilers counted in kernels whose names contain `kernel`: counter -> sum over their dispatches, and how many those were.

    rocprofv3 writes <host>/<pid>_counter_collection.csv (with several passes pass_1/..., pmc_1/...) with a row for each counter of each dispatch;
    rocprofv2 and rocprof-compute (pmc_perf.csv) write a row for each dispatch with a column for each counter.
    """
    counted, dispatches = {}, set()
    for file in sorted(pathlib.Path(folder).rglob("*.csv")):
        for row in csv.DictReader(io.StringIO(file.read_text())):
            if kernel not in (row.get("Kernel_Name") or ""):
                continue
            if "Counter_Name" in row:
                values = {row["Counter_Name"]: row["Counter_Value"]}
            else:
                values = {name: value for name, value in row.items() if re.match(r"(SQ|TCC|TCP|TA|TD|GRBM|SPI|CP)_", name)}
            for name, value in values.items():
                counted[name] = counted.get(name, 0) + float(value)
            if values:
                dispatches.add(row.get("Dispatch_Id") or row.get("Dispatch_ID"))
    return counted, len(dispatches)


class Report:
    def __init__(self, arch, folder, build, quick, jobs):
        self.arch, self.folder, self.build, self.quick, self.jobs = arch, folder, build, quick, jobs
        self.runtime = "cuda" if arch.startswith("sm_") else "hip"
        self.device, self.rows, self.steps = arch, [], {}

    def program(self, name):
        """Path of a program of the build; None if it was left out."""
        for path in (self.build / "tools" / "lds_probe", self.build / "tools" / "gemm", self.build / "tools" / "predict", self.build / "tests" / "gpu", self.build / "benchmarks" / "gpu"):
            if (path / name).exists():
                return path / name
        return None

    def add(self, step, what, verdict, command=(), detail="", **more):
        words = [str(c).replace(f"{ROOT}/", "").replace(f"{self.folder}/", "") for c in command]  # from the root of the tree
        row = {"step": step, "what": what, "verdict": verdict, "detail": detail, "command": shlex.join(words), **more}
        self.rows.append(row)
        if verdict in ("failed", "contradicted"):
            print(f"  {verdict.upper()}: {what}: {detail}", flush=True)

    def left_out(self, step, what, why):
        self.add(step, what, "left out", detail=why)

    # The steps.

    def probe(self):
        """Which lanes each LDS instruction serves together, by timing, against the tables of arch/."""
        program = self.program(f"lds_probe-{self.runtime}")
        if not program:
            return self.left_out("probe", "LDS instructions", "lds_probe was not built")
        file = self.folder / "lds_probe.json"
        command = [program, "--json", file]
        done = run(command)
        if not file.exists():
            return self.add("probe", "LDS instructions", "failed", command, last_line(done))
        found = json.loads(file.read_text())
        self.device = found["device"]
        for row in found["instructions"]:
            name = row["instruction"]
            command = [program, "--only", name]
            if not row["consistent"]:
                self.add("probe", name, "failed", command, "the times are not consistent: " + row.get("problem", "see the program's output"))
            else:
                self.add("probe", name, "confirmed" if row["as_in_table"] else "contradicted", command,
                         f"phases {row['phases']}, {row['banks']} banks" + ("" if row["as_in_table"] else ", not as in the table"))

    def kernels(self):
        """Programs that print PASS or FAIL for each kernel."""
        names = ("math", "attention", "attention_gradients", "library_kernels", "examples", "parallel_ranks", "products")
        programs = [self.program(f"gpu_{name}-{self.runtime}") for name in names]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            results = list(pool.map(lambda program: run([program]) if program else None, programs))
        for name, program, done in zip(names, programs, results):
            if not program:
                self.left_out("kernels", name, "the program was not built")
                continue
            lines = [line for line in done.stdout.splitlines() if re.search(r"\b(PASS|FAIL)\b", line)]
            for line in lines:
                what, verdict, detail = re.split(r"\b(PASS|FAIL)\b", line, maxsplit=1)
                self.add("kernels", f"{name}: {' '.join(what.split())}", "confirmed" if verdict == "PASS" else "failed", [program], detail.strip())
            if not lines or (done.returncode != 0 and not any("FAIL" in line for line in lines)):
                self.add("kernels", name, "failed", [program], last_line(done))

    def products(self):
        """GEMM on random data against double precision."""
        program = self.program(f"gemm-{self.runtime}")
        if not program:
            return self.left_out("products", "GEMM", "the program gemm was not built (it needs nlohmann-json)")
        wanted = list(check_gemm.products(self.arch))
        if self.quick:
            wanted = random.Random(1).sample(wanted, len(wanted) // 4)
        for row in check_gemm.check_products(str(program), wanted, self.jobs):
            command, what = [program, "--device", "gpu", "--verify", *row["arguments"]], " ".join(row["arguments"])
            if row["ok"]:
                self.add("products", what, "confirmed", command, f"relative error {row['relative_error']:.3g}", kernel=row["kernel"])
                continue
            done = run(command)
            missing = done.returncode == 2 and "no kernel" in done.stderr
            self.add("products", what, "left out" if missing else "failed", command, last_line(done))

    def counters(self):
        """LDS conflicts by the GPU's own counters, against what the layouts predict."""
        program = self.program(f"gemm-{self.runtime}")
        if self.runtime == "cuda":
            self.counters_of_ncu(program)
        else:
            self.counters_of_rocprof(program)

    def counters_of_ncu(self, gemm):
        if not shutil.which("ncu"):
            return self.left_out("counters", "LDS conflicts", "ncu (Nsight Compute) is not in PATH")
        program = self.program("lds_accesses")
        try:
            if program:
                accesses = [json.loads(line) for line in check_lds.run([program, "list"]).splitlines()]
                check_lds.compare(accesses, check_lds.counted_wavefronts(program))
                for row in check_lds.summarise(accesses):
                    equal = row["equal"] == row["accesses"]
                    self.add("counters", f"{row['instruction']}, {row['lanes']}", "confirmed" if equal else "contradicted",
                             [ROOT / "tests/gpu/check_lds.py", program], f"wavefronts of {row['equal']} of {row['accesses']} accesses as predicted, "
                             f"{row['with_conflicts']} with conflicts")
            if gemm and not self.quick:
                for row in check_gemm.check_conflicts(str(gemm)):
                    self.add("counters", f"{row['kernel']}, {'x'.join(map(str, row['shape']))} {row['layout']}",
                             "confirmed" if row["ok"] else "contradicted", row["command"],
                             f"wavefronts predicted {row['predicted']}, counted {row['counted']}")
        except (SystemExit, OSError, KeyError, ValueError) as error:
            self.left_out("counters", "LDS conflicts", "ncu could not count: " + str(error).strip().splitlines()[-1])

    def counters_of_rocprof(self, gemm):
        profiler = shutil.which("rocprofv3")
        if not profiler or not gemm:
            return self.left_out("counters", "LDS conflicts", "rocprofv3 is not in PATH" if gemm else "the program gemm was not built")
        for shape, layout, dtype in (((512, 512, 512), "rcr", "f16"), ((512, 512, 512), "rrr", "bf16"), ((256, 384, 200), "crr", "f16")):
            product = [gemm, "--device", "gpu", "--no-verify", "--json", *check_gemm.arguments_of(shape, dtype, layout)]
            what = " ".join(check_gemm.arguments_of(shape, dtype, layout))
            report = run(product)
            with tempfile.TemporaryDirectory() as out:
                command = [profiler, "--pmc", "SQ_LDS_BANK_CONFLICT", "SQ_INSTS_LDS", "--output-format", "csv", "-d", out, "--", *product]
                done = run(command)
                counted, launches = counters_in(out, "gemm")
            if report.returncode != 0 or "SQ_LDS_BANK_CONFLICT" not in counted:
                self.left_out("counters", what, "rocprofv3 counted nothing: " + last_line(done))
                continue
            counted = {name: value / launches for name, value in counted.items()}
            lines = json.loads(report.stdout)["lds"]
            conflicts, instructions = (sum(line[key] for line in lines) for key in ("predicted_conflicts", "executions"))
            ok = (counted["SQ_LDS_BANK_CONFLICT"] == 0) == (conflicts == 0)
            self.add("counters", what, "confirmed" if ok else "contradicted", command,
                     f"conflicts predicted {conflicts}, counted {counted['SQ_LDS_BANK_CONFLICT']:.0f} cycles; "
                     f"LDS instructions predicted {instructions}, counted {counted.get('SQ_INSTS_LDS', 0):.0f}", predicted=conflicts, counted=counted)

    def sanitizers(self):
        program = self.program(f"gemm-{self.runtime}")
        if self.runtime == "hip":
            return self.left_out("sanitizers", "memory errors and races", "ROCm has no tool that checks programs as they are; the CPU emulator and the emulator do")
        if not shutil.which("compute-sanitizer") or not program:
            return self.left_out("sanitizers", "memory errors and races", "compute-sanitizer is not in PATH" if program else "the program gemm was not built")
        checked = {"attention": [self.program("gpu_attention-cuda")]}
        if not self.quick:
            checked |= {"Hopper products": [self.program("gpu_products-cuda"), "--small", "--cases", "1"]}
            checked |= {" ".join(p): [program, "--device", "gpu", "--verify", *p] for p in check_gemm.sanitized_products()}
        commands = {f"{tool}: {what}": ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", *command]
                    for tool in ("memcheck", "racecheck", "synccheck") for what, command in checked.items() if command[0]}
        if "memcheck: Hopper products" in commands:
            commands["memcheck: Hopper products"].append("--no-any-start")
            self.left_out("sanitizers", "memcheck: Hopper products, tiles with unaligned",
                          "memcheck stops at their cp.async of 16 bytes with fewer source bytes at the end of an allocation: it counts 16, although the GPU reads the source bytes alone")
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for (what, command), done in zip(commands.items(), pool.map(run, commands.values())):
                self.add("sanitizers", what, "confirmed" if done.returncode == 0 else "failed", command, last_line(done))

    def benchmarks(self):
        """Speed of GEMM against the vendor's library."""
        shapes = ((4096, 4096, 4096), (8192, 8192, 8192), (4096, 7168, 2048))
        program = self.program("gemm-benchmark")
        if program:
            file = self.folder / "benchmark.json"
            command = [program, "--dtype", "f16,bf16,e4m3", "--b", "col", "--contender", "cublas", "--contender", "tilewright", *(a for m, n, k in shapes[:1 if self.quick else None] for a in ("--shape", f"{m}x{n}x{k}")), "--rounds", "5", "--json", file, "--commit", self.versions()["commit"]]
            done = run(command)
            text = file.read_text() if file.exists() else ""  # empty where the program did not end
            for row in json.loads(text)["results"] if text else ():
                what, ratio = f"{row['m']}x{row['n']}x{row['k']} {row['type']}", row.get("ratio_to_cublas")
                wrong = [name for name, one in row.get("contenders", {}).items() if not one.get("correct", True)]
                if wrong or "tflops" not in row:
                    self.add("benchmarks", what, "failed", command, f"wrong: {', '.join(wrong)}" if wrong else "not measured")
                    continue
                detail = f"{row['tflops']:.1f} TFLOP/s" + (f", cuBLAS {row['cublas_tflops']:.1f} ({ratio:.2f})" if ratio else "")
                self.add("benchmarks", what, "measured", command, detail, tflops=row["tflops"], vendor={"cuBLAS": row["cublas_tflops"]} if ratio else {})
            if done.returncode != 0 or not text:
                self.add("benchmarks", "gemm-benchmark", "failed", command, last_line(done))
            return
        program = self.program(f"gemm-{self.runtime}")
        if not program:
            return self.left_out("benchmarks", "GEMM", "the program gemm was not built")
        for m, n, k in shapes[:1 if self.quick else None]:
            command = [program, "--device", "gpu", "--no-verify", "--repeat", "20", "--json", *check_gemm.arguments_of((m, n, k), "f16", "rcr")]
            done = run(command)
            if done.returncode != 0:
                self.add("benchmarks", f"{m}x{n}x{k}", "failed", command, last_line(done))
                continue
            mine, vendor = json.loads(done.stdout)["operations_per_second"] * 1e-12, self.vendor_rate(m, n, k)
            detail = f"{mine:.1f} TFLOP/s" + "".join(f", {name} {rate:.1f} ({mine / rate:.2f})" for name, rate in vendor.items())
            self.add("benchmarks", f"{m}x{n}x{k} f16 rcr", "measured", command, detail, tflops=mine, vendor=vendor)
        if self.runtime == "cuda":
            self.left_out("benchmarks", "cuBLAS", "gemm-benchmark was not built: it is for compute capability 9.0 and needs cuBLAS")
        elif not (shutil.which("hipblaslt-bench") or shutil.which("rocblas-bench")):
            self.left_out("benchmarks", "the vendor's library", "neither hipblaslt-bench nor rocblas-bench is in PATH; both belong to ROCm")

    def predictions(self):
        """Times of GEMM kernels against the model's, and the model's ledger of these times: predictions.csv."""
        gemm, predict = self.program(f"gemm-{self.runtime}"), self.program("tilewright-predict")
        if self.arch not in PREDICTED:
            return self.left_out("predictions", "GEMM", f"the model has no facts of {self.arch}")
        if not gemm or not predict:
            return self.left_out("predictions", "GEMM", "the programs gemm and tilewright-predict were not built")
        table = ["file,gfx,cu_num,kernel,M,N,K,splitK,us"]
        commands = {}
        for m, n, k in (PREDICTED_SHAPES[:3] if self.quick else PREDICTED_SHAPES):
            for policy in PREDICTED_POLICIES:
                command = [gemm, "--device", "gpu", "--no-verify", "--repeat", "50", "--json", "--policy", policy, *check_gemm.arguments_of((m, n, k), "bf16", "rcr")]
                done = run(command)
                if done.returncode != 0:
                    self.add("predictions", f"{m}x{n}x{k} {policy}", "left out" if done.returncode == 2 else "failed", command, last_line(done))
                    continue
                found = json.loads(done.stdout)
                commands[policy, m, n, k] = command
                microseconds = sorted(found["seconds"])[len(found["seconds"]) // 2] * 1e6
                table.append(f"bf16,{self.arch},{compute_units(self.arch)},{policy},{m},{n},{k},1,{microseconds:.3f}")
        file = self.folder / "predictions.csv"
        file.write_text("\n".join(table) + "\n")
        command = [predict, file, "--rows"]
        done = run(command)
        rows = json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else []
        for row in rows:
            ratio = row["predicted_us"] / row["us"]
            key = (row["kernel"], row["m"], row["n"], row["k"])
            impossible = row["bound_us"] > 1.02 * row["us"]
            self.add("predictions", f"{row['m']}x{row['n']}x{row['k']} {row['kernel']}", "contradicted" if impossible else "measured", commands[key],
                     f"{row['us']:.1f} us, predicted {row['predicted_us']:.1f} ({ratio:.2f})" + (f", less than the bound of {row['bound_us']:.1f}" if impossible else ""),
                     measured_us=row["us"], predicted_us=row["predicted_us"])
        if not rows:
            return self.add("predictions", "all kernels", "failed", command, "no row was predicted: " + last_line(done))
        errors = sorted(abs(row["predicted_us"] / row["us"] - 1) for row in rows)
        pairs = [(x, y) for x in rows for y in rows if all(x[i] == y[i] for i in "mnk") and x["us"] < 0.97 * y["us"]]
        right = sum(x["predicted_us"] < y["predicted_us"] for x, y in pairs)
        self.add("predictions", "all kernels", "measured", command, f"median error {errors[len(errors) // 2]:.1%}, 90 % below {errors[len(errors) * 9 // 10]:.1%}, "
                 f"order of {right} of {len(pairs)} pairs as predicted", median_error=errors[len(errors) // 2], pairs=len(pairs), pairs_right=right)

    def vendor_rate(self, m, n, k):
        """TFLOP/s by library. A row-major C is a column-major one of the operands in reverse order."""
        sizes = ["-m", n, "-n", m, "-k", k]
        calls = {"hipBLASLt": ["hipblaslt-bench", *sizes, "--transA", "T", "--transB", "N", "--precision", "f16_r", "--compute_type", "f32_r", "--iters", "20"],
                 "rocBLAS": ["rocblas-bench", "-f", "gemm_ex", *sizes, "--transposeA", "T", "--transposeB", "N", "--a_type", "f16_r", "--b_type", "f16_r",
                             "--c_type", "f16_r", "--d_type", "f16_r", "--compute_type", "f32_r", "-i", "20"]}
        rates = {}
        for name, command in calls.items():
            if shutil.which(command[0]):
                rate = self.rate_in(run(command).stdout)
                if rate:
                    rates[name] = rate
        return rates

    @staticmethod
    def rate_in(text):
        """The column ...Gflops of a benchmark's table, as TFLOP/s."""
        lines = [line.split(",") for line in text.splitlines() if "," in line]
        for header, values in zip(lines, lines[1:]):
            for name, value in zip(header, values):
                if name.strip().lower().endswith("gflops"):
                    return float(value) / 1000
        return None

    # The result.

    def summary(self):
        return {verdict: sum(row["verdict"] == verdict for row in self.rows) for verdict in VERDICTS}

    def versions(self):
        compiler = ["nvcc", "--version"] if self.runtime == "cuda" else ["hipconfig", "--version"]
        driver = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"] if self.runtime == "cuda" else ["cat", "/sys/module/amdgpu/version"]
        texts = {"compiler": last_line(run(compiler)), "driver": last_line(run(driver)), "system": last_line(run(["uname", "-sr"]))}
        commit = run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"])
        return texts | {"commit": last_line(commit) if commit.returncode == 0 else "unknown"}

    def write(self):
        name = "report-" + re.sub(r"[^a-z0-9]+", "-", self.device.lower()).strip("-")
        head = {"device": self.device, "arch": self.arch, "date": datetime.date.today().isoformat(), "versions": self.versions(),
                "summary": self.summary(), "seconds": self.steps}
        as_json = json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n  ' + ",\n  ".join(json.dumps(row) for row in self.rows) + "\n ]\n}\n"
        (self.folder / f"{name}.json").write_text(as_json)
        (self.folder / f"{name}.md").write_text(self.page(head))
        return self.folder / f"{name}.json"

    def page(self, head):
        lines = [f"# {head['device']} ({head['arch']}), {head['date']}", "", "Written by `./dev gpu`. " + ", ".join(f"{k}: {v}" for k, v in head["versions"].items()) + ".", "",
                 "| | " + " | ".join(VERDICTS) + " |", "|---|" + "---|" * len(VERDICTS)]
        for step in STEPS:
            counts = [sum(row["step"] == step and row["verdict"] == verdict for row in self.rows) for verdict in VERDICTS]
            lines.append(f"| {step} | " + " | ".join(str(c or "") for c in counts) + " |")
        for title, verdicts in (("What contradicts the tables, or failed", ("contradicted", "failed")), ("What was measured", ("measured",)),
                                ("What was left out", ("left out",))):
            rows = [row for row in self.rows if row["verdict"] in verdicts]
            lines += ["", f"## {title}", ""] + [f"* {row['step']}, {row['what']}: {row['detail']}" + (f"\n  `{row['command']}`" if row["command"] else "") for row in rows]
            if not rows:
                lines.append("Nothing.")
        lines += ["", "## What was confirmed", ""]
        for step in STEPS:
            rows = [row for row in self.rows if row["step"] == step and row["verdict"] == "confirmed"]
            if rows:
                lines += [f"### {step}", "", "| | |", "|---|---|"] + [f"| {row['what']} | {row['detail']} |" for row in rows] + [f"\nThe last one: `{rows[-1]['command']}`", ""]
        return "\n".join(lines) + "\n"


def configure_command(arch, folder):
    """CMake's command for what the steps run; what a missing library leaves out is not built."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    options = {"CMAKE_BUILD_TYPE": "Release", "TILEWRIGHT_HOST": "OFF", "TILEWRIGHT_BUILD_TESTS": "OFF", "TILEWRIGHT_BUILD_EXAMPLES": "OFF",
               "TILEWRIGHT_BUILD_TOOLS": "ON", "TILEWRIGHT_INSTALL": "OFF", "TILEWRIGHT_BUILD_GPU_CHECKS": "ON", "TILEWRIGHT_BUILD_BENCHMARKS": "ON" if arch == "sm_90a" else "OFF",
               "TILEWRIGHT_GPU_ARCHS": arch}
    return ["cmake", "-S", ROOT, "-B", folder, *generator, *(f"-D{key}={value}" for key, value in options.items())]


def build(arch, folder, jobs):
    """Configures and builds. Returns what failed."""
    configure = configure_command(arch, folder)
    done = run(configure)
    if done.returncode != 0:
        return f"cmake failed; repeat with: {shlex.join(str(c) for c in configure)}\n{done.stderr}"
    keep_going = ["-k", "0"] if "Ninja" in configure else ["-k"]
    done = run(["cmake", "--build", folder, "--target", "gpu_checks", "-j", str(jobs), "--", *keep_going], timeout=3600)
    return "" if done.returncode == 0 else done.stdout[-3000:] + done.stderr[-3000:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), help="folder of the report")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "gpu", help="folder of the build")
    parser.add_argument("--no-build", action="store_true", help="run what is built already")
    parser.add_argument("--quick", action="store_true", help="fewer products, counters and sanitizer runs: about two minutes")
    parser.add_argument("--only", action="append", choices=STEPS, help="run this step only")
    parser.add_argument("--arch", choices=(*AMD, "sm_80", "sm_90a"), help="instead of what the driver says")
    parser.add_argument("--jobs", type=int, default=max(1, min(8, os.cpu_count() or 1)), help="compilations, and products, at a time")
    options = parser.parse_args()
    try:
        arch = options.arch or find_arch()
        if arch not in (*AMD, "sm_80", "sm_90a"):
            raise no_gpu(f"there are no kernels for this GPU, {arch}; supported: {', '.join((*AMD, 'sm_80', 'sm_90a'))}")
    except no_gpu as error:
        print(f"gpu: {error}", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    report = Report(arch, options.out.resolve(), options.build.resolve(), options.quick, options.jobs)
    if not options.no_build:
        print(f"building for {arch} in {report.build}", flush=True)
        problem = build(arch, report.build, options.jobs)
        if problem:
            print(problem, file=sys.stderr)
            report.add("kernels", "the build", "failed", detail=problem.strip().splitlines()[-1])
    for step in STEPS:
        if options.only and step not in options.only:
            continue
        print(step, flush=True)
        begin = time.monotonic()
        getattr(report, step)()
        report.steps[step] = round(time.monotonic() - begin, 1)
        file = report.write()  # after each step, so that nothing is lost
    summary = report.summary()
    print(", ".join(f"{count} {verdict}" for verdict, count in summary.items() if count) + f"; {file}")
    return 1 if summary["failed"] + summary["contradicted"] else 0


if __name__ == "__main__":
    sys.exit(main())
