// Package config reads the file with the targets to which serve sends its data.
package config

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/serve/notify"
	"example.org/homenode/serve/remote"
)

// A Config is the file of --send.
type Config struct {
	Findings *notify.Config  `yaml:"findings"` // nil for none
	Samples  []remote.Target `yaml:"samples"`  // remote write
}

// place matches the line in an error of the YAML library.
var place = pattern.Of(`line (\d+)|at L(\d+)`)

// plain returns the line and the kind of an error of the YAML library, without its text, which may quote a secret.
func plain(err error) string {
	text, where := err.Error(), ""
	if m := place.FindStringSubmatch(text); m != nil {
		where = "line " + m[1] + m[2] + ": "
	}
	switch {
	case strings.Contains(text, "cannot construct"):
		return where + "found a value of another form than its name wants"
	case strings.Contains(text, " not found"):
		return where + "found a name that no setting has"
	case strings.Contains(text, "already defined"):
		return where + "found a name twice"
	case strings.Contains(text, "unknown anchor"):
		return where + "found a * before what no & names: quote a value that begins with *"
	}
	return where + "it is no YAML: quote a value with special characters"
}

// Parse reads a Config. Errors never contain a possible secret.
func Parse(name string, b []byte) (*Config, error) {
	var c Config
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, fmt.Errorf("%s: it is empty: want findings or samples", name)
	}
	if err := yaml.Load(b, &c, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("%s: %s (docs/watch.md has an example)", name, plain(err))
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
