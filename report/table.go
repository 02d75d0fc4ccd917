package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"polkrepro/evidence"
	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/report/table"
	"polkrepro/spec"
)

// A Table is one of the report's tables.
type Table = table.Table

// A Cell compares the paper's printed numbers with those of the runs. The quantities are the
// risk, the error rate in per cent, and the model order.
type Cell struct {
	paper.Cell                      // its place; zero numbers if the paper has no such cell
	Texts      [3]string            // the paper's numbers as printed, "—" for a dash
	Paper      [3]*float64          // nil for a dash
	Ours       [3]Stat              // the risk has N = 0 if the method has no risk
	Draw       uint64               // the draw that the figures show; 0 if no run is on it
	OnDraw     [3]Stat              // of the run with the lowest seed on this draw
	Varied     bool                 // whether runs on several draws of the data set answer the sentences about it
	Drawn      [3]Stat              // of these runs, if this cell has some
	Why        string               // why there are no runs; empty if there are
	Dash       string               // why the paper leaves a number out; empty if it prints all three
	Lost       string               // how many runs are missing; empty if none
	Judged     [3]*evidence.Finding // verdicts on the printed numbers; nil where there is none

	ByResult []string // choices behind the verdicts that were made with the paper's numbers in view
	Gap      float64  // largest ratio of certified gap to objective, of batch runs that ended before they met their tolerance
}

// table makes one of the paper's tables, with a block for each column: a task on a data set.
func (b *builder) table(pt *paper.Table) *Table {
	t := &Table{
		Name:    pt.ID,
		Title:   fmt.Sprintf("Table %d. Results on %s", pt.Number, pt.Title),
		Caption: fmt.Sprintf("The paper's Table %d beside this reproduction: results on %s.", pt.Number, strings.TrimRight(pt.Title, ".")),
		Numbers: [][]string{csvHeader},
	}
	var cells []*Cell
	for _, col := range pt.Columns {
		risk := riskName(b.paper.Data[col.Data].Risk)
		blk := &table.Block{Data: col.Data, Title: col.Title, Risk: risk, Heading: fmt.Sprintf("%s · %s (%s)", col.Data, col.Title, risk)}
		for i, row := range slices.Concat(pt.Rows, pt.Extra) {
			id := pt.CellID(col, row)
			pc, printed := b.paper.Cells[id]
			pc.ID, pc.Table, pc.Data, pc.Task, pc.Row, pc.Title, pc.Extra = id, pt.ID, col.Data, col.Task, row.ID, row.Title, i >= len(pt.Rows)
			planned := b.planned(func(p spec.Planned) bool { return slices.Contains(p.Cells, id) })
			if pc.Extra && !printed && len(planned) == 0 {
				continue
			}
			c := b.cell(pc, planned)
			cells, b.cells[id] = append(cells, c), c
			out := &table.Row{Cell: id, Title: row.Title, Extra: c.Extra, Runs: c.Runs(), Lines: c.lines()}
			blk.Rows = append(blk.Rows, out)
			t.Numbers = append(t.Numbers, c.csvRows()...)
			if c.Why == "" && c.Judged != [quantityCount]*evidence.Finding{} {
				t.Legend = verdictLegend
			}
		}
		t.Blocks = append(t.Blocks, blk)
	}
	t.Notes = b.tableNotes(pt, cells)
	return t
}

