"""What all tests share."""

from __future__ import annotations

import gc
import os
import shutil

import numpy as np
import pytest
from hypothesis import settings

OPTIONAL = ("no CuPy or no GPU", "no nvcc", "no g++")  # reasons to skip that no script of ours can remove
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
# Without a graphics card WebGL is drawn by SwiftShader; plots that were drawn by it too would take five times as long.
BROWSER_FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--disable-accelerated-2d-canvas",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-sync",
]


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed."""
    return np.random.default_rng(20240607)


def pytest_configure(config: pytest.Config) -> None:
    """No test is judged by its time. Workers share the cores: threads of BLAS in each would wait for the other's."""
    settings.register_profile("surefoot", deadline=None)
    settings.load_profile("surefoot")
    if getattr(config.option, "numprocesses", None):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_collection_finish() -> None:
    """Modules and tests live to the end: the garbage collector need not look through them again and again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without chromium, tests with the mark `browser` are skipped, or fail where SUREFOOT_NO_SKIP is set."""
    if BROWSER or os.environ.get("SUREFOOT_NO_SKIP"):
        return
    skip = pytest.mark.skip(reason="no chromium: run `make browser`")
    for item in items:
        if "browser" in item.keywords:
            item.add_marker(skip)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With SUREFOOT_NO_SKIP set, a skipped test is a failure, but for hardware and compilers that are not here."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    avoidable = [report for report in skipped if not any(reason in str(report.longrepr) for reason in OPTIONAL)]
    if os.environ.get("SUREFOOT_NO_SKIP") and avoidable and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: object) -> None:
    """One line that names the command where browser tests were skipped."""
    skipped = getattr(terminalreporter, "stats", {}).get("skipped", [])
    count = sum("make browser" in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(f"{count} browser test(s) skipped: run `make browser` (needs root)")
