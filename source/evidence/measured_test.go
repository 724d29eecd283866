package evidence_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/evidence"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
	"example.org/homenode/source/scenario/given"
)

// inGuest returns the file of a guest of four vCPUs that sees one node, where two were found.
func inGuest(t *testing.T, change func(*measured.Result)) []byte {
	t.Helper()
	r := &measured.Result{
		Format: measured.Format, Version: measured.Version, Name: "db01", Started: time.Date(2026, 11, 24, 7, 0, 0, 0, time.FixedZone("", 3600)),
		Machine: &machine.Machine{Identity: machine.Identity{Hypervisor: numa.ReadAt("VMware", "CPUID")}, Topology: machine.Topology{From: "/sys", Nodes: []machine.Node{{CPUs: []int{0, 1, 2, 3}}}}},
		Hidden:  &measured.Hidden{Answer: measured.SeveralNodes, Groups: [][]int{{0, 1}, {3}}, Shares: []measured.Share{{Of: "fresh", Remote: .5, Low: .4, High: .6}}},
		Trust:   measured.Trust{OK: true},
	}
	for i := range 4 {
		r.Machine.Topology.Processors = append(r.Machine.Topology.Processors, machine.Processor{Number: i, Online: true, Socket: i})
	}
	if change != nil {
		change(r)
	}
	var b bytes.Buffer
	if err := measured.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMeasured joins what homenode measure wrote: to whom, what of it, and what is said of the rest.
func TestMeasured(t *testing.T) {
	all := "db01: homenode measure 2026-11-24T06:00:00Z nodes 1 of [0 0 0 0], sockets [0 1 2 3], together [0 0 -1 1], far 1, lost -"
	for _, tt := range []struct {
		name, file, vm string
		change         func(*measured.Result)
		more           []byte // documents behind it
		want           []string
	}{
		{"by its name", "a.json", "", nil, nil, []string{all}},
		{"as the user says", "a.json", "web", nil, nil, []string{strings.Replace(all, "db01", "web", 1)}},
		{"by the name of the file", "measure_web.json", "", func(r *measured.Result) { r.Name = "" }, nil, []string{strings.Replace(all, "db01", "web", 1)}},
		{"of no VM", "a.json", "", func(r *measured.Result) { r.Name = "mail" }, nil, []string{`note a.json:1: homenode measure of "mail": no VM of the fleet has this name; known: db01, db01-test, rv01, vmware, web; say whose it is with --evidence NAME=FILE`}},
		{"several in one file", "a.json", "db01", nil, inGuest(t, func(r *measured.Result) { r.Name = "web" }), []string{all, `note a.json:%d: homenode measure of "web": the file shows several guests, and "web" is not db01`}},
		{"of another hypervisor", "a.json", "", func(r *measured.Result) { r.Machine.Identity.Hypervisor.Value = "KVM" }, nil, []string{"note a.json:1: homenode measure names KVM as the hypervisor: this is no guest of vSphere"}},
		{"of no guest", "a.json", "", func(r *measured.Result) {
			r.Machine.Identity.Hypervisor, r.Machine.Identity.Virtualised = numa.Fact[string]{}, numa.ReadAt(false, "CPUID")
		}, nil, []string{"note a.json:1: homenode measure ran on a machine that is no guest"}},
		{"of a part", "a.json", "", func(r *measured.Result) { r.Machine.Limits.Partial = []string{"2 of 4 processors"} }, nil, []string{
			"db01: homenode measure 2026-11-24T06:00:00Z nodes 0 of [], sockets [], together [0 0 -1 1], far 1, lost -",
			"note a.json:1: homenode measure in db01: it covers a part of the machine, so its topology is not taken: 2 of 4 processors"}},
		{"emulated", "a.json", "", func(r *measured.Result) { r.Machine.Identity.Emulated = numa.ReadAt(true, "CPUID") }, nil, []string{
			"note a.json:1: homenode measure in db01: the machine is emulated by software: its topology and its latencies are not those of a host"}},
		{"not trusted", "a.json", "", func(r *measured.Result) { r.Trust = measured.Trust{Reasons: []string{"the machine was busy"}} }, nil, []string{
			"db01: homenode measure 2026-11-24T06:00:00Z nodes 1 of [0 0 0 0], sockets [0 1 2 3], together [], far 0, lost -",
			"note a.json:1: homenode measure in db01: it does not trust its own figures, so what it says of hidden nodes and lost time is not taken: the machine was busy"}},
		{"one kind proves nothing", "a.json", "", func(r *measured.Result) { r.Hidden.Answer = measured.OneKind }, nil, []string{
			"db01: homenode measure 2026-11-24T06:00:00Z nodes 1 of [0 0 0 0], sockets [0 1 2 3], together [], far 0, lost -"}},
		{"time lost", "a.json", "", func(r *measured.Result) { r.Hidden, r.Lost = nil, &measured.Lost{ByHost: .02} }, nil, []string{
			"db01: homenode measure 2026-11-24T06:00:00Z nodes 1 of [0 0 0 0], sockets [0 1 2 3], together [], far 0, lost 0.02"}},
		{"groups that contradict themselves", "a.json", "", func(r *measured.Result) { r.Hidden.Groups = [][]int{{0, 1}, {1}} }, nil, []string{
			"db01: homenode measure 2026-11-24T06:00:00Z nodes 1 of [0 0 0 0], sockets [0 1 2 3], together [], far 1, lost -",
			"note a.json:1: homenode measure in db01: hidden.groups names processor 1, which the machine does not have or another group has: the groups are not taken"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := inGuest(t, tt.change)
			text := append(bytes.Clone(first), tt.more...)
			wide := []byte{0xff, 0xfe} // as PowerShell redirects
			for _, c := range utf16.Encode([]rune(string(text))) {
				wide = binary.LittleEndian.AppendUint16(wide, c)
			}
			want := slices.Clone(tt.want)
			for i, w := range want {
				if strings.Contains(w, "%d") {
					want[i] = fmt.Sprintf(w, 1+bytes.Count(first, []byte("\n")))
				}
			}
			for form, file := range map[string][]byte{"UTF-8": text, "UTF-16": wide} {
				docs, err := evidence.Documents(tt.file, bytes.NewReader(file))
				if err != nil {
					t.Fatal(err)
				}
				f := given.Fleet(t, "fleet", []byte(fleet))
				sum := evidence.Join(f, []evidence.Piece{{Name: tt.file, VM: tt.vm, Docs: docs}})
				if got := seenOf(f); !slices.Equal(got, want) || sum.Joined+sum.Unjoined != len(docs) {
					t.Errorf("%s: %+v\n%s\nwant\n%s", form, sum, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}

// seenOf writes what was seen of the VMs of a fleet, and its notes.
func seenOf(f *numa.Fleet) (out []string) {
	for _, v := range f.VMs {
		for _, o := range v.Observed {
			lost := "-"
			if o.Lost.Known() {
				lost = fmt.Sprint(o.Lost.Value)
			}
			out = append(out, fmt.Sprintf("%s: %s %s nodes %d of %v, sockets %v, together %v, far %d, lost %s",
				v.Name, o.By, o.Time, o.VPDCount.Value, o.VPDs.Value, o.Sockets.Value, o.Together.Value, len(o.Far.Value), lost))
		}
	}
	for _, n := range f.Notes {
		out = append(out, "note "+n.String())
	}
	return out
}

// TestMeasuredPacked reads files of a folder, one of them packed, beside what is no evidence.
func TestMeasuredPacked(t *testing.T) {
	dir := t.TempDir()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(inGuest(t, nil)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"a.json.gz": packed.Bytes(), "b.json": inGuest(t, func(r *measured.Result) { r.Name = "web" }), "c.json": []byte("{}")} {
		golden.Write(t, filepath.Join(dir, name), file)
	}
	p, err := evidence.Read(dir)
	if err != nil || len(p.Docs) != 2 || len(p.Errs) > 0 {
		t.Fatalf("found %d documents, %v, %v", len(p.Docs), p.Errs, err)
	}
	f := given.Fleet(t, "fleet", []byte(fleet))
	if sum := evidence.Join(f, []evidence.Piece{p}); sum.Joined != 2 {
		t.Errorf("%+v, notes %v", sum, f.Notes)
	}
	if err := f.Check(); err != nil {
		t.Error(err)
	}
}
