"""Checks of a model beyond the types of its entries; each problem comes with its key."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from surefoot.errors import ModelError
from surefoot.redundant.model.model import GROUND, Freedom, Hinge, Link, ModelData, Vector

Key = tuple[str | int, ...]
Problem = tuple[Key, str]
_BALL = ("x", "y", "z")


def require_sound(model: ModelData) -> None:
    """Refuse an inconsistent model.

    Raises:
        ModelError: Names the first problem; further ones are listed in the evidence.
    """
    found = list(problems(model))
    if found:
        texts = [f"{'.'.join(map(str, key))}: {text}" for key, text in found]
        raise ModelError(texts[0], evidence={str(i): text for i, text in enumerate(texts[1:9], 2)})


def freedom_names(model: ModelData) -> tuple[list[str], list[str]]:
    """Names of the rotational and of the translational freedoms, in the order of the unknowns."""
    turns: list[str] = []
    slides: list[str] = []
    for hinge in model.hinges:
        for link in hinge.links:
            if link.pin is not None:
                turns.append(link.pin.name)
            elif link.ball is not None:
                turns.extend(f"{link.ball.name}.{axis}" for axis in _BALL)
            slides.extend(slide.name for slide in link.slides)
    return turns, slides


def problems(model: ModelData) -> Iterator[Problem]:
    """Key path and sentence for each problem."""
    size = 2 if model.space == "plane" else 3
    yield from _wrong_size(("gravity",), model.gravity, size)
    if not model.bodies:
        yield ("bodies",), "a model needs at least one body"
    for i, body in enumerate(model.bodies):
        yield from _wrong_size(("bodies", i, "inertia"), body.inertia, 1 if size == 2 else 3)
        if body.name == GROUND:
            yield ("bodies", i, "name"), f"`{GROUND}` is the name of the reference frame"
    for kind in ("bodies", "hinges", "actuators", "contacts"):
        yield from _repeated(kind, [item.name for item in getattr(model, kind)])
    turns, slides = freedom_names(model)
    for name in sorted(name for name, count in Counter(turns + slides).items() if count > 1):
        yield ("hinges",), f"two freedoms are called `{name}`"
    names = [GROUND, *(body.name for body in model.bodies)]
    for a, hinge in enumerate(model.hinges):
        yield from _hinge_problems(("hinges", a), hinge, names, size)
    yield from _actuator_problems(model, turns + slides)
    yield from _contact_problems(model, slides)


def _repeated(kind: str, names: list[str]) -> Iterator[Problem]:
    for i, name in enumerate(names):
        if name in names[:i]:
            yield (kind, i, "name"), f"`{name}` is listed twice"


def _wrong_size(key: Key, vector: Vector, size: int) -> Iterator[Problem]:
    if len(vector) != size:
        yield key, f"{len(vector)} number(s), expected {size}"


def unknown(name: str, known: Iterable[str]) -> str:
    """A sentence on a name that does not exist, with the nearest one that does."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"there is no `{name}`; " + (f"did you mean `{near[0]}`?" if near else f"known: {', '.join(names)}")


def _hinge_problems(key: Key, hinge: Hinge, names: list[str], size: int) -> Iterator[Problem]:
    for end in ("tail", "head"):
        if getattr(hinge, end) not in names:
            yield (*key, end), unknown(getattr(hinge, end), names)
    if hinge.tail == hinge.head:
        yield (*key, "head"), f"the hinge ties `{hinge.tail}` to itself"
    for j, link in enumerate(hinge.links):
        yield from _link_problems((*key, "links", j), link, size)


def _link_problems(key: Key, link: Link, size: int) -> Iterator[Problem]:
    if sum((bool(link.rotation), link.pin is not None, link.ball is not None)) > 1:
        yield key, "a link has one of `rotation`, `pin` and `ball`; put the others on links of their own"
    if link.rotation:
        yield from _wrong_size((*key, "rotation"), link.rotation, 1 if size == 2 else 3)
    if link.offset:
        yield from _wrong_size((*key, "offset"), link.offset, size)
    if link.ball is not None and size == 2:
        yield (*key, "ball"), "there are no balls in the plane; use a pin"
    if link.pin is not None:
        yield from _freedom_problems((*key, "pin"), link.pin, 0 if size == 2 else 3)
    for k, slide in enumerate(link.slides):
        yield from _freedom_problems((*key, "slides", k), slide, size)


def _freedom_problems(key: Key, freedom: Freedom, size: int) -> Iterator[Problem]:
    if size == 0 and freedom.axis is not None:
        yield (*key, "axis"), "pins in the plane turn about z; omit `axis`"
    elif size and freedom.axis is None:
        yield key, "`axis` is missing"
    elif size and freedom.axis is not None:
        yield from _wrong_size((*key, "axis"), freedom.axis, size)
        if not abs(np.linalg.norm(freedom.axis) - 1.0) <= 1e-9:
            yield (*key, "axis"), f"length {np.linalg.norm(freedom.axis):.6g}, expected a unit vector"
    if freedom.lower is not None and freedom.upper is not None and freedom.lower > freedom.upper:
        yield (*key, "lower"), f"{freedom.lower} is above upper = {freedom.upper}"


def _actuator_problems(model: ModelData, names: list[str]) -> Iterator[Problem]:
    for p, actuator in enumerate(model.actuators):
        for k, action in enumerate(actuator.acts_on):
            if action.freedom not in names:
                yield ("actuators", p, "acts_on", k, "freedom"), unknown(action.freedom, names)
        if actuator.lower is not None and actuator.upper is not None and actuator.lower > actuator.upper:
            yield ("actuators", p, "lower"), f"{actuator.lower} is above upper = {actuator.upper}"


def _contact_problems(model: ModelData, names: list[str]) -> Iterator[Problem]:
    links = {slide.name: link for hinge in model.hinges for link in hinge.links for slide in link.slides}
    stops = {slide.name: slide.lower for link in links.values() for slide in link.slides}
    for i, contact in enumerate(model.contacts):
        wrong = [name for name in (contact.normal, *contact.tangents) if name not in links]
        for name in wrong:
            yield ("contacts", i, "normal" if name == contact.normal else "tangents"), unknown(name, names)
        if wrong:
            continue
        if stops[contact.normal] is None:
            yield ("contacts", i, "normal"), f"slide `{contact.normal}` has no lower stop"
        if any(links[name] is not links[contact.normal] for name in contact.tangents):
            yield ("contacts", i, "tangents"), "normal and tangents are slides of different links"
        if len(contact.tangents) > 2:
            yield ("contacts", i, "tangents"), f"{len(contact.tangents)} tangents, expected at most 2"
