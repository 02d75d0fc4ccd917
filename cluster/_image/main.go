// Image writes an OCI image of runall, for one or more architectures, without a
// container engine. It is a module of its own so that the main module does not
// depend on its libraries.
//
//	go run . -out DIR -licence FILE [-name NAME] [-version V] [-revision SHA] [-created TIME] RUNALL...
//
// 'make image' calls it. Each RUNALL is a static Linux binary; its ELF header says which architecture
// it is for. DIR becomes an OCI image layout with one image index, which has
// one image for each binary. An image holds the binary, the root certificates
// that Mozilla trusts, the licence and one folder to write to, /polk. It has no
// shell and no package of a distribution.
//
// The same arguments and binaries give the same index, byte for byte.
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"debug/elf"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	program = "/runall"                            // the entrypoint
	workdir = "/polk"                              // the only folder that the user may write to
	certs   = "/etc/ssl/certs/ca-certificates.crt" // where crypto/x509 looks first
	user    = 65532                                // user and group, as in kubernetes.yaml
)

// A description is what the image says about itself.
type description struct {
	version, revision string
	created           time.Time
}

func main() {
	var d description
	out := flag.String("out", "", "`folder` of the image layout")
	name := flag.String("name", "", "`name` under which container engines import the layout (default none)")
	licence := flag.String("licence", "", "`file` of the licence")
	flag.StringVar(&d.version, "version", "", "`version` of the program")
	flag.StringVar(&d.revision, "revision", "", "revision of its source, a commit's `SHA`")
	flag.TextVar(&d.created, "created", time.Unix(0, 0).UTC(), "`time` of the image and of every file in it, RFC 3339")
	flag.Parse()
	if *out == "" || *licence == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, *name, *licence, d, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// run writes the layout and prints what it holds.
func run(out, name, licence string, d description, binaries []string) error {
	d.created = d.created.UTC()
	common, err := commonLayer(licence, d.created)
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, path := range binaries {
		arch, err := architecture(path)
		if err != nil {
			return err
		}
		img, err := image(path, arch, common, d)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        img,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
		size, err := downloadSize(img)
		if err != nil {
			return err
		}
		fmt.Printf("linux/%s: %.1f MB compressed\n", arch, float64(size)/1e6)
	}
	index = mutate.Annotations(index, d.labels()).(v1.ImageIndex)
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if err := write(out, name, index); err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", out, digest)
	return nil
}

// architecture returns the Go name of the architecture that a binary is for. It
// is an error if the binary needs a dynamic loader, which the image has not.
func architecture(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return "", fmt.Errorf("%s: dynamically linked; build it with CGO_ENABLED=0", path)
		}
	}
	switch f.Machine {
	case elf.EM_X86_64:
		return "amd64", nil
	case elf.EM_AARCH64:
		return "arm64", nil
	}
	return "", fmt.Errorf("%s: %v: want EM_X86_64 or EM_AARCH64", path, f.Machine)
}

// image returns the image of one binary, on top of the layer that all
// architectures share.
func image(path, arch string, common v1.Layer, d description) (v1.Image, error) {
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	top, err := layer(d.created, tarEntry{name: program, mode: 0o755, content: binary})
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: d.created}
	img, err = mutate.Append(img,
		mutate.Addendum{Layer: common, History: v1.History{Created: created, CreatedBy: "certificates, licence and " + workdir}},
		mutate.Addendum{Layer: top, History: v1.History{Created: created, CreatedBy: program}})
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, created
	config.Config = v1.Config{
		User:       fmt.Sprintf("%d:%d", user, user),
		Entrypoint: []string{program},
		WorkingDir: workdir,
		// With a read-only root file system the working directory is the only
		// place for temporary files. PATH is for those who call runall by name.
		Env:     []string{"PATH=/", "HOME=" + workdir, "TMPDIR=" + workdir},
		Volumes: map[string]struct{}{workdir: {}},
		Labels:  d.labels(),
	}
	img, err = mutate.ConfigFile(img, config)
	if err != nil {
		return nil, err
	}
	return mutate.Annotations(img, d.labels()).(v1.Image), nil
}

// labels returns the OCI annotations of the image, without those whose value is
// unknown.
func (d description) labels() map[string]string {
	labels := map[string]string{
		"org.opencontainers.image.title":       "runall",
		"org.opencontainers.image.description": "A reproduction of the experiments of POLK (parsimonious online learning with kernels)",
		"org.opencontainers.image.licenses":    "MIT",
		"org.opencontainers.image.created":     d.created.Format(time.RFC3339),
	}
	if d.version != "" {
		labels["org.opencontainers.image.version"] = d.version
	}
	if d.revision != "" {
		labels["org.opencontainers.image.revision"] = d.revision
	}
	return labels
}

// commonLayer returns the layer of everything but the binary.
func commonLayer(licence string, created time.Time) (v1.Layer, error) {
	text, err := os.ReadFile(licence)
	if err != nil {
		return nil, err
	}
	return layer(created,
		tarEntry{name: "/LICENSE", mode: 0o644, content: text},
		tarEntry{name: certs, mode: 0o644, content: certificates()},
		tarEntry{name: workdir, mode: fs.ModeDir | 0o755, owner: user},
	)
}

// certificates returns Mozilla's root certificates as PEM. It leaves out those
// that Mozilla trusts with constraints, which PEM can't express.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a bytes.Buffer takes every write
		}
	}
	return b.Bytes()
}

// A tarEntry is a file or folder of a layer.
type tarEntry struct {
	name    string // absolute path in the image
	mode    fs.FileMode
	owner   int // user and group
	content []byte
}

// layer returns a compressed layer of entries and of the folders above them,
// which belong to root, sorted by name.
func layer(created time.Time, entries ...tarEntry) (v1.Layer, error) {
	all := make(map[string]tarEntry)
	for _, e := range entries {
		all[e.name] = e
		for dir := filepath.Dir(e.name); dir != "/"; dir = filepath.Dir(dir) {
			all[dir] = tarEntry{name: dir, mode: fs.ModeDir | 0o755}
		}
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range slices.SortedFunc(maps.Values(all), func(a, b tarEntry) int { return cmp.Compare(a.name, b.name) }) {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.name[1:], Mode: int64(e.mode.Perm()), Size: int64(len(e.content)),
			Uid: e.owner, Gid: e.owner, ModTime: created, Format: tar.FormatUSTAR,
		}
		if e.mode.IsDir() {
			h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching, tarball.WithMediaType(types.OCILayer))
}

// downloadSize returns the number of bytes of an image's layers as a registry
// stores them.
func downloadSize(img v1.Image) (int64, error) {
	m, err := img.Manifest()
	if err != nil {
		return 0, err
	}
	var size int64
	for _, l := range m.Layers {
		size += l.Size
	}
	return size, nil
}

// write writes a layout of one index beside the folder and renames it. It
// replaces another layout, and nothing else.
func write(dir, name string, index v1.ImageIndex) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	stage, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage) // fails once the folder has its name
	if err := os.Chmod(stage, 0o755); err != nil {
		return err
	}
	p, err := layout.Write(stage, empty.Index)
	if err != nil {
		return err
	}
	var options []layout.Option
	if name != "" {
		// The annotations that containerd and Docker, and skopeo, take the name from.
		options = append(options, layout.WithAnnotations(map[string]string{
			"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name,
		}))
	}
	if err := p.AppendIndex(index, options...); err != nil {
		return err
	}
	if _, err := layout.FromPath(dir); err == nil {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := os.Rename(stage, dir); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: holds something other than an image layout; name another folder", dir)
	} else if err != nil {
		return err
	}
	return nil
}
