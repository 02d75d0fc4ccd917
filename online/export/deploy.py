#!/usr/bin/python3
"""Measures the ways in which a model of runall train predicts elsewhere (docs/deploy.md).

    deploy.py RUNALL OUT FOLDER

On letter, a9a and Fashion-MNIST it trains `runall train` without settings, and
scikit-learn's SVC with defaults on features from 0 to 1 (on Fashion-MNIST it learns the
first 10,000 rows only). Both predict the test rows
through NumPy (polk.load; SVC.predict), C (export-model --to c; LIBSVM's svm-predict, whose
time has the reading of text in it), ONNX (onnxruntime-web under node, one thread) and the
command (runall predict; svm-predict). Times are CPU times, the least of three runs, of one
thread where that can be chosen; the SVC predicts 300 rows. Then it trains models for 2, 16 and 64 kB of constants (on
Fashion-MNIST for 64 kB alone), as float32 and with --int8. Models are kept in FOLDER; OUT.txt gets the tables.

It needs Debian's python3-sklearn, python3-onnx, libsvm-tools, gcc, gcc-arm-none-eabi,
gcc-avr, nodejs, and onnxruntime-web in the folder node_modules of FOLDER. The data are read
from $POLK_DATA_DIR.
"""

import gzip
import os
import pickle
import re
import resource
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import onnx
import sklearn
from onnx import TensorProto, helper
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.svm import SVC

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))
import polk

DATA, FOLDER = os.environ.get("POLK_DATA_DIR", "data/cache"), os.path.abspath(sys.argv[3])
RUNALL, RUNS, SVC_ROWS = os.path.abspath(sys.argv[1]), 3, 300
SIZES = 2000, 16000, 64000  # bytes
SVC_TRAINED = {"fashion-mnist": 10000}  # rows: with all 60,000 an SVC takes the better part of an hour


def letter():
    source = f"{DATA}/letter/letter-recognition.data"
    with open(source) as f:
        lines = f.readlines()
    files = [f"{FOLDER}/letter-train.csv", f"{FOLDER}/letter-test.csv"]
    for name, part in zip(files, (lines[:16000], lines[16000:])):
        with open(name, "w") as f:
            f.writelines(part)
    rows = np.loadtxt(source, delimiter=",", dtype=str)
    x, y = rows[:, 1:].astype(float), rows[:, 0]
    return x[:16000], y[:16000], x[16000:], y[16000:], [files[0]], [files[1]], 15


def a9a():
    files = [f"{DATA}/a9a/a9a_{part}.svm.gz" for part in ("train", "test")]
    (x, y), (u, v) = (load_svmlight_file(f, n_features=123) for f in files)
    return x.toarray(), y.astype(int).astype(str), u.toarray(), v.astype(int).astype(str), [files[0], "--features", "123"], [files[1]], 1


def fashion():
    def idx(name, skip):
        with gzip.open(f"{DATA}/fashion-mnist/{name}.gz") as f:
            return np.frombuffer(f.read(), np.uint8, offset=skip)
    out, files = [], []
    for part in ("train", "t10k"):
        out += [idx(f"{part}-images-idx3-ubyte", 16).reshape(-1, 784).astype(float), idx(f"{part}-labels-idx1-ubyte", 8).astype(str)]
        files.append([f"{DATA}/fashion-mnist/{part}-images-idx3-ubyte.gz", "--labels", f"{DATA}/fashion-mnist/{part}-labels-idx1-ubyte.gz"])
    return *out, *files, 255


SETS = {"letter": letter, "a9a": a9a, "fashion-mnist": fashion}


def run(*command, stdin=None):
    """Returns the output of a command."""
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=stdin and open(stdin, "rb"),
                          env={**os.environ, "NODE_PATH": f"{FOLDER}/node_modules"})
    run.stderr = done.stderr
    return done.stdout


def least(work, rows, clock=time.process_time):
    """Returns the least CPU time of several calls in µs a row, and the result."""
    times = []
    for _ in range(RUNS):
        begun = clock()
        out = work()
        times.append(clock() - begun)
    return 1e6 * min(times) / rows, out


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def train(name, files, *flags):
    """Returns the file of a model, which is trained unless it is there."""
    model = f"{FOLDER}/{name}.polk"
    if not os.path.exists(model):
        run(RUNALL, "train", *files, *flags, "--out", model)
    return model


def export(model, form, *rows):
    out = os.path.splitext(model)[0] + {"c": ".c", "onnx": ".onnx", "predict": ".predict.polk"}[form]
    return out, run(RUNALL, "export-model", model, *rows, "--to", form, "--out", out, *(["--int8"] if rows else []))


