package fit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/numa/unit"
)

// malformed returns the error for the text of a shape or host type: "2x32/1TB": column 5: found …
func malformed(text string, col int, format string, args ...any) error {
	return &numa.SyntaxError{File: strconv.Quote(text), Col: col, Msg: fmt.Sprintf(format, args...)}
}

// A scan parses a text from left to right.
type scan struct {
	text    string
	at      int
	example string // of a whole text, for errors
}

// missing returns the error for a part that does not stand where it should.
func (s *scan) missing(at int, part, want string) error {
	if part = cmp.Or(strings.TrimSpace(part), strings.TrimSpace(s.text[at:])); part != "" {
		return s.fail(at, "found %q, want %s, as in %s", part, want, s.example)
	}
	return s.fail(at, "%s is missing, as in %s", want, s.example)
}

func (s *scan) fail(at int, format string, args ...any) error {
	return malformed(s.text, at+1, format, args...)
}

// until returns the text before the next of the bytes, and moves there.
func (s *scan) until(stops string) (part string, at int) {
	at = s.at
	end := strings.IndexAny(s.text[at:], stops)
	if end < 0 {
		end = len(s.text) - at
	}
	s.at = at + end
	return s.text[at:s.at], at
}

// take skips the byte if it is next.
func (s *scan) take(b byte) bool {
	if s.at < len(s.text) && s.text[s.at] == b {
		s.at++
		return true
	}
	return false
}

// name parses "NAME:".
func (s *scan) name() (string, error) {
	before, _, found := strings.Cut(s.text, ":")
	if !found {
		return "", nil
	}
	if strings.TrimSpace(before) == "" {
		return "", s.fail(0, "found no name before the colon")
	}
	s.at = len(before) + 1
	return strings.TrimSpace(before), nil
}

// number parses the whole number before one of the bytes.
func (s *scan) number(stops, what string, least, most int) (int, error) {
	part, at := s.until(stops)
	n, err := strconv.Atoi(strings.TrimSpace(part))
	if err != nil && errors.Is(err, strconv.ErrRange) {
		return 0, s.fail(at, "found %s, want %s: %d to %d", part, what, least, most)
	}
	if err != nil {
		return 0, s.missing(at, part, what)
	}
	if n < least || n > most {
		return 0, s.fail(at, "found %d, want %s: %d to %d", n, what, least, most)
	}
	return n, nil
}

// bare reports whether an amount has no unit.
func bare(text string) bool { return text != "" && strings.Trim(text, "0123456789., ") == "" }

// memory parses a size with its unit up to one of the bytes.
func (s *scan) memory(stops, what string, most numa.Bytes) (numa.Bytes, error) {
	part, at := s.until(stops)
	b, err := unit.ParseSize(part)
	switch {
	case strings.TrimSpace(part) == "":
		return 0, s.missing(at, part, what)
	case bits.MatchString(part):
		return 0, s.fail(at, "found %q, which are bits, want bytes: %sB", part, strings.TrimSuffix(strings.TrimSpace(part), "b"))
	case err != nil && strings.Contains(part, "0") && !strings.ContainsAny(part, "123456789"):
		return 0, s.fail(at, "found %q, want more than no memory", part)
	case err != nil && !bare(part):
		return 0, s.fail(at, "%v", err)
	case err != nil || b < numa.MiB:
		return 0, s.fail(at, "found %q, want %s with its unit, such as 96GB or 1.5TB", part, what)
	case b > most:
		return 0, s.fail(at, "found %q, want %s up to %s", part, what, most)
	}
	return b, nil
}

// bits matches an amount in bits: Gb, where GB and gb are bytes.
var bits = pattern.Of(`[KMGTP]i?b\s*$`)

// Common spellings of hosts and VMs: "2 × 32 cores / 1 TB / SNC-2".
var ways = []struct {
	way   *pattern.Pattern
	usual string
}{
	{pattern.Of(`(\d)\s*[x×]\s*(\d)`), "${1}x$2"},
	{pattern.Of(`(?i)(\d)\s*c(?:ores?)?(?:\s*/\s*|\s+)(\d)`), "${1}c/$2"},
	{pattern.Of(`(?i)\s*/\s*(snc|nps)\s*-?\s*(\d)`), "/$1$2"},
	{pattern.Of(`(?i)(\d)\s+([kmgtp]i?b)`), "$1$2"},
}

// usual rewrites hosts or VMs in the formats below.
func usual(text string) string {
	for _, w := range ways {
		text = w.way.ReplaceAllString(text, w.usual)
	}
	return text
}

// ParseShapes parses VMs: see ParseShape. Names must be unique, and the total number is limited.
func ParseShapes(texts []string) ([]Shape, error) {
	var out []Shape
	sum := 0
	for _, text := range texts {
		s, err := ParseShape(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o Shape) bool { return o.Name == s.Name }) {
			return nil, malformed(text, 1, "found VMs named %s twice", s.Name)
		}
		if sum += s.Count; sum > maxVMs {
			return nil, malformed(text, 1, "found more than %d VMs with this one, want %d at most", maxVMs, maxVMs)
		}
		out = append(out, s)
	}
	return out, nil
}

