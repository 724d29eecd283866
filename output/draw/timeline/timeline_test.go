package timeline_test

import (
	"bytes"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/draw/timeline"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/incident"
)

// options are limits of a size that administrators use; the rules declare the real ones.
var options = capture.Options{
	Locality: .8, Remote: 8 * numa.GiB, BusyNode: .9, IdleNode: .5, Ready: .05, SpillFree: 4 * numa.GiB, SpillStep: 64 * numa.MiB, Lopsided: .9,
	Window: 10 * time.Minute, Gap: 5 * time.Minute, Buckets: 512,
}

// record returns what was recorded of an incident, without the ticks that leave says.
func record(t testing.TB, in *incident.Incident, leave func(*numa.Tick) bool) []*capture.Recording {
	t.Helper()
	r := capture.NewRecorders(options)
	r.Open(in.Name, "incident")
	err := in.Ticks(func(k *numa.Tick) error {
		if leave == nil || !leave(k) {
			r.Add(k)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Recordings()
}

func read(t testing.TB, text string) *incident.Incident {
	t.Helper()
	in, err := incident.Read("night.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// A night on a host of four nodes: a database loses its memory, the capture stops for a
// quarter of an hour, VMs come and go, and one says little.
const night = `
start 2026-11-20T22:00:00Z
every 20s
host esx07 free=400GB minFree=8GB state=high
node 0 memory=256GB free=60GB busy=45%
node 1 memory=256GB free=120GB busy=40%
node 2 memory=256GB free=140GB busy=22%
node 3 memory=256GB free=80GB busy=35%
vm sql01 gid=4711 vcpus=16 memory=192GB homes=0 local=180GB remote=4GB ready=0.8% costop=0.1%
vm wide01 gid=4712 vcpus=48 memory=384GB homes=1,2,3 local=320GB remote=2GB ready=1% costop=0.6%
vm app01 gid=4713 vcpus=4 memory=16GB homes=3 local=15GB remote=0 ready=0.3%
vm app02 gid=4714 vcpus=4 memory=16GB homes=2 local=8GB remote=6GB ready=0.3%
vm quiet gid=4715 vcpus=2 ready=0.2%
40m  node 0 busy=97% over=10m
40m  node 2 busy=8% over=10m
50m  vm sql01 ready=9% over=10m
1h   vm sql01 homes=1 local=20GB remote=164GB
1h   vm sql01 ready=2%
65m  vm sql01 local=110GB remote=74GB over=70m
1h   node 0 free=5GB over=20m
90m  vm late gid=4720 vcpus=8 memory=32GB homes=0 local=20GB remote=10GB ready=1%
2h   vm wide01 costop=4% over=30m
2h30m vm sql01 flips=0|1 each=60s for=20m
2h50m vm app02 off
3h   vm late off
3h   vm sql01 local=182GB remote=2GB over=10m
3h   node 0 busy=40% over=15m
3h   node 2 busy=25% over=15m
3h10m node 0 free=70GB over=10m
4h10m end
`

// gap leaves out a quarter of an hour.
func gap(k *numa.Tick) bool {
	at := k.Time.Sub(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC))
	return at > 110*time.Minute && at < 125*time.Minute
}

// found are findings as rules make them.
func found() []finding.Finding {
	at := func(minutes int) time.Time {
		return time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC).Add(time.Duration(minutes) * time.Minute)
	}
	return []finding.Finding{
		{Rule: "M001", Severity: finding.High, Host: "esx07", VM: "sql01", GID: 4711, From: at(60), To: at(182), Message: "60 % of its memory is local on average"},
		{Rule: "M002", Severity: finding.Medium, Host: "esx07", VM: "sql01", GID: 4711, From: at(150), To: at(170), Message: "20 changes of home nodes"},
		{Rule: "M009", Severity: finding.Low, Host: "esx07", VM: "sql01", GID: 4711, From: at(58), To: at(60), Message: "ready while node 2 idles"},
		{Rule: "M005", Severity: finding.Info, Host: "esx07", VM: "app02", GID: 4714, From: at(0), To: at(170), Message: "6 GB remote"},
		{Rule: "M004", Severity: finding.Medium, Host: "esx07", From: at(50), To: at(180), Message: "node 0 is overloaded while node 2 idles"},
		{Rule: "N001", Severity: finding.High, Host: "esx07", VM: "sql01", GID: 4711, Message: "a finding without a time has no mark"},
	}
}

func vmOf(t testing.TB, rec *capture.Recording, name string) *capture.VM {
	t.Helper()
	for i := range rec.VMs {
		if rec.VMs[i].Name == name {
			return &rec.VMs[i]
		}
	}
	t.Fatalf("%s has no VM %s", rec.Host, name)
	return nil
}

func draw(t testing.TB, rec *capture.Recording, v *capture.VM, o timeline.Options) []byte {
	t.Helper()
	p := timeline.Host(rec, o)
	if v != nil {
		p = timeline.VM(rec, v, o)
	}
	var b bytes.Buffer
	if err := picture.Write(&b, p, true); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDraw(t *testing.T) {
	rec := record(t, read(t, night), gap)[0]
	o := timeline.Options{Findings: found()}
	golden.Equal(t, draw(t, rec, nil, o), "testdata/esx07.svg")
	for _, name := range []string{"sql01", "wide01", "late", "quiet", "app01"} {
		golden.Equal(t, draw(t, rec, vmOf(t, rec, name), o), "testdata/"+name+".svg")
	}
}
