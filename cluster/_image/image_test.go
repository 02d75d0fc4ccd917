package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// root is the folder of the module that runall belongs to.
const root = "../.."

// imageName is the name that docs/cluster.md gives the image.
const imageName = "registry.example.org/you/polk:1"

// TestImage builds the image as users do and takes it apart.
func TestImage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "image")
	makeImage(t, root, dir)
	index, digest := readLayout(t, dir)

	t.Run("layout", func(t *testing.T) {
		if err := validate.Index(index); err != nil {
			t.Error(err)
		}
		t.Logf("%s: validate.Index found no error", digest)
	})
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	images := make(map[string]v1.Image)
	for _, d := range m.Manifests {
		img, err := index.Image(d.Digest)
		if err != nil {
			t.Fatal(err)
		}
		images[d.Platform.String()] = img
	}
	if got := slices.Sorted(maps.Keys(images)); !slices.Equal(got, []string{"linux/amd64", "linux/arm64"}) {
		t.Fatalf("platforms %v", got)
	}
	for platform, img := range images {
		t.Run(platform, func(t *testing.T) {
			checkConfig(t, img, platform)
			checkFiles(t, img, platform)
		})
	}
	t.Run("reproducible", func(t *testing.T) { checkReproducible(t, dir, digest) })
	t.Run("push", func(t *testing.T) { checkPush(t, dir, digest) })
	t.Run("other architecture", func(t *testing.T) { checkOther(t, images) })
	t.Run("run", func(t *testing.T) { checkRuns(t, images["linux/"+runtime.GOARCH]) })
}

// makeImage calls make image in a source tree.
func makeImage(t *testing.T, tree, dir string) {
	t.Helper()
	cmd := exec.Command("make", "-C", tree, "image", "IMAGEDIR="+dir, "IMAGE="+imageName)
	// What another make, of which this test is part, was called with is not for this one.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=")
	})
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make image: %v\n%s", err, out)
	}
}

// readLayout returns the image index in a layout of one.
func readLayout(t *testing.T, dir string) (v1.ImageIndex, v1.Hash) {
	t.Helper()
	l, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Manifests) != 1 || m.Manifests[0].MediaType != types.OCIImageIndex || m.Manifests[0].Annotations["io.containerd.image.name"] != imageName {
		t.Fatalf("the layout holds %+v, want one index named %s", m.Manifests, imageName)
	}
	index, err := l.ImageIndex(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return index, m.Manifests[0].Digest
}

func checkConfig(t *testing.T, img v1.Image, platform string) {
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := file.Config
	if c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/runall"}) || c.Cmd != nil || c.WorkingDir != "/polk" {
		t.Errorf("config %+v", c)
	}
	if got := file.OS + "/" + file.Architecture; got != platform {
		t.Errorf("the config of %s is for %s", platform, got)
	}
	if head, err := git("rev-parse", "HEAD"); err == nil && c.Labels["org.opencontainers.image.revision"] != head {
		t.Errorf("labels %v, want revision %s", c.Labels, head)
	}
	m, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(m.Annotations, c.Labels) || c.Labels["org.opencontainers.image.licenses"] != "MIT" {
		t.Errorf("annotations %v, labels %v", m.Annotations, c.Labels)
	}
	size := m.Config.Size
	for _, l := range m.Layers {
		size += l.Size
	}
	t.Logf("user %s, entrypoint %v, %.1f MB compressed in %d layers", c.User, c.Entrypoint, float64(size)/1e6, len(m.Layers))
}

// checkFiles compares the files with a list, which has no shell, no file with a
// setuid bit and none that anybody but its owner may write to.
func checkFiles(t *testing.T, img v1.Image, platform string) {
	want := []string{
		"-rw-r--r-- 0 LICENSE",
		"drwxr-xr-x 0 etc",
		"drwxr-xr-x 0 etc/ssl",
		"drwxr-xr-x 0 etc/ssl/certs",
		"-rw-r--r-- 0 etc/ssl/certs/ca-certificates.crt",
		"drwxr-xr-x 65532 polk",
		"-rwxr-xr-x 0 runall",
	}
	var got []string
	var size int
	each(t, img, func(h *tar.Header, content []byte) {
		got = append(got, fmt.Sprintf("%v %d %s", h.FileInfo().Mode(), h.Uid, h.Name))
		if h.Uid != h.Gid {
			t.Errorf("%s: user %d, group %d", h.Name, h.Uid, h.Gid)
		}
		size += len(content)
		switch h.Name {
		case "runall":
			checkBinary(t, content, platform)
		case "etc/ssl/certs/ca-certificates.crt":
			checkCertificates(t, content)
		}
	})
	slices.SortFunc(got, func(a, b string) int {
		return strings.Compare(a[strings.LastIndex(a, " "):], b[strings.LastIndex(b, " "):])
	})
	if !slices.Equal(got, want) {
		t.Errorf("files\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	t.Logf("%.1f MB unpacked", float64(size)/1e6)
}

// each calls f for every entry of an image's layers.
func each(t *testing.T, img v1.Image, f func(h *tar.Header, content []byte)) {
	t.Helper()
	files := mutate.Extract(img)
	defer files.Close()
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		f(h, content)
	}
}

// checkBinary checks that a binary is static, for the platform, and says nothing
// of where it was built.
func checkBinary(t *testing.T, binary []byte, platform string) {
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	machine := map[string]elf.Machine{"linux/amd64": elf.EM_X86_64, "linux/arm64": elf.EM_AARCH64}[platform]
	if f.Machine != machine {
		t.Errorf("%v, want %v", f.Machine, machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("runall is dynamically linked: %v", p.Type)
		}
	}
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(binary, []byte(here)) {
		t.Errorf("runall contains the path %s", here)
	}
}

func checkCertificates(t *testing.T, pem []byte) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Error("no certificate can be read")
	}
	if n := bytes.Count(pem, []byte("BEGIN CERTIFICATE")); n < 100 {
		t.Errorf("%d root certificates, want at least 100", n)
	} else {
		t.Logf("%d root certificates", n)
	}
}

