package published

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// facts reads the values of a case that have one of a few spellings. A value that
// is stated but not understood is an error, not an open fact: it may decide. The
// first error is kept for all facts of a case.
type facts struct {
	of  string // host, vm: in errors
	m   map[string]any
	err *error
}

func (f facts) fail(key string, want string) {
	if *f.err == nil {
		*f.err = fmt.Errorf("%s: %s: found %s, want %s", f.of, key, show(f.m[key]), want)
	}
}

// whole returns the first of the keys that is stated as a whole number; 0 when
// none is.
func (f facts) whole(most int, keys ...string) int {
	for _, key := range keys {
		v, stated := f.m[key]
		if !stated || v == nil {
			continue
		}
		n, ok := number(v)
		if !ok || n != math.Trunc(n) || n < 1 || n > float64(most) {
			f.fail(key, fmt.Sprintf("a number from 1 to %d", most))
			return 0
		}
		return int(n)
	}
	return 0
}

// amount returns a positive number of the unit that key names; 0 when the key is
// not stated.
func (f facts) amount(key string, unit, most float64) float64 {
	v, stated := f.m[key]
	if !stated || v == nil {
		return 0
	}
	n, ok := number(v)
	if !ok || n <= 0 || n*unit > most {
		f.fail(key, "an amount of memory")
		return 0
	}
	return n * unit
}

// truth returns the first of the keys that is stated as a truth value.
func (f facts) truth(keys ...string) (value, stated bool) {
	for _, key := range keys {
		v, stated := f.m[key]
		if !stated || v == nil {
			continue
		}
		b, ok := truth(v)
		if !ok {
			f.fail(key, "true or false")
		}
		return b, true
	}
	return false, false
}

// words returns the text at key, or nothing when something else stands there.
func (f facts) words(key string) string {
	s, _ := f.m[key].(string)
	return s
}

// numberForm is what is plainly a number, also in quotes.
var numberForm = regexp.MustCompile(`^[+-]?\d{1,18}(\.\d{1,18})?$`)

// number returns the number that v plainly is: 12, "12" or "99 %".
func number(v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case string:
		s := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(x), "%"))
		if numberForm.MatchString(s) {
			n, err := strconv.ParseFloat(s, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// numbers returns the numbers of a list, of "6, 6", or of one number.
func numbers(v any) ([]float64, bool) {
	items, isList := v.([]any)
	if s, ok := v.(string); ok {
		for _, part := range strings.FieldsFunc(strings.Trim(s, "[] "), func(r rune) bool { return r == ',' || r == ' ' || r == '+' }) {
			items = append(items, part)
		}
	} else if !isList {
		items = []any{v}
	}
	var out []float64
	for _, item := range items {
		n, ok := number(item)
		if !ok {
			return nil, false
		}
		out = append(out, n)
	}
	return out, len(out) > 0
}

func truth(v any) (value, ok bool) {
	switch x := v.(type) {
	case bool:
		return x, true
	case float64:
		return x == 1, x == 0 || x == 1
	case string:
		switch strings.ToLower(strings.TrimSpace(x)) {
		case "true", "yes", "on", "enabled", "1":
			return true, true
		case "false", "no", "off", "disabled", "0":
			return false, true
		}
	}
	return false, false
}

// show prints a value of a case or of a prediction; equal values print equally,
// however they are spelled.
func show(v any) string {
	switch x := v.(type) {
	case []int:
		parts := make([]string, len(x))
		for i, n := range x {
			parts[i] = strconv.Itoa(n)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case []float64:
		parts := make([]string, len(x))
		for i, n := range x {
			parts[i] = show(n)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case []any:
		parts := make([]string, len(x))
		for i, item := range x {
			parts[i] = show(item)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}
