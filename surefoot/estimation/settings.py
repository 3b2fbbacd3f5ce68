"""`EstimatorSettings`: what the estimator believes about sensors and ground."""

from __future__ import annotations

from dataclasses import dataclass, fields

from surefoot.arrays import number


@dataclass(frozen=True)
class EstimatorSettings:
    """Standard deviations that the filter reckons with. The defaults go with the default sensors of a simulation.

    Args:
        gyro_noise: Density [rad/s/√Hz].
        accelerometer_noise: Density [m/s²/√Hz].
        gyro_walk: Of the gyroscope's offset [rad/s/√s].
        accelerometer_walk: Of the accelerometer's offset [m/s²/√s].
        encoder_noise: Of a joint position, with quantisation [rad] or [m].
        encoder_velocity_noise: Of a joint velocity [rad/s] or [m/s].
        joint_acceleration: What a joint may do while its encoder is silent [rad/s²] or [m/s²].
        joint_memory: Time constant of a joint velocity that nobody measures [s].
        point_noise: Of where a contact touches: rounding and softness of foot and ground [m].
        point_drift: Of a foothold [m/√s].
        gate: Squared Mahalanobis distance of a contact point (3 degrees of freedom) beyond which it slips.
        patience: How long a point may be beyond the gate before a new foothold is taken [s].
        grip_load: Normal force from which on a contact that touches is a full foothold; with less, as while it lands or
            leaves, it counts less. As share of the weight divided by the number of contacts.
        slip_speed: Doubt about the velocity when all points are beyond the gate [m/s].
        silent_gyro: Error of the angular velocity of the legs while the gyroscope is silent [rad/s].
        silent_accelerometer: Acceleration that may happen while the accelerometer is silent [m/s²].
        leg_velocity: Error of the velocity of the legs, used while the accelerometer is silent [m/s].
        touch_force: Normal force at which a touch is as likely as not, as share of the weight.
        touch_hysteresis: How much lower that is for a contact that touches, as share of the weight.
        touch_width: Width of the logistic curve, as share of the weight.
        touch_time: Time constant of the contact probability [s].
        rest_speed: Speed [m/s] at which a contact that no sensor sees is as likely at rest as not.
        initial_attitude: Of the first state [rad].
        initial_velocity: Of the first state [m/s].
        initial_position: Of the first state [m].
        initial_gyro_bias: Of the gyroscope's offset at the start [rad/s].
        initial_accelerometer_bias: Of the accelerometer's offset at the start [m/s²].
        imu: Link or frame that carries the IMU, on the same body as the base; None for the base itself.
    """

    gyro_noise: float = 2.6e-4
    accelerometer_noise: float = 2.1e-3
    gyro_walk: float = 2e-5
    accelerometer_walk: float = 2e-4
    encoder_noise: float = 2e-4
    encoder_velocity_noise: float = 0.01
    joint_acceleration: float = 30.0
    joint_memory: float = 0.05
    point_noise: float = 3e-4
    point_drift: float = 1e-3
    gate: float = 21.1
    patience: float = 0.02
    grip_load: float = 0.5
    slip_speed: float = 0.2
    silent_gyro: float = 0.1
    silent_accelerometer: float = 3.0
    leg_velocity: float = 0.02
    touch_force: float = 0.03
    touch_hysteresis: float = 0.015
    touch_width: float = 0.004
    touch_time: float = 0.005
    rest_speed: float = 0.1
    initial_attitude: float = 0.01
    initial_velocity: float = 0.02
    initial_position: float = 1e-4
    initial_gyro_bias: float = 3e-3
    initial_accelerometer_bias: float = 0.03
    imu: str | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            if item.name != "imu":
                number(getattr(self, item.name), f"`{item.name}` of the estimator", positive=True)
