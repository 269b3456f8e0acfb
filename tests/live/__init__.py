"""The real watcher, real editors and real processes; failures of these modules' asserts are explained too."""

import pytest

pytest.register_assert_rewrite("tests.live.places", "tests.live.terminal", "tests.live.watched")
