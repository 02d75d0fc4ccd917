package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/internal/strictyaml"
	"polkrepro/polk/prune"
)

// A trainSpec is a spec file of train. Names that the experiments' specs have
// are theirs.
type trainSpec struct {
	Loss         scalar           `json:"loss"`
	Kernel       kernelSpec       `json:"kernel"`
	LearningRate scalar           `json:"learning_rate"`
	Regularizer  scalar           `json:"regularizer"`
	Parsimony    scalar           `json:"parsimony"`
	Order        scalar           `json:"order"`
	Tolerance    scalar           `json:"tolerance"`
	Pruner       scalar           `json:"pruner"`
	PrunerParams prunerParamsSpec `json:"pruner_params"`
	BatchSize    scalar           `json:"batch_size"`
	Epochs       scalar           `json:"epochs"`
	Scale        scalar           `json:"scale"`
	Classes      []scalar         `json:"classes"`
	Features     scalar           `json:"features"`
	Label        scalar           `json:"label"`
	Format       scalar           `json:"format"`
	Header       scalar           `json:"header"`
	SaveEvery    scalar           `json:"save_every"`
	NoTune       switchSpec       `json:"no_tune"`
}

type kernelSpec struct {
	Type      scalar `json:"type"`
	Bandwidth scalar `json:"bandwidth"`
	Offset    scalar `json:"offset"`
	Degree    scalar `json:"degree"`
}

// A scalar is a word or a number, as text and where it stands; at is nil if the
// file does not have it.
type scalar struct {
	text string
	at   *strictyaml.Node
}

// DecodeNode takes any scalar as it is written: what it has to be is for the flag
// to say.
func (s *scalar) DecodeNode(n *strictyaml.Node, r *strictyaml.Reporter) {
	if n.Kind == strictyaml.Integer || n.Kind == strictyaml.Number || n.Kind == strictyaml.Bool || n.Want(strictyaml.String, r) {
		s.text, s.at = n.Text, n
	}
}

// prunerParamsSpec is a mapping of numbers, in the words of the flag.
type prunerParamsSpec struct{ scalar }

// DecodeNode puts the mapping into words.
func (s *prunerParamsSpec) DecodeNode(n *strictyaml.Node, r *strictyaml.Reporter) {
	values := make(map[string]float64)
	strictyaml.Decode(n, &values, r)
	if len(values) > 0 { // a pruner without parameters needs no flag
		s.text, s.at = strings.ReplaceAll(prune.Params(values).String(), ", ", ","), n
	}
}

// switchSpec is true or false.
type switchSpec struct{ scalar }

// DecodeNode takes a truth value.
func (s *switchSpec) DecodeNode(n *strictyaml.Node, r *strictyaml.Reporter) {
	if n.Want(strictyaml.Bool, r) {
		s.text, s.at = strings.ToLower(n.Text), n
	}
}

// flags returns the values by the names of the flags that they stand for.
func (s *trainSpec) flags() map[string]scalar {
	return map[string]scalar{
		"loss": s.Loss, "kernel": s.Kernel.Type, "bandwidth": s.Kernel.Bandwidth, "offset": s.Kernel.Offset, "degree": s.Kernel.Degree,
		"learning-rate": s.LearningRate, "regularizer": s.Regularizer, "parsimony": s.Parsimony, "order": s.Order, "tolerance": s.Tolerance,
		"pruner": s.Pruner, "pruner-params": s.PrunerParams.scalar, "batch": s.BatchSize, "epochs": s.Epochs, "scale": s.Scale,
		"features": s.Features, "label": s.Label, "format": s.Format, "header": s.Header, "save-every": s.SaveEvery, "no-tune": s.NoTune.scalar,
	}
}

// overruled are the flags whose values in a spec are left alone if another flag
// is given beside it.
var overruled = map[string][]string{
	"kernel":    {"bandwidth", "offset", "degree"},
	"order":     {"tolerance", "parsimony", "pruner", "pruner-params"},
	"tolerance": {"order", "parsimony", "pruner", "pruner-params"},
	"parsimony": {"order", "tolerance"},
	"pruner":    {"order", "tolerance", "parsimony", "pruner-params"},
}

// readTrainSpec returns the text of a spec file, which may be a pipe. A file that
// can't be read is wrong use.
func readTrainSpec(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, harness.Usage(err)
	}
	defer f.Close()
	text, err := files.ReadAll(f, strictyaml.MaxSource)
	if err != nil {
		return nil, harness.Usage(fmt.Errorf("%s: %w", path, err))
	}
	return text, nil
}

// applyTrainSpec sets the flags that the text of a spec file stands for, but for
// those that are given.
func applyTrainSpec(path string, text []byte, fs *pflag.FlagSet) error {
	r := new(strictyaml.Reporter)
	root := strictyaml.Parse(path, text, r)
	if root == nil {
		return r.Err()
	}
	var s trainSpec
	strictyaml.Decode(root, &s, r)
	given := make(map[string]bool)
	fs.Visit(func(f *pflag.Flag) {
		given[f.Name] = true
		for _, name := range overruled[f.Name] {
			given[name] = true
		}
	})
	fs.VisitAll(func(f *pflag.Flag) {
		v := s.flags()[f.Name]
		if v.at == nil || given[f.Name] {
			return
		}
		if err := f.Value.Set(v.text); err != nil {
			r.Errorf(v.at, "%q %v", v.text, err)
		}
		f.Changed = true
	})
	if s.Classes != nil && !given["classes"] {
		var labels []string
		for _, c := range s.Classes {
			labels = append(labels, c.text)
		}
		f := fs.Lookup("classes")
		f.Value.(pflag.SliceValue).Replace(labels) // labels may have commas in them
		f.Changed = true
	}
	return r.Err()
}
