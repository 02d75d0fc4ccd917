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

// The Makefile sets these variables with -ldflags -X, for builds without VCS facts
// from the go command (-buildvcs=false).
var (
	linkedVersion  string // output of git describe
	linkedRevision string
	linkedDirty    string // "true" if the tree had changes
)

// Provenance returns the program and the machine that make the records.
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

// fillBuildInfo adds the facts that the go command stored in the binary. Its VCS
// facts, if any, replace the linked ones.
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

// cpuModel returns the processor's name, or its architecture if the system does not
// provide the name.
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

// cpuFeatures returns the processor's vector extensions that may change the rounding
// of a sum, in alphabetical order.
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
