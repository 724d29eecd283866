package benchmark

import (
	"bytes"
	"math"
	"strings"

	"example.org/homenode/internal/keyed"
	"example.org/homenode/source/jsontree"
	"example.org/homenode/source/text"
)

// fio --output-format=json and json+, 2.x and 3.x. There may be text around the documents.
// Consecutive documents are status updates of one run, of which the last counts, or further runs.
// 2.x gives latency in µs and bandwidth only in KiB/s; here latency is in µs and bandwidth in MB/s for both.

// fioSkip is the member to ignore: a histogram of json+, which may have millions of bins.
const fioSkip = "bins"

// fioPercentiles are the percentiles that become metrics, of those a job has.
var fioPercentiles = []float64{50, 95, 99, 99.9}

// fioIdentity are the job options that distinguish jobs: they are in the job's name.
var fioIdentity = []string{"rw", "readwrite", "bs", "blocksize", "bssplit", "rwmixread", "iodepth", "numjobs"}

// isFio requires a document that starts on its own line and names its version.
func isFio(head []byte) bool {
	at := -1
	if bytes.HasPrefix(head, []byte("{")) {
		at = 0
	} else if i := bytes.Index(head, []byte("\n{")); i >= 0 {
		at = i
	}
	return at >= 0 && bytes.Contains(head[at:], []byte(`"fio version"`))
}

func readFio(r *reader) error {
	var last *jsontree.Value
	for r.scan() {
		if !strings.HasPrefix(strings.TrimSpace(r.Text), "{") {
			r.skip()
			continue
		}
		r.understood()
		first := r.N
		parsed, bad := jsontree.Parse(r.document(), first, fioSkip)
		if bad != nil {
			bad.File, bad.Msg = r.res.Name, "fio JSON: "+bad.Msg
			return bad
		}
		if last != nil && !sameRun(last, parsed) {
			r.fio(last)
		}
		last = parsed
	}
	if last != nil {
		r.fio(last)
	}
	return nil
}

// document collects the lines up to the brace that closes the document.
func (r *reader) document() []byte {
	var b bytes.Buffer
	var open text.Nesting
	for {
		line := r.in.Text()
		open.Add(line)
		end := strings.LastIndexByte(line, '}') + 1
		if open.Depth > 0 || end == 0 {
			end = len(line)
		} else if rest := strings.TrimSpace(line[end:]); rest != "" {
			r.warn(r.N, end+1, "found %q after the document: it is left out", text.Short(rest))
		}
		b.WriteString(line[:end] + "\n")
		if open.Depth <= 0 || !r.scan() { // the parser reports the missing part
			return b.Bytes()
		}
	}
}

// sameRun reports whether b is a later status update of the run of a: the same jobs with the same start.
func sameRun(a, b *jsontree.Value) bool {
	as, bs := a.At("jobs"), b.At("jobs")
	if len(as.Keys) == 0 || len(as.Keys) != len(bs.Keys) {
		return false
	}
	for _, k := range as.Keys {
		x, y := as.At(k), bs.At(k)
		if x.At("jobname").Text != y.At("jobname").Text {
			return false
		}
		if sx, sy := x.At("job_start"), y.At("job_start"); sx.Kind == jsontree.Number && sx.Kind == sy.Kind {
			if sx.Text != sy.Text {
				return false
			}
			continue
		}
		// Before job_start (3.34) the start is the time of the document less the elapsed seconds, both rounded.
		bx, okx := began(a, x)
		by, oky := began(b, y)
		if !okx || !oky || math.Abs(bx-by) > 1 {
			return false
		}
	}
	return true
}

// float returns the number; false when the value is none.
func float(v *jsontree.Value) (float64, bool) {
	if v.Kind != jsontree.Number {
		return 0, false
	}
	return number(v.Text)
}

// began returns the start of the job, in seconds.
func began(d *jsontree.Value, job *jsontree.Value) (float64, bool) {
	now, ok := float(d.At("timestamp"))
	elapsed, ok2 := float(job.At("elapsed"))
	return now - elapsed, ok && ok2
}

// fio adds the runs of a document: one for each job name.
func (r *reader) fio(d *jsontree.Value) {
	jobs := d.At("jobs")
	if len(jobs.Keys) == 0 { // only clients of a server, or nothing
		r.run = nil
		r.warn(d.Line, 0, "found a document without jobs")
		return
	}
	var named keyed.Lists[string, *jsontree.Value]
	for _, k := range jobs.Keys {
		named.Add(fioName(d, jobs.At(k)), jobs.At(k))
	}
	for name, alike := range named.All() {
		r.fioJobs(d, name, alike)
	}
}

// option returns a job option, or else the global one.
func option(d, job *jsontree.Value, name string) *jsontree.Value {
	if v := job.At("job options", name); v.Line > 0 {
		return v
	}
	return d.At("global options", name)
}

// fioName returns the job's name with the options that distinguish it.
func fioName(d, job *jsontree.Value) string {
	name := job.At("jobname").Text
	for _, o := range fioIdentity {
		if v := option(d, job, o); v.Text != "" {
			name += ", " + o + " " + v.Text
		}
	}
	return name
}

// fioJobs adds one run for the jobs of one name: their sum, as intended by numjobs.
func (r *reader) fioJobs(d *jsontree.Value, name string, jobs []*jsontree.Value) {
	run := r.start("fio", name)
	run.Line = jobs[0].Line
	for _, where := range []*jsontree.Value{d.At("global options"), jobs[0].At("job options")} {
		for _, k := range where.Keys {
			v := where.At(k)
			if strings.HasSuffix(k, "_log") { // a path for each run
				run.fact(v.Cell(), k, v.Text, "")
				continue
			}
			run.setting(v.Cell(), k, v.Text, "")
		}
	}
	if v := d.At("fio version"); v.Text != "" {
		run.setting(v.Cell(), "version", v.Text, "")
	}
	if len(jobs) > 1 {
		run.setting(jobs[0].Cell(), "jobs summed up", len(jobs), "")
	}
	for _, job := range jobs {
		if v := job.At("error"); v.Kind == jsontree.Number && v.Text != "0" {
			r.doubt(v.Cell(), "the job ended with error %s", v.Text)
		}
		if v := job.At("eta"); v.Kind == jsontree.Number && v.Text != "0" {
			r.doubt(v.Cell(), "the job was not finished: %s s were left", v.Text)
		}
	}
	r.fioCPU(d, jobs)
	for _, direction := range []string{"read", "write", "trim"} {
		r.fioDirection(direction, jobs)
	}
}
