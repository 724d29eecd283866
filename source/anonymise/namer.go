package anonymise

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// A namer assigns pseudonyms to names.
type namer struct {
	tag    string            // between kind and number; a text that does not occur in the fleet
	width  int               // of the number
	count  map[string]int    // pseudonyms by kind
	base   map[string]string // pseudonym of a name in lower case
	exact  map[string]string // pseudonym of each spelling
	spells map[string]int    // spellings of a name in lower case
	lens   []int             // lengths of the names, longest first

	domains map[string]bool // names in lower case that are domains of hosts
	phrases map[string]bool // quotations in lower case: they are names only inside quotes

	memo map[string]string // results for whole texts: most origins are equal

	public map[string]bool // texts that are kept, because they state a product
}

// spare adds the texts that state a public product to those that are kept: product facts, custom attributes
// and tags.
func (n *namer) spare(f *numa.Fleet, public func(string) bool) {
	for i := range f.VMs {
		v := &f.VMs[i]
		if public(v.Product.Value) {
			n.public[v.Product.Value] = true
		}
		for _, a := range v.Attributes {
			if strings.EqualFold(a.Name, numa.ProductLabel) && public(a.Value) {
				n.public[a.Name], n.public[a.Value] = true, true
			}
		}
		for _, tag := range v.Tags {
			if label, text, ok := strings.Cut(tag, ":"); ok && strings.EqualFold(strings.TrimSpace(label), numa.ProductLabel) && public(text) {
				n.public[tag] = true
			}
		}
	}
}

func newNamer(tag string) *namer {
	return &namer{
		tag: tag, width: 4, count: map[string]int{}, base: map[string]string{}, exact: map[string]string{},
		spells: map[string]int{}, memo: map[string]string{}, domains: map[string]bool{}, phrases: map[string]bool{}, public: map[string]bool{},
	}
}

// learn adds the names of a fleet.
func (n *namer) learn(f *numa.Fleet) {
	all := names(f)
	if len(n.base) == 0 {
		for size := 10000; size <= len(all); size *= 10 {
			n.width++
		}
	}
	for _, name := range all {
		n.know(name[0], name[1])
	}
}

// know adds a name, so that it is found inside texts, and returns its pseudonym.
func (n *namer) know(kind, name string) string {
	if n.public[name] {
		return name
	}
	p, known := n.exact[name]
	if !known {
		p = n.whole(kind, name)
		clear(n.memo)
	}
	if kind == kindDomain {
		n.domains[strings.ToLower(name)] = true
	}
	if at, found := slices.BinarySearchFunc(n.lens, len(name), func(a, b int) int { return b - a }); !found {
		n.lens = slices.Insert(n.lens, at, len(name))
	}
	return p
}

// freeTag returns the shortest tag for which no text of the fleet looks like a pseudonym: a fleet that
// contains "host-12" gets hosta-0001.
func freeTag(f *numa.Fleet) string {
	texts := map[string]bool{} // each once: most origins are equal
	walk(reflect.ValueOf(*f), func(_ site, s string) string {
		if strings.IndexByte(s, '-') > 0 {
			texts[s] = true
		}
		return s
	})
	for tag := ""; ; tag += "x" {
		form, taken := pseudonymForm(tag), false
		for s := range texts {
			taken = taken || form.MatchString(s)
		}
		if !taken {
			return tag
		}
	}
}

// pseudonymForm matches the pseudonyms that use a tag.
func pseudonymForm(tag string) *pattern.Pattern {
	return pattern.Of(`(?i)(?:` + strings.Join(kinds, "|") + `)` + tag + `-\d+`)
}

// whole returns the pseudonym of a name. Spellings that differ in case get pseudonyms that differ in case,
// so that they still match each other and each can be restored exactly.
func (n *namer) whole(kind, s string) string {
	if s == "" || n.public[s] {
		return s
	}
	if p, ok := n.exact[s]; ok {
		return p
	}
	low := strings.ToLower(s)
	p, ok := n.base[low]
	spelling := n.spells[low]
	if letters := strings.IndexByte(p, '-'); !ok || letters < 1 || spelling >= 1<<min(letters, 20) {
		n.count[kind]++
		p, spelling = fmt.Sprintf("%s%s-%0*d", kind, n.tag, n.width, n.count[kind]), 0
		n.base[low] = p
	}
	n.spells[low] = spelling + 1
	b := []byte(p)
	for i := 0; spelling>>i > 0; i++ {
		if spelling>>i&1 == 1 {
			b[i] -= 'a' - 'A'
		}
	}
	n.exact[s] = string(b)
	return string(b)
}

// Forms that are replaced in a text although they are not names of the fleet. Their order is that of the
// alternatives: the longest form first.
const (
	uuidText    = `\b[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}\b`
	macText     = `\b[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5}\b`
	ipv4Text    = `\b\d{1,3}(?:\.\d{1,3}){3}\b`
	ipv6Text    = `(?:\b[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){7}\b|\b(?:[0-9a-fA-F]{1,4}:){1,6}(?::[0-9a-fA-F]{1,4}){1,6}\b|::1\b)`
	mailText    = `\b[\w.+-]+@[\w.-]+\w`
	urlText     = `\b[a-z][a-z0-9+.-]*://[^\s"]+`
	storeText   = `\[[^\]\[]*[^\]\[\d][^\]\[]*\]`
	pathText    = `[^\s"'(]*[^\s"'(/\\][/\\][^\s"',;:)]*|[/\\]+[^\s"',;:)/\\][^\s"',;:)]*`
	quotedText  = `"[^"]*[^"\s][^"]*"`
	fileText    = `\b[\w.-]+\.(?:log|vmx|vmdk|txt|out|csv|xlsx|zip|tgz|gz|json|txtar|html)\b`
	domainText  = `\b(?:[a-zA-Z0-9][\w-]*\.)+(?:com|net|org|edu|gov|io|local|localdomain|lan|lab|corp|internal|intern|intra|example|test|[a-z]{2})\b`
	accountText = `\b[A-Za-z][\w-]*\\[\w.-]+`
)

