"""`LayeredWalk`: the planar biped walks at a commanded speed by layers of weighted rules (Busenhart 1994, 6.2)."""

from __future__ import annotations

from dataclasses import replace
from math import pi, sqrt

import numpy as np

from surefoot.arrays import Array
from surefoot.control.layered.walk_rules import (
    CONTACTS,
    FEET,
    Body,
    Feet,
    Forces,
    Phase,
    WalkWeights,
    body_of,
    detect,
    place_feet,
    share,
)
from surefoot.errors import NotSupportedError
from surefoot.motion import Command
from surefoot.motion import State as Measured
from surefoot.redundant import Model, State, dynamics_system, load_model
from surefoot.redundant.equations import displace, rest_state
from surefoot.redundant.nodes import minimise, project_positions, project_velocities
from surefoot.robot import Robot

__all__ = ["LayeredWalk", "planar_state"]

_SIDES = ("right", "left")
_THIGHS, _FREE_LIMBS, _ARMS = (1, 4), (2, 5, 7, 8, 9, 10), (7, 8, 9, 10)
_NEGLECTED, _PULLS = 1e-19, -1.0  # weight; [N]
_FASTEST = 1e3  # predicted accelerations are cut here, as in a fall nothing else bounds them [m/s²], [rad/s²]
_SWING_KNEE = ((5.0, 10.0, 15.0, 20.0), (1e-10, 1e-6, 1e-8, 1e-4))  # table 6.15, not monotone as printed


