package symptom

import (
	"testing"

	"example.org/homenode/rules/finding"
)

// TestSymptoms: each symptom has at least three causes, each with the fact that tells it, what to do, and a source.
func TestSymptoms(t *testing.T) {
	for _, s := range All {
		if len(s.Causes) < 3 || len(s.Rules) == 0 || s.Title == "" {
			t.Errorf("%s: %d causes, rules %v, title %q", s.Name, len(s.Causes), s.Rules, s.Title)
		}
		keys := map[string]bool{}
		for _, c := range s.Causes {
			if c.Text == "" || c.Told == "" || c.Do == "" || len(c.Source) < 5 || keys[c.Key] {
				t.Errorf("%s: %+v is not whole, or twice there", s.Name, c)
			}
			keys[c.Key] = true
		}
	}
}

// TestJudge: a cause that a fact rules out goes, a proven one is named alone, and else the candidates are listed with what tells.
func TestJudge(t *testing.T) {
	told := map[string]Told{}
	s := Symptom{Name: "test", Anyway: "wait", Causes: []finding.Cause{{Key: "a", Text: "A", Told: "its sign", Do: "do a"}, {Key: "b", Text: "B", Told: "the log", Do: "do b"}, {Key: "c", Text: "C", Told: "the BIOS", Do: "do c"}}}
	c := Causes[int]{&s, map[string]func(int) Told{"a": func(int) Told { return told["a"] }, "b": func(int) Told { return told["b"] }, "c": nil}}
	for _, tt := range []struct{ a, b, message, advice string }{
		{"", "", "x; possible causes: A, B, or C", "Find out which it is. A: see its sign, then do a; B: see the log, then do b; C: see the BIOS, then do c. Whatever it is, wait"},
		{"out", "", "x; possible causes: B, or C", "Find out which it is. B: see the log, then do b; C: see the BIOS, then do c. Whatever it is, wait"},
		{"out", "out", "x; one known cause is left: C", "Make sure by the BIOS, then do c"},
		{"", "proven", "x: B", "Do b"},
		{"proven", "proven", "x: A, and B", "Do a. Do b"},
	} {
		told["a"], told["b"] = Told{Out: tt.a == "out", Proven: tt.a == "proven"}, Told{Out: tt.b == "out", Proven: tt.b == "proven"}
		v := c.Judge(0)
		f := finding.Finding{Message: "x"}
		v.Explain(&f)
		if f.Message != tt.message || f.Advice != tt.advice || len(f.Causes) != len(v.Left) {
			t.Errorf("a %q, b %q: %q, %q; want %q, %q", tt.a, tt.b, f.Message, f.Advice, tt.message, tt.advice)
		}
	}
}
