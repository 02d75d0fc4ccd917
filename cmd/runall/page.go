package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"polkrepro/evidence"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/record"
	"polkrepro/report"
	"polkrepro/report/page"
)

// pageName is the file of the report that is one page.
const pageName = "report.html"

// A presentation is a report and all that it was made from.
type presentation struct {
	have   *record.Collection
	report *report.Report
	judged *evidence.Assessment
	plan   []experiments.Planned // whose runs the claims are judged by
	shown  []experiments.Planned // whose runs the report shows
}

// page gathers what the page shows: the report, and the claims with their
// verdicts.
func (p *presentation) page() (page.Input, error) {
	by, err := judged(p.plan, p.have)
	if err != nil {
		return page.Input{}, err
	}
	multiverse, err := evidence.Multiverse(by)
	if err != nil {
		return page.Input{}, err
	}
	in := page.Input{
		Report: p.report, Ledger: by.Ledger, Assessment: p.judged, Planned: p.shown, Records: p.have.Records,
		Failed: by.Failed, Partial: len(p.have.Partial), Program: program(harness.Provenance()),
		Sections: []page.Section{multiverseSection(multiverse)},
	}
	tournament, held, err := tournamentSection(p.have)
	if err != nil {
		return page.Input{}, err
	}
	if held {
		in.Sections = append(in.Sections, tournament)
	}
	for _, err := range p.have.Errors {
		in.Damaged = append(in.Damaged, withoutFolder(err))
	}
	return in, nil
}

// withoutFolder is the message of a damaged record's error, with the name of
// the file alone: the page is read on other machines.
func withoutFolder(err error) string {
	if e, ok := errors.AsType[*record.Error](err); ok {
		short := *e
		short.Path = filepath.Base(e.Path)
		return short.Error()
	}
	return err.Error()
}

// failures are the errors of the runs that failed, by ID.
func failures(have *record.Collection) map[string]string {
	failed := make(map[string]string, len(have.Failed))
	for id, f := range have.Failed {
		failed[id] = f.Failure.Error
	}
	return failed
}

// program names this program.
func program(p record.Provenance) string {
	s := p.Module + " " + p.Version
	if p.Revision != "" {
		s += ", revision " + p.Revision[:min(12, len(p.Revision))]
	}
	if p.Dirty {
		s += " with local changes"
	}
	return s
}

// writePage writes the page into a folder and returns its path.
func (p *presentation) writePage(dir string) (string, error) {
	in, err := p.page()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, pageName)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	if err := files.Write(path, func(w io.Writer) error { return page.Write(w, in) }); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return path, nil
}
