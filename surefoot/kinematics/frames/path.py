"""The way through the tree from one frame to another: which joints lie on it, their axes and lever arms.

Only the joints between the two frames are looked at, from the body on which both branches hang; so nothing depends on
where the root is, or on joints that move both frames alike. A joint with axis e and lever arm r to the second frame
moves that one by (e × r, e) (Nenchev & Konno 2019, section 2.4.2).   [kin.path]

What the velocities alone do to the relative acceleration of two frames: J̇ v of `relative_jacobian`.   [kin.bias].

One walk along the path from the first frame to the second. With ω_i, U_i the twist of body i as an observer on the
first frame sees it (taken at the second frame's origin), e_i the angular and s_i the sliding rate of its joint, and r_i
the way from the body to that origin, every joint adds (its axes are fixed in its body)

    ± ( ω_i × s_i + (ω_i × e_i) × r_i + e_i × (U - U_i + ω_i × r_i) ;  ω_i × e_i )

the derivative of its column of J, times its rate. Joints that move both frames alike do not enter.
"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot import ops
from surefoot.errors import ShapeError
from surefoot.kinematics.fk import JOINT_PLACEMENTS
from surefoot.kinematics.frames.frame import Frame
from surefoot.kinematics.recursion import bodies, dof_rows, joint_subspace, run
from surefoot.ops import Array
from surefoot.robot import Tree


@dataclass(frozen=True, eq=False)
class Path:
    """The bodies between two frames, and their placements in their parents.

    Args:
        inward: Bodies from the first frame's up to where the branches meet, without the one there.
        outward: Bodies from there to the second frame's.
        parents: Of these bodies, by body; −1 is the world.
        placements: R_parent_body (3, 3) and the origin in the parent (3,), m, by body.
    """

    inward: tuple[int, ...]
    outward: tuple[int, ...]
    parents: dict[int, int]
    placements: dict[int, tuple[Array, Array]]

    def reversed(self) -> Path:
        """The way back."""
        return Path(self.outward[::-1], self.inward[::-1], self.parents, self.placements)

    def axes(self, first: Frame) -> dict[int, Array]:
        """R_first_body (3, 3) of every body on the path, by body."""
        axes = {first.body: first.R.T}
        for i in self.inward:
            axes[self.parents[i]] = axes[i] @ self.placements[i][0].T
        for i in self.outward:
            axes[i] = axes[self.parents[i]] @ self.placements[i][0]
        return axes

    def levers(self, second: Frame) -> dict[int, Array]:
        """The origin of the second frame in every body on the path (3,), m, in the axes of that body, by body."""
        levers = {second.body: second.p}
        for i in reversed(self.outward):
            R, p = self.placements[i]
            levers[self.parents[i]] = p + R @ levers[i]
        for i in reversed(self.inward):
            R, p = self.placements[i]
            levers[i] = R.T @ (levers[self.parents[i]] - p)
        return levers


def chain(tree: Tree, body: int) -> list[int]:
    """Bodies from a root to this one; none for the world.

    Raises:
        ShapeError: The tree has no such body.
    """
    if not -1 <= body < tree.n:
        raise ShapeError(f"the tree has no body {body}", evidence={"bodies": tree.n})
    return [] if body < 0 else [*reversed(tree.ancestors(body)), body]


def path_between(tree: Tree, first: Frame, second: Frame, q: Array) -> Path:
    """The path from one frame to another.

    Args:
        tree: The tree.
        first: Where it starts.
        second: Where it ends.
        q: (nq,) configuration.
    """
    to_first, to_second = chain(tree, first.body), chain(tree, second.body)
    shared = set(to_first) & set(to_second)
    inward = tuple(i for i in reversed(to_first) if i not in shared)
    outward = tuple(i for i in to_second if i not in shared)
    on_it = sorted((*inward, *outward))
    fields, _ = run(JOINT_PLACEMENTS, tree, {"q": q}, only=on_it)
    parents = {i: int(tree.parents[i]) for i in on_it}
    return Path(inward, outward, parents, {i: (fields[i]["R"], fields[i]["p"]) for i in on_it})


def relative_bias(tree: Tree, first: Frame, second: Frame, q: Array, v: Array) -> Array:
    """J̇ v (6,), m/s² and rad/s², of `relative_jacobian(…, "local_world_aligned")`, in the axes of the first frame.

    Args:
        tree: The tree.
        first: The frame of the observer.
        second: The frame that is looked at.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    path = path_between(tree, first, second, q)
    axes, levers = path.axes(first), path.levers(second)
    seen, total = [], ops.zeros(6, like=[q, v])
    for sign, branch in ((-1.0, path.inward), (1.0, path.outward)):
        for i in branch:
            S, rates = joint_subspace(bodies(tree)[i]), v[dof_rows(tree, i)]
            turn, slide, arm = axes[i] @ (S[3:] @ rates), axes[i] @ (S[:3] @ rates), axes[i] @ levers[i]
            before, total = total, total + sign * ops.concatenate([slide + ops.cross(turn, arm), turn])
            seen.append((sign, turn, slide, arm, total if sign > 0.0 else before))
    out = ops.zeros(6, like=[q, v])
    for sign, turn, slide, arm, body in seen:
        alpha = ops.cross(body[3:], turn)
        arm_rate = total[:3] - body[:3] + ops.cross(body[3:], arm)
        linear = ops.cross(body[3:], slide) + ops.cross(alpha, arm) + ops.cross(turn, arm_rate)
        out = out + sign * ops.concatenate([linear, alpha])
    return out
