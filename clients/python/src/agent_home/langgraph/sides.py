"""Which of the two clients an adapter was given."""

from __future__ import annotations

from .. import AgentHome, AsyncAgentHome


def sync_home(home: AgentHome | AsyncAgentHome) -> AgentHome:
    if isinstance(home, AgentHome):
        return home
    raise TypeError("what is not awaited needs an AgentHome, and this was given an AsyncAgentHome")


def async_home(home: AgentHome | AsyncAgentHome) -> AsyncAgentHome:
    if isinstance(home, AsyncAgentHome):
        return home
    raise TypeError("what is awaited needs an AsyncAgentHome, and this was given an AgentHome")
