# SPDX-License-Identifier: MIT
"""Figures of the documents, computed from docs/benchmarks/*.json. check_docs.py compares them, and fills them in with --write.

A document shows a table between <!-- table NAME --> and <!-- end of table -->, and one figure as <!-- figure NAME -->1.23<!-- end -->.
TABLES and FIGURES have the names; a new figure is a new entry, never a number typed into a page.
"""
import json
import math
import re
import statistics
from pathlib import Path

BENCHMARKS = "docs/benchmarks"


class Results:
    """The JSON files, each read once."""

    def __init__(self, root):
        self.folder, self.files = Path(root) / BENCHMARKS, {}

    def __getitem__(self, name):
        if name not in self.files:
            self.files[name] = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        return self.files[name]

    def source(self, name):
        """A link to the file, with the commit that was measured."""
        commit = self[name].get("commit")
        recorded = self[name].get("recorded")
        said = f"commit {commit[:8]}" if commit else f"commit not recorded, {recorded}" if recorded else "commit not recorded"
        return f"[{name}](benchmarks/{name}.json) ({said})"


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def mean_and_lowest(values):
    return f"{mean(values):.2f} | {min(values):.2f}"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(map(str, r)) + " |" for r in rows)]) + "\n"


ROWS = [("up to 16 rows", 0, 16), ("17 to 256 rows", 16, 256), ("257 to 1,024 rows", 256, 1024), ("more rows", 1024, math.inf)]


def gemm_ratios(results, file, low, high, eight_bits=False):
    return [r["ratio_to_cublas"] for r in results[file]["results"] if (r["type"] == "e4m3") == eight_bits and low < r["m"] <= high]


def attention_ratios(results):
    return [r["ratio_to_cudnn"] for r in results["h100_attention"]["rows"]]


def random_attention_ratios(results):
    return [r["ratio_to_cudnn"] for r in results["h200_attention_random"]["rows"]]


def gradient_ratios(results):
    return [r["hopper_to_cudnn"] for r in results["h200_attention_backward"]["rows"]]


def decode_ratios(results, long_caches=True):
    def mib(r):
        return r["batch"] * r["keys"] * 4096 / 2**20  # of a key: K and V of 8 heads, 128 elements of 2 bytes each
    return [r["ratio_to_cudnn"] for r in results["h100_attention_decode"]["rows"] if (mib(r) > 128) == long_caches]


def ratios(results, file, rows, key, **wanted):
    return [r[key] for r in results[file][rows] if all(r[k] in (v if isinstance(v, tuple) else (v,)) for k, v in wanted.items())]


def by_regime(results):
    """The README's table: one line for each regime, with the losses."""
    lines = [(f"GEMM f16, bf16, {name}", "H200", "cuBLAS", mean_and_lowest(gemm_ratios(results, "h200_models_model", low, high)))
             for name, low, high in ROWS]
    lines += [("attention, forward, random cases", "H200", "cuDNN", mean_and_lowest(random_attention_ratios(results))),
              ("attention, gradients", "H200", "cuDNN", mean_and_lowest(gradient_ratios(results))),
              ("attention, decoding from caches above 128 MiB", "H100", "cuDNN", mean_and_lowest(decode_ratios(results)))]
    return table(["operation", "GPU", "rate relative to", "geometric mean", "lowest"], lines)


def gemm(results):
    lines = []
    for name, low, high in ROWS:
        of = [gemm_ratios(results, file, low, high) for file in ("h200_models_model", "h200_models_tuned")]
        lines.append((f"f16, bf16, {name}", len(of[0]), *map(mean_and_lowest, of)))
    of = [gemm_ratios(results, file, 0, math.inf, True) for file in ("h200_models_model", "h200_models_tuned")]
    lines.append(("e4m3, any number of rows", len(of[0]), *map(mean_and_lowest, of)))
    return table(["rows of A", "GEMMs", "tile by the model: mean", "lowest", "tile by search: mean", "lowest"], lines)


def gemm_unaligned(results):
    rows = [r for seed in (451, 452, 453) for r in results[f"h100_population_seed{seed}"]["results"] if r["type"] != "e4m3"]
    lines = []
    for name in dict.fromkeys(r["class"] for r in rows):
        of = [r for r in rows if r["class"] == name]
        lines.append((name, len(of), *(mean_and_lowest([r[key] for r in of]) for key in ("ratio_to_cublas", "tuned_ratio_to_cublas"))))
    return table(["class", "GEMMs", "tile by the model: mean", "lowest", "autotuned: mean", "lowest"], lines)


