"""For LangGraph: checkpoints and a store that are kept in a home."""

from .saver import AgentHomeSaver

__all__ = ["AgentHomeSaver"]
