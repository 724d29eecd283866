package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"homenode/internal/alike"
	"homenode/internal/words"
	"homenode/source/esxtop"
)

// glob compiles a glob; nil for an empty one.
func glob(pattern string) *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	quoted := regexp.QuoteMeta(blanks(strings.ToValidUTF8(pattern, "?")))
	return regexp.MustCompile("(?is)^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(quoted) + "$")
}

// blanks reduces runs of blanks to one: esxtop writes some names with two.
func blanks(s string) string {
	if !strings.Contains(s, "  ") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

func matches(g *regexp.Regexp, s string) bool { return g == nil || g.MatchString(blanks(s)) }

// A picker is a compiled Options. It caches names, which repeat many times in a header.
type picker struct {
	opt                       Options
	object, instance, counter func(string) bool
}

func newPicker(opt Options) picker {
	return picker{opt, remember(glob(opt.Object)), remember(glob(opt.Instance)), remember(glob(opt.Counter))}
}

func remember(g *regexp.Regexp) func(string) bool {
	known := map[string]bool{}
	return func(s string) bool {
		yes, ok := known[s]
		if !ok {
			yes = matches(g, s)
			known[s] = yes
		}
		return yes
	}
}

func (p *picker) matches(c *esxtop.Column) bool {
	return p.object(c.Object) && p.counter(c.Counter) && p.instance(c.Instance)
}

// nothing returns an error that names a glob without matches and the probable intention; nil when
// columns are selected.
func (l *listing) nothing(h *esxtop.Header) error {
	if len(l.Objects) > 0 {
		return nil
	}
	return miss(l.File, h, l.pick.opt, "--explore: ")
}

// miss returns an error for globs that select no column of h together: it names the first one, in
// the order object, instance, counter, that matches nothing in combination with the earlier ones.
func miss(file string, h *esxtop.Header, opt Options, front string) error {
	object, instance, counter := glob(opt.Object), glob(opt.Instance), glob(opt.Counter)
	var objects, instances, counters []string
	found := 0 // the longest match of the globs
	seen := map[string]bool{}
	note := func(to *[]string, kind, name string) {
		if name != "" && !seen[kind+name] {
			seen[kind+name] = true
			*to = append(*to, name)
		}
	}
	for i := range h.Columns {
		c := &h.Columns[i]
		note(&objects, "o", c.Object)
		if !matches(object, c.Object) {
			continue
		}
		found = max(found, 1)
		note(&instances, "i", shortInstance(opt.Instance, c.Instance))
		if !matches(instance, c.Instance) {
			continue
		}
		found = 2
		note(&counters, "c", c.Counter)
	}
	switch {
	case found == 0:
		return fmt.Errorf("%s%s: no object matches %q%s", front, file, opt.Object, near(opt.Object, objects))
	case found == 1:
		return fmt.Errorf("%s%s: no instance%s matches %q%s", front, file, of(opt), opt.Instance, near(opt.Instance, instances))
	case !matchesAny(counter, counters):
		return fmt.Errorf("%s%s: no counter%s matches %q%s", front, file, of(opt), opt.Counter, near(opt.Counter, counters))
	}
	return fmt.Errorf("%s: no column matches object %q, instance %q and counter %q together", file, opt.Object, opt.Instance, opt.Counter)
}

func matchesAny(g *regexp.Regexp, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return matches(g, n) })
}

func of(opt Options) string {
	if opt.Object == "" {
		return ""
	}
	return " of " + opt.Object
}

// shortInstance omits the group id when the pattern does.
func shortInstance(pattern, instance string) string {
	if !strings.HasPrefix(pattern, "*:") {
		return instance
	}
	if _, name, ok := strings.Cut(instance, ":"); ok {
		return name
	}
	return instance
}

// near names the probable intention, or the first few known names.
func near(pattern string, known []string) string {
	word := strings.Trim(strings.TrimPrefix(pattern, "*:"), "*?")
	if hint := alike.After(word, known); hint != "" {
		return hint
	}
	if len(known) == 0 {
		return ""
	}
	return "; there are " + words.First(5, known)
}

// A pathGlob matches whole names of columns: OBJECT(INSTANCE)\COUNTER, after \\HOST\ when the pattern begins so.
type pathGlob struct {
	pattern string
	glob    *regexp.Regexp
	host    bool
	hits    int
}

func newPathGlob(pattern string) (*pathGlob, error) {
	if strings.TrimSpace(pattern) == "" {
		return nil, fmt.Errorf(`--explore: found nothing, want OBJECT(INSTANCE)\COUNTER such as 'Group Memory(*:sql01)\Numa %% Local'`)
	}
	return &pathGlob{pattern: pattern, glob: glob(pattern), host: strings.HasPrefix(pattern, `\\`)}, nil
}

func (p *pathGlob) matches(c *esxtop.Column) bool {
	name := c.String()
	if !p.host && c.Object != "" {
		name = name[len(`\\`)+len(c.Host)+len(`\`):]
	}
	if !matches(p.glob, name) {
		return false
	}
	p.hits++
	return true
}

// miss returns the error for a pattern that no column of h matches. For a file that is read once,
// headers further down were not checked.
func (p *pathGlob) miss(file string, h *esxtop.Header, once bool) error {
	if once {
		return fmt.Errorf("%w (of standard input the first header counts alone: extract from the file itself for VMs that came later)", p.miss(file, h, false))
	}
	front := fmt.Sprintf("--explore: no column matches %q: ", p.pattern)
	opt := Picks(p.pattern)
	if opt.Counter == "" {
		return fmt.Errorf(`%s%s: want OBJECT(INSTANCE)\COUNTER`, front, file)
	}
	return miss(file, h, opt, front)
}

// Picks splits a pattern: OBJECT, OBJECT(INSTANCE) or OBJECT(INSTANCE)\COUNTER, each a glob, with
// or without \\HOST\; * alone selects everything.
func Picks(pattern string) (o Options) {
	if path, ok := strings.CutPrefix(pattern, `\\`); ok {
		_, pattern, _ = strings.Cut(path, `\`)
	}
	if i := strings.LastIndexByte(pattern, '\\'); i >= 0 {
		pattern, o.Counter = pattern[:i], pattern[i+1:]
	}
	if open := strings.IndexByte(pattern, '('); open >= 0 && strings.HasSuffix(pattern, ")") {
		pattern, o.Instance = pattern[:open], pattern[open+1:len(pattern)-1]
	}
	if pattern != "*" {
		o.Object = pattern
	}
	return o
}
