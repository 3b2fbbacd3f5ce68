"""Films: read back, they have the pictures that were asked for, and these show something that moves."""

from __future__ import annotations

import io
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from surefoot.errors import FileFormatError, NotSupportedError, ShapeError, UnknownNameError
from surefoot.motion import World
from surefoot.report.evidence import Evidence
from surefoot.report.video import mujoco as video_mujoco
from surefoot.report.video import video
from surefoot.report.video.browser import open_browser
from surefoot.report.video.camera import Camera, FilmSettings, film_times, parse_camera, parse_size
from surefoot.report.video.video import film_encoder, write_film
from surefoot.robot import zoo
from tests.conftest import BROWSER
from tests.report.motions import swaying

SIZE = (320, 180)


def pictures_of(path) -> tuple[list[np.ndarray], dict]:
    """All pictures (height, width, 3) of a film, and what is known about it."""
    import imageio_ffmpeg

    reader = imageio_ffmpeg.read_frames(str(path))
    facts = next(reader)
    width, height = facts["size"]
    return [np.frombuffer(frame, np.uint8).reshape(height, width, 3).astype(int) for frame in reader], facts


def pixels_of(picture: bytes, kind: str) -> np.ndarray:
    """(height, width, 3) of what a film gives."""
    if kind == "rgb24":
        return np.frombuffer(picture, np.uint8).reshape(SIZE[1], SIZE[0], 3).astype(int)
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), dtype=int)


def evidence_of(name: str = "hexapod", end: float = 0.2) -> Evidence:
    robot = zoo.load(name)
    motion = swaying(robot, end, 51)
    q = np.array(motion.q)
    if robot.base == "floating":
        q[:, 0] += np.linspace(0.0, 0.3, len(q))
    return Evidence("film", robot, motion.time, q, world=World(), v=motion.v, wrenches=motion.wrenches)


