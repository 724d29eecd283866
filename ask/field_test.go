package ask

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// everything has a field of every kind.
type everything struct {
	Asked
	Subject string        `ask:"subject,arg,need"`
	Rest    []string      `ask:"rest,arg"`
	Word    string        `ask:"word" default:"usual" group:"Words"`
	Way     string        `ask:"way" choices:"here,there" default:"here"`
	Likely  string        `ask:"likely" likely:"red,green"`
	Names   []string      `ask:"name" default:"all"`
	List    []string      `ask:"list,list" default:"a,b"`
	Some    []string      `ask:"some,list" choices:"better,host"`
	On      bool          `ask:"on"`
	Off     bool          `ask:"off" default:"true"`
	Count   int           `ask:"count" default:"3" min:"0" max:"10" group:"Numbers"`
	Many    int           `ask:"many" min:"1"`
	Share   float64       `ask:"share" default:"0.5" max:"1" want:"a share up to 1"`
	Any     float64       `ask:"any"`
	Wait    time.Duration `ask:"wait" default:"15m" min:"1m" max:"24h"`
	Part    `only:"left in" group:"Parts"`
	Whole   `group:"More"`
}

// Part brings two fields of four.
type Part struct {
	Left  string `ask:"left"`
	Right string `ask:"right"`
	Inner
}

// Inner brings one field of two.
type Inner struct {
	In  string `ask:"in"`
	Out string `ask:"out"`
}

// Whole brings all it has.
type Whole struct {
	Up   string `ask:"up"`
	Down string `ask:"down" group:"Last"`
}

func (*everything) Answer(context.Context, *Env) (*Reply, error) { return &Reply{}, nil }

var entry = &Entry{Name: "every thing", New: func() Question { return &everything{} }}

// fields returns a question with its defaults, and its fields by name.
func fields() (*everything, map[string]*Field) {
	q := entry.Ask().(*everything)
	by := map[string]*Field{}
	for _, f := range Fields(q) {
		by[f.Name] = f
	}
	return q, by
}

// TestDeclared compares the fields with their declaration: an embedded struct brings those that its tag picks.
func TestDeclared(t *testing.T) {
	q, by := fields()
	var names, groups []string
	for _, f := range Fields(q) {
		names, groups = append(names, f.Name), append(groups, f.Group)
	}
	if got := strings.Join(names, " "); got != "subject rest word way likely name list some on off count many share any wait left in up down" {
		t.Errorf("fields: %s", got)
	}
	if got := strings.Join(slices.Compact(groups), ","); got != ",Words,Numbers,Parts,More,Last" {
		t.Errorf("groups: %s", got)
	}
	if by["subject"].Needed != true || !by["rest"].Argument || by["rest"].Needed || by["word"].Argument {
		t.Error("arguments")
	}
	want := &everything{Word: "usual", Way: "here", Names: []string{"all"}, List: []string{"a", "b"}, Off: true, Count: 3, Share: 0.5, Wait: 15 * time.Minute}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("defaults: %+v", q)
	}
}

// Wrong declarations.
type (
	noField struct {
		Asked
		Part `only:"left middle"`
	}
	noLimit struct {
		Asked
		Count int `ask:"count" min:"few"`
	}
	noKind struct {
		Asked
		Any any `ask:"any"`
	}
	noLabel struct {
		Asked
		Some []string `ask:"some" choices:"a,b" labels:"one"`
	}
	noPreset struct {
		Asked
		Count int `ask:"count" default:"0" min:"1"`
	}
)

func (*noField) Answer(context.Context, *Env) (*Reply, error)  { return nil, nil }
func (*noLimit) Answer(context.Context, *Env) (*Reply, error)  { return nil, nil }
func (*noKind) Answer(context.Context, *Env) (*Reply, error)   { return nil, nil }
func (*noLabel) Answer(context.Context, *Env) (*Reply, error)  { return nil, nil }
func (*noPreset) Answer(context.Context, *Env) (*Reply, error) { return nil, nil }

