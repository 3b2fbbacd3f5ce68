"""The constants of a model as arrays, and the places of its unknowns.

Everything is kept in three dimensions; in the plane the unknowns and rows are the components that are left: rotations
about z, translations along x and y, and the entries (a, b₃) of spinors. Links are kept from the head to the tail
("slots"), in the order in which the chain is walked; shorter chains are filled up with links that do nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.redundant.model.check import freedom_names, require_sound
from surefoot.redundant.model.model import GROUND, Freedom, Link, ModelData, Vector
from surefoot.solvers import DyadicPlan
from surefoot.spatial import so3, spinor

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Links:
    """All links of all hinges: L slots by n hinges.

    Args:
        spinors: (L, n, 4) constant rotations; unit for pins and balls.
        offsets: (L, n, 3) constant translations [m].
        pin_at: (2, pins) slot and hinge of the pins.
        pin_axes: (pins, 3).
        pin_rows: (pins,) their entry among the freedoms.
        ball_at: (2, balls) slot and hinge of the balls.
        ball_rows: (balls, 3) their entries among the freedoms.
        turn_at: (2, turns) slot and hinge of the rotational freedoms.
        turn_axes: (turns, 3) axes in the frame of the head side.
        slide_at: (2, slides) slot and hinge of the translational freedoms.
        slide_axes: (slides, 3) axes in the frame of the head side.
    """

    spinors: Array
    offsets: Array
    pin_at: Indices
    pin_axes: Array
    pin_rows: Indices
    ball_at: Indices
    ball_rows: Indices
    turn_at: Indices
    turn_axes: Array
    slide_at: Indices
    slide_axes: Array

    @cached_property
    def turn_map(self) -> Array:
        """(3 L n, turns): from the rates of the rotational freedoms to the link rates, flat."""
        return self._spread(self.turn_at, self.turn_axes)

    @cached_property
    def slide_map(self) -> Array:
        """(3 L n, slides): the same for the translational freedoms."""
        return self._spread(self.slide_at, self.slide_axes)

    def _spread(self, at: Indices, axes: Array) -> Array:
        out = np.zeros((*self.offsets.shape, len(axes)))
        for column, (slot, hinge, axis) in enumerate(zip(*at, axes, strict=True)):
            out[slot, hinge, :, column] = axis
        return out.reshape(self.offsets.size, len(axes))


@dataclass(frozen=True, eq=False)
class Freedoms:
    """All freedoms, the rotational ones first.

    Args:
        names: m names.
        lower: (m,) stops, infinite where there is none.
        upper: (m,) stops.
        spring: (m,).
        rest: (m,).
        damping: (m,).
        friction: (m,).
        friction_speed: (m,).
        armature: (m,).
        drives: (m, u) direction cosines of the actuators: B_u (Busenhart 1994, (3.28) and (3.29)).
    """

    names: tuple[str, ...]
    lower: Array
    upper: Array
    spring: Array
    rest: Array
    damping: Array
    friction: Array
    friction_speed: Array
    armature: Array
    drives: Array


@dataclass(frozen=True, eq=False)
class ContactRows:
    """One contact: the freedoms of its normal and tangents, and the Coulomb coefficient."""

    name: str
    normal: int
    tangents: tuple[int, ...]
    friction: float


@dataclass(frozen=True, eq=False)
class Layout:
    """A model as arrays: N bodies, n hinges, m freedoms.

    Args:
        planar: Whether the model lives in the plane.
        rotations: Components of angular vectors that are unknowns.
        translations: Components of linear vectors that are unknowns.
        spinor_rows: Entries of spinors that are rows.
        gravity: (3,) [m/s²].
        masses: (N,) [kg].
        inertias: (N, 3) principal moments [kg m²].
        tail: (n,) body where the hinge begins; N for the ground.
        head: (n,) body where it ends; N for the ground.
        links: The chains.
        turns: Number of rotational freedoms.
        freedoms: Limits, laws and drives of the freedoms.
        contacts: Unilateral hinges with friction.
        body_names: N names.
        hinge_names: n names.
    """

    planar: bool
    rotations: Indices
    translations: Indices
    spinor_rows: Indices
    gravity: Array
    masses: Array
    inertias: Array
    tail: Indices
    head: Indices
    links: Links
    turns: int
    freedoms: Freedoms
    contacts: tuple[ContactRows, ...]
    body_names: tuple[str, ...]
    hinge_names: tuple[str, ...]

    @property
    def bodies(self) -> int:
        """N, the number of bodies."""
        return len(self.masses)

    @property
    def hinges(self) -> int:
        """n, the number of hinges."""
        return len(self.tail)

    @property
    def slides(self) -> int:
        """Number of translational freedoms."""
        return len(self.freedoms.names) - self.turns

    @property
    def actuators(self) -> int:
        """Number of actuators."""
        return self.freedoms.drives.shape[1]

    def angular(self, unknowns: Array) -> Array:
        """Angular vectors (k, 3) of their components that are unknowns."""
        return _vectors(unknowns, self.rotations)

    def linear(self, unknowns: Array) -> Array:
        """Linear vectors (k, 3) of their components that are unknowns."""
        return _vectors(unknowns, self.translations)

    @cached_property
    def motion_places(self) -> dict[str, slice]:
        """Places of the parts of z_pos and z_vel: bodies turn, bodies move, rotational and translational freedoms."""
        angular, linear = len(self.rotations), len(self.translations)
        sizes = {
            "turn": self.bodies * angular,
            "move": self.bodies * linear,
            "turns": self.turns,
            "slides": self.slides,
        }
        return _places(sizes)

    @cached_property
    def dynamics_places(self) -> dict[str, slice]:
        """Places of the parts of z_dyn: u, bodies, hinge torques and forces, freedoms (Busenhart 1994, (5.29))."""
        angular, linear = len(self.rotations), len(self.translations)
        sizes = {
            "u": self.actuators,
            "turn": self.bodies * angular,
            "move": self.bodies * linear,
            "torque": self.hinges * angular,
            "force": self.hinges * linear,
            "turns": self.turns,
            "slides": self.slides,
        }
        return _places(sizes)


def _vectors(unknowns: Array, components: Indices) -> Array:
    out = np.zeros((len(unknowns) // len(components), 3))
    out[:, components] = unknowns.reshape(-1, len(components))
    return out


def _places(sizes: dict[str, int]) -> dict[str, slice]:
    ends = np.cumsum([0, *sizes.values()])
    return {name: slice(int(a), int(b)) for name, a, b in zip(sizes, ends[:-1], ends[1:], strict=True)}


def layout_of(model: ModelData) -> Layout:
    """The arrays of a model; refused where it is inconsistent."""
    require_sound(model)
    planar = model.space == "plane"
    row = {body.name: i for i, body in enumerate(model.bodies)} | {GROUND: len(model.bodies)}
    turns, slides = freedom_names(model)
    position = {name: i for i, name in enumerate(turns + slides)}
    inertias = [(0.0, 0.0, *body.inertia) if planar else body.inertia for body in model.bodies]
    return Layout(
        planar=planar,
        rotations=np.array([2] if planar else [0, 1, 2]),
        translations=np.array([0, 1] if planar else [0, 1, 2]),
        spinor_rows=np.array([0, 3] if planar else [0, 1, 2, 3]),
        gravity=_vector(model.gravity),
        masses=np.array([body.mass for body in model.bodies]),
        inertias=np.array(inertias, dtype=float).reshape(-1, 3),
        tail=np.array([row[hinge.tail] for hinge in model.hinges], dtype=np.int64),
        head=np.array([row[hinge.head] for hinge in model.hinges], dtype=np.int64),
        links=_links(model, position),
        turns=len(turns),
        freedoms=_freedoms(model, position),
        contacts=tuple(
            ContactRows(c.name, position[c.normal], tuple(position[t] for t in c.tangents), c.friction)
            for c in model.contacts
        ),
        body_names=tuple(body.name for body in model.bodies),
        hinge_names=tuple(hinge.name for hinge in model.hinges),
    )


def _vector(values: Vector) -> Array:
    """Three components of a vector of the model."""
    out = np.zeros(3)
    out[: len(values)] = values
    return out


def _rotation(link: Link) -> Array:
    """The constant rotation of a link as a spinor (4,)."""
    if not link.rotation:
        return np.array([1.0, 0.0, 0.0, 0.0])
    vector = np.array(link.rotation if len(link.rotation) == 3 else (0.0, 0.0, *link.rotation))
    return np.asarray(spinor.from_matrix(so3.exp(vector)), dtype=float)


def _links(model: ModelData, position: dict[str, int]) -> Links:
    """All links, slot by slot from the head."""
    n, depth = len(model.hinges), max([1, *(len(hinge.links) for hinge in model.hinges)])
    spinors, offsets = np.zeros((depth, n, 4)), np.zeros((depth, n, 3))
    spinors[..., 0] = 1.0
    pins: list[tuple[int, int, Array, int]] = []
    balls: list[tuple[int, int, list[int]]] = []
    slides: list[tuple[int, int, Array]] = []
    turns: list[tuple[int, int, Array]] = []
    for a, hinge in enumerate(model.hinges):
        for j, link in enumerate(hinge.links):
            slot = len(hinge.links) - 1 - j
            spinors[slot, a], offsets[slot, a] = _rotation(link), _vector(link.offset)
            slides += [(slot, a, _vector(item.axis or ())) for item in link.slides]
            if link.pin is not None:
                axis = np.array([0.0, 0.0, 1.0]) if link.pin.axis is None else _vector(link.pin.axis)
                pins.append((slot, a, axis, position[link.pin.name]))
                turns.append((slot, a, axis))
            elif link.ball is not None:
                balls.append((slot, a, [position[f"{link.ball.name}.{k}"] for k in "xyz"]))
                turns += [(slot, a, axis) for axis in np.eye(3)]
    return Links(
        spinors=spinors,
        offsets=offsets,
        pin_at=_at(pins),
        pin_axes=np.array([item[2] for item in pins]).reshape(-1, 3),
        pin_rows=np.array([item[3] for item in pins], dtype=np.int64),
        ball_at=_at(balls),
        ball_rows=np.array([item[2] for item in balls], dtype=np.int64).reshape(-1, 3),
        turn_at=_at(turns),
        turn_axes=np.array([item[2] for item in turns]).reshape(-1, 3),
        slide_at=_at(slides),
        slide_axes=np.array([item[2] for item in slides]).reshape(-1, 3),
    )


def _at(items: list) -> Indices:
    """(2, k) slots and hinges of a list of items that begin with them."""
    return np.array([(item[0], item[1]) for item in items], dtype=np.int64).reshape(-1, 2).T


def _freedoms(model: ModelData, position: dict[str, int]) -> Freedoms:
    names = tuple(position)
    found: dict[str, Freedom] = {}
    for link in (link for hinge in model.hinges for link in hinge.links):
        for item in (*link.slides, *([link.pin] if link.pin else [])):
            found[item.name] = item
        if link.ball is not None:
            for k in "xyz":
                name = f"{link.ball.name}.{k}"
                found[name] = Freedom(name=name, damping=link.ball.damping, armature=link.ball.armature)
    drives = np.zeros((len(names), len(model.actuators)))
    for p, actuator in enumerate(model.actuators):
        for action in actuator.acts_on:
            drives[position[action.freedom], p] += action.direction
    of = {key: _column(found, names, key) for key in ("spring", "rest", "damping", "friction", "friction_speed")}
    return Freedoms(
        names=names,
        lower=np.array([-np.inf if found[k].lower is None else found[k].lower for k in names], dtype=float),
        upper=np.array([np.inf if found[k].upper is None else found[k].upper for k in names], dtype=float),
        armature=_column(found, names, "armature"),
        drives=drives,
        **of,
    )


def _column(found: dict[str, Freedom], names: tuple[str, ...], key: str) -> Array:
    return np.array([getattr(found[name], key) for name in names], dtype=float)


class Model(ModelData):
    """A mechanism with the layout and the plans of reductions that follow from its data."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Model:
        """A copy with some fields changed; values derived from the old ones are dropped.

        Args:
            update: New values by field.
            deep: Whether the parts are copied as well.
        """
        out = super().model_copy(update=update, deep=deep)
        for name in ("layout", "connectivity", "plans"):
            out.__dict__.pop(name, None)
        return out

    @cached_property
    def layout(self) -> Layout:
        """Constants and places of all unknowns and rows, made once.

        Raises:
            ModelError: The model is inconsistent.
        """
        return layout_of(self)

    @cached_property
    def plans(self) -> dict[str, DyadicPlan]:
        """Ordered reductions by level, kept from their first use."""
        return {}
