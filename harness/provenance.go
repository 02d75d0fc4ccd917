package harness

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/sys/cpu"

	"polkrepro/internal/gemm"
	"polkrepro/record"
)

// What the Makefile links in with -ldflags -X, for builds into which the go
// command puts no VCS facts (-buildvcs=false).
var (
	linkedVersion  string // as git describe has it
	linkedRevision string
	linkedDirty    string // "true" if the tree had changes
)

// Provenance says what program on what machine makes the records.
func Provenance() record.Provenance {
	p := record.Provenance{
		Module:   "polkrepro",
		Version:  linkedVersion,
		Revision: linkedRevision,
		Dirty:    linkedDirty == "true",
		Go:       runtime.Version(),
		GOOS:     runtime.GOOS,
		GOARCH:   runtime.GOARCH,
		CPU:      cpuModel(),
		Features: cpuFeatures(),
		Backend:  gemm.Backend(),
		Cores:    runtime.NumCPU(),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		fillBuildInfo(&p, info)
	}
	return p
}

// fillBuildInfo adds what the go command put into the binary; its VCS facts,
// where there are any, win over the linked ones.
func fillBuildInfo(p *record.Provenance, info *debug.BuildInfo) {
	if info.Main.Path != "" {
		p.Module = info.Main.Path
	}
	if p.Version == "" {
		p.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOAMD64":
			p.GOAMD64 = s.Value
		case "vcs.revision":
			p.Revision = s.Value
		case "vcs.modified":
			p.Dirty = s.Value == "true"
		}
	}
}

// cpuModel returns the processor's name, or its architecture where the system
// does not tell.
func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// cpuFeatures returns the vector extensions of the processor that may change
// how a sum is rounded, in alphabetical order.
func cpuFeatures() []string {
	has := map[string]bool{
		"avx":      cpu.X86.HasAVX,
		"avx2":     cpu.X86.HasAVX2,
		"avx512bw": cpu.X86.HasAVX512BW,
		"avx512dq": cpu.X86.HasAVX512DQ,
		"avx512f":  cpu.X86.HasAVX512F,
		"avx512vl": cpu.X86.HasAVX512VL,
		"fma":      cpu.X86.HasFMA,
		"asimd":    cpu.ARM64.HasASIMD,
		"sve":      cpu.ARM64.HasSVE,
	}
	features := []string{}
	for name, ok := range has {
		if ok {
			features = append(features, name)
		}
	}
	slices.Sort(features)
	return features
}
