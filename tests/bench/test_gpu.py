"""The half of the benchmark of GPUs that is made here."""

from __future__ import annotations

import json
import re

import numpy as np

from bench.cases import gpu


def _text(folder, kernel):
    return (folder / f"{kernel['name']}.cu").read_text()


def test_a_folder_is_prepared(tmp_path):
    """Sources, answers and the runner, for a robot whose mass matrix has an inverse."""
    gpu.run(tmp_path, "solo8", 5)
    cases = json.loads((tmp_path / "cases.json").read_text())["cases"]
    assert {(x["algorithm"], x["bits"]) for x in cases} == {(x, y) for x in ("rnea", "aba", "crba") for y in (32, 64)}
    reference = np.load(tmp_path / "solo8.npz")
    for x in cases:
        assert reference[f"{x['algorithm']}_out"].shape == (5, x["entries"])
        for kernel in x["kernels"]:
            assert f"void {kernel['name']}(" in re.sub(r"__launch_bounds__\(.*?\) ", "", _text(tmp_path, kernel))
    compile((tmp_path / "run.py").read_text(), "run.py", "exec")
