// Package config reads the file with the targets to which serve sends its data.
package config

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"example.org/homenode/serve/notify"
	"example.org/homenode/serve/remote"
)

// A Config is the file of --send.
type Config struct {
	Findings *notify.Config  `yaml:"findings"` // nil for none
	Samples  []remote.Target `yaml:"samples"`  // remote write
}

// Parse reads a Config. Errors never contain a possible secret.
func Parse(name string, b []byte) (*Config, error) {
	var c Config
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, fmt.Errorf("%s: it is empty: want findings or samples", name)
	}
	if err := yaml.Load(b, &c, yaml.WithKnownFields()); err != nil {
		text, _, _ := strings.Cut(err.Error(), " in type ") // types of this program
		if strings.Contains(text, "unknown anchor '") {     // text after a * may be an unquoted secret
			text = "found a * before what no & names: quote a value that begins with *"
		}
		return nil, fmt.Errorf("%s: %s", name, text)
	}
	if c.Findings == nil && len(c.Samples) == 0 {
		return nil, fmt.Errorf("%s: found neither findings nor samples", name)
	}
	if c.Findings != nil {
		if err := c.Findings.Check(); err != nil {
			return nil, fmt.Errorf("%s: findings: %w", name, err)
		}
	}
	names := map[string]bool{}
	for i := range c.Samples {
		if err := c.Samples[i].Check(); err != nil {
			return nil, fmt.Errorf("%s: samples: number %d: %w", name, i+1, err)
		}
		if n := c.Samples[i].Name; names[n] {
			return nil, fmt.Errorf("%s: samples: number %d: %s again: give it a name", name, i+1, n)
		}
		names[c.Samples[i].Name] = true
	}
	return &c, nil
}
