"""The schema of scenario files: `Scenario` and its tables."""

from surefoot.scenario.schema.balance import BalanceTable, MoveTable, TaskTable
from surefoot.scenario.schema.controllers import ControllerTable, ForcePointTable, KeyframeTable, WaveTable
from surefoot.scenario.schema.events import EventTable
from surefoot.scenario.schema.kinds import KindTable
from surefoot.scenario.schema.motions import MotionTable, StepTable, WeightsTable
from surefoot.scenario.schema.planning import OMPL_NAMES, PlannerTable
from surefoot.scenario.schema.receding import MpcTable
from surefoot.scenario.schema.scenario import (
    AuditTable,
    ConstraintMethod,
    EstimatorTable,
    InitialTable,
    RobotTable,
    Scenario,
    SensorsTable,
    SimulationTable,
    TouchTable,
)
from surefoot.scenario.schema.walking import VelocityTable, WalkTable
from surefoot.scenario.schema.world import GroundTable, ObjectTable, ObstacleTable, WorldTable

__all__ = [
    "OMPL_NAMES",
    "AuditTable",
    "BalanceTable",
    "ConstraintMethod",
    "ControllerTable",
    "EstimatorTable",
    "EventTable",
    "ForcePointTable",
    "GroundTable",
    "InitialTable",
    "KeyframeTable",
    "KindTable",
    "MotionTable",
    "MoveTable",
    "MpcTable",
    "ObjectTable",
    "ObstacleTable",
    "PlannerTable",
    "RobotTable",
    "Scenario",
    "SensorsTable",
    "SimulationTable",
    "StepTable",
    "TaskTable",
    "TouchTable",
    "VelocityTable",
    "WalkTable",
    "WaveTable",
    "WeightsTable",
    "WorldTable",
]
