package incident_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/source/incident"
)

// TestTicks reads an incident and writes what its ticks say, one line a VM.
func TestTicks(t *testing.T) {
	in, err := incident.Read("x", []byte(`What happens.
-- in --
every 30s
host esx01 free=10GB minFree=1GB state=soft
node 1 memory=8GB free=2GB
node 0 memory=8GB free=8GB busy=50%
vm db01 gid=7 vcpus=2 memory=4GB homes=0 local=2GB remote=2GB ready=5%
vm web01 vcpus=1 nodes=1GB,2GB
30s vm db01 local=4GB remote=0 over=1m
1m  node 0 free=4GB
1m  vm db01 flips=1|0,1 each=30s for=1m
90s vm web01 off
2m  vm web01 on gid=8 homes=1 local=1GB remote=3GB percent=99 localityMoves=2
2m  end
`))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	err = in.Ticks(func(k *numa.Tick) error {
		fmt.Fprintf(&b, "%s %s line %d since %s free %s state %s", k.Host, k.Time.Format("15:04:05"), k.Line, k.Since, k.Free, k.State)
		for _, n := range k.Nodes {
			busy, ok := n.Busy()
			fmt.Fprintf(&b, " | node %d %s of %s %v %v", n.ID, n.Free, n.Total, busy, ok)
		}
		b.WriteByte('\n')
		for _, v := range k.VMs {
			share, ok := v.Locality()
			fmt.Fprintf(&b, "  %s %d homes %s local %s remote %s = %.2f %v shown %d moves %d ready %.2f on %v\n",
				v.Name, v.GID, v.Homes, v.Local, v.Remote, share, ok, v.Percent, v.Moves.All, v.Ready, v.OnNode)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `esx01 00:00:00 line 2 since 0s free 10 GB state soft | node 0 8 GB of 8 GB 0.5 true | node 1 2 GB of 8 GB 0 false
  db01 7 homes 0 local 2 GB remote 2 GB = 0.50 true shown 50 moves 0 ready 0.10 on []
  web01 1001 homes - local 0 B remote 0 B = 0.00 false shown 0 moves 0 ready 0.00 on [{0 1 GB -1 B} {1 2 GB -1 B}]
esx01 00:00:30 line 3 since 30s free 10 GB state soft | node 0 8 GB of 8 GB 0.5 true | node 1 2 GB of 8 GB 0 false
  db01 7 homes 0 local 2 GB remote 2 GB = 0.50 true shown 50 moves 0 ready 0.10 on []
  web01 1001 homes - local 0 B remote 0 B = 0.00 false shown 0 moves 0 ready 0.00 on [{0 1 GB -1 B} {1 2 GB -1 B}]
esx01 00:01:00 line 4 since 30s free 10 GB state soft | node 0 4 GB of 8 GB 0.5 true | node 1 2 GB of 8 GB 0 false
  db01 7 homes 1 local 3 GB remote 1 GB = 0.75 true shown 75 moves 1 ready 0.10 on []
  web01 1001 homes - local 0 B remote 0 B = 0.00 false shown 0 moves 0 ready 0.00 on [{0 1 GB -1 B} {1 2 GB -1 B}]
esx01 00:01:30 line 5 since 30s free 10 GB state soft | node 0 4 GB of 8 GB 0.5 true | node 1 2 GB of 8 GB 0 false
  db01 7 homes 0,1 local 4 GB remote 0 B = 1.00 true shown 100 moves 1 ready 0.10 on []
esx01 00:02:00 line 6 since 30s free 10 GB state soft | node 0 4 GB of 8 GB 0.5 true | node 1 2 GB of 8 GB 0 false
  db01 7 homes 0 local 4 GB remote 0 B = 1.00 true shown 100 moves 1 ready 0.10 on []
  web01 8 homes 1 local 1 GB remote 3 GB = 0.25 true shown 99 moves 2 ready 0.00 on [{0 1 GB -1 B} {1 2 GB -1 B}]
`
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestPageSharing checks what is read of page sharing, and that consumed memory follows from
// what is granted and saved.
func TestPageSharing(t *testing.T) {
	in, err := incident.Read("x", []byte(`every 1m
host esx01 memory=16GB shared=600MB common=100MB
vm db01 granted=4GB shared=512MB saved=448MB zero=256MB hint=1GB active=2GB
vm web01 granted=4GB saved=1GB consumed=2GB
vm old01 granted=4GB
1m host esx01 shared=1624MB common=? over=2m
1m vm db01 shared=1536MB saved=1472MB hint=0 over=2m
2m end
`))
	if err != nil {
		t.Fatal(err)
	}
	stated := func(has, bit numa.Counters, b numa.Bytes) string {
		if has&bit == 0 {
			return "-"
		}
		return b.String()
	}
	var got []string
	err = in.Ticks(func(k *numa.Tick) error {
		got = append(got, fmt.Sprint(k.Memory, " shared ", stated(k.Has, numa.HasShared, k.Shared), " common ", stated(k.Has, numa.HasCommon, k.Common)))
		for _, v := range k.VMs {
			line := v.Name
			for _, q := range []struct {
				bit numa.Counters
				b   numa.Bytes
			}{{numa.HasGranted, v.Granted}, {numa.HasConsumed, v.Consumed}, {numa.HasActive, v.Active}, {numa.HasShared, v.Shared}, {numa.HasSaved, v.Saved}, {numa.HasZero, v.Zero}, {numa.HasHint, v.Hint}} {
				line += " " + stated(v.Has, q.bit, q.b)
			}
			got = append(got, line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"16 GB shared 600 MB common 100 MB", "db01 4 GB 3.6 GB 2 GB 512 MB 448 MB 256 MB 1 GB", "web01 4 GB 2 GB - - 1 GB - -", "old01 4 GB - - - - - -",
		"16 GB shared 600 MB common -", "db01 4 GB 3.6 GB 2 GB 512 MB 448 MB 256 MB 1 GB", "web01 4 GB 2 GB - - 1 GB - -", "old01 4 GB - - - - - -",
		"16 GB shared 1.1 GB common -", "db01 4 GB 3.1 GB 2 GB 1 GB 960 MB 256 MB 512 MB", "web01 4 GB 2 GB - - 1 GB - -", "old01 4 GB - - - - - -",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestErrors checks the texts of the errors.
func TestErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"host a\n", "x: found no end, want a line like: 60m end"},
		{"1m end\n", "x: found no host"},
		{"hots a\n", `x:1:1: found "hots", want one of start, every, host, node, vm, end`},
		{"host a\nvm b lokal=1GB\n", `x:2:6: found "lokal", which no vm line knows; is local meant?`},
		{"host a\nvm b local=1\n", `x:2:6: found local="1", want memory such as 512GB, at most 1024 TB`},
		{"host a\nvm b ready=5\n", `x:2:6: found ready="5", want a share from 0% to 1000%`},
		{"host free=1GB\n", `x:1:6: found free=, want the name of the host first`},
		{"vm b\n", "x:1:4: found a VM before any host"},
		{"host a\nnode x\n", `x:2:6: found "x", want a node number below 64`},
		{"host a\nvm b homes=99\n", `x:2:6: found homes="99", want nodes below 52 such as 0,1, or - for none`},
		{"host a\nvm b flips=0|1 each=1s\n", "x:2:4: found flips without each= and for="},
		{"host a share=1GB\n", `x:1:8: found "share", which no host line knows; is shared meant?`},
		{"host a\nvm b hint=many\n", `x:2:6: found hint="many", want memory such as 512GB, at most 1024 TB`},
		{"host a\n5 vm b\n", `x:2:1: found "5", want a time such as 90s, 42m, 1h42m or 2d`},
		{"host a state=bad\n", `x:1:8: found "bad", want high, clear, soft, hard or low`},
		{"every 2s\nhost a\n300d end\n", "x: found 12960000 ticks, want at most 1339200"},
	} {
		if _, err := incident.Read("x", []byte(tt.text)); err == nil || err.Error() != tt.want {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
}

// FuzzRead checks that no text makes the reader panic or run on.
func FuzzRead(f *testing.F) {
	f.Add("host a\nvm b local=1GB remote=0 over=3m homes=0\n10s vm b flips=0|1 each=1s for=1m\n1m end\n")
	f.Fuzz(func(t *testing.T, text string) {
		in, err := incident.Read("x", []byte(text))
		if err != nil || in.End/in.Every > 1000 {
			return
		}
		if err := in.Ticks(func(*numa.Tick) error { return nil }); err != nil {
			t.Error(err)
		}
	})
}
