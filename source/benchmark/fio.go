package benchmark

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"homenode/numa"
)

// fio --output-format=json and json+, 2.x and 3.x. Text may stand around the
// documents, and documents follow each other: status updates of one run, of which
// the last counts, and further runs. 2.x gives latency in µs and bandwidth in
// KiB/s only; here latency is in µs and bandwidth in MB/s for both.

// maxDocument is the largest document that is read, in bytes. json+ of a long run
// with many jobs has some ten MB.
const maxDocument = 256 << 20

// fioSkip are members that are not read: histograms.
var fioSkip = map[string]bool{"bins": true}

// fioPercentiles are the percentiles that become metrics, of those a job has.
var fioPercentiles = []float64{50, 95, 99, 99.9}

// fioIdentity are the job options that make one job another: they are in its name.
var fioIdentity = []string{"rw", "readwrite", "bs", "blocksize", "bssplit", "rwmixread", "iodepth", "numjobs"}

// isFio wants a document that begins on its own line and names its version.
func isFio(head []byte) bool {
	at := -1
	if bytes.HasPrefix(head, []byte("{")) {
		at = 0
	} else if i := bytes.Index(head, []byte("\n{")); i >= 0 {
		at = i
	}
	return at >= 0 && bytes.Contains(head[at:], []byte(`"fio version"`))
}

// A fioDocument is one document with the line it begins on.
type fioDocument struct {
	*value
	line int
}

func readFio(r *reader) error {
	var last *fioDocument
	for r.scan() {
		if !strings.HasPrefix(strings.TrimSpace(r.line), "{") {
			r.skip()
			continue
		}
		r.understood()
		doc := fioDocument{line: r.n}
		text, err := r.document()
		if err != nil {
			return err
		}
		parsed, bad := parseJSON(text, doc.line, fioSkip)
		if bad != nil {
			return &numa.SyntaxError{File: r.res.Name, Line: bad.line, Col: bad.col, Msg: "fio JSON: " + bad.err.Error()}
		}
		doc.value = parsed
		if last != nil && !sameRun(last, &doc) {
			r.fio(last)
		}
		last = &doc
	}
	if last != nil {
		r.fio(last)
	}
	return nil
}

// document gathers the lines up to the brace that closes the document.
func (r *reader) document() ([]byte, error) {
	var b bytes.Buffer
	first, depth, inString, escaped := r.n, 0, false, false
	for {
		line := r.in.Bytes()
		if b.Len()+len(line) > maxDocument {
			return nil, &numa.SyntaxError{File: r.res.Name, Line: first, Msg: "fio JSON: found a document of more than " + strconv.Itoa(maxDocument>>20) + " MiB"}
		}
		b.Write(line)
		b.WriteByte('\n')
		for i, c := range line {
			switch {
			case escaped:
				escaped = false
			case inString:
				escaped, inString = c == '\\', c != '"'
			case c == '"':
				inString = true
			case c == '{':
				depth++
			case c == '}':
				depth--
			}
			if depth == 0 && !inString && c == '}' {
				if rest := strings.TrimSpace(string(line[i+1:])); rest != "" {
					r.warn(r.n, i+2, "found %q after the document: it is left out", short(rest))
				}
				return b.Bytes()[:b.Len()-(len(line)-i)], nil
			}
		}
		if !r.scan() {
			return b.Bytes(), nil // the parser says what is missing
		}
	}
}

// sameRun reports whether b is a later status update of the run of a: the same jobs
// that began at the same time.
func sameRun(a, b *fioDocument) bool {
	as, bs := a.at("jobs"), b.at("jobs")
	if len(as.keys) == 0 || len(as.keys) != len(bs.keys) {
		return false
	}
	for _, k := range as.keys {
		x, y := as.at(k), bs.at(k)
		if x.at("jobname").text != y.at("jobname").text {
			return false
		}
		if sx, sy := x.at("job_start"), y.at("job_start"); sx.number && sy.number {
			if sx.text != sy.text {
				return false
			}
			continue
		}
		// Before job_start (3.34) there is the time of the document, and the seconds
		// since the start, both rounded.
		bx, okx := began(a, x)
		by, oky := began(b, y)
		if !okx || !oky || math.Abs(bx-by) > 1 {
			return false
		}
	}
	return true
}

// began returns when the job began, in seconds.
func began(d *fioDocument, job *value) (float64, bool) {
	now, ok := d.at("timestamp").float()
	elapsed, ok2 := job.at("elapsed").float()
	return now - elapsed, ok && ok2
}

// fio adds the runs of a document: one for each job name.
func (r *reader) fio(d *fioDocument) {
	jobs := d.at("jobs")
	if len(jobs.keys) == 0 { // only clients of a server, or nothing
		r.run = nil
		r.warn(d.line, 0, "found a document without jobs")
		return
	}
	group := map[string][]*value{}
	var names []string
	for _, k := range jobs.keys {
		name := fioName(d.value, jobs.at(k))
		if group[name] == nil {
			names = append(names, name)
		}
		group[name] = append(group[name], jobs.at(k))
	}
	for _, name := range names {
		r.fioJobs(d, name, group[name])
	}
}

// option returns a job option, or the global one.
func option(d, job *value, name string) *value {
	if v := job.at("job options", name); v.line > 0 {
		return v
	}
	return d.at("global options", name)
}

// fioName returns the job's name with the options that make it another job.
func fioName(d, job *value) string {
	name := job.at("jobname").text
	for _, o := range fioIdentity {
		if v := option(d, job, o); v.text != "" {
			name += ", " + o + " " + v.text
		}
	}
	return name
}

// fioJobs adds one run of jobs of one name: their sum, as numjobs is meant.
func (r *reader) fioJobs(d *fioDocument, name string, jobs []*value) {
	n := r.n
	defer func() { r.n = n }()
	r.n = jobs[0].line
	run := r.start("fio", name)
	for _, where := range []*value{d.at("global options"), jobs[0].at("job options")} {
		for _, k := range where.keys {
			v := where.at(k)
			if strings.HasSuffix(k, "_log") { // a path for each run
				run.fact(v.line, v.col, k, v.text, "")
				continue
			}
			run.setting(v.line, v.col, k, v.text, "")
		}
	}
	if v := d.at("fio version"); v.text != "" {
		run.setting(v.line, v.col, "version", v.text, "")
	}
	if len(jobs) > 1 {
		run.setting(r.n, jobs[0].col, "jobs summed up", len(jobs), "")
	}
	for _, job := range jobs {
		if v := job.at("error"); v.number && v.text != "0" {
			r.warn(v.line, v.col, "the job ended with error %s", v.text)
		}
		if v := job.at("eta"); v.number && v.text != "0" {
			r.warn(v.line, v.col, "the job was not finished: %s s were left", v.text)
		}
	}
	r.fioCPU(d, jobs)
	for _, direction := range []string{"read", "write", "trim"} {
		r.fioDirection(direction, jobs)
	}
}
