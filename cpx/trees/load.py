"""read_model: the reader for any supported model or file, recognised by its content."""

from __future__ import annotations

import inspect
import zipfile
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from cpx.data.targets import target_of
from cpx.errors import (
    EngineMissing,
    InvalidOption,
    ModelError,
    UnsupportedModel,
    nearest,
    shortened,
)
from cpx.support.files import parse_json, read_bytes, refuse_bomb
from cpx.trees.additive import is_additive, read_additive
from cpx.trees.catboost import is_catboost, read_catboost
from cpx.trees.form import Missing, TreeModel
from cpx.trees.imodels import is_list, read_imodels
from cpx.trees.lightgbm import read_lightgbm
from cpx.trees.networks import NetworkModel, is_network
from cpx.trees.onnx import read_onnx
from cpx.trees.saved import FORMAT
from cpx.trees.sklearn import read_sklearn
from cpx.trees.summed import ONLY_RULES
from cpx.trees.ubjson import parse_ubjson
from cpx.trees.wrapped import read_wrapped, wraps
from cpx.trees.xgboost import read_xgboost
from cpx.trees.xgboost_dump import is_dump, read_xgboost_dump

_LIBRARIES: dict[str, Callable[..., TreeModel]] = {
    "xgboost": read_xgboost,
    "lightgbm": read_lightgbm,
    "catboost": read_catboost,
    "onnx": read_onnx,
    "sklearn": read_sklearn,
}
_PICKLES = (".joblib", ".pkl", ".pickle")


def read_model(
    source: Any,
    *,
    rows: Any = None,
    trusted: bool | Iterable[str] = False,
    missing: Missing = "auto",
    above: float | None = None,
    below: float | None = None,
    between: tuple[float, float] | None = None,
    **options: Any,
) -> TreeModel:
    """Read a tree model, or one that becomes one over the values of rows, whatever it is.

    Parameters
    ----------
    source : path or fitted model
        A classifier of scikit-learn, XGBoost, LightGBM or CatBoost, or a Booster; a linear model
        or naive Bayes of scikit-learn; a :class:`cpx.RuleSetClassifier`, a decision list of
        imodels or a :class:`cpx.trees.DecisionList`; or a regressor, of which ``above``,
        ``below`` or ``between`` says what is asked. Or a file, recognised by its content: JSON or
        UBJ of XGBoost, a dump of XGBoost, text of LightGBM, JSON of CatBoost, ONNX, skops, joblib
        or pickle, or JSON of :meth:`TreeModel.to_dict`. Text may be gzipped.
    rows : DataFrame or array of shape (n, columns), optional
        A linear model or naive Bayes needs them: which values its columns have; see
        :func:`read_additive`. Trees say that themselves.
    trusted : bool or list of str
        Joblib and pickle files run code of whoever made them, so they are read only when this
        is true. Of a skops file, only known types are read; this is the list of others that
        may be, or true for all.
    missing : {"auto", "never", "always"} or sequence of str, default="auto"
        Which values rows may lack, as far as the model takes missing values. ``"auto"``: those of
        the attributes of which the model shows that it saw missing values in training. LightGBM
        records that, scikit-learn lets see it mostly, XGBoost never. A list names attributes.
    above, below : float, optional
    between : (float, float), optional
        Of a model that predicts numbers: the classes are "above 50,000" and "at most 50,000",
        "below" and "at least", or "between" the two limits, both among them, "below" and "above".
    **options
        Those of the reader: :func:`read_sklearn`, :func:`read_xgboost`,
        :func:`read_xgboost_dump` (``classes`` is needed there), :func:`read_lightgbm`,
        :func:`read_catboost`, :func:`read_onnx`, :func:`read_imodels` or
        :func:`read_additive`.

    Returns
    -------
    TreeModel

    Raises
    ------
    ModelError
        When the source is not recognised, cannot be read, or is not trusted.
    UnsupportedModel
        When it is of a kind that is not read; see the readers.
    InvalidOption
        When the reader does not have an option, or not with this value.
    EngineMissing
        When a library is needed to open the file and not installed.

    Notes
    -----
    A live model is kept beside its trees, as long as they are not saved. Whoever explains a row
    asks it about the row and rows near it, and refuses where its ``predict`` differs.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> read_model(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]))
    <TreeModel: 1 trees over 1 attributes, 2 classes, rule average>
    """
    if (target := target_of(above, below, between)) is not None:
        options["target"] = target
    return _read(source, trusted, rows, options).with_missing(missing)


