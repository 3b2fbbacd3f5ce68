"""Compile, check and time the kernels of this folder (see bench/gpu.py): needs numpy, CuPy and a GPU, nothing else.

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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cupy as cp
import numpy as np

HERE = Path(__file__).resolve().parent
HEAD = ("robot", "kernel", "float", "layout", "registers", "spilled", "error", "allowed", "states", "states/s", "TB/s")
KINEMATIC = {32: 1e-4, 64: 1e-12}


def machine() -> dict:
    """What the figures were measured on."""
    runtime, properties = cp.cuda.runtime, cp.cuda.runtime.getDeviceProperties(0)
    smi = shutil.which("nvidia-smi")
    query = [smi, "--query-gpu=driver_version,clocks.max.sm", "--format=csv,noheader"]
    return {
        "gpu": properties["name"].decode(), "multiprocessors": properties["multiProcessorCount"],
        "driver": subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip() if smi else "–",
        "cuda": runtime.runtimeGetVersion(), "nvrtc": list(cp.cuda.nvrtc.getVersion()), "cupy": cp.__version__,
        "numpy": np.__version__, "python": platform.python_version(), "system": platform.platform(),
    }  # fmt: skip


def seconds(work, repeats: int) -> float:
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


def compiled(case: dict):
    """The kernel, by NVRTC."""
    code = (HERE / f"{case['name']}.cu").read_text()
    function = cp.RawModule(code=code, options=("--std=c++17", "--fmad=false")).get_function(case["kernel"])
    function.max_dynamic_shared_size_bytes = case["shared_bytes"]
    return function


def resources(case: dict) -> dict:
    """What nvcc's assembler says: registers, stack and spills in bytes; empty without nvcc."""
    nvcc = shutil.which("nvcc")
    if not nvcc:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        arch = f"-arch=sm_{cp.cuda.Device().compute_capability}"
        out, source = f"{folder}/k.cubin", str(HERE / f"{case['name']}.cu")
        command = [nvcc, arch, "-cubin", "-fmad=false", "-Xptxas", "-v", "-o", out, source]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    names = ("stack", "spill_stores", "spill_loads")
    frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)
    most = {name: max(int(frame[k]) for frame in frames) for k, name in enumerate(names)}
    return {"registers": int(re.search(r"Used (\d+) registers", said)[1]), **most}


class Arrays:
    """Inputs and a poisoned output on the GPU: rows (n, dim), or columns (dim, n)."""

    def __init__(self, case: dict, reference, n: int, layout: str) -> None:
        dtype = cp.float64 if case["bits"] == 64 else cp.float32
        self.n, self.columns = n, layout == "columns"
        self.inputs = [self.laid_out(reference[name], dtype) for name in case["inputs"]]
        shape = (case["results"], n) if self.columns else (n, case["results"])
        self.output = cp.full(shape, cp.nan, dtype=dtype)

    def laid_out(self, rows: np.ndarray, dtype):
        whole = cp.tile(cp.asarray(rows, dtype=dtype), (-(-self.n // len(rows)), 1))[: self.n]
        return cp.ascontiguousarray(whole.T if self.columns else whole)

    def arguments(self) -> tuple:
        found = []
        for array in (*self.inputs, self.output):
            strides = (self.n, 1) if self.columns else (1, array.shape[1])
            found += [array, *map(np.int64, strides)]
        return (*found, np.int64(self.n))

    def results(self) -> np.ndarray:
        return (self.output.T if self.columns else self.output).get().astype(float)


def launch(function, case: dict, arrays: Arrays) -> None:
    blocks = -(-arrays.n // case["threads"])
    function((blocks,), (case["threads"],), arrays.arguments(), shared_mem=case["shared_bytes"])


def checked(function, case: dict, reference, layout: str) -> tuple[float, float]:
    """The largest error of any state and what is allowed for it, as shares of the largest entry."""
    n = len(reference["q"]) - 5  # not a multiple of anything
    arrays = Arrays(case, reference, n, layout)
    launch(function, case, arrays)
    want = reference[f"{case['algorithm']}_out"][:n]
    errors = np.abs(arrays.results() - want).max(1) / np.maximum(1.0, np.abs(want).max(1))
    allowed = np.full(n, KINEMATIC[case["bits"]])
    if case["algorithm"] == "aba":
        allowed = 20.0 * np.finfo(f"f{case['bits'] // 8}").eps * reference["condition"][:n]
    if not (errors <= allowed).all():  # also where it is not a number
        worst = int(np.argmax(np.nan_to_num(errors / allowed, nan=np.inf)))
        raise SystemExit(f"{case['name']}, {layout}: wrong; state {worst}: {errors[worst]} > {allowed[worst]}")
    worst = int(np.argmax(errors / allowed))
    return float(errors[worst]), float(allowed[worst])


def measured(function, case: dict, reference, layout: str, n: int, repeats: int) -> dict:
    arrays = Arrays(case, reference, n, layout)
    rate = n / seconds(lambda: launch(function, case, arrays), repeats)
    return {"states": n, "states_per_second": rate, "bytes_per_second": rate * case["values"] * case["bits"] / 8}


def row(entry: dict, time: dict) -> list[str]:
    found = entry["resources"]
    return [
        entry["robot"], entry["algorithm"], str(entry["bits"]), entry["layout"], str(found.get("registers", "–")),
        str(found.get("spill_stores", "–")), f"{entry['error']:.1e}", f"{entry['allowed']:.1e}",
        f"{time['states']:,}", f"{time['states_per_second']:.2e}", f"{time['bytes_per_second'] / 1e12:.2f}",
    ]  # fmt: skip


def run(sizes: list[int], repeats: int) -> dict:
    """Everything; answers are checked before anything is timed."""
    cases = json.loads((HERE / "cases.json").read_text())
    report = {"machine": machine(), "surefoot": cases["surefoot"], "copy_bytes_per_second": copy_rate(), "kernels": []}
    print(f"{report['machine']['gpu']}, a copy moves {report['copy_bytes_per_second'] / 1e12:.2f} TB/s")
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(resources, cases["cases"]))
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    for case, used in zip(cases["cases"], found, strict=True):
        function, reference = compiled(case), np.load(HERE / f"{case['robot']}.npz")
        for layout in ("columns", "rows"):
            error, allowed = checked(function, case, reference, layout)
            entry = {**case, "layout": layout, "resources": used, "error": error, "allowed": allowed}
            entry["times"] = [measured(function, case, reference, layout, 1 << k, repeats) for k in sizes]
            best = max(entry["times"], key=lambda x: x["states_per_second"])
            print("| " + " | ".join(row(entry, best)) + " |", flush=True)
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
