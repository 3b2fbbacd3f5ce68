"""The MJCF files of a robot, checked before MuJoCo sees them.

MuJoCo takes `nan`, `inf` and empty numbers without complaint, and its compiler hangs on absurd counts. The
check covers the file, everything that it includes and the models that it attaches.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import FileFormatError
from surefoot.files import is_file
from surefoot.robot.build import MAX_BODIES
from surefoot.robot.xml_guard import MAX_ELEMENTS, Element, numbers, read_xml

MAX_COPIES = 4000  # elements after `replicate` and the like; the compiler's time grows with the square
_MAX_ALL = 10_000  # elements of any kind, copies included
_MAX_ASIDE = 1000  # of them elements that do not describe a robot: MuJoCo takes long to delete them
_ASIDE = ("pair", "light", "camera", "texture", "skin", "hfield")
_MAX_RESOLUTION = 200  # of a mesh that MuJoCo makes: it has the square of it as vertices
_MAX_HEIGHTS = 4_000_000  # numbers of one height field
_MAX_FILES = 500
_COPIED = ("body", "geom", "site", "joint", "freejoint", "camera", "light", "composite", "flexcomp")
_NOT_FINITE = re.compile(r"[+-]?(nan(\(.*\))?|inf|infinity)\Z", re.IGNORECASE)
# Attributes whose values are names, paths or free text: `nan` may be a name there.
_TEXT = {
    "actuator", "assetdir", "bind", "body", "body1", "body2", "camera", "childclass", "class", "config",
    "content_type", "cranksite", "curve", "file", "fileback", "filedown", "filefront", "fileleft", "fileright",
    "fileup", "flex", "frame", "geom", "geom1", "geom2", "hfield", "instance", "joint", "joint1", "joint2",
    "jointinparent", "key", "material", "mesh", "meshdir", "model", "name", "node", "objname", "plugin", "prefix",
    "refname", "refsite", "sidesite", "site", "site1", "site2", "skin", "slidersite", "subtree", "suffix", "target",
    "tendon", "tendon1", "tendon2", "texture", "texturedir", "tuple", "value",
}  # fmt: skip
_FREE_TEXT = {("text", "data"), ("layer", "role")}


@dataclass(frozen=True)
class MjcfFiles:
    """The checked files.

    Args:
        path: The main file.
        root: Its root element.
        elements: Root of every file, the main one included, by path.
    """

    path: Path
    root: Element
    elements: dict[Path, Element]

    @property
    def name(self) -> str:
        """Name of the model, or of the file where it has none."""
        return self.root.attributes.get("model") or self.path.stem

    def find(self, tag: str = "", **attributes: str) -> list[tuple[Path, Element]]:
        """Elements of that tag (any, if empty) and these attributes, with the file of each."""
        return [
            (file, element)
            for file, root in self.elements.items()
            for element in root.walk()
            if tag in ("", element.tag) and all(element.attributes.get(k) == v for k, v in attributes.items())
        ]


def guard_mjcf(path: str | Path) -> MjcfFiles:
    """Read an MJCF file and all files that it includes or attaches, and refuse what MuJoCo should not see.

    Args:
        path: The main file; its root element must be `mujoco`.

    Raises:
        FileFormatError: A file is missing, not well-formed, includes itself, or has a number that is not finite, is
            missing or asks for an absurd amount of elements.
    """
    main = Path(path)
    root = read_xml(main)
    if root.tag != "mujoco":
        raise FileFormatError(
            f"the root element is `{root.tag}`, not `mujoco`", file=main, line=root.line, next_step="give an MJCF file"
        )
    files = {main: root}
    _follow(main, root, main.parent, (main.resolve(),), files, set())
    for file, element in files.items():
        _check_numbers(file, element)
        _check_heights(file, element)
        _check_resolutions(file, element)
    _check_copies(main, files)
    return MjcfFiles(main, root, files)


def _follow(
    file: Path,
    root: Element,
    folder: Path,
    chain: tuple[Path, ...],
    files: dict[Path, Element],
    seen: set[tuple[Path, Path]],
) -> None:
    """Read the files that a file refers to, recursively; each once, or files that include others twice take 2ⁿ."""
    for element in root.walk():
        for target in _targets(file, element, folder):
            if target.resolve() in chain:
                raise FileFormatError(f"`{target}` includes itself", file=file, line=element.line)
            below = target.parent if element.tag == "model" else folder
            if (target, below) in seen:
                continue
            seen.add((target, below))
            if len(seen) >= _MAX_FILES:
                raise FileFormatError(f"more than {_MAX_FILES} files", file=file, line=element.line)
            files[target] = files.get(target) or read_xml(target)
            _follow(target, files[target], below, (*chain, target.resolve()), files, seen)


def _targets(file: Path, element: Element, folder: Path) -> list[Path]:
    """Files that an element refers to: relative to the main file's folder, or else to that of the file itself."""
    if element.tag not in ("include", "model") or "file" not in element.attributes:
        return []
    name = element.attributes["file"]
    found = [place for place in dict.fromkeys((folder / name, file.parent / name)) if is_file(place)]
    if not found:
        raise FileFormatError(
            f"there is no file `{name}` to include", file=file, line=element.line, evidence={"looked in": folder}
        )
    return found


