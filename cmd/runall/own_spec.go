package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/internal/strictyaml"
	"polkrepro/polk/prune"
)

// The keys of a spec file of train and of its kernel. Names that the experiments' specs
// have are theirs. A key is the name of a flag with underscores, but for those of renamed.
var (
	specKeys = []string{"loss", "kernel", "learning_rate", "regularizer", "parsimony", "order", "tolerance", "pruner", "pruner_params", "batch_size",
		"epochs", "scale", "classes", "features", "label", "format", "header", "save_every", "no_tune"}
	kernelKeys = []string{"type", "bandwidth", "offset", "degree"}
	renamed    = map[string]string{"type": "kernel", "batch_size": "batch"}
)

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

// A trainSpec sets the flags that a spec file stands for.
type trainSpec struct {
	flags *pflag.FlagSet
	given map[string]bool // flags that are left alone
	*strictyaml.Reporter
}

// applyTrainSpec sets the flags that the text of a spec file stands for, but for
// those that are given.
func applyTrainSpec(path string, text []byte, fs *pflag.FlagSet) error {
	s := trainSpec{fs, make(map[string]bool), new(strictyaml.Reporter)}
	fs.Visit(func(f *pflag.Flag) {
		s.given[f.Name] = true
		for _, name := range overruled[f.Name] {
			s.given[name] = true
		}
	})
	if root := strictyaml.Parse(path, text, s.Reporter); root != nil {
		s.mapping(root, specKeys)
	}
	return s.Err()
}

// mapping sets the flags of a mapping's keys.
func (s *trainSpec) mapping(n *strictyaml.Node, keys []string) {
	if !n.Want(strictyaml.Mapping, s.Reporter) {
		return
	}
	for _, f := range n.Fields {
		v := f.Value
		switch {
		case !slices.Contains(keys, f.Key):
			s.UnknownKey(f, keys)
		case f.Key == "kernel":
			s.mapping(v, kernelKeys)
		case f.Key == "classes":
			s.classes(v)
		case f.Key == "pruner_params":
			values := make(map[string]float64)
			strictyaml.Decode(v, &values, s.Reporter)
			if len(values) > 0 { // a pruner without parameters needs no flag
				s.set(f.Key, strings.ReplaceAll(prune.Params(values).String(), ", ", ","), v)
			}
		case f.Key == "no_tune" && v.Want(strictyaml.Bool, s.Reporter):
			s.set(f.Key, strings.ToLower(v.Text), v)
		case f.Key != "no_tune" && s.isScalar(v):
			s.set(f.Key, v.Text, v)
		}
	}
}

// isScalar reports whether a value is a word or a number, or that it is neither. Which of
// them it has to be is for the flag to say.
func (s *trainSpec) isScalar(v *strictyaml.Node) bool {
	return v.Kind == strictyaml.Integer || v.Kind == strictyaml.Number || v.Kind == strictyaml.Bool || v.Want(strictyaml.String, s.Reporter)
}

// set sets the flag of a key to the text of a value, unless it is given.
func (s *trainSpec) set(key, text string, v *strictyaml.Node) {
	f := s.flags.Lookup(cmp.Or(renamed[key], strings.ReplaceAll(key, "_", "-")))
	if s.given[f.Name] {
		return
	}
	if err := f.Value.Set(text); err != nil {
		s.Errorf(v, "%q %v", text, err)
	}
	f.Changed = true
}

// classes sets the flag of that name to a list, whose labels may have commas in them.
func (s *trainSpec) classes(list *strictyaml.Node) {
	if !list.Want(strictyaml.Sequence, s.Reporter) {
		return
	}
	var labels []string
	for _, v := range list.Items {
		if s.isScalar(v) {
			labels = append(labels, v.Text)
		}
	}
	if f := s.flags.Lookup("classes"); !s.given["classes"] {
		f.Value.(pflag.SliceValue).Replace(labels)
		f.Changed = true
	}
}
