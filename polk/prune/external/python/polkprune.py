"""polkprune: pruning heuristics of POLK in Python, for "runall compare --with NAME=FILE".

Put this file beside the heuristic's. A heuristic is a function that removes elements
from the dictionary of a step, a State:

    from polkprune import ORDER, run

    def prune(s, order):
        while len(s) > order:
            s.drop(s.least(s.norm2))

    run(prune, about="drops the elements with the smallest weights", params=[ORDER])

It is called once a step, with the values of its parameters by name. The same seed must
give the same removals: draw random numbers from State.random only. State.kept keeps a
value for each element from step to step.

What is printed, from the import of this module on, goes to standard error, which is shown
if the run fails. Needs Python 3.8 and nothing else. Attributes with a value for each element are
NumPy arrays if the heuristic has imported NumPy, else lists. The protocol is described
in docs/pruner-protocol.md.
"""

import array
import base64
import inspect
import json
import math
import os
import random
import sys

VERSION = 1

# The size parameter of heuristics that keep a fixed model order.
ORDER = {
    "name": "order", "about": "the largest model order M", "integer": True, "least": 1, "most": 1e6,
    "grid": [16, 32, 64, 128, 256],
}


def run(prune, about, params=(ORDER,), inverse=False, wants=(), source="", epsilon=False, gaussian=False, files=()):
    """Serves prune until standard input ends.

    about      what the heuristic does, in a line
    params     its parameters, dicts with name, about and, if need be, integer, above,
               least, most, default and grid; the first one is its size parameter, and has a grid
    inverse    it uses the inverse kernel matrix: State.remove, cost, distance, column
    wants      attributes of State that it uses in each step ("costs", "norms", ...): they
               come with the step, which is faster than one after another, and change no
               result
    source     where it is from, in a line
    epsilon    it keeps to State.epsilon, so that its size parameter is the parsimony K
    gaussian   it is for the Gaussian kernel only
    files      paths of files, besides imported modules beside the script, that its
               results depend on: runs belong to the contents of all these
    """
    _check(prune, params)
    _WIRE.open()
    kept = {}
    while True:
        message = _WIRE.receive()
        if "hello" in message:
            _WIRE.send({"hello": {
                "version": VERSION, "about": about, "source": source, "params": list(params), "epsilon": epsilon,
                "gaussian": gaussian, "inverse": inverse, "wants": [_QUANTITIES.get(w, w) for w in wants], "files": _files(files),
            }})
        else:
            state = State(_WIRE, message, kept)
            prune(state, **message["step"]["params"])
            state._end()


