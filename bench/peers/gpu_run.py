"""Compile, check and time the kernels of this folder (see bench/cases/gpu.py): needs numpy, CuPy and a GPU alone.

python run.py [--sizes 20,21,22] [--repeats 12]
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

__all__ = ["Kernel", "Work", "main", "run"]

HERE = Path(__file__).resolve().parent
HEAD = ("robot", "kernel", "float", "layout", "results", "registers", "spilled", "error", "allowed", "states",
        "states/s", "TB/s")  # fmt: skip
ALLOWED = {32: 1e-4, 64: 1e-12}
AT_A_TIME = 1 << 17  # states whose packed results are kept on their way to rows


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    runtime, properties = cp.cuda.runtime, cp.cuda.runtime.getDeviceProperties(0)
    smi = shutil.which("nvidia-smi")
    query = [smi or "", "--query-gpu=driver_version,clocks.max.sm", "--format=csv,noheader"]
    return {
        "gpu": properties["name"].decode(), "multiprocessors": properties["multiProcessorCount"],
        "driver": subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip() if smi else "–",
        "cuda": runtime.runtimeGetVersion(), "nvrtc": list(cp.cuda.nvrtc.getVersion()), "cupy": cp.__version__,
        "numpy": np.__version__, "python": platform.python_version(), "system": platform.platform(),
    }  # fmt: skip


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Median time of a piece of work on the GPU, after one run to warm up."""
    work()
    times = []
    for _ in range(repeats):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end) * 1e-3)
    return statistics.median(times)


def copy_rate() -> float:
    """Bytes per second that a copy reads and writes."""
    a = cp.random.random(1 << 28, dtype=cp.float32)
    b = cp.empty_like(a)
    return 2 * a.nbytes / seconds(lambda: cp.copyto(b, a), 10)


def resources(kernel: dict[str, Any]) -> dict[str, Any]:
    """What nvcc's assembler says: registers, stack and spills in bytes; empty without nvcc."""
    nvcc = shutil.which("nvcc")
    if not nvcc:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        arch = f"-arch=sm_{cp.cuda.Device().compute_capability}"
        out, source = f"{folder}/k.cubin", str(HERE / f"{kernel['name']}.cu")
        command = [nvcc, arch, "-cubin", "-fmad=false", "-Xptxas", "-v", "-o", out, source]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    names = ("stack", "spill_stores", "spill_loads")
    frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)
    most = {name: max(int(frame[k]) for frame in frames) for k, name in enumerate(names)}
    return {"registers": int(re.findall(r"Used (\d+) registers", said)[0]), **most}


