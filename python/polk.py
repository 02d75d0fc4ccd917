"""POLK in Python: online kernel classification and regression with few elements.

PolkClassifier and PolkRegressor are estimators of scikit-learn. Each keeps a process of
the program runall that trains and predicts. load reads a saved model and predicts with
NumPy alone. See docs/python.md.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import sysconfig
import tempfile
import threading
import weakref
from contextlib import ExitStack, contextmanager, nullcontext

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets, unique_labels
    from sklearn.utils.validation import check_is_fitted
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # before scikit-learn 1.6

        def validate_data(estimator, *args, **kwargs):
            return estimator._validate_data(*args, **kwargs)

except ImportError:  # load does not need scikit-learn
    BaseEstimator, ClassifierMixin, RegressorMixin = (type(name, (), {}) for name in "ECR")

    def available_if(check):
        return lambda method: method


__version__ = "0+source"  # in a wheel, that of the distribution: build_polk.py

SIGNALS = signal.valid_signals()
CHUNK = 4096  # rows of partial_fit that are learned at once: Ctrl-C waits for them


class Decisions:
    """What follows from the scores of a classifier's functions."""

    def _probabilistic(self):
        name = self._loss_name()
        if not name.endswith("logistic"):
            raise AttributeError(f"the loss {name} has no probabilities: choose loss='logistic'")
        return True

    def decision_function(self, X):
        """Scores of the classes; for two classes, only one, which is positive for the second."""
        scores = self._scores(X)
        if scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @available_if(_probabilistic)
    def predict_proba(self, X):
        """Probabilities of the classes, in the order of classes_."""
        self._probabilistic()
        scores = self._scores(X)
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def predict(self, X):
        """The classes of rows."""
        scores = self._scores(X)
        best = scores[:, 0] >= 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[best.astype(int)]


