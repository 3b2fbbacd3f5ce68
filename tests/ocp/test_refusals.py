"""Input that cannot be used is refused by name, before anything is compiled; solutions and problems print briefly."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import FileFormatError, SurefootError
from surefoot.ocp import Problem, SolverOptions, load_solution, transcription
from tests.ocp.problems import FEET, stand


@pytest.mark.parametrize(
    ("others", "words"),
    [({"world": "ramp"}, "expected a World, got str"), ({"formulation": "rk4"}, "expected a Formulation, got str")],
)
def test_problems_of_other_things_are_refused(others, words) -> None:
    with pytest.raises(SurefootError, match=words):
        stand(**others)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda p: p.phase("a", None), "contacts of phase `a` must be a list"),
        (lambda p: p.phase("a", [3]), "contacts of phase `a` must be a list"),
        (lambda p: p.phase("a", FEET, free={"FL_foot": 1}), "free directions of `FL_foot`"),
        (lambda p: p.phase("a", FEET, free={"FL_foot": [1.0]}), "free directions of `FL_foot`"),
        (lambda p: p.phase("a", FEET, spots=[np.eye(4)]), "spots of phase `a` go by contact"),
        (lambda p: p.phase("a", FEET[:2], spots={"RL_foot": np.eye(4)}), "contact of the phase `RL_foot`"),
        (lambda p: p.bound(3), "coordinate `3`"),
        (lambda p: p.parameter(3, 0, 1), "parameters need different names"),
        (lambda p: [p.parameter("h", 0, 1), p.parameter("h", 5, 6)], "parameters need different names"),
        (lambda p: p.keep_apart(["FL_calf"]), "pairs of names"),
        (lambda p: p.keep_apart([("FL_calf", 3)]), "pairs of names"),
        (lambda p: Problem.of(p.robot, "trot"), "expected a ContactSchedule, got str"),
        (lambda p: p.solve("snopt"), "no solver `snopt`"),
        (lambda p: p.solve(3), "no solver `3`"),
        (lambda p: p.solve(options={}), "SolverOptions"),
        (lambda p: p.solve(warm="x.npz"), "earlier solution does not fit"),
        (lambda p: [p.guess(lambda t: 1 / 0), p.solve()], "guess cannot be used at 0 s: ZeroDivisionError"),
        (lambda p: [p.guess(lambda t: np.zeros(19)), p.solve()], "guess cannot be used at 0 s: q holds a quaternion"),
    ],
)
def test_bad_input_is_refused_before_anything_is_compiled(act, words, monkeypatch) -> None:
    monkeypatch.delattr(transcription.StageFunctions, "derivatives")
    with pytest.raises(SurefootError, match=words):
        act(stand(2))


@pytest.mark.parametrize("step", [-1.0, 0.0, np.nan, "x"])
def test_steps_of_schedules_are_positive(step) -> None:
    robot = sf.load("go2")
    with pytest.raises(SurefootError, match="step"):
        Problem.of(robot, sf.ContactSchedule.of([sf.Stance({})], [0.0, 1.0]), step=step)


@pytest.mark.parametrize(
    "options", [{"max_iterations": "a"}, {"max_iterations": 2.5}, {"max_seconds": "a"}, {"feasibility_rounds": 0.5}]
)
def test_counts_of_a_solver_are_whole(options) -> None:
    with pytest.raises(SurefootError, match=next(iter(options))):
        SolverOptions(**options)


def test_solutions_print_briefly_and_are_read_as_they_ended(tmp_path) -> None:
    problem = stand(2)
    solution = problem.solve(options=SolverOptions(max_iterations=2))
    assert "iteration limit" in repr(solution)
    assert len(repr(solution)) < 200
    assert len(repr(solution.staged)) < 1000
    assert repr(problem).startswith("Problem(go2, inverse-semi_implicit-constant, phases: stand (2)")
    solution.save(tmp_path / "solution.npz")
    assert load_solution(tmp_path / "solution.npz")[0].outcome == solution.staged.outcome == "iteration limit"
    with np.load(tmp_path / "solution.npz") as data:
        arrays = dict(data)
    arrays["heading"] = np.array(json.dumps(json.loads(str(arrays["heading"])) | {"outcome": "won"}))
    np.savez(tmp_path / "other.npz", **arrays)
    with pytest.raises(FileFormatError, match="no outcome `won`"):
        load_solution(tmp_path / "other.npz")
    w = solution.staged.w.copy()
    w[5] = np.nan
    with pytest.raises(SurefootError, match="not finite: 1"):
        problem.solve(warm=replace(solution.staged, w=w))


def _lifted(problem: Problem, height: float) -> Problem:
    q = problem.robot.home.copy()
    q[2] += height
    problem.start(q)
    return problem


def test_a_start_away_from_its_contacts_is_refused_by_name() -> None:
    with pytest.raises(SurefootError, match=r"not on the contacts of phase `stand`: FL_foot, FR_foot(.|\n)*z .m. 0.05"):
        _lifted(stand(2), 0.05).solve()
    found = _lifted(stand(4), 1e-3).solve()  # feet go down to their spots
    assert found.success
    free = _lifted(Problem(found.problem.robot), 0.05)
    free.phase("stand", FEET, 2, 0.5, free=dict.fromkeys(FEET, (2,)))
    assert transcription.transcribe(free).stages
