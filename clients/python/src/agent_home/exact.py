"""JSON whose numbers keep their digits, and dataclasses as they are sent."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints


class Number(float):
    """A float that remembers how it was written: sent again, it is the same text."""

    __slots__ = ("source",)
    source: str

    def __new__(cls, source: str) -> Number:
        number = super().__new__(cls, source)
        number.source = source
        return number

    def __reduce__(self) -> tuple[type[Number], tuple[str]]:
        return Number, (self.source,)


def _int(source: str) -> int | Number:
    # An int has no sign at zero.
    return Number(source) if source == "-0" else int(source)


_decoder = json.JSONDecoder(parse_float=Number, parse_int=_int)
_strict = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_ascii = json.JSONEncoder()


def loads(text: str) -> Any:
    """Raises ValueError without quoting the text, which may hold a token."""
    try:
        return _decoder.decode(text)
    except ValueError:
        pass
    raise ValueError("The JSON is incomplete.")


def decode_at(text: str, at: int) -> tuple[Any, int]:
    """The value that begins at an index, and the index after it."""
    return _decoder.raw_decode(text, at)


def _string(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, which no UTF-8 can say: the home refuses it in words.
        return _ascii.encode(value)
    return _strict.encode(value)


T = TypeVar("T")


def bounded(work: Callable[[Any], T], value: object) -> T:
    """Raises ValueError for a value that recursive work does not come to the end of."""
    try:
        return work(value)
    except RecursionError:
        pass
    raise ValueError("the value contains itself, or is nested too deep")


def dumps(value: object) -> str:
    """Raises TypeError and ValueError for what is no JSON."""
    return bounded(_written, value)


def _written(value: object) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Number):
        return value.source
    if isinstance(value, Mapping):
        members = []
        for name, member in value.items():
            if not isinstance(name, str):
                raise TypeError("the names of JSON are strings")
            members.append(f"{_string(name)}:{_written(member)}")
        return "{" + ",".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_written, value)) + "]"
    return _strict.encode(value)


#: Names that are written so on the wire.
_AS_THEY_ARE = frozenset(("agent_id", "operator_token"))


@cache
def wire_name(name: str) -> str:
    """`created_at` is `createdAt`; `from_` is `from`."""
    if name in _AS_THEY_ARE:
        return name
    first, *others = name.rstrip("_").split("_")
    return first + "".join(map(str.capitalize, others))


def sent(value: object) -> dict[str, Any]:
    """A dataclass as JSON; what is None is left out."""
    fields = dataclasses.fields(cast(Any, value))
    found = ((wire_name(field.name), getattr(value, field.name)) for field in fields)
    return {name: member for name, member in found if member is not None}


_Decode = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def _decode_of(hint: Any) -> _Decode:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (inner,) = (each for each in args if each is not type(None))
        decode = _decode_of(inner)
        return decode if decode is _same else lambda value: None if value is None else decode(value)
    if origin in (list, Sequence):
        decode = _decode_of(args[0])
        return decode if decode is _same else lambda value: [decode(each) for each in value]
    if dataclasses.is_dataclass(hint):
        return _object_of(cast(Any, hint))
    return _same


@cache
def _object_of(kind: Any) -> _Decode:
    hints = get_type_hints(kind)
    members = [
        (field.name, wire_name(field.name), _decode_of(hints[field.name]))
        for field in dataclasses.fields(kind)
        if field.init
    ]

    def decode(value: Mapping[str, Any]) -> Any:
        given = {name: of(value[wire]) for name, wire, of in members if wire in value}
        return kind(**given)

    return decode


def received(kind: type[T], value: Any) -> T:
    """What the home answered, as a dataclass; what this version does not know is left out."""
    return cast(T, _object_of(cast(Any, kind))(value))
