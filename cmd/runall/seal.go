package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"polkrepro/convergence"
	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/record"
	"polkrepro/report"
)

// verdictsName is the file of a reference that has what 'runall verify --json'
// says of its records.
const verdictsName = "verdicts.json"

// referenceFiles are the formats of tables and figures that a reference keeps:
// what can be compared and what a page shows.
var referenceFiles = []string{".csv", ".md", ".png"}

func newSeal() *cobra.Command {
	var s sealing
	cmd := &cobra.Command{
		Use:   "seal",
		Short: "Seal a results folder with the SHA-256 of its files, or make a sealed reference of others",
		Long: `Seal a results folder: write the SHA-256 of its records, and of tables, figures
and verdicts.json in it, to MANIFEST, which 'sha256sum -c' reads too. From then
on, a file of these that is changed, missing or added is an error, exit status
4, of every command that reads the folder, and reproduce does not write to it.

With --from, the folder becomes a reference made of the records in others: those
of the runs that a profile plans, all of which must be there, made by a program
of known revision without local changes; and the profile's runs of Table 1, all
or none of them. Tables, figures and verdicts are made
anew from these records alone; examples of images in figures need the data.
Records, tables, figures and verdicts that a sealed reference had are replaced.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(s.from) > 0 {
				if err := s.collect(cmd.ErrOrStderr()); err != nil {
					return err
				}
			}
			return s.seal(cmd.OutOrStdout())
		},
	}
	resultsFlag(cmd, &s.results)
	profileFlag(cmd, &s.profile, experiments.ProfileFull)
	dataFlag(cmd, &s.finder)
	cmd.Flags().StringArrayVar(&s.from, "from", nil, "results `folder` whose records to copy; may be repeated")
	return cmd
}

// A sealing is what the seal command was asked for.
type sealing struct {
	results, profile string
	from             []string
	finder           data.Finder
}

// seal writes the manifest of a folder that holds whole records only.
func (s *sealing) seal(stdout io.Writer) error {
	if err := harness.CheckFolder(s.results); err != nil {
		return err
	}
	have, err := record.ReadDir(harness.RecordsDir(s.results))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &statusError{exitIncomplete, "no records in " + s.results}
	case err != nil:
		return err
	case len(have.Partial) > 0:
		return &statusError{exitIncomplete, fmt.Sprintf("%d runs in %s are unfinished, %s one of them", len(have.Partial), s.results, have.Partial[0])}
	}
	study, err := convergence.Read(s.results)
	if err != nil {
		return err
	}
	if have.Errors = append(have.Errors, study.Damaged...); len(have.Errors) > 0 {
		return damaged(have)
	}
	m, err := record.Seal(s.results)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%d files sealed, %d of them records, in %s\n", len(m), len(have.Records)+len(have.Failed), filepath.Join(s.results, record.ManifestName))
	return err
}

// collect makes a reference of the records in other folders. It is made whole
// beside what it replaces.
func (s *sealing) collect(stderr io.Writer) error {
	if err := s.replaceable(); err != nil {
		return err
	}
	specs, err := experiments.Embedded()
	if err != nil {
		return err
	}
	plan, err := harness.PlanAll(specs, s.profile, experiments.PlanOptions{})
	if err != nil {
		return err
	}
	records, err := s.wanted(specs, plan, stderr)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.results, 0o777); err != nil {
		return err
	}
	stage, err := os.MkdirTemp(s.results, ".seal-*")
	if err != nil {
		return err
	}
	defer files.Unfinished(stage)()
	defer os.RemoveAll(stage)
	have, err := copyRecords(records, harness.RecordsDir(stage))
	if err != nil {
		return err
	}
	study, err := s.copyStudy(stage)
	if err != nil {
		return err
	}
	if err := s.present(have, study, specs, plan, stage); err != nil {
		return err
	}
	return replace(stage, s.results)
}

// replaceable reports what --from would replace and is not sealed.
func (s *sealing) replaceable() error {
	if record.Sealed(s.results) {
		return nil
	}
	for _, part := range record.Parts() {
		if _, err := os.Lstat(filepath.Join(s.results, part)); err == nil {
			return harness.Usage(fmt.Errorf("%s holds %s, which is not sealed; --from would replace it", s.results, part))
		}
	}
	return nil
}

// copyStudy copies the runs of Table 1 and reads them there; nil if there are
// none.
func (s *sealing) copyStudy(stage string) (*convergence.Study, error) {
	for _, from := range s.from {
		study, err := convergence.ReadProfile(from, s.profile)
		if err != nil {
			return nil, err
		}
		for _, series := range study.Series {
			for _, r := range series.Records {
				if p := r.Header.Provenance; p.Dirty || p.Revision == "" {
					return nil, &statusError{exitIncomplete, fmt.Sprintf("%s in %s is from a tree with local changes, or of unknown revision", r.Header.ID, convergence.Dir(from))}
				}
				if err := r.Write(convergence.Dir(stage)); err != nil {
					return nil, err
				}
			}
		}
	}
	study, err := convergence.ReadProfile(stage, s.profile)
	switch {
	case err != nil:
		return nil, err
	case study.Empty():
		return nil, nil
	case study.Missing() > 0:
		return nil, &statusError{exitIncomplete, fmt.Sprintf("%d runs of Table 1 are without a record", study.Missing())}
	}
	return study, nil
}

// wanted returns the records of the planned runs.
func (s *sealing) wanted(specs []*experiments.Spec, plan []experiments.Planned, stderr io.Writer) ([]*record.Record, error) {
	var from []*record.Collection
	for _, dir := range s.from {
		have, err := wholeRecords(dir, stderr)
		if err != nil {
			return nil, err
		}
		from = append(from, have)
	}
	records, err := harness.Reference(specs, plan, from)
	if err != nil {
		return nil, &statusError{exitIncomplete, err.Error()}
	}
	return records, nil
}

// copyRecords copies records into a new folder, packed, and reads them there.
func copyRecords(records []*record.Record, dir string) (*record.Collection, error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	for _, r := range records {
		if err := r.WritePacked(dir); err != nil {
			return nil, err
		}
	}
	have, err := record.ReadDir(dir)
	if err == nil && len(have.Errors) > 0 {
		err = damaged(have)
	}
	return have, err
}

// present writes tables, figures and verdicts of records into a folder.
func (s *sealing) present(have *record.Collection, study *convergence.Study, specs []*experiments.Spec, plan []experiments.Planned, dir string) error {
	a, err := assess(plan, have)
	if err != nil {
		return err
	}
	d := a.Document()
	d.Profile = s.profile
	if err := files.Write(filepath.Join(dir, verdictsName), func(w io.Writer) error { return writeJSON(w, d) }); err != nil {
		return err
	}
	shown := harness.Recorded(specs, plan, have.Records)
	if err := allPictured(shown, s.finder); err != nil {
		return err
	}
	r, err := buildReport(have, a, study, specs, shown, s.profile, nil, s.finder)
	if err != nil {
		return err
	}
	return writeKept(r, dir)
}

// allPictured is an error if a planned run's data set of images is not there:
// its figures would lack the examples.
func allPictured(plan []experiments.Planned, finder data.Finder) error {
	shows := pictures(finder)
	for _, p := range plan {
		if pic, ok := shows[p.Run.Data.Name]; ok && len(pic.Images) == 0 {
			return &statusError{exitIncomplete, fmt.Sprintf("the figures show examples of %s, which is not available: name its folder with --data-dir", p.Run.Data.Name)}
		}
	}
	return nil
}

// writeKept writes the tables and figures of a report in the formats that a
// reference keeps.
func writeKept(r *report.Report, dir string) error {
	all := filepath.Join(dir, "report")
	paths, err := r.WriteAll(all)
	if err != nil {
		return err
	}
	for _, path := range paths {
		name, err := filepath.Rel(all, path)
		if err != nil {
			return err
		}
		if filepath.Dir(name) == "." || !slices.Contains(referenceFiles, filepath.Ext(name)) {
			continue
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.Rename(path, to); err != nil {
			return err
		}
	}
	return os.RemoveAll(all)
}

// replace moves everything in stage to dir, in the place of all that a seal
// covers there: a part that stage lacks is not left from an older seal. The
// manifest goes first: what is left if this is interrupted is not sealed.
func replace(stage, dir string) error {
	defer files.Hold()()
	entries, err := os.ReadDir(stage)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, record.ManifestName)); err != nil {
		return err
	}
	for _, part := range record.Parts() {
		if err := os.RemoveAll(filepath.Join(dir, part)); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(stage, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
