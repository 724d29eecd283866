package ask

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Field is a parameter of a question. It is declared by a field of the question's struct:
//
//	Spare int `ask:"spare" default:"1" min:"0" max:"1000" label:"Hosts that may fail" help:"hosts that may fail at once"`
//
// The tag ask has the name, then words: arg for an argument, need for a required field, list for comma-separated values, local for a field that is not
// available in a shared process, because it reads files or takes long. The tags min and max are limits; limits of a duration are in Go syntax: 90s. The tag
// choices lists the only values, the tag likely lists values that a form suggests; the tag labels has their names in a form. An embedded struct adds its
// fields; its tag only selects some of them, its tag group is the heading above them.
type Field struct {
	Name     string
	Help     string
	Default  string
	Group    string   // heading of this field and of the fields after it
	Label    string   // in forms; fields without a label are not in forms
	Example  string   // sample value, used as placeholder only
	Choices  []string // values that forms offer; nil for any
	Labels   []string // of the choices, in forms; nil if the values are self-explanatory
	Argument bool     // positional on a command line
	Needed   bool     // required
	List     bool     // comma-separated values
	Kind     Kind

	only        bool // only the choices are valid
	local       bool // not available in a shared process
	least, most string
	low, high   float64 // parsed least and most; durations in seconds
	want        string  // description of valid values, for errors
	value       reflect.Value
	of          *Asked
}

// A Kind is the type of the values of a field.
type Kind int

// Kinds of values.
const (
	Text Kind = iota
	Texts
	Truth
	Count
	Number
	Span // duration: 90s, 24h
)

// Fields returns the fields of a question in the order of their declaration. It panics on an invalid declaration, which every test would show.
func Fields(q Fielded) []*Field {
	return fieldsOf(reflect.ValueOf(q).Elem(), q.state(), "")
}

func fieldsOf(v reflect.Value, of *Asked, group string) (out []*Field) {
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		group = cmp.Or(sf.Tag.Get("group"), group)
		tag, declared := sf.Tag.Lookup("ask")
		switch {
		case declared:
			out = append(out, fieldOf(sf, tag, v.Field(i), of, group))
		case sf.Anonymous && sf.Type.Kind() == reflect.Struct && sf.Type != reflect.TypeFor[Asked]():
			out = append(out, picked(fieldsOf(v.Field(i), of, group), sf)...)
		}
	}
	return out
}

// picked returns the fields of an embedded struct that its tag selects.
func picked(all []*Field, sf reflect.StructField) []*Field {
	names := strings.Fields(sf.Tag.Get("only"))
	for _, name := range names {
		if !slices.ContainsFunc(all, func(f *Field) bool { return f.Name == name }) {
			panic("ask: " + sf.Name + " has no field " + name)
		}
	}
	return slices.DeleteFunc(all, func(f *Field) bool { return len(names) > 0 && !slices.Contains(names, f.Name) })
}

func fieldOf(sf reflect.StructField, tag string, value reflect.Value, of *Asked, group string) *Field {
	words := strings.Split(tag, ",")
	f := &Field{Name: words[0], Help: sf.Tag.Get("help"), Default: sf.Tag.Get("default"), Group: group, Label: sf.Tag.Get("label"), Example: sf.Tag.Get("example"), Kind: kindOf(sf),
		Argument: slices.Contains(words, "arg"), Needed: slices.Contains(words, "need"), List: slices.Contains(words, "list"), local: slices.Contains(words, "local"),
		least: sf.Tag.Get("min"), most: sf.Tag.Get("max"), want: sf.Tag.Get("want"), value: value, of: of}
	if c := cmp.Or(sf.Tag.Get("choices"), sf.Tag.Get("likely")); c != "" {
		f.Choices, f.only = strings.Split(c, ","), sf.Tag.Get("choices") != ""
	}
	if labels := sf.Tag.Get("labels"); labels != "" {
		if f.Labels = strings.Split(labels, ","); len(f.Labels) != len(f.Choices) {
			panic("ask: " + sf.Name + " has a label too many or too few")
		}
	}
	f.low, f.high = f.bound(f.least, -math.MaxFloat64), f.bound(f.most, math.MaxFloat64)
	return f
}

func kindOf(sf reflect.StructField) Kind {
	switch {
	case sf.Type == reflect.TypeFor[time.Duration]():
		return Span
	case sf.Type.Kind() == reflect.String:
		return Text
	case sf.Type.Kind() == reflect.Bool:
		return Truth
	case sf.Type.Kind() == reflect.Int:
		return Count
	case sf.Type.Kind() == reflect.Float64:
		return Number
	case sf.Type == reflect.TypeFor[[]string]():
		return Texts
	}
	panic("ask: " + sf.Name + " has a type that no field has")
}

// A FieldError is the error of one field.
type FieldError struct {
	Field string
	Err   error
}

