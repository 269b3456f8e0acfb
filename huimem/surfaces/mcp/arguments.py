"""What a model sends as arguments → the values of a tool's parameters, or a refusal that it can act on.

In: a table of parameters and a JSON object. Out: a value for each. Names that models make up are taken for
the parameter they mean, and never stand in the schema; a name that means nothing is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from huimem.errors import UsageError

Schema = Mapping[str, object]


class Unfit(Exception):
    """A value is none that its parameter takes."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool: what it means, how its value is read (raises `Unfit`), its other names.

    `expected` says in words what the value must be. `hidden` ones are taken and not listed.
    """

    name: str
    about: str
    schema: Schema
    read: Callable[[object], object]
    expected: str
    default: object = None
    required: bool = False
    synonyms: tuple[str, ...] = ()
    hidden: bool = False


def text(
    name: str, about: str, *synonyms: str, default: str | None = None, required: bool = False
) -> Parameter:
    """Words; a list of them is joined by blanks, a number is taken as it is written."""
    return Parameter(name, about, {"type": "string"}, _text, "a text", default, required, synonyms)


def texts(name: str, about: str, *synonyms: str) -> Parameter:
    """Several words; one alone is taken for a list of one."""
    schema = {"type": "array", "items": {"type": "string"}}
    return Parameter(name, about, schema, _texts, "a list of texts", (), synonyms=synonyms)


def count(name: str, about: str, *synonyms: str, default: int, least: int, most: int) -> Parameter:
    """A whole number inside bounds; its digits as a text will do."""

    def read(value: object) -> int:
        number = _number(value)
        if number != int(number) or not least <= number <= most:
            raise Unfit
        return int(number)

    schema = {"type": "integer", "default": default, "minimum": least, "maximum": most}
    expected = f"a whole number from {least:,} to {most:,}"
    return Parameter(name, about, schema, read, expected, default, synonyms=synonyms)


def share(name: str, about: str, *synonyms: str, default: float) -> Parameter:
    """A number from 0 to 1."""

    def read(value: object) -> float:
        number = _number(value)
        if not 0 <= number <= 1:
            raise Unfit
        return number

    schema = {"type": "number", "default": default}
    return Parameter(name, about, schema, read, "a number from 0 to 1", default, synonyms=synonyms)


def choice(name: str, about: str, *values: str) -> Parameter:
    """One of some words, the first where none is given."""

    def read(value: object) -> str:
        word = value.strip().lower() if isinstance(value, str) else ""
        if word not in values:
            raise Unfit
        return word

    schema = {"enum": list(values), "default": values[0]}
    return Parameter(name, about, schema, read, " or ".join(f'"{value}"' for value in values), values[0])


def messages(name: str, about: str, *synonyms: str) -> Parameter:
    """Messages as chat programs hand them over: objects with a role and content; one alone will do."""
    shape = {"type": "object", "required": ["role", "content"]}
    schema = {"type": "array", "items": shape}
    expected = 'a list of {"role": …, "content": …}'
    return Parameter(name, about, schema, _objects, expected, required=True, synonyms=synonyms)


def hidden(parameter: Parameter) -> Parameter:
    """The same, taken where it is given and not listed."""
    return replace(parameter, hidden=True)


def input_schema(parameters: Sequence[Parameter]) -> dict[str, object]:
    """The JSON schema of the arguments that are listed."""
    listed = [one for one in parameters if not one.hidden]
    schema: dict[str, object] = {
        "type": "object",
        "properties": {one.name: _described(one) for one in listed},
    }
    required = [one.name for one in listed if one.required]
    return {**schema, "required": required} if required else schema


def _described(parameter: Parameter) -> dict[str, object]:
    about = {"description": parameter.about} if parameter.about else {}
    return {**parameter.schema, **about}


def read(parameters: Sequence[Parameter], given: Mapping[str, object]) -> dict[str, object]:
    """The value of every parameter; null counts as not given.

    Raises `UsageError` for a name that is none, for one parameter named twice, for a value that does not
    fit, and for a required one that is missing.
    """
    names = {name: one for one in parameters for name in (one.name, *one.synonyms)}
    found: dict[str, tuple[str, object]] = {}
    for name, value in given.items():
        meant = names.get(name)
        if meant is None:
            raise UsageError(*_unknown(name, parameters, names))
        if value is None:
            continue
        if meant.name in found:
            other = found[meant.name][0]
            raise UsageError(f"`{other}` and `{name}` are the same argument", f"Give only `{meant.name}`.")
        found[meant.name] = name, value
    for one in parameters:
        if one.required and one.name not in found:
            raise UsageError(f"`{one.name}` is missing", f"It must be {one.expected}. {one.about}".strip())
    return {
        one.name: _fitted(one, *found[one.name]) if one.name in found else one.default for one in parameters
    }


def _unknown(name: str, parameters: Sequence[Parameter], names: Mapping[str, Parameter]) -> tuple[str, str]:
    near = get_close_matches(name.lower(), names, n=1)
    known = ", ".join(f"`{one.name}`" for one in parameters if not one.hidden)
    shown = name if len(name) <= 40 else f"{name[:40]}…"
    if near:
        return f"unknown argument `{shown}`: did you mean `{names[near[0]].name}`?", f"It takes {known}."
    return f"unknown argument `{shown}`", f"It takes {known}."


def _fitted(parameter: Parameter, name: str, value: object) -> object:
    try:
        return parameter.read(value)
    except (Unfit, ValueError, OverflowError):
        unfit = f"`{name}` is {_sort(value)}, and must be {parameter.expected}"
    default = parameter.default
    without = "Or leave it out." if default in (None, ()) else f"Without it, it is {json.dumps(default)}."
    raise UsageError(unfit, f"{parameter.about} {'' if parameter.required else without}".strip())


def _sort(value: object) -> str:
    """The JSON type of a value; of a number the value too, which is no secret."""
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return f"the number {value:.10g}"
        case str():
            return "a text" if value.strip() else "an empty text"
        case list():
            return "a list"
        case _:
            return "an object"


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Unfit
    return float(value)


def _text(value: object) -> str:
    match value:
        case str():
            return value
        case bool():
            raise Unfit
        case int() | float():
            return str(value)
        case list() if value and all(isinstance(one, str) for one in value):
            return " ".join(value)
    raise Unfit


def _texts(value: object) -> tuple[str, ...]:
    match _unpacked(value):
        case str() as word:
            return (word,) if word.strip() else ()
        case list() as words if all(isinstance(word, str) for word in words):
            return tuple(word for word in words if word.strip())
    raise Unfit


def _objects(value: object) -> list[dict[str, object]]:
    match _unpacked(value):
        case dict() as one:
            return [one]
        case list() as several if several and all(isinstance(one, dict) for one in several):
            return several
    raise Unfit


def _unpacked(value: object) -> object:
    """A list or an object that was sent as the text of it."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
