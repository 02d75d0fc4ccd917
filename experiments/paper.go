package experiments

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	Reasons map[string]string    `json:"reasons"` // code of a reason why a number is missing → the sentence
	Data    map[string]PaperData `json:"data"`    // by data set
	Tables  []PaperTable         `json:"tables"`  // in the paper's order
	Cells   map[string]PaperCell `json:"cells"`   // by ID, those of the tables and the extra ones
	Figures []PaperFigure        `json:"figures"` // in the paper's order
}

// A PaperData says how the paper reports one data set.
type PaperData struct {
	Title string `json:"title"`
	Risk  string `json:"risk"` // RiskTrain or RiskTest: the risk printed and plotted
}

// A PaperTable is the layout of one table.
type PaperTable struct {
	ID      string        `json:"id"` // table2
	Number  int           `json:"number"`
	Title   string        `json:"title"`
	Caption string        `json:"caption"`
	Columns []PaperColumn `json:"columns"` // left to right
	Rows    []PaperRow    `json:"rows"`    // top to bottom, the paper's
	Extra   []PaperRow    `json:"extra"`   // rows the paper does not print in the table: second series of the figures
}

// A PaperColumn is a column of a table: one task on one data set.
type PaperColumn struct {
	Data  string `json:"data"`  // multidist
	Task  string `json:"task"`  // ksvm
	Title string `json:"title"` // Multi-KSVM
}

// A PaperRow is a row of a table: one method.
type PaperRow struct {
	ID    string `json:"id"`    // polk, bsgd-large
	Title string `json:"title"` // POLK
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
	ID      string   `json:"-"`       // table2.multidist.ksvm.polk
	Table   string   `json:"-"`       // table2
	Data    string   `json:"-"`       // multidist
	Task    string   `json:"-"`       // ksvm
	Row     string   `json:"-"`       // polk
	Extra   bool     `json:"-"`       // not a cell of the printed table
	Printed string   `json:"printed"` // risk/error/order, as printed: "0.0919/3.98/16"; a dash is "-"
	Risk    *float64 `json:"-"`
	Error   *float64 `json:"-"`      // percent
	Order   *float64 `json:"-"`      // model order; support vectors for LIBSVM
	Reason  string   `json:"reason"` // code, key of PaperValues.Reasons; empty if all three are printed
	Quote   string   `json:"quote"`  // the sentence an extra cell's number is from
}

// A PaperFigure is one figure.
type PaperFigure struct {
	ID      string           `json:"id"` // "2", as in Planned.Figures
	Number  int              `json:"number"`
	Kind    string           `json:"kind"` // FigureCurves, FigureDecision or FigureData
	Title   string           `json:"title"`
	Caption string           `json:"caption"` // as printed, shortened to what it claims
	Data    string           `json:"data"`    // of a figure of curves
	Task    string           `json:"task"`    // of a figure of curves
	Panels  []PaperPanel     `json:"panels"`
	Stated  []PaperStatement `json:"stated"`
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
	ID       string `json:"id"`       // a, b, c
	Title    string `json:"title"`    // as printed under the panel: "Empirical risk R(f_t)"
	Quantity string `json:"quantity"` // QuantityRisk, …; empty for a panel that is not a curve
	YLabel   string `json:"y_label"`
	Data     string `json:"data"` // data set shown, if the panel is not a curve
	Task     string `json:"task"` // task whose decision surface is shown
}