def flash(c, compiler, *flags):
    """Returns the bytes of code and constants of a C file."""
    run(f"{compiler}gcc", "-std=c99", "-O2", *flags, "-c", c, "-o", c + ".o")
    return int(run(f"{compiler}size", c + ".o").split("\n")[1].split()[0])


MAIN = r"""
#include MODEL
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void)
{
	float *x = malloc(sizeof *x * N * P);
	double best = 1e9;
	if (!x || fread(x, sizeof *x, (size_t)N * P, stdin) != (size_t)N * P)
		return 1;
	for (int run = 0; run < 3; run++) {
		clock_t begun = clock();
		int sum = 0;
		for (long i = 0; i < TIMED; i++)
			sum += polk_predict(x + i * P);
		double t = (double)(clock() - begun) / CLOCKS_PER_SEC;
		best = t < best && sum >= 0 ? t : best;
	}
	printf("%g\n", 1e6 * best / TIMED);
	for (long i = 0; i < N; i++)
		printf("%s\n", polk_labels[polk_predict(x + i * P)]);
	return 0;
}
"""


def in_c(model, binary, rows, features):
    c, _ = export(model, "c")
    program = c[:-2]
    with open(program + ".main.c", "w") as f:
        f.write(MAIN)
    run("gcc", "-std=c99", "-O2", f"-DN={rows}", f"-DTIMED={min(rows, 2000)}", f"-DP={features}", f'-DMODEL="{c}"', program + ".main.c", "-o", program, "-lm")
    micros, *labels = run(program, stdin=binary).split()
    return flash(c, ""), float(micros), labels


def in_onnx(file, binary, features, repeats=RUNS):
    onnx.checker.check_model(onnx.load(file))
    lines = run("node", f"{HERE}/testdata/run.js", file, binary, str(features), str(repeats)).splitlines()
    return os.path.getsize(file), float(run.stderr), [line.split()[0] for line in lines]


def ours(name, model, test, u):
    """Yields each way with its size, its time and the labels."""
    want = run(RUNALL, "predict", model, test[0]).split()
    binary = f"{FOLDER}/{name}.f32"
    u.astype("<f4").tofile(binary)
    small, _ = export(model, "predict")
    loaded = polk.load(small)
    numpy, labels = least(lambda: loaded.predict(u), len(u))
    yield "NumPy", os.path.getsize(small), numpy, labels.astype(str), want
    yield "C", *in_c(model, binary, *u.shape), want
    yield "ONNX", *in_onnx(export(model, "onnx")[0], binary, u.shape[1]), want
    command, labels = least(lambda: run(RUNALL, "predict", small, test[0]).split(), len(u), of_children)
    yield "command", os.path.getsize(small), command, labels, want


def svc(name, x, y, u, v, scale):
    """Returns sizes and times of an SVC in each way, and the number of its support vectors."""
    path = f"{FOLDER}/{name}.svc"
    classes, codes = np.unique(y, return_inverse=True)
    if not os.path.exists(path):
        with open(path, "wb") as f:
            most = SVC_TRAINED.get(name)
            pickle.dump(SVC(cache_size=1500).fit(x[:most] / scale, codes[:most]), f)
    with open(path, "rb") as f:
        m = pickle.load(f)
    part = u[:SVC_ROWS] / scale
    numpy, some = least(lambda: m.predict(part), len(part))
    libsvm, binary, graph = f"{FOLDER}/{name}.libsvm", f"{FOLDER}/{name}.svc.f32", f"{FOLDER}/{name}.svc.onnx"
    write_libsvm(libsvm, m)
    write_onnx(graph, m, u.shape[1])
    dump_svmlight_file(part, np.searchsorted(classes, v[:SVC_ROWS]), libsvm + ".rows", zero_based=False)
    command, _ = least(lambda: run("svm-predict", libsvm + ".rows", libsvm, libsvm + ".out"), len(part), of_children)
    part.astype("<f4").tofile(binary)
    size, inonnx, labels = in_onnx(graph, binary, u.shape[1])
    with open(libsvm + ".out") as f:
        differ = [sum(a != str(b) for a, b in zip(other, some)) for other in (f.read().split(), labels)]
    print(f"{name}: of {len(part)} labels of SVC, {differ[0]} differ in LIBSVM and {differ[1]} in ONNX", file=sys.stderr)
    text = os.path.getsize(libsvm)
    return {"NumPy": (os.path.getsize(path), numpy), "C": (text, command), "ONNX": (size, inonnx), "command": (text, command)}, len(m.support_)