def strides(array: Any) -> list[Any]:
    """An array (n, dim) as arguments: where it is, from element to element, and from state to state."""
    return [array, *(np.int64(x // array.itemsize) for x in (array.strides[1], array.strides[0]))]


class Kernel:
    """A compiled kernel, by NVRTC."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.threads, self.states, self.shared = facts["threads"], facts["states"], facts["shared_bytes"]
        code = (HERE / f"{facts['name']}.cu").read_text()
        module = cp.RawModule(code=code, options=("--std=c++17", "--fmad=false"))
        self.function = module.get_function(facts["name"])
        self.function.max_dynamic_shared_size_bytes = self.shared

    def __call__(self, *arrays: Any) -> None:
        """Start it on arrays (n, dim)."""
        n = len(arrays[0])
        arguments = [x for array in arrays for x in strides(array)]
        blocks = -(-n // self.states)
        self.function((blocks,), (self.threads,), (*arguments, np.int64(n)), shared_mem=self.shared)


class Work:
    """Inputs and a poisoned output on the GPU, as rows or as views of columns, and what is done to them."""

    def __init__(self, case: dict[str, Any], kernels: list[Kernel], reference: Any, n: int, layout: str) -> None:
        self.kernels, self.n, self.columns = kernels, n, layout == "columns"
        self.dtype = cp.float64 if case["bits"] == 64 else cp.float32
        self.inputs = [self.laid_out(reference[name]) for name in case["inputs"]]
        self.two_steps = len(kernels) > 1 and not self.columns
        self.is_packed = len(kernels) > 1 and self.columns
        results = len(case["packed"]) if self.is_packed else case["entries"]
        order = "F" if self.columns else "C"
        self.output = cp.full((n, results), cp.nan, dtype=self.dtype, order=order)
        self.values = results + sum(x.shape[1] for x in self.inputs)
        if self.two_steps:
            self.between = cp.empty((len(case["packed"]), min(n, AT_A_TIME)), dtype=self.dtype).T

    def laid_out(self, rows: Any) -> Any:
        """Rows, repeated up to n, in the layout."""
        whole = cp.tile(cp.asarray(rows, dtype=self.dtype), (-(-self.n // len(rows)), 1))[: self.n]
        return cp.asfortranarray(whole) if self.columns else cp.ascontiguousarray(whole)

    def __call__(self) -> None:
        """Compute all states once."""
        if not self.two_steps:
            self.kernels[0](*self.inputs, self.output)
            return
        for start in range(0, self.n, AT_A_TIME):
            own = [x[start : start + AT_A_TIME] for x in self.inputs]
            packed = self.between[: len(own[0])]
            self.kernels[0](*own, packed)
            self.kernels[1](packed, self.output[start : start + AT_A_TIME])


def checked(case: dict[str, Any], kernels: list[Kernel], reference: Any, layout: str) -> tuple[float, float]:
    """The largest error of any state and what is allowed for it, as shares of the largest entry."""
    n = len(reference["q"]) - 5  # not a multiple of anything
    work = Work(case, kernels, reference, n, layout)
    work()
    want = reference[f"{case['algorithm']}_out"][:n]
    if work.is_packed:
        want = want[:, case["packed"]]
    errors = np.abs(work.output.get().astype(float) - want).max(1) / np.maximum(1.0, np.abs(want).max(1))
    allowed = np.full(n, ALLOWED[case["bits"]])
    if case["algorithm"] == "aba":
        allowed = 20.0 * np.finfo(f"f{case['bits'] // 8}").eps * reference["condition"][:n]
    worst = int(np.argmax(np.nan_to_num(errors / allowed, nan=np.inf)))
    if not errors[worst] <= allowed[worst]:
        raise SystemExit(f"{case['kernels'][0]['name']}, {layout}: state {worst}: {errors[worst]} > {allowed[worst]}")
    return float(errors[worst]), float(allowed[worst])


def measured(work: Work, repeats: int) -> dict[str, Any]:
    """States and bytes per second."""
    rate = work.n / seconds(work, repeats)
    moved = rate * work.values * work.output.itemsize
    return {"states": work.n, "results": work.output.shape[1], "states_per_second": rate, "bytes_per_second": moved}


def row(entry: dict[str, Any], time: dict[str, Any]) -> list[str]:
    """Cells of the table."""
    found = entry["kernels"][0]["resources"]
    return [
        entry["robot"], entry["algorithm"], str(entry["bits"]), entry["layout"], str(time["results"]),
        str(found.get("registers", "–")), str(found.get("spill_stores", "–")), f"{entry['error']:.1e}",
        f"{entry['allowed']:.1e}", f"{time['states']:,}", f"{time['states_per_second']:.2e}",
        f"{time['bytes_per_second'] / 1e12:.2f}",
    ]  # fmt: skip


def run(sizes: list[int], repeats: int) -> dict[str, Any]:
    """Everything; answers are checked before anything is timed."""
    told = json.loads((HERE / "cases.json").read_text())
    report = {"machine": machine(), "surefoot": told["surefoot"], "copy_bytes_per_second": copy_rate(), "kernels": []}
    print(f"{report['machine']['gpu']}, a copy moves {report['copy_bytes_per_second'] / 1e12:.2f} TB/s")
    facts = [kernel for case in told["cases"] for kernel in case["kernels"]]
    with ThreadPoolExecutor() as pool:
        for kernel, found in zip(facts, pool.map(resources, facts), strict=True):
            kernel["resources"] = found
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    for case in told["cases"]:
        kernels, reference = [Kernel(x) for x in case["kernels"]], np.load(HERE / f"{case['robot']}.npz")
        for layout in ("columns", "rows"):
            error, allowed = checked(case, kernels, reference, layout)
            times = [measured(Work(case, kernels, reference, 1 << k, layout), repeats) for k in sizes]
            entry = {**case, "layout": layout, "error": error, "allowed": allowed, "times": times}
            print("| " + " | ".join(row(entry, max(times, key=lambda x: x["states_per_second"]))) + " |", flush=True)
            report["kernels"].append(entry)
    return report


def main() -> None:
    """Read the command line, run, write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="20,21,22", help="powers of two of the numbers of states")
    parser.add_argument("--repeats", type=int, default=12)
    parser.add_argument("--out", type=Path, default=HERE / "result.json")
    options = parser.parse_args()
    report = run([int(x) for x in options.sizes.split(",")], options.repeats)
    options.out.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
