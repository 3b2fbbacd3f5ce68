"""The robots that are built by code: their table, and `build`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from surefoot.errors import ModelError, UnknownNameError, one_of
from surefoot.robot.assemble import Mimic
from surefoot.robot.robot import Robot
from surefoot.robot.zoo.benchmark_trees import MAX_COIL, MAX_DILL, coil, dill
from surefoot.robot.zoo.biped import biped
from surefoot.robot.zoo.harvester import harvester
from surefoot.robot.zoo.hexapod import hexapod
from surefoot.robot.zoo.humanoid import humanoid
from surefoot.robot.zoo.limbs import Plan
from surefoot.robot.zoo.lola import lola
from surefoot.robot.zoo.sliders import sliding_block, v_support
from surefoot.robot.zoo.small_humanoid import small_humanoid
from surefoot.robot.zoo.small_mechanisms import arm4, cartpole, pendulum

__all__ = ["BUILT", "Builder", "Number", "build"]


@dataclass(frozen=True)
class Number:
    """A number that a robot's name may carry, as 32 in `coil:32`.

    Args:
        symbol: What it is called, e.g. "n".
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
        """The number that a text says.

        Args:
            text: As written by the user.
            robot: The robot's name, for the message.

        Raises:
            ModelError: It is no such number, or out of range.
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
        number: The number that its name may carry, first after the name; None for none.
        flags: Words that its name may carry; each sets the argument of that name.
    """

    description: str
    plan: Callable[..., Plan]
    number: Number | None = None
    flags: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """What may follow the name, e.g. `[:n][:driven]`."""
        number = f"[:{self.number.symbol}]" if self.number else ""
        return number + "".join(f"[:{flag}]" for flag in self.flags)


BUILT: dict[str, Builder] = {
    "cartpole": Builder(
        "cart on a rail with a free pole, upright at 0 (Busenhart 1994)",
        cartpole,
        Number("force", "force", 1.0, 1000.0, False, "limit of the cart's drive in N; 20 if left out"),
    ),
    "pendulum": Builder("1 kg on a rod of 1 m, no drive (Buschmann 2014)", pendulum),
    "arm4": Builder("four hinges in the vertical plane, reach 1 m", arm4),
    "harvester": Builder("harvesting arm: a lift and eight hinges (after Buschmann 2014)", harvester),
    "coil": Builder(
        "chain of n equal bodies, to measure algorithms (Buschmann 2014)",
        coil,
        Number("n", "n", 1, MAX_COIL, True, "number of bodies; 8 if left out"),
        ("driven",),
    ),
    "dill": Builder(
        "binomial tree of 2^L bodies, to measure algorithms (Buschmann 2014)",
        dill,
        Number("L", "levels", 0, MAX_DILL, True, "number of levels; 5 if left out"),
        ("driven",),
    ),
    "block": Builder(
        "box of 0.2 x 0.2 x 0.1 m without drives, to drop and to slide",
        sliding_block,
        Number("mass", "mass", 0.01, 1000.0, False, "in kg; 2 if left out"),
    ),
    "v-support": Builder(
        "two feet that a drive pushes apart, for a V-shaped support (Nenchev & Konno 2019)",
        v_support,
        Number("angle", "angle", 0.0, 60.0, False, "slope of the support in degrees; 30 if left out"),
    ),
    "biped": Builder("walker in the sagittal plane: 11 bodies, 87.6 kg (Busenhart 1994)", biped),
    "hexapod": Builder("six legs of three servos, 2.2 kg (after Wimmer 2016)", hexapod),
    "small-humanoid": Builder(
        "0.5 m, 7 kg, arms of four or seven joints, soles of four or eight points (after Nenchev & Konno 2019)",
        small_humanoid,
        flags=("arms7", "soles"),
    ),
    "humanoid": Builder(
        "1.58 m, 58 kg, 30 joints, with rigid or elastic ankles (after Koch)", humanoid, flags=("elastic-ankle",)
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
    """The arguments of the builder that the parameters stand for."""
    out: dict[str, int | float | bool] = {}
    if builder.number and parameters and parameters[0] not in builder.flags:
        out[builder.number.keyword] = builder.number.read(parameters[0], name)
        parameters = parameters[1:]
    for text in parameters:
        keyword = text.replace("-", "_")
        if text not in builder.flags or keyword in out:
            raise _wrong_parameter(name, builder, text)
        out[keyword] = True
    return out


def _wrong_parameter(name: str, builder: Builder, text: str) -> UnknownNameError:
    usage = f"`{name}{builder.usage}`" if builder.usage else f"`{name}` alone: it takes no parameter"
    return UnknownNameError(f"`{name}` has no parameter `{text}`, or has it only once", next_step=f"write {usage}")
