"""The link to a robot on hobby servos: calibration, wire protocol, both of its sides, and an emulator."""

from surefoot.sim.link.board import ServoBoard
from surefoot.sim.link.calibration import PCA9685, Calibration, Servo, calibration_of
from surefoot.sim.link.channel import LossyChannel
from surefoot.sim.link.desktop import LinkReport, RobotLink, play
from surefoot.sim.link.emulator import emulate
from surefoot.sim.link.protocol import VERSION, Status, Targets, decode, encode, loopback_address

__all__ = [
    "PCA9685",
    "VERSION",
    "Calibration",
    "LinkReport",
    "LossyChannel",
    "RobotLink",
    "Servo",
    "ServoBoard",
    "Status",
    "Targets",
    "calibration_of",
    "decode",
    "emulate",
    "encode",
    "loopback_address",
    "play",
]
