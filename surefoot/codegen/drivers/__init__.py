"""Assembly of loops around kernels: over batches, over time, and the entry point from Python.

Imported only where the cache has no object code of them, which saves the time to import them.
"""

from surefoot.codegen.drivers.batch import driver_module
from surefoot.codegen.drivers.entry_point import entry_module
from surefoot.codegen.drivers.queue import queue_module
from surefoot.codegen.drivers.repeated import repeat_module

__all__ = ["driver_module", "entry_module", "queue_module", "repeat_module"]