def rates_by_length(results, file, rate, ratio, types):
    rows = [r for r in results[file]["rows"] if r["dtype"] in types and rate in r]  # not all kernels take all heads
    lengths = sorted({r["length"] for r in rows})
    lines = []
    for dim, causal in dict.fromkeys((r["dim"], r["causal"]) for r in rows):
        cells = {r["length"]: f"{r[rate]:.0f} ({r[ratio]:.2f})" for r in rows if (r["dim"], r["causal"]) == (dim, causal)}
        lines.append((f"{dim}, {'causal' if causal else 'full'}", *(cells.get(n, "") for n in lengths)))
    return table(["d, mask", *(f"{n:,}" for n in lengths)], lines)


def decode(results):
    lines = [(f"{r['batch']} x {r['keys']:,}", r["splits"], f"{r['tilewright']:,.0f}", f"{r['paged']:,.0f}", f"{r['cudnn']:,.0f}",
              f"{r['ratio_to_cudnn']:.2f}", f"{r['ratio_to_copy']:.2f}") for r in results["h100_attention_decode"]["rows"]]
    return table(["sequences x keys", "splits", "GB/s", "in pages", "cuDNN", "ratio to cuDNN", "to a device copy"], lines)


def grouped(results):
    torch, cublas = "`torch._grouped_mm`, bf16", "cuBLAS e4m3 with one scale"
    lines = [("grouped bf16, 9 fixed and 12 random cases", "H100", torch, ratios(results, "h100_grouped", "cases", "ratio")),
             ("gradient of x", "H100", torch, ratios(results, "h100_grouped_backward", "cases", "ratio", kind="dx")),
             ("gradient of W", "H100", torch, ratios(results, "h100_grouped_backward", "cases", "ratio", kind="dw"))]
    for name, of, file, rival in (("dense", "", "block_scaled_dense", cublas), ("grouped", " of a group", "block_scaled_grouped", torch)):
        lines += [(f"block-scaled e4m3, {name}, 4,096 rows{of} and more", "H100", rival, ratios(results, f"h100_{file}", "cases", "ratio")),
                  (f"block-scaled e4m3, {name}, random", "H200", rival, ratios(results, f"h200_{file}", "cases", "ratio")),
                  ("the same", "H200", "DeepGEMM", ratios(results, f"h200_{file}", "cases", "ratio_to_deep_gemm"))]
    return table(["GEMM", "GPU", "rate relative to", "cases", "geometric mean", "lowest"],
                 [(name, gpu, rival, len(of), mean_and_lowest(of)) for name, gpu, rival, of in lines])


def narrow_cases(results, most_rows, formats=None, key="ratio_to_copy", least_rows=1):
    """Weights of 64 million bytes and more."""
    return [r[key] for r in results["h100_narrow"]["cases"] if key in r and r["MB"] >= 64 and least_rows <= r["m"] <= most_rows and
            (formats is None or r["format"] in formats)]


def narrow(results):
    names = dict.fromkeys(r["format"] for r in results["h100_narrow"]["cases"])
    return table(["weights", "1 to 8 rows, to a copy: mean", "lowest", "16 rows: mean", "lowest"],
                 [(f"`{name}`", mean_and_lowest(narrow_cases(results, 8, (name,))), mean_and_lowest(narrow_cases(results, 16, (name,), least_rows=16)))
                  for name in names])


def row_kernels(results, file, operations):
    """One line for each operation: the cases whose names begin with it, of all types and dimensions."""
    rows, lines = results[file]["row_kernels"], []
    for name in operations:
        longer = tuple(other for other in operations if other != name and other.startswith(name))
        of = [r for r in rows if re.match(rf"{name}(_|$)", r["case"]) and not r["case"].startswith(longer)]
        lines.append((f"`{name}`", len(of), mean_and_lowest([r["ratio_to_copy"] for r in of]), mean_and_lowest([r["ratio_to_torch"] for r in of])))
    return table(["operation", "shapes", "to a copy: mean", "lowest", "to PyTorch: mean", "lowest"], lines)


def moe(results):
    cases = results["h200_moe"]["cases"]
    return table(["tokens", "layers", "to Triton: mean", "lowest", "to PyTorch: mean", "lowest"],
                 [(f"{n:,}", len(of), mean_and_lowest([r["ratio_to_rival"] for r in of]),
                   mean_and_lowest([r["us"]["torch"] / r["us"]["ours"] for r in of]))
                  for n in sorted({r["tokens"] for r in cases}) for of in [[r for r in cases if r["tokens"] == n]]])


def several_gpus(results):
    rows = [r for r in results["parallel_2xh200"]["rows"] if r.get("ratio_to_best")]
    lines = []
    for kind in dict.fromkeys(r["kind"] for r in rows):
        of = [r for r in rows if r["kind"] == kind]
        lines.append((kind.replace("_", "-"), len(of), mean_and_lowest([r["ratio_to_best"] for r in of]), mean_and_lowest([r["overlap"] for r in of])))
    return table(["transfer", "cases", "to the best other: mean", "lowest", "overlap: mean", "lowest"], lines)


