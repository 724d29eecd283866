package ask

import (
	"errors"
	"fmt"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/size/fit"
	"example.org/homenode/source/scenario"
)

// modelRelease is that of a host model that states none.
const modelRelease = "8.0U3"

// HostLine returns the line of a scenario that describes a host of this type; more words of such a line follow.
func HostLine(name string, t *fit.Type, more string) string {
	h := &t.Host
	line := fmt.Sprintf("host %s packages=%d nodes=%d cores=%d memory=%dMB", name, h.Packages.Value, len(h.Nodes.Value), h.Nodes.Value[0].Cores, h.Memory.Value/numa.MiB)
	if !h.HyperThreading.Value {
		line += " ht=off"
	}
	if mhz := h.CoreMHz.Value; mhz > 0 {
		line += fmt.Sprintf(" mhz=%d", mhz)
	}
	return line + " " + more
}

// shapeLine returns the line of a scenario for a host that is a shape and further words: "2x18c/1TB release=7.0U3".
func shapeLine(name, text string) (string, error) {
	shape, more, _ := strings.Cut(strings.TrimSpace(text), " ")
	release, err := numa.ParseRelease(modelRelease)
	if err != nil {
		return "", err
	}
	t, err := fit.ParseType(shape, release)
	if err != nil {
		return "", err
	}
	return HostLine(name, &t, more), nil
}

// hostWords returns the words of a scenario for a host that begins with a shape. Other texts stay as they are.
func hostWords(text string) string {
	const name = "h"
	line, err := shapeLine(name, text)
	if first, _, _ := strings.Cut(strings.TrimSpace(text), " "); err != nil || strings.Contains(first, "=") {
		return text
	}
	return strings.TrimPrefix(line, "host "+name+" ")
}

// models parses host models: a shape, then words of a scenario: "2x16c/512GB release=8.0U3".
func models(texts []string) ([]numa.Host, error) {
	var out []numa.Host
	for _, text := range texts {
		if strings.ContainsAny(text, "\r\n") {
			return nil, Wrong("hosts", errors.New("found a line break, want one line"))
		}
		line, err := shapeLine("model", text)
		if err != nil {
			return nil, Wrong("hosts", err)
		}
		fleet, err := scenario.Read("--hosts", []byte("release "+modelRelease+"\n"+line))
		if e, ok := errors.AsType[*numa.SyntaxError](err); ok {
			err = Wrong("hosts", fmt.Errorf("%q: %s", text, e.Msg))
		}
		if err != nil {
			return nil, err
		}
		h := fleet.Hosts[0]
		h.Name, h.ID, h.Cluster, h.At = strings.TrimSpace(text), "--hosts "+strings.TrimSpace(text), "", "--hosts"
		out = append(out, h)
	}
	return out, nil
}
