// Package published reads published NUMA topologies, each with a configuration and an observation, and compares them with the
// prediction. Facts that a case does not state are varied, not guessed: a field is comparable only if the prediction does not depend
// on them. The other fields are counted, with the reason.
package published

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/source/strict"
)

// A Case is one published configuration with its observations. Zero fields are not stated.
type Case struct {
	ID       string
	Source   string
	Gave     string         // contribution of the source to the model, if no statement cites its address
	Kind     string         // observed, stated or recommended
	Releases []numa.Release // possible releases; for EPYC, where 6.5 U3 and 6.7 U2 changed the model (F-16), with these
	Hardware int
	Event    vnuma.Event
	From     *Host // before a vMotion
	Host     Host
	VM       VM
	Observed map[string]any
}

// A Host has the facts of a host that a case states.
type Host struct {
	Sockets        int     `json:"sockets,omitempty"`
	Nodes          int     `json:"numa_nodes,omitempty"`
	NodesPerSocket int     `json:"numa_nodes_per_socket,omitempty"`
	CoresPerSocket int     `json:"cores_per_socket,omitempty"`
	CoresPerNode   int     `json:"cores_per_node,omitempty"`
	Cores          int     `json:"total_cores,omitempty"`
	ThreadsPerCore int     `json:"threads_per_core,omitempty"`
	CPUModel       string  `json:"cpu_model,omitempty"`
	GB             float64 `json:"mem_gb,omitempty"`
	NodeGB         float64 `json:"mem_per_node_gb,omitempty"`
}

// A VM has the facts of a VM that a case states.
type VM struct {
	VCPUs              int               `json:"vcpus,omitempty"`
	MostVCPUs          int               `json:"vcpus_max,omitempty"`
	WiderThanNode      bool              `json:"wider_than_node,omitempty"`
	CoresPerSocket     int               `json:"cores_per_socket,omitempty"`
	AutoCoresPerSocket bool              `json:"auto_cores_per_socket,omitempty"`
	HotAdd             bool              `json:"cpu_hot_add,omitempty"`
	GB                 float64           `json:"mem_gb,omitempty"`
	Extra              map[string]string `json:"extra,omitempty"` // advanced settings
}

// check returns an error for impossible facts of a host.
func (h *Host) check() error {
	const cores = numa.MaxNodes * numa.MaxCoresPerNode
	nodes := h.nodes()
	for _, f := range []struct {
		name        string
		value, most int
	}{
		{"sockets", h.Sockets, numa.MaxNodes}, {"numa_nodes", h.Nodes, numa.MaxNodes}, {"numa_nodes_per_socket", h.NodesPerSocket, numa.MaxNodes}, {"threads_per_core", h.ThreadsPerCore, 8},
		{"cores_per_socket", h.CoresPerSocket, numa.MaxCoresPerNode}, {"cores_per_node", h.CoresPerNode, numa.MaxCoresPerNode}, {"total_cores", h.Cores, cores}, {"sockets with their NUMA nodes", nodes, numa.MaxNodes},
	} {
		if f.value < 0 || f.value > f.most {
			return fmt.Errorf("%s: found %d, want a number from 1 to %d", f.name, f.value, f.most)
		}
	}
	switch perSocket := h.NodesPerSocket; {
	case perSocket > 0 && h.Nodes > 0 && h.Sockets > 0 && h.Nodes != h.Sockets*perSocket:
		return fmt.Errorf("numa_nodes: found %d, want %d sockets × %d", h.Nodes, h.Sockets, perSocket)
	case nodes > 0 && (h.Sockets*h.CoresPerSocket%nodes != 0 || h.Cores%nodes != 0):
		return fmt.Errorf("cores_per_socket or total_cores: want a multiple of the %d NUMA nodes", nodes)
	}
	return cmp.Or(memory("mem_gb", h.GB, numa.MaxHostMemory), memory("mem_per_node_gb", h.NodeGB, numa.MaxHostMemory))
}

func (v *VM) check() error {
	for name, value := range map[string]int{"vcpus": v.VCPUs, "vcpus_max": v.MostVCPUs, "cores_per_socket": v.CoresPerSocket} {
		if value < 0 || value > numa.MaxVCPUs {
			return fmt.Errorf("%s: found %d, want a number from 1 to %d", name, value, numa.MaxVCPUs)
		}
	}
	for key := range v.Extra {
		if !numa.KeepSetting(key) {
			return fmt.Errorf("setting %q is no setting of ESXi", key)
		}
	}
	return memory("mem_gb", v.GB, numa.MaxVMMemory)
}

func memory(name string, gb float64, most numa.Bytes) error {
	if gb < 0 || gb*float64(numa.GiB) > float64(most) {
		return fmt.Errorf("%s: found %v, want an amount of memory", name, gb)
	}
	return nil
}

