package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"polkrepro/data"
	"polkrepro/internal/strictyaml"
	"polkrepro/spec/internal/doc"
)

// maxSpecs bounds the specs of a file.
const maxSpecs = 500

// An expansion is one of the specs that a file describes. Its name is the file's, followed by the
// variant, the data set and the task, as far as the file has several.
type expansion struct {
	root   *strictyaml.Node
	own    string   // the variant's title, empty if it has none
	words  []string // what distinguishes it else
	listed bool     // the task is one of a list, so that methods for other tasks are left out
}

// An expander turns a file into its specs: one for each variant and, where data or task is a list,
// one for each combination of their items.
type expander struct {
	*strictyaml.Reporter
	root *strictyaml.Node
}

func (e *expander) specs() []expansion {
	specs := e.exclude(e.each(e.each(e.variants(), "data"), "task"))
	for _, s := range specs {
		if title := s.root.Field("title"); title != nil && len(s.words) > 0 {
			title.Value = tree(title.Value, fmt.Sprintf("%s (%s)", title.Value.Text, strings.Join(s.words, ", ")))
		}
	}
	return specs
}

// title says in words how a spec differs from the others of its file.
func (s expansion) title() string {
	if s.own == "" {
		return strings.Join(s.words, ", ")
	}
	return strings.Join(append([]string{s.own}, s.words...), ", ")
}

// variants returns the file's keys overridden by those of each variant.
func (e *expander) variants() []expansion {
	base := e.root.Without("variants", "exclude")
	list := e.root.Get("variants")
	if list == nil {
		return []expansion{{root: base}}
	}
	if !list.Want(strictyaml.Mapping, e.Reporter) {
		return nil
	}
	if len(list.Fields) == 0 {
		e.Errorf(list, "variants is empty")
	}
	var specs []expansion
	for _, v := range list.Fields {
		if !nameText.MatchString(v.Key) {
			e.Errorf(v.At, "variant is %q, want lower-case letters, digits and single hyphens", v.Key)
		}
		if !v.Value.Want(strictyaml.Mapping, e.Reporter) {
			continue
		}
		for _, f := range v.Value.Fields {
			if slices.Contains([]string{"exclude", "include", "name", "variants"}, f.Key) {
				e.Errorf(f.At, "a variant has no %s of its own", f.Key)
			}
		}
		one := expansion{root: overlay(base, v.Value)}.called(v.Key)
		if one.own = textOf(v.Value.Get("title")); one.own == "" {
			one.words = []string{v.Key}
		}
		specs = append(specs, one)
	}
	return specs
}

// each returns, for each spec, one spec for each item of a key's list, or the spec itself if the
// key has no list.
func (e *expander) each(specs []expansion, key string) (out []expansion) {
	for _, s := range specs {
		list := s.root.Get(key)
		if list == nil || list.Kind != strictyaml.Sequence {
			out = append(out, s)
			continue
		}
		if len(list.Items) == 0 {
			e.Errorf(list, "%s is empty", key)
		}
		for _, item := range list.Items {
			if len(out) == maxSpecs {
				e.Errorf(list, "the file has more than %d specs", maxSpecs)
				return nil
			}
			word := itemName(key, item)
			one := s.called(word)
			one.root.Field(key).Value = item
			one.words, one.listed = append(slices.Clip(s.words), word), s.listed || key == "task"
			out = append(out, one)
		}
	}
	return out
}

// itemName names an item of data or task.
func itemName(key string, item *strictyaml.Node) string {
	if key == "task" {
		return item.Text
	}
	name := item.Get("name")
	if name == nil {
		return data.SetName(item.At("train").Text)
	}
	return name.Text
}

// called returns a spec with a word added to its name.
func (s expansion) called(word string) expansion {
	root := *s.root
	root.Fields = slices.Clone(s.root.Fields)
	if name := root.Field("name"); name != nil {
		name.Value = tree(name.Value, name.Value.Text+"-"+word)
	}
	s.root = &root
	return s
}

