package main

import (
	"errors"
	"io"
	"math"

	"github.com/spf13/cobra"

	"polkrepro/evidence"
	"polkrepro/harness"
	"polkrepro/report"
	"polkrepro/spec"
)

func newMultiverse() *cobra.Command {
	var results, profile string
	var asJSON, jointly bool
	var placebo int
	var asSVG bool
	cmd := &cobra.Command{
		Use:   "multiverse",
		Short: "List the verdicts that depend on a choice left open by the paper",
		Long: `List the verdicts that depend on a choice that the paper leaves open, without
training. Each alternative in experiments/ledgers/assumptions.yaml is assumed,
one at a time, and the claims that depend on it are judged by its runs. The
specs multiverse-* run the alternatives in profile full; the text ends with the
command that runs those without records. --json has each alternative with all
claims that depend on it.

With --joint, the cells of Tables 2 and 3 are judged under all combinations of
the alternatives that have runs. For each number of choices made with the
paper's results in view, the combination that reproduces most is printed.
'runall verify --assume A=X --assume B=Y' shows any combination in detail.

--placebo 200 runs the same search for numbers that the paper does not print:
its own, exchanged or perturbed. What it reproduces of these is chance. It takes
about four minutes.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asSVG && placebo == 0 {
				return harness.Usage(errors.New("--svg needs --placebo"))
			}
			in, used, err := readEvidence(cmd, results, profile)
			if err != nil {
				return err
			}
			if placebo > 0 {
				p := evidence.Placebo(in, placebo, 1)
				p.Profile = used
				if asSVG {
					picture, err := report.PlaceboFigure(p).SVG()
					if err == nil {
						_, err = raw(cmd.OutOrStdout()).Write(picture)
					}
					return err
				}
				return show(cmd, asJSON, Placebo{version, p}, p.WriteText)
			}
			if jointly {
				j, err := evidence.Joint(in)
				if err != nil {
					return err
				}
				j.Profile = used
				return show(cmd, asJSON, Joint{version, j}, j.WriteText)
			}
			m, err := evidence.Multiverse(in)
			if err != nil {
				return err
			}
			m.Profile = used
			return show(cmd, asJSON, Multiverse{version, m}, func(w io.Writer) error {
				return m.WriteText(w, func(specs []string) string { return reproduceCommand(specs, spec.ProfileFull, results) })
			})
		},
	}
	resultsFlag(cmd, &results)
	profileFlag(cmd, &profile, "")
	cmd.Flags().BoolVar(&jointly, "joint", false, "judge the cells under all combinations of alternatives")
	wholeFlag(cmd, &placebo, "placebo", 0, 1, math.MaxInt, "number of placebo `draws` of each kind")
	cmd.Flags().BoolVar(&asSVG, "svg", false, "with --placebo: draw the distributions")
	jsonFlag(cmd, &asJSON)
	cmd.MarkFlagsMutuallyExclusive("joint", "placebo")
	cmd.MarkFlagsMutuallyExclusive("json", "svg")
	return cmd
}

// A Multiverse is the output of 'runall verify multiverse --json'.
type Multiverse struct {
	Versioned
	*evidence.MultiverseReport
}

// A Placebo is the output of 'runall verify multiverse --placebo N --json'.
type Placebo struct {
	Versioned
	*evidence.PlaceboReport
}

// A Joint is the output of 'runall verify multiverse --joint --json'.
type Joint struct {
	Versioned
	*evidence.JointReport
}
