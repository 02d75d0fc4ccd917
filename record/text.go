package record

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"polkrepro/internal/charset"
)

// checkText returns an error if text in a header is unprintable, or if a
// spreadsheet would take it for a formula. Names of data, methods and machines
// are shown in tables and exported.
func (h *Header) checkText() error { return checkText(reflect.ValueOf(*h)) }

// checkText checks the names of the counters and of the measured quantities alike.
func (f *Final) checkText() error {
	return errors.Join(checkText(reflect.ValueOf(f.Health)), checkText(reflect.ValueOf(f.Measured)))
}

// checkText checks the names of the measured quantities alike.
func (p *Point) checkText() error { return checkText(reflect.ValueOf(p.Measured)) }

func checkText(v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); !charset.Showable(s) {
			return fmt.Errorf("text %q is unprintable or starts with =, +, - or @", s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := checkText(v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := checkText(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			if err := checkText(k); err != nil {
				return err
			}
			if err := checkText(v.MapIndex(k)); err != nil {
				return err
			}
		}
	}
	return nil
}
