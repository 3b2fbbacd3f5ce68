"""The records of an audit of a case, each made once; and functions of the audit, called with those that they take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts import Efforts, efforts_of
from surefoot.feasibility.layout import OtherReading, other_readings
from surefoot.feasibility.rates import Rates, rates_of
from surefoot.feasibility.touch import Touch, touch_of


class Stages:
    """What an audit computes of a case before it checks it."""

    def __init__(self, case: Case) -> None:
        self.case = case

    @cached_property
    def rates(self) -> Rates:
        return rates_of(self.case)

    @cached_property
    def readings(self) -> tuple[OtherReading, ...]:
        return other_readings(self.case, self.rates)

    @cached_property
    def touch(self) -> Touch:
        return touch_of(self.case, self.rates)

    @property
    def switches(self) -> np.ndarray:
        return self.touch.switches(self.case.time)

    @cached_property
    def efforts(self) -> Efforts:
        return efforts_of(self.case, self.rates, self.touch)

    @property
    def accelerations(self) -> np.ndarray:
        return self.efforts.demand.a


@lru_cache(maxsize=8)
def stages(case: Case) -> Stages:
    return Stages(case)


def judge(check: Callable[..., Any], case: Case, *others: Any) -> Any:
    """A function of the audit of a case: parameters that have the name of a record are that record."""
    names, rest = inspect.signature(check).parameters, iter(others)
    return check(
        *(getattr(stages(case), name) if hasattr(Stages, name) or name == "case" else next(rest) for name in names)
    )
