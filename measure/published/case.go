// Package published reads published NUMA topologies, configuration in and
// observation out, and compares each with the prediction. What a case leaves open is
// varied, not guessed: a field counts as comparable only when the prediction does not depend
// on what the case does not say. The others are counted, with the reason.
package published

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"homenode/source/text"
)

// A Case is one published configuration with what was observed.
type Case struct {
	ID       string
	Source   string
	Gave     string // what the source gave the model, where no statement cites its address
	Kind     string // observed, stated or recommended
	Release  string
	Hardware string
	Event    string         // such as vmotion; empty for a power-on
	From     map[string]any // host before a vMotion
	Host     map[string]any
	VM       map[string]any
	Observed map[string]any
}

// ReadFile reads a case file: the JSON form (a list of cases or one case) or the
// text form (one case a txtar file).
func ReadFile(path string) ([]Case, error) { return text.ReadFile(path, Read) }

// Read reads the cases in data; name stands in errors.
func Read(name string, data []byte) ([]Case, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if start := bytes.TrimSpace(data); len(start) > 0 && (start[0] == '[' || start[0] == '{') {
		return readJSON(name, data, start[0] == '{')
	}
	c, err := readText(name, data)
	if err != nil {
		return nil, err
	}
	return []Case{c}, nil
}

// readText reads the text form:
//
//	Any words, the source among them.
//	-- case --
//	id ID
//	source URL
//	kind observed
//	release 6.0
//	host sockets=2 cores_per_socket=10
//	vm vcpus=12 extra.numa.vcpu.preferHT="TRUE"
//	-- observed --
//	vpd_count=2
//	vcpus_per_node=[6,6]
//
// Values are JSON. A line of the observed section is one field.
func readText(name string, data []byte) (Case, error) {
	c := Case{Host: map[string]any{}, VM: map[string]any{}, Observed: map[string]any{}}
	line := 1 + strings.Count(string(txtar.Parse(data).Comment), "\n")
	for _, f := range txtar.Parse(data).Files {
		line++ // the marker
		for i, text := range strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n") {
			var err error
			switch {
			case !utf8.ValidString(text):
				err = errors.New("found bytes that are not UTF-8")
			case f.Name == "case":
				err = c.readLine(text)
			case f.Name == "observed":
				err = readFields(text, c.Observed)
			default:
				err = fmt.Errorf("found section %q, want case or observed", f.Name)
			}
			if err != nil {
				return c, fmt.Errorf("%s:%d: %w", name, line+i, err)
			}
		}
		line += strings.Count(string(f.Data), "\n")
	}
	if c.ID == "" {
		return c, fmt.Errorf("%s: no line \"id\" in a section \"-- case --\"", name)
	}
	return c, nil
}

func (c *Case) readLine(text string) error {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "":
		return nil
	case "id":
		c.ID = rest
	case "source":
		c.Source = rest
	case "gave":
		c.Gave = rest
	case "kind":
		c.Kind = rest
	case "release":
		c.Release = rest
	case "hardware":
		c.Hardware = rest
	case "event":
		c.Event = rest
	case "host":
		return readFields(rest, c.Host)
	case "from":
		if c.From == nil && rest != "" {
			c.From = map[string]any{}
		}
		return readFields(rest, c.From)
	case "vm":
		return readFields(rest, c.VM)
	default:
		return fmt.Errorf("found %q, want id, source, gave, kind, release, hardware, event, host, from or vm", word)
	}
	return nil
}

// readFields reads key=JSON pairs separated by blanks; "extra.KEY" goes into the
// nested object extra.
func readFields(text string, into map[string]any) error {
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || key == "" || strings.ContainsFunc(key, unicode.IsSpace) {
			return fmt.Errorf("found %q, want key=value", rest)
		}
		dec := json.NewDecoder(strings.NewReader(after))
		var v any
		if err := dec.Decode(&v); err != nil {
			return fmt.Errorf("%s: found %q, want a JSON value", key, after)
		}
		rest = after[dec.InputOffset():]
		if name, ok := strings.CutPrefix(key, "extra."); ok {
			extra, _ := into["extra"].(map[string]any)
			if extra == nil {
				extra = map[string]any{}
				into["extra"] = extra
			}
			extra[name] = v
			continue
		}
		into[key] = v
	}
	return nil
}