// cell makes a cell from the runs that feed it.
func (b *builder) cell(pc paper.Cell, planned []spec.Planned) *Cell {
	runs, risk := b.records(planned), b.paper.Data[pc.Data].Risk
	c := &Cell{
		Cell: pc, Texts: printed(pc), Paper: numbersOf(pc), Dash: cmp.Or(b.paper.Reasons[pc.Reason], pc.Reason),
		Ours: finalStats(runs, risk), OnDraw: finalStats(nil, risk), Drawn: finalStats(nil, risk),
	}
	var drawn *ledger.Answer
	if drawn, c.Varied = ledger.Embedded().OnDraws(pc.ID); drawn != nil {
		c.Drawn = finalStats(b.records(b.planned(func(p spec.Planned) bool { return drawn.Matches(&p) })), risk)
	}
	if b.in.Assessment != nil {
		for q, name := range Quantities {
			if s, ok := b.in.Assessment.Find(c.ID + "." + name); ok {
				c.Judged[q], c.ByResult = &s.Tests[0], s.ByResult
			}
		}
	}
	if len(runs) == 0 {
		// If the paper prints only dashes and this profile plans no runs, nothing is missing, and
		// the cell shows the dash. A method's second series, such as polk-large, is an exception:
		// the paper's figures show it whatever its table prints.
		second := strings.Contains(c.Row, "-")
		if c.Why = words.Dash; len(planned) > 0 || second || c.Dash == "" || c.Paper != [3]*float64{} {
			c.Why = b.absent(planned, c.Data)
		}
		c.ByResult = nil
		return c
	}
	c.Lost = evidence.Lost(len(planned), b.gaps(planned))
	if i := slices.IndexFunc(runs, func(r *record.Record) bool { return r.Header.Run.Data.Draw == b.figureDraw }); i >= 0 && b.figureDraw != 0 {
		c.Draw, c.OnDraw = b.figureDraw, finalStats(runs[i:i+1], risk)
	}
	for _, r := range runs { // runs that ended before they met their tolerance
		if h := r.Final.Health; h["unconverged"] > 0 && h["objective"] > 0 {
			c.Gap = max(c.Gap, h["gap"]/h["objective"])
		}
	}
	return c
}

// whyWidth is the number of characters that a column holds of the reason why there are no runs.
// The CSV file has the full text.
const whyWidth = 36

// verdictLegend explains the lines on verdicts.
const verdictLegend = "verdict: ✓ reproduced, ≠ deviates, ? inconclusive; in brackets at half and at twice the margin. new run: the interval of a new run's value in nine of ten cases, from three runs or more; new rows: the same for an error on as many other test rows; ✓ if the printed number is in it, ≠ if not. A verdict here rests on runs on the same test rows."

// lines returns the lines of a cell: the paper's numbers; those of the runs, their interval, those on
// several draws, the difference from the paper's and those on the figures' draw; the verdicts on the printed numbers, each with those at
// half and at twice the margin; the intervals for a new run and for new test rows. A line without
// any text is left out.
func (c *Cell) lines() []table.Line {
	out := []table.Line{{Label: "paper", Cells: c.Texts}}
	switch c.Why {
	case "":
	case words.Dash:
		return out
	default:
		return append(out, table.Line{Label: "ours", Why: words.Shorten(c.Why, whyWidth)})
	}
	ours, interval, diff := table.Line{Label: "ours", Runs: strconv.Itoa(c.Runs())}, table.Line{Label: "90 %"}, table.Line{Label: "Δ"}
	if c.Varied { // the interval is of the orders of one draw alone
		interval.Label = "90 %, orders"
	}
	drawn := table.Line{Label: fmt.Sprintf("%d draws", c.Drawn[qError].N)}
	drawnInterval := table.Line{Label: "90 %, draws"}
	draw := table.Line{Label: fmt.Sprintf("draw %d", c.Draw), Runs: "1, the figures'"}
	verdicts, newRun, newRows := table.Line{Label: "verdict"}, table.Line{Label: "new run"}, table.Line{Label: "new rows"}
	for q, s := range c.Ours {
		ours.Cells[q] = cmp.Or(s.text(q), words.Dash)
		interval.Cells[q], diff.Cells[q] = s.interval(q), difference(s, c.Paper[q], q)
		if c.Drawn[q].N > 0 {
			drawn.Cells[q], drawnInterval.Cells[q] = c.Drawn[q].text(q), c.Drawn[q].interval(q)
		}
		if c.Draw != 0 {
			draw.Cells[q] = cmp.Or(c.OnDraw[q].text(q), words.Dash)
		}
		if f := c.Judged[q]; f != nil {
			verdicts.Cells[q] = f.Verdict.Mark()
			if at := f.Margins(); at != nil {
				verdicts.Cells[q] += fmt.Sprintf(" (½ %s, 2× %s)", at[0].Mark(), at[1].Mark())
			}
			newRun.Cells[q], newRows.Cells[q] = expected(f, f.NewRun, q), expected(f, f.NewTest, q)
		}
	}
	return append(out, slices.DeleteFunc([]table.Line{ours, interval, drawn, drawnInterval, diff, draw, verdicts, newRun, newRows}, func(l table.Line) bool {
		return l.Cells == [quantityCount]string{}
	})...)
}

