"""The link: counts and angles, the protocol to the last byte, and a board that obeys only what it should."""

from __future__ import annotations

import socket
import struct
import subprocess
import threading
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.processes import isolated_python
from surefoot.sim.link import (
    PCA9685,
    Calibration,
    LossyChannel,
    RobotLink,
    Servo,
    ServoBoard,
    Status,
    Targets,
    calibration_of,
    decode,
    encode,
    loopback_address,
    play,
)

ROBOT = sf.load("hexapod")
SERVOS = calibration_of(ROBOT)
HOME = np.array([ROBOT.home[ROBOT.tree.q_index[ROBOT.joint_index(drive.joint)]] for drive in ROBOT.drives])


def packet(sequence: int, angles: np.ndarray = HOME, session: int = 7) -> bytes:
    counts = SERVOS.counts(angles).astype(int).tolist()
    return encode(Targets(session, sequence, 0, {s.address: c for s, c in zip(SERVOS.servos, counts, strict=True)}))


# -- calibration ------------------------------------------------------------------------------------------------------


def test_chip_at_50_hz() -> None:
    """Data sheet, equation 1: prescale = round(25 MHz / (4096 · 50 Hz)) − 1 = 121."""
    assert PCA9685.prescale(50.0) == 121
    assert PCA9685.frequency(121) == pytest.approx(50.03, abs=0.01)
    assert PCA9685.prescale(1e6) == 3


def test_angles_and_counts() -> None:
    assert sorted({servo.chip for servo in SERVOS.servos}) == [0, 1]
    assert len({servo.address for servo in SERVOS.servos}) == 18
    zero = SERVOS.counts(np.zeros(18))
    np.testing.assert_allclose(zero * SERVOS.microseconds, 1500.0, atol=0.5 * SERVOS.microseconds)
    rows = [ROBOT.tree.q_index[ROBOT.joint_index(drive.joint)] for drive in ROBOT.drives]
    low, high = ROBOT.limits.lower[rows], ROBOT.limits.upper[rows]
    rng = np.random.default_rng(0)
    step = SERVOS.microseconds / (2000.0 / np.pi)
    assert step == pytest.approx(ROBOT.drives[0].servo_step, rel=0.01)  # the servos of the model hear the same steps
    for angles in rng.uniform(low, high, (50, 18)):
        again = SERVOS.angles(SERVOS.counts(angles))
        assert np.abs(again - angles).max() <= 0.51 * step
    assert (SERVOS.counts(np.full(18, 9.0)) <= SERVOS.bounds[1]).all()


def test_calibration_files(tmp_path: Path) -> None:
    file = tmp_path / "servos.toml"
    file.write_text("frequency = 60.0\n[servos.left_front_coxa]\nchannel = 12\nper_radian = -600.0\ncentre = 1480.0\n")
    found = Calibration.load(file, ROBOT)
    assert (found.servos[0].channel, found.servos[0].per_radian) == (12, -600.0)
    assert found.servos[1] == SERVOS.servos[1]
    assert Calibration.from_dict(found.to_dict(), ROBOT).servos == found.servos
    with pytest.raises(ShapeError, match="share a channel"):
        Calibration((Servo("a", 0, 1), Servo("b", 0, 1)))
    with pytest.raises(ShapeError, match="wrong keys"):
        Calibration.from_dict({"servos": {"left_front_knee": {}}}, ROBOT)
    with pytest.raises(ShapeError, match="do not exist"):
        Servo("a", 2, 0)


# -- protocol ---------------------------------------------------------------------------------------------------------


def test_messages_survive_the_wire() -> None:
    targets = decode(packet(41))
    assert isinstance(targets, Targets)
    assert (targets.session, targets.sequence) == (7, 41)
    imus = np.random.default_rng(0).uniform(-5.0, 5.0, (6, 6))
    sent = Status(7, 3, 1234, 41, "holding", (True, False, True, False, True, True), 5.678, 10, 2, imus)
    heard = decode(encode(sent))
    assert isinstance(heard, Status)
    assert (heard.obeyed, heard.state, heard.contacts, heard.battery) == (41, "holding", sent.contacts, 5.678)
    np.testing.assert_allclose(heard.imus, imus, atol=0.0051)


