"""Kernels of these tests are kept in a cache of their own, which the workers of a test run share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

from surefoot.compiler import KernelSet, compile_robot

from .examples import States, robot_named, states


@pytest.fixture(scope="package", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    root = tmp_path_factory.getbasetemp()
    shared = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUREFOOT_CACHE", str(shared / "kernel-cache"))
        yield


@pytest.fixture(scope="package")
def arm(_own_cache: None) -> KernelSet:
    """A fixed robot without quaternions."""
    return compile_robot(robot_named("panda"))


@pytest.fixture(scope="package")
def walker(_own_cache: None) -> KernelSet:
    """A floating robot."""
    return compile_robot(robot_named("solo8"))


@pytest.fixture
def of_arm(arm: KernelSet) -> States:
    """Some states of the arm, no whole number of tiles."""
    return states(arm.robot, 37)


@pytest.fixture
def of_walker(walker: KernelSet) -> States:
    return states(walker.robot, 37)


@pytest.fixture
def canary() -> float:
    """A number that no kernel computes."""
    return float(np.float32(-1.2345e33))