// TestDeclaredWrong panics where a declaration is wrong.
func TestDeclaredWrong(t *testing.T) {
	for want, q := range map[string]Question{"ask: Part has no field middle": &noField{}, `ask: a limit of count: strconv.ParseFloat: parsing "few": invalid syntax`: &noLimit{}, "ask: Any has a type that no field has": &noKind{},
		"ask: Some has a label too many or too few": &noLabel{}, `ask: the default of count: found "0", want a whole number, 1 or more`: &noPreset{}} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("%T: %s, want %s", q, got, want)
				}
			}()
			(&Entry{New: func() Question { return q }}).Ask()
		}()
	}
}

// TestGiven tells not given from zero and from the default, for every kind of field.
func TestGiven(t *testing.T) {
	for name, texts := range map[string][]string{"subject": {"", "x"}, "rest": {"", "x"}, "word": {"", "usual", "x"}, "way": {"here", "there"}, "likely": {"", "blue"}, "name": {"", "all"}, "list": {"", "a,b", "c"},
		"some": {"", "host"}, "on": {"false", "true", ""}, "off": {"true", "false"}, "count": {"0", "3", "7"}, "share": {"0", "0.5"}, "any": {"0", "-1e300"}, "wait": {"15m", "1m"}, "left": {""}} {
		for _, text := range texts {
			q, by := fields()
			f := by[name]
			if f.Given() || q.Given(name) {
				t.Errorf("%s is given before it is set", name)
			}
			if err := f.Set(text); err != nil {
				t.Errorf("%s=%q: %v", name, text, err)
			}
			if !f.Given() || !q.Given(name) || len(q.given) != 1 || !q.GivenOf(name, "many")[name] || q.GivenOf(name, "many")["many"] {
				t.Errorf("%s=%q is not given", name, text)
			}
			if err := q.Refuse("not now", "many", name); err == nil || err.Error() != "--"+name+": not now" {
				t.Errorf("%s refused: %v", name, err)
			}
		}
	}
}

// TestWrong sets what a field does not take: the error says what it takes, and nothing is set or given.
func TestWrong(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"way", "nowhere", `found "nowhere", want one of here, there`},
		{"way", "", `found "", want one of here, there`},
		{"some", "host,worse", `found "worse", want some of better, host`},
		{"on", "maybe", `found "maybe", want true or false`},
		{"count", "-1", `found "-1", want a whole number from 0 to 10`},
		{"count", "11", `found "11", want a whole number from 0 to 10`},
		{"count", "1.5", `found "1.5", want a whole number from 0 to 10`},
		{"count", "", `found "", want a whole number from 0 to 10`},
		{"many", "0", `found "0", want a whole number, 1 or more`},
		{"many", "9223372036854775808", `found "9223372036854775808", want a whole number, 1 or more`},
		{"share", "2", `found "2", want a share up to 1`},
		{"share", "NaN", `found "NaN", want a share up to 1`},
		{"any", "x", `found "x", want a number`},
		{"any", "Inf", `found "Inf", want a number`},
		{"any", "NaN", `found "NaN", want a number`},
		{"wait", "soon", `found "soon", want a time such as 90s, 15m or 24h, from 1m to 24h`},
		{"wait", "5", `found "5", want a time such as 90s, 15m or 24h, from 1m to 24h`},
		{"wait", "25h", `found "25h", want a time such as 90s, 15m or 24h, from 1m to 24h`},
	} {
		q, by := fields()
		err := by[tt.name].Set(tt.text)
		if err == nil || err.Error() != "--"+tt.name+": "+tt.want {
			t.Errorf("%s=%q: %v, want %s", tt.name, tt.text, err, tt.want)
		}
		if fresh, _ := fields(); !reflect.DeepEqual(q, fresh) {
			t.Errorf("%s=%q: it is set: %+v", tt.name, tt.text, q)
		}
	}
}

// TestLimits takes the limits themselves.
func TestLimits(t *testing.T) {
	for name, texts := range map[string][]string{"count": {"0", "10", " 4 "}, "many": {"1", "9007199254740993"}, "share": {"1", "-1"}, "wait": {"1m", "24h"}} {
		for _, text := range texts {
			if _, by := fields(); by[name].Set(text) != nil {
				t.Errorf("%s=%q is refused", name, text)
			}
		}
	}
}