var (
	addressForm = pattern.Of(ipv4Text + `|` + ipv6Text)
	uuidForm    = pattern.Of(uuidText)
	strange     = pattern.Of(urlText + `|` + storeText + `|` + mailText + `|` + accountText + `|` + uuidText + `|` + macText + `|` + ipv4Text + `|` + ipv6Text + `|` +
		quotedText + `|` + pathText + `|` + fileText + `|` + domainText)
)

// text replaces the names in s, and addresses, paths and quotations in the rest of it. Words of homenode
// are kept.
func (n *namer) text(s string) string {
	if out, ok := n.memo[s]; ok {
		return out
	}
	own := ownWords.Regexp().FindAllStringIndex(s, -1)
	var b strings.Builder
	rest := 0 // start of the text without names that is not yet copied
	for i := 0; i < len(s); {
		for len(own) > 0 && own[0][0] < i {
			own = own[1:]
		}
		start, end := n.span(s, rest, i)
		switch {
		case end > i:
			b.WriteString(n.foreign(s[rest:start]))
			if label, ok := strings.CutSuffix(s[start:i], "."); ok {
				b.WriteString(n.whole(kindHost, label) + ".")
				start = i
			}
			b.WriteString(n.whole(kindText, s[start:end]))
			i, rest = end, end
		case len(own) > 0 && own[0][0] == i:
			b.WriteString(n.foreign(s[rest:i]))
			b.WriteString(s[i:own[0][1]])
			i = own[0][1]
			rest = i
		default:
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
		}
	}
	b.WriteString(n.foreign(s[rest:]))
	n.memo[s] = b.String()
	return b.String()
}

// span returns the start and the end of a known name in s at i; end is i if there is none. The label before
// a known domain is taken as the name of a host outside the fleet; a quoted word that begins with a name,
// such as "db01-old", is a name too.
func (n *namer) span(s string, rest, i int) (start, end int) {
	size := n.nameAt(s, i)
	if size == 0 {
		return i, i
	}
	start, end = i, i+size
	if label := labelBefore.FindString(s[rest:i]); n.domains[strings.ToLower(s[i:end])] {
		start -= len(label)
	} else if after := quotedAfter.FindString(s[end:]); i > 0 && s[i-1] == '"' && after != "" {
		end += len(after) - 1
	}
	return start, end
}

// Texts that homenode itself adds about a source, kept so that the recipient can see the source of a fact:
// columns of RVTools, which the reader knows by name, and properties of the vSphere API.
const (
	columnText   = `\b(?:column|row \d+) "[^"]*"(?:, "[^"]*")*`
	propertyText = `\b(?:config\.(?:hardware|cpu[AH]\w+|memory[AHR]\w+|extraConfig|guest\w+|latencySensitivity|numaInfo|template|version|hyperThread|option|powerSystemInfo|product|uuid|instanceUuid)` +
		`|summary\.(?:hardware|runtime|config)|runtime\.(?:powerState|connectionState|inMaintenanceMode|host)|hardware\.(?:cpuInfo|cpuPkg|memorySize|numaInfo|systemInfo|biosInfo))(?:\.[a-z]\w*)*\b`
)

var (
	ownWords  = pattern.Of(columnText + `|` + propertyText)
	ownOrigin = pattern.Of(`^(?:v[A-Z]\w* row \d+ "[^"]*"|` + propertyText + `)$`)

	labelBefore = pattern.Of(`[\pL\pN_-]+\.$`)
	quotedAfter = pattern.Of(`^[-_.][^\s"]*"`)
)

// nameAt returns the length of the longest name in s at i that is not adjacent to a letter or digit.
func (n *namer) nameAt(s string, i int) int {
	if before, _ := utf8.DecodeLastRuneInString(s[:i]); i > 0 && isWord(before) {
		return 0
	}
	for _, size := range n.lens {
		if i+size > len(s) {
			continue
		}
		if after, _ := utf8.DecodeRuneInString(s[i+size:]); i+size < len(s) && isWord(after) {
			continue
		}
		part := strings.ToLower(s[i : i+size])
		if _, known := n.base[part]; known && !n.phrases[part] && distinct(part) {
			return size
		}
	}
	return 0
}

// distinct reports whether a name is distinctive enough to be replaced: a single letter or "2" occurs in
// every text.
func distinct(name string) bool {
	letter := strings.ContainsFunc(name, unicode.IsLetter)
	return len(name) > 1 && (letter || len(name) > 3)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// foreign replaces forms that are not names of the fleet.
func (n *namer) foreign(s string) string {
	return strange.Regexp().ReplaceAllStringFunc(s, func(part string) string {
		kind := kindPath
		switch {
		case uuidForm.FindString(part) == part:
			kind = kindUUID
		case addressForm.FindString(part) == part:
			kind = kindAddress
		case part[0] == '"':
			phrase := part[1 : len(part)-1]
			if low := strings.ToLower(phrase); n.base[low] == "" {
				n.phrases[low] = true
			}
			return `"` + n.whole(kindText, phrase) + `"`
		}
		return n.whole(kind, part)
	})
}
