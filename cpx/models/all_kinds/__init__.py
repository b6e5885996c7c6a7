"""All kinds of explanations of one row, side by side, and how they relate."""

from cpx.support.families import Family

FAMILY = Family(name="all-kinds", problems={}, all_kinds="cpx.models.all_kinds.ask:all_kinds")
