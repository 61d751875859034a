"""LangGraph's long-term memory, kept in a home."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    ensure_embeddings,
    get_text_at_path,
    validate_op_namespace,
)
from langgraph.store.base import Op as StoreOp

from .. import AgentHome, AsyncAgentHome, wire
from ..calls import Op, call
from ..fitting import require_prefix
from .items import Items, Namespace
from .plain import plain
from .sides import async_home, sync_home

_LONGEST_PREFIX = 20

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "$gt": lambda found, asked: found > asked,
    "$gte": lambda found, asked: found >= asked,
    "$lt": lambda found, asked: found < asked,
    "$lte": lambda found, asked: found <= asked,
}


def _holds(found: Any, operator: str, asked: Any) -> bool:
    if operator == "$eq":
        return bool(found == asked)
    if operator == "$ne":
        return bool(found != asked)
    if operator not in _COMPARISONS:
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        return _COMPARISONS[operator](float(found), float(asked))
    except (TypeError, ValueError):
        return False


def _agrees(found: Any, asked: Any) -> bool:
    if isinstance(asked, Mapping):
        if any(name.startswith("$") for name in asked):
            return all(_holds(found, name, value) for name, value in asked.items())
        return isinstance(found, Mapping) and all(
            _agrees(found.get(name), value) for name, value in asked.items()
        )
    if isinstance(asked, list | tuple):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(asked)
            and all(map(_agrees, found, asked))
        )
    return bool(found == asked)


def _fits(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    start = len(namespace) - len(path) if condition.match_type == "suffix" else 0
    labels = namespace[start : start + len(path)]
    return all(part in ("*", label) for part, label in zip(path, labels, strict=True))


class AgentHomeStore(BaseStore):
    """A store whose items survive the process: each a memory with its value as JSON.

    With an AgentHome it is for graphs that are invoked, with an AsyncAgentHome for those that are
    awaited. A `query` ranks by similarity with an `index`, and as the home's own search does
    without. The keys begin with `prefix`, 1 to 20 characters. Raises ValueError.

    ```python
    store = AgentHomeStore(home)
    store.put(("users", "ann"), "likes", {"food": "borshch"})
    found = store.search(("users",), filter={"food": "borshch"})
    ```
    """

    def __init__(
        self,
        home: AgentHome | AsyncAgentHome,
        *,
        prefix: str = "store",
        index: IndexConfig | None = None,
    ) -> None:
        self._home = home
        self._items = Items(home._core, require_prefix(prefix, _LONGEST_PREFIX))
        self._index = index
        self._embeddings = ensure_embeddings(index["embed"]) if index else None
        #: Under which the home keeps the vectors.
        self._model = f"langgraph.{index['dims']}" if index else ""

    def batch(self, ops: Iterable[StoreOp]) -> builtins.list[Result]:
        """What is asked finds the store as it was before; then what is put is put at once.

        All of it or none, as long as it is not more than one batch of the home takes.
        """
        embeddings = self._embeddings
        embed = embeddings and (embeddings.embed_query, embeddings.embed_documents)
        return sync_home(self._home)._run(self._batch(list(ops), embed))

    async def abatch(self, ops: Iterable[StoreOp]) -> builtins.list[Result]:
        """The same, awaited."""
        embeddings = self._embeddings
        embed = embeddings and (embeddings.aembed_query, embeddings.aembed_documents)
        return await async_home(self._home)._run(self._batch(list(ops), embed))

    def _batch(self, ops: Sequence[StoreOp], embed: Any) -> Op[builtins.list[Result]]:
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                # The last of each name counts.
                puts[op.namespace, op.key] = _as_kept(op)
                results.append(None)
            elif isinstance(op, GetOp):
                results.append((yield from self._items.get(op.namespace, op.key)))
            elif isinstance(op, SearchOp):
                results.append((yield from self._search(op, embed)))
            else:
                results.append((yield from self._namespaces(op)))
        if puts:
            every = list(puts.values())
            # A model that fails changes nothing.
            vectors = yield from self._vectors_of(every, embed)
            yield from self._items.put(every, vectors, self._model)
        return results

    def _search(self, op: SearchOp, embed: Any) -> Op[builtins.list[SearchItem]]:
        """What answers the query first; the others behind, without a score."""
        asked = plain(op.filter or {})

        def is_wanted(item: Item) -> bool:
            return all(_agrees(item.value.get(name), value) for name, value in asked.items())

        end = op.offset + op.limit
        question = (op.query or "").strip()
        namespace = op.namespace_prefix
        listed = (yield from self._items.under(namespace)) if asked or not question else None
        found: dict[str, SearchItem] = {}
        if question:
            meaning = None
            if embed:
                meaning = wire.Meaning(self._model, (yield from call(embed[0], question)))
            answers = yield from self._items.answering(
                question, namespace, meaning, is_wanted, end, listed
            )
            for key, item, similarity in answers:
                score = 1 / (len(found) + 1) if similarity is None else float(similarity)
                found[key] = _scored(item, score)
        if len(found) < end:
            others = (yield from self._items.under(namespace)) if listed is None else listed
            for key, item in others.items():
                if key not in found and is_wanted(item):
                    found[key] = _scored(item, None)
        return list(found.values())[op.offset : end]

    def _vectors_of(self, puts: Sequence[PutOp], embed: Any) -> Op[Mapping[str, Sequence[float]]]:
        """One vector for each item that has a text to embed, by its key of the home."""
        texts = {self._items.key_of(put): self._text_of(put) for put in puts if embed}
        keys = [key for key, text in texts.items() if text]
        if not keys:
            return {}
        vectors = yield from call(embed[1], [texts[key] for key in keys])
        return dict(zip(keys, vectors, strict=True))

    def _text_of(self, put: PutOp) -> str:
        if put.value is None or put.index is False or self._index is None:
            return ""
        fields = put.index if isinstance(put.index, list) else self._index.get("fields") or ["$"]
        texts = [text for field in fields for text in get_text_at_path(put.value, field)]
        return "\n".join(texts)

    def _namespaces(self, op: ListNamespacesOp) -> Op[builtins.list[Namespace]]:
        every = yield from self._items.namespaces()
        conditions = op.match_conditions or ()
        met = (each for each in every if all(_fits(one, each) for one in conditions))
        return sorted({each[: op.max_depth] for each in met})[op.offset : op.offset + op.limit]


def _as_kept(op: PutOp) -> PutOp:
    return op if op.value is None else op._replace(value=plain(op.value))


def _scored(item: Item, score: float | None) -> SearchItem:
    return SearchItem(
        namespace=item.namespace,
        key=item.key,
        value=item.value,
        created_at=item.created_at,
        updated_at=item.updated_at,
        score=score,
    )
