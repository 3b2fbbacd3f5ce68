"""Damaged files of every kind are read or refused with a named error; `python -m tests.mutated_files` for 20,000."""

import pytest

from tests.mutated_files import KINDS, faults, run, table


@pytest.mark.parametrize("count", [120, pytest.param(3000, marks=pytest.mark.slow)])
def test_only_named_errors(count, tmp_path):
    records = run(count, seed=5, folder=tmp_path, tell=False)
    assert not faults(records), "\n".join(str(record) for record in faults(records))
    assert len(records) == count
    for kind in KINDS:  # strong enough to be refused, weak enough to be read
        verdicts = {record["verdict"] for record in records if record["kind"] == kind}
        assert verdicts == {"read", "refused"}, table(records)
