"""`surefoot hexapod` with an emulator of its own; what it refuses."""

from __future__ import annotations

import json

import pytest

from surefoot.cli import main


def status(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["hexapod", *arguments])
    return int(ended.value.code or 0)


@pytest.mark.slow
def test_hexapod_sways_over_a_bad_link(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("--duration", "4", "--loss", "0.3", "--blackout", "1,2", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["sent"] == 200
    assert 60 <= report["accepted"] <= 150
    assert report["resumed"] >= 1
    assert report["refused"] == 0


def test_what_hexapod_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("--link", "udp://10.1.2.3:9000", "--duration", "1") == 2
    assert "another machine" in capsys.readouterr().err
    assert status("--link", "udp://127.0.0.1:9", "--blackout", "soon") == 2
    assert "FROM,TO" in capsys.readouterr().err


def test_nobody_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("--link", "udp://127.0.0.1:9", "--duration", "0.2") == 1
    assert "0 reports" in capsys.readouterr().out