// checkReproducible makes the image again, in place and, if the tree has no
// local changes, of a clone in another folder.
func checkReproducible(t *testing.T, dir string, want v1.Hash) {
	check := func(tree, what string) {
		again := filepath.Join(t.TempDir(), "image")
		makeImage(t, tree, again)
		if _, digest := readLayout(t, again); digest != want {
			t.Errorf("%s: %s, want %s", what, digest, want)
		}
		t.Logf("%s: the same digest", what)
	}
	check(root, "made again")
	if changes, err := git("status", "--porcelain"); err != nil || changes != "" {
		t.Logf("not compared with a clone, because of local changes or no git: %v", err)
		return
	}
	clone := filepath.Join(t.TempDir(), "clone")
	if _, err := git("clone", "--quiet", ".", clone); err != nil {
		t.Fatal(err)
	}
	check(clone, "made in a clone")
}

// git calls git in the source tree.
func git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// pushCommand is how docs/cluster.md pushes the image, with the module's version.
var pushCommand = regexp.MustCompile(`(?m)^go run (github\.com/google/go-containerregistry/cmd/crane@(\S+)) push bin/image ` + regexp.QuoteMeta(imageName) + `$`)

// checkPush pushes the image to a registry on this machine with the command of
// docs/cluster.md.
func checkPush(t *testing.T, dir string, want v1.Hash) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "cluster.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := pushCommand.FindSubmatch(page)
	if found == nil {
		t.Fatalf("docs/cluster.md has no line %s", pushCommand)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(mod, fmt.Appendf(nil, "go-containerregistry %s\n", found[2])) {
		t.Errorf("docs/cluster.md names version %s of go-containerregistry, go.mod another", found[2])
	}
	crane := string(found[1])
	if out, err := exec.Command("go", "run", crane, "version").CombinedOutput(); err != nil {
		t.Skipf("crane is not reachable: %v\n%s", err, out)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	name := strings.Replace(imageName, "registry.example.org", strings.TrimPrefix(server.URL, "http://"), 1)
	if out, err := exec.Command("go", "run", crane, "push", dir, name).CombinedOutput(); err != nil {
		t.Fatalf("crane push: %v\n%s", err, out)
	}
	resp, err := http.Head(server.URL + "/v2/you/polk/manifests/1")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := resp.Header.Get("Docker-Content-Digest"); got != want.String() {
		t.Errorf("the registry has %q, want %s", got, want)
	}
}

// checkOther runs the binary for another architecture in an emulator.
func checkOther(t *testing.T, images map[string]v1.Image) {
	arch, machine := "arm64", "aarch64"
	if runtime.GOARCH == "arm64" {
		arch, machine = "amd64", "x86_64"
	}
	emulator, err := exec.LookPath("qemu-" + machine + "-static")
	if err != nil {
		t.Skipf("%v; Debian has it in qemu-user-static", err)
	}
	dir := t.TempDir()
	unpack(t, images["linux/"+arch], dir)
	out, err := exec.Command(emulator, filepath.Join(dir, "runall"), "version").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "linux/"+arch) {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// unpack writes an image's files to a folder. They keep their owners if this
// process belongs to root.
func unpack(t *testing.T, img v1.Image, dir string) {
	t.Helper()
	each(t, img, func(h *tar.Header, content []byte) {
		path, mode := filepath.Join(dir, h.Name), h.FileInfo().Mode().Perm()
		var err error
		if h.Typeflag == tar.TypeDir {
			err = os.Mkdir(path, mode)
		} else {
			err = os.WriteFile(path, content, mode)
		}
		if err == nil && os.Geteuid() == 0 {
			err = os.Chown(path, h.Uid, h.Gid)
		}
		if err = errors.Join(err, os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	})
}

// TestRefused: what is no static Linux binary of a known architecture, and a
// folder that holds something else.
func TestRefused(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if arch, err := architecture(text); err == nil {
		t.Errorf("a script is for %s", arch)
	}
	if f, err := elf.Open("/bin/ls"); err == nil && f.Section(".interp") != nil {
		if arch, err := architecture("/bin/ls"); err == nil || !strings.Contains(err.Error(), "dynamically linked") {
			t.Errorf("/bin/ls: %s, %v", arch, err)
		}
	}
	someIndex, err := random.Index(100, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(text)
	if err := write(dir, "", someIndex); err == nil || !strings.Contains(err.Error(), "name another folder") {
		t.Errorf("a folder with a file: %v", err)
	}
	if _, err := os.Stat(text); err != nil {
		t.Error(err)
	}
	again := filepath.Join(t.TempDir(), "image")
	for range 2 {
		if err := write(again, "", someIndex); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(again)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
