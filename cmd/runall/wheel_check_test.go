//go:build check && linux

package main

import (
	"errors"
	"os/exec"
	"runtime"
	"testing"

	"polkrepro/internal/testutil"
)

// wheelScript builds the wheels of $ARCH and of arm64 in $DIR and uses them. The environment of
// the installed wheel is not activated.
const wheelScript = `
build() { /usr/bin/python3 python/build_polk.py "$@"; }
build "$DIR/make" linux/$ARCH linux/arm64
build "$DIR/again" linux/arm64
/usr/bin/python3 -m venv --system-site-packages "$DIR/venv"
from() { "$DIR/venv/bin/pip" wheel -q --no-index --no-deps -w "$DIR/$1" "$2"; }
from pip .
for wheel in pip again; do cmp "$DIR/$wheel"/*.whl "$DIR/make/$(basename "$DIR/$wheel"/*.whl)"; done
if [ -z "$(git status --porcelain)" ]; then
	build "$DIR/sdist" sdist
	from unpacked "$DIR"/sdist/*
	cmp "$DIR"/unpacked/*.whl "$DIR"/pip/*.whl
else echo "the source has changes: no source distribution"; fi
if PATH=/nowhere from nowhere . >"$DIR/said" 2>&1; then exit 1; fi
grep 'polk: its program runall is built with the go command, which is not in PATH: install Go 1' "$DIR/said"
revision=$(git rev-parse HEAD) bin=$DIR/venv/bin

mkdir "$DIR/elsewhere" && cd "$DIR/elsewhere"
"$bin"/pip install -q --no-index ../pip/*.whl
if "$bin"/pip check | grep ^polk; then exit 1; fi
PATH=/usr/bin:/bin "$bin"/python -W error::ResourceWarning - <<-END
	import importlib.metadata, pickle, sys
	import numpy as np, polk
	from sklearn.datasets import load_digits
	assert polk._program() == sys.prefix + "/bin/runall", polk._program()
	assert polk.__version__ == importlib.metadata.version(importlib.metadata.packages_distributions()["polk"][0])
	X, y = load_digits(return_X_y=True)
	np.savetxt("digits.csv", np.c_[y, X][:400], "%d", ",")
	model = polk.PolkClassifier(order=40).fit(X[:1000], y[:1000])
	assert model.score(X[1000:], y[1000:]) > 0.85, model.score(X[1000:], y[1000:])
	model.save("digits.polk")
	want = model.predict(X).tolist()
	assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == want
	assert polk.load("digits.polk").predict(X).tolist() == want
END
PATH=/usr/bin:/bin "$bin"/python -m polk | tee said
grep -q "^runall ($bin/runall)" said
grep -q "^revision  $revision" said
if POLK_RUNALL=/nowhere "$bin"/python -m polk 2>said; then exit 1; fi
grep -q "^the program runall can't be started .*/nowhere.*pip install" said
[ "$(stat -c %s ../pip/*.whl)" -lt 12500000 ] && [ "$(stat -c %s "$bin/runall")" -lt 28500000 ] # docs/python.md

/usr/bin/python3 -m zipfile -e ../again/*.whl arm64
arm64=$(echo arm64/*/scripts/runall)
chmod +x "$arm64"
$EMULATOR "$arm64" version | grep " linux/arm64 "
train() { "${@:2}" train digits.csv --no-tune --order 30 --out "$1"; }
train host.polk "$bin/runall"
train arm64.polk $EMULATOR "$arm64"
cmp host.polk arm64.polk
`

// TestCheckWheel: equal sources give the same bytes, from make wheel, pip and a source distribution.
// The wheel works where no folder is in PATH, and that of arm64 trains the same model.
func TestCheckWheel(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("/usr/bin/python3", "-c", "import ensurepip, sklearn").CombinedOutput(); err != nil {
		testutil.Need(t, errors.New("Debian's python3-venv and python3-sklearn are needed: "+string(out)))
	}
	emulator := ""
	if runtime.GOARCH != "arm64" {
		_, err := exec.LookPath("qemu-aarch64-static")
		testutil.Need(t, err)
		emulator = "qemu-aarch64-static"
	}
	status, out := bash(t, wheelScript, "DIR="+t.TempDir(), "ARCH="+runtime.GOARCH, "EMULATOR="+emulator, "POLK_RUNALL=")
	if status != 0 {
		t.Errorf("exit %d", status)
	}
	t.Log(out)
}

// TestCheckWheelVersions: what git says of a commit is a version by PEP 440.
func TestCheckWheelVersions(t *testing.T) {
	const revision = "0123456789abcdef0123"
	for _, tt := range []struct{ revision, tag, dirty, want string }{
		{"", "", "", "0+unknown "},
		{revision, "", "", "0+g0123456789ab 0123456789ab"},
		{revision, "", "1", "0+g0123456789ab.dirty 0123456789ab-dirty"},
		{revision, "v1.2", "", "1.2 v1.2"},
		{revision, "v1.2", "1", "1.2+dirty v1.2-dirty"},
		{revision, "v1.2rc1", "", "1.2rc1 v1.2rc1"},
		{revision, "v1.2.3-4-g0123456789ab", "", "1.2.3.post4+g0123456789ab v1.2.3-4-g0123456789ab"},
		{revision, "draft-4-g0123456789ab", "", "0+g0123456789ab 0123456789ab"},
		{revision, "%(describe:tags=true)", "", "0+g0123456789ab 0123456789ab"}, // an old git
	} {
		cmd := exec.Command("/usr/bin/python3", "-B", "-c", "import sys, build_polk; print(*build_polk.versions(*sys.argv[1:]))", tt.revision, tt.tag, tt.dirty)
		cmd.Dir = "../../python"
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != tt.want+"\n" {
			t.Errorf("%+v: %v, %s", tt, err, out)
		}
	}
}