// TestLists divides what commas divide, and adds what is given again. The first value replaces the default.
func TestLists(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil}, {"a", []string{"a"}}, {"a,b", []string{"a", "b"}}, {`"a,b",c`, []string{"a,b", "c"}}, {`"a""b"`, []string{`a"b`}}, {",", []string{"", ""}}, {`""`, []string{""}},
		{`a"b`, []string{`a"b`}}, {"a,", []string{"a", ""}}, {"a\nb", []string{"a\nb"}},
	} {
		if got := Divided(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	q, by := fields()
	for _, set := range [][2]string{{"list", "c"}, {"list", `"d,e"`}, {"name", "x,y"}, {"name", "z"}} {
		if err := by[set[0]].Set(set[1]); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(q.List, []string{"c", "d,e"}) || !slices.Equal(q.Names, []string{"x,y", "z"}) {
		t.Errorf("%q, %q", q.List, q.Names)
	}
	if got := q.Words([]string{"SOURCE"}, "list", "name", "count"); !slices.Equal(got, []string{"SOURCE", "--list", "c", "--list", `"d,e"`, "--name", "x,y", "--name", "z"}) {
		t.Errorf("words: %q", got)
	}
}

// parse gives a question what a command line says, as a front end does.
func parse(t *testing.T, words []string) *everything {
	t.Helper()
	q, by := fields()
	var arguments []string
	for i := 0; i < len(words); i++ {
		name, flag := strings.CutPrefix(words[i], "--")
		switch {
		case words[i] == "--":
			arguments, i = append(arguments, words[i+1:]...), len(words)
			continue
		case !flag:
			arguments = append(arguments, words[i])
			continue
		}
		name, value, _ := strings.Cut(name, "=")
		if err := by[name].Set(value); err != nil {
			t.Fatalf("%q: %v", words, err)
		}
	}
	for i, text := range arguments {
		name := "rest"
		if i == 0 {
			name = "subject"
		}
		if err := by[name].Set(text); err != nil {
			t.Fatal(err)
		}
	}
	return q
}

// TestLine sets random values, writes the line, and reads it: it is the same question, whatever the values are.
func TestLine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "-x", "--", "--on", "a,b", `"`, `a"b`, `"a"`, "=", "x=y", " ", "a b", "ü", "\n", ","}
	text := func(f *Field) string {
		switch {
		case f.Kind == Texts && f.Name == "some", f.Name == "way":
			return f.Choices[r.IntN(len(f.Choices))]
		case f.Kind == Texts && f.List && r.IntN(2) == 0:
			return One(texts[r.IntN(len(texts))])
		case f.Kind == Truth:
			return strconv.FormatBool(r.IntN(2) == 0)
		case f.Name == "count":
			return strconv.Itoa(r.IntN(11))
		case f.Kind == Count:
			return strconv.Itoa(1 + r.IntN(math.MaxInt-1))
		case f.Kind == Number:
			return fmt.Sprint(1 - r.Float64()*math.Pow(10, float64(r.IntN(300))))
		case f.Kind == Span:
			return (time.Minute + time.Duration(r.Int64N(int64(23*time.Hour)))).String()
		}
		return texts[r.IntN(len(texts))]
	}
	for range 2_000 {
		q := entry.Ask().(*everything)
		for _, f := range Fields(q) {
			n := r.IntN(3)
			if f.Needed {
				n = 1
			}
			for range n {
				if err := f.Set(text(f)); err != nil {
					t.Fatal(err)
				}
			}
		}
		line := Line(entry.Name, q)
		if !slices.Equal(line[:2], []string{"every", "thing"}) {
			t.Fatalf("%q", line)
		}
		again := parse(t, line[2:])
		read := Fields(again)
		for i, f := range Fields(q) {
			if g := read[i]; f.Given() != g.Given() || !slices.Equal(f.Values(), g.Values()) {
				t.Fatalf("%q: %s was %q (given: %v), is %q (given: %v)", line, f.Name, f.Values(), f.Given(), g.Values(), g.Given())
			}
		}
	}
}