class LayeredWalk:
    """Information processing, coordination, execution, once a sample; a command is for the next sample.

    Args:
        robot: The planar robot `biped`.
        speed: Commanded [m/s].
        dt: Sample period [s].
        weights: What the source does not print.

    Raises:
        NotSupportedError: The robot is another one.
    """

    def __init__(self, robot: Robot, speed: float = 0.5, dt: float = 0.01, weights: WalkWeights | None = None) -> None:
        self.model: Model = load_model("planar-biped")
        drives = [drive.joint for drive in robot.drives]
        if robot.base != "planar" or drives != [a.name for a in self.model.actuators]:
            raise NotSupportedError(f"`{robot.name}` is not the planar biped", next_step="use the robot `biped`")
        self.speed, self.dt, self.weights = speed, dt, weights or WalkWeights()
        self.masses = np.array([body.mass for body in self.model.bodies])
        self.inertia = float(self.model.bodies[0].inertia[0])
        self.phase: Phase | None = None
        """Of the last sample."""
        self.steps = 0
        """Feet that landed."""
        self._torque: Array = np.zeros(len(drives))
        self._predicted: tuple[Array, Array, Array] | None = None

    def command(self, t: float, state: Measured) -> Command:
        """The command of the sample before; that of the next sample is computed.

        Args:
            t: Time [s].
            state: Measured.
        """
        torque = self._torque
        estimate = self._processed(np.array(state.q), np.array(state.v))
        body = body_of(self.model, estimate)
        wanted = np.ones(4) if self.phase is None else self.phase.wanted
        before = (1.0, 1.0) if self.phase is None else self.phase.down
        self.phase = detect(body, self.speed, wanted, self.weights.touch)
        self.steps += sum(now > then for now, then in zip(self.phase.down, before, strict=True))
        feet = place_feet(body, self.phase)
        forces = share(body, self.phase, self.speed, self.weights, self.masses, self.inertia)
        self._torque = self._executed(estimate, body, feet, forces, self.phase)
        return Command(torque=torque)

    def _processed(self, q: Array, v: Array) -> State:
        """Measured, extrapolated by one sample, projected onto the hinges."""
        dt, layout, now = self.dt, self.model.layout, planar_state(self.model, q, v)
        state = displace(layout, now, dt * now.turning, dt * now.velocities, dt * now.rates)
        if self._predicted is not None:
            turn, move, freedoms = self._predicted
            state = replace(state, turning=state.turning + dt * turn, velocities=state.velocities + dt * move,
                            rates=state.rates + dt * freedoms)  # fmt: skip
        return project_velocities(self.model, project_positions(self.model, state))

    def _executed(self, state: State, body: Body, feet: Feet, forces: Forces, phase: Phase) -> Array:
        """The dynamics node; contacts that would pull are released, and it is solved again."""
        layout, w = self.model.layout, self.weights
        places, names = layout.dynamics_places, layout.freedoms.names
        z_d, d0 = self._wishes(body, feet, forces, phase)
        system = dynamics_system(self.model, state)
        laws, first = len(system.b) - len(names), places["turns"].start
        at = [self._contact_places(name) for name in CONTACTS]
        active = (phase.touching * phase.wanted) > 0.0
        for _ in range(w.retests + 1):
            d, d1 = d0.copy(), np.ones(len(system.b))
            for (freedoms, force), holds, (fx, fy), wanted in zip(at, active, forces.contacts, phase.wanted,
                                                                  strict=True):  # fmt: skip
                if not holds:
                    continue
                z_d[force] = fx, fy
                d[force] = (np.interp(abs(fx) - w.friction * fy, (-50.0, 0.0), (1e-10, 1e-4)),
                            np.interp(fy, (1.0, 100.0, 200.0), (1e-4, 1e-8, 1e-10)))  # fmt: skip
                d[first + freedoms] = wanted * np.interp(fy, (2.0, 3.0, 400.0, 600.0), (0.1, 1.0, 1.0, 100.0))
                d1[laws + freedoms] = 0.0
            for side in _SIDES:  # a knee that runs into its stop
                k, (angle, rate) = names.index(f"{side}_knee"), body.joint[f"{side}_knee"]
                if angle <= layout.freedoms.lower[k] and rate < 0.0:
                    z_d[first + k], d[first + k], d1[laws + k] = -rate / self.dt, 1.0, 0.0
            z = minimise(self.model, "dynamics", system, z_d, d, d1, "dense")
            pulls = np.array([z[force[1]] < _PULLS for _, force in at]) & active
            if not pulls.any():
                break
            active &= ~pulls
        sane = np.clip(z, -_FASTEST, _FASTEST)
        self._predicted = layout.angular(sane[places["turn"]]), layout.linear(sane[places["move"]]), sane[first:]
        return z[places["u"]]

    def _contact_places(self, name: str) -> tuple[Array, Array]:
        """Freedoms of a contact's slides, and unknowns of its force."""
        layout = self.model.layout
        slides = [layout.freedoms.names.index(f"{name}_{axis}") for axis in "xy"]
        force = layout.dynamics_places["force"].start + 2 * layout.hinge_names.index(name)
        return np.array(slides), np.array([force, force + 1])

    def _wishes(self, body: Body, feet: Feet, forces: Forces, phase: Phase) -> tuple[Array, Array]:
        """Demanded accelerations and their weights (tables 6.13 to 6.15 and appendix G)."""
        places = self.model.layout.dynamics_places
        turn, move, ahead = places["turn"].start, places["move"].start, 1.0 if self.speed >= 0.0 else -1.0
        z_d, d0 = np.zeros(places["slides"].stop), np.zeros(places["slides"].stop)
        d0[places["u"]] = _NEGLECTED
        z_d[[turn, move, move + 1]] = forces.torso
        d0[turn] = 1e-4 * (phase.double + 1.0)
        d0[move] = self.weights.forward(self.speed) * (phase.double + 1.0)
        d0[move + 1] = 1e-5 * (sum(phase.down) + 1.0)
        z_d[turn + 1 : turn + 11], d0[turn + 1 : turn + 11] = -body.spin[1:], 1e-8
        d0[[turn + k for k in _ARMS]] = 1e-6
        for k in (*_FREE_LIMBS, *_THIGHS):
            d0[move + 2 * k : move + 2 * k + 2] = _NEGLECTED
        for side, (foot, thigh) in enumerate(zip(FEET, _THIGHS, strict=True)):
            z_d[turn + foot] -= body.angle[foot]
            gap, slow = feet.place[side] - body.X[foot], body.V[foot]
            along = float(np.clip(20.0 * gap[0] + 2.0 * sqrt(20.0) * (feet.rate[side] - slow[0]), -50.0, 50.0))
            lifted = 1.0 - float(phase.wanted[2 * side : 2 * side + 2].max())
            z_d[move + 2 * foot], d0[move + 2 * foot] = along, 1e-5 * lifted
            z_d[move + 2 * foot + 1] = 200.0 * gap[1] - 2.0 * sqrt(200.0) * slow[1]
            d0[move + 2 * foot + 1] = 1e-4 * lifted
            behind = ahead * (body.X[0, 0] - body.X[thigh, 0])
            z_d[move + 2 * thigh] = 0.3 * along
            d0[move + 2 * thigh] = 1e-5 * lifted * np.interp(behind, (0.0, 0.02, 0.07), (1e-10, 1.0, 2.0))
            for joint, (wish, weight) in _joint_wishes(body, _SIDES[side], phase.stepping[side]).items():
                k = places["turns"].start + self.model.layout.freedoms.names.index(joint)
                z_d[k], d0[k] = wish, weight
        return z_d, d0


