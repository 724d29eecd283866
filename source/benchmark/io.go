package benchmark

import (
	"strconv"
	"strings"
	"time"

	"example.org/homenode/numa/pattern"
)

// A Number is one number of a run, with its place.
type Number struct {
	Value     float64
	Line, Col int
}

// A CPUOf is the base of a CPU use.
type CPUOf string

// The bases of tools' CPU use.
const (
	OfHosts   CPUOf = "hosts"   // in percent of the hosts of the cluster: HCIBench
	OfGuest   CPUOf = "guest"   // in percent of the vCPUs: Iometer
	OfThreads CPUOf = "threads" // of the benchmark's own threads, in percent of one vCPU: fio
)

// An IO describes a run's I/Os, in terms common to fio, HCIBench and Iometer. Nil fields are missing.
type IO struct {
	// Test is the name of the test case, with its time when it has one.
	Test    string
	Started string // as stated, or as UTC when it is in seconds since 1970
	Block   *Number
	// Mixed reports that the run has I/Os of several sizes, so that Block is nil.
	Mixed        bool
	Read, Random *Number // requested, in percent of the I/Os
	Reads        *Number // the actual share, as Read; nil where directions are not counted separately
	IOPS         *Number // of all VMs and disks together
	Throughput   *Number // in bytes a second
	CPU          *Number // in percent, of CPUOf
	CPUOf        CPUOf
	VMs, Disks   *Number // Disks are those of one VM
	Limit        *Number // in I/Os a second, of one disk
}

// IO returns the I/Os of the run; false when its tool makes none.
func (r *Run) IO() (IO, bool) {
	io := IO{Test: r.Name}
	for _, f := range r.Facts {
		if f.Name != "started" {
			continue
		}
		switch v := f.Value.(type) {
		case int64:
			io.Started = time.Unix(v, 0).UTC().Format(time.DateTime)
		case string:
			io.Started = v
		}
	}
	switch r.Tool {
	case "HCIBench":
		r.hciIO(&io)
	case "fio":
		r.fioIO(&io)
	case "Iometer":
		r.iometerIO(&io)
	default:
		return IO{}, false
	}
	if r.Tool != "HCIBench" && io.IOPS != nil && io.IOPS.Value > 0 {
		io.Reads = &Number{Line: io.IOPS.Line, Col: io.IOPS.Col}
		if n := r.measured("read IOPS", 1); n != nil {
			io.Reads.Value = 100 * min(1, n.Value/io.IOPS.Value)
		}
	}
	return io, true
}

func (r *Run) hciIO(io *IO) {
	io.Block = r.settingNumber("block size", map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20})
	io.Read, io.Random = r.settingNumber("read share", nil), r.settingNumber("random share", nil)
	io.VMs, io.Disks, io.Limit = r.settingNumber("VMs", nil), r.settingNumber("vmdks per VM", nil), r.settingNumber("IOPS limit", nil)
	io.IOPS, io.Throughput = r.measured("IOPS", 1), r.measured("throughput", 1<<20)
	io.CPU, io.CPUOf = r.measured("CPU usage", 1), OfHosts
	for _, f := range r.Facts {
		if text, ok := f.Value.(string); ok && f.Name == "test case" {
			io.Test = text
		}
	}
}

func (r *Run) iometerIO(io *IO) {
	sizes := 0
	for _, s := range r.Settings {
		if s.Name == "size" {
			sizes++
		}
	}
	if io.Mixed = sizes > 1; !io.Mixed {
		io.Block = r.settingNumber("size", nil)
		io.Read, io.Random = r.settingNumber("read share", nil), r.settingNumber("random share", nil)
	}
	io.IOPS = r.measured("IOPS", 1)
	for _, m := range r.Metrics {
		if m.Name == "throughput" && m.Unit == "MB/s" { // "MBps" of 2006.07.27 may be either
			io.Throughput = &Number{m.Value * 1e6, m.Line, m.Col}
		}
	}
	io.CPU, io.CPUOf = r.measured("CPU utilization", 1), OfGuest
}

// fioSize is one size as fio accepts it, with the base of 1024 that is its default.
var fioSize = pattern.Of(`(?i)^([0-9]+)(b|ki?b?|mi?b?)?$`)

