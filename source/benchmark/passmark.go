package benchmark

import (
	"cmp"
	"strings"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// PassMark PerformanceTest: the screen of pt_linux, text and CSV exports with a name, a number and
// a unit on a line, and results_all.yml. The export of the Windows edition has no public sample: a
// line is parsed when it begins with the name of a known test, or has the layout of the screen.

// A passmarkTest is one test, by its name on the screen and its key in YAML.
type passmarkTest struct {
	key string
	measure
}

var passmarkTests = []passmarkTest{
	{"SUMM_CPU", measure{"CPU Mark", "", Higher}},
	{"CPU_INTEGER_MATH", measure{"Integer Math", "Million Operations/s", Higher}},
	{"CPU_FLOATINGPOINT_MATH", measure{"Floating Point Math", "Million Operations/s", Higher}},
	{"CPU_PRIME", measure{"Prime Numbers", "Million Primes/s", Higher}},
	{"CPU_SORTING", measure{"Sorting", "Thousand Strings/s", Higher}},
	{"CPU_ENCRYPTION", measure{"Encryption", "MB/s", Higher}},
	{"CPU_COMPRESSION", measure{"Compression", "KB/s", Higher}},
	{"CPU_SINGLETHREAD", measure{"CPU Single Threaded", "Million Operations/s", Higher}},
	{"CPU_PHYSICS", measure{"Physics", "Frames/s", Higher}},
	{"CPU_MATRIX_MULT_SSE", measure{"Extended Instructions (SSE)", "Million Matrices/s", Higher}},
	{"SUMM_ME", measure{"Memory Mark", "", Higher}},
	{"ME_ALLOC_S", measure{"Database Operations", "Thousand Operations/s", Higher}},
	{"ME_READ_S", measure{"Memory Read Cached", "MB/s", Higher}},
	{"ME_READ_L", measure{"Memory Read Uncached", "MB/s", Higher}},
	{"ME_WRITE", measure{"Memory Write", "MB/s", Higher}},
	{"ME_LARGE", measure{"Available RAM", "Megabytes", Neither}},
	{"ME_LATENCY", measure{"Memory Latency", "ns", Lower}},
	{"ME_THREADED", measure{"Memory Threaded", "MB/s", Higher}},
}

// Iterations is the setting with the number of tests in the mean of a run.
const Iterations = "test iterations"

// passmarkUnits are other spellings of units.
var passmarkUnits = map[string]string{"nanoseconds": "ns", "mbytes/sec": "MB/s", "mbytes/sec.": "MB/s", "kbytes/sec": "KB/s", "kbytes/sec.": "KB/s"}

var (
	passmarkLine   = pattern.Of(`^([A-Za-z][\w ()+/.-]*?):?\s{2,}([0-9][0-9.,]*)(?:\s+(\S.*))?$`)
	passmarkNumber = pattern.Of(`(?:^|[\s:;,="|]+)([0-9][0-9.,]*[0-9]|[0-9])(?:["|;,\s]+(.*))?$`)
	passmarkRun    = pattern.Of(`(Number of Processes|Test Iterations|Test Duration):\s*([^|]*[^|\s])`)
	passmarkMark   = pattern.Of(`(?mi)^[ \t"]*(CPU Mark|Memory Mark)\b[":;,\s]+[0-9]`)
	passmarkTitle  = pattern.Of(`(?i)PassMark (Software )?PerformanceTest`)
	passmarkKey    = pattern.Of(`^([A-Za-z][\w ()-]*):(?:\s+(.*))?$`)
)

// isPassMark requires a mark, or the names of two tests with numbers: a single name may occur
// anywhere, and the title in a list of programs.
func isPassMark(head []byte) bool {
	if passmarkMark.Match(head) {
		return true
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(head)) {
		if t, v := testOf(text.Line{Col: 1, Text: strings.TrimRight(line, "\n")}); v != nil && strings.Contains(t.name, " ") {
			found[t.name] = true
		}
	}
	return len(found) >= 2
}

// testOf returns the known test at the start of the line, its number and its unit; no value when there is none.
func testOf(l text.Line) (t passmarkTest, value []text.Line) {
	l = l.After(len(l.Text) - len(strings.TrimLeft(l.Text, " \t\"")))
	for _, t := range passmarkTests {
		if len(l.Text) <= len(t.name) || !strings.EqualFold(l.Text[:len(t.name)], t.name) {
			continue
		}
		rest := l.Part(len(t.name), len(l.Text))
		at := passmarkNumber.FindStringSubmatchIndex(rest.Text)
		if at == nil || at[0] != 0 {
			continue
		}
		value = []text.Line{rest.Part(at[2], at[3]), {}}
		if at[4] >= 0 {
			value[1].Text = strings.Trim(rest.Text[at[4]:at[5]], " \t\",;|")
		}
		return t, value
	}
	return t, nil
}

func readPassMark(r *reader) error {
	for r.scan() {
		if strings.TrimSpace(r.Text) == "" || strings.Trim(r.Text, " -=") == "" {
			continue
		}
		if !r.passmark() {
			r.skip()
			continue
		}
		r.understood()
	}
	return nil
}

// passmark parses a line of the screen or of an export.
func (r *reader) passmark() bool {
	if t, v := testOf(r.Line); v != nil {
		value, ok := number(v[0].Text)
		if !ok {
			r.passmarkRun("")
			r.doubt(v[0], "found %q, want the number of %s", text.Short(v[0].Text), t.name)
			return true
		}
		unit := v[1].Text
		if u := passmarkUnits[strings.ToLower(unit)]; u != "" {
			unit = u
		}
		unit = cmp.Or(unit, t.unit)
		r.passmarkRun(t.name)
		r.metric(v[0], t.name, value, unit, t.better)
		return true
	}
	if all := passmarkRun.Regexp().FindAllStringSubmatchIndex(r.Text, -1); all != nil {
		r.passmarkRun("")
		for _, at := range all {
			r.run.setting(r.Part(at[4], at[5]), strings.ToLower(r.Text[at[2]:at[3]]), r.Text[at[4]:at[5]], "")
		}
		return true
	}
	if passmarkTitle.MatchString(r.Text) {
		if r.run == nil || len(r.run.Metrics) > 0 {
			r.start("PassMark", "")
		}
		r.run.setting(text.Line{N: r.N}, "program", strings.TrimSpace(r.Text), "")
		return true
	}
	v := r.Match(passmarkLine)
	if v == nil {
		// Processor, cores and memory are between the title and the results.
		titled := r.run != nil && len(r.run.Settings) > 0 && len(r.run.Metrics) == 0
		if titled {
			r.run.setting(text.Line{N: r.N}, "machine", strings.Join(strings.Fields(r.Text), " "), "")
		}
		return titled
	}
	value, ok := number(v[2].Text)
	if !ok {
		return false
	}
	r.passmarkRun(v[1].Text)
	r.metric(v[2], v[1].Text, value, v[3].Text, Neither)
	return true
}

// passmarkRun starts a run before the first line, and where a test repeats: people keep several
// results in one file.
func (r *reader) passmarkRun(name string) {
	if r.run == nil || name != "" && r.run.has(name) {
		r.start("PassMark", "")
	}
}

// readPassMarkYAML parses results_all.yml: sections of "key: value". The section Results has the
// tests; 0 is a test that did not run.
func readPassMarkYAML(r *reader) error {
	section := ""
	for r.scan() {
		if t := strings.TrimSpace(r.Text); t == "" || t == "---" || t == "..." || strings.HasPrefix(t, "#") {
			continue
		}
		v := r.Match(passmarkKey)
		if v == nil {
			r.skip()
			continue
		}
		r.understood()
		key, value := v[1].Text, v[2]
		if value.Text == "" {
			section = key
			continue
		}
		r.passmarkKey(section, key, value)
	}
	return nil
}

func (r *reader) passmarkKey(section, key string, value text.Line) {
	t := passmarkTest{key, measure{name: key}}
	known := false
	for _, k := range passmarkTests {
		if k.key == key {
			t, known = k, true
		}
	}
	r.passmarkRun(t.name)
	// Tests without a name on the screen: rates all, such as CPU_avx, m_CPU_enc_AES.
	if strings.HasPrefix(key, "CPU_") || strings.HasPrefix(key, "m_CPU_") || strings.HasPrefix(key, "ME_") {
		if !known {
			t.better = Higher
		}
		known = true
	}
	if key == "NumTestProcesses" {
		r.run.setting(value, "number of processes", value.Text, "")
		return
	}
	if !known || section != "Results" && section != "" {
		r.run.fact(value, strings.TrimSpace(section+" "+key), value.Text, "")
		return
	}
	if n, ok := number(value.Text); ok && n == 0 {
		r.run.fact(value, t.name, "not run", "")
		return
	}
	r.measured(value, t.measure)
}
