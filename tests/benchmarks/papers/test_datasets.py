from __future__ import annotations

import pytest

from benchmarks.papers.datasets import DATASETS, FIGURE_DATASETS, choose
from cpx.errors import InvalidOption, UnknownName


def test_table_2_has_25_rows_with_names_and_numbers_of_their_own() -> None:
    assert len(DATASETS) == 25
    for key in ("name", "openml_id", "file"):
        assert len({getattr(dataset, key) for dataset in DATASETS}) == 25
    assert {dataset.name for dataset in DATASETS} >= set(FIGURE_DATASETS)


def test_published_figures() -> None:
    by_name = {dataset.name: dataset for dataset in DATASETS}
    vote, tumor = by_name["vote"], by_name["primary tumor"]
    assert (vote.openml_id, vote.cop.error, vote.sat.error) == (56, 0.07, 0.06)
    assert (vote.cop.seconds, vote.sat.seconds, vote.anchors.seconds) == (60.01, 0.16, None)
    assert (tumor.anchors.error, tumor.anchors.deviation) == (0.96, 0.11)
    # As the text of the paper counts them.
    errors = [dataset.cop.error for dataset in DATASETS]
    assert sum(error < 0.2 for error in errors) == 20
    assert sum(error < 0.1 for error in errors) == 9
    assert sum((dataset.cop.seconds or 0) > 59 for dataset in DATASETS) == 16


def test_choose_keeps_the_order_of_the_table() -> None:
    assert choose() == DATASETS
    assert [d.name for d in choose(["vote", "aids", "aids"])] == ["aids", "vote"]
    with pytest.raises(UnknownName, match="did you mean 'diabetes'"):
        choose(["diabete"])
    with pytest.raises(InvalidOption, match="datasets"):
        choose([])
