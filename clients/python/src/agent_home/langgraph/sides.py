"""Which of the two clients an adapter was given."""

from __future__ import annotations

from .. import AgentHome, AsyncAgentHome


def sync_home(home: AgentHome | AsyncAgentHome) -> AgentHome:
    if isinstance(home, AgentHome):
        return home
    raise TypeError("a synchronous call needs an AgentHome, but got an AsyncAgentHome")


def async_home(home: AgentHome | AsyncAgentHome) -> AsyncAgentHome:
    if isinstance(home, AsyncAgentHome):
        return home
    raise TypeError("an asynchronous call needs an AsyncAgentHome, but got an AgentHome")
