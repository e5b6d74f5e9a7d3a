"""A training log as a page for people."""

from __future__ import annotations

from numerics.log_page.page import log_page

__all__ = ["log_page"]
