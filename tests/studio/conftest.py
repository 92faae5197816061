"""The studio and the browser that tests of its page share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.output.conftest import chromium  # noqa: F401 - a fixture
from tests.support.studios import RunningStudio, running


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    """A studio that the tests of a file share; its working folder is empty at first."""
    with running(tmp_path_factory.mktemp("studio")) as studio:
        yield studio
        assert studio.process.poll() is None
