package benchmark

import (
	"regexp"
	"strings"
)

// PassMark PerformanceTest: the screen of pt_linux, text and CSV exports with a
// name, a number and a unit on a line, and results_all.yml. The export of the
// Windows edition has no public sample: a line is taken when it begins with the
// name of a known test, or stands in the layout of the screen.

// A passmarkTest is one test, by its name on the screen and its key in YAML.
type passmarkTest struct {
	name, key, unit string
	better          Better
}

var passmarkTests = []passmarkTest{
	{"CPU Mark", "SUMM_CPU", "", Higher},
	{"Integer Math", "CPU_INTEGER_MATH", "Million Operations/s", Higher},
	{"Floating Point Math", "CPU_FLOATINGPOINT_MATH", "Million Operations/s", Higher},
	{"Prime Numbers", "CPU_PRIME", "Million Primes/s", Higher},
	{"Sorting", "CPU_SORTING", "Thousand Strings/s", Higher},
	{"Encryption", "CPU_ENCRYPTION", "MB/s", Higher},
	{"Compression", "CPU_COMPRESSION", "KB/s", Higher},
	{"CPU Single Threaded", "CPU_SINGLETHREAD", "Million Operations/s", Higher},
	{"Physics", "CPU_PHYSICS", "Frames/s", Higher},
	{"Extended Instructions (SSE)", "CPU_MATRIX_MULT_SSE", "Million Matrices/s", Higher},
	{"Memory Mark", "SUMM_ME", "", Higher},
	{"Database Operations", "ME_ALLOC_S", "Thousand Operations/s", Higher},
	{"Memory Read Cached", "ME_READ_S", "MB/s", Higher},
	{"Memory Read Uncached", "ME_READ_L", "MB/s", Higher},
	{"Memory Write", "ME_WRITE", "MB/s", Higher},
	{"Available RAM", "ME_LARGE", "Megabytes", Neither},
	{"Memory Latency", "ME_LATENCY", "ns", Lower},
	{"Memory Threaded", "ME_THREADED", "MB/s", Higher},
}

// passmarkUnits are other spellings of units.
var passmarkUnits = map[string]string{"nanoseconds": "ns", "mbytes/sec": "MB/s", "mbytes/sec.": "MB/s", "kbytes/sec": "KB/s", "kbytes/sec.": "KB/s"}

var (
	passmarkLine   = regexp.MustCompile(`^([A-Za-z][\w ()+/.-]*?):?\s{2,}([0-9][0-9.,]*)(?:\s+(\S.*))?$`)
	passmarkNumber = regexp.MustCompile(`(?:^|[\s:;,="|]+)([0-9][0-9.,]*[0-9]|[0-9])(?:["|;,\s]+(.*))?$`)
	passmarkRun    = regexp.MustCompile(`(Number of Processes|Test Iterations|Test Duration):\s*([^|]*[^|\s])`)
	passmarkMark   = regexp.MustCompile(`(?mi)^[ \t"]*(CPU Mark|Memory Mark)\b[":;,\s]+[0-9]`)
	passmarkTitle  = regexp.MustCompile(`(?i)PassMark (Software )?PerformanceTest`)
	passmarkKey    = regexp.MustCompile(`^([A-Za-z][\w ()-]*):(?:\s+(.*))?$`)
)

// isPassMark wants a mark, or the names of two tests with numbers: a name alone may
// stand anywhere, and the title in a list of programs.
func isPassMark(head []byte) bool {
	if passmarkMark.Match(head) {
		return true
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(head)) {
		if t, v := testOf(strings.TrimRight(line, "\n")); v != nil && strings.Contains(t.name, " ") {
			found[t.name] = true
		}
	}
	return len(found) >= 2
}