// A PaperStatement is a number that the paper's text or caption states about a
// figure. Low and High bound the stated value: they are equal for "2.6 %", and
// for "below 4 %" only High is set. Errors are in percent.
type PaperStatement struct {
	Panel    string   `json:"panel"`
	Quantity string   `json:"quantity"` // QuantityRisk, …
	Cell     string   `json:"cell"`     // the cell whose series is meant, empty for all of the figure's POLK series
	Samples  int      `json:"samples"`  // where on the x axis; 0 means at the end
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	Quote    string   `json:"quote"`
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
	out := new(PaperValues)
	strictyaml.Decode(root, out, r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	p := paperChecker{checks{Reporter: r}, root, out}
	for _, f := range root.At("data").Fields {
		p.oneOf(f.Value, "risk", out.Data[f.Key].Risk, []string{RiskTrain, RiskTest})
	}
	for i := range out.Tables {
		p.table(&out.Tables[i], root.At("tables", i))
	}
	for _, f := range root.At("cells").Fields {
		p.cell(f)
	}
	p.complete()
	for i := range out.Figures {
		p.figure(&out.Figures[i], i+1, root.At("figures", i))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

type paperChecker struct {
	checks
	root *strictyaml.Node
	out  *PaperValues
}

func (p *paperChecker) table(t *PaperTable, n *strictyaml.Node) {
	t.Caption = strings.TrimSpace(t.Caption)
	if want := "table" + strconv.Itoa(t.Number); t.ID != want {
		p.Errorf(n.At("id"), "id is %q, want %q", t.ID, want)
	}
	for i, c := range t.Columns {
		p.dataAndTask(n.At("columns", i), c.Data, c.Task)
	}
	ids := make(map[string]bool)
	for k, rows := range [][]PaperRow{t.Rows, t.Extra} {
		for i, r := range rows {
			if ids[r.ID] || !nameText.MatchString(r.ID) {
				p.Errorf(n.At([]string{"rows", "extra"}[k], i, "id"), "row id %q is empty, malformed or duplicated", r.ID)
			}
			ids[r.ID] = true
		}
	}
}

// cell parses "risk/error/order" and finds the cell's place.
func (p *paperChecker) cell(f strictyaml.Field) {
	c := p.out.Cells[f.Key]
	c.ID, c.Quote = f.Key, strings.TrimSpace(c.Quote)
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
	parts := strings.Split(c.Printed, "/")
	if len(parts) != 3 {
		p.Errorf(f.Value.At("printed"), "printed is %q, want risk/error/order", c.Printed)
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
			p.Errorf(f.Value.At("printed"), "%q in %q is not a positive number", parts[i], c.Printed)
			continue
		}
		*to = &x
	}
	_, known := p.out.Reasons[c.Reason]
	switch {
	case missing && !known:
		p.Errorf(f.Value.At("reason"), "cell %q has a dash and needs a reason, one of %s", f.Key, list(slices.Sorted(maps.Keys(p.out.Reasons))))
	case !missing && c.Reason != "":
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

func (p *paperChecker) figure(f *PaperFigure, number int, n *strictyaml.Node) {
	f.Caption = strings.TrimSpace(f.Caption)
	if f.ID != strconv.Itoa(f.Number) || f.Number != number {
		p.Errorf(n.At("id"), "figure %q with number %d, want %d", f.ID, f.Number, number)
	}
	p.oneOf(n, "kind", f.Kind, []string{FigureCurves, FigureDecision, FigureData})
	if f.Kind == FigureCurves {
		p.dataAndTask(n, f.Data, f.Task)
		for i, q := range f.Panels {
			p.oneOf(n.At("panels", i), "quantity", q.Quantity, printedQuantities)
		}
	}
	for i := range f.Stated {
		s, at := &f.Stated[i], n.At("stated", i)
		s.Quote = strings.TrimSpace(s.Quote)
		p.oneOf(at, "quantity", s.Quantity, printedQuantities)
		if !slices.ContainsFunc(f.Panels, func(q PaperPanel) bool { return q.ID == s.Panel && q.Quantity == s.Quantity }) {
			p.Errorf(at.At("panel"), "figure %s has no panel %q of %s", f.ID, s.Panel, s.Quantity)
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
	}
}

func (p *paperChecker) dataAndTask(n *strictyaml.Node, data, task string) {
	if _, ok := p.out.Data[data]; !ok {
		p.Errorf(n.At("data"), "unknown data set %q", data)
	}
	p.oneOf(n, "task", task, []string{TaskKSVM, TaskKLR})
}
