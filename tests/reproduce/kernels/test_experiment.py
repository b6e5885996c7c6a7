"""The table of Polato and Aiolli: a small part of it, and what its columns say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from cpx.boolean_kernels import dataset, extraction
from cpx.boolean_kernels.datasets import DATASETS
from cpx.boolean_kernels.extraction import extract
from cpx.cli.app import app
from cpx.errors import InvalidOption, UnknownName
from cpx.methods.genetic import Genetic
from cpx.reproduce.kernels.experiment import PUBLISHED, Protocol, choose, reproduce
from cpx.reproduce.kernels.tables import grids
from cpx.result import Termination


def test_every_data_set_has_its_published_figures() -> None:
    assert tuple(PUBLISHED) == DATASETS
    assert choose() == DATASETS


def test_every_known_rule_is_found_or_one_of_equal_weight() -> None:
    for run in reproduce(DATASETS, Protocol(runs=1, genetic=False)):
        assert run.exact.proved, run.name
        assert run.exact.weight == run.known, run.name
        assert run.exact.share == run.exact.bound == run.known_share == 1
        assert run.svm_train == 1
        if run.name in ("monks-1", "tic-tac-toe"):
            assert run.exact.rule == dataset(run.name).rule
            assert run.exact.test == 1


def test_noise_leaves_a_bound_and_no_false_proof() -> None:
    protocol = Protocol(runs=1, noise=0.05, time_limit=1.0, genetic=False)
    (run,) = reproduce(["monks-1"], protocol)
    assert run.exact.bound is not None
    assert run.known_share < run.exact.share < run.exact.bound <= 1
    assert not run.exact.proved
    header, rows = grids([run], noisy=True)[1].header, grids([run], noisy=True)[1].rows
    assert dict(zip(header, rows[0], strict=True))["proved"] == "0 of 1"


def test_the_command_prints_both_tables(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Genetic, "generations", 30)
    path = tmp_path / "table.md"
    arguments = ["reproduce", "kernels", "--datasets", "monks-1", "--runs", "1", "-o", str(path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "| monks-1 | 1 of 1 | 1 of 1 | 1 of 1 |" in path.read_text()
    assert "Polato, Aiolli" in done.output


def test_ctrl_c_ends_the_experiment_and_keeps_what_was_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def interrupted(*args, **options):
        found = extract(*args, **options)
        calls.append(found)
        if len(calls) < 2:
            return found
        result = replace(found.result, termination=Termination.INTERRUPTED)
        return replace(found, result=result)

    monkeypatch.setattr(extraction, "extract", interrupted)
    arguments = ["reproduce", "kernels", "--datasets", "monks-1,monks-3", "--runs", "1"]
    done = CliRunner().invoke(app, [*arguments, "--no-genetic"])
    assert done.exit_code == 3, done.output
    assert len(calls) == 2
    assert "interrupted" in done.output
    assert "monks-1" in done.output
    assert "monks-3 " not in done.output


def test_wrong_options_are_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'monks-1'"):
        choose(["monks1"])
    with pytest.raises(InvalidOption, match="datasets must name"):
        choose([])
    with pytest.raises(InvalidOption, match="noise must be a share"):
        Protocol(noise=0.5)
    with pytest.raises(InvalidOption, match="runs must be"):
        Protocol(runs=0)
