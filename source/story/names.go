package story

import (
	"path"
	"strings"

	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// names finds hosts or VMs by their names in texts.
type names struct {
	noun   string // host or VM
	all    []named
	byName map[string][]int // by ID, name, and name after its host or cluster
}

// A named is one host or VM.
type named struct {
	id    string
	names []string // the name first; then alternative names
}

func hostNames(f *numa.Fleet) *names {
	n := &names{noun: "host", byName: map[string][]int{}}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		called := []string{h.Name}
		if short, _, ok := strings.Cut(h.Name, "."); ok && numa.SameHost(short, h.Name) {
			called = append(called, short)
		}
		n.add(h.ID, called)
	}
	return n
}

func vmNames(f *numa.Fleet, hosts *names) *names {
	n := &names{noun: "VM", byName: map[string][]int{}}
	clusters := map[string]string{}
	for _, c := range f.Clusters {
		clusters[c.ID] = c.Name
	}
	byID := numa.ByKey(hosts.all, func(h *named) string { return h.id })
	for i := range f.VMs {
		v := &f.VMs[i]
		called := []string{v.Name}
		if h := byID[v.Host]; h != nil {
			for _, host := range h.names {
				called = append(called, host+"/"+v.Name)
			}
		}
		if c := clusters[v.Cluster]; c != "" {
			called = append(called, c+"/"+v.Name)
		}
		n.add(v.ID, called)
	}
	return n
}

func (n *names) add(id string, called []string) {
	i := len(n.all)
	n.all = append(n.all, named{id, called})
	n.note(id, i)
	for _, name := range called {
		n.note(name, i)
	}
}

func (n *names) note(name string, i int) {
	if list := n.byName[name]; len(list) == 0 || list[len(list)-1] != i {
		n.byName[name] = append(list, i)
	}
}

// A choice is the objects named by a word.
type choice struct {
	text  string
	col   int
	found []int // indexes, in the order of the fleet
	width width // of the match, by place in found
}

// A width is the specificity of a name: a line about all is overridden by one about some, and that
// by one about a single object.
type width uint8

const (
	byAll width = iota
	byPattern
	byItsName
)

// choose returns the choices of a word, one for each part between commas.
func (n *names) choose(w word.Word) ([]choice, error) {
	if w.HasValue {
		return nil, word.Errorf(w.Col, "found %s=, want the name of a %s first", word.Short(w.Key), n.noun)
	}
	var out []choice
	col := w.Col
	for item := range strings.SplitSeq(w.Key, ",") {
		c, err := n.item(item, col)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
		col += len(item) + 1
	}
	return out, nil
}

func (n *names) item(item string, col int) (choice, error) {
	c := choice{text: item, col: col, width: byItsName}
	if i, err := n.exact(item, col); err != nil || i >= 0 {
		c.found = []int{i}
		return c, err
	}
	if word.Range.MatchString(item) {
		return n.within(c)
	}
	if !strings.ContainsAny(item, "*?[") {
		return c, n.none(item, col)
	}
	if _, err := path.Match(item, ""); err != nil {
		return c, word.Errorf(col, "found pattern %q: %v", word.Short(item), err)
	}
	if c.width = byPattern; item == "*" {
		c.width = byAll
	}
	for _, fold := range []bool{false, true} {
		for i := range n.all {
			if item == "*" || n.all[i].matches(item, fold) {
				c.found = append(c.found, i)
			}
		}
		if c.found != nil {
			return c, nil
		}
	}
	return c, n.none(item, col)
}

// within returns the choice of a range.
func (n *names) within(c choice) (choice, error) {
	list, err := word.Expand(c.text, c.col)
	if err != nil {
		return c, err
	}
	chosen := make(map[int]bool, len(list))
	for _, name := range list {
		i, err := n.exact(name, c.col)
		if err != nil {
			return c, err
		}
		if i < 0 {
			return c, n.none(name, c.col)
		}
		chosen[i] = true
	}
	for i := range n.all {
		if chosen[i] {
			c.found = append(c.found, i)
		}
	}
	return c, nil
}

// exact returns the index of the object with the name, ignoring case when there is no exact match;
// -1 for none. An ambiguous name is an error.
func (n *names) exact(name string, col int) (int, error) {
	found := n.byName[name]
	if len(found) == 0 {
		for i := range n.all {
			for _, other := range n.all[i].names {
				if strings.EqualFold(other, name) {
					found = append(found, i)
					break
				}
			}
		}
	}
	switch len(found) {
	case 0:
		return -1, nil
	case 1:
		return found[0], nil
	}
	ways := words.Texts(found[:min(len(found), 3)], n.only)
	return -1, word.Errorf(col, "found %s, which %d %ss are called; say which: %s", word.Short(name), len(found), n.noun, strings.Join(ways, ", "))
}

// only returns a name that no other object has.
func (n *names) only(i int) string {
	for _, name := range n.all[i].names {
		if len(n.byName[name]) == 1 {
			return name
		}
	}
	return n.all[i].id
}

func (o *named) matches(pattern string, fold bool) bool {
	if fold {
		pattern = strings.ToLower(pattern)
	}
	for _, name := range o.names {
		if fold {
			name = strings.ToLower(name)
		}
		if ok, _ := path.Match(pattern, name); ok { // item validated the pattern
			return true
		}
	}
	return false
}

// none returns the error for a name without a match.
func (n *names) none(name string, col int) error {
	known := words.Texts(n.all, func(one named) string { return one.names[0] })
	return word.Errorf(col, "found no %s %q%s", n.noun, word.Short(name), alike.After(name, known))
}

// one returns the index of the only object named by the word.
func (n *names) one(w word.Word, text string, col int) (int, error) {
	if text == "" {
		return 0, word.Errorf(w.Col, "found no %s", n.noun)
	}
	c, err := n.item(text, col)
	if err != nil {
		return 0, err
	}
	if len(c.found) != 1 {
		return 0, word.Errorf(col, "found %s, which names %d %ss, want one", word.Short(text), len(c.found), n.noun)
	}
	return c.found[0], nil
}
