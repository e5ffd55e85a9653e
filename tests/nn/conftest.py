"""Fixtures for the tests of nn."""

import pytest
import torch


@pytest.fixture(autouse=True)
def uninitialised_memory_is_not_a_number():
    """In deterministic mode PyTorch fills new tensors with NaN: a kernel that leaves a number unwritten shows at once."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    assert torch.utils.deterministic.fill_uninitialized_memory
    yield
    torch.use_deterministic_algorithms(before)