// exclude leaves out the specs, or the methods of the specs, that the entries of exclude match.
func (e *expander) exclude(specs []expansion) []expansion {
	list := e.root.Get("exclude")
	if list == nil || !list.Want(strictyaml.Sequence, e.Reporter) {
		return specs
	}
	for _, entry := range list.Items {
		var d doc.Exclusion
		before := e.Len()
		if strictyaml.Decode(entry, &d, e.Reporter); e.Len() > before {
			continue
		}
		var kept []expansion
		matched := false
		for _, s := range specs {
			switch {
			case d.Data != "" && d.Data != itemName("data", s.root.At("data")) || d.Task != "" && d.Task != s.root.At("task").Text:
				kept = append(kept, s)
			case d.Method != "":
				before := len(s.root.At("methods").Items)
				s.withoutMethods(func(m *strictyaml.Node) bool { return labelOf(m) == d.Method })
				matched = matched || len(s.root.At("methods").Items) < before
				kept = append(kept, s)
			default:
				matched = true
			}
		}
		if !matched {
			e.Errorf(entry, "nothing to exclude: no spec of the file has these")
		}
		specs = kept
	}
	if len(specs) == 0 && len(list.Items) > 0 {
		e.Errorf(list, "exclude leaves nothing")
	}
	return specs
}

// withoutMethods removes the entries of methods for which drop returns true.
func (s expansion) withoutMethods(drop func(*strictyaml.Node) bool) {
	f := s.root.Field("methods")
	if f == nil {
		return
	}
	kept := *f.Value
	kept.Items = slices.DeleteFunc(slices.Clone(kept.Items), drop)
	f.Value = &kept
}

// labelOf returns the label of an entry of methods.
func labelOf(entry *strictyaml.Node) string {
	return cmp.Or(textOf(entry.Get("label")), textOf(entry.Get("method")))
}

func textOf(n *strictyaml.Node) string {
	if n == nil {
		return ""
	}
	return n.Text
}

// leaveOut removes the methods that do not fit the task of a list, and returns a sentence on them.
func (s expansion) leaveOut() string {
	task := textOf(s.root.Get("task"))
	if _, err := TaskLoss(task); !s.listed || err != nil {
		return ""
	}
	var left []string
	s.withoutMethods(func(entry *strictyaml.Node) bool {
		if !misfit(entry, task) {
			return false
		}
		left = union(left, []string{textOf(entry.Get("method"))})
		return true
	})
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s left out, not for task %s", textOf(s.root.Get("name")), list(left), task)
}

// misfit reports whether an entry of methods is of a method that does not fit the task.
func misfit(entry *strictyaml.Node, task string) bool {
	m := Method(textOf(entry.Get("method")))
	return m != nil && !slices.Contains(m.Tasks, task)
}

// fitNone returns the entries of methods that fit no task of the specs that have them, whose tasks are of lists.
func fitNone(specs []expansion) (out []*strictyaml.Node) {
	fits := make(map[string]bool) // by position: overrides change entries
	for _, s := range specs {
		for _, entry := range s.root.At("methods").Items {
			at := position(entry)
			fits[at] = fits[at] || !s.listed || !misfit(entry, textOf(s.root.Get("task")))
		}
	}
	for _, s := range specs {
		for _, entry := range s.root.At("methods").Items {
			if !fits[position(entry)] {
				out = append(out, entry)
			}
		}
	}
	return out
}

func position(n *strictyaml.Node) string {
	return fmt.Sprintf("%s:%d:%d", n.File(), n.Line, n.Column)
}

// overlay merges a spec over another, key by key. The methods under add_methods are appended to
// those of the spec below.
func overlay(base, over *strictyaml.Node) *strictyaml.Node {
	more := over.Get("add_methods")
	if base == nil || more == nil {
		return strictyaml.Merge(base, over)
	}
	out := strictyaml.Merge(base, over.Without("add_methods"))
	f := out.Field("methods")
	if f == nil || over.Get("methods") != nil || more.Kind != strictyaml.Sequence || f.Value.Kind != strictyaml.Sequence {
		return strictyaml.Merge(base, over) // the decoder reports add_methods
	}
	joined := *f.Value
	joined.Items = slices.Concat(joined.Items, more.Items)
	f.Value = &joined
	return out
}
