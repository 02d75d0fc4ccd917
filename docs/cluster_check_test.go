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
