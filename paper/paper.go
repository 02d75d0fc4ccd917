// Package paper holds what the paper prints: the cells of Tables 2 and 3, the layout of the tables and
// figures, and the numbers that the text states about them.
package paper

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"polkrepro/experiments"
	"polkrepro/internal/strictyaml"
)

// file is the file in package experiments that has the values.
const file = "paper.yaml"

// The kinds of figures.
const (
	FigureCurves   = "curves"   // curves over samples processed
	FigureDecision = "decision" // decision surfaces in the plane
	FigureData     = "data"     // the data themselves
)

// The quantities that the paper reports.
const (
	QuantityRisk  = "risk"  // Data.Risk says which risk
	QuantityError = "error" // on the test set, in percent
	QuantityOrder = "order" // model order
)

// Quantities are the quantities that the paper's tables print.
var Quantities = []string{QuantityRisk, QuantityError, QuantityOrder}

// The kinds of risk.
const (
	RiskTrain = "train" // the empirical risk
	RiskTest  = "test"  // the expected risk, estimated on the test set
)

// Values are the numbers the paper prints, and the layout in which it
// prints them: its Tables 2 and 3 and its figures.
type Values struct {
	Reasons map[string]string `json:"reasons"` // sentences that say why a number is missing, by code
	Data    map[string]Data   `json:"data"`    // reporting of the data sets, by name
	Tables  []Table           `json:"tables"`  // tables, in the paper's order
	Cells   map[string]Cell   `json:"cells"`   // cells of the tables and of the extra rows, by ID
	Figures []Figure          `json:"figures"` // figures, in the paper's order
}

// A Data says how the paper reports one data set.
type Data struct {
	Title string `json:"title"`
	Risk  string `json:"risk"` // RiskTrain or RiskTest: the risk printed and plotted
}

// A Table is the layout of one table.
type Table struct {
	ID      string   `json:"id"` // ID, such as table2
	Number  int      `json:"number"`
	Title   string   `json:"title"`
	Caption string   `json:"caption"`
	Columns []Column `json:"columns"` // columns, left to right
	Rows    []Row    `json:"rows"`    // the paper's rows, top to bottom
	Extra   []Row    `json:"extra"`   // rows that the paper does not print in the table: second series of the figures
}

// A Column is a column of a table: one task on one data set.
type Column struct {
	Data  string `json:"data"`  // data set, such as multidist
	Task  string `json:"task"`  // task, such as ksvm
	Title string `json:"title"` // title, such as Multi-KSVM
}

// A Row is a row of a table: one method.
type Row struct {
	ID    string `json:"id"`    // ID, such as polk or bsgd-large
	Title string `json:"title"` // title, such as POLK
}

// CellID returns the ID of the cell in a row and a column:
// table.data.task.row. An extra row may lack the cells of some columns.
func (t *Table) CellID(c Column, r Row) string {
	return t.ID + "." + c.Data + "." + c.Task + "." + r.ID
}

// A Cell holds the numbers that the paper prints for one method on one task and data set. A
// nil number is not printed, and Reason says why.
type Cell struct {
	ID      string   `json:"-"`       // table2.multidist.ksvm.polk
	Table   string   `json:"-"`       // table2
	Data    string   `json:"-"`       // multidist
	Task    string   `json:"-"`       // ksvm
	Row     string   `json:"-"`       // polk
	Title   string   `json:"-"`       // POLK, the row's
	Extra   bool     `json:"-"`       // not a cell of the printed table
	Printed string   `json:"printed"` // risk/error/order as printed, such as "0.0919/3.98/16"; a dash is "-"
	Risk    *float64 `json:"-"`
	Error   *float64 `json:"-"`      // percent
	Order   *float64 `json:"-"`      // model order; support vectors for LIBSVM
	Reason  string   `json:"reason"` // code of the reason, a key of Values.Reasons; empty if all three numbers are printed
	Quote   string   `json:"quote"`  // sentence that an extra cell's number is from
}

