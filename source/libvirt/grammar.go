package libvirt

import (
	_ "embed"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

//go:embed grammar.txt
var grammarText string

// A term says which values libvirt takes for one value of an element.
type term struct {
	element []string // path below the domain
	child   []string // path of the element with the value, below it
	attr    string   // "" for its text
	want    string
	must    bool // it must be stated
	when    string
}

// grammar returns the terms of grammar.txt.
var grammar = sync.OnceValue(func() (out []term) {
	for line := range strings.Lines(grammarText) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] == "#" {
			continue
		}
		t := term{element: strings.Split(f[0], "/")}
		t.child, t.attr = pathOf(f[1])
		t.want, t.must = strings.CutSuffix(f[2], "!")
		if len(f) > 3 {
			t.when = f[3]
		}
		out = append(out, t)
	}
	return out
})

// pathOf divides "target/size@unit" into the path of an element and its attribute.
func pathOf(s string) (path []string, attr string) {
	s, attr, _ = strings.Cut(s, "@")
	if s == "" || s == "." {
		return nil, attr
	}
	return strings.Split(s, "/"), attr
}

// name is the value's own name, for messages.
func (t *term) name() string {
	switch {
	case t.attr != "":
		return t.attr
	case t.child != nil:
		return t.child[len(t.child)-1]
	}
	return "value"
}

// owner is the name of the element that has the value, for messages.
func (t *term) owner(e *element) string {
	switch n := len(t.child); {
	case n > 0 && t.attr != "":
		return t.child[n-1]
	case n > 1:
		return t.child[n-2]
	}
	return e.name
}

// value returns the value of an element, and whether it is stated. An empty text states nothing.
func value(e *element, path []string, attr string) (s string, stated bool) {
	if e = e.child(path...); attr == "" {
		return e.content(), e.content() != ""
	}
	if !e.has(attr) {
		return "", false
	}
	i := slices.IndexFunc(e.attrs, func(a xml.Attr) bool { return a.Name.Local == attr && a.Name.Space == "" })
	return e.attrs[i].Value, true
}

// every returns all elements at a path.
func (e *element) every(path []string) []*element {
	list := []*element{e}
	for _, name := range path {
		var next []*element
		for _, one := range list {
			next = append(next, one.all(name)...)
		}
		list = next
	}
	return list
}

// applies reports whether the conditions of a term hold for an element of a domain.
func (t *term) applies(domain, e *element) bool {
	for one := range strings.SplitSeq(t.when, "&") {
		of, not := e, false
		if rest, absolute := strings.CutPrefix(one, "/"); absolute {
			of, one = domain, rest
		}
		left, values, compared := strings.Cut(one, "=")
		if left, not = strings.CutSuffix(left, "!"); !compared {
			left, not = strings.CutPrefix(left, "!")
		}
		path, attr := pathOf(left)
		s, stated := value(of, path, attr)
		switch {
		case left == "":
		case compared && slices.Contains(strings.Split(values, "|"), s) == not:
			return false
		case !compared && attr != "" && stated == not, !compared && attr == "" && (of.child(path...) != nil) == not:
			return false
		}
	}
	return true
}

// number reports whether libvirt takes s as a number of a range: "1-3", or "1-" up to most.
func number(s, within string, most uint64) bool {
	low, high, _ := strings.Cut(within, "-")
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, 64)
	from, _ := strconv.ParseUint(low, 10, 64)
	if to, err := strconv.ParseUint(high, 10, 64); err == nil {
		most = to
	}
	return err == nil && n >= from && n <= most
}

// maxBit is the number of CPUs and nodes that libvirt knows (VIR_DOMAIN_CPUMASK_LEN).
const maxBit = 1 << 14