// testOf returns the known test that the line begins with and the fields of its
// number and unit; no fields when there is none.
func testOf(line string) (t passmarkTest, value []field) {
	trimmed := strings.TrimLeft(line, " \t\"")
	lead := len(line) - len(trimmed)
	for _, t := range passmarkTests {
		if len(trimmed) <= len(t.name) || !strings.EqualFold(trimmed[:len(t.name)], t.name) {
			continue
		}
		at := passmarkNumber.FindStringSubmatchIndex(trimmed[len(t.name):])
		if at == nil || at[0] != 0 {
			continue
		}
		lead += len(t.name)
		rest := trimmed[len(t.name):]
		value = []field{{rest[at[2]:at[3]], lead + at[2] + 1}, {}}
		if at[4] >= 0 {
			value[1] = field{strings.Trim(rest[at[4]:at[5]], " \t\",;|"), lead + at[4] + 1}
		}
		return t, value
	}
	return t, nil
}

func readPassMark(r *reader) error {
	for r.scan() {
		if strings.TrimSpace(r.line) == "" || strings.Trim(r.line, " -=") == "" {
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

// passmark reads a line of the screen or of an export.
func (r *reader) passmark() bool {
	if t, v := testOf(r.line); v != nil {
		value, ok := number(v[0].text)
		if !ok {
			r.passmarkRun("")
			r.warn(r.n, v[0].col, "found %q, want the number of %s", short(v[0].text), t.name)
			return true
		}
		unit := v[1].text
		if u := passmarkUnits[strings.ToLower(unit)]; u != "" {
			unit = u
		}
		if unit == "" {
			unit = t.unit
		}
		r.passmarkRun(t.name)
		r.metric(v[0].col, t.name, value, unit, t.better)
		return true
	}
	if all := passmarkRun.FindAllStringSubmatchIndex(r.line, -1); all != nil {
		r.passmarkRun("")
		for _, at := range all {
			r.run.setting(r.n, at[4]+1, strings.ToLower(r.line[at[2]:at[3]]), r.line[at[4]:at[5]], "")
		}
		return true
	}
	if passmarkTitle.MatchString(r.line) {
		if r.run == nil || len(r.run.Metrics) > 0 {
			r.start("PassMark", "")
		}
		r.run.setting(r.n, 0, "program", strings.TrimSpace(r.line), "")
		return true
	}
	v := match(passmarkLine, r.line)
	if v == nil {
		// Between the title and the results stand processor, cores and memory.
		titled := r.run != nil && len(r.run.Settings) > 0 && len(r.run.Metrics) == 0
		if titled {
			r.run.setting(r.n, 0, "machine", strings.Join(strings.Fields(r.line), " "), "")
		}
		return titled
	}
	value, ok := number(v[2].text)
	if !ok {
		return false
	}
	r.passmarkRun(v[1].text)
	r.metric(v[2].col, v[1].text, value, v[3].text, Neither)
	return true
}

// passmarkRun begins a run before the first line, and where a test comes again:
// people keep several results in one file.
func (r *reader) passmarkRun(name string) {
	if r.run == nil || name != "" && r.run.has(name) {
		r.start("PassMark", "")
	}
}

// readPassMarkYAML reads results_all.yml: sections of "key: value". The section
// Results holds the tests; 0 is a test that did not run.
func readPassMarkYAML(r *reader) error {
	section := ""
	for r.scan() {
		if t := strings.TrimSpace(r.line); t == "" || t == "---" || t == "..." || strings.HasPrefix(t, "#") {
			continue
		}
		v := match(passmarkKey, r.line)
		if v == nil {
			r.skip()
			continue
		}
		r.understood()
		key, value := v[1].text, v[2]
		if value.text == "" {
			section = key
			continue
		}
		r.passmarkKey(section, key, v)
	}
	return nil
}

func (r *reader) passmarkKey(section, key string, v []field) {
	t := passmarkTest{name: key, key: key, better: Neither}
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
		r.run.setting(r.n, v[2].col, "number of processes", v[2].text, "")
		return
	}
	if !known || section != "Results" && section != "" {
		r.run.fact(r.n, v[2].col, strings.TrimSpace(section+" "+key), v[2].text, "")
		return
	}
	value, ok := number(v[2].text)
	switch {
	case !ok:
		r.warn(r.n, v[2].col, "found %q, want the number of %s", short(v[2].text), t.name)
	case value == 0:
		r.run.fact(r.n, v[2].col, t.name, "not run", "")
	default:
		r.metric(v[2].col, t.name, value, t.unit, t.better)
	}
}
