"""POLK in Python: online kernel classification and regression with few elements.

PolkClassifier and PolkRegressor are estimators of scikit-learn. Each keeps a process of
the program runall that trains and predicts. load reads a saved model and predicts with
NumPy alone. See docs/python.md.
"""

import functools
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
import warnings
import weakref
from contextlib import ExitStack, contextmanager, nullcontext

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets, unique_labels
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted
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
BLOCK = 1 << 22  # features of rows that are predicted at once
REPLAYED = 1 << 20  # features of learned rows after which the estimator fetches the model


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


def _alone(method):
    """The method, one call at a time. A forked process has another lock: the parent's may be held
    by a thread that the fork has left behind."""
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        with self.__dict__.setdefault(f"_lock{os.getpid()}", threading.Lock()):
            return method(self, *args, **kwargs)
    return call


class _Polk(BaseEstimator):
    """What both estimators share. Parameters are the flags of runall train (see
    runall train --help), but for runall, the program, and class_weight, which is "balanced" or a
    dict from classes to weights. None is the flag's default."""

    _process = None  # runs while it is needed
    _kept = None  # what another process starts with, a model or a request, and the rows since

    def __init__(self, loss=None, *, order=None, size=None, tolerance=None, bandwidth=None, scale=None,
                 learning_rate=None, forgetting=None, regularizer=None, parsimony=None, pruner=None,
                 pruner_params=None, batch=None, epochs=None, no_tune=False, class_weight=None,
                 metric=None, ordered=False, runall=None):
        given = locals()
        for name in self._get_param_names():
            setattr(self, name, given[name])

    def _flags(self):
        flags = self.get_params(deep=False)
        del flags["runall"], flags["class_weight"]  # the weights of the rows have those of the classes
        flags["loss"] = self._loss_name()
        return {k.replace("_", "-"): _text(v) for k, v in flags.items() if v is not None and v is not False}

    def _weights(self, weights, X, y):
        """The weights of rows, with those of their classes; [] for no weights."""
        given = [] if weights is None else [_check_sample_weight(weights, X, np.float64)]
        if self.class_weight is not None and isinstance(self, RegressorMixin):
            raise ValueError("class_weight is for classifiers")
        if isinstance(self.class_weight, dict):
            given.append(np.array([self.class_weight.get(c, 1.0) for c in y], float))
        elif self.class_weight == "balanced":
            classes, at, n = np.unique(y, return_inverse=True, return_counts=True)
            given.append((len(y) / (len(classes) * n))[at])
        elif self.class_weight is not None:
            raise ValueError(f"class_weight {self.class_weight!r}: want 'balanced', a dict or None")
        return [np.prod(given, axis=0)] if given else []

    def _begin(self, op, X, y=None, classes=None, weights=()):
        """Send the request that begins a training."""
        if X.shape[1] > 1 << 16:
            raise ValueError(f"X has {X.shape[1]} features, want at most {1 << 16}: select some, or hash them")
        flags = self._flags()
        if op == "begin":
            flags.pop("epochs", None)  # a stream has one epoch
        labels, self._named = (None, True) if classes is None else _labels(classes)
        self._kept = None
        if self._process is not None and not self._process.alive():
            self._process.end()
            self._process = None
        request = dict(op=op, flags=flags, labels=labels, text=_looks_typed(classes), dim=X.shape[1])
        if op == "begin":
            self.notes_ = self._send(request).get("notes", [])
            self._kept, self._since = (request, []), 0
        else:
            self.notes_ = self._send(*_request(request, X, y, *weights)).get("notes", [])
            self._keep()

    def _go_on(self, X, y, weights):
        """Learn further rows. Refused rows of a later chunk undo the earlier chunks."""
        kept, notes, learned = self._kept, self.notes_, len(self._kept[1])
        for at in range(0, len(y), CHUNK):
            rows = [a[at:at + CHUNK].copy() for a in (X, y, *weights)]
            with _uninterrupted():
                try:
                    answer = self._send(*_request(dict(op="learn"), *rows))
                    self._kept[1].append(rows)
                    self._since += rows[0].shape[0] * X.shape[1] + 32
                    self.notes_ = self.notes_ + answer.get("notes", [])
                    if not answer.get("choosing") and (self._since > REPLAYED or isinstance(self._kept[0], dict)):
                        self._keep()
                except (ValueError, RuntimeError):
                    if at > 0:
                        del kept[1][learned:]
                        self._kept, self.notes_ = kept, notes
                        self._process.end()
                        self._process = None
                    raise

    def _keep(self):
        """Fetch the model, which the rows before are not needed for any more. It is a draft while
        settings are still to be chosen."""
        answer = self._send(dict(op="save"))
        if not answer.get("choosing"):
            self._kept, self._since = (answer["payload"], []), 0
        return answer

    def _send(self, header, *arrays):
        """Ask the process, and if it is lost another one. Only a lost fit can't be repeated."""
        if self._process is None or not self._process.alive():
            self._replace()
        try:
            return self._process.ask(header, *arrays)
        except RuntimeError:
            if self._kept is None:
                raise
            self._replace()
            return self._process.ask(header, *arrays)

    def _replace(self):
        """Start a process with what was kept: a model, or the request that began it, and the rows since."""
        if self._process is not None:
            if self._kept is None:
                raise self._process.dead()
            said = str(self._process.dead()).splitlines()[0]
            if self._process.owner == os.getpid():
                warnings.warn(f"{said}. Another one goes on; no row is lost", RuntimeWarning, stacklevel=5)
        process = _Process(self.runall)
        if self._kept is not None:
            start, learned = self._kept
            process.ask(start) if isinstance(start, dict) else process.ask(dict(op="load", bytes=len(start)), start)
            for rows in learned:
                process.ask(*_request(dict(op="learn"), *rows))
        self._process = process

    @_alone
    def _scores(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        size, scores = max(1, BLOCK // X.shape[1]), []
        for at in range(0, X.shape[0], size):
            x = X[at:at + size]
            answer = self._send(*_request(dict(op="scores"), x))
            scores.append(np.frombuffer(answer["payload"], "<f8").reshape(x.shape[0], -1))
        return np.concatenate(scores)

    @_alone
    def save(self, path):
        """Write a model file, for load, runall predict and runall train --resume."""
        check_is_fitted(self)
        if not self._named:
            raise ValueError(f"a model file can't name the classes {self.classes_!r}: pickle the estimator, or rename them")
        model = self._keep()["payload"]
        with open(f"{path}.tmp", "wb") as f:
            f.write(model)
        os.replace(f"{path}.tmp", path)

    @property
    @_alone
    def order_(self):
        """The number of the model's elements."""
        check_is_fitted(self)
        return self._keep()["order"]

    @_alone
    def __getstate__(self):
        start, rows = self._kept or (None, [])
        if rows and not isinstance(start, dict) and self._process is not None and self._process.alive():
            self._keep()
        state = {k: v for k, v in super().__getstate__().items() if k != "_process" and not k.startswith("_lock")}
        if self._kept is not None:
            state["_kept"] = self._kept[0], self._kept[1][:]  # to which another call may add
        return state


class PolkClassifier(Decisions, ClassifierMixin, _Polk):
    __doc__ = "Online kernel classifier.\n\n    " + (_Polk.__doc__ or "")

    @_alone
    def fit(self, X, y, sample_weight=None):
        """Train on rows as runall train does on a file: settings that are not given are tuned.
        A row counts as sample_weight rows, relative to the mean."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        weights = self._weights(sample_weight, X, y)
        self.classes_, y = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"PolkClassifier needs two classes or more, y has one class: {self.classes_[0]!r}")
        self._begin("fit", X, y, self.classes_, weights)
        return self

    @_alone
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn further rows, as runall train does from a stream. The first call needs all classes.
        Weights are relative to their mean in the first 1,000 rows."""
        first = not hasattr(self, "notes_")  # which only a successful begin sets
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y = validate_data(self, X, y, reset=first, accept_sparse="csr", dtype=np.float64)
        known = unique_labels(classes) if first else self.classes_
        if classes is not None and not np.array_equal(known, unique_labels(classes)):
            raise ValueError(f"classes={classes!r} is not those of the first call: {known!r}")
        at = np.searchsorted(known, y)
        at[at == len(known)] = 0
        if not np.array_equal(known[at], y):
            raise ValueError(f"y has labels that are not in classes: {np.setdiff1d(y, known)!r}")
        if self.class_weight == "balanced":
            raise ValueError("class_weight 'balanced' is not supported for partial_fit: give a dict of weights, such as "
                             "sklearn.utils.class_weight.compute_class_weight computes from known rows")
        weights = self._weights(sample_weight, X, y)
        if first:
            check_classification_targets(y)
            self.classes_ = known
            self._begin("begin", X, classes=known)
        self._go_on(X, at, weights)
        return self

    def _loss_name(self):
        return self.loss or "hinge"


class PolkRegressor(RegressorMixin, _Polk):
    __doc__ = "Online kernel regression.\n\n    " + (_Polk.__doc__ or "")

    @_alone
    def fit(self, X, y, sample_weight=None):
        """Train on rows as runall train does on a file: settings that are not given are tuned.
        A row counts as sample_weight rows, relative to the mean."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self._begin("fit", X, y.astype(float), weights=self._weights(sample_weight, X, y))
        return self

    @_alone
    def partial_fit(self, X, y, sample_weight=None):
        """Learn further rows, as runall train does from a stream.
        Weights are relative to their mean in the first 1,000 rows."""
        first = not hasattr(self, "notes_")  # which only a successful begin sets
        X, y = validate_data(self, X, y, reset=first, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        y = y.astype(float)
        if first:
            self._begin("begin", X)
        self._go_on(X, y, self._weights(sample_weight, X, y))
        return self

    def predict(self, X):
        """The predicted values of rows."""
        return self._scores(X)[:, 0].copy()

    def _more_tags(self):
        return {"_xfail_checks": {"check_sample_weights_invariance": "it shuffles rows, whose order decides the last bits"}}

    def _loss_name(self):
        return self.loss or "squared"


def _request(header, X, *targets):
    """A request with the features of rows, their targets and, if they are given, weights."""
    header = dict(header, weights=len(targets) > 1)
    if isinstance(X, np.ndarray):
        return dict(header, rows=len(X)), X, *targets
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return dict(header, rows=X.shape[0], entries=int(X.nnz)), np.diff(X.indptr), X.indices, X.data, *targets


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
            # Ctrl-C reaches only Python. A fork would copy buffers half full.
            self.child = subprocess.Popen([self.program, "serve"], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
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
        parts = [a if isinstance(a, bytes) else np.ascontiguousarray(a, "<f8").data.cast("B") if a.size else b"" for a in arrays]
        # fit may take long, so a signal whose handler raises ends it, with the process. All other
        # requests are short and finish, in _go_on too, so the model is whole afterwards.
        with nullcontext() if header["op"] in ("fit", "learn") else _uninterrupted():
            if not self.end.alive:
                raise self.dead()
            try:
                self.write([json.dumps(header).encode() + b"\n", *parts])
                answer = self.read()
            except (BrokenPipeError, EOFError, json.JSONDecodeError):
                raise self.dead() from None
            except BaseException as e:
                self.end()
                self.words = f"{type(e).__name__} interrupted the request {header['op']}, and the model is lost"
                raise
        if "error" in answer:
            raise ValueError(re.sub(r"(?<![\w-])--?([a-z][a-z-]*)", lambda m: m[1].replace("-", "_"), answer["error"]))
        return answer

    def write(self, parts):
        if sum(map(len, parts)) < 1 << 16:
            parts = [b"".join(parts)]
        for part in map(memoryview, parts):
            while part:
                part = part[self.child.stdin.write(part):]

    def read(self):
        """The answer. The process says nothing after it."""
        answer, got = None, bytearray()
        while answer is None or len(got) < answer.get("bytes", 0):
            part = self.child.stdout.read(1 << 16)
            if not part:
                raise EOFError
            got += part
            if answer is None and b"\n" in got:
                line, _, got = got.partition(b"\n")
                answer = json.loads(line)
        return dict(answer, payload=bytes(got))

    def dead(self):
        """The error of a process that has ended, or was left to the parent by a fork."""
        self.words = self.end() or self.words
        if self.owner != os.getpid():
            return RuntimeError(f"the model was being trained when process {self.owner} was forked: fit trains one here")
        return RuntimeError(f"the process of {self.program} has ended (status {self.child.returncode}): {self.words or 'it said nothing'}")


def _end(child, owner, said):
    """End a process, wait for it and return its messages. Leave a parent's process alone."""
    child.stdin.close()
    child.stdout.close()
    with said:
        if os.getpid() != owner:
            child.returncode = 0  # Popen warns of children that it believes to run
            return ""
        try:
            child.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
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
        centred = self.elements.astype(float)
        self._middle = centred.mean(axis=0) if m else 0  # against cancellation in distances of long vectors
        self._centred = centred - self._middle
        self._squares = (self._centred ** 2).sum(1)

    def _array(self, kind, *shape):
        a = np.frombuffer(self._data, kind, int(np.prod(shape)), self._at).reshape(shape)
        self._at += a.nbytes
        return a

    def _loss_name(self):
        return self.settings["loss"]

    def _scores(self, X):
        sparse = hasattr(X, "tocsr")
        X, dim = X.tocsr() if sparse else np.asarray(X), self.settings["dim"]
        if fits := X.ndim == 2 and X.shape[1] == dim and X.dtype.kind not in "cmM":
            X = X.astype(float)
            fits = np.isfinite(X.data if sparse else X).all()
        if not fits:
            raise ValueError(f"X of shape {X.shape} and type {X.dtype}: want rows of {dim} finite numbers")
        blocks = [X[i:i + 1024] for i in range(0, X.shape[0], 1024)]
        scores = [self._block(x.toarray() if sparse else x) for x in blocks]
        return _finite(np.vstack(scores or [np.empty((0, self.weights.shape[1]))]), "a score")

    def _block(self, given):
        x = given
        with np.errstate(over="ignore"):
            if self.shift is not None:
                x = (x - self.shift) * self.factor
            x = x.astype("f4").astype(float)
        if not np.isfinite(x).all():
            i, j = np.argwhere(~np.isfinite(x))[0]
            raise ValueError(f"feature {j + 1} is {given[i, j]:g}, which is too large for a float32 once it is scaled")
        x = x - self._middle
        square = (x ** 2).sum(1)[:, None] + self._squares - 2 * x @ self._centred.T
        return np.exp(square.clip(min=0) / (-2 * self.settings["bandwidth"] ** 2)) @ self.weights


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
