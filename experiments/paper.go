package experiments

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"polkrepro/experiments/internal/doc"
	"polkrepro/internal/strictyaml"
)

// What a figure shows.
const (
	FigureCurves   = "curves"   // curves over samples processed
	FigureDecision = "decision" // decision surfaces in the plane
	FigureData     = "data"     // the data themselves
)

// What is measured.
const (
	QuantityRisk  = "risk"  // which one PaperData.Risk says
	QuantityError = "error" // on the test set, in percent
	QuantityOrder = "order" // model order
)

// Which risk it is.
const (
	RiskTrain = "train" // the empirical risk
	RiskTest  = "test"  // the expected risk, estimated on the test set
)

// PaperValues are the numbers the paper prints, and the layout in which it
// prints them: its Tables 2 and 3 and its figures.
type PaperValues struct {
	Reasons map[string]string    // code of a reason why a number is missing → the sentence
	Data    map[string]PaperData // by data set
	Tables  []PaperTable         // in the paper's order
	Cells   map[string]PaperCell // by ID, those of the tables and the extra ones
	Figures []PaperFigure        // in the paper's order
}

// A PaperData says how the paper reports one data set.
type PaperData struct {
	Title string
	Risk  string // RiskTrain or RiskTest: the risk printed and plotted
}

// A PaperTable is the layout of one table.
type PaperTable struct {
	ID      string // table2
	Number  int
	Title   string
	Caption string
	Columns []PaperColumn // left to right
	Rows    []PaperRow    // top to bottom, the paper's
	Extra   []PaperRow    // rows the paper does not print in the table: second series of the figures
}

// A PaperColumn is a column of a table: one task on one data set.
type PaperColumn struct {
	Data  string // multidist
	Task  string // ksvm
	Title string // Multi-KSVM
}

// A PaperRow is a row of a table: one method.
type PaperRow struct {
	ID    string // polk, bsgd-large
	Title string // POLK
}

// CellID returns the ID of the cell in a row and a column:
// table.data.task.row. For an extra row there need not be a cell in every
// column.
func (t *PaperTable) CellID(c PaperColumn, r PaperRow) string {
	return t.ID + "." + c.Data + "." + c.Task + "." + r.ID
}

// A PaperCell is what the paper prints for one method on one task and data
// set. A nil number is not printed and Reason says why.
type PaperCell struct {
	ID      string // table2.multidist.ksvm.polk
	Table   string // table2
	Data    string // multidist
	Task    string // ksvm
	Row     string // polk
	Extra   bool   // not a cell of the printed table
	Printed string // risk/error/order, as printed: "0.0919/3.98/16"; a dash is "-"
	Risk    *float64
	Error   *float64 // percent
	Order   *float64 // model order; support vectors for LIBSVM
	Reason  string   // code, key of PaperValues.Reasons; empty if all three are printed
	Quote   string   // the sentence an extra cell's number is from
}

// A PaperFigure is one figure.
type PaperFigure struct {
	ID      string // "2", as in Planned.Figures
	Number  int
	Kind    string // FigureCurves, FigureDecision or FigureData
	Title   string
	Caption string // as printed, shortened to what it claims
	Data    string // of a figure of curves
	Task    string // of a figure of curves
	Panels  []PaperPanel
	Stated  []PaperStatement
}

// shows reports whether a figure shows results of a task on a data set.
func (f *PaperFigure) shows(data, task string) bool {
	switch f.Kind {
	case FigureCurves:
		return f.Data == data && f.Task == task
	case FigureDecision:
		return slices.ContainsFunc(f.Panels, func(p PaperPanel) bool { return p.Data == data && p.Task == task })
	}
	return false
}

// A PaperPanel is one sub-figure.
type PaperPanel struct {
	ID       string // a, b, c
	Title    string // as printed under the panel: "Empirical risk R(f_t)"
	Quantity string // QuantityRisk, …; empty for a panel that is not a curve
	YLabel   string
	Data     string // data set shown, if the panel is not a curve
	Task     string // task whose decision surface is shown
}

// A PaperStatement is a number that the paper's text or caption states about a
// figure. Low and High bound the stated value: they are equal for "2.6 %", and
// for "below 4 %" only High is set. Errors are in percent.
type PaperStatement struct {
	Panel    string
	Quantity string // QuantityRisk, …
	Cell     string // the cell whose series is meant, empty for all of the figure's POLK series
	Samples  int    // where on the x axis; 0 means at the end
	Low      *float64
	High     *float64
	Quote    string
}