class State:
    """The elements of a step, numbered from 0: those of the dictionary first, then those
    that the step has added. They keep their numbers until the step ends; only their IDs
    stay for good. Iterating gives the numbers of those that are present.

    t, old, total      steps before this one; elements before it; elements in all
    rate, epsilon      the learning rate, and the budget of the error
    dim, outputs       numbers of features and of weights of an element
    kernel, loss       {"name": ..., "params": ...}, and the name of the loss
    random             a random.Random of the run's seed and the step
    kept               a value for each element, by its number: kept[j] = v, kept.get(j, 0)

    For each element, those that have been removed as None or NaN where it is not fixed:
    ids, ages, samples, self_values (fixed), points, rows, weights, norms, norms2; with the
    inverse columns, costs, distances, distances_before. norms2 are squared norms. points,
    rows and columns are all that point(j), row(j) and column(j) return, in one question.
    Besides: spent; x and y, the step's samples and targets.
    """

    def __init__(self, wire, message, kept):
        step = message["step"]
        self.t, self.old, self.total = step["t"], step["old"], step["total"]
        self.rate, self.epsilon = float(step["rate"]), float(step["epsilon"])
        self.dim, self.outputs, self.kernel, self.loss = step["dim"], step["outputs"], step["kernel"], step["loss"]
        self.random = random.Random(step["seed"])
        self.kept = _Kept(self, kept)
        self._wire, self._do, self._points = wire, [], {}
        self._present = dict.fromkeys(range(self.total))  # in ascending order
        self._values = {}
        self._take(message["given"])

    # Elements.

    def __len__(self):
        return len(self._present)

    def __iter__(self):
        return iter(list(self._present))

    def __contains__(self, j):
        return j in self._present

    def id(self, j):
        return self.ids[j]

    def age(self, j):
        """Steps since j entered, 0 for the new ones."""
        return self.ages[j]

    def norm(self, j):
        """The norm of the weights of j."""
        return math.sqrt(self.norm2(j))

    def norm2(self, j):
        """The squared norm of the weights of j, Norm2 in Go."""
        return self._value("norms")[j]

    def cost(self, j):
        """What remove(j) adds to the squared error."""
        return self._value("costs")[j]

    def distance(self, j):
        """The squared distance of j to the span of the others."""
        return self._value("distances")[j]

    def point(self, j):
        if j not in self._points:
            missing = [i for i in self._present if i not in self._points]
            self._points.update(zip(missing, _floats(self._ask({"get": ["points"], "of": missing})["points"])))
        return _array(self._points[j])

    def row(self, j):
        """The kernel values of j and all elements."""
        return _array(_floats(self._ask({"get": ["rows"], "of": [int(j)]})["rows"][0]))

    def column(self, j):
        """Column j of the inverse kernel matrix, 0 for elements that are not present."""
        return _array(_floats(self._ask({"get": ["columns"], "of": [int(j)]})["columns"][0]))

    def least(self, score):
        """The element with the least score, the first of equals. score is a function of
        an element, or a list. A score that is not a number counts as infinite; if all
        are, that is a ValueError."""
        best, least, scored = None, math.inf, False
        for j in self._present:
            v = score(j) if callable(score) else score[j]
            if best is None or v < least:
                best = j
            if not math.isnan(v):
                least, scored = min(v, least), True
        if self._present and not scored:
            raise ValueError("the score of every element is nan: look for 0/0, inf - inf or a nan in State.kept")
        return best

    # Changes. They are sent with the next question, or at the end of the step.

    def remove(self, j):
        """Removes j and refits the weights of the others. With the inverse only."""
        self._leave("remove", j)

    def drop(self, j):
        """Removes j and leaves the others' weights as they are."""
        self._leave("drop", j)

    def add(self, point, weights):
        """Adds an element and returns its number."""
        self._change({"add": {"point": _list(point), "weights": _list(weights)}})
        for name in _FIXED:
            self._values.pop(name, None)
        self._present[self.total] = None
        self.total += 1
        return self.total - 1

    def enter(self, point):
        """Adds an element, gives all elements the weights of the best approximation, and
        returns its number; None if the point is of no use, so close is it to the span of
        the others. With the inverse only."""
        self._change({"enter": {"point": _list(point)}})
        j = self._ask({"get": ["entered"]})["entered"][0]
        if j < 0:
            return None
        for name in _FIXED - {"x", "y"}:
            self._values.pop(name, None)
        self._present[j] = None
        self.total += 1
        return j

    def values(self, point):
        """The kernel values of any point and all elements."""
        return _array(_floats(self._ask({"values": [_list(point)]})["values"][0]))

    def set_weights(self, j, weights):
        """Gives j other weights. Without the inverse only."""
        self._change({"weights": {"of": int(j), "weights": _list(weights)}})

    def _leave(self, how, j):
        if j not in self._present:
            raise KeyError("element %s is not present" % j)
        del self._present[j]
        self._change({how: int(j)})

    def _change(self, action):
        self._do.append(action)
        self._values = {name: v for name, v in self._values.items() if name in _FIXED}

    # Values.

    def __getattr__(self, name):
        """Of the attributes with a value for each element."""
        if name == "norms":
            return _array([math.sqrt(v) for v in self._value("norms")])
        name = _QUANTITIES.get(name, name)
        if name not in _FIXED and name not in _CHANGING:
            raise AttributeError("State has no attribute " + name)
        return _array(self._value(name))

    def _value(self, name):
        if name not in self._values:
            self._take(self._ask({"get": [name], "packed": name in _PACKED}))
        return self._values[name]

    def _take(self, values):
        for name, v in values.items():
            self._values[name] = _unpacked(v, self.total) if isinstance(v, str) else v if name in _WHOLE else _floats(v)

    def _ask(self, what):
        if self._do:
            what["do"], self._do = self._do, []
        self._wire.send(what)
        return self._wire.receive()

    def _end(self):
        self.kept._sync()
        self._wire.send({"do": self._do, "done": True})


