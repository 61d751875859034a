"""What the tests share: where a home runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeVar

import httpx

from agent_home import AgentHome, BirthResult

T = TypeVar("T")

#: `npm run test:system` and `npm run hunt` try every row of a table.
IS_WHOLE = os.environ.get("AGENT_HOME_TEST_RUN") in ("system", "hunt")


def promised(rows: Sequence[T], start: int = 0) -> Sequence[T]:
    """The rows that this run tries: every fourth one from `start`, or all of them."""
    return rows if IS_WHOLE else rows[start::4]


class Quiet(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(kind: type[Quiet]) -> Iterator[str]:
    """Runs a server with this handler for the length of the block, and yields its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        # shutdown() blocks until the server polls again: every 0.5 s by default.
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@dataclass(frozen=True)
class Where:
    """Of a service that runs."""

    url: str
    #: The way on which requests meet faults.
    faulty: str
    #: The file of its database.
    database: str
    #: Past the client.
    http: httpx.Client

    def meet(self, *faults: dict[str, object]) -> None:
        """The next requests on the faulty way."""
        self.http.put(f"{self.faulty}/faults", json=faults)

    def asked(self) -> int:
        """How many came since then."""
        asked: int = self.http.get(f"{self.faulty}/faults").json()["asked"]
        return asked

    def born(self) -> BirthResult:
        return AgentHome.birth(
            url=self.url,
            name="Atlas",
            purpose="Keeps the plan of a long migration.",
            symbol="zerno",
            operator_consent=True,
        )