def write_libsvm(path, m):
    """Writes an SVC in LIBSVM's format."""
    with open(path, "w") as f:
        f.write("svm_type c_svc\nkernel_type rbf\ngamma %.17g\nnr_class %d\ntotal_sv %d\n" % (m._gamma, len(m.classes_), len(m.support_)))
        f.write("rho " + " ".join("%.17g" % -b for b in m._intercept_) + "\nlabel " + " ".join(map(str, m.classes_)) + "\n")
        f.write("nr_sv " + " ".join(map(str, m.n_support_)) + "\nSV\n")
        for weights, vector in zip(m._dual_coef_.T, m.support_vectors_):
            f.write(" ".join("%.17g" % w for w in weights) + " " + " ".join("%d:%.9g" % (q + 1, vector[q]) for q in np.flatnonzero(vector)) + "\n")


def write_onnx(path, m, features):
    """Writes an SVC as the operator of ONNX for it."""
    node = helper.make_node("SVMClassifier", ["X"], ["label", "probabilities"], domain="ai.onnx.ml", kernel_type="RBF", post_transform="NONE",
                            classlabels_ints=[int(c) for c in m.classes_], coefficients=m._dual_coef_.ravel().astype("f4"), kernel_params=[float(m._gamma), 0.0, 3.0],
                            rho=m._intercept_.astype("f4"), support_vectors=m.support_vectors_.ravel().astype("f4"), vectors_per_class=[int(n) for n in m.n_support_])
    value = helper.make_tensor_value_info
    graph = helper.make_graph([node], "svc", [value("X", TensorProto.FLOAT, ["N", features])],
                              [value("label", TensorProto.INT64, ["N"]), value("probabilities", TensorProto.FLOAT, ["N", None])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)], ir_version=8), path)


def error(model, test):
    return float(re.search(r"^error +(\S+) %", run(RUNALL, "evaluate", model, *test), re.M)[1])


def budgets(name, files, test, features, functions):
    """Yields a line for each size and each kind of numbers that has an element."""
    for size in SIZES[-1:] if name == "fashion-mnist" else SIZES:
        for kind, order in (("float32", (size - 8 * features) // (4 * (features + functions))), ("int8", (size - 12 * features) // (features + functions + 4))):
            if order < 1:
                yield "%-14s %5d  %-8s %6s" % (name, size // 1000, kind, "none")
                continue
            bound = ["--size", str(size)] if kind == "float32" else ["--order", str(order)]
            model = train(f"{name}-{size}-{kind}", files, *bound)
            c, said = export(model, "c", *(test if kind == "int8" else []))
            off = error(model, test)
            if kind == "int8":
                off = float(re.search(r"int8: error (\S+) %", said)[1])
            with open(c) as f:
                text = f.read()
            constants = int(re.search(r"Flash: (\d+) bytes", text)[1])
            arm = flash(c, "arm-none-eabi-", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
            avr = "none" if "#error" in text else str(flash(c, "avr-", "-mmcu=atmega2560"))
            yield "%-14s %5d  %-8s %6s %10d %10d %10s %8.2f" % (name, size // 1000, kind, re.search(r"(\d+) elements", text)[1], constants, arm, avr, off)


def main():
    out, ways, small = [run(RUNALL, "version").strip(), f"scikit-learn {sklearn.__version__}, numpy {np.__version__}, onnx {onnx.__version__}", ""], [], []
    figures = []
    for name, load in SETS.items():
        x, y, u, v, files, test, scale = load()
        model = train(name, files)
        others, vectors = svc(name, x, y, u, v, scale)
        print(name, vectors, file=sys.stderr)
        order = int(re.search(r"model order +(\d+)", run(RUNALL, "evaluate", model, *test))[1])
        figures.append("%-14s %8d %8.2f %10d" % (name, order, error(model, test), vectors))
        for way, size, micros, labels, want in ours(name, model, test, u):
            differ = sum(str(a) != b for a, b in zip(labels, want))
            ways.append("%-14s %-8s %10d %10.2f %8d of %5d %12d %10.1f" % (name, way, size, micros, differ, len(want), *others[way]))
            print(ways[-1], file=sys.stderr)
        for line in budgets(name, files, test, u.shape[1], len(set(y.tolist()))):
            small.append(line)
            print(line, file=sys.stderr)
    out += ["%-14s %8s %8s %10s" % ("data set", "order", "error %", "SVC: SVs"), *figures, "",
            "%-14s %-8s %10s %10s %17s %12s %10s" % ("data set", "way", "bytes", "us a row", "labels differ", "SVC: bytes", "us a row"), *ways, "",
            "%-14s %5s  %-8s %6s %10s %10s %10s %8s" % ("data set", "kB", "numbers", "order", "constants", "Cortex-M4", "ATmega", "error %"), *small]
    with open(sys.argv[2] + ".txt", "w") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
