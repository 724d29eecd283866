package sweep

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/word"
)

// The keys and first words that sweeps have and what-ifs do not.
var (
	ownKeys  = []string{"seed", "lose-host", "add-host", "cpu"}
	ownLines = []string{"load", "used", "talk", "at"}
)

// Special values.
const (
	today = "today" // no change
	unset = "unset" // remove the setting or option
)

// A sweeper parses one --grid.
type sweeper struct {
	text   string
	number int
	words  []word.Word
	lists  [][]string // by word; nil for a constant word
	n      int        // of values
}

// parse parses a --grid, which is a dimension or the seeds.
func parse(text string, number int) (d *Dimension, seeds []uint64, err error) {
	s := &sweeper{text: text, number: number}
	d, seeds, err = s.read()
	var at *numa.SyntaxError
	if errors.As(err, &at) {
		err = &numa.SyntaxError{File: "--grid", Line: number, Col: at.Col, Msg: at.Msg}
	}
	return d, seeds, err
}

func (s *sweeper) read() (d *Dimension, seeds []uint64, err error) {
	if s.words, err = word.Split(s.text); err != nil {
		return nil, nil, err
	}
	if len(s.words) == 0 {
		return nil, nil, word.Errorf(1, "found nothing, want what varies, such as 'vm=sql* vcpus=8,12,16'")
	}
	first := s.words[0]
	if !first.HasValue {
		d, err = s.line(first)
		return d, nil, err
	}
	if s.has("seed") {
		seeds, err = s.seeds()
		return nil, seeds, err
	}
	d, err = s.whatIf()
	return d, nil, err
}

func (s *sweeper) has(key string) bool { return s.index(key) >= 0 }

// index returns the index of the word with the key; -1 for none.
func (s *sweeper) index(key string) int {
	return slices.IndexFunc(s.words, func(w word.Word) bool { return strings.EqualFold(w.Key, key) })
}

// fixed returns the value of a constant word; empty if it is missing.
func (s *sweeper) fixed(key string) string {
	if i := s.index(key); i >= 0 {
		return s.words[i].Value
	}
	return ""
}

// only returns an error for words that are not allowed with a key.
func (s *sweeper) only(keys ...string) error {
	for _, w := range s.words {
		known := false
		for _, key := range keys {
			known = known || strings.EqualFold(w.Key, key)
		}
		switch {
		case !known:
			return word.Errorf(w.Col, "found %q beside %s=, want nothing but %s", word.Short(w.Key), keys[0], strings.Join(keys, "=, ")+"=")
		case w.Value == "":
			return word.Errorf(w.Col, "found %s without values", word.Short(w.Key))
		}
	}
	return nil
}

// vary parses the values of all words except those with the fixed keys. The words vary
// together: each has the same number of values, or one.
func (s *sweeper) vary(fixed ...string) error {
	s.lists, s.n = make([][]string, len(s.words)), 0
	longest := word.Word{}
	for i, w := range s.words {
		same := !w.HasValue
		for _, key := range fixed {
			same = same || strings.EqualFold(w.Key, key)
		}
		if same {
			continue
		}
		list, err := values(w)
		if err != nil {
			return err
		}
		if s.lists[i] = list; len(list) > s.n {
			s.n, longest = len(list), w
		}
	}
	for i, list := range s.lists {
		if list != nil && len(list) != s.n && len(list) != 1 {
			return word.Errorf(s.words[i].Col, "found %d values of %s beside %d of %s: the words of one --grid change together, those of several are combined",
				len(list), word.Short(s.words[i].Key), s.n, word.Short(longest.Key))
		}
	}
	if s.n == 0 {
		return word.Errorf(1, "found nothing that varies, want KEY=VALUE,VALUE,…")
	}
	return s.distinct(longest)
}

// distinct returns an error for a duplicate point.
func (s *sweeper) distinct(longest word.Word) error {
	seen := map[string]bool{}
	for k := range s.n {
		label := s.label(k)
		if seen[label] {
			return word.Errorf(longest.Col, "found the value %s twice", word.Short(label))
		}
		seen[label] = true
	}
	return nil
}

// at returns the k-th value of the i-th word.
func (s *sweeper) at(i, k int) string { return s.lists[i][min(k, len(s.lists[i])-1)] }

// label returns the k-th values of the words that vary: 8/4.
func (s *sweeper) label(k int) string {
	var parts []string
	for i, list := range s.lists {
		if len(list) > 1 || s.n == 1 && list != nil {
			parts = append(parts, s.at(i, k))
		}
	}
	return strings.Join(parts, "/")
}

// name returns the heading of the dimension: the words that vary, and their objects.
func (s *sweeper) name(of ...string) string {
	var keys []string
	for i, list := range s.lists {
		if len(list) > 1 || s.n == 1 && list != nil {
			keys = append(keys, s.words[i].Key)
		}
	}
	name := strings.Join(keys, "/")
	for _, key := range of {
		if v := s.fixed(key); v != "" {
			name += " " + v
		}
	}
	return name
}

var wholeRange = pattern.Of(`^(\d{1,9})\.\.(\d{1,9})$`)

// values returns the values of a word: separated by commas, or by | if a value has commas.
func values(w word.Word) ([]string, error) {
	if w.Value == "" {
		return nil, word.Errorf(w.Col, "found %s= without values, want %s=VALUE,VALUE,…", word.Short(w.Key), word.Short(w.Key))
	}
	separator := ","
	if strings.Contains(w.Value, "|") {
		separator = "|"
	}
	var out []string
	for one := range strings.SplitSeq(w.Value, separator) {
		one = strings.TrimSpace(one)
		if one == "" {
			return nil, word.Errorf(w.Col, "found %s=%s with an empty value; %s=%s leaves it as it is, %s=%s removes a setting", word.Short(w.Key), word.Short(w.Value), word.Short(w.Key), today, word.Short(w.Key), unset)
		}
		m := wholeRange.FindStringSubmatch(one)
		if m == nil {
			out = append(out, one)
			continue
		}
		from, _ := strconv.Atoi(m[1]) // digits
		to, _ := strconv.Atoi(m[2])
		if from > to {
			return nil, word.Errorf(w.Col, "found %s, want a range that ascends", one)
		}
		if to-from >= MostPoints {
			return nil, tooMany(w, to-from+1, mostValues)
		}
		for n := from; n <= to; n++ {
			out = append(out, strconv.Itoa(n))
		}
	}
	if len(out) > mostValues {
		return nil, tooMany(w, len(out), mostValues)
	}
	return out, nil
}

func tooMany(w word.Word, n, most int) error {
	return word.Errorf(w.Col, "found %d values of %s, want at most %d", n, word.Short(w.Key), most)
}