def _joint_wishes(body: Body, side: str, swing: float) -> dict[str, tuple[float, float]]:
    """Demanded joint accelerations of one side, with weights: springs towards an angle."""

    def spring(joint: str, stiffness: float, to: float) -> float:
        angle, rate = body.joint[f"{side}_{joint}"]
        return stiffness * (to - angle) - 2.0 * sqrt(stiffness) * rate

    knee = spring("knee", 200.0 if swing > 0.0 else 50.0, pi / 18.0)
    return {
        f"{side}_hip": (spring("hip", 1.0, 0.0), _NEGLECTED),
        f"{side}_knee": (knee, swing * float(np.interp(knee, *_SWING_KNEE)) + 1e-6 * (1.0 - swing)),
        f"{side}_ankle": (spring("ankle", 50.0, -pi / 36.0), 1e-5 * swing + 1e-10 * (1.0 - swing)),
        f"{side}_shoulder": (spring("shoulder", 1.0, 0.0), 1e-9),
        f"{side}_elbow": (spring("elbow", 1.0, -pi / 18.0), 1e-9),
    }


def planar_state(model: Model, q: Array, v: Array) -> State:
    """The redundant state of a planar robot whose joints are the driven freedoms of the model.

    Args:
        model: Bodies in a tree of hinges of two links (an offset; a pin and an offset), the first body the base; hinges
            to the ground are contacts.
        q: (nq,) x, y, cos and sin of the base, joint angles in the order of the actuators.
        v: (nv,) base velocity in base axes, angular velocity, joint rates.
    """
    names = [body.name for body in model.bodies]
    joints = {a.name: k for k, a in enumerate(model.actuators)}
    angle, spin, X, V = np.zeros(len(names)), np.zeros(len(names)), np.zeros((len(names), 2)), np.zeros((len(names), 2))
    angle[0], spin[0], X[0], V[0] = np.arctan2(q[3], q[2]), v[2], q[:2], _turned(v[:2], np.arctan2(q[3], q[2]))
    values: dict[str, tuple[float, float]] = {}
    for hinge in model.hinges:
        tail, (first, last) = names.index(hinge.tail), hinge.links
        arm = _turned(np.array(first.offset), angle[tail])
        end, rate = X[tail] - arm, V[tail] - spin[tail] * _across(arm)
        if hinge.head in names:
            head, k = names.index(hinge.head), joints[hinge.name]
            angle[head], spin[head] = angle[tail] - q[4 + k], spin[tail] - v[3 + k]
            lever = _turned(np.array(last.offset), angle[head])
            X[head], V[head] = end - lever, rate - spin[head] * _across(lever)
            values[hinge.name] = q[4 + k], v[3 + k]
        else:
            values[f"{hinge.name}_turn"] = angle[tail], spin[tail]
            for axis, slide in enumerate(last.slides):
                values[slide.name] = end[axis] - last.offset[axis], rate[axis]
    freedoms = np.array([values[name] for name in model.layout.freedoms.names])
    state, turns = rest_state(model.layout), len(model.layout.links.pin_rows)
    spinors, turning = np.zeros((len(names), 4)), np.zeros((len(names), 3))
    spinors[:, 0], spinors[:, 3], turning[:, 2] = np.cos(0.5 * angle), np.sin(0.5 * angle), spin
    flat = np.zeros((len(names), 1))
    return replace(state, spinors=spinors, positions=np.hstack([X, flat]), angles=freedoms[:turns, 0],
                   slides=freedoms[turns:, 0], turning=turning, velocities=np.hstack([V, flat]),
                   rates=freedoms[:, 1])  # fmt: skip


def _turned(vector: Array, angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def _across(vector: Array) -> Array:
    return np.array([-vector[1], vector[0]])
