package ask

import (
	"errors"
	"fmt"
	"strings"

	"homenode/numa"
	"homenode/size/fit"
	"homenode/source/scenario"
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

// hostWords returns the words of a scenario for a host that begins with a shape: "2x18c/1TB release=7.0U3". Other texts stay as they are.
func hostWords(text string) string {
	shape, more, _ := strings.Cut(strings.TrimSpace(text), " ")
	release, err := numa.ParseRelease(modelRelease)
	if shape == "" || strings.Contains(shape, "=") || err != nil {
		return text
	}
	t, err := fit.ParseType(shape, release)
	if err != nil {
		return text
	}
	return strings.TrimPrefix(HostLine("h", &t, more), "host h ")
}

// models parses host models: a shape, then words of a scenario: "2x16c/512GB release=8.0U3".
func models(texts []string) ([]numa.Host, error) {
	var out []numa.Host
	for _, text := range texts {
		shape, more, _ := strings.Cut(strings.TrimSpace(text), " ")
		if strings.ContainsAny(text, "\r\n") {
			return nil, Wrong("hosts", errors.New("found a line break, want one line"))
		}
		release, err := numa.ParseRelease(modelRelease)
		if err != nil {
			return nil, err
		}
		t, err := fit.ParseType(shape, release)
		if err != nil {
			return nil, Wrong("hosts", err)
		}
		fleet, err := scenario.Read("--hosts", []byte("release "+modelRelease+"\n"+HostLine("model", &t, more)))
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
