package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/evidence"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/record"
)

// Exit statuses of verify.
const (
	exitDeviates   = 3 // a claim deviates unexplained, or is inconclusive
	exitIncomplete = 4 // records are missing or damaged
)

// A statusError has an exit status of its own.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return e.message }

// exitStatus returns the exit status that belongs to an error.
func exitStatus(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}
	return harness.ExitCode(err)
}

func newVerify() *cobra.Command {
	var results, profile string
	var assume []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Judge the paper's claims by the records, without training anything",
		Long: `Judge the paper's claims by the records, without training anything. The claims,
their margins and the runs that answer them are in experiments/ledgers. The exit
status is 0 if all claims are reproduced or their deviations explained, 3 if one
deviates unexplained or is inconclusive, 4 if records are missing or damaged.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, used, err := readEvidence(cmd, results, profile)
			if err != nil {
				return err
			}
			a, err := evidence.Assess(in)
			if err != nil {
				return err
			}
			chosen := a
			if in.Assume, err = parseAssume(assume); err != nil {
				return err
			}
			if len(in.Assume) > 0 {
				if a, err = evidence.Assess(in); err != nil {
					return harness.Usage(err)
				}
			}
			changes := evidence.Changes(chosen, a)
			if asJSON {
				d := a.Document()
				d.Profile, d.Assume, d.Changes = used, in.Assume, changes
				err = writeJSON(cmd.OutOrStdout(), d)
			} else {
				err = writeVerdicts(cmd.OutOrStdout(), a, in.Assume, changes)
			}
			return errors.Join(err, settled(a, results))
		},
	}
	resultsFlag(cmd, &results)
	profileFlag(cmd, &profile, "")
	jsonFlag(cmd, &asJSON)
	cmd.Flags().StringArrayVar(&assume, "assume", nil, "judge by the runs of another alternative, `ASSUMPTION=ALTERNATIVE`, and say which verdicts change; may be repeated")
	return cmd
}

// readEvidence reads what claims are judged by and returns it with the profile.
// Damaged records are an error.
func readEvidence(cmd *cobra.Command, results, profile string) (in evidence.Input, used string, err error) {
	ledger, err := experiments.Ledgers()
	if err != nil {
		return in, "", err
	}
	have, err := readRecords(results, cmd.ErrOrStderr())
	if err != nil {
		return in, "", &statusError{exitIncomplete, err.Error()}
	}
	if len(have.Errors) > 0 {
		return in, "", damaged(have)
	}
	specs, err := experiments.Embedded()
	if err != nil {
		return in, "", err
	}
	if profile == "" {
		if profile, err = harness.GuessProfile(specs, experiments.PlanOptions{}, have.Records); err != nil {
			return in, "", err
		}
	}
	plan, err := harness.PlanAll(specs, profile, experiments.PlanOptions{})
	if err != nil {
		return in, "", err
	}
	return evidence.Input{Ledger: ledger, Plan: plan, Records: have.Records, Failed: failures(have)}, profile, nil
}

// damaged names the files that are not whole records.
func damaged(have *record.Collection) error {
	var names []string
	for _, err := range have.Errors {
		if e, ok := errors.AsType[*record.Error](err); ok {
			names = append(names, e.Path)
		} else {
			names = append(names, err.Error())
		}
	}
	return &statusError{exitIncomplete, "nothing is judged by damaged records: " + strings.Join(names, ", ")}
}

// parseAssume reads ASSUMPTION=ALTERNATIVE.
func parseAssume(words []string) (map[string]string, error) {
	out := make(map[string]string)
	for _, w := range words {
		id, alternative, ok := strings.Cut(w, "=")
		if _, twice := out[id]; !ok || twice {
			return nil, harness.Usage(fmt.Errorf("--assume %s: want ASSUMPTION=ALTERNATIVE, each assumption once", w))
		}
		out[id] = alternative
	}
	return out, nil
}

// writeVerdicts writes the table and, of assumptions that are flipped, what
// they change.
func writeVerdicts(w io.Writer, a *evidence.Assessment, assume map[string]string, changes []evidence.Change) error {
	if err := a.WriteText(w); err != nil || len(assume) == 0 {
		return err
	}
	var words []string
	for _, id := range slices.Sorted(maps.Keys(assume)) {
		words = append(words, id+"="+assume[id])
	}
	rows := [][]string{{fmt.Sprintf("\nwith %s, %d verdicts change", strings.Join(words, ", "), len(changes))}}
	for _, c := range changes {
		rows = append(rows, []string{"  " + c.Claim, c.From.String(), "→ " + c.To.String()})
	}
	return writeRows(w, rows)
}

// settled is the error of an assessment that leaves something open.
func settled(a *evidence.Assessment, results string) error {
	if a.Incomplete() {
		return &statusError{exitIncomplete, incomplete(a, results)}
	}
	if open := a.Unsettled(); len(open) > 0 {
		return &statusError{exitDeviates, fmt.Sprintf("%d claims deviate unexplained or are inconclusive: %s", len(open), strings.Join(open, ", "))}
	}
	return nil
}

// mostNamed is the number of missing records that a message names.
const mostNamed = 5

// incomplete says which records are missing.
func incomplete(a *evidence.Assessment, results string) string {
	if len(a.Missing) == 0 && a.Unanswered() {
		return "no spec runs some claims under what is assumed; 'runall multiverse' lists them"
	}
	if len(a.Missing) == 0 {
		return "the profile does not run all claims; --profile full does"
	}
	var names []string
	for _, p := range a.Missing[:min(mostNamed, len(a.Missing))] {
		names = append(names, fmt.Sprintf("%s.jsonl (%s, %s)", p.ID, p.Spec, p.Series))
	}
	if more := len(a.Missing) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d records that claims ask for are missing in %s: %s", len(a.Missing), harness.RecordsDir(results), strings.Join(names, ", "))
}