// Error names the field as a command-line flag. A page shows its label instead.
func (e *FieldError) Error() string { return "--" + e.Field + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// Undashed returns a FieldError with the name of the field without dashes, for pages and the API. It returns other errors unchanged.
func Undashed(err error) error {
	if wrong, ok := errors.AsType[*FieldError](err); ok {
		return fmt.Errorf("%s: %w", wrong.Field, wrong.Err)
	}
	return err
}

// Wrong returns the error of a field; nil for none.
func Wrong(field string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{field, err}
}

// Set sets the field. For a field with several values it adds one. The error is a *FieldError.
func (f *Field) Set(text string) error {
	if err := f.set(text); err != nil {
		return Wrong(f.Name, err)
	}
	if !f.Given() {
		f.of.given = append(f.of.given, f)
	}
	return nil
}

// preset sets the default without marking the field as given.
func (f *Field) preset() {
	if f.Default == "" {
		return
	}
	if err := f.set(f.Default); err != nil {
		panic(fmt.Sprintf("ask: the default of %s: %v", f.Name, err))
	}
}

func (f *Field) set(text string) error {
	switch f.Kind {
	case Text:
		if f.only && !slices.Contains(f.Choices, text) {
			return fmt.Errorf("found %q, want one of %s", text, strings.Join(f.Choices, ", "))
		}
		f.value.SetString(text)
	case Texts:
		return f.setTexts(text)
	case Truth:
		on, err := strconv.ParseBool(cmp.Or(text, "true"))
		if err != nil {
			return fmt.Errorf("found %q, want true or false", text)
		}
		f.value.SetBool(on)
	case Count:
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || !f.within(float64(n)) {
			return fmt.Errorf("found %q, want %s", text, f.limits("a whole number", ""))
		}
		f.value.SetInt(int64(n))
	case Number:
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !f.within(x) {
			return fmt.Errorf("found %q, want %s", text, f.limits("a number", ""))
		}
		f.value.SetFloat(x)
	case Span:
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || !f.within(d.Seconds()) {
			return fmt.Errorf("found %q, want %s", text, f.limits("a time such as 90s, 15m or 24h", ","))
		}
		f.value.SetInt(int64(d))
	}
	return nil
}

// setTexts adds a value, or comma-separated values. The first call replaces the default.
func (f *Field) setTexts(text string) error {
	all, more := f.value.Interface().([]string), []string{text}
	if !f.Given() {
		all = nil
	}
	if f.List {
		more = Divided(text)
	}
	for _, one := range more {
		if f.only && !slices.Contains(f.Choices, one) {
			return fmt.Errorf("found %q, want some of %s", one, strings.Join(f.Choices, ", "))
		}
	}
	f.value.Set(reflect.ValueOf(slices.Concat(all, more)))
	return nil
}

// Divided splits comma-separated values; it returns nil for "". Values with a comma are quoted, and quotes in them are doubled.
func Divided(text string) []string {
	if text == "" {
		return nil
	}
	var out []string
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && quoted && i+1 < len(text) && text[i+1] == '"':
			b.WriteByte('"')
			i++
		case c == '"' && (quoted || b.Len() == 0):
			quoted = !quoted
		case c == ',' && !quoted:
			out = append(out, b.String())
			b.Reset()
		default:
			b.WriteByte(c)
		}
	}
	return append(out, b.String())
}

// One quotes a value so that Divided returns it as the only value.
func One(value string) string { return `"` + strings.ReplaceAll(value, `"`, `""`) + `"` }

// bound parses a limit; it returns none for "".
func (f *Field) bound(text string, none float64) float64 {
	if text == "" {
		return none
	}
	x, err := strconv.ParseFloat(text, 64)
	if f.Kind == Span {
		var d time.Duration
		d, err = time.ParseDuration(text)
		x = d.Seconds()
	}
	if err != nil {
		panic(fmt.Sprintf("ask: a limit of %s: %v", f.Name, err))
	}
	return x
}

// within reports whether x is a number within the limits.
func (f *Field) within(x float64) bool { return x >= f.low && x <= f.high }

// limits describes the values that the field accepts.
func (f *Field) limits(what, between string) string {
	switch {
	case f.want != "":
		return f.want
	case f.least != "" && f.most != "":
		return what + between + " from " + f.least + " to " + f.most
	case f.least != "":
		return what + ", " + f.least + " or more"
	case f.most != "":
		return what + ", " + f.most + " or less"
	}
	return what
}

// Given reports whether the user gave the field, even with its default value.
func (f *Field) Given() bool { return f.of.Given(f.Name) }

// Values returns the values of the field as texts: nil if it has none.
func (f *Field) Values() []string {
	switch f.Kind {
	case Texts:
		return slices.Clone(f.value.Interface().([]string))
	case Truth:
		return []string{strconv.FormatBool(f.value.Bool())}
	case Count:
		return []string{strconv.FormatInt(f.value.Int(), 10)}
	case Number:
		return []string{strconv.FormatFloat(f.value.Float(), 'g', -1, 64)}
	case Span:
		return []string{time.Duration(f.value.Int()).String()}
	}
	if s := f.value.String(); s != "" {
		return []string{s}
	}
	return nil
}

// Given reports whether the user gave the named field, even with its default value.
func (a *Asked) Given(name string) bool {
	return slices.ContainsFunc(a.given, func(f *Field) bool { return f.Name == name })
}

// GivenOf returns the set of the named fields that were given.
func (a *Asked) GivenOf(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out[name] = a.Given(name)
	}
	return out
}

// Refuse returns an error if one of these fields or front-end flags was given.
func (a *Asked) Refuse(why string, names ...string) error {
	for _, name := range names {
		if _, said := a.flags[name]; said || a.Given(name) {
			return Wrong(name, errors.New(why))
		}
	}
	return nil
}

// Set parses the text of a field into to. An empty text leaves to unchanged.
func Set[T any](field, text string, to *T, parse func(string) (T, error)) error {
	if text == "" {
		return nil
	}
	v, err := parse(text)
	if err != nil {
		return Wrong(field, err)
	}
	*to = v
	return nil
}
