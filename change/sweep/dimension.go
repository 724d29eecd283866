package sweep

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/change/whatif"
	"example.org/homenode/source/word"
)

// seeds parses "seed=1..10".
func (s *sweeper) seeds() ([]uint64, error) {
	if err := s.only("seed"); err != nil {
		return nil, err
	}
	w := s.words[0]
	list, err := values(w)
	if err != nil {
		return nil, err
	}
	if len(list) > mostSeeds {
		return nil, tooMany(w, len(list), mostSeeds)
	}
	var out []uint64
	for _, one := range list {
		n, err := strconv.ParseUint(one, 10, 64)
		if err != nil {
			return nil, word.Errorf(w.Col, "found seed=%s, want whole numbers such as seed=1..10", word.Short(one))
		}
		if slices.Contains(out, n) {
			return nil, word.Errorf(w.Col, "found the value %d twice", n)
		}
		out = append(out, n)
	}
	return out, nil
}

// mostFactor limits the factor of loads: beyond it every vCPU is busy all day.
const mostFactor = 1000

// loadSteps returns the steps of a CPU load: "x0.5" multiplies it, any other value is a demand.
func loadSteps(w word.Word, vms, value string) ([]Step, error) {
	if value == today {
		return nil, nil
	}
	for _, times := range []string{"x", "X", "×", "*"} {
		number, ok := strings.CutPrefix(value, times)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(number, 64)
		if err != nil || !(f >= 0 && f <= mostFactor) || math.Signbit(f) {
			return nil, word.Errorf(w.Col, "found cpu=%s, want a factor such as x0.5 or x2", word.Short(value))
		}
		return []Step{{Do: ScaleLoad, Text: vms, Factor: f}}, nil
	}
	if !strings.HasSuffix(value, "%") {
		return nil, word.Errorf(w.Col, "found cpu=%s, want a factor such as x2, or a demand such as 20%% or 5..60%%", word.Short(value))
	}
	return []Step{{Do: StoryLine, Text: "load " + vms + " cpu=" + value}}, nil
}

// line parses a line of stories: "load sql* active=10%,50%".
func (s *sweeper) line(first word.Word) (*Dimension, error) {
	if !slices.Contains(ownLines, first.Key) {
		if near, ok := word.Meant(first.Key, ownLines); ok {
			return nil, word.Errorf(first.Col, "found %q, is %s meant?", word.Short(first.Key), near)
		}
		return nil, word.Errorf(first.Col, "found %q, want KEY=VALUE,VALUE,… or a line of a story that begins with %s", word.Short(first.Key), strings.Join(ownLines, ", "))
	}
	if err := s.vary(); err != nil {
		return nil, err
	}
	d := &Dimension{Text: s.text, Name: s.lineName()}
	for k := range s.n {
		v := Value{Label: s.label(k)}
		text, same := s.join(k, -1)
		if !same {
			v.Steps = []Step{{Do: StoryLine, Text: text}}
		}
		if number, ok := s.scaled(k); ok && !same {
			if first.Key != "load" || len(s.words) != 3 {
				return nil, word.Errorf(s.words[len(s.words)-1].Col, "found cpu=%s, want a demand such as 20%%: loads are multiplied by 'load VM cpu=%s' alone", number, number)
			}
			steps, err := loadSteps(s.words[2], s.words[1].Key, number)
			if err != nil {
				return nil, err
			}
			v.Steps = steps
		}
		d.Values = append(d.Values, v)
	}
	return d, nil
}

// scaled returns the k-th value of cpu= if it is a factor.
func (s *sweeper) scaled(k int) (string, bool) {
	for i, w := range s.words {
		if w.Key == "cpu" && s.lists[i] != nil {
			if v := s.at(i, k); v != "" && !strings.HasSuffix(v, "%") {
				return v, true
			}
		}
	}
	return "", false
}

// lineName returns the line without the values that vary.
func (s *sweeper) lineName() string {
	var parts []string
	for i, w := range s.words {
		switch {
		case s.lists[i] == nil || len(s.lists[i]) > 1 || s.n == 1:
			parts = append(parts, w.Key)
		default:
			parts = append(parts, w.Key+"="+w.Value)
		}
	}
	return strings.Join(parts, " ")
}