// Paper returns what the paper prints. All callers share it: it must not be
// changed.
func Paper() (*PaperValues, error) { return paperOnce() }

var paperOnce = sync.OnceValues(func() (*PaperValues, error) {
	f, err := openEmbedded("", paperFile)
	if err != nil {
		return nil, err
	}
	return parsePaper(f.label, f.text)
})

// parsePaper reads and checks paper.yaml.
func parsePaper(filename string, src []byte) (*PaperValues, error) {
	r := new(strictyaml.Reporter)
	root := strictyaml.Parse(filename, src, r)
	if root == nil {
		return nil, r.Err()
	}
	var d doc.Paper
	strictyaml.Decode(root, &d, r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	p := paperChecker{r, root, &PaperValues{
		Reasons: d.Reasons, Data: make(map[string]PaperData), Cells: make(map[string]PaperCell),
	}}
	for _, f := range root.At("data").Fields {
		p.data(f.Key, d.Data[f.Key], f.Value)
	}
	for i := range d.Tables {
		p.table(&d.Tables[i], root.At("tables", i))
	}
	for _, f := range root.At("cells").Fields {
		p.cell(f, d.Cells[f.Key])
	}
	p.complete()
	for i := range d.Figures {
		p.figure(&d.Figures[i], root.At("figures", i))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return p.out, nil
}

type paperChecker struct {
	*strictyaml.Reporter
	root *strictyaml.Node
	out  *PaperValues
}

// oneOf reports a word that is none of some others.
func (p *paperChecker) oneOf(n *strictyaml.Node, key, word string, words ...string) bool {
	if slices.Contains(words, word) {
		return true
	}
	p.Errorf(n.At(key), "%s is %q, want one of %s", key, word, list(words))
	return false
}

func (p *paperChecker) data(name string, d doc.PaperData, n *strictyaml.Node) {
	p.oneOf(n, "risk", d.Risk, RiskTrain, RiskTest)
	p.out.Data[name] = PaperData{d.Title, d.Risk}
}

func (p *paperChecker) table(d *doc.PaperTable, n *strictyaml.Node) {
	t := PaperTable{ID: d.ID, Number: d.Number, Title: d.Title, Caption: strings.TrimSpace(d.Caption)}
	if d.ID != "table"+strconv.Itoa(d.Number) {
		p.Errorf(n.At("id"), "id is %q, want %q", d.ID, "table"+strconv.Itoa(d.Number))
	}
	for i, c := range d.Columns {
		if _, ok := p.out.Data[c.Data]; !ok {
			p.Errorf(n.At("columns", i, "data"), "unknown data set %q", c.Data)
		}
		p.oneOf(n.At("columns", i), "task", c.Task, TaskKSVM, TaskKLR)
		t.Columns = append(t.Columns, PaperColumn{c.Data, c.Task, c.Title})
	}
	ids := make(map[string]bool)
	rows := func(key string, rows []doc.PaperRow) (out []PaperRow) {
		for i, r := range rows {
			if ids[r.ID] || !nameText.MatchString(r.ID) {
				p.Errorf(n.At(key, i, "id"), "row id %q is empty, malformed or duplicated", r.ID)
			}
			ids[r.ID] = true
			out = append(out, PaperRow{r.ID, r.Title})
		}
		return out
	}
	t.Rows, t.Extra = rows("rows", d.Rows), rows("extra", d.Extra)
	p.out.Tables = append(p.out.Tables, t)
}

// cell parses "risk/error/order" and finds the cell's place.
func (p *paperChecker) cell(f strictyaml.Field, d doc.PaperCell) {
	c := PaperCell{ID: f.Key, Printed: d.Printed, Reason: d.Reason, Quote: strings.TrimSpace(d.Quote)}
	found := false
	for _, t := range p.out.Tables {
		for _, col := range t.Columns {
			for i, row := range slices.Concat(t.Rows, t.Extra) {
				if t.CellID(col, row) == f.Key {
					found = true
					c.Table, c.Data, c.Task, c.Row, c.Extra = t.ID, col.Data, col.Task, row.ID, i >= len(t.Rows)
				}
			}
		}
	}
	if !found {
		p.Errorf(f.At, "cell %q is in no row and column of a table", f.Key)
	}
	parts := strings.Split(d.Printed, "/")
	if len(parts) != 3 {
		p.Errorf(f.Value.At("printed"), "printed is %q, want risk/error/order", d.Printed)
		return
	}
	missing := false
	for i, to := range []**float64{&c.Risk, &c.Error, &c.Order} {
		if parts[i] == "-" {
			missing = true
			continue
		}
		x, err := strconv.ParseFloat(parts[i], 64)
		if err != nil || !(x > 0) {
			p.Errorf(f.Value.At("printed"), "%q in %q is not a positive number", parts[i], d.Printed)
			continue
		}
		*to = &x
	}
	_, known := p.out.Reasons[d.Reason]
	switch {
	case missing && !known:
		p.Errorf(f.Value.At("reason"), "cell %q has a dash and needs a reason, one of %s", f.Key, list(slices.Sorted(maps.Keys(p.out.Reasons))))
	case !missing && d.Reason != "":
		p.Errorf(f.Value.At("reason"), "cell %q has no dash: reason must be left out", f.Key)
	}
	if c.Extra && c.Order != nil && c.Quote == "" {
		p.Errorf(f.At, "cell %q is not in the printed table and needs a quote", f.Key)
	}
	p.out.Cells[f.Key] = c
}

// complete reports the printed tables' cells that are missing.
func (p *paperChecker) complete() {
	for i := range p.out.Tables {
		t := &p.out.Tables[i]
		for _, col := range t.Columns {
			for _, row := range t.Rows {
				if _, ok := p.out.Cells[t.CellID(col, row)]; !ok {
					p.Errorf(p.root.At("cells"), "cell %q is missing", t.CellID(col, row))
				}
			}
		}
	}
}

func (p *paperChecker) figure(d *doc.PaperFigure, n *strictyaml.Node) {
	f := PaperFigure{
		ID: d.ID, Number: d.Number, Kind: d.Kind, Title: d.Title, Caption: strings.TrimSpace(d.Caption),
		Data: d.Data, Task: d.Task,
	}
	if d.ID != strconv.Itoa(d.Number) || d.Number != len(p.out.Figures)+1 {
		p.Errorf(n.At("id"), "figure %q with number %d, want %d", d.ID, d.Number, len(p.out.Figures)+1)
	}
	p.oneOf(n, "kind", d.Kind, FigureCurves, FigureDecision, FigureData)
	if d.Kind == FigureCurves {
		p.dataAndTask(n, d.Data, d.Task)
	}
	for i, q := range d.Panels {
		if d.Kind == FigureCurves {
			p.oneOf(n.At("panels", i), "quantity", q.Quantity, QuantityRisk, QuantityError, QuantityOrder)
		}
		f.Panels = append(f.Panels, PaperPanel{q.ID, q.Title, q.Quantity, q.YLabel, q.Data, q.Task})
	}
	for i, s := range d.Stated {
		at := n.At("stated", i)
		p.oneOf(at, "quantity", s.Quantity, QuantityRisk, QuantityError, QuantityOrder)
		if !slices.ContainsFunc(f.Panels, func(q PaperPanel) bool { return q.ID == s.Panel && q.Quantity == s.Quantity }) {
			p.Errorf(at.At("panel"), "figure %s has no panel %q of %s", d.ID, s.Panel, s.Quantity)
		}
		if _, ok := p.out.Cells[s.Cell]; s.Cell != "" && !ok {
			p.Errorf(at.At("cell"), "unknown table cell %q", s.Cell)
		}
		if s.Low == nil && s.High == nil || s.Low != nil && s.High != nil && !(*s.Low <= *s.High) {
			p.Errorf(at, "a statement needs low or high, and low no greater than high")
		}
		if s.Quote == "" || s.Samples < 0 {
			p.Errorf(at, "a statement needs a quote, and samples of at least 0")
		}
		f.Stated = append(f.Stated, PaperStatement{s.Panel, s.Quantity, s.Cell, s.Samples, s.Low, s.High, strings.TrimSpace(s.Quote)})
	}
	p.out.Figures = append(p.out.Figures, f)
}

func (p *paperChecker) dataAndTask(n *strictyaml.Node, data, task string) {
	if _, ok := p.out.Data[data]; !ok {
		p.Errorf(n.At("data"), "unknown data set %q", data)
	}
	p.oneOf(n, "task", task, TaskKSVM, TaskKLR)
}
