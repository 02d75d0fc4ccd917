package harness

import (
	"runtime/debug"
	"testing"

	"polkrepro/record"
)

func TestProvenance(t *testing.T) {
	p := Provenance()
	if p.Module != "polkrepro" || p.Go == "" || p.CPU == "" || p.Backend == "" || p.Cores < 1 || p.Features == nil {
		t.Errorf("%+v", p)
	}
}

func TestBuildInfoWinsOverLinkedRevision(t *testing.T) {
	p := record.Provenance{Revision: "linked", Dirty: true}
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "GOAMD64", Value: "v3"}}}
	fillBuildInfo(&p, info)
	if p.Revision != "linked" || !p.Dirty || p.GOAMD64 != "v3" {
		t.Errorf("without VCS facts: %+v", p)
	}
	info.Settings = append(info.Settings, debug.BuildSetting{Key: "vcs.revision", Value: "built"}, debug.BuildSetting{Key: "vcs.modified", Value: "false"})
	fillBuildInfo(&p, info)
	if p.Revision != "built" || p.Dirty {
		t.Errorf("with VCS facts: %+v", p)
	}
}
