"""Arguments of problems, checked; they are those of cpx.support.validation."""

from __future__ import annotations

from cpx.support.validation import Share, feature_list, index, share, weight_list

__all__ = ["Share", "feature_list", "index", "share", "weight_list"]
