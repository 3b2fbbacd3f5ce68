"""`AuditResult`: the result of an audit of a motion: margins over time, findings, replay."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from surefoot.arrays import Array
from surefoot.files import write_text
from surefoot.motion.stance import ContactSchedule

Severity = Literal["defect", "remark"]
Status = Literal["passed", "failed", "remark", "skipped"]
_MOST_GROUPS = 12
_MOST_NAMES = 3
_TINY = 1e-9  # margins and violations that are none


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with a motion, located in time and on the robot.

    Args:
        item: Name of the item (`feasibility.items`), such as "joint_torque".
        stage: Stage of the item, such as "limits".
        severity: "defect" fails the audit; a "remark" does not.
        where: The joint, contact or pair of links; "" for the whole robot.
        start: First time [s].
        end: Last time [s].
        time: When it is worst [s].
        value: The value then.
        limit: The limit that applies.
        unit: Of value and limit.
        violation: How far value is beyond limit, ≥ 0 [unit].
        message: One sentence for people.
        next_step: Advice; "" for none.
        why: What conflicts there, and what each member would have to yield; "" where that was not asked.
        covers: Later findings of the same interval and part of the robot, which follow from this one.
    """

    item: str
    stage: str
    severity: Severity
    where: str
    start: float
    end: float
    time: float
    value: float
    limit: float
    unit: str
    violation: float
    message: str
    next_step: str = ""
    why: str = ""
    covers: tuple[Finding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        plain = {key: value for key, value in vars(self).items() if key != "covers"}
        return {key: _plain(value) for key, value in plain.items()} | {"covers": [f.to_dict() for f in self.covers]}


@dataclass(frozen=True)
class FindingGroup:
    """Findings of one cause: the same item, on one part of the robot or on several.

    Args:
        findings: Worst first.
    """

    findings: tuple[Finding, ...]

    @property
    def worst(self) -> Finding:
        """The worst finding."""
        return self.findings[0]

    @property
    def parts(self) -> dict[str, int]:
        """Joints, contacts or pairs of links, with how many findings each has."""
        return dict(Counter(one.where for one in self.findings))

    @property
    def consequences(self) -> dict[str, int]:
        """Items that follow, with how many findings each has."""
        return dict(Counter(one.item for finding in self.findings for one in _following(finding)))

    @property
    def duration(self) -> float:
        """How long it lasts in all [s]."""
        total, reached = 0.0, -np.inf
        for start, end in sorted((one.start, one.end) for one in self.findings):
            total += max(0.0, end - max(start, reached))
            reached = max(reached, end)
        return total

    @property
    def message(self) -> str:
        """The worst finding in one sentence, and how many more there are."""
        more = len(self.findings) - 1
        if not more:
            return self.worst.message
        names = [name for name in self.parts if name and name != self.worst.where]
        listed = ", ".join(f"`{name}`" for name in names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
        return f"{self.worst.message}; {more} more, {round(self.duration, 3):.3g} s in all" + (
            f", also of {listed}" if names else ""
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without its findings."""
        return {
            "item": self.worst.item,
            "severity": self.worst.severity,
            "message": self.message,
            "count": len(self.findings),
            "duration_s": round(self.duration, 6),
            "parts": self.parts,
            "consequences": self.consequences,
        }


def _following(finding: Finding) -> Iterator[Finding]:
    """Findings that a finding explains, without its own parts."""
    for one in finding.covers:
        if one.item != finding.item:
            yield one
        yield from _following(one)


@dataclass(frozen=True, eq=False)
class AuditItem:
    """One named item: its margin over time, and where it is least.

    Args:
        name: Such as "joint_torque".
        stage: Such as "limits".
        title: For people.
        unit: Of margins, values and limits.
        status: "passed", "failed", "remark" or "skipped".
        note: Why it was skipped, or how it was computed.
        time: (m,) [s].
        margin: (m,) of the worst part at each time: negative where the limit is broken; NaN where not applicable.
        parts: Names of joints, contacts or pairs that were judged.
        worst_part: The part with the least margin, or "".
        worst_time: When [s]; NaN if there is none.
        value: The value there.
        limit: The limit there; infinite if there is none.
        is_bound: Whether the least margin is a lower bound: nothing is nearer, and how near it is was not measured.
        tolerance: By how much the limit may be broken where the margin is least: an item passes with a negative margin
            down to minus this.
    """

    name: str
    stage: str
    title: str
    unit: str
    status: Status
    note: str = ""
    time: Array = field(default_factory=lambda: np.zeros(0))
    margin: Array = field(default_factory=lambda: np.zeros(0))
    parts: tuple[str, ...] = ()
    worst_part: str = ""
    worst_time: float = np.nan
    value: float = np.nan
    limit: float = np.inf
    is_bound: bool = False
    tolerance: float = 0.0

    @property
    def margin_text(self) -> str:
        """The least margin for people; one that only a tolerance lets pass is called what it is."""
        least, unit = self.least_margin, "" if self.unit in ("", "1") else f" {self.unit}"
        if self.status == "skipped" or np.isnan(least):
            return ""
        if np.isinf(least):
            return "no limit"
        if self.status == "passed" and least < _TINY:
            return "ok" if least > -_TINY else f"off by {-least:.4g}{unit}, tolerance {self.tolerance:.4g}{unit}"
        return f"{'≥ ' if self.is_bound else ''}{least:.4g}{unit}"

    @property
    def least_margin(self) -> float:
        """The least margin over time; NaN if nothing was judged, infinite if nothing limits it."""
        known = self.margin[~np.isnan(self.margin)]
        return float(known.min()) if len(known) else np.nan

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without the margins over time."""
        names = ("name", "stage", "title", "unit", "status", "note", "worst_part", "worst_time", "value", "limit")
        numbers = {"margin": _plain(self.least_margin), "is_bound": self.is_bound, "tolerance": _plain(self.tolerance)}
        numbers |= {"margin_text": self.margin_text}
        return {key: _plain(getattr(self, key)) for key in names} | numbers


@dataclass(frozen=True, eq=False)
class Replay:
    """The motion in a physics engine, with joint feedback and its torques as feed-forward.

    Args:
        engine: Name of the engine.
        survived: Whether the robot stood until the end.
        until: How long it stood [s of the motion].
        time: (m,) [s].
        base_error: (m,) distance of the base from where the motion has it [m]; NaN for a fixed base.
        joint_error: (m,) largest joint error [rad] or [m].
        note: How it was done.
    """

    engine: str
    survived: bool
    until: float
    time: Array
    base_error: Array
    joint_error: Array
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without the errors over time."""
        return {
            "engine": self.engine,
            "survived": self.survived,
            "until_s": _plain(self.until),
            "base_error_m": _plain(float(np.nanmax(self.base_error))) if np.isfinite(self.base_error).any() else None,
            "joint_error": _plain(float(self.joint_error.max(initial=0.0))),
            "note": self.note,
        }


@dataclass(frozen=True, eq=False)
class AuditResult:
    """Everything that an audit found.

    Args:
        robot: Name of the robot.
        duration: Of the motion [s].
        samples: Of the motion.
        items: All items, in the order of the chain.
        findings: Top findings, worst first: defects by stage, then remarks.
        contacts: "given", "from forces" or "detected", and with which numbers.
        schedule: The contacts that were found or given; None for a robot without contacts.
        replay: The replay, or None.
        tolerances: All tolerances by name.
        seconds: Computing time by part of the audit [s].
        remarks: Remarks of the reader of the motion.
    """

    robot: str
    duration: float
    samples: int
    items: tuple[AuditItem, ...]
    findings: tuple[Finding, ...]
    contacts: str = ""
    schedule: ContactSchedule | None = None
    replay: Replay | None = None
    tolerances: Mapping[str, float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there is no defect."""
        return not any(finding.severity == "defect" for finding in self.findings)

    @property
    def first(self) -> Finding | None:
        """The first finding, or None."""
        return self.findings[0] if self.findings else None

    @property
    def groups(self) -> tuple[FindingGroup, ...]:
        """The findings by cause: item and part; by item alone remarks, and all if there would be more than a dozen."""
        for key in (
            lambda f: (f.severity, f.item, f.where if f.severity == "defect" else ""),
            lambda f: (f.severity, f.item),
        ):
            groups: dict[Any, list[Finding]] = {}
            for finding in self.findings:
                groups.setdefault(key(finding), []).append(finding)
            if len(groups) <= _MOST_GROUPS:
                break
        return tuple(FindingGroup(tuple(group)) for group in groups.values())

    def item(self, name: str) -> AuditItem:
        """An item by name."""
        from surefoot.errors import one_of

        known = {item.name: item for item in self.items}
        if name not in known:
            raise one_of("item", name, known)
        return known[name]

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {
            "schema": 1,
            "robot": self.robot,
            "passed": self.passed,
            "duration_s": self.duration,
            "samples": self.samples,
            "contacts": self.contacts,
            "schedule": None if self.schedule is None else self.schedule.to_dict(),
            "groups": [group.to_dict() for group in self.groups],
            "findings": [finding.to_dict() for finding in self.findings],
            "items": [item.to_dict() for item in self.items],
            "replay": None if self.replay is None else self.replay.to_dict(),
            "tolerances": {key: _plain(value) for key, value in self.tolerances.items()},
            "seconds": {key: round(value, 4) for key, value in self.seconds.items()},
            "remarks": list(self.remarks),
        }

    def save(self, path: str | Path) -> None:
        """Write as JSON, whole or not at all."""
        write_text(Path(path), json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n")


def _plain(value: Any) -> Any:
    """Numbers that JSON knows: None in place of NaN, ±1e308 never: infinities become None too."""
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value
