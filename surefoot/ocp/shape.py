"""Blocks, and the sizes of stages: how many states, controls, forces and data a structure has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.linalg

from surefoot import ops
from surefoot.dynamics import Constraints, constraints_of, contact, own_constraints
from surefoot.errors import ShapeError, SurefootError
from surefoot.kinematics import contact_frame, frame_velocity
from surefoot.ocp.chart import Chart
from surefoot.ocp.formulation import TABLES, Formulation
from surefoot.ocp.node import AbsentError, Named, Node
from surefoot.ops import Array
from surefoot.robot import Robot, Tree

Use = Literal["residual", "cost", "row"]
Place = Literal["path", "end", "impact"]
Kind = Literal["interval", "impact", "end"]
BAUMGARTE = 10.0
"""How fast errors of contact positions vanish in direct inverse dynamics [1/s]."""
DAMPING = 30.0
"""How fast velocities of contacts vanish where their accelerations are held [1/s]."""
_NEARBY, _RANK = 0.01, 1e-8  # how far from home [rad] or [m], and below which share of the largest, rows are zero
SPOT = 18
"""Numbers of a spot among the data: rotation, position, gains."""


@dataclass(frozen=True)
class Block:
    """A named cost or constraint.

    Args:
        name: Unique in a problem.
        function: function(node) or, with data, function(node, data) -> array; over `ops`.
        use: "residual": weighted squares; "cost": a scalar; "row": a constraint.
        place: Along the path, at its end, or at impacts.
        data: Numbers that the function takes besides the node.
        key: What the function depends on, for the cache; None for functions of the user.
        slack: Whether its rows may be violated at a price.
        is_integral: Whether a cost is integrated over time.
        phases: Names of the phases in which it acts; all if None.
        of_posture: Whether a row depends on the coordinates and on free parameters alone. Such rows hold at the
            beginning of stages and have kernels of their own: adding one does not compile the others again.
        is_curved: Whether second derivatives of a row of postures are taken.
    """

    name: str
    function: Callable[..., Any]
    use: Use
    place: Place = "path"
    data: int = 0
    key: tuple[Any, ...] | None = None
    slack: bool = False
    is_integral: bool = True
    phases: tuple[str, ...] | None = None
    of_posture: bool = False
    is_curved: bool = True

    def values(self, node: Node, data: Array) -> Array:
        """What the function returns, as a vector."""
        try:
            with np.errstate(all="ignore"):  # what is not finite is reported where it matters: `Solution.trouble`
                found = self.function(node, data) if self.data else self.function(node)
        except (AbsentError, SurefootError):
            raise
        except Exception as error:
            raise ShapeError(
                f"`{self.name}` failed: {type(error).__name__}: {error}",
                next_step="write it with functions of surefoot.ops, such as ops.sin and ops.where",
                subject=self.name,
            ) from error
        values = np.atleast_1d(np.asarray(found)).ravel()
        if values.dtype.kind not in "biuf" and not all(isinstance(x, ops.Symbol | Real) for x in values):
            raise ShapeError(f"`{self.name}` must return numbers, got {found!r}", subject=self.name)
        return values

    def acts_nowhere(self) -> ShapeError:
        """The error for a block that no node can evaluate."""
        return ShapeError(
            f"`{self.name}` acts nowhere: it is given nothing, or asks for what its nodes do not have",
            evidence={"at": self.place, "phases": self.phases or "all", "of_posture": self.of_posture},
            next_step="forces and accelerations exist along the path, not at the end and not in postures",
            subject=self.name,
        )


class Design(NamedTuple):
    """What free parameters change of the robot.

    Args:
        tree: function(tree, parameters) -> Tree, over `ops`.
        forces: function(node) -> (nv,) further passive forces, over `ops`.
        key: What the functions depend on, for the cache; None: they are traced in every process.
    """

    tree: Callable[[Tree, Mapping[str, Any]], Tree] | None = None
    forces: Callable[[Node], Any] | None = None
    key: tuple[Any, ...] | None = None


class Parts(NamedTuple):
    """Cost (1,), residuals, next state and rows of a stage."""

    cost: Array
    residuals: Array
    gap: Array
    rows: Array

    @property
    def all(self) -> Array:
        """One after the other."""
        return ops.concatenate([np.asarray(part) for part in self])


class Group(NamedTuple):
    """Rows or residuals that belong together: name, first entry, size and point of the interval."""

    name: str
    start: int
    size: int
    point: int = 0


Groups = list[Group] | None


@dataclass(frozen=True, eq=False)
class StageShape:
    """Sizes and data of the stages of one structure; `Structure` has their functions.

    Args:
        robot: The robot.
        contacts: Contacts that hold; after an impact, those that hold then.
        formulation: The formulation.
        kind: An interval, an impact, or the end of the motion.
        blocks: Costs and constraints.
        parameters: Names of free parameters, after the duration.
        design: What they change of the robot.
    """

    robot: Robot
    contacts: tuple[str, ...]
    formulation: Formulation
    kind: Kind
    blocks: tuple[Block, ...] = ()
    parameters: tuple[str, ...] = ()
    design: Design | None = None
    chart: Chart = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "chart", Chart(self.robot))

    # -- sizes ----------------------------------------------------------------------------------------------------

    @cached_property
    def tied(self) -> dict[str, tuple[int, ...]]:
        """Directions that each contact holds."""
        return {name: tuple(np.flatnonzero(self.robot.contacts[name].tied).tolist()) for name in self.contacts}

    @cached_property
    def own(self) -> Constraints:
        """Closed chains and couplings of the robot."""
        return own_constraints(self.robot)

    @cached_property
    def held(self) -> Constraints:
        """Closed chains, couplings and contacts."""
        loops = [contact(self.robot, self.robot.home, name) for name in self.contacts]
        return constraints_of(self.robot, [*self.robot.loops, *self.robot.couplings, *loops])

    @cached_property
    def independent(self) -> tuple[int, ...]:
        """Rows of `held` that do not follow from others near home: a planar robot cannot leave its plane anyway."""
        if not self.held.rows:
            return ()
        y = self.chart.coordinates(self.robot.home)
        q = self.chart.configuration(y + _NEARBY * np.cos(np.arange(len(y)) + 1.0))
        J = np.asarray(self.held.jacobian(self.robot.tree, q), dtype=float)
        _, R, order = scipy.linalg.qr(J.T, mode="economic", pivoting=True)
        size = np.abs(np.diag(R))
        return tuple(sorted(order[: int((size > _RANK * size[0]).sum())].tolist()))

    @property
    def forces(self) -> int:
        """Number of contact and constraint forces."""
        return sum(map(len, self.tied.values())) + len(self.own.rows)

    @property
    def scale(self) -> float:
        """Unit of contact forces among the controls [N]: the weight, or 1 N without gravity."""
        return max(self.robot.mass * float(np.linalg.norm(self.robot.tree.gravity)), 1.0)

    @property
    def inputs(self) -> int:
        """Numbers of one input: forces of drives, desired accelerations, or accelerations (rates) and contact ones."""
        return self.robot.nv + self.forces if self.formulation.has_wrenches else self.robot.nu

    @property
    def points(self) -> int:
        """Collocation points, or 1."""
        return len(TABLES[self.formulation.integrator][1]) if self.formulation.is_collocation else 1

    @property
    def states(self) -> int:
        """Size of x."""
        if self.formulation.dynamics == "centroidal":
            return self.robot.nv + 6
        return 2 * self.robot.nv + {"constant": 0, "plc": 1, "plci": 2}[self.formulation.control] * self.robot.nu

    @property
    def controls(self) -> int:
        """Size of u, without slacks."""
        if self.kind == "end":
            return 0
        if self.kind == "impact":
            return self.robot.nv + self.forces
        if self.formulation.has_wrenches:
            return self.points * self.inputs
        return self.inputs + (self.points * self.robot.nv if self.formulation.is_collocation else 0)

    def posture(self, y: Array, parameters: Array) -> Node:
        """The robot at rest with coordinates y (nv,) and free parameters."""
        return self._node(y, np.zeros(self.robot.nv), parameters)

    def _node(self, y: Array, dy: Array | None, parameters: Array, **others: Any) -> Node:
        named = Named("parameter", zip(self.parameters, parameters, strict=True))
        if others.get("contact_wrenches") is not None:
            others["contact_wrenches"] = Named("contact that holds here", others["contact_wrenches"])
        if self.design is not None:
            tree, forces, _ = self.design
            others |= {"own_tree": None if tree is None else tree(self.robot.tree, named), "own_forces": forces}
        return Node(self.robot, self.chart, y, dy, parameters=named, **others)

    def split_forces(self, forces: Array) -> tuple[dict[str, Array], Array]:
        """Wrenches of the contacts [N], [N m], and forces of loops, from forces in units of `scale`."""
        wrenches, start = {}, 0
        for name, directions in self.tied.items():
            wrench = ops.zeros(6, like=forces)
            wrench[list(directions)] = self.scale * forces[start : start + len(directions)]
            wrenches[name] = wrench
            start += len(directions)
        return wrenches, self.scale * forces[start:]

    def moment(self, y: Array, dy: Array | None, p: Array, d: Array, **others: Any) -> Node:
        """A node with these coordinates, rates, parameters and data."""
        return self._node(y, dy, p[1:], step=p[0] * d[0], duration=p[0], **others)

    def spot_error(self, node: Node, name: str, spot: Array) -> tuple[Array, Array]:
        """Position and rotation (6,) of a contact against its spot, in the axes of the spot, times gains.

        Also R_spot_contact. Directions that are free are those of the spot: a point foot on level ground may roll.
        """
        T = node.placement(name)
        R, position = spot[:9].reshape(3, 3), spot[9:12]
        E = R.T @ T[:3, :3]
        turn = 0.5 * ops.array([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]])
        return spot[12:18] * ops.concatenate([R.T @ (T[:3, 3] - position), turn]), E

    def resting(self, node: Node, v: Array, d: Array) -> list[tuple[str, Array]]:
        """Rows that make contacts rest, and loops stay closed, in the motion with velocity v (nv,) from a node."""
        rows, tree = [], node.tree
        for k, (name, directions) in enumerate(self.tied.items()):
            pull, E = self.spot_error(node, name, d[1 + SPOT * k : 1 + SPOT * (k + 1)])
            twist = frame_velocity(tree, contact_frame(self.robot, name), node.q, v, "local")
            own = ops.concatenate([E.T @ pull[:3], E.T @ pull[3:]])
            rows.append((f"contact {name}", (twist + own)[list(directions)]))
        if self.own.rows:
            closing = self.own.jacobian(tree, node.q) @ v + BAUMGARTE * self.own.residual(tree, node.q)
            rows.append(("loops", closing))
        return rows

    def sample(self, slacks: int = 0) -> tuple[Array, Array, Array, Array]:
        """Arguments x, u, p, d at home and at rest, with that many slack variables."""
        x, u = np.zeros(self.states), np.zeros(self.controls + slacks)
        x[: self.robot.nv] = self.chart.coordinates(self.robot.home)
        d = np.ones(self.data)
        for k in range(len(self.contacts)):
            d[1 + SPOT * k : 1 + SPOT * (k + 1)] = spot_data(np.eye(4))
        return x, u, np.ones(1 + len(self.parameters)), d

    @cached_property
    def data(self) -> int:
        """Size of d."""
        return 1 + SPOT * len(self.contacts) + sum(block.data for block in self.blocks)

    def data_place(self, name: str) -> slice:
        """Where the data of a block are in d."""
        start = 1 + SPOT * len(self.contacts)
        for block in self.blocks:
            if block.name == name:
                return slice(start, start + block.data)
            start += block.data
        raise KeyError(name)


def spot_data(pose: Array, free: Mapping[int, bool] | None = None) -> Array:
    """Data (18,) of a spot: rotation, position, and gains: 0 in directions that are free."""
    gains = np.full(6, BAUMGARTE)
    gains[[k for k, is_free in (free or {}).items() if is_free]] = 0.0
    return np.r_[np.asarray(pose)[:3, :3].ravel(), np.asarray(pose)[:3, 3], gains]
