"""What the tests share: where a home runs."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from agent_home import AgentHome, BirthResult


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
