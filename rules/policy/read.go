package policy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/internal/words"

	"go.yaml.in/yaml/v4"

	"example.org/homenode/internal/alike"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// MaxSize is the maximum size of a configuration, in bytes: ten thousand suppressions need a
// fifth of it.
const MaxSize = 8 << 20

// Parse parses the configuration in data for these rules; file is used in errors. The error
// joins one numa.SyntaxError for each fault, in their order.
func Parse(file string, data []byte, known []*rule.Rule) (*Policy, error) {
	r := &reader{file: file, rules: known}
	p := &Policy{File: file, Thresholds: map[string]float64{}, Severities: map[string]finding.Severity{}, Off: map[string]bool{}}
	for _, one := range known {
		if one.Watch == nil {
			continue
		}
		if p.watch == nil {
			p.watch = map[string]bool{}
		}
		p.watch[one.ID] = true
	}
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%s: %d bytes, want at most %d", file, len(data), MaxSize)
	}
	// All documents, so that a second one is reported and not ignored.
	var docs []yaml.Node
	if err := yaml.Load(data, &docs, yaml.WithAllDocuments()); err != nil {
		return nil, r.malformed(data, err)
	}
	if len(docs) > 1 {
		r.errorf(&docs[1], "found a second document, want one")
	}
	if len(docs) > 0 && len(docs[0].Content) > 0 {
		r.top(p, docs[0].Content[0])
	}
	slices.SortStableFunc(r.faults, func(a, b *numa.SyntaxError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	var errs []error
	for i, f := range r.faults {
		if i == mostFaults {
			errs = append(errs, fmt.Errorf("%s: and %d more", file, len(r.faults)-i))
			break
		}
		errs = append(errs, f)
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	return p, nil
}

// longest is the maximum length of a pattern, in bytes: enough for an inventory path of ten
// folders.
const longest = 1000

// mostFaults is the maximum number of reported faults.
const mostFaults = 20

// reader contains the faults found so far.
type reader struct {
	file   string
	rules  []*rule.Rule
	faults []*numa.SyntaxError
}

// place returns the position of a node.
func (r *reader) place(n *yaml.Node) string { return numa.Place(r.file, n.Line, n.Column) }

func (r *reader) errorf(n *yaml.Node, format string, args ...any) {
	r.faults = append(r.faults, &numa.SyntaxError{File: r.file, Line: max(1, n.Line), Col: max(1, n.Column), Msg: fmt.Sprintf(format, args...)})
}

// malformed converts an error of the YAML library to our format.
func (r *reader) malformed(data []byte, err error) error {
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		if col := indentTab(data, e.Mark.Line); col > 0 {
			return &numa.SyntaxError{File: r.file, Line: e.Mark.Line, Col: col, Msg: "found a tab, want blanks: YAML indents with blanks alone"}
		}
		msg := e.Message
		if e.ContextMsg != "" {
			msg = e.ContextMsg + ": " + msg
		}
		return &numa.SyntaxError{File: r.file, Line: max(1, e.Mark.Line), Col: max(1, e.Mark.Column), Msg: msg}
	}
	return fmt.Errorf("%s: %w", r.file, err)
}

// indentTab returns the column of the first tab before the text of a line; 0 if there is none.
func indentTab(data []byte, line int) int {
	n := 0
	for text := range bytes.Lines(data) {
		if n++; n == line {
			return 1 + bytes.IndexByte(text[:len(text)-len(bytes.TrimLeft(text, " \t"))], '\t')
		}
	}
	return 0
}

// top parses the whole configuration.
func (r *reader) top(p *Policy, n *yaml.Node) {
	if isNull(n) {
		return // only comments
	}
	r.expectations(p, n)
	r.mapping(n, []string{"thresholds", "severities", "suppress", "expect", "fix"}, func(key string, _, value *yaml.Node) {
		switch key {
		case "thresholds":
			r.mapping(value, r.thresholdNames(), func(name string, _, v *yaml.Node) { r.threshold(p, name, v) })
		case "severities":
			r.mapping(value, r.ruleIDs(), func(id string, _, v *yaml.Node) { r.severity(p, id, v) })
		case "suppress":
			r.suppress(p, value)
		case "fix":
			r.fix(&p.Fix, value)
		}
	})
}

// mapping calls each for every pair whose key is allowed; other and repeated keys are faults.
// each gets the key in the spelling of allowed.
func (r *reader) mapping(n *yaml.Node, allowed []string, each func(key string, keyNode, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.errorf(n, "found %s, want a mapping with %s", kind(n), list(allowed))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			r.errorf(k, "found %s as a key, want %s", kind(k), list(allowed))
			continue
		}
		key, exact := alike.Of(k.Value, allowed)
		switch {
		case !exact && key != "":
			r.errorf(k, "found %q, which is unknown: alike is %s", short(k.Value), key)
		case !exact:
			r.errorf(k, "found %q, which is unknown: want %s", short(k.Value), list(allowed))
		case seen[key] > 0:
			r.errorf(k, "found %s again, line %d has it", key, seen[key])
		default:
			seen[key] = k.Line
			each(key, k, v)
		}
	}
}

// threshold parses one number: "0.15", "15 %", "5 min" or, for counts, "4".
func (r *reader) threshold(p *Policy, name string, n *yaml.Node) {
	if value, ok := r.number(n, name, r.thresholds()[name]); ok {
		p.Thresholds[name] = value
	}
}

