package fix_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/random"
)

// allowed finds the flag that the reason of a finding that stays names.
var allowed = regexp.MustCompile(`--allow ([a-z]+(?:,[a-z]+)*)( takes| makes|$)?`)

// allow returns the options with what --allow names.
func allow(o fix.Options, words string) fix.Options {
	for word := range strings.SplitSeq(words, ",") {
		switch word {
		case "better":
			o.Better = true
		case "host":
			o.Host = true
		case "upgrade":
			o.Upgrade = true
		case "resize":
			o.Resize = true
		case "split":
			o.Split = true
		}
	}
	return o
}

// TestNamedFlag plans again with the flag that the reason of a finding names: the plan then changes what the finding is about, or another reason than the flag keeps it.
func TestNamedFlag(t *testing.T) {
	texts := scenarios(t)
	for seed := range uint64(40) {
		texts = append(texts, anyFleet(rand.New(rand.NewPCG(seed, 31))), random.Fleet(rand.New(rand.NewPCG(seed, 31))))
	}
	n := 0
	for _, text := range texts {
		f, err := scenario.Read("any", []byte(text))
		if err != nil || rules.Run(f, rules.Options{}).VMs == 0 {
			continue
		}
		p, err := fix.Make(t.Context(), f, fix.Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		plans := map[string]*fix.Plan{}
		for _, l := range p.Left {
			m := allowed.FindStringSubmatch(l.Why)
			if m == nil {
				continue
			}
			n++
			q := plans[m[1]]
			if q == nil {
				if q, err = fix.Make(t.Context(), f, allow(fix.Options{Now: now}, m[1])); err != nil {
					t.Fatal(err)
				}
				plans[m[1]] = q
			}
			changed := func(p *fix.Plan) int {
				return slices.IndexFunc(p.Changes, func(c fix.Change) bool { return c.Target().ID == l.ID })
			}
			i := slices.IndexFunc(q.Left, func(o fix.Left) bool { return o.ID == l.ID && o.Rule == l.Rule && o.Severity == l.Severity })
			was, is := changed(p), changed(q)
			same := was >= 0 && is >= 0 && slices.Equal(p.Changes[was].Edits, q.Changes[is].Edits)
			if is < 0 && i >= 0 || i >= 0 && same {
				t.Errorf("%s of %s%s (%s): %s\n   with the flag: %s", l.Rule, l.VM, l.Host, l.Severity, l.Why, q.Left[i].Why)
			}
		}
	}
	if n < 100 {
		t.Errorf("%d flags: the fleets are broken", n)
	}
}