def test_a_packet_with_any_bit_flipped_is_refused() -> None:
    data = packet(1)
    for k in range(8 * len(data)):
        wrong = bytearray(data)
        wrong[k // 8] ^= 1 << k % 8
        assert decode(bytes(wrong)) is None
    for cut in range(len(data)):
        assert decode(data[:cut]) is None
        assert decode(data + data[: cut + 1]) is None


def test_only_this_machine_can_be_linked() -> None:
    assert loopback_address("udp://127.0.0.1:5000") == ("127.0.0.1", 5000)
    assert loopback_address("udp://localhost:5000") == ("127.0.0.1", 5000)
    for url in ("udp://10.0.0.1:5", "udp://example.org:5", "udp://0.0.0.0:5"):
        with pytest.raises(NotSupportedError, match="another machine"):
            loopback_address(url)
    for url in ("127.0.0.1:5", "tcp://127.0.0.1:5", "udp://127.0.0.1", "udp://127.0.0.1:99999", "udp://127.0.0.1:5/x"):
        with pytest.raises(ShapeError):
            loopback_address(url)


# -- the robot's side -------------------------------------------------------------------------------------------------


def test_old_and_repeated_packets_are_not_obeyed() -> None:
    board = ServoBoard(SERVOS, HOME)
    moved = HOME + 0.1
    assert board.receive(packet(5, moved), 0.0)
    assert not board.receive(packet(5, HOME), 0.01)
    assert not board.receive(packet(4, HOME), 0.02)
    np.testing.assert_allclose(board.angles, moved, atol=0.005)
    assert board.receive(packet(6, HOME), 0.03)
    assert board.receive(packet(6 + (1 << 31) - 1), 0.04)  # half way round
    assert ServoBoard(SERVOS, HOME).receive(packet(2**32 - 1), 0.0)
    wrapping = ServoBoard(SERVOS, HOME)
    assert wrapping.receive(packet(2**32 - 1), 0.0)
    assert wrapping.receive(packet(0), 0.01)


def test_watchdog_holds_then_resumes_and_another_session_waits() -> None:
    board = ServoBoard(SERVOS, HOME, watchdog=0.2)
    assert board.state(0.0) == "waiting"
    board.receive(packet(1, HOME + 0.1), 0.0)
    before = board.angles
    assert board.state(0.2) == "following"
    assert board.state(0.21) == "holding"
    np.testing.assert_array_equal(board.angles, before)
    assert board.receive(packet(9), 2.0)
    assert (board.state(2.0), board.holds) == ("following", 1)
    assert not board.receive(packet(100, session=8), 2.1)  # somebody else
    assert board.receive(packet(1, session=8), 2.5)  # who may take over when the first one is silent


def test_pulses_out_of_bounds_and_other_servos_are_refused_whole() -> None:
    board = ServoBoard(SERVOS, HOME)
    good = {s.address: int(c) for s, c in zip(SERVOS.servos, SERVOS.counts(HOME), strict=True)}
    wrong = [good | {0: 4095}, good | {0: 0}, good | {15: 300}, {k: v for k, v in good.items() if k != 3}]
    for k, counts in enumerate(wrong):
        assert not board.receive(encode(Targets(7, k + 1, 0, counts)), 0.0)
    assert (board.accepted, board.refused) == (0, 4)
    assert board.receive(encode(Targets(7, 1, 0, good)), 0.0)


def test_a_hundred_thousand_malformed_packets_are_not_obeyed() -> None:
    """Noise, cut and changed packets, wrong lengths, right checksums over nonsense."""
    board = ServoBoard(SERVOS, HOME)
    board.receive(packet(1000, HOME + 0.05), 0.0)
    before, rng, good = board.angles, np.random.default_rng(0), packet(2000)
    for k in range(100_000):
        kind = k % 4
        if kind == 0:
            data = rng.bytes(int(rng.integers(0, 200)))
        elif kind == 1:
            data = good[: int(rng.integers(0, len(good)))]
        elif kind == 2:
            changed = bytearray(good)
            changed[int(rng.integers(len(good)))] ^= int(rng.integers(1, 256))
            data = bytes(changed)
        else:
            body = good[: int(rng.integers(4, 17))] + rng.bytes(int(rng.integers(0, 60)))
            data = body + struct.pack("<I", zlib.crc32(body))
        board.receive(data, 0.1)
    assert (board.accepted, board.refused) == (1, 100_000)
    np.testing.assert_array_equal(board.angles, before)
    assert board.receive(good, 0.1)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bad_network_in_virtual_time(seed: int) -> None:
    """30 % loss, reordering, repeats and a blackout of 2 s: the board follows, holds, resumes, and never goes back."""
    channel = LossyChannel(0.3, delay=0.03, jitter=0.03, repeat=0.1, blackouts=[(4.0, 6.0)], seed=seed)
    board, obeyed, states = ServoBoard(SERVOS, HOME), [], []
    for k in range(500):
        now = 0.02 * k
        ramp = HOME + 0.3 * np.sin(0.5 * now)
        channel.send(packet(k + 1, ramp), now)
        for data in channel.arrivals(now):
            if board.receive(data, now):
                targets = decode(data)
                assert isinstance(targets, Targets)
                obeyed.append(targets.sequence)
        states.append(board.state(now))
        if board.state(now) == "following":
            assert np.abs(board.angles - ramp).max() < 0.3 * 0.5 * (0.25 + 0.08) + 0.005
    assert obeyed == sorted(set(obeyed))
    assert board.refused > 20
    assert states.count("holding") == pytest.approx((2.0 - 0.25) / 0.02, abs=12)
    assert (board.holds, states[-1]) == (1, "following")


# -- sockets and the emulator -----------------------------------------------------------------------------------------


def test_desktop_and_board_over_udp() -> None:
    board, over = ServoBoard(SERVOS, HOME), threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(0.05)

        def serve() -> None:
            while True:
                try:
                    data, sender = receiver.recvfrom(600)
                except TimeoutError:
                    if over.is_set():  # and no packet is left
                        return
                    continue
                board.receive(data, time.monotonic())
                receiver.sendto(encode(board.report(time.monotonic(), np.ones(6), np.zeros((6, 6)), 6.0)), sender)

        thread = threading.Thread(target=serve)
        thread.start()
        with RobotLink(f"udp://127.0.0.1:{receiver.getsockname()[1]}", SERVOS) as link:
            report = play(link, lambda t: HOME + 0.1 * t, 0.4)
        over.set()
        thread.join()
    assert board.accepted == report.sent == 20
    assert report.heard >= 15
    assert link.status is not None
    assert link.status.contacts == (True,) * 6


@pytest.mark.slow
def test_emulator_survives_loss_blackout_and_malformed_packets() -> None:
    command = ("-m", "surefoot.cli", "hexapod", "--serve", "--link", "udp://127.0.0.1:0", "--duration", "120")
    with isolated_python(*command) as program:
        emulator = subprocess.Popen(**program, stdout=subprocess.PIPE, text=True)
        assert emulator.stdout is not None
        port = int(emulator.stdout.readline().rpartition(" ")[2])
        sent = [0]

        def spoil() -> None:
            rng = np.random.default_rng(0)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as noise:
                while sent[0] < 100_000:
                    noise.sendto(rng.bytes(int(rng.integers(1, 120))), ("127.0.0.1", port))
                    sent[0] += 1
                    if sent[0] % 200 == 0:
                        time.sleep(0.02)

        thread = threading.Thread(target=spoil)
        thread.start()
        channel = LossyChannel(0.3, blackouts=[(4.0, 6.0)], seed=1)
        with RobotLink(f"udp://127.0.0.1:{port}", SERVOS, channel) as link:
            report = play(link, lambda t: HOME + 0.05 * np.sin(t), 14.0)
            thread.join()
            later = play(link, lambda t: HOME, 1.0)
        alive = emulator.poll() is None
        emulator.terminate()
        emulator.wait()
        emulator.stdout.close()
    assert alive
    assert sent[0] == 100_000
    assert report.accepted <= report.sent * 0.7
    assert later.refused > 50_000
    assert report.resumed >= 1
    assert report.holding > 1.0
    assert link.status is not None
    assert sum(link.status.contacts) >= 4  # it still stands
    np.testing.assert_allclose(np.linalg.norm(link.status.imus[:, 3:], axis=1), 9.81, atol=1.5)