func (r *Run) fioIO(io *IO) {
	text := func(names ...string) (value string, n Number) {
		for _, s := range r.Settings {
			for _, name := range names {
				if v, ok := s.Value.(string); ok && s.Name == name {
					value, n = v, Number{Line: s.Line, Col: s.Col} // a job's own value comes after the global one
				}
			}
		}
		return value, n
	}
	r.fioSums(io)
	rw, at := text("rw", "readwrite")
	order, found := strings.CutPrefix(rw, "rand")
	random := Number{0, at.Line, at.Col}
	if found {
		random.Value = 100
	}
	read := Number{100, at.Line, at.Col}
	switch order {
	case "read":
	case "write":
		read.Value = 0
	case "rw", "readwrite":
		read.Value = 50 // fio's default
		if mix, at := text("rwmixread"); mix != "" {
			v, ok := number(mix)
			if !ok {
				return
			}
			read = Number{v, at.Line, at.Col}
		}
	default:
		return // trims, or an unstated mix
	}
	if part, _ := text("percentage_random"); part != "" {
		return
	}
	io.Read, io.Random = &read, &random
	r.fioBlock(io, text)
}

// fioSums adds up both directions, and takes the CPU time of the threads.
func (r *Run) fioSums(io *IO) {
	for metric, sum := range map[string]**Number{" IOPS": &io.IOPS, " bandwidth": &io.Throughput} {
		factor := 1.0
		if metric == " bandwidth" {
			factor = 1e6
		}
		for _, direction := range []string{"read", "write"} {
			if n := r.measured(direction+metric, factor); n != nil && *sum != nil {
				(*sum).Value += n.Value
			} else if n != nil {
				*sum = n
			}
		}
	}
	if r.measured("trim IOPS", 1) != nil {
		io.Mixed = true // trims have no size
	}
	for _, f := range r.Facts {
		if v, ok := f.Value.(float64); ok && f.Name == "CPU of the threads" {
			io.CPU, io.CPUOf = &Number{v, f.Line, f.Col}, OfThreads
		}
	}
}

// fioBlock sets the block size if there is a single one: bs may name one for each direction.
func (r *Run) fioBlock(io *IO, text func(...string) (string, Number)) {
	for _, name := range []string{"bsrange", "blocksize_range", "bssplit", "bs_unaligned"} {
		if v, _ := text(name); v != "" {
			io.Mixed = true
			return
		}
	}
	if base, _ := text("kb_base"); base != "" && base != "1024" {
		return
	}
	bs, at := text("bs", "blocksize")
	parts := strings.Split(bs, ",")
	part := parts[0]
	switch {
	case len(parts) > 1 && io.Read.Value == 0 && parts[1] != "":
		part = parts[1]
	case len(parts) > 1 && io.Read.Value != 100 && parts[1] != "" && parts[1] != parts[0]:
		io.Mixed = true
		return
	}
	v := fioSize.FindStringSubmatch(part)
	if v == nil {
		return
	}
	n, err := strconv.ParseInt(v[1], 10, 32)
	if err != nil || n == 0 {
		return
	}
	switch unit := strings.ToLower(v[2]); {
	case strings.HasPrefix(unit, "k"):
		n <<= 10
	case strings.HasPrefix(unit, "m"):
		n <<= 20
	}
	io.Block = &Number{float64(n), at.Line, at.Col}
}

// settingNumber returns a setting as a number, by the factor of its unit.
func (r *Run) settingNumber(name string, units map[string]float64) *Number {
	for _, s := range r.Settings {
		if s.Name != name {
			continue
		}
		factor := 1.0
		if f, ok := units[s.Unit]; ok {
			factor = f
		}
		switch v := s.Value.(type) {
		case float64:
			return &Number{v * factor, s.Line, s.Col}
		case int:
			return &Number{float64(v) * factor, s.Line, s.Col}
		}
	}
	return nil
}

// measured returns a metric, in its unit times factor.
func (r *Run) measured(name string, factor float64) *Number {
	for _, m := range r.Metrics {
		if m.Name == name {
			return &Number{m.Value * factor, m.Line, m.Col}
		}
	}
	return nil
}
