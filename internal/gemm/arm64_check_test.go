//go:build check

package gemm

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// TestCheckARM64 runs the arithmetic on an emulated arm64 CPU, with the NEON kernels.
// Emulation is slow, so only tests that depend on the architecture run. In this package, these
// test the bits of all kernels and plans, all sizes, and accesses beyond a slice; the recorded
// bits replace the tests with slow references. Of package kernel the tests of its values run, and
// of package loss all.
// TestCheckSameBits compares whole runs.
func TestCheckARM64(t *testing.T) {
	if runtime.GOARCH == "arm64" {
		t.Skip("the other tests run on arm64 as they are")
	}
	qemu, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		if os.Getenv("POLK_REQUIRE_DATA") != "" {
			t.Fatalf("%v (Debian package qemu-user-static)", err)
		}
		t.Skipf("%v (Debian package qemu-user-static)", err)
	}
	arm64 := func(name, command string, args ...string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("go", append([]string{command, "-trimpath"}, args...)...) // -trimpath: shares compiled packages with make image
			cmd.Dir = "../.."
			cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("go %s %v: %v\n%s", command, args, err, out)
			}
		})
	}
	arm64("vet", "vet", "./internal/gemm") // checks the arguments of the assembly
	for pkg, tests := range map[string]string{
		"./internal/gemm": "TestRecordedBits|TestSameBits|TestFMA|TestEdges|TestBits|TestGrowAndShrink|TestNonFinite|TestFarAway|TestVectors|TestNorms|TestPanics",
		"./kernel":        "TestBlocks.*|TestEvalByHand|TestDistanceSqOrder|TestMerge.*|TestGolden|TestValues.*|TestNonFinite.*|TestExtreme.*|TestRecorded.*|TestScoresAgree.*|TestBounds.*",
		"./loss":          "Test.*",
	} {
		arm64(pkg, "test", "-short", "-exec", qemu, "-run", "^("+tests+")$", pkg)
	}
}