def _check_numbers(file: Path, root: Element) -> None:
    for element in root.walk():
        for name, value in element.attributes.items():
            if name not in _TEXT and (element.tag, name) not in _FREE_TEXT and (fault := _fault(value)):
                raise FileFormatError(
                    f"`{name}` of `{element.tag}` {fault}",
                    file=file, line=element.line, evidence={name: value[:200]}, next_step="give finite numbers",
                )  # fmt: skip


def _fault(value: str) -> str:
    """Describe the defect of a value that is a keyword or numbers; "" for none."""
    words = value.split()
    if not words:
        return "is empty"
    if any(_NOT_FINITE.match(word) for word in words):
        return "is not finite"
    if any(_overflows(word) for word in words):
        return "is too large"
    return ""


def _overflows(word: str) -> bool:
    """Whether a word is a number that no float can hold."""
    try:
        return numbers(word) is None and math.isinf(float(word))
    except ValueError:
        return False


def _check_heights(file: Path, root: Element) -> None:
    for element in root.walk():
        if element.tag != "hfield":
            continue
        size = [numbers(element.attributes.get(name, "1"), 1) for name in ("nrow", "ncol")]
        rows, columns = (values[0] if values else -1.0 for values in size)
        if rows < 0 or columns < 0 or rows * columns > _MAX_HEIGHTS:
            raise FileFormatError(
                f"a height field of {rows:g} × {columns:g} is not between 0 and {_MAX_HEIGHTS} heights",
                file=file, line=element.line,
            )  # fmt: skip


def _check_resolutions(file: Path, root: Element) -> None:
    """Refuse built-in meshes (supersphere, plate, …) that take gigabytes."""
    for element in root.walk():
        params = numbers(element.attributes.get("params", "")) if element.tag == "mesh" else None
        if params and max(params) > _MAX_RESOLUTION:
            raise FileFormatError(
                f"`params` of a mesh asks for a resolution above {_MAX_RESOLUTION}",
                file=file, line=element.line, evidence={"params": element.attributes["params"][:200]},
                next_step="lower the resolution, or give the mesh as a file",
            )  # fmt: skip


def _check_copies(main: Path, files: dict[Path, Element]) -> None:
    """Refuse `replicate`, `composite` and `flexcomp` that make more elements than MuJoCo can compile in seconds."""
    total, bodies, every, aside = 0.0, 0.0, 0.0, 0.0
    for file, element, factor in _with_factor(main, files):
        share = factor * (_count(file, element) if element.tag in ("composite", "flexcomp") else 1.0)
        total += share if share > 1 and element.tag in _COPIED else 0.0
        bodies += share if element.tag in ("body", "composite", "flexcomp") else 0.0
        if total > MAX_COPIES or bodies > MAX_BODIES:
            raise FileFormatError(
                f"more than {MAX_COPIES} copies or {MAX_BODIES} bodies",
                file=file, line=element.line, next_step="lower the counts of `replicate`, `composite`, `flexcomp`",
            )  # fmt: skip
        every += share
        aside += share if element.tag in _ASIDE or element.parent == "sensor" else 0.0
        if every > _MAX_ALL or aside > _MAX_ASIDE:
            raise FileFormatError(
                f"more than {_MAX_ALL} elements, or {_MAX_ASIDE} that do not describe a robot",
                file=file, line=element.line,
                next_step="remove elements that the robot does not need: contact pairs, sensors, lights, cameras",
            )  # fmt: skip


def _with_factor(main: Path, files: dict[Path, Element]) -> Iterator[tuple[Path, Element, float]]:
    """Every element where it is used, with its file and the number of its copies."""
    folders, models = {main: main.parent}, _models(files)
    waiting, visits = [(main, files[main], 1.0)], 0
    while waiting:
        file, element, factor = waiting.pop()
        yield file, element, factor
        visits += 1
        if visits > MAX_ELEMENTS:
            raise FileFormatError(f"more than {MAX_ELEMENTS} elements", file=file, line=element.line)
        below = factor * _count(file, element) if element.tag == "replicate" else factor
        waiting.extend((file, child, below) for child in element.children)
        used = models.get(element.attributes.get("model", ""), []) if element.tag == "attach" else []
        if element.tag == "include":
            used = _targets(file, element, folders[file])
        for target in used:
            folders[target] = target.parent if element.tag == "attach" else folders[file]
            waiting.append((target, files[target], below))


def _models(files: dict[Path, Element]) -> dict[str, list[Path]]:
    """The files of models that can be attached, by name."""
    out: dict[str, list[Path]] = {}
    for root in files.values():
        for element in root.walk():
            if element.tag == "model" and "file" in element.attributes:
                places = (folder / element.attributes["file"] for folder in {f.parent for f in files})
                found = [place for place in places if place in files]
                own = next((files[place].attributes.get("model", "") for place in found), "")
                out.setdefault(element.attributes.get("name") or own, []).extend(found)
    return out


def _count(file: Path, element: Element) -> float:
    """Product of the counts of an element."""
    text = element.attributes.get("count", "1")
    values = numbers(text)
    if not values or any(value < 0 for value in values):
        raise FileFormatError(
            f"`count` of `{element.tag}` is not a number of copies",
            file=file,
            line=element.line,
            evidence={"count": text},
        )
    return math.prod(max(value, 1.0) for value in values)
