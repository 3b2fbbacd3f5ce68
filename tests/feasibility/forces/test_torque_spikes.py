"""Torques below their limits that do not belong to the motion, with and without contact wrenches that tell of it."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot.control import JointPd
from surefoot.feasibility import audit
from surefoot.feasibility.case import Case
from surefoot.feasibility.forces.balance import check_balance
from surefoot.feasibility.forces.leftover import Leftover
from surefoot.motion import World
from surefoot.sim import Settings, Simulation
from tests.feasibility.good_motions import loaded
from tests.feasibility.stages import judge
from tests.feasibility.standing_motions import failures, landing_log, of_log
from tests.feasibility.test_planted_defects import with_efforts

NAMES = ["g1", "anymal"]


def told(name, wrenches):
    """A squat with its torques; with contact wrenches or without."""
    motion = with_efforts(name)
    return motion if wrenches else replace(motion, wrenches={})


def strayed(motion, robot, rows, joint, share):
    """The motion with a torque that is off by a share of its limit in some samples."""
    tau = np.array(motion.tau)
    tau[rows, joint] += share * robot.limits.effort[robot.driven[joint]]
    return replace(motion, tau=tau)


def only_finding(name, motion):
    found = audit(motion, loaded(name), replay=False, collisions=False).findings
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrenches", [True, False])
@pytest.mark.parametrize("length", [1, 6, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 20))])
def test_a_torque_that_is_off_below_its_limit_is_found_with_its_joint_size_and_time(name, wrenches, length):
    robot, motion = loaded(name), told(name, wrenches)
    rng = np.random.default_rng(length)
    joint, first = int(rng.integers(robot.nu)), int(rng.integers(100, len(motion) - 100))
    rows = slice(first, first + length)
    used = np.abs(motion.tau[rows, joint]).max() / robot.limits.effort[robot.driven[joint]]
    share = 0.8 * (1.0 - used)
    found = only_finding(name, strayed(motion, robot, rows, joint, share))
    assert (found.item, found.where) == ("momentum_residual", robot.drives[joint].joint)
    assert found.value == pytest.approx(share, rel=0.15)
    assert motion.time[first] - 0.03 <= found.start <= found.end <= motion.time[first + length - 1] + 0.03


@pytest.mark.parametrize("name", NAMES)
def test_torques_of_legs_with_the_wrong_sign_are_found_without_wrenches(name):
    motion, robot = told(name, wrenches=False), loaded(name)
    found = failures(judge(check_balance, Case(robot, World(), replace(motion, tau=-motion.tau))))
    assert {part for item, part in found if item == "momentum_residual"} & {drive.joint for drive in robot.drives}


class Glitch:
    """A controller whose torque at one drive is off in some steps."""

    def __init__(self, controller, steps, drive, torque):
        self.controller, self.steps, self.drive, self.torque, self.count = controller, steps, drive, torque, 0

    def __getattr__(self, name):
        return getattr(self.controller, name)

    def command(self, t, state):
        command = self.controller.command(t, state)
        self.count += 1
        if self.count in self.steps:
            torque = np.array(command.torque)
            torque[self.drive] += self.torque
            command = replace(command, torque=torque)
        return command


@pytest.mark.parametrize("wrenches", [True, False])
@pytest.mark.parametrize("engine", ["mujoco", "native"])
def test_a_torque_that_acted_for_a_step_is_no_finding_and_one_that_is_only_in_the_file_is(engine, wrenches):
    robot = loaded("hexapod")
    limit = robot.limits.effort[robot.driven[4]]
    controller = Glitch(JointPd(robot), {150, 200}, 4, 0.5 * limit)
    log = Simulation(robot, controller, World(), Settings(0.3, 0.001, 0.001, engine=engine)).run()
    motion = of_log(robot, log) if wrenches else replace(of_log(robot, log), wrenches={})
    stands_out = np.abs(np.diff(motion.tau[:, 4], 2)) > 0.4 * limit
    assert np.count_nonzero(stands_out) >= 2  # the file shows it
    assert failures(judge(check_balance, Case(robot, World(), motion))) == set()
    planted = strayed(motion, robot, slice(250, 251), 4, 0.5)
    assert failures(judge(check_balance, Case(robot, World(), planted))) == {
        ("momentum_residual", robot.drives[4].joint)
    }


@pytest.mark.parametrize("engine", ["mujoco", "native"])
def test_a_log_without_wrenches_balances_also_while_feet_land(engine):
    motion = replace(landing_log("hexapod", engine=engine), wrenches={})
    assert failures(judge(check_balance, Case(loaded("hexapod"), World(), motion))) == set()


def test_what_contacts_may_exert_is_left_out_and_nothing_else():
    rng = np.random.default_rng(0)
    unit, directions = rng.uniform(1.0, 5.0, 8), rng.normal(size=(4, 3, 8))
    directions[2, 1] = 0.0  # a contact that is open
    directions[3, 2] = directions[3, 0]  # and two that push alike
    left = Leftover(lambda steps: directions[steps], unit)
    forces = rng.normal(size=(4, 8))
    exerted = np.einsum("nk,nkj->nj", rng.normal(size=(4, 3)), directions) * unit
    np.testing.assert_allclose(left.of(exerted), 0.0, atol=1e-7)
    np.testing.assert_allclose(left.of(forces + exerted), left.of(forces), atol=1e-7)
    np.testing.assert_allclose(left.of(left.of(forces)), left.of(forces), atol=1e-7)
    found, most = left.of_all([forces], [np.abs(forces)])
    assert (np.abs(found) <= most + 1e-12).all()
    one = np.zeros((4, 8))
    one[:, 5] = 0.5 * unit[5]
    named = left.at_one_joint(left.of(one) / unit, np.arange(4), np.arange(8), 0.05)
    np.testing.assert_allclose(named, one / unit, atol=1e-7)