// expected writes the interval of a new run or of new test rows, with a mark that says whether it
// contains the printed number; it returns an empty string if that is not known.
func expected(f *evidence.Finding, n evidence.Number, q int) string {
	within, known := f.Within(n)
	if !known {
		return ""
	}
	mark := map[bool]stats.Verdict{true: stats.Reproduced, false: stats.Deviates}[within].Mark()
	return between(n.Low, n.High, q, n.High) + " " + mark
}

// csvHeader names the columns of a table's CSV file.
var csvHeader = []string{"table", "data", "task", "method", "extra", "quantity", "paper", "mean", "sd", "low", "high", "runs", "diverged", "figure_draw", "figure_draw_value", "reason",
	"verdict", "verdict_half_margin", "verdict_twice_margin", "one_run_low", "one_run_high", "paper_in_one_run", "new_rows_low", "new_rows_high", "paper_in_new_rows",
	"draws", "draws_mean", "draws_sd", "draws_low", "draws_high"}

// csvRows returns the lines of one cell, one for each quantity.
func (c *Cell) csvRows() [][]string {
	var out [][]string
	for q, name := range Quantities {
		s, judged := c.Ours[q], cmp.Or(c.Judged[q], new(evidence.Finding))
		isJudged := c.Judged[q] != nil && c.Why == ""
		within, hasRun := judged.Within(judged.NewRun)
		inTest, hasTest := judged.Within(judged.NewTest)
		out = append(out, slices.Concat(
			line(c.Table, c.Data, c.Task, c.Row, c.Extra, name),
			known(c.Paper[q] != nil, c.Texts[q]), line(s.Mean, s.SD, s.Low, s.High, s.N, s.Diverged),
			known(c.OnDraw[q].N > 0, c.Draw, float64(c.OnDraw[q].Mean)),
			line(c.reason(q)),
			known(isJudged, judged.Verdict, judged.At(0.5), judged.At(2)),
			known(isJudged && hasRun, judged.NewRun.Low, judged.NewRun.High, within),
			known(isJudged && hasTest, judged.NewTest.Low, judged.NewTest.High, inTest),
			known(c.Drawn[q].N > 0, c.Drawn[q].N, c.Drawn[q].Mean, c.Drawn[q].SD, c.Drawn[q].Low, c.Drawn[q].High)))
	}
	return out
}

// reason says why a number of ours or of the paper's is missing.
func (c *Cell) reason(q int) string {
	why := strings.TrimPrefix(c.Why, words.Dash)
	if c.Paper[q] == nil && c.Dash != "" {
		why = strings.TrimPrefix(why+", "+c.Dash, ", ")
	}
	return words.Message(why)
}

// finalOf returns a run's final risk, error rate in per cent and model order.
func finalOf(r *record.Record, risk string) [quantityCount]float64 {
	v := [quantityCount]float64{r.Final.TestRisk, 100 * r.Final.TestError, r.Final.ModelOrder}
	if risk == paper.RiskTrain {
		v[qRisk] = r.Final.TrainRisk
	}
	return v
}

// numbersOf returns the three numbers of a cell of the paper, nil for a dash.
func numbersOf(pc paper.Cell) [quantityCount]*float64 {
	return [quantityCount]*float64{pc.Risk, pc.Error, pc.Order}
}

// printed returns the three numbers of a cell as the paper prints them.
func printed(pc paper.Cell) [3]string {
	numbers := strings.Split(cmp.Or(pc.Printed, "-/-/-"), "/")
	for q, v := range numbersOf(pc) {
		if v == nil {
			numbers[q] = words.Dash
		}
	}
	return [3]string(numbers)
}

