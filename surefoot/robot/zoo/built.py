"""The robots that are built by code: their table, and `build`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from surefoot.errors import ModelError, UnknownNameError, one_of
from surefoot.robot.build import Mimic
from surefoot.robot.model import Robot
from surefoot.robot.zoo.benchmark_trees import MAX_COIL, MAX_DILL, coil, dill
from surefoot.robot.zoo.biped import biped
from surefoot.robot.zoo.harvester import harvester
from surefoot.robot.zoo.hexapod import hexapod
from surefoot.robot.zoo.humanoid import humanoid
from surefoot.robot.zoo.limbs import Plan
from surefoot.robot.zoo.lola import lola
from surefoot.robot.zoo.loop_mechanisms import crank, delta, four_bar
from surefoot.robot.zoo.small_humanoid import small_humanoid
from surefoot.robot.zoo.small_mechanisms import arm4, cartpole, pendulum, sliding_block, v_support


@dataclass(frozen=True)
class Number:
    """A number that a robot's name may carry, as 32 in `coil:32`.

    Args:
        symbol: Its name, e.g. "n".
        keyword: The argument of the builder that takes it.
        lower: Smallest value.
        upper: Largest value.
        whole: Whether it counts something.
        meaning: One phrase with the unit.
    """

    symbol: str
    keyword: str
    lower: float
    upper: float
    whole: bool
    meaning: str

    def read(self, text: str, robot: str) -> int | float:
        """Read the number from a text.

        Args:
            text: As written by the user.
            robot: The robot's name, for the message.

        Raises:
            ModelError: It is not such a number, or out of range.
        """
        pattern = r"[0-9]+" if self.whole else r"[0-9]+(\.[0-9]*)?"
        value = float(text) if re.fullmatch(pattern, text) else None
        if value is None or not self.lower <= value <= self.upper:
            kind = "a whole number" if self.whole else "a number"
            raise ModelError(
                f"`{robot}:{text}`: {self.symbol} ({self.meaning}) cannot be `{text}`",
                next_step=f"give {kind} from {self.lower:g} to {self.upper:g}, e.g. `{robot}:{self.upper:g}`",
            )
        return int(value) if self.whole else value


@dataclass(frozen=True)
class Builder:
    """How to build a robot.

    Args:
        description: One line.
        plan: The function that makes it.
        numbers: The numbers that its name may carry, in this order, first after the name; each may be omitted with
            those after it.
        flags: Words that its name may carry; each sets the argument of that name.
    """

    description: str
    plan: Callable[..., Plan]
    numbers: tuple[Number, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """What may follow the name, e.g. `[:n][:driven]`."""
        return "".join(f"[:{word}]" for word in (*(number.symbol for number in self.numbers), *self.flags))


BUILT: dict[str, Builder] = {
    "cartpole": Builder(
        "cart on a rail with a free pole, upright at 0 (Busenhart 1994)",
        cartpole,
        (Number("force", "force", 1.0, 1000.0, False, "limit of the cart's drive in N; 20 by default"),),
        ("bearing",),
    ),
    "pendulum": Builder(
        "1 kg on a rod of 1 m, no drive; by its angle, or flying and tied (Buschmann 2014)", pendulum, flags=("tied",)
    ),
    "arm4": Builder("four hinges in the vertical plane, reach 1 m", arm4),
    "harvester": Builder("harvesting arm: a lift and eight hinges (after Buschmann 2014)", harvester),
    "coil": Builder(
        "chain of n equal bodies, to measure algorithms (Buschmann 2014)",
        coil,
        (Number("n", "n", 1, MAX_COIL, True, "number of bodies; 8 by default"),),
        ("driven",),
    ),
    "dill": Builder(
        "binomial tree of 2^L bodies, to measure algorithms (Buschmann 2014)",
        dill,
        (Number("L", "levels", 0, MAX_DILL, True, "number of levels; 5 by default"),),
        ("driven",),
    ),
    "block": Builder(
        "box of 0.2 x 0.2 x 0.1 m without drives, to drop and to slide",
        sliding_block,
        (Number("mass", "mass", 0.01, 1000.0, False, "in kg; 2 by default"),),
    ),
    "v-support": Builder(
        "two feet that a drive pushes apart, for a V-shaped support (Nenchev & Konno 2019)",
        v_support,
        (Number("angle", "angle", 0.0, 60.0, False, "slope of the support in degrees; 30 by default"),),
    ),
    "four-bar": Builder(
        "crank, coupler and rocker: one closed chain, the crank driven",
        four_bar,
        (
            Number("ground", "ground", 0.01, 100.0, False, "distance of the joints on the world in m; 1 by default"),
            Number("crank", "crank", 0.01, 100.0, False, "length in m; 0.4 by default"),
            Number("coupler", "coupler", 0.01, 100.0, False, "length in m; 1.1 by default"),
            Number("rocker", "rocker", 0.01, 100.0, False, "length in m; 0.8 by default"),
        ),
        ("hinge",),
    ),
    "crank": Builder(
        "hinge driven by a series-elastic spindle: one closed chain (after Koch)",
        crank,
        (
            Number("l1", "l1", 0.0, 10.0, False, "offset of the nut along the upper limb in m; 0.3 by default"),
            Number("r1", "r1", 0.0, 10.0, False, "offset of the nut across it in m; 0.05 by default"),
            Number("l2", "l2", 0.0, 10.0, False, "offset of the spindle along the shank in m; 0.06 by default"),
            Number("r2", "r2", 0.0, 10.0, False, "offset of the spindle across it in m; 0.02 by default"),
        ),
    ),
    "delta": Builder(
        "parallel robot: three driven arms, three closed chains, a platform that translates (after Clavel 1988)",
        delta,
        (
            Number("base", "base", 0.01, 10.0, False, "middle to the axes of the arms in m; 0.12 by default"),
            Number("arm", "arm", 0.01, 10.0, False, "length of an upper arm in m; 0.2 by default"),
            Number("forearm", "forearm", 0.01, 10.0, False, "length of a forearm in m; 0.45 by default"),
            Number("platform", "platform", 0.01, 10.0, False, "middle to the forearms in m; 0.05 by default"),
        ),
    ),
    "biped": Builder("walker in the sagittal plane: 11 bodies, 87.6 kg (Busenhart 1994)", biped),
    "hexapod": Builder("six legs of three servos, 2.2 kg (after Wimmer 2016)", hexapod),
    "small-humanoid": Builder(
        "0.5 m, 7 kg, arms of four or seven joints, soles of four or eight points (after Nenchev & Konno 2019)",
        small_humanoid,
        flags=("arms7", "soles"),
    ),
    "humanoid": Builder(
        "1.58 m, 58 kg, 30 joints, with rigid or elastic ankles (after Koch)",
        humanoid,
        flags=("elastic-ankle", "vertical", "bushings"),
    ),
    "lola": Builder(
        "1.8 m, 60 kg, 24 geared drives, rigid or elastic (after Buschmann 2014)", lola, flags=("elastic",)
    ),
}


def build(name: str, parameters: Sequence[str] = (), base: str = "auto", mimic: Mimic = "coupling") -> Robot:
    """A robot of the table `BUILT`.

    Args:
        name: Its name, e.g. "coil".
        parameters: What follows the name after colons, e.g. ["32", "driven"].
        base: "auto" for its own base; a legged robot may also be held ("fixed") or put on a table ("planar").
        mimic: What to do with couplings (geared rotors): "coupling", "reduce" or "free", as in `surefoot.load`.

    Raises:
        UnknownNameError: There is no such robot, or it has no such parameter.
        ModelError: A number is out of range.
        NotSupportedError: The robot has a joint on the world and keeps its own base.
    """
    if name not in BUILT:
        raise one_of("built robot", name, BUILT)
    builder = BUILT[name]
    return builder.plan(**_arguments(name, builder, list(parameters))).robot(base, mimic)


def _arguments(name: str, builder: Builder, parameters: list[str]) -> dict[str, int | float | bool]:
    """The arguments of the builder that the parameters denote."""
    out: dict[str, int | float | bool] = {}
    given = list(takewhile(lambda text: text not in builder.flags, parameters))[: len(builder.numbers)]
    for number, text in zip(builder.numbers, given, strict=False):
        out[number.keyword] = number.read(text, name)
    for text in parameters[len(given) :]:
        keyword = text.replace("-", "_")
        if text not in builder.flags or keyword in out:
            usage = f"`{name}{builder.usage}`" if builder.usage else f"`{name}` alone: it takes no parameter"
            raise UnknownNameError(
                f"`{name}` has no parameter `{text}`, or has it only once", next_step=f"write {usage}"
            )
        out[keyword] = True
    return out
