package cluster

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/internal/files"
)

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.ParseFS(templateFiles, "templates/*"))

// The files of a plan's folder beside plan.json.
const (
	SlurmName      = "slurm.sh"
	SlurmLargeName = "slurm-large.sh"
	ParallelName   = "parallel.sh"
	KubernetesName = "kubernetes.yaml"
	logName        = "log" // folder of the tasks' output
)

// A Site says where a plan's tasks find things. It is in the submissions, not
// in the plan. All paths are absolute.
type Site struct {
	Program    string // the file of the program runall
	Workdir    string // folder to work in, from which data/cache and ../shared/data are searched
	DataDir    string // the --data-dir flag, empty for none
	EnvDataDir string // $POLK_DATA_DIR, empty for none
	Image      string // for Kubernetes; empty for no submission to it
}

// Here returns the site whose tasks find what this process finds, with a --data-dir
// flag and for an image, either of which may be empty.
func Here(image, dataDir string) (s Site, err error) {
	s.Image = image
	if s.Program, err = os.Executable(); err != nil {
		return s, err
	}
	if s.Workdir, err = os.Getwd(); err != nil {
		return s, err
	}
	if dataDir != "" {
		if s.DataDir, err = filepath.Abs(dataDir); err != nil {
			return s, err
		}
	}
	if dir := os.Getenv(data.EnvDir); dir != "" {
		s.EnvDataDir, err = filepath.Abs(dir)
	}
	return s, err
}

// imagePattern is what a reference to an image may be: a name of lower-case
// components with an optional registry, tag and digest.
var imagePattern = regexp.MustCompile(`^[a-z0-9]([a-zA-Z0-9.:_/-]*[a-zA-Z0-9])?(@sha256:[0-9a-f]{64})?$`)

// check reports a site that no submission can be written for.
func (s *Site) check(dir string) error {
	if strings.ContainsAny(dir, "\n\r\\") {
		return fmt.Errorf("%q: Slurm can't write into a folder whose name has a backslash or a line break", dir)
	}
	if s.Image != "" && (len(s.Image) > maxText || !imagePattern.MatchString(s.Image)) {
		return fmt.Errorf("%q is not the name of an image", s.Image)
	}
	return nil
}

// ErrOther is wrapped by the error of a folder that holds something else than
// the plan.
var ErrOther = errors.New("the folder has other contents")

// Write writes a plan with its submissions into a folder, which appears when it
// is whole. One that holds the same plan is left as it is, and Write reports
// false. The error wraps harness.ErrUsage, and ErrOther if the folder holds
// anything else.
func Write(dir string, p *Plan, site Site) (bool, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	if err := site.check(dir); err != nil {
		return false, harness.Usage(err)
	}
	text, err := p.encode()
	if err != nil {
		return false, err
	}
	if there, err := holds(dir, text); there || err != nil {
		return false, err
	}
	files, err := submissions(dir, p, site)
	if err != nil {
		return false, err
	}
	files[PlanName] = text
	if err := writeFolder(dir, files); err != nil {
		// Another process may have written the same plan at the same time.
		if there, again := holds(dir, text); there || again != nil {
			return false, again
		}
		return false, err
	}
	return true, nil
}

// holds reports whether a folder holds the plan. It is an error if it holds
// something else.
func holds(dir string, text []byte) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return false, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return false, err
	}
	if err != nil {
		return false, harness.Usage(err)
	}
	have, err := files.ReadNamed(filepath.Join(dir, PlanName), maxPlan)
	if err == nil && bytes.Equal(have, text) {
		return true, nil
	}
	what := "another plan"
	if errors.Is(err, fs.ErrNotExist) {
		what = "files, but no plan"
	}
	return false, harness.Usage(fmt.Errorf("%w: %s has %s; name a new folder", ErrOther, dir, what))
}

// writeFolder makes a folder of files, and the one for logs.
func writeFolder(dir string, texts map[string][]byte) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	stage, err := files.MkdirTemp(dir)
	if err != nil {
		return err
	}
	defer files.Unfinished(stage)()
	defer os.RemoveAll(stage) // fails once the folder has its name
	for name, text := range texts {
		if err := writeSynced(filepath.Join(stage, name), text, modeOf(name)); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(stage, logName), 0o777); err != nil {
		return err
	}
	defer files.Hold()()
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty one
		return err
	}
	return os.Rename(stage, dir)
}

// modeOf returns the permissions of a file: nobody writes to a plan.
func modeOf(name string) os.FileMode {
	switch {
	case name == PlanName:
		return 0o444
	case strings.HasSuffix(name, ".sh"):
		return 0o755
	}
	return 0o644
}