def assert_shows_something_that_moves(pictures: list[np.ndarray]) -> None:
    for picture in pictures:
        assert picture.std() > 5.0, "blank"
        assert len(np.unique(picture.reshape(-1, 3) // 16, axis=0)) > 10, "hardly any colours"
    for before, after in pairwise(pictures):
        assert (np.abs(after - before).max(axis=-1) > 24).sum() > 20, "nothing moves"


# ── settings ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_film_is_as_long_as_the_motion_takes_at_its_speed():
    for speed, count in ((1.0, 300), (0.5, 600), (4.0, 75)):
        times = film_times(2.0, 12.0, FilmSettings(fps=30.0, speed=speed))
        assert len(times) == count
        assert (times[0], times[-1]) == (2.0, 12.0)
        np.testing.assert_allclose(np.diff(times), 10.0 / (count - 1))
    assert len(film_times(0.0, 1e-3, FilmSettings())) == 2


def test_cameras_are_read_from_words():
    assert parse_camera("follow") == Camera()
    assert parse_camera("left fixed") == Camera(90.0, 8.0, follow=False)
    assert parse_camera("30,-15,1.5") == Camera(30.0, -15.0, 1.5)
    assert parse_camera("fixed 30,15") == Camera(30.0, 15.0, follow=False)
    with pytest.raises(UnknownNameError, match="front"):
        parse_camera("frnt")
    for text in ("1,2,3,4", "a,b", "30,95", "30,10,0", "left right", "nan,1"):
        with pytest.raises(ShapeError, match="camera"):
            parse_camera(text)


def test_sizes_are_read_from_words():
    assert parse_size("1280x720") == (1280, 720)
    for text in ("1280", "12 x", "-3x4", "1e3x4"):
        with pytest.raises(ShapeError, match="size"):
            parse_size(text)


@pytest.mark.parametrize("wrong", [{"fps": 0.0}, {"fps": np.nan}, {"speed": -1.0}, {"size": (8, 100)}, {"fps": 1e4}])
def test_settings_that_make_no_film_are_refused(wrong):
    with pytest.raises(ShapeError):
        FilmSettings(**wrong)


# ── encoding ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_pictures_come_back_in_order(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    with film_encoder(path, suffix, FilmSettings(size=(64, 48), fps=10.0), "rgb24") as add:
        for k in range(6):
            picture = np.full((48, 64, 3), 40 * k, dtype=np.uint8)
            picture[:24, :, 0] = 200
            add(picture.tobytes())
    pictures, facts = pictures_of(path)
    assert facts["size"] == (64, 48)
    assert facts["fps"] == pytest.approx(10.0)
    assert len(pictures) == 6
    for k, picture in enumerate(pictures):
        assert abs(picture[36:, :, 2].mean() - 40 * k) < 12
        assert abs(picture[:12, :, 0].mean() - 200) < 12  # the top is on top


def test_odd_sizes_are_refused_for_mp4(tmp_path):
    odd = FilmSettings(size=(65, 48))
    with pytest.raises(ShapeError, match="even"), film_encoder(tmp_path / "a", ".mp4", odd, "rgb24"):
        pass


def test_trouble_of_ffmpeg_is_told(tmp_path):
    with pytest.raises(FileFormatError, match="could not be written"):
        _film_into(tmp_path / "no" / "folder.mp4")


def _film_into(path) -> None:
    with film_encoder(path, ".mp4", FilmSettings(size=(64, 48)), "rgb24") as add:
        for _ in range(400):
            add(bytes(64 * 48 * 3))


# ── films ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("renderer", "suffix"), [("browser", ".mp4"), ("browser", ".gif"), ("mujoco", ".mp4")])
def test_a_film_shows_the_motion(tmp_path, renderer, suffix):
    path, shares = tmp_path / f"a{suffix}", []
    settings = FilmSettings(fps=20.0, size=SIZE, camera=Camera(follow=False))
    assert write_film(path, evidence_of(), settings, renderer, shares.append) == 4
    pictures, facts = pictures_of(path)
    assert facts["size"] == SIZE
    assert len(pictures) == 4
    assert_shows_something_that_moves(pictures)
    np.testing.assert_allclose(shares, [0.25, 0.5, 0.75, 1.0])
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


@cache
def shown_thrice(renderer: str) -> tuple[list[bytes], str]:
    """What a film with the usual camera shows at 0.1 s, at 0.2 s and at 0.1 s again, and its kind."""
    with video.open_film(evidence_of(), FilmSettings(size=SIZE), renderer) as film:
        return [film.picture(t) for t in (0.1, 0.2, 0.1)], film.kind


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("renderer", ["browser", "mujoco"])
def test_the_camera_changes_the_picture(renderer):
    shown = [shown_thrice(renderer)[0][0]]
    for camera in (Camera(90.0, 8.0), Camera(zoom=2.0)):
        settings = FilmSettings(size=SIZE, camera=camera)
        with video.open_film(evidence_of(), settings, renderer) as film:
            shown.append(film.picture(0.1))
    assert len(set(shown)) == 3


@pytest.mark.browser
@pytest.mark.parametrize("renderer", ["browser", "mujoco"])
def test_a_time_has_its_picture_whatever_was_shown_before(renderer):
    pictures, kind = shown_thrice(renderer)
    first, other, again = (pixels_of(picture, kind) for picture in pictures)
    assert np.abs(first - again).max() <= 2  # shades of 255
    assert np.abs(first - other).max() > 24


@pytest.mark.slow
@pytest.mark.browser
def test_edges_are_smooth():
    """The pass over the finished picture changes its edges, and only these: they become less steep."""
    with video.open_film(evidence_of(), FilmSettings(size=SIZE, layers=False), "browser") as film:
        smooth = pixels_of(film.picture(0.1), film.kind)
        film._browser.run("WebGL2RenderingContext.prototype.drawArrays = () => {}; 1")  # that of the pass
        rough = pixels_of(film.picture(0.1), film.kind)
    changed = np.abs(smooth - rough).max(axis=-1) > 8
    assert 0.002 < changed.mean() < 0.2
    steepest = [np.abs(np.diff(picture.mean(axis=-1), axis=1)).clip(80.0).sum() for picture in (smooth, rough)]
    assert steepest[0] < 0.999 * steepest[1]


@pytest.mark.browser
def test_mujoco_draws_robots_that_it_cannot_simulate():
    """Bodies are put by our own kinematics, so that every joint and a fixed base will do."""
    with video.open_film(evidence_of("double_pendulum_continuous"), FilmSettings(size=SIZE), "mujoco") as film:
        picture = np.frombuffer(film.picture(0.05), np.uint8).reshape(SIZE[1], SIZE[0], 3)
    assert picture.std() > 5.0


@pytest.mark.browser
def test_trouble_in_a_page_is_told():
    with open_browser(BROWSER) as browser:
        assert browser.run("6 * 7") == 42
        assert browser.run("new Promise(done => setTimeout(() => done('later'), 10))") == "later"
        with pytest.raises(NotSupportedError, match="could not render") as caught:
            browser.run("missing.thing")
        assert "missing is not defined" in caught.value.evidence["reason"]
        browser.run("setTimeout(() => { throw new Error('late trouble'); }, 0); 1")
        with pytest.raises(NotSupportedError, match="could not render") as caught:
            browser.wait_for("false")
        assert "late trouble" in caught.value.evidence["reason"]


def test_without_anything_that_draws_both_remedies_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(video, "find_browser", lambda: None)
    monkeypatch.setattr(video_mujoco, "_BACKENDS", ("no_such_backend",))
    with pytest.raises(NotSupportedError, match="no renderer is available") as caught:
        write_film(tmp_path / "a.mp4", evidence_of(), FilmSettings(size=SIZE))
    assert "make browser" in caught.value.next_step
    assert "libegl1" in caught.value.next_step
    assert not list(tmp_path.iterdir())


def test_a_chromium_that_does_not_start_is_told(tmp_path):
    with pytest.raises(NotSupportedError, match="could not render"), open_browser("/bin/false"):
        pass


def test_a_film_that_breaks_off_leaves_no_file(tmp_path, monkeypatch):
    class Broken:
        kind = "rgb24"

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def picture(self, t: float) -> bytes:
            if t > 0.05:
                raise KeyboardInterrupt
            return bytes(SIZE[0] * SIZE[1] * 3)

    monkeypatch.setattr(video, "open_film", lambda *_: Broken())
    with pytest.raises(KeyboardInterrupt):
        write_film(tmp_path / "a.mp4", evidence_of(), FilmSettings(size=SIZE))
    assert not list(tmp_path.iterdir())


def test_wrong_words_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match="not a video format"):
        write_film(tmp_path / "a.avi", evidence_of())
    with pytest.raises(UnknownNameError, match="renderer"):
        write_film(tmp_path / "a.mp4", evidence_of(), renderer="blender")
