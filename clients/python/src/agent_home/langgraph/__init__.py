"""For LangGraph: checkpoints and a store that are kept in a home."""

from .saver import AgentHomeSaver
from .store import AgentHomeStore

__all__ = ["AgentHomeSaver", "AgentHomeStore"]
