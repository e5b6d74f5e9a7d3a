r"""What a reviewer takes away from an audit: a page for each file, a table to paste."""

from __future__ import annotations

from numerics.review.markdown import markdown
from numerics.review.page import review_page

__all__ = ["markdown", "review_page"]
