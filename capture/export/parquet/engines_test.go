package parquet

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
)

// Names that a path, SQL or a reader of partitions may trip over. 4711 is no number.
var oddHosts = []string{"esx01.example.com", "4711", "../esx 02/é=%2F'x"}

// oddTicks yields two days of each host in turn, every ten minutes. The same ticks come every time.
func oddTicks(yield func(*numa.Tick)) {
	rng := rand.New(rand.NewPCG(4, 7))
	start := time.Date(2026, 11, 19, 12, 0, 0, 250e6, time.UTC)
	for i := range 180 {
		for h, host := range oddHosts {
			t := &numa.Tick{Host: host, Time: start.Add(time.Duration(i) * 10 * time.Minute), Line: i + 2,
				Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasFree, Free: numa.Bytes(rng.Int64N(1 << 40))}, {ID: 1, Has: numa.HasFree, Free: numa.Bytes(rng.Int64N(1 << 40))}}}
			for k := range 5 {
				v := numa.VMTick{GID: int64(100*h + k), Name: fmt.Sprintf("vm\t%d '\"\\é", k), Ready: rng.Float64(),
					Has: numa.HasMemory | numa.HasReady | numa.HasHomes | numa.HasMoves, Homes: numa.NodeSet(rng.IntN(4)), Moves: numa.Moves{All: int64(rng.IntN(3))}}
				v.Local, v.Remote = numa.Bytes(rng.IntN(8000))*numa.MiB, numa.Bytes(rng.IntN(4000))*numa.MiB/100
				switch {
				case k == 1:
					v.Local, v.Remote = 8*numa.GiB, 2*numa.GiB // 0.8 is not below 0.8
				case k == 2 && i%3 == 0:
					v.Local, v.Remote = 0, 0 // locality unknown
				case k == 2:
					v.Local /= 1000
				case k == 3:
					v.GID, v.Remote = -1, 0
				case k == 4 && i%2 == 0:
					v.Has = numa.HasReady // all else unknown
				}
				t.VMs = append(t.VMs, v)
			}
			yield(t)
		}
	}
}

// A vm is a life of a VM, a key of the answers.
type vm struct {
	host, name string
	gid        int64
}

func (k vm) String() string {
	if k.gid < 0 {
		return k.host + "\t" + k.name + "\t"
	}
	return fmt.Sprintf("%s\t%s\t%d", k.host, k.name, k.gid)
}

// answers are what the questions of docs/reference/parquet.md have for an answer, from the ticks.
func answers() string {
	type lost struct {
		low         int
		most, since int64
	}
	locality, changes, before := map[string]*lost{}, map[string]int64{}, map[string]numa.NodeSet{}
	moves, least := map[string]int64{}, map[string]int64{}
	oddTicks(func(t *numa.Tick) {
		for _, n := range t.Nodes {
			k := fmt.Sprintf("%s\t%d", t.Host, n.ID)
			if old, ok := least[k]; !ok || int64(n.Free) < old {
				least[k] = int64(n.Free)
			}
		}
		for i := range t.VMs {
			v := &t.VMs[i]
			if v.Has&numa.HasHomes == 0 {
				continue
			}
			k := vm{t.Host, v.Name, v.GID}.String()
			if old, ok := before[k]; ok && old != v.Homes {
				changes[k]++
			}
			before[k] = v.Homes
			moves[t.Host+"\t"+t.Time.Format(time.DateOnly)] += v.Moves.All
			share, ok := v.Locality()
			if !ok {
				continue
			}
			if locality[k] == nil {
				locality[k] = &lost{most: -1}
			}
			r := locality[k]
			if share < 0.8 {
				r.low++
			}
			if int64(v.Remote) > r.most {
				r.most, r.since = int64(v.Remote), t.Time.UnixMilli()
			}
		}
	})
	asText := map[string]string{}
	for k, r := range locality {
		asText[k] = fmt.Sprintf("%d\t%d\t%d", r.low, r.most, r.since)
	}
	return lines(asText) + lines(changes) + lines(moves) + lines(least)
}

// lines returns the rows in the order of their columns' bytes.
func lines[V any](rows map[string]V) string {
	var out []string
	for k, v := range rows {
		out = append(out, fmt.Sprintf("%s\t%v\n", k, v))
	}
	slices.SortFunc(out, func(a, b string) int {
		hostA, restA, _ := strings.Cut(a, "\t")
		hostB, restB, _ := strings.Cut(b, "\t")
		return cmp.Or(cmp.Compare(hostA, hostB), cmp.Compare(restA, restB))
	})
	return "--\n" + strings.Join(out, "")
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

// examples writes the code blocks of docs/reference/parquet.md to files, with the lake in dir for that
// in "lake": how an engine opens it, then the questions.
func examples(t *testing.T, engine, dir string) []string {
	t.Helper()
	docs := golden.Read(t, "../../../docs/reference/parquet.md")
	folder := t.TempDir()
	var open, questions []string
	for i, part := range strings.Split(string(docs), "\n```")[1:] {
		language, code, _ := strings.Cut(part, "\n")
		if i%2 == 1 || language != "sql" && language != "python" {
			continue
		}
		view := strings.Contains(code, "VIEW") || language == "python"
		code = strings.NewReplacer(`"lake")`+".", `"`+dir+`").`, "'lake/", "'"+dir+"/").Replace(code)
		path := filepath.Join(folder, fmt.Sprint(i))
		golden.Write(t, path, []byte(code))
		switch {
		case !view:
			questions = append(questions, path)
		case (language == "python") == (engine == "spark"):
			open = append(open, path)
		}
	}
	if len(open) != 1 || len(questions) != 4 {
		t.Fatalf("docs/reference/parquet.md: %d ways to open a lake with %s and %d questions, want 1 and 4", len(open), engine, len(questions))
	}
	return append(open, questions...)
}

// TestEngines asks DuckDB and Spark, as docs/reference/parquet.md shows, what Go answers from the ticks.
func TestEngines(t *testing.T) {
	for _, tt := range []struct{ name, columns string }{
		{"duckdb", "time TIMESTAMP WITH TIME ZONE\thost VARCHAR\tkind VARCHAR\tentity VARCHAR\tgid BIGINT\tnode BIGINT\tcounter VARCHAR\tvalue DOUBLE\tfile VARCHAR\tline BIGINT\tday DATE"},
		{"spark", "time timestamp\thost string\tkind string\tentity string\tgid bigint\tnode bigint\tcounter string\tvalue double\tfile string\tline bigint\tday string"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			python := ""
			if tt.name == "spark" {
				python = testdeps.ProvePython(t)
				testdeps.Program(t, "java")
			} else {
				python = testdeps.Python(t)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			args := append([]string{"testdata/" + tt.name + "_ask.py"}, examples(t, tt.name, oddLake(t))...)
			cmd := exec.CommandContext(ctx, python, args...)
			cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1", "SPARK_LOCAL_IP=127.0.0.1", "PYSPARK_PYTHON="+python)
			cmd.WaitDelay = 10 * time.Second
			var complaints strings.Builder
			cmd.Stderr = &complaints
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, complaints.String())
			}
			if got, want := string(out), tt.columns+"\n"+answers(); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}
