"""Service managers that are no real ones."""

from __future__ import annotations

import pytest
import service_managers


@pytest.fixture
def managers(home):
    """Stand-ins for the programs of service managers."""
    return service_managers.ServiceManagers(home / "managers")
