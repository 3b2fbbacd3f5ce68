import numpy as np
import pytest

from surefoot.collision.pairs.pruning import PruningSettings, closest_approach, prune
from surefoot.collision.pairs.table import PairTable
from surefoot.collision.volumes.motion import VolumeMotion
from surefoot.collision.volumes.postures import random_postures
from surefoot.errors import ShapeError
from surefoot.geometry import SweptVolume
from surefoot.robot import BodyVolume
from tests.collision.examples import capsules, robot_named, slider


def ball(body, x, link, radius=0.1):
    return BodyVolume(body, SweptVolume(np.array([[x, 0.0, 0.0]]), radius), link)


@pytest.fixture(scope="module", params=["g1", "panda", "anymal"])
def sorted_out(request):
    robot = robot_named(request.param)
    motion = VolumeMotion(robot, capsules(robot))
    return motion, prune(motion)


def test_every_pair_is_kept_or_has_a_reason(sorted_out):
    motion, found = sorted_out
    count = len(motion.volumes)
    kept = {tuple(sorted(map(int, pair))) for pair in found.pairs}
    assert len(kept) == len(found.pairs)
    assert not kept & set(found.reasons)
    assert len(kept) + len(found.reasons) == count * (count - 1) // 2 == sum(found.counts().values())


def test_nothing_adjacent_is_kept(sorted_out):
    motion, found = sorted_out
    parents = motion.robot.tree.parents
    for i, j in found.pairs:
        a, b = motion.bodies[i], motion.bodies[j]
        assert a != b
        assert a < 0 or parents[a] != b
        assert b < 0 or parents[b] != a


def test_what_is_never_near_is_far_in_fresh_postures(sorted_out):
    motion, found = sorted_out
    never = np.array([pair for pair, reason in found.reasons.items() if reason == "never"])
    Q = random_postures(motion.robot, 1000, np.random.default_rng(987))
    gaps = PairTable(motion, never).distances(motion.points(Q))
    assert len(never) > 10
    assert gaps.min() > PruningSettings().never_nearer


def test_what_always_touches_touches_in_fresh_postures(sorted_out):
    motion, found = sorted_out
    always = np.array([pair for pair, reason in found.reasons.items() if reason == "always"]).reshape(-1, 2)
    Q = random_postures(motion.robot, 200, np.random.default_rng(987))
    assert (PairTable(motion, always).distances(motion.points(Q)) <= 0.0).all(axis=1).mean() > 0.98


def test_home_is_free(sorted_out):
    motion, found = sorted_out
    at_home = PairTable(motion, found.pairs).distances(motion.points(np.array(motion.robot.home)[None]))
    assert at_home.min() > 0.0


def test_same_seed_same_pairs(tmp_path, monkeypatch):
    robot = robot_named("panda")
    motion = VolumeMotion(robot, capsules(robot))
    first = prune(motion)
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "empty"))  # searched anew
    second = prune(motion)
    assert np.array_equal(first.pairs, second.pairs)
    assert first.reasons == second.reasons


def test_downhill_finds_what_random_postures_do_not():
    """Two balls that meet only within 2 mm of a rail 4 m long: few postures, but the gradient leads there."""
    motion = VolumeMotion(slider(), [ball(0, 0.0, "carriage"), ball(-1, 1.9, "wall", 0.005)])
    table = PairTable(motion, np.array([[0, 1]]))
    met = closest_approach(motion.robot, table, 3, np.random.default_rng(1), 1e-3)
    assert met.nearest[0] < 1e-3
    assert table.distances(motion.points(met.posture))[0, 0] == pytest.approx(met.nearest[0], abs=1e-12)


def test_without_samples_only_names_and_neighbours_count():
    robot = robot_named("panda")
    motion = VolumeMotion(robot, capsules(robot))
    links = frozenset(("panda_link1", "panda_link5"))
    found = prune(motion, ignored=[links], in_srdf=[frozenset(("panda_link2", "panda_link6"))],
                  settings=PruningSettings(samples=0))  # fmt: skip
    assert set(found.counts()) == {"kept", "adjacent", "ignored", "srdf"}
    named = [motion.volumes[i].link for pair, reason in found.reasons.items() if reason == "ignored" for i in pair]
    assert set(named) == set(links)


def test_pairs_that_touch_at_home_can_be_kept():
    robot = robot_named("anymal")
    motion = VolumeMotion(robot, capsules(robot))
    assert "home" not in prune(motion, settings=PruningSettings(near_home=-np.inf)).counts()


def test_proofs_are_a_part_of_what_is_never_near():
    robot = robot_named("panda")
    motion = VolumeMotion(robot, capsules(robot))
    plain = prune(motion)
    proven = prune(motion, settings=PruningSettings(proof_boxes=500))
    strict = prune(motion, settings=PruningSettings(proof_boxes=500, only_proven=True))
    never = {pair for pair, reason in plain.reasons.items() if reason == "never"}
    surely = {pair for pair, reason in proven.reasons.items() if reason == "proven"}
    assert surely
    assert surely < never
    assert np.array_equal(plain.pairs, proven.pairs)
    assert len(strict.pairs) == len(plain.pairs) + len(never - surely)


def test_no_volumes():
    found = prune(VolumeMotion(robot_named("panda"), ()))
    assert found.pairs.shape == (0, 2)
    assert found.counts() == {"kept": 0}


@pytest.mark.parametrize(
    "wrong", [{"samples": -1}, {"proof_boxes": -1}, {"never_nearer": np.nan}, {"near_home": np.nan}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ShapeError, match="pruning"):
        PruningSettings(**wrong)
