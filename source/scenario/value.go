package scenario

import (
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
)

// unknown is the value that makes a fact unknown.
const unknown = "?"

// fact returns the value as read at the word's key, or an unknown fact for "?".
func fact[T any](p *parser, w word, read func() (T, error)) (numa.Fact[T], error) {
	if w.value == unknown {
		return numa.Fact[T]{}, nil
	}
	v, err := read()
	if err != nil {
		return numa.Fact[T]{}, err
	}
	return numa.ReadAt(v, w.key), nil
}

// words returns the value of a word that may be any text.
func words(w word) numa.Fact[string] {
	f, _ := fact(nil, w, func() (string, error) { return w.value, nil })
	return f
}

func (p *parser) oneOf(w word, values ...string) (string, error) {
	if !slices.Contains(values, w.value) {
		last := len(values) - 1
		return "", p.errorf(w.col, "found %s=%q, want %s or %s", w.key, w.value, strings.Join(values[:last], ", "), values[last])
	}
	return w.value, nil
}

func (p *parser) number(w word, least, most int) (int, error) {
	n, err := strconv.Atoi(w.value)
	if err != nil || n < least || n > most {
		return 0, p.errorf(w.col, "found %s=%q, want a number from %d to %d", w.key, w.value, least, most)
	}
	return n, nil
}

func (p *parser) truth(w word) (bool, error) {
	switch w.value {
	case "on", "true", "yes":
		return true, nil
	case "off", "false", "no":
		return false, nil
	}
	return false, p.errorf(w.col, "found %s=%q, want on or off", w.key, w.value)
}

// bytes reads "1024GB", "65423MB" or "2TB"; units are binary, as vSphere has them.
func (p *parser) bytes(w word, s string, most numa.Bytes) (numa.Bytes, error) {
	for _, u := range []struct {
		name string
		size numa.Bytes
	}{{"KB", numa.KiB}, {"MB", numa.MiB}, {"GB", numa.GiB}, {"TB", numa.TiB}} {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err == nil && n > 0 && numa.Bytes(n) <= most/u.size {
			return numa.Bytes(n) * u.size, nil
		}
	}
	return 0, p.errorf(w.col, "found %s=%q, want memory such as 512GB, at most %v", w.key, s, most)
}

// mostListed is how many PCPUs or nodes an affinity names: no host has more PCPUs.
const mostListed = 4096

// list reads "0-3,8".
func (p *parser) list(w word) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(w.value, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		if !isRange {
			hi = lo
		}
		from, err1 := strconv.Atoi(lo)
		to, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || from < 0 || to < from || to >= numa.MaxNodes*numa.MaxCoresPerNode {
			return nil, p.errorf(w.col, "found %s=%q, want a list such as 0-3,8", w.key, w.value)
		}
		if len(out)+to-from >= mostListed {
			return nil, p.errorf(w.col, "found %s of more than %d", w.key, mostListed)
		}
		for i := from; i <= to; i++ {
			out = append(out, i)
		}
	}
	return out, nil
}