def _read(
    source: Any, trusted: bool | Iterable[str], rows: Any, options: dict[str, Any]
) -> TreeModel:
    if isinstance(source, TreeModel):
        _refuse_options("a TreeModel", options, ())
        return source
    if not isinstance(source, str | PathLike):
        return _live(source, rows, options)
    path = Path(source)
    raw = read_bytes(path, ModelError)
    try:
        return _file(path, raw, trusted, rows, options)
    except NetworkModel as error:
        raise NetworkModel(f"{path}: {error}", error.model) from None
    except (ModelError, InvalidOption) as error:
        raise type(error)(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error


def _live(model: Any, rows: Any, options: dict[str, Any]) -> TreeModel:
    if is_network(model):
        raise NetworkModel.of(model)
    if is_additive(model):
        return _call(read_additive, model, {"rows": rows, **options})
    if wraps(model):
        own = {name: options.pop(name) for name in ("classes", "attributes") if name in options}

        def read(held: Any) -> TreeModel:
            if is_network(held):
                raise UnsupportedModel(
                    f"the {type(model).__name__} holds a {type(held).__name__}: a network is read "
                    f"alone, or behind transformers. {ONLY_RULES}"
                )
            if is_additive(held):
                raise UnsupportedModel(
                    f"the {type(model).__name__} holds a {type(held).__name__} beside trees: a "
                    f"sum over columns is read without such. {ONLY_RULES}"
                )
            return _live(held, rows, dict(options))

        return read_wrapped(model, read, **own, rows=rows)
    if hasattr(model, "as_trees"):  # it says itself what trees it is
        return _call(type(model).as_trees, model, options)
    if is_list(model):
        return _call(read_imodels, model, options)
    homes = {cls.__module__.split(".")[0] for cls in type(model).__mro__}
    for library, reader in _LIBRARIES.items():
        if library in homes:
            return _call(reader, model, options)
    raise UnsupportedModel(
        f"{type(model).__name__} is no model that cpx reads: a classifier or regressor of "
        "scikit-learn, XGBoost, LightGBM or CatBoost, or the path of a file"
    )


def _file(
    path: Path, raw: bytes, trusted: bool | Iterable[str], rows: Any, options: dict[str, Any]
) -> TreeModel:
    if path.suffix == ".onnx":
        return _call(read_onnx, path, options)
    if (live := _opened(path, raw[:4], trusted)) is not None:
        return _live(live, rows, options)
    # A UBJ object goes on with the type of a length, a JSON object with a quote.
    if raw[:1] == b"{" and raw[1:].lstrip()[:1] not in (b'"', b"}"):
        return _call(read_xgboost, parse_ubjson(raw), options)
    if raw[:3] == b"CBM":
        raise UnsupportedModel(
            "a binary file of CatBoost: save it with save_model(path, format='json')"
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError("not recognised as a tree model") from error
    if raw[:1] == b"{":
        return _from_json(text, options)
    if text.startswith("tree\n") or text.startswith("tree\r\n"):
        return _call(read_lightgbm, path, options)
    if is_dump(text):
        if "classes" not in options:
            raise InvalidOption(
                "a dump of XGBoost does not say how many classes there are: give classes"
            )
        return _call(read_xgboost_dump, path, {"rows": rows, **options})
    raise ModelError(
        "not recognised as a tree model: neither a file of XGBoost (JSON, UBJ or dump), "
        "of LightGBM (text), skops, joblib, nor a saved TreeModel"
    )


def open_estimator(path: Path, trusted: bool | Iterable[str]) -> Any:
    """Return the estimator of a skops, joblib or pickle file, None for other files.

    Raises ModelError, EngineMissing: As :func:`read_model`.
    """
    try:
        return _opened(path, read_bytes(path, ModelError)[:4], trusted)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def _opened(path: Path, first: bytes, trusted: bool | Iterable[str]) -> Any:
    if first == b"PK\x03\x04":
        return _from_skops(path, trusted)
    if path.suffix in _PICKLES or first[:1] == b"\x80":
        return _from_joblib(path, trusted)
    return None


def _from_json(text: str, options: dict[str, Any]) -> TreeModel:
    content = parse_json(text, ModelError)
    if content.get("format") == FORMAT:
        _refuse_options("a saved TreeModel", options, ())
        return TreeModel.from_dict(content)
    return _call(read_catboost if is_catboost(content) else read_xgboost, content, options)


def _from_skops(path: Path, trusted: bool | Iterable[str]) -> Any:
    try:
        from skops import io
    except ImportError:
        raise _needs("skops file", "skops") from None
    try:
        with zipfile.ZipFile(path) as archive:
            # Python unpacks no more of a file than the archive says of it.
            unpacked = sum(file.file_size for file in archive.infolist())
        refuse_bomb(unpacked, path.stat().st_size, "", ModelError)
        unknown = io.get_untrusted_types(file=path)
        allowed = unknown if trusted is True else [] if trusted is False else list(trusted)
        refused = sorted(set(unknown) - set(allowed))
        if not refused:
            return io.load(path, trusted=allowed)
    except ModelError:
        raise
    except Exception as error:  # what a damaged file raises is not documented
        raise ModelError(f"skops cannot read it: {_told(error)}") from error
    raise ModelError(
        f"the skops file has types that are not trusted: {', '.join(refused)}; if you know where "
        "it is from, say trusted=[...] with them"
    )


def _from_joblib(path: Path, trusted: bool | Iterable[str]) -> Any:
    if trusted is not True:
        raise ModelError(
            "a joblib or pickle file can run any code when it is opened; if you know where it is "
            "from, say trusted=True, or save the model with skops instead"
        )
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:  # unpickling can raise anything
        raise ModelError(f"joblib cannot read it: {_told(error)}") from error


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {shortened(error)}"


def _needs(what: str, package: str) -> EngineMissing:
    return EngineMissing(f"a {what} needs {package} to be read; pip install {package}")


def _call(reader: Callable[..., TreeModel], model: Any, options: dict[str, Any]) -> TreeModel:
    parameters = inspect.signature(reader).parameters.values()
    known = [p.name for p in parameters if p.kind == p.KEYWORD_ONLY]
    _refuse_options(reader.__name__, options, known)
    return reader(model, **options)


def _refuse_options(reader: str, options: dict[str, Any], known: Iterable[str]) -> None:
    for name in options:
        if name == "target" and name not in known:
            raise InvalidOption(f"above, below and between are no options of {reader}")
        if name not in known:
            raise InvalidOption(
                f"{name} is no option of {reader}{nearest(name, known)}; "
                f"it has: {', '.join(known) or 'none'}"
            )
