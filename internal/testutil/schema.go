package testutil

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A Schema is a JSON Schema. It knows the keywords that those of this project use.
type Schema map[string]any

// ReadSchema reads a schema's file. t is a *testing.T.
func ReadSchema(t interface {
	Helper()
	Fatal(args ...any)
}, path string) (s Schema) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Validate returns what is wrong with a value that encoding/json has decoded. It panics
// if the schema uses a keyword that it does not know.
func (s Schema) Validate(v any) (problems []string) { return s.validate(s, v, "") }

func (s Schema) validate(at map[string]any, v any, path string) (problems []string) {
	bad := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s: ", path)+fmt.Sprintf(format, args...))
	}
	m, _ := v.(map[string]any)
	list, _ := v.([]any)
	number, isNumber := v.(float64)
	text, isText := v.(string)
	for keyword, arg := range at {
		switch keyword {
		case "$schema", "$defs", "title", "description":
		case "$ref":
			name := strings.TrimPrefix(arg.(string), "#/$defs/")
			problems = append(problems, s.validate(s["$defs"].(map[string]any)[name].(map[string]any), v, path)...)
		case "type":
			ok := map[string]bool{
				"object": m != nil, "array": list != nil, "number": isNumber, "string": isText,
				"integer": isNumber && number == float64(int64(number)),
				"boolean": reflect.TypeOf(v) == reflect.TypeFor[bool](), "null": v == nil,
			}[arg.(string)]
			if !ok {
				bad("%v is not of type %v", v, arg)
			}
		case "properties":
			for key, sub := range arg.(map[string]any) {
				if w, ok := m[key]; ok {
					problems = append(problems, s.validate(sub.(map[string]any), w, path+"."+key)...)
				}
			}
		case "additionalProperties":
			known, _ := at["properties"].(map[string]any)
			for key, w := range m {
				if _, ok := known[key]; ok {
					continue
				}
				if sub, ok := arg.(map[string]any); ok {
					problems = append(problems, s.validate(sub, w, path+"."+key)...)
				} else {
					bad("unknown key %s", key)
				}
			}
		case "required":
			for _, key := range arg.([]any) {
				if _, ok := m[key.(string)]; !ok {
					bad("no %s", key)
				}
			}
		case "items":
			for i, w := range list {
				problems = append(problems, s.validate(arg.(map[string]any), w, fmt.Sprintf("%s[%d]", path, i))...)
			}
		case "minItems":
			if float64(len(list)) < arg.(float64) {
				bad("too few items")
			}
		case "uniqueItems":
			for i := range list {
				for j := range i {
					if reflect.DeepEqual(list[i], list[j]) {
						bad("%v is twice there", list[i])
					}
				}
			}
		case "enum":
			if !slices.Contains(arg.([]any), v) {
				bad("%v is none of %v", v, arg)
			}
		case "pattern":
			if !regexp.MustCompile(arg.(string)).MatchString(text) {
				bad("%q does not match %v", text, arg)
			}
		case "minimum":
			if number < arg.(float64) {
				bad("%v is below %v", number, arg)
			}
		case "exclusiveMinimum":
			if number <= arg.(float64) {
				bad("%v is not above %v", number, arg)
			}
		case "oneOf":
			matches := 0
			for _, sub := range arg.([]any) {
				if len(s.validate(sub.(map[string]any), v, path)) == 0 {
					matches++
				}
			}
			if matches != 1 {
				bad("%v matches %d of the alternatives", v, matches)
			}
		default:
			panic("testutil: unknown keyword of a JSON Schema: " + keyword)
		}
	}
	return problems
}
