"""Studies of Koch that can be repeated: walking with five objectives (chapter 7), the swing-up (section 5.3)."""

from surefoot.ocp.studies.statements import Statement, statements
from surefoot.ocp.studies.swingup import (
    TABLE,
    GuessRun,
    NodeRun,
    SwingRow,
    node_study,
    random_guesses,
    swing_table,
)
from surefoot.ocp.studies.walking import KOCH, SETS, WalkRun, walking_study

__all__ = [
    "KOCH",
    "SETS",
    "TABLE",
    "GuessRun",
    "NodeRun",
    "Statement",
    "SwingRow",
    "WalkRun",
    "node_study",
    "random_guesses",
    "statements",
    "swing_table",
    "walking_study",
]