class _Polk(BaseEstimator):
    """What both estimators share. Parameters are the flags of runall train (see
    runall train --help), but for runall, the program. None is the flag's default."""

    def __init__(self, loss=None, *, order=None, size=None, tolerance=None, bandwidth=None, scale=None,
                 learning_rate=None, forgetting=None, regularizer=None, parsimony=None, pruner=None,
                 pruner_params=None, batch=None, epochs=None, no_tune=False, runall=None):
        given = locals()
        for name in self._get_param_names():
            setattr(self, name, given[name])

    def _flags(self):
        flags = self.get_params(deep=False)
        del flags["runall"]
        flags["loss"] = self._loss_name()
        return {k.replace("_", "-"): _text(v) for k, v in flags.items() if v is not None and v is not False}

    def _lock(self):
        """The lock of the process and of what is known about it, in whichever thread it is first needed."""
        return self.__dict__.setdefault("_locked", threading.Lock())

    def _begin(self, op, X, y=None, classes=None):
        """Send the request that begins a training."""
        flags = self._flags()
        if op == "begin":
            flags.pop("epochs", None)  # a stream has one epoch
        arrays = [] if y is None else [X, y]
        labels, self._named = (None, True) if classes is None else _labels(classes)
        with self._lock():
            self._saved = self._head = None
            if not (getattr(self, "_process", None) and self._process.alive()):
                self._process = None
            self._began = dict(op=op, flags=flags, labels=labels, text=_looks_typed(classes), dim=X.shape[1], rows=len(X) if arrays else 0)
            self.notes_ = self._send(self._began, *arrays).get("notes", [])
            self._head = None if arrays else []

    def _go_on(self, X, y):
        """Learn further rows. If the process is replaced, it must get the rows of the head again,
        because no model has them yet. Refused rows of a later chunk undo the earlier chunks."""
        before = self.__getstate__() if len(X) > CHUNK else {}
        for at in range(0, len(X), CHUNK):
            x, t = X[at:at + CHUNK], y[at:at + CHUNK]
            with self._lock(), _uninterrupted():
                try:
                    answer = self._send(dict(op="learn", rows=len(x)), x, t)
                except (ValueError, RuntimeError):
                    self.__dict__.update(before)
                    raise
                self.notes_ = self.notes_ + answer.get("notes", [])
                self._head = self._head + [(x.copy(), t.copy())] if answer.get("choosing") else None

    def _ask(self, header, *arrays):
        with self._lock():
            return self._send(header, *arrays)

    def _send(self, header, *arrays):
        if self._process is None:
            process = _Process(self.runall)
            if self._saved is not None:
                process.ask(dict(op="load", bytes=len(self._saved)), self._saved)
            elif self._head is not None:
                process.ask(self._began)
                for x, t in self._head:
                    process.ask(dict(op="learn", rows=len(x)), x, t)
            self._process, self._saved = process, None
        return self._process.ask(header, *arrays)

    def _scores(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        answer = self._ask(dict(op="scores", rows=len(X)), X)
        return np.frombuffer(answer["payload"], "<f8").reshape(len(X), -1)

    def save(self, path):
        """Write a model file, for load, runall predict and runall train --resume."""
        check_is_fitted(self)
        if not self._named:
            raise ValueError(f"a model file can't name the classes {self.classes_!r}: pickle the estimator, or rename them")
        model = self._ask(dict(op="save"))["payload"]
        with open(f"{path}.tmp", "wb") as f:
            f.write(model)
        os.replace(f"{path}.tmp", path)

    @property
    def order_(self):
        """The number of the model's elements."""
        check_is_fitted(self)
        return self._ask(dict(op="save"))["order"]

    def __getstate__(self):
        with self._lock():
            state = {k: None if k == "_process" else v for k, v in super().__getstate__().items() if k != "_locked"}
            if self.__dict__.get("_process") is not None and self._head is None:
                state["_saved"] = self._send(dict(op="save"))["payload"]
            return state


class PolkClassifier(Decisions, ClassifierMixin, _Polk):
    __doc__ = "Online kernel classifier.\n\n    " + (_Polk.__doc__ or "")

    def fit(self, X, y):
        """Train on rows as runall train does on a file: settings that are not given are tuned."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, y = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"PolkClassifier needs two classes or more, y has one class: {self.classes_[0]!r}")
        self._begin("fit", X, y, self.classes_)
        return self

    def partial_fit(self, X, y, classes=None):
        """Learn further rows, as runall train does from a stream. The first call needs all classes."""
        first = not hasattr(self, "notes_")  # which only a successful begin sets
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y = validate_data(self, X, y, reset=first, dtype=np.float64)
        known = unique_labels(classes) if first else self.classes_
        if classes is not None and not np.array_equal(known, unique_labels(classes)):
            raise ValueError(f"classes={classes!r} is not those of the first call: {known!r}")
        at = np.searchsorted(known, y)
        at[at == len(known)] = 0
        if not np.array_equal(known[at], y):
            raise ValueError(f"y has labels that are not in classes: {np.setdiff1d(y, known)!r}")
        if first:
            check_classification_targets(y)
            self.classes_ = known
            self._begin("begin", X, classes=known)
        self._go_on(X, at)
        return self

    def _loss_name(self):
        return self.loss or "hinge"


class PolkRegressor(RegressorMixin, _Polk):
    __doc__ = "Online kernel regression.\n\n    " + (_Polk.__doc__ or "")

    def fit(self, X, y):
        """Train on rows as runall train does on a file: settings that are not given are tuned."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self._begin("fit", X, y.astype(float))
        return self

    def partial_fit(self, X, y):
        """Learn further rows, as runall train does from a stream."""
        first = not hasattr(self, "notes_")  # which only a successful begin sets
        X, y = validate_data(self, X, y, reset=first, dtype=np.float64, y_numeric=True)
        y = y.astype(float)
        if first:
            self._begin("begin", X)
        self._go_on(X, y)
        return self

    def predict(self, X):
        """The predicted values of rows."""
        return self._scores(X)[:, 0].copy()

    def _loss_name(self):
        return self.loss or "squared"


def _text(value):
    """A parameter as the text of a flag."""
    if isinstance(value, dict):
        return ",".join(f"{k}={v}" for k, v in value.items())
    return str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)


def _labels(classes):
    """Labels for the model file, and whether it can tell which classes they are: else they are indices."""
    names = [str(int(c)) if not isinstance(c, (str, np.bool_)) and c == int(c) else str(c) for c in classes]
    text = re.compile(r"(?!(?i:[+-]?(nan|inf|infinity))$|[+=@ ]|-(?![1-9]\d*$)|.* $|\d+\.0*(e[+-]\d\d)?$)[ -\U0010ffff]{1,64}")
    if classes.dtype.kind in "iufUb" and all(text.fullmatch(n) and n.isprintable() for n in names):
        return names, True
    return [str(i) for i in range(len(names))], False


