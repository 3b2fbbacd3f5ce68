"""`write_film`: a motion as MP4 or GIF, made without a display."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from surefoot.errors import FileFormatError, NotSupportedError, one_of
from surefoot.files import atomic_write
from surefoot.report.evidence import Evidence
from surefoot.report.video_browser import browser_film
from surefoot.report.video_camera import FilmSettings, film_times
from surefoot.report.video_encoder import FILM_SUFFIXES, film_encoder
from surefoot.report.video_mujoco import mujoco_film, open_gl
from surefoot.report.video_protocol import find_browser

__all__ = ["RENDERERS", "Film", "open_film", "write_film"]

RENDERERS = ("auto", "browser", "mujoco")


class Film(Protocol):
    """What takes pictures of a motion; `kind` says what `film_encoder` gets: "jpeg" or "rgb24"."""

    kind: str

    def picture(self, t: float) -> bytes:
        """The picture at a time [s]."""


def write_film(
    path: str | Path,
    evidence: Evidence,
    settings: FilmSettings | None = None,
    renderer: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> int:
    """Write a film of a motion, whole or not at all.

    Args:
        path: The file, `.mp4` or `.gif`.
        evidence: The motion, and what to show beside it.
        settings: How; the defaults if left out.
        renderer: "browser": the page of the report in chromium; "mujoco": MuJoCo with EGL or OSMesa; "auto": the
            first of these that is there.
        progress: Called with the share that is done, 0…1.

    Returns:
        The number of pictures.

    Raises:
        NotSupportedError: Nothing is there that could draw; the message names what to install.
        FileFormatError: The suffix is not known, or the file cannot be written.
    """
    how = settings or FilmSettings()
    suffix = Path(path).suffix.lower()
    if suffix not in FILM_SUFFIXES:
        raise FileFormatError(f"suffix `{suffix}` is no film", file=path, next_step=f"use {' or '.join(FILM_SUFFIXES)}")
    times = film_times(float(evidence.time[0]), float(evidence.time[-1]), how)
    with (
        atomic_write(path) as temporary,
        open_film(evidence, how, renderer) as film,
        film_encoder(temporary, suffix, how, film.kind) as add,
    ):
        for k, t in enumerate(times.tolist(), 1):
            add(film.picture(t))
            if progress is not None:
                progress(k / len(times))
    return len(times)


def open_film(evidence: Evidence, settings: FilmSettings, renderer: str = "auto") -> AbstractContextManager[Film]:
    """What takes the pictures, as a context.

    Args:
        evidence: The motion.
        settings: Size and camera.
        renderer: One of `RENDERERS`.
    """
    if renderer not in RENDERERS:
        raise one_of("renderer", renderer, RENDERERS)
    if renderer == "browser" or (renderer == "auto" and find_browser() is not None):
        return browser_film(evidence, settings)
    try:
        return mujoco_film(evidence, settings, open_gl(settings.size))
    except NotSupportedError as error:
        if renderer == "mujoco":
            raise
        raise NotSupportedError(
            "there is nothing here that could draw a film: no chromium, and no GL library for MuJoCo",
            evidence=error.evidence,
            next_step="run `make browser` (chromium), or install a GL library (Debian: libegl1 or libosmesa6)",
        ) from error
