package lake

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"homenode/internal/testdeps"
	"homenode/numa"
)

// Names that a path, SQL or a reader of partitions may trip over. 4711 is no number.
var oddHosts = []string{"esx01.example.com", "4711", "../esx 02/é=%2F'x"}

// oddTicks yields two days of each host in turn, every ten minutes. The same ticks come every time.
func oddTicks(yield func(*numa.Tick)) {
	rng := rand.New(rand.NewPCG(4, 7))
	start := time.Date(2026, 11, 19, 12, 0, 0, 250e6, time.UTC)
	for i := range 180 {
		for h, host := range oddHosts {
			t := &numa.Tick{Host: host, Time: start.Add(time.Duration(i) * 10 * time.Minute), Line: i + 2}
			for k := range 5 {
				v := numa.VMTick{GID: int64(100*h + k), Name: fmt.Sprintf("vm\t%d '\"\\é", k), Has: numa.HasMemory | numa.HasReady, Ready: rng.Float64()}
				v.Local, v.Remote = numa.Bytes(rng.IntN(8000)), numa.Bytes(rng.IntN(1000))*numa.MiB/100
				switch {
				case k == 1:
					v.Local, v.Remote = 8*numa.GiB, 2*numa.GiB // 0.8 is not below 0.8
				case k == 2 && i%3 == 0:
					v.Local, v.Remote = 0, 0 // locality unknown
				case k == 3:
					v.GID, v.Remote = -1, 0
				case k == 4 && i%2 == 0:
					v.Has = numa.HasReady // memory unknown
				}
				t.VMs = append(t.VMs, v)
			}
			yield(t)
		}
	}
}

// answer is what testdata/ask.sql asks, from the ticks themselves: for each VM with memory the
// ticks below 80 % locality, the most remote memory, when that was first, and on how many days.
func answer(ticks func(func(*numa.Tick))) string {
	type vm struct {
		host, name string
		gid        int64
	}
	type result struct {
		low, days   int
		most, since int64
		day         string
	}
	var order []vm
	got := map[vm]*result{}
	ticks(func(t *numa.Tick) {
		for i := range t.VMs {
			v := &t.VMs[i]
			share, ok := v.Locality()
			if !ok {
				continue
			}
			k := vm{t.Host, v.Name, v.GID}
			r := got[k]
			if r == nil {
				r = &result{most: -1}
				got[k] = r
				order = append(order, k)
			}
			if share < 0.8 {
				r.low++
			}
			if int64(v.Remote) > r.most {
				r.most, r.since = int64(v.Remote), t.Time.UnixMilli()
			}
			if d := t.Time.Format(time.DateOnly); d != r.day {
				r.day = d
				r.days++
			}
		}
	})
	slices.SortFunc(order, func(a, b vm) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.name, b.name))
	})
	var b strings.Builder
	for _, k := range order {
		gid := ""
		if k.gid >= 0 {
			gid = fmt.Sprint(k.gid)
		}
		r := got[k]
		fmt.Fprintf(&b, "%s\t%s\t%s\t%d\t%d\t%d\t%d\n", k.host, k.name, gid, r.low, r.most, r.since, r.days)
	}
	return b.String()
}

func oddLake(t *testing.T) string {
	t.Helper()
	dir := t.TempDir() + "/la ke"
	w, err := New(dir, ID("odd"))
	if err != nil {
		t.Fatal(err)
	}
	oddTicks(func(tick *numa.Tick) {
		if err := w.Add("odd.csv", tick); err != nil {
			t.Fatal(err)
		}
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestEngines asks DuckDB and Spark, in SQL, what Go answers from the ticks.
func TestEngines(t *testing.T) {
	for _, tt := range []struct{ name, columns string }{
		{"duckdb", "time TIMESTAMP WITH TIME ZONE\thost VARCHAR\tkind VARCHAR\tentity VARCHAR\tgid BIGINT\tnode BIGINT\tcounter VARCHAR\tvalue DOUBLE\tfile VARCHAR\tline BIGINT\tday DATE"},
		{"spark", "time timestamp\thost string\tkind string\tentity string\tgid bigint\tnode bigint\tcounter string\tvalue double\tfile string\tline bigint\tday string"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			python := testdeps.Python(t)
			if tt.name == "spark" {
				testdeps.Program(t, "java")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, python, "testdata/"+tt.name+"_ask.py", oddLake(t), "testdata/ask.sql")
			cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1", "SPARK_LOCAL_IP=127.0.0.1", "PYSPARK_PYTHON="+python)
			cmd.WaitDelay = 10 * time.Second
			var complaints strings.Builder
			cmd.Stderr = &complaints
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, complaints.String())
			}
			if got, want := string(out), tt.columns+"\n"+answer(oddTicks); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}
