package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the folder of the module that runall belongs to.
const root = "../.."

// runall builds the program, which is not of this module.
func runall(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "runall")
	build := exec.Command("go", "build", "-o", program, "./cmd/runall")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// manifest is what runall cluster plan writes.
func manifest(t *testing.T, runall string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plan")
	cmd := exec.Command(runall, append([]string{"cluster", "plan", "--image", "registry.example/runall:1", "--out", dir}, args...)...)
	cmd.Env = append(os.Environ(), "POLK_OFFLINE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("runall cluster plan %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestManifests checks what runall cluster plan writes for plans of several shapes,
// one of them with a task that needs a large memory, thus a Job, of its own.
func TestManifests(t *testing.T) {
	program := runall(t)
	for _, tt := range []struct {
		name string
		args []string
		jobs int
		data bool // MNIST's files are needed
	}{
		{"one task", []string{"multidist-ksvm", "--tasks", "1"}, 1, false},
		{"96 tasks", []string{"multidist-ksvm"}, 1, false},
		{"image of another name", []string{"multidist-ksvm", "--image", "localhost:5000/a/b@sha256:" + strings.Repeat("0", 64)}, 1, false},
		{"large memory", []string{"mnist-batch-ksvm", "--profile", "full"}, 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.data && !haveMNIST(t) {
				t.Skip("no MNIST files in $POLK_DATA_DIR")
			}
			text := manifest(t, program, tt.args...)
			if err := check([]byte(text)); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			if n := strings.Count(text, "\nkind: Job\n"); n != tt.jobs {
				t.Errorf("%d Jobs, want %d", n, tt.jobs)
			}
		})
	}
}

func haveMNIST(t *testing.T) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(os.Getenv("POLK_DATA_DIR"), "mnist", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 && os.Getenv("POLK_REQUIRE_DATA") != "" {
		t.Fatal("no MNIST files")
	}
	return len(files) > 0
}

// TestRefused changes a manifest that is accepted in one place after another.
func TestRefused(t *testing.T) {
	good := manifest(t, runall(t), "multidist-ksvm", "--profile", "smoke")
	if err := check([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new, why string }{
		{"unknown field", "parallelism:", "paralelism:", `unknown field "spec.paralelism"`},
		{"unknown field of a container", "workingDir:", "workdir:", `unknown field "spec.template.spec.containers[0].workdir"`},
		{"field twice", "completionMode: Indexed", "completionMode: Indexed\n  completionMode: Indexed", `"completionMode" already set`},
		{"wrong type", "completions: 4", "completions: four", "cannot unmarshal string into Go struct field JobSpec.spec.completions of type int32"},
		{"number for text", `value: "1"`, "value: 1", "cannot unmarshal number"},
		{"completions missing", "  completions: 4\n", "", "spec.completions: Required value"},
		{"completions below 0", "completions: 4", "completions: -4", "spec.completions: Invalid value"},
		{"mode", "completionMode: Indexed", "completionMode: Index", "spec.completionMode: Unsupported value"},
		{"not indexed", "completionMode: Indexed", "completionMode: NonIndexed", "spec.backoffLimitPerIndex: Invalid value"},
		{"restart policy", "restartPolicy: Never", "restartPolicy: Always", "spec.template.spec.restartPolicy: Required value"},
		{"restart policy with a failure policy", "restartPolicy: Never", "restartPolicy: OnFailure", "only \"Never\" is supported when podFailurePolicy is specified"},
		{"name of the Job", "metadata:\n  name: runall", "metadata:\n  name: Runall_", "metadata.name: Invalid value"},
		{"image missing", "        image: \"registry.example/runall:1\"\n", "", "spec.template.spec.containers[0].image: Required value"},
		{"quantity", "memory: ", "memory: about ", "quantities must match"},
		{"request above the limit", `limits:
            cpu: "1"`, `limits:
            cpu: "0.5"`, "must be less than or equal to cpu limit"},
		{"volume without mount's name", "- name: plan\n          mountPath", "- name: plans\n          mountPath", `volumeMounts[0].name: Not found: "plans"`},
		{"failure policy of no container", "containerName: runall", "containerName: other", "must be one of the container or initContainer names"},
		{"version of the interface", "batch/v1", "batch/v2", `no kind "Job" is registered for version "batch/v2"`},
		{"another kind", "kind: Job", "kind: CronJob", `unknown field "spec.completionMode"`},
		{"no YAML", "spec:\n", "spec: [\n", "yaml"},
		{"nothing but comments", good, "# nothing\n", "the manifest has no object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(good, tt.old) {
				t.Fatalf("the manifest has no %q", tt.old)
			}
			err := check([]byte(strings.Replace(good, tt.old, tt.new, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("want %q: %v", tt.why, err)
			}
		})
	}
}

// TestSecondDocument refuses a manifest for its last Job alone.
func TestSecondDocument(t *testing.T) {
	const job = `apiVersion: batch/v1
kind: Job
metadata: {name: short}
spec:
  completionMode: Indexed
  completions: %d
  parallelism: 1
  template:
    spec:
      restartPolicy: Never
      containers: [{name: runall, image: i}]
`
	good, bad := fmt.Sprintf(job, 1), fmt.Sprintf(job, -1)
	if err := check([]byte("# of two\n---\n" + good + "---\n" + good)); err != nil {
		t.Error(err)
	}
	if err := check([]byte(good + "---\n" + bad)); err == nil {
		t.Error("accepted")
	}
}

// TestPage checks the manifests in docs/cluster.md, and that the changed ones are
// refused.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "cluster.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 1 {
		t.Fatalf("docs/cluster.md has %d blocks of YAML, want 1", len(blocks))
	}
	good := string(blocks[0][1])
	if err := check([]byte(good)); err != nil {
		t.Error(err)
	}
	for old, new := range map[string]string{
		"ReadWriteMany": "ReadWrite", "storage: 1Gi": "storage: 0", "claimName: runall-plan": "claim: runall-plan",
		"mountPath: /plan": "mountPath: ''", "kind: Pod\n": "kind: ConfigMap\n",
	} {
		if bad := strings.Replace(good, old, new, 1); bad == good || check([]byte(bad)) == nil {
			t.Errorf("accepted with %s in place of %s", new, old)
		}
	}
}

// TestProgram runs the check as a program.
func TestProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "check")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte("kind: Job\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, path).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.HasPrefix(string(out), path+": ") {
		t.Errorf("%v\n%s", err, out)
	}
}
