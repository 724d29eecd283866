package benchmark

import (
	"path"
	"strconv"
	"strings"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// HCIBench: the text report of 2.8 ("Read Latency: 2.03 ms", thousands separators, no-break spaces)
// and the older -res.txt ("R_LATENCY = 2.03 ms"). A file has a block for each job. Throughput is in
// MiB/s although it is printed as MB/s: it is fio's KiB/s divided by 1024.

// hciKeys are the keys of both forms, in lower case.
var hciKeys = map[string]measure{
	"i/o per second":                {"IOPS", "1/s", Higher},
	"iops":                          {"IOPS", "1/s", Higher},
	"throughput":                    {"throughput", "MiB/s", Higher},
	"read latency":                  {"read latency", "ms", Lower},
	"r_latency":                     {"read latency", "ms", Lower},
	"write latency":                 {"write latency", "ms", Lower},
	"w_latency":                     {"write latency", "ms", Lower},
	"latency":                       {"latency", "ms", Lower},
	"95th percentile read latency":  {"read latency, 95 %", "ms", Lower},
	"95%tile_r_lat":                 {"read latency, 95 %", "ms", Lower},
	"95th percentile write latency": {"write latency, 95 %", "ms", Lower},
	"95%tile_w_lat":                 {"write latency, 95 %", "ms", Lower},
	"95th percentile latency":       {"latency, 95 %", "ms", Lower},
	"95%tile_lat":                   {"latency, 95 %", "ms", Lower},
	"cpu usage":                     {"CPU usage", "%", Neither},
	"ram usage":                     {"RAM usage", "%", Neither},
	"vsan pcpu usage":               {"vSAN PCPU usage", "%", Neither},
}

// hciUnits are the units as printed.
var hciUnits = map[string]string{"io/s": "1/s", "mb/s": "MiB/s", "ms": "ms", "%": "%"}

var (
	hciPair  = pattern.Of(`^([A-Za-z0-9][\w/ %]*?)[ \t]*[:=][ \t]*(\S.*)?$`)
	hciEarly = pattern.Of(`^There are [0-9]+ (VMs|pods)\b.* finished testing early`)
	hciValue = pattern.Of(`^([0-9][0-9.,]*)[ \t]*(\S+)?$`)
	// A part of a test case name: a number and its unit.
	hciPart = pattern.Of(`^([0-9]+(?:\.[0-9]+)?)(vmdk|ws|k|m|rdpct|randompct|lt|iops|th|tpd)$`)
)

// hciParts names the parts of a test case name. The meaning of "lt" is not published: it keeps its name.
var hciParts = map[string]struct{ name, unit string }{
	"vmdk": {"vmdks per VM", ""}, "ws": {"working set", "%"}, "k": {"block size", "KiB"}, "m": {"block size", "MiB"},
	"rdpct": {"read share", "%"}, "randompct": {"random share", "%"}, "lt": {"lt", ""}, "iops": {"IOPS limit", "1/s"},
	"th": {"threads per vmdk", ""}, "tpd": {"threads per disk", ""},
}

var (
	hciJob = pattern.Of(`(?m)^[ \t]*JOB_NAME[ \t]*[:=]`)
	hciIO  = pattern.Of(`(?m)^[ \t]*(I/O per Second|IOPS)[ \t]*[:=]`)
)

// isHCIBench requires two of its lines: JOB_NAME is a common environment variable.
func isHCIBench(head []byte) bool { return hciJob.Match(head) && hciIO.Match(head) }

// hci is the state between lines.
type hci struct {
	*reader
	testCase, store text.Line
}

func readHCIBench(r *reader) error {
	h := &hci{reader: r}
	for r.scan() {
		line := strings.TrimSpace(r.Text)
		switch {
		case line == "" || strings.Trim(line, "=") == "" || strings.EqualFold(line, "Resource Usage:"):
			continue
		case hciEarly.MatchString(line):
			// It precedes its block.
			r.run = nil
			r.warn(r.N, 0, "%s", line)
		case h.pair(r.Match(hciPair)):
		default:
			r.skip()
			continue
		}
		r.understood()
	}
	return nil
}

// pair parses a key and its value.
func (h *hci) pair(v []text.Line) bool {
	if v == nil || v[2].Text == "" {
		return false
	}
	key, value := squeeze(v[1].Text), v[2]
	switch key {
	case "test case name":
		h.testCase, h.store, h.run = value, text.Line{}, nil
		return true
	case "datastore":
		if h.run != nil { // a block without a name does not belong to the previous test case
			h.testCase, h.run = text.Line{}, nil
		}
		h.store = value
		return true
	case "job_name":
		h.begin(value.Text)
		h.run.setting(value, "job", value.Text, "")
		return true
	case "number of vms", "vms", "pods", "number of pods":
		if h.run == nil {
			h.begin("")
		}
		if n, err := strconv.Atoi(value.Text); err == nil {
			h.run.setting(value, "VMs", n, "")
			return true
		}
		h.doubt(value, "found %q, want the number of VMs", text.Short(value.Text))
		return true
	}
	known, ok := hciKeys[key]
	if !ok {
		return false
	}
	if h.run == nil {
		h.begin("")
	}
	h.value(known, value)
	return true
}

func (h *hci) value(m measure, value text.Line) {
	v := value.Match(hciValue)
	if v == nil {
		h.doubt(value, "found %q, want the number of %s", text.Short(value.Text), m.name)
		return
	}
	if _, ok := number(v[1].Text); !ok || hciUnits[strings.ToLower(v[2].Text)] != m.unit {
		h.doubt(value, "found %q, want %s in %s", text.Short(value.Text), m.name, m.unit)
		return
	}
	h.measured(v[1], m)
}

// begin starts the run of a job.
func (h *hci) begin(job string) {
	c := h.testCase
	if c.Text == "" {
		if base, ok := strings.CutSuffix(path.Base(strings.ReplaceAll(h.res.Name, `\`, "/")), "-res.txt"); ok {
			c = text.Line{Text: base}
		}
	}
	run := h.start("HCIBench", "")
	var parts []string
	if c.Text == "" {
		h.warn(h.N, 0, "the block has no test case name: it is compared with others without a name")
	} else {
		run.fact(c, "test case", c.Text, "")
		parts = caseParts(run, c)
	}
	if h.store.Text != "" {
		run.setting(h.store, "datastore", h.store.Text, "")
	}
	run.Name = strings.Join(parts, "-")
	if job != "" && job != "job0" { // job0 is the only job of most test cases
		run.Name = strings.TrimSpace(run.Name + " " + job)
	}
}

// caseParts adds the parts of a test case name such as
// fio-8vmdk-90ws-32k-70rdpct-100randompct-2500lt-1732908719, and returns those that are equal in
// every repetition: all but the time. Some may be missing.
func caseParts(run *Run, c text.Line) []string {
	var stay []string
	for _, part := range c.Split("-") {
		if c.N == 0 {
			part.Col = 0 // in the name of the file
		}
		if len(part.Text) >= 9 && strings.Trim(part.Text, "0123456789") == "" {
			if n, err := strconv.ParseInt(part.Text, 10, 64); err == nil {
				run.fact(part, "started", n, "s since 1970")
				continue
			}
		}
		stay = append(stay, part.Text)
		if v := hciPart.FindStringSubmatch(part.Text); v != nil {
			if n, ok := number(v[1]); ok {
				run.setting(part, hciParts[v[2]].name, n, hciParts[v[2]].unit)
			}
		}
	}
	return stay
}
