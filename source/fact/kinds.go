package fact

import "fmt"

// Kinds collects the warnings of a long file: the first of each kind, and the number of the
// others, so that a file with a million bad lines results in one warning. The zero value is
// empty.
type Kinds struct {
	list  []Warning
	more  []int
	index map[string]int
}

// Warn keeps a warning if it is the first of its kind, and counts it otherwise.
func (k *Kinds) Warn(kind string, line, col int, format string, args ...any) {
	if i, ok := k.index[kind]; ok {
		k.more[i]++
		return
	}
	if k.index == nil {
		k.index = map[string]int{}
	}
	k.index[kind] = len(k.list)
	k.list = append(k.list, Warning{line, col, fmt.Sprintf(format, args...)})
	k.more = append(k.more, 0)
}

// Count returns the number of warnings of these kinds.
func (k *Kinds) Count(kinds ...string) (n int) {
	for _, kind := range kinds {
		if i, ok := k.index[kind]; ok {
			n += 1 + k.more[i]
		}
	}
	return n
}

// All returns the first warning of each kind with the number of further ones.
func (k *Kinds) All() []Warning {
	out := make([]Warning, len(k.list))
	for i, w := range k.list {
		if k.more[i] > 0 {
			w.Text += fmt.Sprintf(" (and %d more of this kind)", k.more[i])
		}
		out[i] = w
	}
	return out
}
