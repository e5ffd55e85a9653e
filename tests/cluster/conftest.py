"""Nodes that several files share, as each takes seconds to start."""

import pytest

from ray_nodes import Nodes


@pytest.fixture(scope="session")
def three_nodes():
    """Three nodes of one CPU; a test that loses one has the next add another, by ``grow(3)``."""
    cluster = Nodes()
    cluster.grow(3)
    yield cluster
    cluster.shutdown()
