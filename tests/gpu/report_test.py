#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/gpu/report.py with programs, a profiler and benchmarks of its own: what each of their answers becomes in the report."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "gpu"))
import report  # noqa: E402

PROBE = """#!/bin/sh
[ "$1" = --json ] || exit 2
echo '{"device": "Instinct Test 1", "target": "gfx942", "instructions": [
 {"instruction": "ds_read_b32", "consistent": true, "phases": "{0-31}", "banks": 32, "as_in_table": true},
 {"instruction": "ds_read_b64", "consistent": true, "phases": "{0-15}", "banks": 64, "as_in_table": false},
 {"instruction": "ds_read_b128", "consistent": false}]}' > "$2"
exit 3
"""
GEMM = """#!/bin/sh
case "$*" in
  *"--dtype bf8"*) echo "gemm: there is no kernel for these types" >&2; exit 2;;
  *"--dtype int8"*) correct=false; code=1;;
  *) correct=true; code=0;;
esac
echo '{"device": "Instinct Test 1", "dtype": "f16", "out_dtype": "f16", "kernel": "gemm_128x128", "operations_per_second": 5e14,
 "lds": [{"instruction": "ds_read_b128", "executions": 100, "predicted_cycles": 800, "predicted_conflicts": 0}],
 "verification": {"relative_error": 0.0003, "correct": '$correct'}}'
exit $code
"""
ROCPROF = """#!/bin/sh
while [ "$1" != -d ]; do shift; done
case "$*" in *"--layout crr"*) conflicts=64;; *) conflicts=0;; esac
mkdir -p "$2/host"
cat > "$2/host/1_counter_collection.csv" <<CSV
"Kernel_Name","Counter_Name","Counter_Value"
"run_kernel<gemm>","SQ_LDS_BANK_CONFLICT",$conflicts
"run_kernel<gemm>","SQ_INSTS_LDS",100
"other","SQ_LDS_BANK_CONFLICT",7
CSV
"""
BENCH = """#!/bin/sh
echo 'transA,transB,m,n,k,hipblaslt-Gflops,us'
echo 'T,N,4096,4096,4096,400000,343.6'
"""


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class ReportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        build = self.folder / "build"
        script(build / "tools/lds_probe/lds_probe-hip", PROBE)
        script(build / "tools/gemm/gemm-hip", GEMM)
        script(build / "tests/gpu/gpu_math-hip", "#!/bin/sh\necho 'exp2   PASS  0.5 ulp'\necho 'log2   FAIL  9 ulp'\nexit 1\n")
        script(build / "tests/gpu/gpu_row_kernels-hip", "#!/bin/sh\necho 'no GPU was found' >&2\nexit 2\n")
        script(build / "tests/gpu/gpu_attention-hip", "#!/bin/sh\necho 'f16, d 64 full PASS error 1e-4'\n")
        script(self.folder / "bin/rocprofv3", ROCPROF)
        script(self.folder / "bin/hipblaslt-bench", BENCH)

    def run_report(self, *arguments):
        path = f"{self.folder / 'bin'}:/usr/bin:/bin"
        argv = ["report.py", "--no-build", "--build", str(self.folder / "build"), "--out", str(self.folder / "out"), "--arch", "gfx942", *arguments]
        out = io.StringIO()
        with mock.patch.dict(os.environ, {"PATH": path}), mock.patch.object(sys, "argv", argv), contextlib.redirect_stdout(out):
            code = report.main()
        file = self.folder / "out" / "report-instinct-test-1.json"
        if not file.exists():
            file = self.folder / "out" / "report-gfx942.json"
        return code, json.loads(file.read_text()), file.with_suffix(".md").read_text()

    def verdicts(self, found, step):
        return {row["what"]: row["verdict"] for row in found["rows"] if row["step"] == step}

    def test_every_answer_becomes_a_verdict(self):
        code, found, page = self.run_report()
        self.assertEqual(code, 1)
        self.assertEqual(found["device"], "Instinct Test 1")
        self.assertEqual(self.verdicts(found, "probe"), {"ds_read_b32": "confirmed", "ds_read_b64": "contradicted", "ds_read_b128": "failed"})
        self.assertEqual(self.verdicts(found, "kernels"), {"math: exp2": "confirmed", "math: log2": "failed", "row_kernels": "failed",
                                                           "attention: f16, d 64 full": "confirmed", "examples": "left out"})
        products = [row for row in found["rows"] if row["step"] == "products"]
        self.assertGreater(len(products), 80)
        for row in products:
            wanted = "left out" if "bf8" in row["what"] else "failed" if "int8" in row["what"] else "confirmed"
            self.assertEqual(row["verdict"], wanted, row)
        counters = self.verdicts(found, "counters")
        self.assertEqual(sorted(counters.values()), ["confirmed", "confirmed", "contradicted"])
        speed = [row for row in found["rows"] if row["step"] == "benchmarks"]
        self.assertEqual(speed[0]["tflops"], 500)
        self.assertEqual(speed[0]["vendor"], {"hipBLASLt": 400})
        self.assertIn("(1.25)", speed[0]["detail"])
        self.assertEqual(sum(found["summary"].values()), len(found["rows"]))
        for row in found["rows"]:
            self.assertTrue(row["command"] or row["verdict"] == "left out", row)
        self.assertIn("* probe, ds_read_b64: phases {0-15}, 64 banks, not as in the table\n", page)
        self.assertIn("## What was left out", page)

    def test_one_step_alone(self):
        code, found, _ = self.run_report("--only", "counters", "--quick")
        self.assertEqual({row["step"] for row in found["rows"]}, {"counters"})
        self.assertEqual(code, 1)

    def test_missing_programs_are_left_out(self):
        for tool in ("rocprofv3", "hipblaslt-bench"):
            (self.folder / "bin" / tool).unlink()
        (self.folder / "build/tools/gemm/gemm-hip").unlink()
        (self.folder / "build/tools/lds_probe/lds_probe-hip").unlink()
        _, found, _ = self.run_report("--only", "probe", "--only", "products", "--only", "counters", "--only", "sanitizers", "--only", "benchmarks")
        self.assertEqual({row["verdict"] for row in found["rows"]}, {"left out"})
        self.assertEqual({row["step"] for row in found["rows"]}, {"probe", "products", "counters", "sanitizers", "benchmarks"})

    def test_architecture_of_the_driver(self):
        for version, arch in (("90402", "gfx942"), ("90010", "gfx90a"), ("90500", "gfx950"), ("110000", "gfx1100"), ("120001", "gfx1201")):
            for node, value in (("0", "0"), ("1", version)):
                file = self.folder / "topology" / "nodes" / node / "properties"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"cpu_cores_count 8\ngfx_target_version {value}\nvendor_id 4098\n")
            self.assertEqual(report.find_arch(self.folder / "topology"), arch)

    def test_no_gpu_is_said(self):
        with mock.patch.dict(os.environ, {"PATH": "/nowhere"}), self.assertRaisesRegex(report.no_gpu, "no GPU was found"):
            report.find_arch(self.folder)


if __name__ == "__main__":
    unittest.main()
