"""Bipeds drawn at random, as URDF: sizes, proportions, masses, order and sign of joints, heading, names, arms."""

from __future__ import annotations

import numpy as np

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_HIPS = {"y": ("z", (-0.9, 0.9)), "r": ("x", (-0.6, 0.6)), "p": ("y", (-2.0, 0.9))}


def random_biped(seed: int) -> str:
    """The text of a URDF file.

    Args:
        seed: Of all numbers.
    """
    draw = np.random.default_rng(seed)
    size, sign, yaw = draw.uniform(0.5, 1.6), draw.choice([-1.0, 1.0]), float(draw.choice([0.0, 0.5, 1.0])) * np.pi
    leg, mass, share = draw.uniform(0.57, 0.8) * size, draw.uniform(35.0, 75.0) * size**3, draw.uniform(0.25, 0.6)
    thigh, behind = draw.uniform(0.42, 0.58) * leg, draw.uniform(-0.03, 0.03) * size
    shin = leg - thigh
    foot = np.array([draw.uniform(0.16, 0.28), draw.uniform(0.07, 0.13), 0.02]) * size
    ankle, ahead, torso = draw.uniform(0.04, 0.1) * size, draw.uniform(0.0, 0.25), draw.uniform(0.35, 0.6) * size
    apart = max(draw.uniform(0.12, 0.26) * size, 1.1 * foot[1] + 0.01)
    order, sides = str(draw.choice(["yrp", "pry", "rpy", "ryp"])), [("left_", "right_"), ("L", "R")][draw.integers(2)]
    has_arms, effort = draw.random() < 0.6, draw.uniform(1.0, 2.5) * mass * 9.81 * leg
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    lines = ['<robot name="biped">']

    def words(vector) -> str:
        return " ".join(f"{x:.9g}" for x in turn @ np.asarray(vector, dtype=float))

    def link(name, weight, box, at, touches=True):
        x, y, z = np.square(box)
        origin = f'<origin xyz="{words(at)}" rpy="0 0 {yaw}"/>'
        moments = f'ixx="{weight * (y + z) / 12}" iyy="{weight * (x + z) / 12}" izz="{weight * (x + y) / 12}"'
        inertia = f'<mass value="{weight}"/><inertia {moments} ixy="0" ixz="0" iyz="0"/>'
        shape = f'{origin}<geometry><box size="{box[0]} {box[1]} {box[2]}"/></geometry>'
        hull = f"<collision>{shape}</collision>" if touches else ""
        lines.append(f'<link name="{name}"><inertial>{origin}{inertia}</inertial>{hull}</link>')

    def joint(name, parent, child, at, axis, limits, torque):
        low, high = sorted(sign * np.array(limits))
        lines.append(
            f'<joint name="{name}" type="revolute"><origin xyz="{words(at)}"/><parent link="{parent}"/>'
            f'<child link="{child}"/><axis xyz="{words(sign * np.array(_AXES[axis]))}"/>'
            f'<limit lower="{low}" upper="{high}" effort="{torque}" velocity="12"/></joint>'
        )

    part, trunk = 0.5 * share * mass, (1.0 - share) * mass
    arm = 0.12 * trunk if has_arms else 0.0
    link("pelvis", trunk - 2.0 * arm, (0.18 * size, apart + 0.08 * size, torso), (0.0, 0.0, 0.5 * torso))
    for side, left in zip(sides, (1.0, -1.0), strict=True):
        parent, at = "pelvis", (0.0, 0.5 * left * apart, -0.02 * size)
        for k, letter in enumerate(order):
            (axis, limits), name = _HIPS[letter], f"{side}hip_{letter}"
            long = k == 2
            box = (0.09 * size, 0.09 * size, 0.8 * thigh) if long else (0.03 * size,) * 3
            link(f"{name}_link", part * (0.45 if long else 0.07), box, (0, 0, -0.5 * thigh * long), long)
            joint(name, parent, f"{name}_link", at, axis, limits, effort)
            parent, at = f"{name}_link", (0.0, 0.0, 0.0)
        link(f"{side}shin", 0.25 * part, (0.07 * size, 0.07 * size, 0.8 * shin), (0.0, 0.0, -0.5 * shin))
        joint(f"{side}knee", parent, f"{side}shin", (behind, 0.0, -thigh), "y", (-0.05, 2.4), effort)
        link(f"{side}ankle", 0.04 * part, (0.02 * size,) * 3, (0.0, 0.0, 0.0), False)
        joint(f"{side}ankle_p", f"{side}shin", f"{side}ankle", (-behind, 0, -shin), "y", (-1.1, 0.9), 0.5 * effort)
        link(f"{side}foot", 0.12 * part, foot, (ahead * foot[0], 0.0, 0.01 * size - ankle))
        joint(f"{side}ankle_r", f"{side}ankle", f"{side}foot", (0, 0, 0), "x", (-0.5, 0.5), 0.3 * effort)
        if has_arms:
            link(f"{side}arm", arm, (0.06 * size, 0.06 * size, 0.4 * size), (0.0, 0.0, -0.25 * size))
            shoulder = (0.0, left * (0.5 * apart + 0.12 * size), 0.85 * torso)
            joint(f"{side}shoulder", "pelvis", f"{side}arm", shoulder, "y", (-3.0, 1.5), 0.15 * effort)
    return "\n".join([*lines, "</robot>"])
