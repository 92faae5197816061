"""The studio and the browser that tests of its page share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.output.conftest import chromium  # noqa: F401 - a fixture
from tests.support.studios import RunningStudio, running


@pytest.fixture(scope="package")
def open_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    with running(tmp_path_factory.mktemp("studio")) as studio:
        yield studio
        assert studio.process.poll() is None


@pytest.fixture(scope="module")
def studio(open_studio: RunningStudio) -> RunningStudio:
    """The studio that all tests share; its working folder is empty at the start of a file."""
    for path in open_studio.folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return open_studio
