"""Conflicts in plain words: like events are one clause, and there are at most three."""

from __future__ import annotations

from surefoot.feasibility.explain_words import FRICTION, PULL, TORQUE, Event, Needed, told


def test_events_of_one_kind_and_size_are_one_clause() -> None:
    events = tuple(Event(PULL, (name,), 18.9, "N") for name in ("left_foot", "right_foot"))
    assert told(Needed(events, True), 2) == "the ground pulls at a corner of left_foot or right_foot with 18.9 N"
    assert told(Needed(events, False), 2) == "the ground pulls at corners of both feet with up to 18.9 N"


def test_all_contacts_are_counted_and_some_are_named() -> None:
    feet = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
    everywhere = Needed((Event(FRICTION, feet, 3.0, "N"),), True)
    assert told(everywhere, 4) == "friction holds all four feet with up to 3 N more than it can"
    assert "FL_foot and FR_foot" in told(Needed((Event(FRICTION, feet[:2], 3.0, "N"),), True), 4)
    assert "all four contacts" in told(Needed((Event(FRICTION, ("a", "b", "c", "d"), 3.0, "N"),), True), 4)


def test_there_are_at_most_three_clauses() -> None:
    events = tuple(Event(TORQUE, (f"joint{k}",), 2.0**k, "N m") for k in range(6))
    text = told(Needed(events, True), 2)
    assert text.count(", or ") == 2
    assert text.endswith("4 other such things happen")