// whatIf parses a change of package whatif with lists of values. cpu= with it changes the load
// of the same VMs, as "vm=sql* cpu=x0.5,x2" does alone; cpu= by itself that of all.
func (s *sweeper) whatIf() (*Dimension, error) {
	fixed := []string{"vm", "cluster"}
	switch {
	case s.has("lose-host"):
		if err := s.only("lose-host"); err != nil {
			return nil, err
		}
	case s.has("add-host"):
		fixed = []string{"cluster", "name"}
		if err := s.only("add-host", "count", "cluster", "name"); err != nil {
			return nil, err
		}
	case !s.has("vm"):
		fixed = append(fixed, "host")
	}
	if err := s.vary(fixed...); err != nil {
		return nil, err
	}
	load := s.index("cpu")
	if !s.has("vm") && s.has("host") {
		load = -1 // for hosts it is the processor model
	}
	vms := s.fixed("vm")
	if load >= 0 && !s.has("vm") {
		if len(s.words) > 1 {
			return nil, word.Errorf(s.words[load].Col, "found cpu= without VMs, want vm= as well")
		}
		vms = "*"
	}
	d := &Dimension{Text: s.text, Name: s.name(fixed...)}
	if i := s.index("add-host"); i >= 0 {
		d.Name = strings.TrimSpace("add-host " + s.single(i))
	}
	for k := range s.n {
		v := Value{Label: s.label(k)}
		if text, same := s.join(k, load); !same && !s.none(k) {
			if _, err := whatif.ParseAt("--grid", s.number, s.inPlace(k, load)); err != nil {
				return nil, s.unknown(err)
			}
			v.Steps = []Step{{Do: WhatIf, Text: text}}
		}
		if load >= 0 {
			steps, err := loadSteps(s.words[load], vms, s.at(load, k))
			if err != nil {
				return nil, err
			}
			v.Steps = append(v.Steps, steps...)
		}
		d.Values = append(d.Values, v)
	}
	return d, nil
}

// single returns the value of a word that has one; empty if there are several.
func (s *sweeper) single(i int) string {
	if len(s.lists[i]) > 1 {
		return ""
	}
	return s.words[i].Value
}

// none reports whether the k-th values remove and add no host.
func (s *sweeper) none(k int) bool {
	for i, w := range s.words {
		if s.lists[i] == nil {
			continue
		}
		v := s.at(i, k)
		switch strings.ToLower(w.Key) {
		case "lose-host":
			if v == "none" {
				return true
			}
		case "add-host":
			if v == "none" || v == today {
				return true
			}
		case "count":
			if v == "0" || v == today {
				return true
			}
		}
	}
	return false
}

// unknown replaces the error for a word that what-ifs do not have, but that resembles one of
// sweeps.
func (s *sweeper) unknown(err error) error {
	if strings.Contains(err.Error(), "meant?") {
		return err
	}
	for _, w := range s.words {
		if near, ok := word.Meant(w.Key, ownKeys); ok && !whatif.Knows(w.Key) {
			return word.Errorf(w.Col, "found %q, is %s= meant?", word.Short(w.Key), near)
		}
	}
	return err
}

// join returns the k-th text without the word with index without; same reports that it changes
// nothing.
func (s *sweeper) join(k, without int) (text string, same bool) {
	var parts []string
	varied := false
	for i, w := range s.words {
		switch {
		case i == without:
		case s.lists[i] != nil:
			v := s.at(i, k)
			if v == today {
				continue
			}
			varied = true
			if v == unset {
				v = ""
			}
			parts = append(parts, w.Key+"="+quoted(v))
		case w.HasValue:
			parts = append(parts, w.Key+"="+quoted(w.Value))
		default:
			parts = append(parts, w.Key)
		}
	}
	return strings.Join(parts, " "), !varied
}

// inPlace is join with every word in the column where the user wrote it, so that errors have
// the right position.
func (s *sweeper) inPlace(k, without int) string {
	b := []byte(strings.Repeat(" ", len(s.text)))
	for i, w := range s.words {
		if i == without {
			continue
		}
		one := w.Key + "=" + quoted(w.Value)
		if s.lists[i] != nil {
			v := s.at(i, k)
			if v == today {
				continue
			}
			if v == unset {
				v = ""
			}
			one = w.Key + "=" + quoted(v)
		}
		copy(b[w.Col-1:], one)
	}
	return string(b)
}

// quoted quotes a value for word.Split.
func quoted(v string) string {
	if strings.ContainsAny(v, " \t") {
		return `"` + v + `"`
	}
	return v
}
