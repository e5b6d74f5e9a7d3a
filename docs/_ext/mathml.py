"""Mathematics as MathML, converted while the site is built, so that no page needs a script."""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

_NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'  # HTML needs none
_UNKNOWN = re.compile(r">[^<]*?(\\[A-Za-z]+|&(?!#?\w+;))")

logger = logging.getLogger(__name__)


def _mathml(node: nodes.Element, *, display: str) -> str:
    latex = node.astext()
    # What GitHub's converter calls aligned is align* to this one.
    source = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", latex)
    try:
        converted = convert(source, display=display).replace(_NAMESPACE, "", 1)
    except Exception as error:  # of any kind: the converter has no base class
        logger.warning("LaTeX that cannot be converted: %r: %s", error, latex, location=node)
        return ""
    if found := _UNKNOWN.search(converted):
        logger.warning("LaTeX %s is unknown to the converter: %s", found[1], latex, location=node)
    return converted


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(_mathml(node, display="inline"))
    raise nodes.SkipNode


def _block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math">{_mathml(node, display="block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, object]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
