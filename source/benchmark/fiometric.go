package benchmark

import (
	"strconv"
)

// fioDirection adds the metrics of one direction, over all jobs of the run.
func (r *reader) fioDirection(direction string, jobs []*value) {
	var busy []*value
	for _, job := range jobs {
		d := job.at(direction)
		if n, ok := d.at("total_ios").float(); ok && n > 0 {
			busy = append(busy, d)
		} else if v, ok := d.at("iops").float(); ok && v > 0 { // 2.0 has no total_ios
			busy = append(busy, d)
		}
	}
	if len(busy) == 0 {
		return // all zero
	}
	r.sum(direction+" bandwidth", "MB/s", busy, bandwidth)
	r.sum(direction+" IOPS", "1/s", busy, func(d *value) (*value, float64, bool) {
		v := d.at("iops")
		f, ok := v.float()
		return v, f, ok
	})
	r.means(direction+" latency, mean", "lat", busy)
	r.means(direction+" completion latency, mean", "clat", busy)
	r.percentiles(direction, busy)
}

// bandwidth returns MB/s: from bytes where the release has them, else from KiB.
func bandwidth(d *value) (*value, float64, bool) {
	if v := d.at("bw_bytes"); v.number {
		f, ok := v.float()
		return v, f / 1e6, ok
	}
	v := d.at("bw")
	f, ok := v.float()
	return v, f * 1024 / 1e6, ok
}

// sum adds a metric that jobs add up to.
func (r *reader) sum(name, unit string, busy []*value, of func(*value) (*value, float64, bool)) {
	total := 0.0
	var first *value
	for _, d := range busy {
		v, f, ok := of(d)
		if !ok {
			r.warn(d.line, d.col, "found no %s", name)
			return
		}
		if first == nil {
			first = v
		}
		total += f
	}
	r.metricAt(first, name, total, unit, Higher)
}

// latency returns the member of a latency and what divides it to µs: lat_ns since
// 3.0, lat before, which is in µs.
func latency(d *value, kind string) (v *value, perMicrosecond float64) {
	if v := d.at(kind + "_ns"); v.line > 0 {
		return v, 1000
	}
	return d.at(kind), 1
}

// means adds the mean over all I/Os of the jobs.
func (r *reader) means(name, kind string, busy []*value) {
	sum, ios := 0.0, 0.0
	var first *value
	for _, d := range busy {
		v, per := latency(d, kind)
		mean, ok := v.at("mean").float()
		if !ok || mean == 0 { // switched off by disable_lat and others
			return
		}
		n, ok := v.at("N").float()
		if !ok || n == 0 { // 2.x
			n, _ = d.at("total_ios").float()
		}
		if first == nil {
			first = v.at("mean")
		}
		if len(busy) == 1 {
			n = 1
		}
		// The conversion forbids a fused multiply-add: all machines print the same.
		sum, ios = sum+float64(mean/per*n), ios+n
	}
	if ios > 0 {
		r.metricAt(first, name, sum/ios, "µs", Lower)
	}
}

// percentiles adds percentiles: those of completion latency, or of latency when
// the job was told lat_percentiles. Those of several jobs have no common one.
func (r *reader) percentiles(direction string, busy []*value) {
	for _, kind := range []string{"clat", "lat"} {
		v, per := latency(busy[0], kind)
		list := v.at("percentile")
		if len(list.keys) == 0 {
			continue
		}
		if len(busy) > 1 {
			r.warn(list.line, list.col, "the percentiles of %d jobs cannot be added up: they are left out (fio: group_reporting)", len(busy))
			return
		}
		name := " completion latency, "
		if kind == "lat" {
			name = " latency, "
		}
		for _, key := range list.keys {
			percent, err := strconv.ParseFloat(key, 64)
			ns, ok := list.at(key).float()
			if err != nil || !ok {
				continue
			}
			for _, want := range fioPercentiles {
				if percent == want && ns > 0 {
					r.metricAt(list.at(key), direction+name+strconv.FormatFloat(want, 'g', -1, 64)+" %", ns/per, "µs", Lower)
				}
			}
		}
		return
	}
}

// metricAt adds a metric that stands at v.
func (r *reader) metricAt(v *value, name string, n float64, unit string, better Better) {
	r.n = v.line
	r.metric(v.col, name, n, unit, better)
}

// fioCPU states when the jobs began and the CPU of their threads, in percent of one vCPU.
// A job that stands for all of its clones (group_reporting) states their mean, so it
// counts numjobs times.
func (r *reader) fioCPU(d *fioDocument, jobs []*value) {
	if v := jobs[0].at("job_start"); v.number {
		if ms, ok := v.float(); ok && ms < 1e15 {
			r.run.fact(v.line, v.col, "started", int64(ms/1000), "s since 1970")
		}
	} else if at, ok := began(d, jobs[0]); ok && at > 0 && at < 1e12 {
		v := d.at("timestamp")
		r.run.fact(v.line, v.col, "started", int64(at), "s since 1970")
	}
	clones := 1.0
	if n, ok := number(option(d.value, jobs[0], "numjobs").text); ok && len(jobs) == 1 && n >= 1 {
		clones = n
	}
	sum := 0.0
	for _, job := range jobs {
		user, ok1 := job.at("usr_cpu").float()
		system, ok2 := job.at("sys_cpu").float()
		if !ok1 || !ok2 || user < 0 || system < 0 {
			return
		}
		sum += float64((user + system) * clones)
	}
	v := jobs[0].at("usr_cpu")
	r.run.fact(v.line, v.col, "CPU of the threads", sum, "% of a vCPU")
}
