"""The compiled parts of predictive inverse kinematics: a step forward, its linearisation, a step of the costate.

One step of length h is explicit Euler's, and the costate is the exact adjoint of it, so that the gradient is that of
the discrete cost to rounding:

    q_{k+1} = q_k + h f(q_k, u_k),   Φ = h Σ φ(q_k, u_k)        [ik.predictive-steps]
    λ_k = λ_{k+1} + h (φ_q + f_qᵀ λ_{k+1}),   g_k = φ_u + Nᵀ λ_{k+1},   λ_n = 0
    Buschmann 2014, (5.112)–(5.119), A.5; φ_q = 2 w_v f_qᵀ q' + …, φ_u = 2 w_v N q' (A.56), (A.57)

Forward steps go one after the other, but several trial inputs u + α s run side by side in the lanes of the CPU. The
linearisations of all steps are one batch. Only the costate, a small matrix product per step, is sequential again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from surefoot import ops
from surefoot.codegen import Kernel
from surefoot.codegen.repeated import Repeated
from surefoot.compiler import compile_robot
from surefoot.ik.predictive.cost import LimitBand, Repulsion, state_cost
from surefoot.ik.predictive.motion import TaskRows, motion_by_posture, null_space_motion
from surefoot.kinematics import volume_distance
from surefoot.ops import Array
from surefoot.robot import Robot, Tree


@dataclass(frozen=True, eq=False)
class SelfMotionModel:
    """All that is compiled in: the task, the volumes and the limits. Functions over `surefoot.ops`.

    Args:
        tree: The tree; its joints turn or slide.
        task: The task.
        repulsion: What keeps clear of what.
        band: Bands in front of the limits.
    """

    tree: Tree
    task: TaskRows
    repulsion: Repulsion
    band: LimitBand

    def advance(
        self,
        q: Array,
        cost: Array,
        u: Array,
        direction: Array,
        size: Array,
        pose: Array,
        twist: Array,
        obstacles: Array,
        weights: Array,
        h: Array,
    ) -> tuple[Array, Array]:
        """One step with the input u + size · direction: the next posture and the cost so far.

        Args:
            q: (n,) posture.
            cost: (1,) cost so far.
            u: (n,) null-space velocity.
            direction: (n,) in which it is tried to be better.
            size: (1,) how far.
            pose: (4, 4) wanted T_world_frame.
            twist: (6,) its rate.
            obstacles: (k, 3) vertices of the obstacles [m].
            weights: (3,) of speed, collision and limits.
            h: (1,) length of the step [s].
        """
        motion = null_space_motion(self.tree, self.task, q, u + size[0] * direction, pose, twist)
        at_rest = state_cost(self.tree, self.repulsion, self.band, q, obstacles, weights)
        speed = weights[0] * (motion.rate @ motion.rate)
        return q + h[0] * motion.rate, cost + h[0] * (speed + at_rest.value)

    def linearise(
        self, q: Array, u: Array, pose: Array, twist: Array, obstacles: Array, weights: Array
    ) -> tuple[Array, Array, Array, Array]:
        """f_q (n, n), N (n, n), φ_q (n,) and φ_u (n,).

        Args:
            q: (n,) posture.
            u: (n,) null-space velocity.
            pose: (4, 4) wanted T_world_frame.
            twist: (6,) its rate.
            obstacles: (k, 3) vertices of the obstacles [m].
            weights: (3,) of speed, collision and limits.
        """
        motion = null_space_motion(self.tree, self.task, q, u, pose, twist)
        slope = motion_by_posture(self.tree, self.task, q, motion)
        at_rest = state_cost(self.tree, self.repulsion, self.band, q, obstacles, weights)
        by_rate = 2.0 * weights[0] * motion.rate
        return slope, motion.projector, slope.T @ by_rate + at_rest.gradient, motion.projector @ by_rate

    def follow_gradient(self, q: Array, pose: Array, twist: Array, obstacles: Array, weights: Array) -> Array:
        """Joint velocities q' (n,) of the local method: the null-space velocity is minus the gradient of the cost.

        q' = J# w'_e − N ∇H / w_v        Liégeois 1977; Buschmann 2014, (5.14)

        Args:
            q: (n,) posture.
            pose: (4, 4) wanted T_world_frame.
            twist: (6,) its rate.
            obstacles: (k, 3) vertices of the obstacles [m].
            weights: (3,) of speed, collision and limits.
        """
        u = -state_cost(self.tree, self.repulsion, self.band, q, obstacles, weights).gradient / weights[0]
        return null_space_motion(self.tree, self.task, q, u, pose, twist).rate

    def distances(self, q: Array, obstacles: Array) -> Array:
        """Distances of all pairs (pairs,) [m].

        Args:
            q: (n,) posture.
            obstacles: (k, 3) vertices of the obstacles [m].
        """
        pairs = self.repulsion.with_obstacles(obstacles)
        return ops.array([volume_distance(self.tree, q, a, b).distance for a, b in pairs])


def step_costate(
    costate: Array, slope: Array, projector: Array, by_q: Array, by_u: Array, h: Array
) -> tuple[Array, Array]:
    """λ one step earlier (n,) and the gradient by u in that step (n,).   [ik.predictive-steps].

    Args:
        costate: λ (n,) at the end of the step.
        slope: f_q (n, n).
        projector: N (n, n).
        by_q: φ_q (n,).
        by_u: φ_u (n,).
        h: (1,) length of the step [s].
    """
    return costate + h[0] * (by_q + slope.T @ costate), by_u + projector.T @ costate


@dataclass(frozen=True, eq=False)
class PredictiveKernels:
    """Compiled for one robot and one `SelfMotionModel`.

    Args:
        model: What is compiled in.
        forward: `SelfMotionModel.advance` through time; records postures.
        linearise: `SelfMotionModel.linearise`.
        backward: `step_costate` through time, last step first; records gradients.
        local: `SelfMotionModel.follow_gradient`.
        distances: `SelfMotionModel.distances`.
    """

    model: SelfMotionModel
    forward: Repeated
    linearise: Kernel
    backward: Repeated
    local: Kernel
    distances: Kernel


def predictive_kernels(robot: Robot, model: SelfMotionModel) -> PredictiveKernels:
    """Kernels of a robot; each is built when it is first called."""
    n = robot.nv
    common = {
        "pose": (4, 4),
        "twist": (6,),
        "obstacles": (len(model.repulsion.obstacle_vertices()), 3),
        "weights": (3,),
    }
    state = {"q": (n,), "u": (n,), **common}
    forward = {**state, "cost": (1,), "direction": (n,), "size": (1,), "h": (1,)}
    matrices = {"costate": (n,), "slope": (n, n), "projector": (n, n), "by_q": (n,), "by_u": (n,), "h": (1,)}
    functions: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "advance": (model.advance, forward),
        "linearise": (model.linearise, state),
        "step_costate": (step_costate, matrices),
        "follow_gradient": (model.follow_gradient, state),
        "distances": (model.distances, state),
    }
    k = compile_robot(robot, functions=functions)
    timed = ("u", "direction", "pose", "twist", "obstacles")
    return PredictiveKernels(
        model=model,
        forward=Repeated(k.advance, feedback={"q": 0, "cost": 1}, timed=timed, record=(0,)),
        linearise=k.linearise,
        backward=Repeated(
            k.step_costate, feedback={"costate": 0}, timed=("slope", "projector", "by_q", "by_u"), record=(1,)
        ),
        local=k.follow_gradient,
        distances=k.distances,
    )