// ParseShape parses a VM: "12x96GB", with a count "12x96GB*40", with a name "db:12x96GB*40".
func ParseShape(text string) (Shape, error) {
	text = usual(text)
	s := &scan{text: text, example: "12x96GB"}
	name, err := s.name()
	if err != nil {
		return Shape{}, err
	}
	vcpus, err := s.number("xX", "the number of vCPUs", 1, numa.MaxVCPUs)
	if err != nil {
		return Shape{}, err
	}
	if !s.take('x') && !s.take('X') {
		return Shape{}, s.missing(s.at, "", "the memory")
	}
	memory, err := s.memory("*", "the memory of a VM", numa.MaxVMMemory)
	if err != nil {
		return Shape{}, err
	}
	out := NewShape(vcpus, memory)
	if name != "" {
		out.Name = name
	}
	if s.take('*') {
		s.example = "12x96GB*40"
		if out.Count, err = s.number("", "the number of VMs", 1, maxVMs); err != nil {
			return Shape{}, err
		}
	}
	return out, nil
}

// maxVMs bounds a mix: ten vCenters of 10,000 hosts hold fewer.
const maxVMs = 1_000_000

// ParseTypes parses host types, separated by commas: see ParseType.
func ParseTypes(text string, release numa.Release) ([]Type, error) {
	var out []Type
	text = usual(text)
	at := 0
	for part := range strings.SplitSeq(text, ",") {
		lead := len(part) - len(strings.TrimLeft(part, " "))
		t, err := ParseType(strings.TrimSpace(part), release)
		if syntax, ok := err.(*numa.SyntaxError); ok {
			return nil, malformed(text, at+lead+syntax.Col, "%s", syntax.Msg)
		}
		if err != nil {
			return nil, err
		}
		for i := range out {
			if out[i].Name == t.Name {
				return nil, malformed(text, at+lead+1, "found host type %s twice", t.Name)
			}
		}
		out = append(out, t)
		at += len(part) + 1
	}
	return out, nil
}

// ParseType parses a host: sockets × cores of a socket / memory of the host, then optional facts.
//
//	2x32c/1TB                    two sockets of 32 cores, 1 TB
//	2x32c/1TB/snc2, …/nps4       NUMA nodes of a socket
//	2x32c/1TB/noht               hyper-threading is off; on is assumed, /ht states it
//	2x32c/1TB@2.6GHz             nominal frequency
//	2x32c/1TB=18000              price of a host
//	R760:2x32c/1TB               name
func ParseType(text string, release numa.Release) (Type, error) {
	text = usual(text)
	s := &scan{text: text, example: "2x32c/1TB"}
	name, err := s.name()
	if err != nil {
		return Type{}, err
	}
	spec := s.at
	d := described{perSocket: 1, ht: numa.AssumedFor(true, "hyper-threading is usual")}
	if d.sockets, err = s.number("xX", "the number of sockets", 1, numa.MaxNodes); err != nil {
		return Type{}, err
	}
	if !s.take('x') && !s.take('X') {
		return Type{}, s.missing(s.at, "", "the number of cores of a socket")
	}
	if d.cores, err = s.number("cC/", "the number of cores of a socket", 1, numa.MaxCoresPerNode); err != nil {
		return Type{}, err
	}
	shape := text[spec:s.at] + "c" // however it is written
	if !s.take('c') {
		s.take('C')
	}
	rest := s.at
	if !s.take('/') {
		return Type{}, s.missing(s.at, "", "the memory of the host")
	}
	if d.memory, err = s.memory("/@=", "the memory of a host", numa.MaxHostMemory); err != nil {
		return Type{}, err
	}
	if d.memory < leastHost {
		return Type{}, s.fail(spec, "found a host of %s, want %s at least: ESXi does not run with less", d.memory, leastHost)
	}
	for s.take('/') {
		if err := d.word(s); err != nil {
			return Type{}, err
		}
	}
	end := s.at
	if s.take('@') {
		part, at := s.until("=")
		if d.core, err = unit.ParseHz(part); err != nil {
			return Type{}, s.fail(at, "%v", err)
		}
		end = s.at
	}
	price, err := s.price()
	if err != nil {
		return Type{}, err
	}
	if s.at < len(text) {
		return Type{}, s.fail(s.at, "found %q, want /ht, /noht, /sncN, /cod, /npsN, @2.6GHz or =price", text[s.at:])
	}
	if name == "" {
		name = shape + text[rest:end]
	}
	host, err := d.host(name, release)
	if err != nil {
		return Type{}, s.fail(spec, "%v", err)
	}
	return Type{Name: name, Host: host, Price: price}, nil
}

