package vmx

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
)

// Limits for a plausible configuration; the excess is dropped with a warning.
const (
	maxKeys  = 4096
	maxValue = 4 << 10 // bytes
)

// An Entry is the value of a key, and its place.
type Entry struct {
	Key, Value string
	Line, Col  int // from 1
	rank       int
}

// A Dict contains the entries of one configuration: of a .vmx, or of the DICT lines of one
// power-on. Keys are case-insensitive; the last value of a key takes precedence.
type Dict struct {
	at   map[string]int // by lower-case key
	list []Entry        // in the order of first appearance
	full bool
}

// NewDict returns an empty Dict.
func NewDict() *Dict { return &Dict{at: map[string]int{}} }

// Set stores a value. problem is the reason if it is not stored.
func (d *Dict) Set(key, value string, line, col int) (problem string) {
	return d.SetRanked(key, value, line, col, 0)
}

// SetRanked stores a value unless there is one with a higher rank: the defaults of a host do
// not replace the VM's own configuration.
func (d *Dict) SetRanked(key, value string, line, col, rank int) (problem string) {
	if len(value) > maxValue {
		return fmt.Sprintf("%s: the value has %d bytes, more than %d: left out", key, len(value), maxValue)
	}
	k := strings.ToLower(key)
	if i, ok := d.at[k]; ok {
		if rank >= d.list[i].rank {
			d.list[i] = Entry{key, value, line, col, rank}
		}
		return ""
	}
	if len(d.list) >= maxKeys {
		if d.full {
			return ""
		}
		d.full = true
		return fmt.Sprintf("found more than %d keys: those from here on are left out", maxKeys)
	}
	d.at[k] = len(d.list)
	d.list = append(d.list, Entry{key, value, line, col, rank})
	return ""
}

// Lookup returns the entry with this key, ignoring case; a nil Dict is empty.
func (d *Dict) Lookup(key string) (Entry, bool) {
	if d == nil {
		return Entry{}, false
	}
	i, ok := d.at[strings.ToLower(key)]
	if !ok {
		return Entry{}, false
	}
	return d.list[i], true
}

// Clone returns an independent copy.
func (d *Dict) Clone() *Dict {
	c := &Dict{at: make(map[string]int, len(d.at)), list: slices.Clone(d.list), full: d.full}
	for k, i := range d.at {
		c.at[k] = i
	}
	return c
}

// Entries returns the entries sorted by line.
func (d *Dict) Entries() []Entry {
	list := slices.Clone(d.list)
	slices.SortStableFunc(list, func(a, b Entry) int { return a.Line - b.Line })
	return list
}

// Name returns the displayName, or "".
func (d *Dict) Name() string {
	e, _ := d.Lookup("displayName")
	return strings.TrimSpace(e.Value)
}

// UUID returns the UUID that the vSphere API calls instanceUuid (vc.uuid) or, without it, the
// BIOS UUID (uuid.bios), in the usual form; "" if neither is well-formed.
func (d *Dict) UUID() string {
	for _, key := range []string{"vc.uuid", "uuid.bios"} {
		if e, ok := d.Lookup(key); ok {
			if u := canonicalUUID(e.Value); u != "" {
				return u
			}
		}
	}
	return ""
}

// canonicalUUID converts "52 66 18 78 d5 8a 13 3f-2b de a1 5c 1b b0 00 01" to 8-4-4-4-12 form.
func canonicalUUID(s string) string {
	digits := make([]byte, 0, 32)
	for i := range len(s) {
		switch c := s[i]; {
		case isHex(c) && len(digits) < 32:
			digits = append(digits, c|0x20) // lower case; digits already have the bit
		case c != ' ' && c != '-':
			return ""
		}
	}
	if len(digits) != 32 {
		return ""
	}
	u := string(digits)
	return u[:8] + "-" + u[8:12] + "-" + u[12:16] + "-" + u[16:20] + "-" + u[20:]
}

// identity are the keys that identify the VM and its state.
var identity = map[string]string{
	"displayname": "name", "vc.uuid": "instance UUID", "uuid.bios": "BIOS UUID", ".encoding": "encoding",
	"checkpoint.vmstate": "checkpoint to resume from",
}

// Keeps reports whether a Dict stores the key: it is a setting that may affect NUMA, or it
// identifies the VM.
func Keeps(key string) bool {
	k := strings.ToLower(key)
	return identity[k] != "" || keyword(k) != nil || numa.KeepSetting(key) || deviceKey.MatchString(k)
}

// Fact returns the entry as a fact with its technical name.
func (d *Dict) Fact(e Entry) fact.Fact {
	f := fact.Fact{Subject: "VM", Name: e.Key, Value: e.Value, Line: e.Line, Col: e.Col}
	if name := d.Name(); name != "" {
		f.Subject = "VM " + name
	}
	k := strings.ToLower(e.Key)
	if name := identity[k]; name != "" {
		f.Name = name
	}
	if w := keyword(k); w != nil {
		f.Name = w.name
		if v, ok := w.value(e.Value); ok {
			f.Value, f.Unit = v, w.unit
		}
	}
	return f
}