def _looks_typed(classes):
    """Whether classes are texts that load would take for numbers or booleans."""
    texts = classes is not None and classes.dtype.kind == "U"
    return texts and any(all(re.fullmatch(form, c) for c in classes) for form in (r"-?\d+", "True|False"))


def _program():
    """The program that POLK_RUNALL names, else that of pip (for an environment, --user or --target), in PATH or of the clone."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.dirname(sys.executable), sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user"),
              os.path.join(here, "bin"), os.environ.get("PATH", os.defpath), clone := os.path.join(here, "..", "bin")]
    return os.environ.get("POLK_RUNALL") or shutil.which("runall", path=os.pathsep.join(places)) or os.path.join(clone, "runall")


def _unstarted(e):
    return (f"the program runall can't be started ({e}): install it with pip install . in a clone, or build it with make build, "
            "and name it with the parameter runall, in the variable POLK_RUNALL or have it in PATH")


class _Process:
    """A process that serves one model. It ends with this object."""

    def __init__(self, runall):
        self.program = runall or _program()
        said = tempfile.TemporaryFile()
        try:
            # In a separate session, so that Ctrl-C reaches only Python.
            self.child = subprocess.Popen([self.program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=said, start_new_session=True)
        except OSError as e:
            said.close()
            raise RuntimeError(_unstarted(e)) from None
        self.owner = os.getpid()
        self.end, self.words = weakref.finalize(self, _end, self.child, self.owner, said), ""

    def alive(self):
        return self.owner == os.getpid() and self.end.alive and self.child.poll() is None

    def ask(self, header, *arrays):
        """Send a request and return the answer, with its bytes as "payload"."""
        if os.getpid() != self.owner:
            raise RuntimeError("the process of this estimator belongs to the Python process before its fork: pickle the estimator instead")
        parts = [a if isinstance(a, bytes) else np.ascontiguousarray(a, "<f8").data.cast("B") if a.size else b"" for a in arrays]
        # fit may take long, so a signal whose handler raises ends it, with the process. All other
        # requests are short and finish, in _go_on too, so the model is whole afterwards.
        with nullcontext() if header["op"] in ("fit", "learn") else _uninterrupted():
            if not self.end.alive:
                raise self.dead()
            try:
                self.child.stdin.writelines([json.dumps(header).encode() + b"\n", *parts])
                self.child.stdin.flush()
                answer = json.loads(self.child.stdout.readline())
                answer["payload"] = self.child.stdout.read(answer.get("bytes", 0))
                if len(answer["payload"]) < answer.get("bytes", 0):
                    raise EOFError
            except (BrokenPipeError, EOFError, json.JSONDecodeError):
                raise self.dead() from None
            except BaseException as e:
                self.end()
                self.words = f"{type(e).__name__} interrupted the request {header['op']}, and the model is lost"
                raise
        if "error" in answer:
            raise ValueError(re.sub(r"(?<![\w-])--?([a-z][a-z-]*)", lambda m: m[1].replace("-", "_"), answer["error"]))
        return answer

    def dead(self):
        """The error of a process that has ended."""
        self.words = self.end() or self.words
        return RuntimeError(f"the process of {self.program} has ended (status {self.child.returncode}): "
                            f"{self.words or 'it said nothing'}; fit starts another")


def _end(child, owner, said):
    """End a process, wait for it and return its messages. Leave a parent's process alone."""
    if os.getpid() != owner:
        return ""
    for pipe in (child.stdin, child.stdout):
        try:
            pipe.close()
        except OSError:
            pass
    try:
        child.wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    with said:
        said.seek(0)
        return said.read().decode(errors="replace").strip()


@contextmanager
def _uninterrupted():
    """Postpone the handlers of signals, which may raise. Only the main thread runs them."""
    caught = []
    with ExitStack() as after:  # which restores all handlers, even if one raises
        after.callback(lambda: [handler(*args) for handler, args in caught])
        for s in SIGNALS if threading.current_thread() is threading.main_thread() else ():
            handler = signal.getsignal(s)
            if callable(handler):
                after.callback(signal.signal, s, handler)
                signal.signal(s, lambda *args, handler=handler: caught.append((handler, args)))
        yield


