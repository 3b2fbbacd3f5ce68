"""Encoders, IMU, force and contact sensors with noise, bias, delay, quantisation and drop-out."""

from surefoot.sim.sensors.sensors import Sensors, TouchBits, Truth
from surefoot.sim.sensors.settings import SensorSettings

__all__ = ["SensorSettings", "Sensors", "TouchBits", "Truth"]
