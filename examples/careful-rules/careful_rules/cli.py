"""The command ``cpx make careful``."""

from careful_rules.problem import Careful
from cpx.models.monomial.cli import rule_command

make = rule_command(Careful, "cpx make careful table.csv --target y --row 17 -k 3 --alarm 20")
