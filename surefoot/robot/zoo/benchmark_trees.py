"""Coil and Dill: a chain and a binomial tree of any size, to measure algorithms with; also with geared rotors.

Buschmann 2014, section 2.4. The inertias are not stated there: they are our choice. The shapes are only to look at, so
that neighbours that overlap do not touch in a simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from surefoot.errors import ModelError
from surefoot.robot.build import Parts
from surefoot.robot.model import Coupling, DHRow, Drive, Joint, Link, dh_links, placement
from surefoot.robot.zoo.limbs import Plan
from surefoot.robot.zoo.solids import drum, link_of, mass_properties, shapes_of
from surefoot.spatial import so3

_GEAR_RATIO = 50.0  # motor turns per joint turn: our choice, usual for harmonic drives
MAX_COIL = 1000  # bodies without rotors
MAX_DILL = 9  # levels: 512 bodies without rotors
_DILL_LENGTH = 0.1  # m, length of Dill(0)
_DILL_DENSITY = 2.0  # kg/m along the axis: our choice
_DILL_RADIUS = 0.01  # m: our choice
_ROTOR_SHARE = 0.1  # mass of a rotor per mass of its link: our choice


def coil(n: int = 8, driven: bool = False) -> Plan:
    """A coil: a chain of n equal bodies with d = 0, a = 1/n, α = 5π/n, on the world.

    Each body is a cylinder along its x, 1/n long and 0.2/n thick, of 1/n kg (our choice: 1 kg in all).

    Args:
        n: Number of bodies, 1 to 1000.
        driven: Add a rotor to every body (see `_driven`).

    Raises:
        ModelError: n is out of range.
    """
    if not 1 <= n <= MAX_COIL:
        raise ModelError(f"a coil of {n} bodies cannot be built", next_step=f"give n from 1 to {MAX_COIL}")
    length = 1.0 / n
    solid = drum(length, 0.1 * length, (0.0, 0.0, 0.0), (length, 0.0, 0.0), touches=False)
    mass, com, inertia = mass_properties([solid])
    rows = [
        DHRow(length, 5.0 * np.pi / n, mass=mass, com=com, inertia=inertia, visuals=shapes_of(f"body{i}", [solid])[1])
        for i in range(1, n + 1)
    ]
    return _plan(f"coil-{n}", dh_links(rows), driven, 0.1 * length)


def dill(levels: int = 5, driven: bool = False) -> Plan:
    """A dill: a binomial tree of 2^L hinges about z.

    Dill(0) is one cylinder of 0.1 m. Dill(L) is a root body that carries Dill(0) … Dill(L − 1); the i-th of them
    (i = 1 … L) is displaced by 0.1 i m along x and turned by i π/3 about x. The root of Dill(L) is 0.1 L m long, so
    that it reaches all that it carries (our reading of a garbled print: number of subtrees, shift and scaling).
    C(L, i) bodies have i ancestors.

    Args:
        levels: L, 0 to 9.
        driven: Add a rotor to every body (see `_driven`).

    Raises:
        ModelError: L is out of range.
    """
    if not 0 <= levels <= MAX_DILL:
        raise ModelError(f"a dill of {levels} levels cannot be built", next_step=f"give L from 0 to {MAX_DILL}")
    links: list[Link] = []
    _grow(links, levels, None, placement())
    return _plan(f"dill-{levels}", links, driven, _DILL_RADIUS)


def _grow(links: list[Link], levels: int, parent: str | None, T_parent_root: np.ndarray) -> None:
    """Append Dill(levels), depth first."""
    number = len(links) + 1
    length = _DILL_LENGTH * max(levels, 1)
    stem = drum(_DILL_DENSITY * length, _DILL_RADIUS, (0.0, 0.0, 0.0), (length, 0.0, 0.0), touches=False)
    joint = Joint(f"joint{number}", "revolute", T_parent_root)
    links.append(link := link_of(f"body{number}", parent, joint, [stem]))
    for i in range(1, levels + 1):
        turned = so3.exp([i * np.pi / 3.0, 0.0, 0.0])
        _grow(links, i - 1, link.name, placement((_DILL_LENGTH * i, 0.0, 0.0), turned))


def _plan(name: str, links: Sequence[Link], driven: bool, rotor_radius: float) -> Plan:
    if not driven:
        return Plan(name, tuple(links))
    rotors, couplings = _driven(links, rotor_radius)
    drives = tuple(Drive(coupling.source) for coupling in couplings)
    return Plan(f"{name}-driven", (*links, *rotors), "fixed", Parts(couplings=couplings, drives=drives))


def _driven(links: Sequence[Link], radius: float) -> tuple[list[Link], tuple[Coupling, ...]]:
    """A rotor for each link, on the link's parent and axis, that turns `_GEAR_RATIO` times as fast (a rigid gear).

    The inertia of the rotors is that of these bodies; the drives act on the links' joints and carry no further inertia.
    Buschmann 2014, section 3.4.2: one drive body per body, tied by the gear.   [loops.gear]
    """
    rotors, couplings = [], []
    for link in links:
        if link.joint is None:
            raise ModelError(f"link `{link.name}` has no joint that a rotor could drive")
        driven = link.joint
        name = link.name.replace("body", "rotor")
        joint = replace(driven, name=f"{name}_joint")
        disc = drum(
            _ROTOR_SHARE * link.mass, radius, (0.0, 0.0, -0.5 * radius), (0.0, 0.0, 0.5 * radius), touches=False
        )
        rotors.append(link_of(name, link.parent, joint, [disc]))
        couplings.append(Coupling(joint.name, driven.name, _GEAR_RATIO))
    return rotors, tuple(couplings)
