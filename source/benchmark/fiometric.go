package benchmark

import (
	"strconv"

	"example.org/homenode/source/jsontree"
)

// fioDirection adds the metrics of one direction, over all jobs of the run.
func (r *reader) fioDirection(direction string, jobs []*jsontree.Value) {
	var busy []*jsontree.Value
	for _, job := range jobs {
		d := job.At(direction)
		if n, ok := float(d.At("total_ios")); ok && n > 0 {
			busy = append(busy, d)
		} else if v, ok := float(d.At("iops")); ok && v > 0 { // 2.0 has no total_ios
			busy = append(busy, d)
		}
	}
	if len(busy) == 0 {
		return // all zero
	}
	r.sum(direction+" bandwidth", "MB/s", busy, bandwidth)
	r.sum(direction+" IOPS", "1/s", busy, func(d *jsontree.Value) (*jsontree.Value, float64, bool) {
		v := d.At("iops")
		f, ok := float(v)
		return v, f, ok
	})
	r.means(direction+" latency, mean", "lat", busy)
	r.means(direction+" completion latency, mean", "clat", busy)
	r.percentiles(direction, busy)
}

// bandwidth returns MB/s: from bytes where the release reports them, else from KiB.
func bandwidth(d *jsontree.Value) (*jsontree.Value, float64, bool) {
	if v := d.At("bw_bytes"); v.Kind == jsontree.Number {
		f, ok := float(v)
		return v, f / 1e6, ok
	}
	v := d.At("bw")
	f, ok := float(v)
	return v, f * 1024 / 1e6, ok
}

// sum adds a metric that is the sum over the jobs.
func (r *reader) sum(name, unit string, busy []*jsontree.Value, of func(*jsontree.Value) (*jsontree.Value, float64, bool)) {
	total := 0.0
	var first *jsontree.Value
	for _, d := range busy {
		v, f, ok := of(d)
		if !ok {
			r.doubt(d.Cell(), "found no %s", name)
			return
		}
		if first == nil {
			first = v
		}
		total += f
	}
	r.metric(first.Cell(), name, total, unit, Higher)
}

// latency returns the member of a latency and its divisor to µs: lat_ns since 3.0, before that lat,
// which is in µs.
func latency(d *jsontree.Value, kind string) (v *jsontree.Value, perMicrosecond float64) {
	if v := d.At(kind + "_ns"); v.Line > 0 {
		return v, 1000
	}
	return d.At(kind), 1
}

// means adds the mean over all I/Os of the jobs.
func (r *reader) means(name, kind string, busy []*jsontree.Value) {
	sum, ios := 0.0, 0.0
	var first *jsontree.Value
	for _, d := range busy {
		v, per := latency(d, kind)
		mean, ok := float(v.At("mean"))
		if !ok || mean == 0 { // disabled by disable_lat and others
			return
		}
		n, ok := float(v.At("N"))
		if !ok || n == 0 { // 2.x
			n, _ = float(d.At("total_ios"))
		}
		if first == nil {
			first = v.At("mean")
		}
		if len(busy) == 1 {
			n = 1
		}
		// The conversion forbids a fused multiply-add: all machines print the same.
		sum, ios = sum+float64(mean/per*n), ios+n
	}
	if ios > 0 {
		r.metric(first.Cell(), name, sum/ios, "µs", Lower)
	}
}

// percentiles adds percentiles: those of completion latency, or of latency with the job option
// lat_percentiles. Those of several jobs cannot be combined.
func (r *reader) percentiles(direction string, busy []*jsontree.Value) {
	for _, kind := range []string{"clat", "lat"} {
		v, per := latency(busy[0], kind)
		list := v.At("percentile")
		if len(list.Keys) == 0 {
			continue
		}
		if len(busy) > 1 {
			r.doubt(list.Cell(), "the percentiles of %d jobs cannot be added up: they are left out (fio: group_reporting)", len(busy))
			return
		}
		name := " completion latency, "
		if kind == "lat" {
			name = " latency, "
		}
		for _, key := range list.Keys {
			percent, err := strconv.ParseFloat(key, 64)
			ns, ok := float(list.At(key))
			if err != nil || !ok {
				continue
			}
			for _, want := range fioPercentiles {
				if percent == want && ns > 0 {
					r.metric(list.At(key).Cell(), direction+name+strconv.FormatFloat(want, 'g', -1, 64)+" %", ns/per, "µs", Lower)
				}
			}
		}
		return
	}
}

// fioCPU adds the start of the jobs and the CPU use of their threads, in percent of one vCPU. A job
// that represents all of its clones (group_reporting) has their mean, so it counts numjobs times.
func (r *reader) fioCPU(d *jsontree.Value, jobs []*jsontree.Value) {
	if v := jobs[0].At("job_start"); v.Kind == jsontree.Number {
		if ms, ok := float(v); ok && ms < 1e15 {
			r.run.fact(v.Cell(), "started", int64(ms/1000), "s since 1970")
		}
	} else if at, ok := began(d, jobs[0]); ok && at > 0 && at < 1e12 {
		v := d.At("timestamp")
		r.run.fact(v.Cell(), "started", int64(at), "s since 1970")
	}
	clones := 1.0
	if n, ok := number(option(d, jobs[0], "numjobs").Text); ok && len(jobs) == 1 && n >= 1 {
		clones = n
	}
	sum := 0.0
	for _, job := range jobs {
		user, ok1 := float(job.At("usr_cpu"))
		system, ok2 := float(job.At("sys_cpu"))
		if !ok1 || !ok2 || user < 0 || system < 0 {
			return
		}
		sum += float64((user + system) * clones)
	}
	v := jobs[0].At("usr_cpu")
	r.run.fact(v.Cell(), "CPU of the threads", sum, "% of a vCPU")
}