func (r *reader) severity(p *Policy, id string, n *yaml.Node) {
	text, ok := r.scalar(n)
	if !ok {
		return
	}
	if text == "off" {
		p.Off[id] = true
		return
	}
	s, err := finding.ParseSeverity(text)
	if err != nil {
		r.errorf(n, "found %s: %q, want info, low, medium, high or off", id, short(text))
		return
	}
	p.Severities[id] = s
}

func (r *reader) suppress(p *Policy, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		r.errorf(n, "found %s, want a list of suppressions", kind(n))
		return
	}
	for _, item := range n.Content {
		s := Suppression{At: r.place(item)}
		before := len(r.faults)
		r.suppression(&s, item)
		if len(r.faults) == before {
			p.Suppress = append(p.Suppress, s)
		}
	}
}

// suppression parses one item of the list.
func (r *reader) suppression(s *Suppression, item *yaml.Node) {
	has := map[string]bool{}
	r.mapping(item, []string{"rules", "vm", "tag", "folder", "cluster", "host", "reason", "until"}, func(key string, _, v *yaml.Node) {
		has[key] = true
		switch key {
		case "rules":
			s.Rules = r.someRules(v)
		case "reason":
			var ok bool
			if s.Reason, ok = r.scalar(v); ok && s.Reason == "" {
				r.errorf(v, "found an empty reason: say why the findings are accepted")
			}
		case "until":
			var ok bool
			s.Until, ok = r.scalar(v)
			if _, err := time.Parse(time.DateOnly, s.Until); ok && err != nil {
				r.errorf(v, "found until = %q, want a date such as 2027-01-31", short(s.Until))
			}
		default:
			*map[string]*[]string{"vm": &s.VM, "tag": &s.Tag, "folder": &s.Folder, "cluster": &s.Cluster, "host": &s.Host}[key] = r.texts(v)
		}
	})
	if item.Kind != yaml.MappingNode {
		return
	}
	for _, c := range []struct{ key, want string }{
		{"reason", "found a suppression without reason: say why the findings are accepted"},
		{"until", "found a suppression without until: say until which day it holds, such as 2027-01-31"},
		{"rules", "found a suppression without rules: name them, such as [N001, N015], or all"},
	} {
		if !has[c.key] {
			r.errorf(item, "%s", c.want)
		}
	}
	if !has["vm"] && !has["tag"] && !has["folder"] && !has["cluster"] && !has["host"] || has["rules"] && s.Rules == nil && s.meansAll() {
		r.errorf(item, "found a suppression of everything: want vm, tag, folder, cluster or host; severities switch a rule off for all")
	}
}

// meansAll reports whether there are patterns and all of them match everything.
func (s *Suppression) meansAll() bool {
	all := slices.Concat(s.VM, s.Tag, s.Folder, s.Cluster, s.Host)
	return len(all) > 0 && !slices.ContainsFunc(all, func(p string) bool { return strings.Trim(p, "*") != "" })
}

// someRules parses "all", one ID or a list of IDs; nil means all.
func (r *reader) someRules(n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode && n.Value == "all" {
		return nil
	}
	ids, out := r.ruleIDs(), []string{}
	before := len(r.faults)
	for _, one := range items(n) {
		text, ok := r.scalar(one)
		if id, exact := alike.Of(text, ids); exact {
			out = append(out, id)
		} else if ok {
			r.errorf(one, "found rule %q, which does not exist: homenode rules lists them", short(text))
		}
	}
	if len(out) == 0 && len(r.faults) == before {
		r.errorf(n, "found no rule, want IDs such as [N001, N015], or all")
	}
	return out
}

// texts parses one pattern or a list of them.
func (r *reader) texts(n *yaml.Node) []string {
	var out []string
	before := len(r.faults)
	for _, one := range items(n) {
		text, _ := r.scalar(one)
		if len(text) > longest {
			r.errorf(one, "found a pattern of %d bytes, want at most %d", len(text), longest)
		} else if text != "" {
			out = append(out, text)
		}
	}
	if out == nil && len(r.faults) == before {
		r.errorf(n, "found no pattern, want one such as sql*")
	}
	return out
}

// items returns the items of a list, or n alone.
func items(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return []*yaml.Node{n}
}

// scalar returns the text of a scalar as written; anything else is a fault.
func (r *reader) scalar(n *yaml.Node) (text string, ok bool) {
	if n.Kind != yaml.ScalarNode {
		r.errorf(n, "found %s, want a text", kind(n))
		return "", false
	}
	if isNull(n) {
		return "", true
	}
	return strings.TrimSpace(n.Value), true
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// kind names the kind of a node.
func kind(n *yaml.Node) string {
	switch {
	case isNull(n):
		return "nothing"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias (*" + short(n.Value) + ")"
	}
	return strconv.Quote(short(n.Value))
}

// short shortens a quotation in a fault.
func short(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// list joins words; a long list is shortened.
func list(words []string) string {
	const most = 8
	if len(words) > most {
		return strings.Join(words[:most], ", ") + " …"
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}

func (r *reader) ruleIDs() []string {
	return words.Texts(r.rules, func(one *rule.Rule) string { return one.ID })
}

// thresholds returns the thresholds of all rules by rule and name.
func (r *reader) thresholds() map[string]*rule.Threshold {
	out := map[string]*rule.Threshold{}
	for _, one := range r.rules {
		for i := range one.Thresholds {
			out[one.ID+"."+one.Thresholds[i].Name] = &one.Thresholds[i]
		}
	}
	return out
}

func (r *reader) thresholdNames() []string { return slices.Sorted(maps.Keys(r.thresholds())) }