// price parses the price of a host behind =; 0 without one.
func (s *scan) price() (price float64, err error) {
	if !s.take('=') {
		return 0, nil
	}
	part, at := s.until("")
	if price, err = strconv.ParseFloat(part, 64); err != nil || !(price > 0 && price <= 1e12) {
		return 0, s.fail(at, "found %q, want the price of a host: a number above 0", part)
	}
	return price, nil
}

// leastHost is the least memory of a host (ESXi 6.0 to 7.0, hardware requirements: 4 GB).
const leastHost = 4 * numa.GiB

// described is a host described by its type.
type described struct {
	threads, divided          string // the words that stated them
	sockets, cores, perSocket int
	memory                    numa.Bytes
	ht                        numa.Fact[bool]
	core                      unit.Hz
}

// word parses one word after a slash.
func (d *described) word(s *scan) error {
	part, at := s.until("/@=")
	lower := strings.ToLower(part)
	switch {
	case lower == "ht", lower == "noht":
		if d.threads != "" {
			return s.fail(at, "found %q after %s, want one of them", part, d.threads)
		}
		d.threads = lower
		d.ht = numa.ReadAt(lower == "ht", "host type")
		return nil
	case lower == "cod", strings.HasPrefix(lower, "snc"), strings.HasPrefix(lower, "nps"):
		n, err := 2, error(nil) // cluster-on-die
		if lower != "cod" {
			n, err = strconv.Atoi(part[3:])
		}
		switch {
		case lower[:3] == "nps" && (err != nil || n != 1 && n != 2 && n != 4): // the nodes of NPS0 are not part of a socket
			return s.fail(at, "found %q, want nps1, nps2 or nps4", part)
		case err != nil || n < 1 || n > 8:
			return s.fail(at, "found %q, want snc with the NUMA nodes of a socket, 1 to 8", part)
		}
		if !numa.Divides(d.cores, n) {
			return s.fail(at, "found %q: %d cores of a socket do not divide into %d nodes", part, d.cores, n)
		}
		if d.divided != "" {
			return s.fail(at, "found %q after %s, want one of them", part, d.divided)
		}
		d.perSocket, d.divided = n, lower
		return nil
	}
	return s.fail(at, "found %q, want ht, noht, sncN, cod or npsN", part)
}

// host returns the host, its memory evenly in all nodes.
func (d *described) host(name string, release numa.Release) (numa.Host, error) {
	nodes := d.sockets * d.perSocket
	if nodes > numa.MaxNodes {
		return numa.Host{}, fmt.Errorf("found %d NUMA nodes, want at most %d", nodes, numa.MaxNodes)
	}
	const at = "host type"
	perCore := 1
	if d.ht.Value {
		perCore = 2
	}
	h := numa.Host{
		ID: name, Name: name, At: at, Release: numa.ReadAt(release, at),
		Packages: numa.ReadAt(d.sockets, at), Cores: numa.ReadAt(d.sockets*d.cores, at),
		Threads: numa.DerivedFrom(d.sockets*d.cores*perCore, at), HyperThreading: d.ht, Memory: numa.ReadAt(d.memory, at),
		Options: numa.AssumedFor(numa.Settings(nil), "defaults"),
	}
	if d.core > 0 {
		h.CoreMHz = numa.ReadAt(int(d.core/unit.MHz), at)
	}
	list := make([]numa.Node, nodes)
	for i := range list {
		cores := numa.Share(d.cores, d.perSocket, i%d.perSocket)
		list[i] = numa.Node{
			ID: i, Package: i / d.perSocket, Cores: cores, Threads: cores * perCore,
			Memory: numa.DerivedFrom(d.memory/numa.Bytes(nodes), "the memory of the host, evenly in its nodes"),
		}
	}
	h.Nodes = numa.ReadAt(list, at)
	return h, h.Check()
}

// compact writes memory without a blank: "1.5TB", "96GB".
func compact(b numa.Bytes) string {
	if b >= numa.TiB && b%(numa.TiB/4) == 0 {
		return strconv.FormatFloat(float64(b)/float64(numa.TiB), 'f', -1, 64) + "TB"
	}
	return strings.ReplaceAll(b.String(), " ", "")
}

// ParseOverhead parses the overhead of every VM: "1GB", or "1%" of its memory. An empty text is
// PublishedOverhead, and 0 none.
func ParseOverhead(text string) (Overhead, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return PublishedOverhead, nil
	case strings.Trim(text, "0") == "":
		return Overhead{}, nil
	case strings.HasSuffix(text, "%"):
		share, err := unit.ParsePercent(text)
		return Overhead{Share: share}, err
	}
	b, err := unit.ParseSize(text)
	if bare(text) || err == nil && b < numa.MiB {
		err = fmt.Errorf("found %q, want an overhead with its unit, such as 1GB or 1%%", text)
	}
	return Overhead{Base: b}, err
}
