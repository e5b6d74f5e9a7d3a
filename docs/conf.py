"""The documentation site: ``python -m sphinx -W docs DIRECTORY``. No page fetches anything."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

from numbers_of_prose import numbers  # noqa: E402

import numerics  # noqa: E402

project = "grpo-dynamics"
author = "The grpo-dynamics developers"
release = numerics.__version__
extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon",
    "mathml", "offline", "reference",
]  # fmt: skip
exclude_patterns = ["_*"]

# Markdown as GitHub reads it, and numbers computed now.
myst_enable_extensions = ["dollarmath", "substitution"]
myst_dmath_double_inline = True
myst_heading_anchors = 3
myst_substitutions = numbers(HERE / "numbers.toml")

# Docstrings.
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_attr_annotations = False  # types stand in the signature
napoleon_custom_sections = [
    ("Attributes", "params_style"),  # keeps names described together on one line
    ("Parameters", "params_style"),
    "Returns",  # sentences, not types
]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_mock_imports = ["distributed", "tensorboard", "torch", "transformers", "trl"]
autodoc_preserve_defaults = True
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
maximum_signature_line_length = 80
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"grpo-dynamics {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
smartquotes_action = "D"  # dashes, but quotes as they are typed
html_copy_source = html_show_sourcelink = html_show_copyright = False
# A block that its lexer only half understands, such as JSON with a NaN, loses colour, not sense.
suppress_warnings = ["misc.highlighting_failure"]


def _book_in_the_sidebar(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the pages that the index of the derivation book links to below it, in its order.

    The index is Markdown that GitHub shows too, so the directive is not in the file.
    """
    if docname == "derivations/README":
        pages = dict.fromkeys(re.findall(r"\]\(([\w.-]+)\.md\)", source[0]))
        source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"


def setup(app: Sphinx) -> None:
    """Connect what is particular to this site."""
    app.connect("source-read", _book_in_the_sidebar)
