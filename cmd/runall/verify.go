package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/evidence"
	"polkrepro/harness"
	"polkrepro/report"
	"polkrepro/spec"
)

// A verification holds the options of the verify command.
type verification struct {
	results, profile  string
	assume            []string
	reference, format string
	asJSON            bool
}

func newVerify() *cobra.Command {
	v := verification{format: "text"}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Judge the paper's claims by the records",
		Long: `Judge the paper's claims by the records, without training. The claims, their
margins and the runs that they need are in experiments/ledgers.

The exit status is 0 if every claim is reproduced or its deviation explained, 3
if a claim deviates without an explanation or is inconclusive, and 4 if records
are missing or damaged.

With --reference, the verdicts are compared with those of another results
folder, judged by the same profile. The exit status is 0 if they are the same,
3 if one differs, and 4 if claims can't be compared because runs are missing on
either side. Use this in CI.

--format markdown writes a summary for the page of a CI job. --format junit
writes a test case for each claim; the file has a failure or an error exactly if
the exit status is not 0.`,
		Args: cobra.NoArgs,
		RunE: v.run,
	}
	resultsFlag(cmd, &v.results)
	profileFlag(cmd, &v.profile, "")
	cmd.Flags().Var(choice(&v.format, []string{"text", "markdown", "junit"}), "format", "output format")
	jsonFlag(cmd, &v.asJSON)
	cmd.MarkFlagsMutuallyExclusive("json", "format")
	cmd.Flags().StringArrayVar(&v.assume, "assume", nil, "judge under `ASSUMPTION=ALTERNATIVE` and list the verdicts that change; may be repeated")
	cmd.Flags().StringVar(&v.reference, "reference", "", "results `folder` with the expected verdicts")
	cmd.AddCommand(newRecords(), newMultiverse())
	return cmd
}

// run judges the claims, writes the verdicts and returns the error that determines the exit
// status.
func (v *verification) run(cmd *cobra.Command, _ []string) error {
	in, profile, err := readEvidence(cmd, v.results, v.profile)
	if err != nil {
		return err
	}
	chosen, err := evidence.Assess(in)
	if err != nil {
		return err
	}
	if in.Assume, err = parseAssume(v.assume); err != nil {
		return err
	}
	a := chosen
	if len(in.Assume) > 0 {
		if a, err = evidence.Assess(in); err != nil {
			return harness.Usage(err)
		}
	}
	out := &report.Verdicts{
		Assessment: a, Profile: profile,
		Assume: slices.Sorted(slices.Values(v.assume)), Changes: evidence.Changes(chosen, a),
	}
	var reference *evidence.Assessment // by the same plan, under the same assumptions
	if v.reference != "" {
		there, _, err := readEvidence(cmd, v.reference, profile)
		if err != nil {
			return err
		}
		there.Assume = in.Assume
		for _, p := range there.Plan { // supplements answer some sentences, where they are recorded
			if spec.SupplementOf(p.Spec) != "" && in.Records[p.ID] == nil {
				delete(there.Records, p.ID)
			}
		}
		if reference, err = evidence.Assess(there); err != nil {
			return err
		}
		out.Reference = &report.Reference{Folder: v.reference, Comparison: *a.CompareTo(reference)}
	}
	if err := v.write(cmd, out, in.Assume); err != nil {
		return err
	}
	if out.Reference != nil {
		return v.compared(out.Reference, a, reference)
	}
	return v.decided(a, profile)
}

// write writes the verdicts in the requested format.
func (v *verification) write(cmd *cobra.Command, out *report.Verdicts, assume map[string]string) error {
	stdout := cmd.OutOrStdout()
	switch {
	case v.format == "markdown":
		return out.Markdown(raw(stdout))
	case v.format == "junit":
		return out.JUnit(raw(stdout))
	case v.asJSON:
		document := out.Assessment.Document()
		document.Profile, document.Assume, document.Changes = out.Profile, assume, out.Changes
		return writeJSON(cmd, Verification{document, out.Reference})
	}
	return out.Text(stdout)
}

// A Verification is the output of 'runall verify --json'. It has no version: without a reference
// it is verdicts.json of a sealed folder, byte for byte.
type Verification struct {
	*evidence.Document
	Reference *report.Reference `json:"reference,omitempty"` // comparison of the verdicts with those of --reference; missing without that flag
}

// readEvidence reads the records and returns them with the claims, the plan and its profile.
// A damaged record is an error.
func readEvidence(cmd *cobra.Command, results, profile string) (in evidence.Input, used string, err error) {
	f, err := harness.OpenFolder(results, harness.FolderOptions{Profile: profile, Whole: true, Warn: warning(cmd)})
	if err != nil {
		return in, "", err
	}
	return report.Evidence(f), f.Profile, nil
}

// parseAssume parses words of the form ASSUMPTION=ALTERNATIVE.
func parseAssume(words []string) (map[string]string, error) {
	out := make(map[string]string)
	for _, w := range words {
		id, alternative, ok := strings.Cut(w, "=")
		if _, twice := out[id]; !ok || twice {
			return nil, harness.Usage(fmt.Errorf("--assume %s: must be ASSUMPTION=ALTERNATIVE, each assumption once", w))
		}
		out[id] = alternative
	}
	return out, nil
}

// decided returns an error if a claim is neither reproduced nor explained.
func (v *verification) decided(a *evidence.Assessment, profile string) error {
	lacking, open := missing(a, v.results), a.Undecided()
	switch {
	case lacking != nil:
		return harness.Incomplete(fmt.Errorf("%w; '%s' makes them", lacking, reproduceCommand(nil, profile, v.results)))
	case a.Incomplete() && profile == spec.ProfileFull:
		return harness.Incomplete(errors.New("no run answers some claims under these assumptions; their notes say why"))
	case a.Incomplete():
		return harness.Incomplete(fmt.Errorf("profile %s does not run every claim; 'runall reproduce --profile %s' does", profile, spec.ProfileFull))
	case len(open) > 0:
		return harness.Deviates(fmt.Errorf("inconclusive or deviating without an explanation: %s", strings.Join(open, ", ")))
	}
	return nil
}

// compared returns an error if a verdict differs from the reference's, or could
// not be compared.
func (v *verification) compared(r *report.Reference, a, reference *evidence.Assessment) error {
	var names []string
	for _, c := range r.Changed {
		names = append(names, fmt.Sprintf("%s (%s here, %s there)", c.Claim, c.Here, c.Reference))
	}
	switch {
	case len(names) > 0:
		return harness.Deviates(fmt.Errorf("verdicts differ from %s: %s", r.Folder, strings.Join(names, ", ")))
	case len(r.NotCompared) > 0:
		return harness.Incomplete(fmt.Errorf("%d claims could not be compared with %s: %w", len(r.NotCompared), r.Folder,
			errors.Join(missing(a, v.results), missing(reference, v.reference))))
	}
	return nil
}

// missing returns an error that lists the records that claims need and a results folder
// lacks, or nil.
func missing(a *evidence.Assessment, results string) error {
	if len(a.Missing) == 0 {
		return nil
	}
	return &evidence.Gap{Kind: evidence.Pending, What: harness.RecordsDir(results), Runs: a.Missing}
}
