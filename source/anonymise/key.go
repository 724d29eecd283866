package anonymise

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/strict"
)

// A Key maps pseudonyms back to names. It is as confidential as the fleet itself.
type Key struct {
	names map[string]string // by pseudonym
	tag   string            // see namer
	form  *pattern.Pattern
}

const (
	keyFormat  = "homenode-key"
	keyVersion = 1
	maxKey     = 1 << 30 // bytes
)

// keyFile is the file format of a key. Tag is the text between the kind and the number in its
// pseudonyms.
type keyFile struct {
	Format  string            `json:"format"`
	Version int               `json:"version"`
	Tag     string            `json:"tag"`
	Names   map[string]string `json:"names"`
}

func (n *namer) key() *Key {
	k := &Key{names: make(map[string]string, len(n.exact)), tag: n.tag, form: pseudonymForm(n.tag)}
	for name, pseudonym := range n.exact {
		k.names[pseudonym] = name
	}
	return k
}

// Pseudonyms returns the pseudonyms of the key, to continue with them: known names keep their
// pseudonyms.
func (k *Key) Pseudonyms(public func(product string) bool) *Pseudonyms {
	n := newNamer(k.tag)
	n.width = 0
	highest := map[string]int{} // number of the newest pseudonym, by name in lower case
	for p, name := range k.names {
		low, base := strings.ToLower(name), strings.ToLower(p)
		n.exact[name] = p
		kind, number, _ := strings.Cut(base, k.tag+"-")
		count, _ := strconv.Atoi(number) // ReadKey has validated it
		n.count[kind] = max(n.count[kind], count)
		if n.width == 0 || len(number) < n.width {
			n.width = len(number)
		}
		if count > highest[low] {
			highest[low], n.base[low] = count, base
		}
		switch kind {
		case kindText:
			n.phrases[low] = true
		case kindAddress, kindPath:
		default:
			n.know(kind, name)
		}
	}
	for name, p := range n.exact {
		if low := strings.ToLower(name); strings.EqualFold(p, n.base[low]) {
			n.spells[low]++
		}
	}
	n.width = max(n.width, 4)
	return &Pseudonyms{n: n, Public: public}
}

// Knows reports whether s is or contains a pseudonym of the key.
func (k *Key) Knows(s string) bool { return k.Text(s) != s }

// Fleet returns a copy of f with its original names. It fails if f has pseudonyms that the key
// does not know, or none: the key is then for another fleet.
func (k *Key) Fleet(f *numa.Fleet) (*numa.Fleet, error) {
	seen := 0
	var unknown []string
	reveal := func(_ site, s string) string {
		return k.form.Regexp().ReplaceAllStringFunc(s, func(p string) string {
			name, ok := k.names[p]
			if !ok {
				unknown = append(unknown, p)
				return p
			}
			seen++
			return name
		})
	}
	out := walk(reflect.ValueOf(*f), reveal).Interface().(numa.Fleet)
	for i := range out.VMs {
		out.VMs[i].Product.Value = reveal(site{}, out.VMs[i].Product.Value)
	}
	switch {
	case len(unknown) > 0:
		slices.Sort(unknown)
		unknown = slices.Compact(unknown)
		return nil, fmt.Errorf("the key does not know %s: it belongs to another fleet", words.Few(unknown))
	case seen == 0 && len(k.names) > 0:
		return nil, fmt.Errorf("found none of the key's pseudonyms: it belongs to another fleet")
	}
	return &out, nil
}

// Text returns s with the original names, for findings about the fleet. A range of hosts, as "esx11–14", keeps its form where the names have it.
func (k *Key) Text(s string) string {
	return pattern.Of(k.form.String()+`(?:–\d+)?`).Regexp().ReplaceAllStringFunc(s, func(p string) string {
		p, end, ranged := strings.Cut(p, "–")
		name, ok := k.names[p]
		if !ok {
			name = p
		}
		if !ranged {
			return name
		}
		last := k.names[p[:max(0, len(p)-len(end))]+end]
		stem := strings.TrimRight(name, "0123456789")
		if number, same := strings.CutPrefix(last, stem); ok && same && number != "" {
			return name + "–" + number
		}
		return name + " to " + cmp.Or(last, end)
	})
}

// Names returns the names that were replaced, in order.
func (k *Key) Names() []string {
	out := make([]string, 0, len(k.names))
	for _, name := range k.names {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Write writes the key as JSON.
func (k *Key) Write(w io.Writer) error {
	b := bufio.NewWriter(texttab.EscapedJSON(w))
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(keyFile{keyFormat, keyVersion, k.tag, k.names}); err != nil {
		return err
	}
	return b.Flush()
}

var tagForm = pattern.Of(`^x*$`)

// ReadKey reads a key in the format of Write. name is used in errors.
func ReadKey(name string, r io.Reader) (*Key, error) {
	var f keyFile
	text, err := io.ReadAll(io.LimitReader(r, maxKey))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := strict.Unmarshal(name, "key", text, &f); err != nil {
		return nil, fmt.Errorf("found no key of homenode: %w", err)
	}
	switch {
	case f.Format != keyFormat:
		return nil, fmt.Errorf("%s: found format %.40q, want %q", name, f.Format, keyFormat)
	case f.Version != keyVersion:
		return nil, fmt.Errorf("%s: found version %d, this program reads %d", name, f.Version, keyVersion)
	case !tagForm.MatchString(f.Tag):
		return nil, fmt.Errorf("%s: found tag %.40q, want none or x", name, f.Tag)
	}
	k := &Key{f.Names, f.Tag, pseudonymForm(f.Tag)}
	for p := range f.Names {
		if k.form.FindString(p) != p {
			return nil, fmt.Errorf("%s: found %.40q, want a pseudonym such as host%s-0001", name, p, f.Tag)
		}
	}
	return k, nil
}