func writeSynced(path string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// A submission is what the templates of shell scripts are filled with; its
// strings are quoted for a shell.
type submission struct {
	Name, Plan, Program, Workdir, DataDir, EnvDataDir, Log string

	First, Last   int // tasks of a Slurm array
	Memory, Limit int // MiB that it asks for, and that the collector of garbage keeps to

	Ordinary, LastOrdinary, Large, LastTask int
}

// submissions returns the files of a plan's folder beside the plan.
func submissions(dir string, p *Plan, site Site) (map[string][]byte, error) {
	s := submission{
		Name: "runall-" + p.Sum[:8], Plan: Quote(dir), Program: Quote(site.Program), Workdir: Quote(site.Workdir),
		DataDir: Quote(site.DataDir), Log: sbatchWord(filepath.Join(dir, logName)+"/", "%a.out"),
		Ordinary: p.Ordinary(), LastOrdinary: p.Ordinary() - 1,
		Large: len(p.Tasks) - p.Ordinary(), LastTask: len(p.Tasks) - 1,
	}
	if site.EnvDataDir != "" {
		s.EnvDataDir = Quote(site.EnvDataDir)
	}
	files := make(map[string][]byte)
	if s.Ordinary > 0 {
		if err := s.slurm(files, SlurmName, p, 0, s.LastOrdinary); err != nil {
			return nil, err
		}
	}
	if s.Large > 0 {
		if err := s.slurm(files, SlurmLargeName, p, s.Ordinary, s.LastTask); err != nil {
			return nil, err
		}
	}
	s.Limit = limit(mostMemory(p.Tasks[:s.Ordinary]))
	if err := fill(files, ParallelName, "parallel.sh", s); err != nil {
		return nil, err
	}
	if site.Image == "" {
		return files, nil
	}
	return files, fill(files, KubernetesName, "kubernetes.yaml", manifest(p, s.Name, site.Image))
}

// slurm adds the script of the tasks from first to last.
func (s submission) slurm(files map[string][]byte, name string, p *Plan, first, last int) error {
	s.First, s.Last, s.Memory = first, last, mostMemory(p.Tasks[first:last+1])
	s.Limit = limit(s.Memory)
	return fill(files, name, "slurm.sh", s)
}

// A k8sJob is one Job of the manifest.
type k8sJob struct {
	Name, Task                 string
	Completions, Memory, Limit int
}

// manifest returns what the template of the Kubernetes manifest is filled
// with: one Job of all ordinary tasks, and one for each other.
func manifest(p *Plan, name, image string) any {
	var jobs []k8sJob
	if n := p.Ordinary(); n > 0 {
		m := mostMemory(p.Tasks[:n])
		jobs = append(jobs, k8sJob{name, `$(JOB_COMPLETION_INDEX)`, n, m, limit(m)})
	}
	for k := p.Ordinary(); k < len(p.Tasks); k++ {
		m := p.Tasks[k].Memory
		jobs = append(jobs, k8sJob{fmt.Sprintf("%s-%d", name, k), fmt.Sprintf(`"%d"`, k), 1, m, limit(m)})
	}
	return struct {
		Image string
		Files bool
		Jobs  []k8sJob
	}{`"` + image + `"`, p.needsFiles(), jobs}
}

func mostMemory(tasks []Task) int {
	most := 0
	for _, t := range tasks {
		most = max(most, t.Memory)
	}
	return most
}

// needsFiles reports whether some of the data are not generated.
func (p *Plan) needsFiles() bool {
	return slices.ContainsFunc(data.List(), func(info data.Info) bool {
		return info.Kind == data.KindFile && slices.ContainsFunc(p.Data, func(d DataSum) bool { return d.Ref.Name == info.Name })
	})
}

// limit is the part of a task's memory that the collector of garbage keeps to.
func limit(memory int) int { return memory / 10 * 9 }

func fill(files map[string][]byte, name, from string, with any) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, from, with); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	files[name] = b.Bytes()
	return nil
}

// shellPlain are the characters that no shell takes for more than themselves.
const shellPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:%@"

// Quote returns a word for a shell, quoted if it has to be.
func Quote(word string) string {
	if strings.Trim(word, shellPlain) == "" && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// sbatchPlain are the characters that neither sbatch nor its patterns of file
// names take for more than themselves.
const sbatchPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@"

// sbatchWord writes a path that ends with a pattern for a #SBATCH line. There a
// backslash quotes the next character, but white space ends a word outside of
// quotation marks even so, and %% is a percent sign of a file's name.
func sbatchWord(path, pattern string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '%':
			b.WriteByte(c)
		case !strings.Contains(sbatchPlain, string(rune(c))):
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	b.WriteString(pattern + `"`)
	return b.String()
}
