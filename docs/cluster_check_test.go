//go:build check && linux

package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"polkrepro/internal/testutil"
)

// run runs a program in a folder and returns its output. A failure ends the test.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd.Args, err, out, &said)
	}
	return string(out)
}

// TestCheckCluster carries out the runs of testdata in three shards, by docs/cluster/parallel.sh with
// GNU parallel, and by docs/cluster/slurm.sh with the variables that Slurm sets for each element of a
// job array. The merged records must be those of a single process, bit for bit.
func TestCheckCluster(t *testing.T) {
	repo, err := filepath.Abs(root)
	testutil.NoError(t, err)
	specs := []string{repo + "/docs/testdata/slurm-polk.yaml", repo + "/docs/testdata/slurm-bsgd.yaml"}
	alone := t.TempDir()
	runall := alone + "/runall"
	run(t, repo, "go", "build", "-o", runall, "./cmd/runall")
	run(t, alone, runall, append([]string{"reproduce", "--results", "local", "--progress", "quiet"}, specs...)...)
	t.Setenv("RUNALL", runall)
	t.Setenv("SLURM_CPUS_PER_TASK", "1")
	t.Setenv("SLURM_MEM_PER_NODE", "512")
	for script, elements := range map[string][]string{"parallel.sh": {""}, "slurm.sh": {"1", "2", "3"}} {
		t.Run(script, func(t *testing.T) {
			if _, err := exec.LookPath("parallel"); err != nil && script == "parallel.sh" {
				t.Skip(err)
			}
			dir := t.TempDir()
			for _, k := range elements {
				t.Setenv("SLURM_ARRAY_TASK_ID", k)
				run(t, dir, "bash", append([]string{repo + "/docs/cluster/" + script, "3"}, specs...)...)
			}
			run(t, dir, runall, "merge", "shards/1", "shards/2", "shards/3", "--results", "merged")
			said := run(t, dir, runall, "verify", "records", "--results", "merged", "--with", alone+"/local")
			if want := "24 runs compared, 24 the same bit for bit; 0 only in the first folder, 0 only in the second\n"; said != want {
				t.Errorf("%swant %s", said, want)
			}
		})
	}
}

// TestCheckImage builds the image for this architecture with 'make image' and carries out runs in it
// as its user.
func TestCheckImage(t *testing.T) {
	if _, err := exec.LookPath("buildah"); err != nil || os.Geteuid() != 0 {
		t.Skipf("buildah and root are needed: %v", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"root", "runroot"} {
		testutil.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	conf := fmt.Sprintf("[storage]\ndriver = \"vfs\"\ngraphroot = %q\nrunroot = %q\n", dir+"/root", dir+"/runroot")
	testutil.NoError(t, os.WriteFile(dir+"/storage.conf", []byte(conf), 0o666))
	t.Setenv("CONTAINERS_STORAGE_CONF", dir+"/storage.conf")
	for _, v := range []string{"MAKEFLAGS", "MAKELEVEL", "MFLAGS"} { // variables of the make that may run this test
		t.Setenv(v, "")
	}
	run(t, root, "make", "image", "IMAGE=polk-check", "ARCHS="+runtime.GOARCH, "IMAGEDIR="+dir+"/image")
	container := strings.TrimSpace(run(t, dir, "buildah", "from", "--pull-never", "polk-check"))
	config := run(t, dir, "buildah", "inspect", "--format", "{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.WorkingDir}}", container)
	if strings.TrimSpace(config) != "65532:65532 [/runall] /polk" {
		t.Errorf("the image's user, entrypoint and folder: %s", config)
	}
	t.Log(run(t, dir, "buildah", "run", "--isolation", "chroot", "--env", "POLK_OFFLINE=1", container, "--",
		"/runall", "reproduce", "multidist-ksvm", "--profile", "smoke", "--shard", "0/2", "--results", "shards/0", "--progress", "plain")) // Kubernetes counts from 0
}

// TestCheckKubernetes validates docs/cluster/kubernetes.yaml against the schema of the API, changed so
// that an unknown key is an error too.
func TestCheckKubernetes(t *testing.T) {
	const kubernetes = "k8s.io/kubernetes@v1.36.3" // the module with the schema
	out, err := exec.Command("go", "mod", "download", "-json", kubernetes).Output()
	if err != nil {
		t.Skipf("%s is not reachable: %v", kubernetes, err)
	}
	var module struct{ Dir string }
	testutil.NoError(t, json.Unmarshal(out, &module))
	schema := testutil.ReadSchema(t, filepath.Join(module.Dir, "api/openapi-spec/v3/apis__batch__v1_openapi.json"))
	schema["$ref"] = "#/components/schemas/io.k8s.api.batch.v1.Job"
	for _, s := range schema["components"].(map[string]any)["schemas"].(map[string]any) {
		if s := s.(map[string]any); s["properties"] != nil {
			s["additionalProperties"] = false
		}
	}
	manifest := read(t, "docs/cluster/kubernetes.yaml")
	for text, valid := range map[string]bool{
		manifest: true,
		strings.Replace(manifest, "completions: 20", "completions: many", 1): false,
		strings.Replace(manifest, "restartPolicy:", "restartsPolicy:", 1):    false,
	} {
		asJSON, err := yaml.YAMLToJSON([]byte(text))
		testutil.NoError(t, err)
		var v any
		testutil.NoError(t, json.Unmarshal(asJSON, &v))
		if problems := schema.Validate(v); (len(problems) == 0) != valid {
			t.Errorf("valid: %v, want %v: %v\n%s", !valid, valid, problems, text)
		}
	}
}
