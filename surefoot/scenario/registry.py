"""Import objects by name on first use: a run loads only the motion and the study that it uses."""

from __future__ import annotations

import importlib
from typing import Any


def imported(reference: str) -> Any:
    """Import an object.

    Args:
        reference: `module:name`.
    """
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)
