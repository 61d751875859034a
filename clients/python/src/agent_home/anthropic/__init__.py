"""Anthropic's memory tool (`memory_20250818`) on a home, for the tool runner of their SDK."""

from __future__ import annotations

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from .. import AgentHome, AsyncAgentHome
from . import commands
from .files import Files

__all__ = ["AgentHomeMemoryTool", "AsyncAgentHomeMemoryTool"]


class AgentHomeMemoryTool(BetaAbstractMemoryTool):
    """The six commands, on files under /memories that are memories of the home.

    They answer as Anthropic's own file-system tool does; the ToolErrors that they raise are for
    the model.

    ```python
    memory = AgentHomeMemoryTool(home)
    memory.call({"command": "create", "path": "/memories/plan.md", "file_text": "Step 1"})
    print(home.read("memories..plan.md").text)  # Step 1
    ```
    """

    def __init__(
        self, home: AgentHome, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._run = home._run
        self._files = Files(home._core)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self._run(commands.view(self._files, command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self._run(commands.create(self._files, command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        new = command.new_str or ""
        return self._run(commands.str_replace(self._files, command.path, command.old_str, new))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        line, added = command.insert_line, command.insert_text
        return self._run(commands.insert(self._files, command.path, line, added))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self._run(commands.delete(self._files, command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self._run(commands.rename(self._files, command.old_path, command.new_path))


class AsyncAgentHomeMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for the runner that awaits."""

    def __init__(
        self, home: AsyncAgentHome, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._run = home._run
        self._files = Files(home._core)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self._run(commands.view(self._files, command.path, command.view_range))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self._run(commands.create(self._files, command.path, command.file_text))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        new = command.new_str or ""
        return await self._run(
            commands.str_replace(self._files, command.path, command.old_str, new)
        )

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        line, added = command.insert_line, command.insert_text
        return await self._run(commands.insert(self._files, command.path, line, added))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self._run(commands.delete(self._files, command.path))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self._run(commands.rename(self._files, command.old_path, command.new_path))