// takes reports whether libvirt takes a value of an element of a domain; and else the values that it takes.
func (d *domain) takes(t *term, s string, root, e *element) (ok bool, want string) {
	if path, related := strings.CutPrefix(t.want, "<"); related {
		p, attr := pathOf(path)
		most, stated := value(root, p, attr)
		n, err := strconv.ParseUint(most, 10, 32)
		return !stated || err != nil || n > 0 && number(s, "0-", n-1), "a number below that of " + path
	}
	switch t.want {
	case "any":
		return true, ""
	case "name":
		return !strings.Contains(s, "/"), "no /"
	case "uuid":
		id, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
		return err == nil && len(id) == 16, "32 digits of base 16"
	case "share":
		n, err := strconv.ParseInt(s, 10, 64)
		return err == nil && (n <= 0 || n >= 1000 && n <= 17592186044415), "0, below 0, or a number from 1000 to 17592186044415"
	case "holder":
		c := cellOf(root, s)
		return c == nil || c.attr("cpus") != "" || c == cellOf(root, "0"), "a cell that has vCPUs"
	case "level":
		n, _ := strconv.Atoi(s)
		return n == 0 || slices.ContainsFunc(cellOf(root, e.attr("target")).all("cache"), func(c *element) bool {
			level, _ := strconv.Atoi(c.attr("level"))
			return level == n
		}), "the level of a cache that the target has"
	case "unit":
		_, ok = units[strings.ToLower(s)]
		return ok, "bytes, KiB, MiB, GiB or TiB"
	case "list", "set":
		if !strings.Contains(s, "+") {
			quiet := *d.reader
			quiet.file = &fact.File{}
			list := quiet.numbers(&element{}, "", strings.TrimSuffix(s, ","), maxBit)
			ok = list != nil && (t.want == "set" || len(list) > 0)
		}
		return ok, "a list such as 0-31,^5, with single numbers behind ^"
	case "vcpus":
		list := d.quietly().numbers(&element{}, "", s, numa.MaxVCPUs)
		return d.most == 0 || list == nil || !slices.ContainsFunc(list, func(v int) bool { return v >= d.most }), fmt.Sprintf("vCPUs, of which there are %d", d.most)
	case "iothreads":
		list := d.quietly().numbers(&element{}, "", s, maxBit)
		return d.Stated.Partial || !slices.ContainsFunc(list, func(n int) bool { return !d.iothreads[n] }), fmt.Sprintf("I/O threads, of which there are %d", len(d.iothreads))
	case "cell":
		cells := len(root.child("cpu", "numa").all("cell"))
		if cells == 0 && root.child("maxMemory") == nil { // with it, later releases add one
			return false, "a cell, and there is none"
		}
		return number(s, "0-", uint64(max(1, cells)-1)), fmt.Sprintf("a cell, of which there are %d", cells)
	case "number":
		return number(s, "0-", math.MaxUint32), "a number"
	case "big":
		return number(s, "0-", math.MaxUint64), "a number"
	}
	if low, high, ranged := strings.Cut(t.want, "-"); ranged && !strings.Contains(t.want, "|") {
		if high == "" {
			return number(s, t.want, math.MaxUint64), "a number from " + low + " on"
		}
		return number(s, t.want, math.MaxUint32), "a number from " + low + " to " + high
	}
	list := strings.Split(t.want, "|")
	return slices.Contains(list, s), strings.Join(slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" }), ", ")
}

// cellOf returns the cell of a number, nil for none; those without a number are in order.
func cellOf(root *element, number string) *element {
	list := root.child("cpu", "numa").all("cell")
	i := slices.IndexFunc(list, func(c *element) bool { return c.attr("id") == number })
	if n, err := strconv.Atoi(number); i < 0 && err == nil && n >= 0 && n < len(list) && list[n].attr("id") == "" {
		i = n
	}
	if i < 0 {
		return nil
	}
	return list[i]
}

// keys are the values of an element that no other may have: those of several attributes together, each number of a list.
func (d *domain) keys(t *term, e *element) (out []string) {
	if t.want == "apart" {
		for _, n := range d.quietly().numbers(&element{}, "", e.attr(t.attr), maxBit) {
			out = append(out, strconv.Itoa(n))
		}
		return out
	}
	key, any := "", false
	for attr := range strings.SplitSeq(t.attr, "+") {
		s, stated := value(e, t.child, attr)
		if n, err := strconv.Atoi(s); err == nil {
			s = strings.TrimPrefix(strconv.Itoa(n), "0") // 0 is that of an attribute which is absent
			any = any || stated
		}
		key += s + " "
	}
	if any {
		out = append(out, key)
	}
	return out
}

// repeated finds elements with what another one of their kind has; below another parent that is another kind with unique-in.
func (d *domain) repeated(t *term, root *element) {
	n := len(t.element) - 1
	seen := map[string]bool{}
	for _, parent := range root.every(t.element[:n]) {
		if t.want == "unique-in" {
			clear(seen)
		}
		for _, e := range parent.all(t.element[n]) {
			if !t.applies(root, e) {
				continue
			}
			for _, key := range d.keys(t, e) {
				if seen[key] {
					d.invalid(e, "two <%s> have the same %s", e.name, strings.ReplaceAll(t.attr, "+", ", "))
					break
				}
				seen[key] = true
			}
		}
	}
}

// refused finds values that libvirt does not take, and those that it misses.
func (d *domain) refused(root *element) {
	for _, t := range grammar() {
		if strings.HasPrefix(t.want, "unique") || t.want == "apart" {
			d.repeated(&t, root)
			continue
		}
		for i, e := range root.every(t.element) {
			if !t.applies(root, e) {
				continue
			}
			s, stated := value(e, t.child, t.attr)
			there := stated || t.attr == "" && e.child(t.child...) != nil && t.child != nil
			switch ok, want := d.takes(&t, s, root, e); {
			case t.want == "once":
				if i == 1 {
					d.invalid(e, "<%s> is there twice", e.name)
				}
			case t.want == "none":
				if there {
					d.invalid(e, "%s of <%s> does not go with %s", t.name(), t.owner(e), strings.TrimPrefix(t.when, "@"))
				}
			case t.must && (t.want == "any" && !there || t.want != "any" && !stated):
				d.invalid(e, "<%s> states no %s", t.owner(e), t.name())
			case stated && !ok:
				d.invalid(e, "%s of <%s> is %q, want %s", t.name(), t.owner(e), text.Short(s), want)
			}
		}
	}
}

// invalid adds what libvirt refuses in an element; a warning about reading it would say the same.
func (d *domain) invalid(e *element, format string, args ...any) {
	d.Refuse(e.line, e.col, format+": libvirt refuses it", args...)
	d.wrong = append(d.wrong, [2]int{e.line, e.col})
}
