"""Predictive control: optimality by multipliers, limits, recovery from pushes, walking by velocity alone."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import nnls

from surefoot.errors import ShapeError
from surefoot.reduced import (
    DcmPlan,
    FootstepMpc,
    MpcSettings,
    Schedule,
    Supports,
    ZmpPiece,
    natural_frequency,
    pendulum_state,
)
from tests.reduced.walks import FOOT, HEIGHT

OMEGA, STEP, DOUBLE = natural_frequency(HEIGHT), 0.7, 0.2
REACH = np.array([[-0.3, -0.35], [0.4, -0.12]])
SMALL = MpcSettings(nodes=6, period=0.15, center=1.0, rate=0.01, feet=3.0, velocity=0.2, tail=2.0)


def simulated(mpc: FootstepMpc, com: np.ndarray, velocity: np.ndarray, zmp: np.ndarray, nodes: np.ndarray) -> tuple:
    """Velocities at the nodes and the last DCM, by the pendulum from node to node."""
    speeds, before = [], 0.0
    for time, node in zip(mpc.times, nodes, strict=True):
        com, velocity = pendulum_state(com, velocity, zmp, OMEGA, time - before, (node - zmp) / (time - before))
        zmp, before = node, time
        speeds.append(velocity)
    return np.array(speeds), com + velocity / OMEGA


@pytest.mark.parametrize("seed", range(6))
def test_optimum_has_multipliers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mpc = FootstepMpc(OMEGA, FOOT, 0.02, REACH, SMALL)
    feet = np.array([[0.0, 0.1], [0.2, -0.1], [0.4, 0.1]]) + rng.normal(size=(3, 2)) * 0.02
    shares = np.array([[1, 0, 0], [1, 0, 0], [0.6, 0.4, 0], [0, 1, 0], [0, 1, 0], [0, 0.3, 0.7]])
    com, zmp = feet[0] * 0.5 + rng.normal(size=2) * 0.02, feet[0]
    velocity = np.array([0.25, -0.05]) + rng.normal(size=2) * 0.05
    tail, wanted = rng.normal(size=2) * 0.03, np.array([0.3, 0.0])
    schedule = Schedule(shares, feet, 1, tail, (1, -1, 1))
    plan = mpc.plan(com, velocity, zmp, schedule, wanted)

    def parts(z: np.ndarray) -> tuple:
        nodes, places = z[:12].reshape(6, 2), np.vstack([feet[:1], z[12:].reshape(2, 2)])
        speeds, dcm = simulated(mpc, com, velocity, zmp, nodes)
        return nodes, places, speeds, dcm - shares[-1] @ places - tail

    def cost(z: np.ndarray) -> float:
        nodes, places, speeds, miss = parts(z)
        rate = np.diff(np.vstack([zmp, nodes]), axis=0) / np.diff([0.0, *mpc.times])[:, None]
        total = ((nodes - shares @ places) ** 2).sum() + 0.01 * (rate**2).sum() + 3.0 * ((places - feet) ** 2).sum()
        return float(total + 0.2 * ((speeds - wanted) ** 2).sum() + 2.0 * (miss**2).sum())

    def kept(z: np.ndarray) -> np.ndarray:
        nodes, places, _, miss = parts(z)
        away, right = nodes - shares @ places, places[1] - places[0]
        left = (places[2] - places[1]) * (1, -1)
        values = [away - FOOT[0], FOOT[1] - away, miss - FOOT[0], FOOT[1] - miss]
        values += [right - REACH[0], REACH[1] - right, left - REACH[0], REACH[1] - left]
        return np.concatenate([v.ravel() for v in values])

    z = np.concatenate([plan.zmp.ravel(), plan.feet[1:].ravel()])
    np.testing.assert_allclose(plan.outside, 0.0, atol=1e-9)
    limits = kept(z)
    assert (limits > -1e-8).all()
    slopes = np.array([kept(z + e) - limits for e in np.eye(len(z))]).T  # exact: all of it is affine
    gradient = np.array([(cost(z + e) - cost(z - e)) / 2.0 for e in np.eye(len(z))])  # exact: quadratic
    _, rest = nnls(slopes[limits < 1e-8].T, gradient) if (limits < 1e-8).any() else (0, np.linalg.norm(gradient))
    assert rest < 1e-7 * max(1.0, np.linalg.norm(gradient))  # Karush, Kuhn and Tucker
    np.testing.assert_allclose(plan.dcm, simulated(mpc, com, velocity, zmp, plan.zmp)[1], atol=1e-10)


class Walker:
    """The pendulum on alternating feet under predictive control, without a plan for its whole way."""

    def __init__(self, settings: MpcSettings, length: float, tick: float = 0.02) -> None:
        self.mpc = FootstepMpc(OMEGA, FOOT, tick, REACH, settings)
        self.length, self.side = length, 1  # the left foot stands
        self.stance, self.before = np.array([0.0, 0.1]), np.array([-length, -0.1])
        self.com, self.velocity, self.zmp = self.stance * 0.0, np.array([0.0, 0.0]), self.stance.copy()
        self.feet, self.outside = [self.stance], 0.0

    def schedule(self, elapsed: float) -> Schedule:
        """From the path over the last two feet and planned ones, which always lie ahead of those that stand."""
        feet, side = [self.before, self.stance], self.side
        for _ in range(7):
            feet.append(feet[-1] + (self.length, -0.2 * side))
            side = -side
        pieces = []
        for before, after in pairwise(feet):
            pieces += [ZmpPiece(DOUBLE, before, after), ZmpPiece(STEP - DOUBLE, after, after)]
        first, found = self.mpc.schedule(Supports(pieces), DcmPlan(pieces, OMEGA), elapsed)
        sides = [-self.side * (-1) ** (first + k) for k in range(len(found.feet))]
        return found._replace(sides=sides)

    def run(
        self, steps: int, wanted: tuple[float, float] = (0.0, 0.0), push: dict[int, np.ndarray] | None = None
    ) -> None:
        ticks = round(STEP / self.mpc.tick)
        for step in range(steps):
            self.velocity = self.velocity + (push or {}).get(step, 0.0)
            for k in range(ticks):
                schedule = self.schedule(k * self.mpc.tick)
                plan = self.mpc.plan(self.com, self.velocity, self.zmp, schedule, wanted)
                away = plan.zmp - np.asarray(schedule.shares) @ plan.feet
                assert (away >= FOOT[0] - 1e-7).all()
                assert (away <= FOOT[1] + 1e-7).all()
                stood = slice(schedule.landed - 1, None)
                left = np.asarray(schedule.sides)[stood][:-1, None] > 0
                reached = np.diff(plan.feet[stood], axis=0) * np.where(left, (1, 1), (1, -1))
                assert (reached >= REACH[0] - 1e-7).all()
                assert (reached <= REACH[1] + 1e-7).all()
                self.outside = max(self.outside, np.abs(plan.outside).max())
                rate = (plan.zmp[0] - self.zmp) / self.mpc.tick
                self.com, self.velocity = pendulum_state(self.com, self.velocity, self.zmp, OMEGA, self.mpc.tick, rate)
                self.zmp = plan.zmp[0]
            self.before, self.stance, self.side = self.stance, plan.feet[schedule.landed], -self.side
            self.feet.append(self.stance)


def test_recovers_from_a_push_by_moving_feet() -> None:
    calm, pushed = (Walker(MpcSettings(feet=1.0), 0.15) for _ in range(2))
    calm.run(9)
    pushed.run(9, push={2: np.array([0.4, 0.1])})
    assert pushed.outside < 1e-9
    steps = np.diff(np.array(pushed.feet), axis=0), np.diff(np.array(calm.feet), axis=0)
    assert np.abs(steps[0] - steps[1])[2:4].max() > 0.1  # feet moved
    np.testing.assert_allclose(steps[0][-2:], steps[1][-2:], atol=5e-3)  # and the walk went on as before
    np.testing.assert_allclose(pushed.velocity, calm.velocity, atol=2e-2)


def test_a_push_that_no_step_can_take_is_reported() -> None:
    walker = Walker(MpcSettings(), 0.15)
    walker.run(3, push={1: np.array([2.5, 0.0])})
    assert walker.outside > 0.1
    assert np.isfinite(walker.com).all()


def test_velocity_alone_makes_a_walk() -> None:
    """Herdt et al. 2010: footsteps follow from the wanted velocity."""
    walker = Walker(MpcSettings(center=1e-2, feet=1e-5, velocity=1.0, tail=1e-5), 0.0)
    walker.run(10, wanted=(0.25, 0.0))
    speed = (walker.feet[-1] - walker.feet[-5])[0] / (4 * STEP)
    assert speed == pytest.approx(0.25, abs=0.03)
    assert walker.outside < 1e-9


def test_wrong_input_is_refused() -> None:
    mpc = FootstepMpc(OMEGA, FOOT, 0.02)
    with pytest.raises(ShapeError, match="shares"):
        mpc.plan((0, 0), (0, 0), (0, 0), Schedule(np.ones((3, 1)), np.zeros((1, 2)), 1))
    with pytest.raises(ShapeError, match="velocity is not finite"):
        mpc.plan((0, 0), (0, np.nan), (0, 0), Schedule(np.ones((16, 1)), np.zeros((1, 2)), 1))
    with pytest.raises(ShapeError, match="nodes"):
        MpcSettings(nodes=0)
    with pytest.raises(ShapeError, match="`rate`"):
        MpcSettings(rate=0.0)
