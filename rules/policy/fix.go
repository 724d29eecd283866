package policy

import (
	"cmp"
	"math"
	"net"
	"time"

	"go.yaml.in/yaml/v4"

	"example.org/homenode/rules/rule"
)

// A Fix limits the actions of homenode fix for this fleet. Fixing sets the defaults.
type Fix struct {
	Owned    []string      // patterns of tags and of attributes as "owner=terraform": other tools own these VMs
	Apart    []string      // patterns of names: never two VMs of one pattern at the same time
	Failures int           // maximum number of failures before another VM is started
	Shutdown time.Duration // timeout for the shutdown of a guest
	Start    time.Duration // timeout for VMware Tools, and for the probe, after a power-on
	Probe    string        // the TCP address that accepts connections after a power-on, with {name} for the name of the VM; "" for none
	Journal  string        // folder of journals
}

// Fixing returns the configuration of homenode fix, with defaults for missing values; p may be nil.
func (p *Policy) Fixing() Fix {
	var f Fix
	if p != nil {
		f = p.Fix
	}
	const patience = 10 * time.Minute
	f.Failures, f.Journal = cmp.Or(f.Failures, 1), cmp.Or(f.Journal, ".")
	f.Shutdown, f.Start = cmp.Or(f.Shutdown, patience), cmp.Or(f.Start, patience)
	return f
}

// Limits of numbers.
const (
	mostFailures = 1e6
	mostMinutes  = 24 * 60
)

// fix parses the configuration of homenode fix.
func (r *reader) fix(f *Fix, n *yaml.Node) {
	r.mapping(n, []string{"owned", "apart", "failures", "shutdown", "start", "probe", "journal"}, func(key string, _, v *yaml.Node) {
		switch key {
		case "owned":
			f.Owned = r.texts(v)
		case "apart":
			f.Apart = r.texts(v)
		case "failures":
			most, _ := r.number(v, key, &rule.Threshold{Unit: rule.Count, Least: 1, Most: mostFailures})
			f.Failures = int(most)
		case "shutdown":
			f.Shutdown = r.minutes(v, key)
		case "start":
			f.Start = r.minutes(v, key)
		case "probe":
			var ok bool
			f.Probe, ok = r.scalar(v)
			if _, _, err := net.SplitHostPort(f.Probe); ok && err != nil {
				r.errorf(v, "found probe = %q, want an address with a port, such as '{name}.example.com:1433'", short(f.Probe))
			}
		case "journal":
			var ok bool
			if f.Journal, ok = r.scalar(v); ok && f.Journal == "" {
				r.errorf(v, "found an empty journal, want a folder")
			}
		}
	})
}

// number parses a number within limits; ok is false if there is none.
func (r *reader) number(n *yaml.Node, name string, t *rule.Threshold) (value float64, ok bool) {
	text, ok := r.scalar(n)
	if !ok {
		return 0, false
	}
	if value, ok = t.Parse(text); !ok {
		r.errorf(n, "found %s = %q, want %s from %v to %v", name, short(text), t.Unit.Form(), t.Least, t.Most)
	}
	return value, ok
}

// minutes parses a duration.
func (r *reader) minutes(n *yaml.Node, name string) time.Duration {
	value, _ := r.number(n, name, &rule.Threshold{Unit: rule.Minutes, Least: 0.01, Most: mostMinutes})
	return time.Duration(math.Round(value * float64(time.Minute)))
}
