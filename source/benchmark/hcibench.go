package benchmark

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// HCIBench: the text report of 2.8 ("Read Latency: 2.03 ms", thousands separators,
// no-break spaces) and the older -res.txt ("R_LATENCY = 2.03 ms"). A file holds a
// block for each job. Throughput is in MiB/s although it is printed as MB/s: it is
// fio's KiB/s divided by 1024.

// hciKeys are the keys of both forms, in lower case.
var hciKeys = map[string]struct {
	name, unit string
	better     Better
}{
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
	hciPair  = regexp.MustCompile(`^([A-Za-z0-9][\w/ %]*?)[ \t]*[:=][ \t]*(\S.*)?$`)
	hciEarly = regexp.MustCompile(`^There are [0-9]+ (VMs|pods)\b.* finished testing early`)
	hciValue = regexp.MustCompile(`^([0-9][0-9.,]*)[ \t]*(\S+)?$`)
	// A part of a test case name: a number and what it counts.
	hciPart = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(vmdk|ws|k|m|rdpct|randompct|lt|iops|th|tpd)$`)
)

// hciParts names the parts of a test case name. What "lt" stands for is not
// published: it keeps its name.
var hciParts = map[string]struct{ name, unit string }{
	"vmdk": {"vmdks per VM", ""}, "ws": {"working set", "%"}, "k": {"block size", "KiB"}, "m": {"block size", "MiB"},
	"rdpct": {"read share", "%"}, "randompct": {"random share", "%"}, "lt": {"lt", ""}, "iops": {"IOPS limit", "1/s"},
	"th": {"threads per vmdk", ""}, "tpd": {"threads per disk", ""},
}

var (
	hciJob = regexp.MustCompile(`(?m)^[ \t]*JOB_NAME[ \t]*[:=]`)
	hciIO  = regexp.MustCompile(`(?m)^[ \t]*(I/O per Second|IOPS)[ \t]*[:=]`)
)

// isHCIBench wants two of its lines: JOB_NAME is a common environment variable.
func isHCIBench(head []byte) bool { return hciJob.Match(head) && hciIO.Match(head) }

// hci is the state between lines.
type hci struct {
	*reader
	testCase, store  field
	caseLine, stLine int
	job              bool // the run has its JOB_NAME
}

func readHCIBench(r *reader) error {
	h := &hci{reader: r}
	for r.scan() {
		line := strings.TrimSpace(r.line)
		switch {
		case line == "" || strings.Trim(line, "=") == "" || strings.EqualFold(line, "Resource Usage:"):
			continue
		case hciEarly.MatchString(line):
			// It stands before its block.
			r.run = nil
			r.warn(r.n, 0, "%s", line)
		case h.pair(match(hciPair, r.line)):
		default:
			r.skip()
			continue
		}
		r.understood()
	}
	return nil
}

// pair reads a key and its value.
func (h *hci) pair(v []field) bool {
	if v == nil || v[2].text == "" {
		return false
	}
	key, value := squeeze(v[1].text), v[2]
	switch key {
	case "test case name":
		h.testCase, h.caseLine, h.store, h.run, h.job = value, h.n, field{}, nil, false
		return true
	case "datastore":
		if h.run != nil { // a block without a name is not of the test case before it
			h.testCase, h.run, h.job = field{}, nil, false
		}
		h.store, h.stLine = value, h.n
		return true
	case "job_name":
		h.begin(value.text)
		h.job = true
		h.run.setting(h.n, value.col, "job", value.text, "")
		return true
	case "number of vms", "vms", "pods", "number of pods":
		if h.run == nil {
			h.begin("")
		}
		if n, err := strconv.Atoi(value.text); err == nil {
			h.run.setting(h.n, value.col, "VMs", n, "")
			return true
		}
		h.warn(h.n, value.col, "found %q, want the number of VMs", short(value.text))
		return true
	}
	known, ok := hciKeys[key]
	if !ok {
		return false
	}
	if h.run == nil {
		h.begin("")
	}
	h.value(known.name, known.unit, known.better, value)
	return true
}

func (h *hci) value(name, unit string, better Better, value field) {
	v := match(hciValue, value.text)
	if v == nil {
		h.warn(h.n, value.col, "found %q, want the number of %s", short(value.text), name)
		return
	}
	n, ok := number(v[1].text)
	if printed := hciUnits[strings.ToLower(v[2].text)]; !ok || printed != unit {
		h.warn(h.n, value.col, "found %q, want %s in %s", short(value.text), name, unit)
		return
	}
	if n == 0 { // an idle direction has no latency: a share of nothing
		h.run.fact(h.n, value.col, name, n, unit)
		return
	}
	h.metric(value.col, name, n, unit, better)
}

// begin begins the run of a job.
func (h *hci) begin(job string) {
	c, line := h.testCase, h.caseLine
	if c.text == "" {
		if base, ok := strings.CutSuffix(path.Base(strings.ReplaceAll(h.res.Name, `\`, "/")), "-res.txt"); ok {
			c, line = field{text: base}, 0
		}
	}
	run := h.start("HCIBench", "")
	var parts []string
	if c.text == "" {
		h.warn(h.n, 0, "the block has no test case name: it is compared with others without a name")
	} else {
		run.fact(line, c.col, "test case", c.text, "")
		parts = caseParts(run, line, c)
	}
	if h.store.text != "" {
		run.setting(h.stLine, h.store.col, "datastore", h.store.text, "")
	}
	run.Name = strings.Join(parts, "-")
	if job != "" && job != "job0" { // job0 is the only job of most test cases
		run.Name = strings.TrimSpace(run.Name + " " + job)
	}
}

// caseParts states the parts of a test case name such as
// fio-8vmdk-90ws-32k-70rdpct-100randompct-2500lt-1732908719, and returns those
// that stay when it is run again: all but the time. Not all are always present.
func caseParts(run *Run, line int, c field) []string {
	var stay []string
	col := c.col
	for _, part := range strings.Split(c.text, "-") {
		at := col
		if col > 0 {
			col += len(part) + 1
		}
		if len(part) >= 9 && strings.Trim(part, "0123456789") == "" {
			if n, err := strconv.ParseInt(part, 10, 64); err == nil {
				run.fact(line, at, "started", n, "s since 1970")
				continue
			}
		}
		stay = append(stay, part)
		if v := hciPart.FindStringSubmatch(part); v != nil {
			if n, ok := number(v[1]); ok {
				run.setting(line, at, hciParts[v[2]].name, n, hciParts[v[2]].unit)
			}
		}
	}
	return stay
}
