"""The `[[events]]` tables of a scenario file."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from surefoot.scenario.schema.kinds import Friction, KindTable, NotNegative, Positive, Time, Vector
from surefoot.scenario.schema.world import GroundTable
from surefoot.scenario.table import complaint


class EventTable(KindTable):
    """`[[events]]`: something that happens.

    Args:
        kind: What happens.
        time: When it begins [s].
        duration: How long it lasts [s]; by default 0.1 s for a push, and until the end for a payload.
        link: The link that is pushed, loaded or changed; default: the base of the robot. "torso" is the trunk of
            a robot with feet, if no link has that name, "left_hand" and "right_hand" its hands.
        at: Where a push acts: "body", at the centre of mass of the link's body, or "com_height".
        direction: Of the force of a push, in world.
        speed: Impulse of the push per mass of the robot [m/s]; default 0.1.
        impulse: Impulse of the push [N s].
        margin: Impulse of the push over M ω s, with ω = √(g / height of the centre of mass) and s the distance from the
            ground projection of the centre of mass to the edge of the support polygon in the direction of the push.
        force: Of the push, in world [N], instead of an impulse.
        moment: Of the push, in world [N m].
        steps: Push in the middle of every so-many-th swing of `[walk]`, from `time` on, by the times of its plan.
        turn: How much the direction turns from one of these pushes to the next [rad].
        friction: New Coulomb coefficient.
        pieces: Indices of the affected pieces of ground; default: all.
        mass: Of the payload [kg].
        share: Mass of the payload over that of the robot.
        position: Of the payload in the frame of the link [m].
        ground: The new pieces of ground.
        sensor: Names of the silenced sensors; * and ? are wildcards.
        mass_factor: Factor on masses and moments of inertia.
        com: Shift of centres of mass in body axes [m].
    """

    KINDS: ClassVar[dict[str, str]] = {
        "push": "pushes a link; the first of `force` and `moment`, `impulse`, `speed` and `margin` applies",
        "friction": "changes the friction of the ground",
        "payload": "adds a load to a link without telling the controller",
        "terrain": "replaces the ground by one with the same kinds of pieces",
        "sensor_loss": "silences sensors",
        "parameter_error": "changes the masses of the robot from the start without telling the controller",
    }
    KEYS: ClassVar[dict[str, set[str]]] = {
        "push": {
            *("duration", "link", "at", "direction", "speed", "impulse", "margin", "force", "moment", "steps", "turn"),
        },
        "friction": {"friction", "pieces"},
        "payload": {"duration", "link", "mass", "share", "position"},
        "terrain": {"ground"},
        "sensor_loss": {"duration", "sensor"},
        "parameter_error": {"mass_factor", "com", "link"},
    }
    NEEDS: ClassVar[dict[str, set[str]]] = {
        "friction": {"friction"},
        "terrain": {"ground"},
        "sensor_loss": {"duration", "sensor"},
    }

    kind: Literal["push", "friction", "payload", "terrain", "sensor_loss", "parameter_error"] = "push"
    time: Time = 1.0
    duration: Positive | None = None
    link: str | None = None
    at: Literal["body", "com_height"] | None = None
    direction: Vector | None = None
    speed: NotNegative | None = None
    impulse: NotNegative | None = None
    margin: NotNegative | None = None
    force: Vector | None = None
    moment: Vector | None = None
    steps: Annotated[int, Field(ge=1)] | None = None
    turn: float | None = None
    friction: Friction | None = None
    pieces: list[Annotated[int, Field(ge=0)]] | None = None
    mass: Positive | None = None
    share: Positive | None = None
    position: Vector | None = None
    ground: list[GroundTable] | None = None
    sensor: str | None = None
    mass_factor: Positive | None = None
    com: Vector | None = None

    @model_validator(mode="after")
    def _payload_is_clear(self) -> Self:
        if self.kind == "payload" and (self.mass is None) == (self.share is None):
            raise complaint("kind", self.kind, "a payload needs one of `mass` and `share`")
        return self

    @model_validator(mode="after")
    def _push_is_clear(self) -> Self:
        if self.direction is not None and sum(x * x for x in self.direction) < 1e-18:
            raise complaint("direction", list(self.direction), "the direction of a push must not be zero")
        return self
