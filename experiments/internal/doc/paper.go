package doc

// Paper is the layout of paper.yaml: what the paper prints.
type Paper struct {
	Reasons map[string]string    `json:"reasons"`
	Data    map[string]PaperData `json:"data"`
	Tables  []PaperTable         `json:"tables"`
	Cells   map[string]PaperCell `json:"cells"`
	Figures []PaperFigure        `json:"figures"`
}

// PaperData says how the paper reports a data set.
type PaperData struct {
	Title string `json:"title"`
	Risk  string `json:"risk"`
}

// PaperTable is the layout of a table.
type PaperTable struct {
	ID      string        `json:"id"`
	Number  int           `json:"number"`
	Title   string        `json:"title"`
	Caption string        `json:"caption"`
	Columns []PaperColumn `json:"columns"`
	Rows    []PaperRow    `json:"rows"`
	Extra   []PaperRow    `json:"extra"`
}

// PaperColumn is a column of a table.
type PaperColumn struct {
	Data  string `json:"data"`
	Task  string `json:"task"`
	Title string `json:"title"`
}

// PaperRow is a row of a table.
type PaperRow struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// PaperCell is what is printed in a cell.
type PaperCell struct {
	Printed string `json:"printed"`
	Reason  string `json:"reason"`
	Quote   string `json:"quote"`
}

// PaperFigure is a figure.
type PaperFigure struct {
	ID      string           `json:"id"`
	Number  int              `json:"number"`
	Kind    string           `json:"kind"`
	Title   string           `json:"title"`
	Caption string           `json:"caption"`
	Data    string           `json:"data"`
	Task    string           `json:"task"`
	Panels  []PaperPanel     `json:"panels"`
	Stated  []PaperStatement `json:"stated"`
}

// PaperPanel is a sub-figure.
type PaperPanel struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Quantity string `json:"quantity"`
	YLabel   string `json:"y_label"`
	Data     string `json:"data"`
	Task     string `json:"task"`
}

// PaperStatement is a number stated about a figure.
type PaperStatement struct {
	Panel    string   `json:"panel"`
	Quantity string   `json:"quantity"`
	Cell     string   `json:"cell"`
	Samples  int      `json:"samples"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	Quote    string   `json:"quote"`
}
