"""Stage functions as C code: compiled by the C compiler, they agree with ours."""

import shutil
import subprocess
from pathlib import Path

import casadi
import numpy as np
import pytest

from surefoot.ocp import Formulation
from surefoot.ocp.motions import swingup
from surefoot.ocp.transcription import stages_of
from surefoot.robot import load


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_code_compiles_and_agrees(tmp_path: Path) -> None:
    problem = swingup(load("cartpole:bearing"), 3, "energy", Formulation("forward", "semi_implicit"))
    name = problem.export_c(tmp_path / "stages.c")[0]
    library = tmp_path / "stages.so"
    subprocess.run(["cc", "-O0", "-shared", "-fPIC", "-o", library, tmp_path / "stages.c", "-lm"], check=True)
    code, slopes = (casadi.external(key, str(library)) for key in (name, f"jac_{name}"))
    structure = stages_of(problem)[0].structure
    rng = np.random.default_rng(0)
    given = [np.asarray(part) + 0.1 * rng.normal(size=len(part)) for part in structure.sample(structure.slacks)]

    def values(given: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.asarray(part, dtype=float).ravel() for part in structure.parts(*given)])

    found = code(*given)
    np.testing.assert_allclose(np.concatenate([np.asarray(x).ravel() for x in found]), values(given), atol=1e-12)
    J = np.vstack([np.asarray(x) for x in slopes(*given, *found)[::4]])  # by the states
    for k, e in enumerate(1e-6 * np.eye(len(given[0]))):
        slope = (values([given[0] + e, *given[1:]]) - values([given[0] - e, *given[1:]])) / 2e-6
        np.testing.assert_allclose(J[:, k], slope, atol=1e-6)
