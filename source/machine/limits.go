package machine

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// limits reads the control groups of this process; its processors must be known.
func (t *tree) limits() {
	l := &t.Limits
	l.Available = t.memory("proc/meminfo", "MemAvailable")
	groups, _ := t.text("proc/self/cgroup")
	mounts, _ := t.text("proc/self/mountinfo")
	for line := range strings.Lines(groups) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		for _, controller := range strings.Split(controllers, ",") {
			switch {
			case id == "0" && controllers == "":
				t.eachGroup(mounts, "cgroup2", "", group, t.group2)
			case controller == "cpu":
				t.eachGroup(mounts, "cgroup", controller, group, t.cpu1)
			case controller == "memory":
				t.eachGroup(mounts, "cgroup", controller, group, t.memory1)
			}
		}
	}
	t.Limits.partial(&t.Topology, t.memory("proc/meminfo", "MemTotal"))
}

// partial lists the parts of the machine that this process may not use.
func (l *Limits) partial(top *Topology, memory numa.Fact[numa.Bytes]) {
	online := 0
	for _, p := range top.Processors {
		if p.Online {
			online++
		}
	}
	if n := len(l.CPUs); n < online {
		l.Partial = append(l.Partial, fmt.Sprintf("this process may use %d of %d processors (affinity or cpuset)", n, online))
	}
	if n := len(l.Nodes); n > 0 && n < len(top.Nodes) {
		l.Partial = append(l.Partial, fmt.Sprintf("this process may use memory of %d of %d nodes (cpuset)", n, len(top.Nodes)))
	}
	if q := l.CPUQuota; q.Known() && q.Value < float64(online) {
		l.Partial = append(l.Partial, fmt.Sprintf("this process may use the time of %.3g of %d processors (%s)", q.Value, online, q.Origin.Where))
	}
	if m := l.MemoryLimit; m.Known() && memory.Known() && m.Value < memory.Value {
		l.Partial = append(l.Partial, fmt.Sprintf("this process may use %v of %v memory (%s)", m.Value, memory.Value, m.Origin.Where))
	}
}

// eachGroup calls read with the folder of a control group and of each of its parents, as far as they are mounted.
func (t *tree) eachGroup(mounts, kind, controller, group string, read func(dir string)) {
	for line := range strings.Lines(mounts) {
		own, super, _ := strings.Cut(line, " - ")
		fields, of := strings.Fields(own), strings.Fields(super)
		if len(fields) < 5 || len(of) < 3 || of[0] != kind || controller != "" && !has(of[2], controller) {
			continue
		}
		point := strings.TrimPrefix(path.Clean(fields[4]), "/")
		below, ok := strings.CutPrefix(path.Clean(group), path.Clean(fields[3]))
		if !ok || strings.Contains(below, "..") {
			below = "" // a container that sees only its own group
		}
		for dir := path.Join(point, below); len(dir) >= len(point) && dir != "."; dir = path.Dir(dir) {
			read(dir)
		}
		return
	}
}

// has reports whether a list with commas has this word.
func has(list, word string) bool { return strings.Contains(","+list+",", ","+word+",") }

func (t *tree) group2(dir string) {
	quota, _ := t.text(dir + "/cpu.max") // "max 100000" is none
	if most, period, ok := strings.Cut(quota, " "); ok {
		t.quota(most, period, dir+"/cpu.max")
	}
	t.memoryLimit(dir, "memory.max", "memory.current", "inactive_file")
}

func (t *tree) cpu1(dir string) {
	most, _ := t.text(dir + "/cpu.cfs_quota_us") // -1 is none
	period, _ := t.text(dir + "/cpu.cfs_period_us")
	t.quota(most, period, dir+"/cpu.cfs_quota_us")
}

func (t *tree) memory1(dir string) {
	t.memoryLimit(dir, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
}

// quota keeps the tightest time limit, both in µs.
func (t *tree) quota(most, period, file string) {
	q, ok1 := number(most)
	p, ok2 := number(period)
	if !ok1 || !ok2 || p == 0 {
		return
	}
	if cpus := float64(q) / float64(p); cpus < t.Limits.CPUQuota.Or(math.Inf(1)) {
		t.Limits.CPUQuota = numa.ReadAt(cpus, "/"+file)
	}
}

// memoryLimit keeps the tightest memory limit, and the least remainder of one.
func (t *tree) memoryLimit(dir, limitFile, usedFile, cacheKey string) {
	text, _ := t.text(dir + "/" + limitFile)
	limit, err := strconv.ParseInt(text, 10, 64)
	if err != nil || limit < 0 || limit >= 1<<60 { // "max", or the largest number of the kernel
		return
	}
	l := &t.Limits
	where := "/" + dir + "/" + limitFile
	if b := numa.Bytes(limit); !l.MemoryLimit.Known() || b < l.MemoryLimit.Value {
		l.MemoryLimit = numa.ReadAt(b, where)
	}
	used, ok := number(first(t.text(dir + "/" + usedFile)))
	if !ok {
		return
	}
	stat, _ := t.text(dir + "/memory.stat")
	for line := range strings.Lines(stat) {
		if value, ok := strings.CutPrefix(line, cacheKey+" "); ok {
			cache, _ := number(strings.TrimSpace(value))
			used = max(used-cache, 0)
		}
	}
	if left := numa.Bytes(max(limit-used, 0)); !l.MemoryLeft.Known() || left < l.MemoryLeft.Value {
		l.MemoryLeft = numa.DerivedFrom(left, where+" - "+usedFile)
	}
}

func first(s string, _ error) string { return s }
