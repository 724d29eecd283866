package truth

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/measure/replay"
	"example.org/homenode/numa"
	"example.org/homenode/output/format"
	"example.org/homenode/source/incident"
	"example.org/homenode/source/scenario/given"
)

const night = `start 2026-11-03T01:00:00Z
every 20s
host esx01 free=150GB
node 0 memory=128GB free=70GB
node 1 memory=128GB free=80GB
vm db01 gid=1 vcpus=8 memory=32GB homes=0 local=30GB remote=0 ready=0.5% used=20%
vm db02 gid=2 vcpus=8 memory=32GB homes=1 local=20GB remote=0 ready=0.5% used=20% active=4GB
2m vm db02 homes=0 local=0 remote=20GB
3m vm db02 local=20GB remote=0 over=2m
`

const inventory = `release 7.0U3
host esx01 nodes=2 cores=18 memory=256GB
vm db01 host=esx01 vcpus=8 memory=32GB
`

// results replays the night. The name of a host is a stranger's.
func results(t *testing.T, lines string) []*replay.Result {
	t.Helper()
	in, err := incident.Read("night", []byte(night+lines))
	if err != nil {
		t.Fatal(err)
	}
	fleet := given.Fleet(t, "fleet.txt", []byte(inventory))
	r := &replay.Recorder{}
	if err := in.Ticks(func(k *numa.Tick) error { r.Add(k); return nil }); err != nil {
		t.Fatal(err)
	}
	res, err := replay.Run(context.Background(), r, replay.Options{Fleet: fleet})
	if err != nil {
		t.Fatal(err)
	}
	res.Notes = append(res.Notes, numa.Note{At: "elsewhere", Text: "odd\x1b[2J"})
	return []*replay.Result{res}
}

func TestReplay(t *testing.T) {
	var b bytes.Buffer
	if err := format.Text(&b, Replay(results(t, "6m end\n"), false), format.Options{}); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, b.Bytes(), "testdata/night.txt")
}

// TestLimits checks that only so many VMs are shown, and that no more are hidden than is said.
func TestLimits(t *testing.T) {
	var lines strings.Builder
	for i := range 20 {
		n := string(rune('a' + i))
		lines.WriteString("vm " + n + " gid=100 vcpus=1 memory=1GB homes=0 local=1GB remote=0 used=1% ready=0%\n1m vm " + n + " homes=1 local=0 remote=1GB\n")
	}
	all := results(t, lines.String()+"6m end\n")
	short, long := Replay(all, false).Tables[1], Replay(all, true).Tables[1]
	if want := "6 VMs more with errors (--details shows all)"; short.Cut != want || len(short.Rows) != 15 || len(short.Plain.Rows) != 22 {
		t.Errorf("%d rows, %d plain ones, cut %q, want 15, 22, %q", len(short.Rows), len(short.Plain.Rows), short.Cut, want)
	}
	if long.Cut != "" || len(long.Rows) != 22 {
		t.Errorf("with details %d rows, cut %q, want 22 and no cut", len(long.Rows), long.Cut)
	}
}