// Runs is the number of runs in the cell.
func (c *Cell) Runs() int { return c.Ours[qError].N }

// riskName names one of a data set's risks, train or test.
func riskName(risk string) string {
	return cmp.Or(map[string]string{paper.RiskTrain: "training risk"}[risk], "test risk")
}

// tableNotes are the lines below a table.
func (b *builder) tableNotes(pt *paper.Table, cells []*Cell) []string {
	notes := []string{
		"risk / error in % / model order; ours: mean ± standard deviation over runs (seeds and draws), those of POLK and BSGD averaged over the last 5 % of the processed samples; 90 %: the interval of the mean, Student's.",
		"Δ: ours against the paper's; in percentage points for the error, in % of the paper's value for risk and order.",
	}
	if slices.ContainsFunc(cells, func(c *Cell) bool { return c.Drawn[qError].N > 0 }) {
		notes = append(notes, "orders: of runs that differ in the order of the samples alone; draws: of runs on other draws of the data set, by which its sentences and ranks are judged.")
	}
	for _, col := range pt.Columns {
		if n := b.bayesNote(col.Data); n != "" {
			notes = appendNew(notes, n)
		}
	}
	place := func(c *Cell) string {
		if slices.ContainsFunc(pt.Columns, func(other paper.Column) bool { return other.Data != c.Data }) {
			return c.Title + ", " + taskTitle(c.Task) + " on " + c.Data
		}
		return c.Title + ", " + taskTitle(c.Task)
	}
	var gaps, lost, inView []string
	for _, c := range cells {
		for _, choice := range c.ByResult {
			inView = appendNew(inView, choice)
		}
		if c.Gap > 0 {
			gaps = append(gaps, fmt.Sprintf("%s: %.2g %%", place(c), 100*c.Gap))
		}
		if c.Lost != "" {
			lost = append(lost, fmt.Sprintf("%s, %s on %s: %s", c.Title, taskTitle(c.Task), c.Data, c.Lost))
		}
	}
	if len(gaps) > 0 {
		notes = append(notes, fmt.Sprintf("Stopped before the tolerance (duality gap over objective): %s.", strings.Join(gaps, "; ")))
	}
	if len(inView) > 0 {
		notes = append(notes, fmt.Sprintf("Verdicts here rest on choices made with the paper's results in view: %s. 'runall verify' names those of each cell.", strings.Join(inView, ", ")))
	}
	// Why the paper leaves numbers out, a note for each reason. A row all of whose cells have a dash
	// for the same reason is named once.
	reasons, of := grouped(cells, func(c *Cell) string { return c.Dash })
	for i, reason := range reasons {
		var where []string
		for _, c := range of[i] {
			name := place(c)
			row := slices.DeleteFunc(slices.Clone(cells), func(other *Cell) bool { return other.Row != c.Row })
			if len(row) > 1 && !slices.ContainsFunc(row, func(other *Cell) bool { return other.Dash != reason }) {
				name = c.Title
			}
			where = appendNew(where, name)
		}
		if reason != "" {
			notes = append(notes, fmt.Sprintf("—: %s (%s).", strings.TrimRight(words.Message(reason), "."), strings.Join(where, "; ")))
		}
	}
	return append(notes, lost...)
}

// bayesNote gives the Bayes error of a data set's draws, each counted once.
func (b *builder) bayesNote(dataSet string) string {
	var values []float64
	last, shown := uint64(0), ""
	for _, r := range b.records(b.planned(func(p spec.Planned) bool { return p.Run.Data.Name == dataSet && len(p.Cells) > 0 })) {
		e, ok := r.Header.DataFacts["bayes_error"]
		draw := r.Header.Run.Data.Draw
		if !ok || draw == last { // the records are sorted by draw
			continue
		}
		values, last = append(values, 100*e), draw
		if draw == b.figureDraw {
			shown = fmt.Sprintf("; of the figures' draw (%d): %.2f %%", draw, 100*e)
		}
	}
	if len(values) == 0 {
		return ""
	}
	return fmt.Sprintf("Bayes error of %s: %s %% over %d draws of the means%s.", dataSet, statOf(values).text(qError), len(values), shown)
}