class Model:
    """A saved model that predicts with NumPy alone: see docs/model-format.md."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        if data[:7] != b"POLKOWN":
            raise ValueError(f"{path}: not a model file of runall train")
        if data[7:8] != b"\x03":
            raise ValueError(f"{path}: format {data[7:8].hex()}, want 03: train the model again")
        if len(data) < 44 or hashlib.sha256(data[:-32]).digest() != data[-32:]:
            raise ValueError(f"{path}: incomplete or corrupt model file")
        size, = struct.unpack_from("<I", data, 8)
        self.settings = s = json.loads(data[12:12 + size])
        self._at, self._data = 12 + size, data
        if any(((s.get("columns") or {}).get("fitted") or {}).get("levels") or []):
            raise ValueError(f"{path}: the model has categories, which NumPy rows don't have: predict with runall predict")
        dim, m = s["dim"], s["elements"]
        self.shift = self.factor = None
        if s["scale"] != "none":
            self.shift, self.factor = self._array("<f8", dim), self._array("<f8", dim)
        self.elements = self._array("<f4", m, dim)
        labels = s.get("labels", [])
        self.weights = self._array("<f8", m, len(labels) if s["loss"].startswith("multi-") else 1)
        kinds = [] if s.get("text_labels") else [("0|-?[1-9]\\d{0,17}", int), ("True|False", "True".__eq__)]
        read = next((kind for form, kind in kinds if labels and all(re.fullmatch(form, c) for c in labels)), str)
        self.classes_ = np.array([read(c) for c in labels])
        del self._data

    def _array(self, kind, *shape):
        a = np.frombuffer(self._data, kind, int(np.prod(shape)), self._at).reshape(shape)
        self._at += a.nbytes
        return a

    def _loss_name(self):
        return self.settings["loss"]

    def _scores(self, X):
        X, s = np.asarray(X), self.settings
        if X.ndim != 2 or X.shape[1] != s["dim"] or X.dtype.kind in "cmM" or not np.isfinite(X := X.astype(float)).all():
            raise ValueError(f"X of shape {X.shape} and type {X.dtype}: want rows of {s['dim']} finite numbers")
        blocks = [self._block(X[i:i + 1024]) for i in range(0, len(X), 1024)]
        return _finite(np.vstack(blocks or [np.empty((0, self.weights.shape[1]))]), "a score")

    def _block(self, given):
        s, x = self.settings, given
        with np.errstate(over="ignore"):
            if self.shift is not None:
                x = (x - self.shift) * self.factor
            x, d = x.astype("f4").astype(float), self.elements.astype(float)
        for i, j in np.argwhere(~np.isfinite(x))[:1]:
            raise ValueError(f"feature {j + 1} is {given[i, j]:g}, which is too large for a float32 once it is scaled")
        middle = d.mean(axis=0) if len(d) else 0
        x, d = x - middle, d - middle  # against cancellation in distances of long vectors
        square = (x ** 2).sum(1)[:, None] + (d ** 2).sum(1) - 2 * x @ d.T
        return np.exp(square.clip(min=0) / (-2 * s["bandwidth"] ** 2)) @ self.weights


def _finite(x, what):
    if not np.isfinite(x).all():
        raise ValueError(f"{what} is not finite")
    return x


class ClassifierModel(Decisions, Model):
    """A saved classifier."""


class RegressorModel(Model):
    """A saved regression."""

    def predict(self, X):
        """The predicted values of rows."""
        with np.errstate(over="ignore"):
            return _finite(self._scores(X)[:, 0] / self.settings["target_factor"] + self.settings["target_shift"], "a value")


def load(path):
    """Read a model file. The model predicts as runall predict does, without the program."""
    model = Model(path)
    model.__class__ = ClassifierModel if len(model.classes_) else RegressorModel
    return model


if __name__ == "__main__":
    print(f"polk {__version__} ({os.path.abspath(__file__)})\nrunall ({_program()})", flush=True)
    try:
        sys.exit(subprocess.call([_program(), "version"]))
    except OSError as e:
        sys.exit(_unstarted(e))
