package docs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"polkrepro/internal/words"
)

// peer is what a method has on a data set in results/reference/peers.txt.
type peer struct{ error, seconds, order string }

// peerLine is a line of the table in peers.txt: a data set's name, rows, features and classes, which all
// but the first line of a data set lack; then the method and its numbers.
var peerLine = regexp.MustCompile(`^(.{15}) (.{6}) .{13}  (.{14}) +(\S+) +(\S+) +(\S+) +(\S+)$`)

// peers returns the data sets in their order, their numbers of rows, and what each method has on each.
func peers(t *testing.T) (sets []string, rows map[string]string, by map[string]map[string]peer) {
	t.Helper()
	rows, by = make(map[string]string), make(map[string]map[string]peer)
	set := ""
	for line := range strings.Lines(read(t, "results/reference/peers.txt")) {
		m := peerLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil || strings.HasPrefix(line, "data set") {
			continue
		}
		if name := strings.TrimSpace(m[1]); name != "" {
			set = name
			sets, rows[set], by[set] = append(sets, set), strings.TrimSpace(m[2]), make(map[string]peer)
		}
		by[set][strings.TrimSpace(m[3])] = peer{m[4], m[5], m[6]}
	}
	if len(sets) < 15 {
		t.Fatalf("peers.txt has %d data sets", len(sets))
	}
	return sets, rows, by
}

// TestPeersInText checks the sentence of the README on letter.
func TestPeersInText(t *testing.T) {
	_, _, by := peers(t)
	of := func(method string) (error float64, order string) {
		return number(t, by["letter"][method].error), by["letter"][method].order
	}
	error, order := of("runall")
	svm, vectors := of("tuned SVM")
	want := fmt.Sprintf("Over five splits of letter, `train` errs on %.1f %% with %s elements on the mean. An SVM of scikit-learn that was tuned by a grid errs on %.1f %% with %s support vectors", error, order, svm, vectors)
	if !strings.Contains(words.OneLine(read(t, "README.md")), want) {
		t.Errorf("README.md does not say %q", want)
	}
}

// peerTable returns the table of train and its peers on all data sets.
func peerTable(t *testing.T) string {
	sets, counts, by := peers(t)
	var rows [][]string
	for _, set := range sets {
		of := by[set]
		rows = append(rows, []string{set, counts[set], of["runall"].error, of["without metric"].error, of["tuned SVM"].error, of["boosting"].error, of["network"].error,
			of["runall"].order, of["tuned SVM"].order, of["runall"].seconds, of["tuned SVM"].seconds})
	}
	return markdown([]string{"data set", "training rows", "`train`", "without metric", "tuned SVM", "boosting", "network", "elements of `train`", "support vectors of the tuned SVM", "CPU s of `train`", "of the tuned SVM"}, rows)
}

// peerGoals returns the comparisons of train, as peers.txt has them.
func peerGoals(t *testing.T) string { return goalsOf(t, "runall") }

// goalsOf returns the comparisons of a way of training.
func goalsOf(t *testing.T, way string) string {
	t.Helper()
	_, all, found := strings.Cut(read(t, "results/reference/peers.txt"), "\n"+way+", means of up to 5 splits:\n")
	ours, _, _ := strings.Cut(all, "\n\n")
	if !found {
		t.Fatalf("peers.txt has no comparisons of %s", way)
	}
	var out strings.Builder
	for line := range strings.Lines(strings.TrimSpace(ours) + "\n") {
		fmt.Fprintf(&out, "- %s", strings.TrimLeft(line, " "))
	}
	return out.String()
}

// peerMeans returns the mean error and ranks of train and its peers.
func peerMeans(t *testing.T) string {
	find := func(goals, line, method string) string {
		m := regexp.MustCompile(`(?m)^- ` + line + `.*?(?:[:,%] |^- mean error )` + regexp.QuoteMeta(method) + ` ?(\d+\.\d+)`).FindStringSubmatch(goals)
		if m == nil {
			t.Fatalf("peers.txt has no %s of %q", line, method)
		}
		return m[1]
	}
	var rows [][]string
	for _, way := range []string{"runall", "--tolerance 0"} {
		goals := goalsOf(t, way)
		name := strings.TrimPrefix(way, "runall")
		mean := regexp.MustCompile(`(?m)^- mean error (\S+) %`).FindStringSubmatch(goals)
		if mean == nil {
			t.Fatalf("peers.txt has no mean error of %s", way)
		}
		rows = append(rows, []string{"`" + strings.TrimSpace("train "+name) + "`", mean[1], find(goals, "classification", way), find(goals, "regression", way)})
	}
	goals := goalsOf(t, "runall")
	for _, of := range [][2]string{{"tuned SVM", "tuned SVM"}, {"boosting", "gradient boosting"}, {"network", "network of 64 units"}, {"SVM", "SVM with defaults"}} {
		rows = append(rows, []string{of[1], find(goals, "mean error", of[0]), find(goals, "classification", of[0]), find(goals, "regression", of[0])})
	}
	return markdown([]string{"method", "mean error on the classifications (%)", "mean rank on the classifications", "mean rank on the regressions"}, rows) + "\n" + peerMixed(t)
}

// peerMixed returns the sentence on a table of mixed columns.
func peerMixed(t *testing.T) string {
	_, _, by := peers(t)
	on := func(method string) float64 { return number(t, by["customers"][method].error) }
	if on("boosting") > on("runall") {
		t.Error("boosting is behind train on customers")
	}
	return fmt.Sprintf("Gradient boosting serves a table of mixed columns better: on `customers`, with amounts, counts and codes, it errs on %.1f %%,\nthe network on %.1f %%, `train` on %.1f %% and the tuned SVM on %.1f %% (means over five splits).\n", on("boosting"), on("network"), on("runall"), on("tuned SVM"))
}
