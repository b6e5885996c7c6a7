"""``--where`` of the commands."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cpx

from cpx import KMonomial, Samples, instances
