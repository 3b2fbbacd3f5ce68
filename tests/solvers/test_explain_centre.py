"""Points at which members bear a conflict, from the midst of the rows."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sparse

from surefoot.solvers.explain_centre import Centre
from surefoot.solvers.explain_groups import scaled_rows
from surefoot.solvers.explain_jumps import Jumps
from surefoot.solvers.explain_oracle import Oracle
from surefoot.solvers.explain_projection import outside
from tests.solvers.explain_problems import cycle, swing, tumble

TOLERANCE = 1e-7


def posed(groups):
    rows = scaled_rows(sorted(groups, key=lambda group: group.name), None, TOLERANCE)
    proof = Oracle(rows, TOLERANCE).judge_all().multipliers
    named = np.flatnonzero(rows.rows_of(rows.group[proof != 0.0]))
    return rows.only(named), proof[named]


@pytest.mark.parametrize("groups", [swing(1), swing(0, 100, 3), tumble(120), cycle(40)], ids=["4", "3", "fall", "ring"])
def test_nearly_every_member_bears_the_conflict_alone(groups) -> None:
    rows, proof = posed(groups)
    jumps = Jumps(rows, proof, TOLERANCE, Centre.of(rows, proof, TOLERANCE))
    members, found = np.unique(rows.group[proof != 0.0]).tolist(), 0
    for member in members:
        point = jumps.keeping(member, [other for other in members if other != member])
        if point is not None:
            found += 1
            assert not outside(rows.A @ point, rows.lower, rows.upper)[rows.group != member].any()
    assert found > 0.9 * len(members)


def test_moves_reach_their_targets_and_spend_the_least_slack() -> None:
    rows, proof = posed(swing(2, 20, 2))
    centre = Centre.of(rows, proof, TOLERANCE)
    bears, narrow = proof != 0.0, rows.upper - rows.lower < 1e-5
    B = sparse.csr_array(rows.A)[bears]
    way = np.random.default_rng(0).normal(size=(len(centre.x), 3))
    targets = 1e-3 * (B @ way)
    moves = centre.moves(targets)
    assert np.abs(B @ moves - targets).max() < 1e-9
    others = ~bears & ~narrow
    slack = np.minimum(rows.A @ centre.x - rows.lower, rows.upper - rows.A @ centre.x)[others, None]
    spent = np.linalg.norm((sparse.csr_array(rows.A)[others] @ moves) / np.maximum(slack, 1e-4), axis=0)
    kept = sparse.vstack([B, sparse.csr_array(rows.A)[narrow & ~bears]]).toarray()
    free = np.linalg.svd(kept)[2][np.linalg.matrix_rank(kept) :].T
    for other in 1e-3 * np.random.default_rng(1).normal(size=(5, free.shape[1], 3)):
        more = (sparse.csr_array(rows.A)[others] @ (moves + free @ other)) / np.maximum(slack, 1e-4)
        assert (np.linalg.norm(more, axis=0) > spent - 1e-6).all()


def test_no_midst_where_rows_conflict_otherwise() -> None:
    ring = cycle(5)
    twice = [*ring, *[replace(group, name=f"d{group.name}", A=-np.asarray(group.A)) for group in ring]]
    rows = scaled_rows(twice, None, TOLERANCE)
    assert Centre.of(rows, np.where(rows.group < 5, 1.0, 0.0), TOLERANCE) is None
