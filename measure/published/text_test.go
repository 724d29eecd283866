package published

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Text returns the case in the text form.
func (c *Case) Text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Published topology, %s.\nSource: %s\n-- case --\nid %s\nsource %s\n", c.Kind, c.Source, c.ID, c.Source)
	if c.Gave != "" {
		fmt.Fprintf(&b, "gave %s\n", c.Gave)
	}
	fmt.Fprintf(&b, "kind %s\n", c.Kind)
	for _, f := range []struct{ word, value string }{
		{"release", c.Release}, {"hardware", c.Hardware}, {"event", c.Event},
		{"host", fields(c.Host, " ")}, {"from", fields(c.From, " ")}, {"vm", fields(c.VM, " ")},
	} {
		if f.value != "" {
			fmt.Fprintf(&b, "%s %s\n", f.word, f.value)
		}
	}
	fmt.Fprintf(&b, "-- observed --\n%s\n", fields(c.Observed, "\n"))
	return b.Bytes()
}

func fields(m map[string]any, sep string) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var out []string
	for _, k := range keys {
		if extra, ok := m[k].(map[string]any); ok && k == "extra" && plainKeys(extra) {
			for _, part := range strings.Split(fields(extra, "\n"), "\n") {
				out = append(out, "extra."+part)
			}
			continue
		}
		v, _ := json.Marshal(m[k]) // decoded from JSON: always encodes
		out = append(out, k+"="+string(v))
	}
	return strings.Join(out, sep)
}

// plainKeys reports whether every key can stand before an equals sign.
func plainKeys(m map[string]any) bool {
	for k := range m {
		if strings.ContainsAny(k, "=") || strings.ContainsFunc(k, unicode.IsSpace) {
			return false
		}
	}
	return len(m) > 0
}
