package fetchstats

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// ticksOf returns what a Series makes of answers.
func ticksOf(t *testing.T, info string, answers ...[]byte) (all []numa.Tick) {
	t.Helper()
	s := Series{Host: "esx01", Known: true}
	if err := s.Learn("info", strings.NewReader(info)); err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if _, err := s.Read("answer", bytes.NewReader(a), func(x *numa.Tick) error {
			c := *x
			c.VMs = append([]numa.VMTick(nil), x.VMs...)
			c.Nodes = append([]numa.NodeTick(nil), x.Nodes...)
			all = append(all, c)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestTrim(t *testing.T) {
	begin := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	w := Writer{Boot: begin.Add(-time.Hour)}
	var whole, trimmed [][]byte
	for i := range 3 {
		tick := numa.Tick{Host: "esx01", Time: begin.Add(time.Duration(i) * time.Minute), Has: 0,
			Nodes: []numa.NodeTick{{ID: 0, Total: 64 << 30, Free: 1 << 30}, {ID: 1, Total: 64 << 30, Free: 2 << 30}},
			VMs:   []numa.VMTick{{GID: 7, Name: "a|b", Has: numa.HasHomes | numa.HasMemory, Homes: numa.SetOf(1), Local: 3 << 30, Remote: numa.Bytes(i) << 30}}}
		answer := w.Answer(&tick)
		// What a host says besides: objects, interrupts, worlds that are no vCPUs.
		answer = strings.Replace(answer, "==COUNTER-VALUE==\n", "|SchedGroup|7|VCPU,2|\n==COUNTER-VALUE==\n|InterruptVector|1|99|\n|VCPU|9|vmx|1|1|1|1|1|1|\n", 1)
		whole = append(whole, []byte(answer))
		trimmed = append(trimmed, Trim(nil, []byte(answer)))
	}
	if s := string(trimmed[0]); strings.Contains(s, "Interrupt") || strings.Contains(s, "|vmx|") || !strings.Contains(s, "a|b") {
		t.Errorf("trimmed: %s", s)
	}
	if got, want := ticksOf(t, w.Info(), trimmed...), ticksOf(t, w.Info(), whole...); len(want) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, want %+v", got, want)
	}
}

// TestRenamer renames the VMs of an answer: a Series makes the same of it, and nothing else of its text is left.
func TestRenamer(t *testing.T) {
	begin := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	w := Writer{Boot: begin.Add(-time.Hour)}
	info := "# answers of secret-host\n" + strings.Replace(w.Info(), "|VCPUID,U32|WorldName,STR|", "|VCPUID,U32|WorldName,STR|AffinityStr,STR|", 1) + "|Vmfs|Volume,STR|\n"
	vm := func(name string) string { return map[string]string{"secret|1": "one", "secret 2": "two"}[name] }
	r := NewRenamer([]byte(info), vm)
	var whole, renamed [][]byte
	for i := range 3 {
		tick := numa.Tick{Time: begin.Add(time.Duration(i) * time.Minute), Since: time.Minute, Has: numa.HasState, State: numa.Low,
			Nodes: []numa.NodeTick{{ID: 0, Total: 64 << 30, Free: 1 << 30}, {ID: 1, Total: 64 << 30, Free: 2 << 30}},
			VMs: []numa.VMTick{{GID: 7, Name: "secret|1", VCPUs: 2, Has: numa.HasHomes | numa.HasMemory, Used: 0.5, Homes: numa.SetOf(1), Local: 3 << 30, Remote: numa.Bytes(i) << 30},
				{GID: 8, Name: "secret 2", VCPUs: 1}}}
		answer := w.Answer(&tick)
		for _, name := range []string{"secret|1", "secret 2"} {
			answer = strings.ReplaceAll(answer, ":"+name+"|", ":"+name+"|secret-cpus|")
		}
		// What a host says besides, and what is damaged.
		answer = strings.Replace(answer, "|Server|PCPU,1|", "|Server|secret,1|", 1)
		answer = strings.Replace(answer, "==COUNTER-VALUE==\n", "==secret==\n==COUNTER-VALUE==\nsecret\n|Vmfs|/vmfs/volumes/secret|\n", 1)
		answer = strings.Replace(answer, "|Sched|", "|LCPU|secret|1|1|1|1|\n|Sched|", 1)
		answer += "|SchedGroup|9|sh.secret|1|0|secret|0|0|0|0|0|0|0|0|\n|VMem|9|secret|1|1|1|1|1|1|1|1|\n"
		whole, renamed = append(whole, []byte(answer)), append(renamed, r.Append(nil, []byte(answer)))
	}
	for _, b := range append(renamed, r.Columns()) {
		if strings.Contains(string(b), "secret") {
			t.Errorf("renamed: %s", b)
		}
	}
	got, want := ticksOf(t, string(r.Columns()), renamed...), ticksOf(t, info, whole...)
	for i := range want {
		want[i].Line, got[i].Line = 0, 0
		for j := range want[i].VMs {
			want[i].VMs[j].Name = vm(want[i].VMs[j].Name)
		}
	}
	if len(want) != 3 || want[2].VMs[0].Has&numa.HasReady == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, want %+v", got, want)
	}
}

// TestTrimSample trims the published answer: what is read of it is the same, but for the lines.
func TestTrimSample(t *testing.T) {
	info, stats := sample(t, "counterinfo.dsv"), sample(t, "fetchstats.dsv")
	trimmed := Trim(nil, []byte(stats))
	got, want := ticksOf(t, info, trimmed), ticksOf(t, info, []byte(stats))
	got[0].Line, want[0].Line = 0, 0
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, want %+v", got, want)
	}
	t.Logf("%d of %d bytes", len(trimmed), len(stats))

	r := NewRenamer([]byte(info), func(string) string { return "one" })
	renamed := r.Append(nil, []byte(stats))
	if got = ticksOf(t, string(r.Columns()), renamed); len(got) == 1 && len(got[0].VMs) == 1 {
		got[0].Line, want[0].VMs[0].Name = 0, "one"
	}
	if !reflect.DeepEqual(got, want) || bytes.Contains(renamed, []byte("frigo")) {
		t.Errorf("renamed: found %+v, want %+v", got, want)
	}
}