// Read reads cases; name is used in errors:
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
// Values are JSON. A line of the observed section is one field. Releases are a list: "6.5", "6.0..7.0", "5.0..", "6.7,6.7U2"; without
// it the case is about any that shows vNUMA. Each section "case" begins another case.
func Read(name string, data []byte) (cases []Case, err error) {
	archive := txtar.Parse(bytes.TrimPrefix(data, []byte("\ufeff")))
	line := 1 + strings.Count(string(archive.Comment), "\n")
	for _, f := range archive.Files {
		if f.Name == "case" {
			cases = append(cases, Case{Releases: since(numa.ESXi50, ^numa.Release(0)), Observed: map[string]any{}})
		}
		line++ // the marker
		for i, text := range strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n") {
			switch {
			case !utf8.ValidString(text):
				err = errors.New("found bytes that are not UTF-8")
			case f.Name != "case" && f.Name != "observed" || cases == nil:
				err = fmt.Errorf("found section %q, want case or observed", f.Name)
			case f.Name == "case":
				err = cases[len(cases)-1].readLine(text)
			default:
				err = readFields(text, cases[len(cases)-1].Observed)
			}
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, line+i, err)
			}
		}
		line += strings.Count(string(f.Data), "\n")
	}
	seen := map[string]bool{}
	for i := range cases {
		if id := cases[i].ID; id != "" && seen[id] {
			return nil, fmt.Errorf("%s: case %s stands there twice", name, id)
		}
		seen[cases[i].ID] = true
	}
	if cases == nil || seen[""] {
		return nil, fmt.Errorf("%s: no line \"id\" in a section \"-- case --\"", name)
	}
	return cases, nil
}

func (c *Case) readLine(text string) (err error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "":
	case "id":
		c.ID = rest
	case "source":
		c.Source = rest
	case "gave":
		c.Gave = rest
	case "kind":
		c.Kind = rest
	case "release":
		c.Releases, err = readReleases(rest)
	case "hardware":
		if c.Hardware, err = strconv.Atoi(rest); err != nil || c.Hardware < 3 || c.Hardware > 99 {
			return fmt.Errorf("found hardware %q, want a version such as 19", rest)
		}
	case "event":
		event, ok := vnuma.ParseEvent(rest)
		if !ok {
			return fmt.Errorf("found event %q, want one of %s", rest, strings.Join(vnuma.EventNames(), ", "))
		}
		c.Event = event
	case "host":
		return cmp.Or(readInto(rest, &c.Host), c.Host.check())
	case "from":
		c.From = &Host{}
		return cmp.Or(readInto(rest, c.From), c.From.check())
	case "vm":
		return cmp.Or(readInto(rest, &c.VM), c.VM.check())
	default:
		return fmt.Errorf("found %q, want id, source, gave, kind, release, hardware, event, host, from or vm", word)
	}
	return err
}

// readReleases parses a list of releases and ranges of them.
func readReleases(text string) (out []numa.Release, err error) {
	for part := range strings.SplitSeq(text, ",") {
		low, high, span := strings.Cut(strings.TrimSpace(part), "..")
		least, err := readRelease(low)
		if err != nil {
			return nil, err
		}
		if !span {
			out = append(out, least)
			continue
		}
		most := ^numa.Release(0)
		if high != "" {
			if most, err = readRelease(high); err != nil {
				return nil, err
			}
		}
		out = append(out, since(least, most)...)
	}
	return out, nil
}

func readRelease(s string) (numa.Release, error) {
	r, err := numa.ParseRelease(s)
	if err != nil || strings.ReplaceAll(r.String(), " ", "") != strings.ReplaceAll(s, " ", "") {
		return 0, fmt.Errorf("found release %q, want one such as 6.5 or 7.0U3, a list of them, or a span: 6.0..7.0", s)
	}
	if _, own, ok := numa.ModelOf(r); !ok || !own {
		return 0, fmt.Errorf("release %q is not described", s)
	}
	return r, nil
}

// since returns the modelled releases from one to another.
func since(least, most numa.Release) (out []numa.Release) {
	for _, r := range numa.Modelled {
		if r >= least && r <= most {
			out = append(out, r)
		}
	}
	return out
}

// readInto parses key=JSON pairs into the fields of a struct.
func readInto(text string, into any) error {
	fields := map[string]any{}
	if err := readFields(text, fields); err != nil {
		return err
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if wrong, ok := errors.AsType[*numa.SyntaxError](strict.Unmarshal("", "case", b, into)); ok {
		return errors.New(wrong.Msg)
	}
	return nil
}

// readFields parses key=JSON pairs separated by blanks; "extra.KEY" goes into the nested object extra.
func readFields(text string, into map[string]any) error {
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || key == "" || strings.ContainsFunc(key, unicode.IsSpace) {
			return fmt.Errorf("found %q, want key=value", rest)
		}
		dec := json.NewDecoder(strings.NewReader(after))
		var v any
		if err := dec.Decode(&v); err != nil || v == nil {
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

// number returns a number of a case.
func number(v any) (float64, bool) {
	n, ok := v.(float64)
	return n, ok
}

// numbers returns the numbers of a list, or one number as a list.
func numbers(v any) (out []float64, ok bool) {
	items, isList := v.([]any)
	if !isList {
		items = []any{v}
	}
	for _, item := range items {
		n, ok := number(item)
		if !ok {
			return nil, false
		}
		out = append(out, n)
	}
	return out, isList || len(out) > 0
}

func truth(v any) (value, ok bool) {
	value, ok = v.(bool)
	return value, ok
}

// show formats a value of a case or of a prediction; equal values give equal texts.
func show(v any) string {
	switch x := v.(type) {
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case []any:
		return list(x)
	case []float64:
		return list(x)
	case []int:
		return list(x)
	}
	return fmt.Sprint(v)
}

func list[T any](of []T) string {
	parts := make([]string, len(of))
	for i, x := range of {
		parts[i] = show(x)
	}
	return "[" + strings.Join(parts, " ") + "]"
}
