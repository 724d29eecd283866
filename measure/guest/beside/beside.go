// Package beside compares the prediction of homenode explain for a VM with the measurements of homenode
// measure in it.
package beside

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/bounded"
	"example.org/homenode/rules/confront"
	"example.org/homenode/source/measured"
	"example.org/homenode/source/text"
)

// Command writes the file that Read reads.
const Command = "homenode explain SOURCE VM --format json"

// Read reads the layout of an explanation; name is used in errors.
func Read(name string, from io.Reader) (*vnuma.Layout, error) {
	b, err := io.ReadAll(bounded.Reader(from, bounded.Written))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var file struct {
		Format string `json:"format"`
		Result struct {
			Layout *vnuma.Layout `json:"layout"`
		} `json:"result"`
	}
	var raw json.RawMessage
	switch err := json.Unmarshal(text.Decoded(b), &file); {
	case json.Unmarshal(text.Decoded(b), &raw) != nil:
		return nil, fmt.Errorf("%s: found no JSON, or JSON that is cut off, want that of %s", name, Command)
	case err == nil && file.Format != "homenode-explanation":
		return nil, fmt.Errorf("%s: found the format %.40q, want that of an explanation: %s", name, file.Format, Command)
	case err == nil && file.Result.Layout == nil:
		err = errors.New("it has no layout")
		fallthrough
	case err != nil:
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("found %s%s", wrong.Value, map[bool]string{true: " in " + wrong.Field}[wrong.Field != ""])
		}
		return nil, fmt.Errorf("%s: no explanation of a VM (%w): %s", name, err, Command)
	}
	return file.Result.Layout, nil
}

// Of compares a result with the prediction: vCPUs, sockets, nodes, caches and clients, in this order.
func Of(r *measured.Result, l *vnuma.Layout) []measured.Compared {
	o, notes := r.Observation("")
	fields, open := confront.Fields(&o, l)
	row := func(name, predicted, why string) measured.Compared {
		for _, f := range fields {
			if f.Name == name {
				return of(f)
			}
		}
		if len(notes) > 0 {
			why = strings.Join(notes, "; ")
		}
		return measured.Compared{Name: name, Predicted: predicted, Verdict: measured.NotSeen, Why: why}
	}
	number := func(name string, predicted, found int) {
		fields = append(fields, confront.Field{Name: name, Predicted: strconv.Itoa(predicted), Observed: strconv.Itoa(found), Agrees: predicted == found})
	}
	n, taken := confront.Processors(&o)
	if taken {
		number("vCPUs", l.VPDs.Sum(), n)
	}
	caches, noCaches, chosen := measured.L3s(&r.Machine.Topology), "the guest is told of none", "not predicted"
	if l.L3s > 0 {
		chosen = strconv.Itoa(l.L3s)
	}
	switch {
	case caches == 0 || !taken:
	case l.L3s > 0:
		number("L3 caches", l.L3s, caches)
	default:
		noCaches = fmt.Sprintf("the guest is told of %d; ESXi chooses them, and how is not published (B-13)", caches)
	}
	const unstated = "the kernel of the guest does not show it of every processor"
	groups := func(s vnuma.Split) string { return confront.SizesText(s.Sizes()) }
	return []measured.Compared{
		row("vCPUs", strconv.Itoa(l.VPDs.Sum()), unstated), row(confront.FieldSockets, groups(l.VSockets), unstated), row(confront.FieldVPDs, groups(l.VPDs), unstated),
		row("L3 caches", chosen, noCaches), row(confront.FieldTogether, groups(l.PPDs), unseen(r, open)),
	}
}

func of(f confront.Field) measured.Compared {
	c := measured.Compared{Name: f.Name, Predicted: f.Predicted, Measured: f.Observed, Verdict: measured.Differs}
	if f.Agrees {
		c.Verdict = measured.Agrees
	}
	return c
}

// unseen returns why the clients could not be compared.
func unseen(r *measured.Result, open []string) string {
	for _, why := range open {
		if rest, ok := strings.CutPrefix(why, confront.FieldTogether+": "); ok {
			return rest
		}
	}
	switch h := r.Hidden; {
	case h == nil:
		return "nodes of the host were not looked for: homenode measure hidden"
	case h.Why != "":
		return h.Why
	default:
		return h.Says
	}
}