// A Figure is one figure.
type Figure struct {
	ID      string      `json:"id"` // ID as in a spec, such as "2"
	Number  int         `json:"number"`
	Kind    string      `json:"kind"` // FigureCurves, FigureDecision or FigureData
	Title   string      `json:"title"`
	Caption string      `json:"caption"` // printed caption, shortened to its claims
	Data    string      `json:"data"`    // data set of a figure of curves
	Task    string      `json:"task"`    // task of a figure of curves
	Panels  []Panel     `json:"panels"`
	Stated  []Statement `json:"stated"`
}

// Shows reports whether a figure shows results of a task on a data set.
func (f *Figure) Shows(data, task string) bool {
	switch f.Kind {
	case FigureCurves:
		return f.Data == data && f.Task == task
	case FigureDecision:
		return slices.ContainsFunc(f.Panels, func(p Panel) bool { return p.Data == data && p.Task == task })
	}
	return false
}

// A Panel is one sub-figure.
type Panel struct {
	ID       string `json:"id"`       // letter: a, b, c
	Title    string `json:"title"`    // title printed under the panel, such as "Empirical risk R(f_t)"
	Quantity string `json:"quantity"` // QuantityRisk, …; empty for a panel that is not a curve
	Data     string `json:"data"`     // data set shown, if the panel is not a curve
	Task     string `json:"task"`     // task whose decision surface is shown
}

// A Statement is a number that the paper's text or caption states about a
// figure. Low and High bound the stated value: they are equal for "2.6 %", and
// for "below 4 %" only High is set. Errors are in percent.
type Statement struct {
	Panel    string   `json:"panel"`
	Quantity string   `json:"quantity"` // QuantityRisk, …
	Cell     string   `json:"cell"`     // cell whose series is meant; empty for all of the figure's POLK series
	Samples  int      `json:"samples"`  // position on the x axis, in samples; 0 means the end
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	Quote    string   `json:"quote"`
}

// Printed returns the values that the paper prints. All callers share them: they
// must not be changed.
var Printed = sync.OnceValue(func() *Values {
	src, _ := experiments.Files.ReadFile(file) // a test reads it
	p, err := parse(experiments.Folder+file, src)
	if err != nil {
		panic(err) // a test reads it
	}
	return p
})

// parse reads paper.yaml strictly. A test checks that its parts are consistent.
func parse(filename string, src []byte) (*Values, error) {
	out, r := new(Values), new(strictyaml.Reporter)
	root := strictyaml.DecodeFile(filename, src, out, r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	for i := range out.Tables {
		t := &out.Tables[i]
		t.Caption = strings.TrimSpace(t.Caption)
		for _, col := range t.Columns {
			for j, row := range slices.Concat(t.Rows, t.Extra) {
				id := t.CellID(col, row)
				c, ok := out.Cells[id]
				if !ok {
					continue
				}
				c.ID, c.Table, c.Data, c.Task, c.Row, c.Title, c.Extra = id, t.ID, col.Data, col.Task, row.ID, row.Title, j >= len(t.Rows)
				c.Quote = strings.TrimSpace(c.Quote)
				if !c.read() {
					r.Errorf(root.At("cells", id, "printed"), "printed is %q, want risk/error/order, positive numbers or dashes", c.Printed)
				}
				out.Cells[id] = c
			}
		}
	}
	for i := range out.Figures {
		f := &out.Figures[i]
		f.Caption = strings.TrimSpace(f.Caption)
		for j := range f.Stated {
			f.Stated[j].Quote = strings.TrimSpace(f.Stated[j].Quote)
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// read parses Printed, risk/error/order, and reports whether it has this form.
func (c *Cell) read() bool {
	parts := strings.Split(c.Printed, "/")
	if len(parts) != 3 {
		return false
	}
	for i, to := range []**float64{&c.Risk, &c.Error, &c.Order} {
		if parts[i] == "-" {
			continue
		}
		x, err := strconv.ParseFloat(parts[i], 64)
		if err != nil || !(x > 0) {
			return false
		}
		*to = &x
	}
	return true
}
