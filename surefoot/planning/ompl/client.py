"""`OmplWorker`: queries to the process in which OMPL plans."""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Self

from surefoot.errors import NotSupportedError, SimulationError
from surefoot.planning.ompl.problem import Checks, OmplPlan, Query
from surefoot.processes import isolated_python

_SIZE = struct.Struct("<Q")


class OmplWorker:
    """A process that imports OMPL and answers one query after another.

        with OmplWorker(among_boxes, low, high) as worker:
            plan = worker.plan(Query(start, goal, lower, upper, planner="SBL"))

    Functions do not cross processes: the worker imports `factory` by its name and calls it there, so that kernels are
    loaded from the cache on disk. Every query runs in a fork of the worker, with random numbers of its own seed.

    Args:
        factory: A function of a module that the worker can import; it returns `Checks`.
        *arguments: Its arguments; anything that can be pickled, such as robots and worlds.
        folders: Folders that the worker may import modules from besides those installed.

    Raises:
        NotSupportedError: OMPL is not installed.
    """

    def __init__(self, factory: Callable[..., Checks], *arguments: Any, folders: Sequence[str | Path] = ()) -> None:
        if find_spec("ompl") is None:
            raise NotSupportedError("OMPL is not installed", next_step="pip install surefoot[ompl]")
        self._stack = ExitStack()
        program = self._stack.enter_context(isolated_python("-m", "surefoot.planning.ompl.worker"))
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": environment}
        self._process = subprocess.Popen(**program, **pipes)
        self._stack.callback(self._end)
        self._send([str(Path(folder).resolve()) for folder in folders])
        self.set_problem(factory, *arguments)

    def set_problem(self, factory: Callable[..., Checks], *arguments: Any) -> None:
        """Plan in another problem from now on; the last ones are kept in the worker and need not be built again."""
        self._problem = pickle.dumps((factory, arguments))

    def plan(self, query: Query) -> OmplPlan:
        """Plan.

        Args:
            query: From where to where.

        Raises:
            SimulationError: The worker ended, or its problem failed; with its message.
        """
        self._send((self._problem, query))
        answer = receive(self._process.stdout)
        if answer is None:
            raise SimulationError(f"the worker of OMPL ended with status {self._process.wait()}")
        if isinstance(answer, str):
            raise SimulationError("planning in OMPL's process failed", evidence={"reason": answer})
        plan: OmplPlan = answer
        return plan

    def close(self) -> None:
        """End the process."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, message: Any) -> None:
        try:
            send(self._process.stdin, message)
        except (BrokenPipeError, ValueError) as error:
            raise SimulationError("the worker of OMPL has ended") from error

    def _end(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def send(pipe: IO[bytes] | None, message: Any) -> None:
    """Write a message with its size before it.

    Args:
        pipe: To write to.
        message: Anything that can be pickled.
    """
    if pipe is None:
        raise ValueError("there is no pipe")
    data = pickle.dumps(message)
    pipe.write(_SIZE.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: IO[bytes] | None) -> Any:
    """The next message; None at the end.

    Args:
        pipe: To read from; the other end is a process of this package.
    """
    head = b"" if pipe is None else pipe.read(_SIZE.size)
    if pipe is None or len(head) < _SIZE.size:
        return None
    (size,) = _SIZE.unpack(head)
    data = pipe.read(size)
    return pickle.loads(data) if len(data) == size else None
