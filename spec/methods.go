package spec

import (
	"fmt"
	"slices"
	"strings"

	"polkrepro/internal/lists"
	"polkrepro/loss"
	"polkrepro/polk/prune"
)

// The tasks of the paper.
const (
	TaskKSVM = "ksvm" // multi-class kernel support vector machine
	TaskKLR  = "klr"  // multi-class kernel logistic regression
)

// The paper's methods. Comparisons and calibrations run POLK. Only these two methods
// can be measured against the minimizer of the risk.
const (
	MethodPOLK = "polk"
	MethodFSGD = "fsgd" // POLK that prunes nothing
)

// TaskRegression is the regression of numbers by the squared error, on files whose
// labels are numbers.
var TaskRegression = loss.SquaredError{}.Name()

// LossOf returns the name of a task's loss, for use in prose.
func LossOf(task string) string {
	switch task {
	case TaskKSVM:
		return "hinge loss"
	case TaskKLR:
		return "logistic loss"
	}
	return task + " loss"
}

// Tasks returns the classification tasks that specs can name: ksvm, klr, and the name of
// each further loss that has one function per class. The only other task is TaskRegression.
func Tasks() []string {
	tasks := []string{TaskKSVM, TaskKLR}
	for _, name := range loss.Names() {
		if l, _ := loss.ByName(name); loss.Multiclass(l) && l != (loss.MultiHinge{}) && l != (loss.MultiLogistic{}) {
			tasks = append(tasks, name)
		}
	}
	return tasks
}

// TaskLoss returns the loss that a task minimizes (paper, Section 5.1).
func TaskLoss(task string) (loss.Loss, error) {
	switch {
	case task == TaskKSVM:
		return loss.MultiHinge{}, nil
	case task == TaskKLR:
		return loss.MultiLogistic{}, nil
	case task == TaskRegression:
		return loss.SquaredError{}, nil
	case slices.Contains(Tasks(), task):
		return loss.ByName(task)
	}
	return nil, fmt.Errorf("task is %q, want one of %s", task, list(append(Tasks(), TaskRegression)))
}

// A MethodInfo describes a method that a spec can name. Package harness implements the methods.
type MethodInfo struct {
	Name     string      `json:"name"`
	Title    string      `json:"title"`
	About    string      `json:"about"`
	Tasks    []string    `json:"tasks"`
	AnyLoss  bool        `json:"-"`        // whether the method learns all classification tasks; Methods and Method then add these to Tasks
	Batch    bool        `json:"batch"`    // whether the method trains on the whole training set at once, not on a stream
	Seedless bool        `json:"seedless"` // whether the method depends on no seed, so that its runs on the same data are one
	Votes    bool        `json:"votes"`    // whether the method predicts by the votes of two-class models, so that it has no risk
	Row      string      `json:"-"`        // row of the tables, or its beginning, if it is not the name
	Params   []ParamInfo `json:"params"`

	// Conflict, unless nil, returns a hyper-parameter of a run that is incompatible with the
	// others, and the reason, or "".
	Conflict func(p Params) (param, why string) `json:"-"`

	// Numbers, unless nil, returns how many floating-point numbers a learner of a stream
	// keeps from one sample to the next, at a model order, features and classes: dictionary,
	// weights, and anything else that the algorithm needs, such as an inverse matrix.
	Numbers func(p Params, order, dim, classes float64) float64 `json:"-"`

	// Lines are the styles of its series in figures, from the largest model order on;
	// grey lines if there are none.
	Lines []Line `json:"-"`
}

// A Line is how a series is drawn.
type Line struct {
	Color uint32    // 0xRRGGBB
	Dash  []float64 // lengths of dashes and gaps in points; solid if empty
	Width float64   // in points
}

// DictionaryNumbers is the MethodInfo.Numbers of a learner that keeps only dictionary
// elements, each with a weight for each class.
func DictionaryNumbers(_ Params, order, dim, classes float64) float64 { return order * (dim + classes) }

// methods holds the registered methods, sorted by name.
var methods []MethodInfo

// RegisterMethod makes a method known to specs and records. Package harness calls it
// when the program starts, for each method that it implements, so a program that reads
// specs or records must import that package. RegisterMethod panics if the method is
// malformed or its name is taken.
func RegisterMethod(m MethodInfo) {
	switch {
	case !nameText.MatchString(m.Name) || m.Title == "" || m.About == "" || len(m.Tasks) == 0 && !m.AnyLoss:
		panic(fmt.Sprintf("spec: method %q lacks a name of lower-case letters, digits and hyphens, a title, a description or tasks", m.Name))
	case Method(m.Name) != nil:
		panic("spec: two methods are named " + m.Name)
	}
	for i, p := range m.Params {
		if p.Kind == KindInteger && p.Most == nil { // so that it fits an int
			m.Params[i].Most = prune.Bound(largest)
		}
		other := known(p.Name)
		taken := other != nil && (other.field != nil || other.Kind != p.Kind)
		if p.Name == "" || p.field == nil && (taken || !p.isNumber()) || m.param(p.Name) != &m.Params[i] {
			panic(fmt.Sprintf("spec: method %s: parameter %q: want a shared one, as Param returns it, or a number with a name of its own", m.Name, p.Name))
		}
	}
	i, _ := slices.BinarySearchFunc(methods, m, func(a, b MethodInfo) int { return strings.Compare(a.Name, b.Name) })
	methods = slices.Insert(methods, i, m)
}

// Methods returns the methods that specs can name, sorted by name.
func Methods() []MethodInfo { return valuesOf(methods, MethodInfo.current) }

// Method returns the method of that name, nil if there is none.
func Method(name string) *MethodInfo {
	m := lists.Find(methods, func(m *MethodInfo) bool { return m.Name == name })
	if m == nil {
		return nil
	}
	now := m.current()
	return &now
}

// current returns the method with all its tasks: a loss may have been registered after the method.
func (m MethodInfo) current() MethodInfo {
	if m.AnyLoss {
		m.Tasks = append(Tasks(), m.Tasks...)
	}
	return m
}

// valuesOf maps each element of a list to a value, such as its name, in the same order.
func valuesOf[T, V any](list []T, of func(T) V) []V {
	var values []V
	for _, x := range list {
		values = append(values, of(x))
	}
	return values
}

// param returns a method's hyper-parameter by name, or nil.
func (m *MethodInfo) param(name string) *ParamInfo {
	return lists.Find(m.Params, func(p *ParamInfo) bool { return p.Name == name })
}

func (m *MethodInfo) paramNames() []string {
	return valuesOf(m.Params, func(p ParamInfo) string { return p.Name })
}

// conflict returns a hyper-parameter of a run that is incompatible with the
// others, and the reason, or "". It fills in the defaults of the pruner's parameters.
func (m *MethodInfo) conflict(p *Params) (param, why string) {
	if m.param("pruner") != nil {
		if param, why := p.completePruner(); why != "" {
			return param, why
		}
	}
	if rate := p.LearningRate; rate != 0 && !(rate*p.Regularizer < 1) {
		return "learning_rate", fmt.Sprintf("learning_rate is %v, want less than 1/λ = %v", setting{number: rate}, setting{number: 1 / p.Regularizer})
	}
	if m.Conflict != nil {
		return m.Conflict(*p)
	}
	return "", ""
}

// list joins words for a message.
func list(words []string) string { return strings.Join(words, ", ") }
