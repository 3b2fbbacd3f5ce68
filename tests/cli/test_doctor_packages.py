"""The doctor looks at every package that the project names, at its version, and whether it can be imported."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from surefoot.cli import doctor
from surefoot.cli.doctor import Need, fits, needs, packages

ROOT = Path(__file__).parents[2]


def test_every_dependency_of_the_project_is_looked_at() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [*project["dependencies"], *project["optional-dependencies"]["studio"]]
    assert [need.name + need.versions for need in needs()] == listed
    assert [row.what for row in packages()] == [re.split(r"[<>=]", text)[0] for text in listed]


def test_an_installation_tells_it_by_its_metadata(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = ["pin<4.2,>=4.1", 'viser<1.2,>=1.1; extra == "studio"', 'ruff>=0.9; extra == "dev"', "rich (>=13)"]
    monkeypatch.setattr(doctor.importlib.metadata, "requires", lambda name: said)
    found = needs(tmp_path / "pyproject.toml")
    assert found == [Need("pin", "<4.2,>=4.1"), Need("viser", "<1.2,>=1.1", "studio"), Need("rich", ">=13")]


@pytest.mark.parametrize(
    ("version", "versions", "right"),
    [
        ("4.1.7", ">=4.1,<4.2", True), ("4.2.0", ">=4.1,<4.2", False), ("4.0.9", ">=4.1,<4.2", False),
        ("4.1", ">=4.1.0", True), ("2.10.0rc1", ">=2.9", True), ("26.0", ">=18", True), ("1.0", "", True),
    ],
)  # fmt: skip
def test_versions(version: str, versions: str, right: bool) -> None:
    assert fits(version, versions) is right


def test_what_is_missing_broken_or_of_another_version_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name in ("absent", "extra"):
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(doctor.importlib.metadata, "version", version)
    listed = [Need("absent", ">=2"), Need("extra", "", "studio"), Need("no-such-module"), Need("json", ">=2")]
    monkeypatch.setattr(doctor, "needs", lambda: listed)
    absent, extra, broken, old = packages()
    assert [row.ok for row in (absent, extra, broken, old)] == [False, True, False, False]
    assert "pip install 'absent>=2'" in absent.remedy
    assert broken.found.startswith("broken")
    assert old.found == "1.0, but >=2 is required"
