package word

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/numa/unit"
	"example.org/homenode/source/text"
)

// Unknown is the value that makes a fact unknown.
const Unknown = "?"

// set sets a fact to the value of the word, with where as its origin; "?" makes it unknown.
func set[T any](to *numa.Fact[T], w Word, where string, read func() (T, error)) error {
	if w.Value == Unknown {
		*to = numa.Fact[T]{}
		return nil
	}
	v, err := read()
	if err != nil {
		return err
	}
	*to = numa.ReadAt(v, where)
	return nil
}

// A setter is a keyword that sets one fact of a T; words is a list of setters.
type setter[T any] struct {
	key string
	set func(of *T, w Word, where string) error
}

type words[T any] []setter[T]

// set sets the fact that the word names; known is false for other words.
func (list words[T]) set(of *T, w Word, where string) (known bool, err error) {
	for i := range list {
		if list[i].key == w.Key {
			return true, list[i].set(of, w, where)
		}
	}
	return false, nil
}

func (list words[T]) keys() []string {
	keys := make([]string, len(list))
	for i := range list {
		keys[i] = list[i].key
	}
	return keys
}

// wordsOf returns the keywords of facts. own are keywords that set more or less than one fact: they replace one with the same name, or
// are appended.
func wordsOf[T, F any](facts []numa.Property[F], in func(*T) *F, own words[T]) (out words[T]) {
	for i := range facts {
		p := &facts[i]
		if p.Nodes { // the caller parses these together
			continue
		}
		out = append(out, setter[T]{p.Word, func(of *T, w Word, where string) error { return property(w, p, in(of), where) }})
	}
	for _, one := range own {
		if i := slices.Index(out.keys(), one.key); i >= 0 {
			out[i] = one
		} else {
			out = append(out, one)
		}
	}
	return out
}

// property sets a fact of a VM or host to the value of the word.
func property[T any](w Word, p *numa.Property[T], of *T, where string) error {
	switch f := p.Fact(of).(type) {
	case *numa.Fact[bool]:
		return set(f, w, where, w.truth)
	case *numa.Fact[int]:
		return set(f, w, where, func() (int, error) { return w.Number(p.Least, int(p.Most)) })
	case *numa.Fact[numa.Bytes]:
		return set(f, w, where, func() (numa.Bytes, error) { return w.Bytes(w.Value, numa.Bytes(p.Most)) })
	case *numa.Fact[[]int]:
		return set(f, w, where, w.list)
	case *numa.Fact[numa.Release]:
		return set(f, w, where, func() (numa.Release, error) { return Release(w.Col, w.Value) })
	case *numa.Fact[numa.PowerState]:
		return set(f, w, where, func() (numa.PowerState, error) { return oneOf[numa.PowerState](w, p.Only) })
	case *numa.Fact[string]:
		return set(f, w, where, func() (string, error) { return oneOf[string](w, p.Only) })
	}
	return Errorf(w.Col, "%s: no word states it", Short(w.Key)) // reported by a test of the facts
}

// oneOf parses one of the values, ignoring case; any text if there are none.
func oneOf[T ~string](w Word, values []string) (T, error) {
	if values == nil {
		return T(w.Value), nil
	}
	i := slices.IndexFunc(values, func(v string) bool { return strings.EqualFold(v, w.Value) })
	if i < 0 {
		last := len(values) - 1
		return "", Errorf(w.Col, "found %s=%q, want %s or %s", Short(w.Key), Short(w.Value), strings.Join(values[:last], ", "), values[last])
	}
	return T(values[i]), nil
}

// Number parses a number from least to most.
func (w Word) Number(least, most int) (int, error) {
	n, err := strconv.Atoi(w.Value)
	if err != nil || n < least || n > most {
		return 0, Errorf(w.Col, "found %s=%q, want a number from %d to %d", Short(w.Key), Short(w.Value), least, most)
	}
	return n, nil
}

func (w Word) truth() (bool, error) {
	switch strings.ToLower(w.Value) {
	case "on", "true", "yes":
		return true, nil
	case "off", "false", "no":
		return false, nil
	}
	return false, Errorf(w.Col, "found %s=%q, want on or off", Short(w.Key), Short(w.Value))
}

var sizeForm = pattern.Of(`^\d+(\.\d+)?[KMGTkmgt][Bb]$`)

// Bytes parses "1024GB", "65423MB" or "2TB"; units are binary, as in vSphere. A fraction, as shown on screens (255.7GB), is rounded to
// whole MB.
func (w Word) Bytes(s string, most numa.Bytes) (numa.Bytes, error) {
	if n, err := unit.ParseSize(s); err == nil && n <= most && sizeForm.MatchString(s) {
		if strings.Contains(s, ".") {
			n = (n + numa.MiB/2) / numa.MiB * numa.MiB
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, Errorf(w.Col, "found %s=%q, want memory such as 512GB, at most %v", Short(w.Key), Short(s), most)
}

const wantDuration = "want a time such as 90s, 42m, 1h42m or 2d"

// mostDays is the maximum duration, in days.
const mostDays = 366

// Duration parses "90s", "42m", "1h42m" or "2d12h" at the column, at most 366 days.
func Duration(col int, s string) (time.Duration, error) {
	total, rest := time.Duration(0), s
	if before, after, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.Atoi(before)
		if err != nil || n < 0 || n > mostDays {
			return 0, Errorf(col, "found %q, %s", Short(s), wantDuration)
		}
		total, rest = time.Duration(n)*24*time.Hour, after
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 {
			return 0, Errorf(col, "found %q, %s", Short(s), wantDuration)
		}
		total += min(d, 2*mostDays*24*time.Hour)
	}
	switch {
	case s == "":
		return 0, Errorf(col, "found nothing, %s", wantDuration)
	case total > mostDays*24*time.Hour:
		return 0, Errorf(col, "found %s, want at most %dd", Short(s), mostDays)
	}
	return total, nil
}

// Share parses "20%" as a share from 0 to most.
func (w Word) Share(s string, most float64) (float64, error) {
	number, ok := strings.CutSuffix(s, "%")
	n, err := strconv.ParseFloat(number+"e-2", 64) // 2.6% is 0.026, not 2.6 / 100
	if !ok || err != nil || !(n >= 0 && n <= most) {
		return 0, Errorf(w.Col, "found %s=%q, want a share from 0%% to %.0f%%", Short(w.Key), Short(w.Value), 100*most)
	}
	return n, nil
}

// NodeSet parses node numbers below a bound, such as "0,1", or "-" for none.
func (w Word) NodeSet(s string, below int) (set numa.NodeSet, err error) {
	if s == "-" {
		return 0, nil
	}
	for one := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(one)
		if err != nil || n < 0 || n >= below {
			return 0, Errorf(w.Col, "found %s=%q, want nodes below %d such as 0,1, or - for none", Short(w.Key), Short(s), below)
		}
		set |= numa.SetOf(n)
	}
	return set, nil
}

// mostListed is the maximum number of PCPUs or nodes in an affinity: no host has more PCPUs.
const mostListed = 4096

// list parses "0-3,8".
func (w Word) list() ([]int, error) {
	if w.Value == "" || strings.EqualFold(w.Value, "none") {
		return []int{}, nil
	}
	list, ok := text.Numbers(w.Value, numa.MaxNodes*numa.MaxCoresPerNode, mostListed)
	if !ok {
		return nil, Errorf(w.Col, "found %s=%q, want a list such as 0-3,8, of at most %d, or none", Short(w.Key), Short(w.Value), mostListed)
	}
	return list, nil
}