_WHOLE = {"ids", "ages", "samples"}
_FIXED = _WHOLE | {"self", "x", "y"}
_PACKED = {"points", "rows", "columns"}  # a matrix is read faster from base64 than from digits
_CHANGING = _PACKED | {"weights", "norms", "costs", "distances", "distances_before", "spent"}
_QUANTITIES = {"norms2": "norms", "self_values": "self"}  # the protocol's norms are squared


class _Kept:
    """Values by element, kept under the elements' IDs."""

    def __init__(self, state, values):
        self._state, self._values = state, values

    def __getitem__(self, j):
        return self._values[self._state.id(j)]

    def __setitem__(self, j, value):
        self._values[int(self._state.id(j))] = value

    def __contains__(self, j):
        return self._state.id(j) in self._values

    def get(self, j, default=None):
        return self._values.get(self._state.id(j), default)

    def _sync(self):
        """Forgets the elements that are gone."""
        if self._values:
            present = {self._state.id(j) for j in self._state}
            for i in [i for i in self._values if i not in present]:
                del self._values[i]


class _Wire:
    """Lines of JSON on the process's standard streams. What others print goes to
    standard error."""

    def __init__(self):
        self._out = self._number = None

    def open(self):
        """Takes standard output for the protocol, once."""
        if self._out is None:
            self._in, self._out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
            os.dup2(2, 1)
            sys.stdout.reconfigure(line_buffering=True)

    def send(self, message):
        message["n"] = self._number  # that of the message that this answers
        self._out.write(json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n")
        self._out.flush()

    def receive(self):
        line = self._in.readline()
        if not line:
            sys.exit(0)  # runall has ended, or the run
        message = json.loads(line)
        self._number = message.pop("n", None)
        return message


_WIRE = _Wire()
if "POLK_PRUNER" in os.environ:  # runall has started this process: nothing is printed before the hello
    _WIRE.open()


def _check(prune, params):
    """Ends the process if prune can't be called with its parameters by name."""
    names = [p["name"] for p in params]
    try:
        inspect.signature(prune).bind(None, **dict.fromkeys(names, 0))
    except TypeError as err:
        sys.exit("prune%s does not fit params: %s. It is called with the state and, by name, %s."
                 % (inspect.signature(prune), err, ", ".join(names) or "nothing else"))


def _floats(x):
    """Numbers of JSON, or lists of them, as floats."""
    if isinstance(x, list):
        return [v if type(v) is float else _floats(v) for v in x]
    return math.nan if x is None else float(x)


def _unpacked(text, n):
    """A matrix of n rows in base64, as an array if the heuristic uses NumPy."""
    x = array.array("d", base64.b64decode(text))
    if sys.byteorder == "big":
        x.byteswap()
    if "numpy" in sys.modules:
        return sys.modules["numpy"].array(x).reshape(n, len(x) // max(n, 1))
    return [x[i * len(x) // n:(i + 1) * len(x) // n].tolist() for i in range(n)]


def _array(x):
    """x as an array if the heuristic uses NumPy. A nan among lists becomes a list."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(x, list):
        return x
    lengths = {len(v) for v in x if isinstance(v, list)}
    if lengths:
        x = [v if isinstance(v, list) else [math.nan] * max(lengths) for v in x]
    return numpy.array(x)


def _list(x):
    """A list or an array as floats."""
    return [float(v) for v in x]


def _files(more):
    """This file and the modules beside the script, packages that are installed there
    excluded, and more."""
    top = os.path.dirname(os.path.abspath(sys.argv[0])) + os.sep
    found = {os.path.abspath(f) for f in more} | {os.path.abspath(__file__)}
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        if name and os.path.abspath(name).startswith(top) and "site-packages" not in name:
            found.add(os.path.abspath(name))
    return sorted(found)
