"""The two directives of the reference: a public room, and the commands of the command line."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from functools import partial
from importlib import import_module

from docutils import nodes
from rooms import constant_doc
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from numerics import cli

_ARRAY = re.compile(r"[\w.]*ndarray\[tuple\[[\w.]*Any, \.\.\.\], [\w.]*dtype\[([\w.]+)\]\]")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#$~^|])")


class Room(SphinxDirective):
    """``{room} MODULE``: its docstring and its names; functions first, constants last."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the room."""
        room = self.arguments[0]
        module = import_module(room)
        functions, classes, constants = [], [], []
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isroutine(value):
                functions.append(f".. autofunction:: {name}")
            elif inspect.isclass(value):
                listed = "\n   :undoc-members:" if issubclass(value, Enum) else ""
                classes.append(f".. autoclass:: {name}\n   :members:{listed}")
            else:
                short = isinstance(value, str | int | float | tuple) and len(repr(value)) <= 60
                shown = f"\n   :value: {value!r}" if short else ""
                constants.append(f".. py:data:: {name}{shown}\n\n   {constant_doc(module, name)}")
        head = f".. automodule:: {room}\n\n.. py:currentmodule:: {room}"
        text = "\n\n".join([head, *functions, *classes, *constants])
        return self.parse_text_to_nodes(f"```{{eval-rst}}\n{text}\n```")


class Commands(SphinxDirective):
    """``{commands}``: every command with its flags, read off the parsers."""

    def run(self) -> list[nodes.Node]:
        """Return one section a command."""
        text = "\n\n".join(_sections(cli.parser()))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _sections(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the MyST of the parser, then of each of its commands."""
    summary = parser.description or ""
    yield f"## {parser.prog}\n\n{_plain(summary[:1].upper() + summary[1:].rstrip('.'))}."
    parser.formatter_class = partial(argparse.HelpFormatter, width=88)
    usage = re.sub("^(?:usage: | {7})", "", parser.format_usage(), flags=re.MULTILINE)
    yield f"```text\n{usage}```\n\n```{{program}} {parser.prog}\n```"
    commands: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            commands |= action.choices
        elif not isinstance(action, argparse._HelpAction):
            yield _option(action)
    for command in commands.values():
        yield from _sections(command)


def _option(action: argparse.Action) -> str:
    if action.option_strings:
        value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
        names = ", ".join(f"{name}{value}" for name in action.option_strings)
    else:
        names = str(action.metavar or action.dest)
    return f"```{{option}} {names}\n{_plain(action.help or '')}\n```"


def _plain(text: str) -> str:
    """Return `text` with its flags as code and nothing else taken for markup."""
    text = _MARKUP.sub(r"\\\1", text.replace("%%", "%"))  # as argparse writes a percent sign
    return re.sub(r"(?<![\w-])--[a-z][a-z-]*", r"`\g<0>`", text)


def _skip(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave out fields of named tuples, whose docstrings only say which number they have."""
    return True if str(obj.__doc__).startswith("Alias for field number") else None


def _readable(
    app: Sphinx, what: str, name: str, obj: object, options: object,
    signature: str | None, returned: str | None,
) -> tuple[str | None, str | None]:  # fmt: skip
    """Write as Python what has no syntax in a signature: objects as defaults, aliases in unions."""

    def written(text: str) -> str:
        text = re.sub(r"<(?:[^<>]|<[^<>]*>)*>", "...", text)
        text = _ARRAY.sub(r"NDArray[\1]", text)
        return re.sub(r"TypeAliasForwardRef\('([\w.]+)'\)", r"\1", text)

    return signature and written(signature), returned and written(returned)


def setup(app: Sphinx) -> dict[str, object]:
    """Register the directives."""
    app.add_directive("room", Room)
    app.add_directive("commands", Commands)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-signature", _readable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
