"""Names of the zoo and how each is loaded."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from surefoot.errors import NotSupportedError, one_of
from surefoot.robot.build import Mimic
from surefoot.robot.files import BASES, load_file
from surefoot.robot.model import Robot
from surefoot.robot.side_file import side_contacts
from surefoot.robot.urdf import without_subtree
from surefoot.robot.xml_guard import numbers, read_xml
from surefoot.robot.zoo.built import BUILT, build

_SIDE_FILES = Path(__file__).parent / "side"
_OTHER_FILES = {"ur3": "ur3_robot.urdf"}  # the loader of ur3 names the file of ur5; that of ur3 is beside it


def names() -> list[str]:
    """All names that `load` knows, the built ones first."""
    return [*BUILT, *_shipped()]


class ZooFacts(NamedTuple):
    """What is known of a robot of the zoo without loading it.

    Args:
        dof: Size of v.
        mass: [kg].
        kind: Humanoid, quadruped, arm and so on.
        licence: Of its data.
    """

    dof: int
    mass: float
    kind: str
    licence: str


@cache
def facts() -> dict[str, ZooFacts]:
    """Facts of all robots, by name (`facts.toml`, written by `scripts/make_zoo_facts.py`)."""
    table = tomllib.loads(Path(__file__).with_name("facts.toml").read_text(encoding="utf-8"))
    return {name: ZooFacts(**row) for name, row in table.items()}


def describe(name: str) -> str:
    """One line about a robot of the zoo."""
    if name in BUILT:
        usage = BUILT[name].usage
        return f"{BUILT[name].description}; {name}{usage}" if usage else BUILT[name].description
    usage = f"; {name}[:hands]" if _hands_of(name).is_file() else ""
    return f"example-robot-data: {_file_name(name)}{usage}"


def load(name: str, base: str = "auto", mimic: Mimic = "coupling", meshes: str = "warn") -> Robot:
    """A robot of the zoo.

    Args:
        name: Its name, with parameters after colons.
        base: "auto" for its own base, or another.
        mimic: "coupling", "reduce" or "free".
        meshes: What to do about missing meshes.
    """
    if base not in BASES:
        raise one_of("base", base, BASES)
    head, *parameters = name.split(":")
    if head in BUILT:
        return build(head, parameters, base=base, mimic=mimic)
    if head not in _shipped():
        raise one_of("robot", head, names())
    if parameters not in ([], ["hands"]) or (parameters and not _hands_of(head).is_file()):
        raise NotSupportedError(f"robot `{head}` takes no parameters", evidence={"given": ":".join(parameters)})
    robot = _load_shipped(head, base, mimic, meshes)
    if not parameters:
        return robot
    return robot.replace(contacts={**robot.contacts, **side_contacts(_hands_of(head))})


def _hands_of(name: str) -> Path:
    """The side file with contact surfaces of its hands, beside those of its feet."""
    return _SIDE_FILES / f"{name}.hands.surefoot.toml"


def _shipped() -> dict[str, Any]:
    """The loader classes of example-robot-data, by name."""
    from example_robot_data.robots_loader import ROBOTS

    return dict(ROBOTS)


def _file_name(name: str) -> str:
    entry = _shipped()[name]
    return str(_OTHER_FILES.get(name) or entry.urdf_filename or entry.sdf_filename)


def _load_shipped(name: str, base: str, mimic: Mimic, meshes: str) -> Robot:
    from example_robot_data.robots_loader import getModelPath

    entry = _shipped()[name]
    folder = Path(getModelPath(entry.path)).resolve() / entry.path
    side = _SIDE_FILES / f"{name}.surefoot.toml"
    own_base = "floating" if entry.free_flyer else "fixed"
    return load_file(
        folder / entry.urdf_subpath / _file_name(name),
        base=own_base if base == "auto" else base,
        mimic=mimic,
        meshes=meshes,
        side=side if side.is_file() else None,
        name=name,
        # talos_legs is talos without what hangs on its first torso joint
        prepare=(lambda document: without_subtree(document, "torso_1_joint")) if name == "talos_legs" else None,
        # the human model has y up; its loader turns the free joint
        root_rotation=getattr(entry, "freeflyer_ori", None)
        if own_base == "floating" and base in ("auto", "floating")
        else None,
        home=_srdf_posture(folder / entry.srdf_subpath / entry.srdf_filename, entry.ref_posture)
        if entry.srdf_filename
        else None,
    )


def _srdf_posture(path: Path, posture: str | None) -> dict[str, float] | None:
    """Joint positions of a named posture in an SRDF file; None if it has none of that name."""
    if posture is None or not path.is_file():
        return None
    root = read_xml(path)
    state = next((item for item in root.all("group_state") if item.attributes.get("name") == posture), None)
    if state is None:
        return None
    rows = {item.attributes["name"]: numbers(item.attributes.get("value", ""), 1) for item in state.all("joint")}
    return {name: value[0] for name, value in rows.items() if value is not None}
