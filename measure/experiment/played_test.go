package experiment

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/golden"
)

const record = "../published/testdata/sim/worlds.txt"

// TestWorlds holds the record of worlds: each case is recorded in its present state, and some
// worlds of it are played again. -update (make prove) plays all of them.
func TestWorlds(t *testing.T) {
	data, err := os.ReadFile(record)
	if err != nil && !golden.Updating() {
		t.Fatal(err)
	}
	recorded, err := ReadPlayed(data)
	if err != nil {
		t.Fatal(err)
	}
	var all []*Played
	for file, b := range shippedInOrder(t) {
		c, err := Read(file, b)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Judge(t.Context(), c, vnuma.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		worlds, impossible := c.Worlds()
		if golden.Updating() {
			p, err := r.Play(t.Context(), vnuma.Choices{}, worlds, impossible)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
			continue
		}
		at := slices.IndexFunc(recorded, func(p *Played) bool { return r.Record(p) })
		if at < 0 {
			t.Errorf("%s: the record of its worlds is of another state: make prove", c.ID)
			continue
		}
		checkSome(t, r, recorded[at], worlds)
	}
	if golden.Updating() {
		golden.Equal(t, writePlayed(all), record)
	}
}

// checkSome plays every so many worlds again.
func checkSome(t *testing.T, r *Result, recorded *Played, worlds []World) {
	const every = 17
	for i := 0; i < len(worlds); i += every {
		p, err := r.Play(t.Context(), vnuma.Choices{}, worlds[i:i+1], 0)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(recorded.Worlds, func(w PlayedWorld) bool { return w.Name == worlds[i].Name })
		if (at < 0) != (len(p.Worlds) == 0) || at >= 0 && p.Worlds[0] != recorded.Worlds[at] {
			t.Errorf("%s, %s: %v is not what is recorded: make prove", r.Case.ID, worlds[i].Name, p.Worlds)
		}
	}
}

// addresses are what the rule book names a source by: an article of the knowledge base, a post
// or an address.
var addresses = regexp.MustCompile(`(KB [0-9]+|hypervisor\.fr post [0-9]+|[a-z.]+\.[a-z]+/[^ ,]+)`)

// TestSources checks that a case of which a figure went into the model says what its source
// gave, that all cases of one article agree, and that one whose source the rule book
// cites does too.
func TestSources(t *testing.T) {
	gave := map[byte]string{}
	for file, b := range shippedInOrder(t) {
		c, err := Read(file, b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Figures {
			if c.Figures[i].Fitted != "" && c.Gave == "" {
				t.Errorf("%s: a figure is fitted, and the case does not say what its source gave", file)
			}
		}
		for _, m := range addresses.FindAllStringSubmatch(c.Source, -1) {
			for _, st := range rulebook.Statements {
				if address := strings.Replace(m[1], "hypervisor.fr post ", "hypervisor.fr/?p=", 1); c.Gave == "" && strings.Contains(st.Source, address) {
					t.Errorf("%s: %s rests on %s, and the case does not say so", file, st.ID, address)
				}
			}
		}
		letter := c.ID[0]
		if letter != 'a' && letter != 'd' && letter != 'e' { // the articles of c and kb are several
			continue
		}
		if first, ok := gave[letter]; ok && first != c.Gave {
			t.Errorf("%s: gave %q, another case of the article %q", file, c.Gave, first)
		}
		gave[letter] = c.Gave
	}
}

// writePlayed writes the outcomes of worlds, a line for each.
func writePlayed(all []*Played) []byte {
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "case %s state %s impossible %d\n", p.Case, p.State, p.Impossible)
		for _, w := range p.Worlds {
			fmt.Fprintf(&b, "%s %s\n", w.Verdicts, w.Name)
		}
	}
	return []byte(b.String())
}
