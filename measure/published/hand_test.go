package published_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/golden"
	"example.org/homenode/source/scenario"
)

// A handCase is a configuration whose topology was predicted by hand from the sources.
type handCase struct {
	name       string
	fleet      []string // lines of a scenario
	from       string   // host of the last power-on
	event      string
	want       []string // what the sources say; of contested cases each of them
	confidence string
	first      string // how the first answer of the program differed; empty when it did not
	stays      string // why the answer differs today; empty when it does not
}

func handCases(t *testing.T, file string) (cases []handCase) {
	t.Helper()
	b := golden.Read(t, "testdata/hand/"+file)
	for i, line := range strings.Split(string(b), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if word == "case" {
			cases = append(cases, handCase{name: rest})
			continue
		}
		if len(cases) == 0 {
			continue // what stands before the first case is for its readers
		}
		c := &cases[len(cases)-1]
		switch word {
		case "release", "host", "vm":
			c.fleet = append(c.fleet, line)
		case "from":
			c.from = rest
		case "event":
			c.event = rest
		case "want", "or":
			c.want = append(c.want, rest)
		case "confidence":
			c.confidence = rest
		case "first":
			c.first = rest
		case "stays":
			c.stays = rest
		case "or-source", "note", "because", "source", "":
		default:
			t.Fatalf("testdata/hand/%s:%d: found %q", file, i+1, word)
		}
	}
	return cases
}

// TestHand asks for each case that was predicted by hand. An answer that is not among
// those that the sources give must be listed with its reason.
func TestHand(t *testing.T) {
	for _, tt := range []struct{ file, sentence string }{{"cases.txt", "%d predicted by hand before the program was asked"}, {"second.txt", "%d more"}, {"third.txt", "%d against it"}} {
		asked(t, handCases(t, tt.file), tt.sentence)
	}
}

// asked compares the program with the cases, and the page with the counts.
func asked(t *testing.T, cases []handCase, of string) {
	t.Helper()
	first := map[string]int{}
	alternatives := 0 // answers that are the other side of contradicting sources
	for _, c := range cases {
		got := c.predict(t)
		ok := slices.ContainsFunc(c.want, func(want string) bool { return handAgrees(got, want) })
		if ok && !handAgrees(got, c.want[0]) {
			alternatives++
			t.Logf("%s: %s", c.name, got)
		}
		if c.first == "" {
			first[c.confidence]++
		}
		first["of "+c.confidence]++
		if ok != (c.stays == "") {
			t.Errorf("%s (%s):\ngot  %s\nwant %s\nlisted as a difference: %q", c.name, c.confidence, got, strings.Join(c.want, "\nor   "), c.stays)
		}
	}
	sentence := fmt.Sprintf(of+": %d agreed at first (certain %d of %d, derived %d of %d, contested %d of %d, %d of these with the other side of the sources)",
		len(cases), first["certain"]+first["derived"]+first["contested"], first["certain"], first["of certain"],
		first["derived"], first["of derived"], first["contested"], first["of contested"], alternatives)
	page := golden.Read(t, "../../docs/evidence/model.md")
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), sentence) {
		t.Errorf("docs/evidence/model.md lacks: %s", sentence)
	}
}

// handAgrees reports whether got has every field of want.
func handAgrees(got, want string) bool {
	if reason, refused := strings.CutPrefix(want, "refused "); refused {
		return strings.HasPrefix(got, "refused") && strings.Contains(got, reason)
	}
	for field := range strings.FieldsSeq(want) {
		if !strings.Contains(" "+got+" ", " "+field+" ") && !strings.HasSuffix(field, "=unknown") {
			return false
		}
	}
	return true
}

// predict returns the answer of the program in the words of the file.
func (c *handCase) predict(t *testing.T) string {
	t.Helper()
	lines := c.fleet
	if c.from != "" {
		lines = append(lines[:2:2], append([]string{"host from " + c.from}, lines[2:]...)...)
	}
	fleet, err := scenario.Read(c.name, []byte(strings.Replace(strings.Join(lines, "\n"), "vm vm ", "vm vm host=esx ", 1)))
	if err != nil {
		t.Fatal(err)
	}
	event, ok := vnuma.ParseEvent(c.event)
	if !ok {
		t.Fatalf("%s: found event %q", c.name, c.event)
	}
	at := vnuma.Case{Event: event}
	if c.from != "" {
		from, err := vnuma.NewMachine(fleet.FindHosts("from")[0])
		if err != nil {
			t.Fatal(err)
		}
		at.From = &from
	}
	vm := fleet.FindVMs("vm")[0]
	l, _, problems, err := vnuma.Explain(vm, fleet.FindHosts("esx")[0], &at)
	if err != nil || len(problems) > 0 {
		t.Fatal(c.name, err, problems)
	}
	if l.Refused.Any() {
		return "refused: " + l.Refused.String()
	}
	clients, memory := plus(l.PPDs), strings.ReplaceAll(l.Memory.Placement.String(), "partly remote", "remote")
	if !l.Managed {
		clients = "unmanaged"
	}
	return fmt.Sprintf("nodes=%s sockets=%dx%d clients=%s memory=%s", plus(l.VPDs), l.VSockets.Len(), l.CoresPerSocket, clients, memory)
}

// plus writes the sizes of a split: 8+8+4.
func plus(s vnuma.Split) string {
	var sizes []string
	for i := range s.Len() {
		_, n := s.Group(i)
		sizes = append(sizes, strconv.Itoa(n))
	}
	return strings.Join(sizes, "+")
}