TENSORS = ("copy", "cast", "gelu", "swiglu", "permute", "concatenate", "sum", "mean", "max", "mean_variance")
MODELS = ("softmax", "log_softmax", "rms_norm", "add_rms_norm", "layer_norm", "rms_norm_gradient", "layer_norm_gradient", "quantise", "rotary",
          "cross_entropy", "cross_entropy_gradient", "choose_experts", "scatter_rows", "combine_rows")


TABLES = {
    "by_regime": by_regime,
    "gemm": gemm,
    "gemm_random_shapes": gemm_unaligned,
    "attention_forward": lambda r: rates_by_length(r, "h100_attention", "tilewright", "ratio_to_cudnn", ("bf16",)),
    "attention_gradients": lambda r: rates_by_length(r, "h200_attention_backward", "hopper", "hopper_to_cudnn", ("bf16",)),
    "attention_gradients_deterministic":
        lambda r: rates_by_length(r, "h200_attention_backward", "deterministic", "deterministic_to_cudnn", ("bf16",)),
    "attention_decode": decode,
    "grouped": grouped,
    "moe": moe,
    "narrow": narrow,
    "tensors": lambda r: row_kernels(r, "h100_tensors", TENSORS),
    "model_kernels": lambda r: row_kernels(r, "h100_model_kernels", MODELS),
    "several_gpus": several_gpus,
}


def of_ratios(values):
    return {"mean": f"{mean(values):.2f}", "lowest": f"{min(values):.2f}", "highest": f"{max(values):.2f}", "count": str(len(values))}


def figures(results):
    """(name, text) of each figure in prose: GROUP.mean, GROUP.lowest, GROUP.highest, GROUP.count."""
    groups = {
        "gemm": gemm_ratios(results, "h200_models_model", 0, math.inf),
        "attention_forward": attention_ratios(results),
        "attention_random": random_attention_ratios(results),
        "attention_random_e4m3": ratios(results, "h200_attention_random_e4m3", "rows", "ratio_to_cudnn"),
        "attention_gradients": gradient_ratios(results),
        "attention_deterministic": [r["deterministic_to_cudnn"] for r in results["h200_attention_backward"]["rows"] if "deterministic_to_cudnn" in r],
        "attention_decode_long": decode_ratios(results),
        "latent_to_flashmla": ratios(results, "h200_attention_latent", "rows", "ratio_to_rival"),
        "grouped": ratios(results, "h100_grouped", "cases", "ratio"),
        "narrow": narrow_cases(results, 16),
        "narrow_4_bits": narrow_cases(results, 16, ("int4_128", "int4_32", "int4_zero_128", "mxfp4", "nvfp4")),
        "narrow_8_bits": narrow_cases(results, 16, ("int8", "e4m3")),
        "narrow_to_rival": [r["ratio_to_rival"] for r in results["h100_narrow"]["cases"]
                            if "ratio_to_rival" in r and r["m"] <= 16 and r["format"] == "int4_128"],
        "gemm_random_aligned": ratios(results, "h200_population", "results", "ratio_to_cublas"),
        "gemm_random_aligned_searched": ratios(results, "h200_population", "results", "tuned_ratio_to_cublas"),
        "block_scaled": ratios(results, "h200_block_scaled_dense", "cases", "ratio"),
        "block_scaled_to_deep_gemm": ratios(results, "h200_block_scaled_dense", "cases", "ratio_to_deep_gemm"),
        "block_scaled_groups_to_deep_gemm": ratios(results, "h200_block_scaled_grouped", "cases", "ratio_to_deep_gemm"),
        "several_gpus": [r["ratio_to_best"] for r in results["parallel_2xh200"]["rows"] if r.get("ratio_to_best")],
        "tensors_to_torch": [r["ratio_to_torch"] for r in results["h100_tensors"]["row_kernels"]],
        "tensors_to_copy": [r["ratio_to_copy"] for r in results["h100_tensors"]["row_kernels"]],
        "model_kernels_to_torch": [r["ratio_to_torch"] for r in results["h100_model_kernels"]["row_kernels"] if r.get("ratio_to_torch")],
        "model_kernels_to_copy": [r["ratio_to_copy"] for r in results["h100_model_kernels"]["row_kernels"] if r.get("ratio_to_copy")],
    }
    found = {f"{group}.{key}": text for group, values in groups.items() for key, text in of_ratios(values).items()}
    for file in sorted(results.folder.glob("*.json")):
        found[f"source.{file.stem}"] = results.source(file.stem)
    return found


def computed(root, names_of_tables):
    """The texts of all figures, and of these tables, by name. Raises KeyError for a name that TABLES lacks."""
    results = Results(root)
    return figures(results), {name: TABLES[name](results) for name in names_of_tables}
