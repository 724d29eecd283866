package record_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"homenode/serve/record"
	"homenode/source/esxtop/fetchstats"
)

// TestKill kills a recording again and again: every answer that was written is read. make prove does it thirty times.
func TestKill(t *testing.T) {
	if dir := os.Getenv("HOMENODE_TEST_RECORD"); dir != "" {
		recordForEver(dir, os.Getenv("HOMENODE_TEST_FROM"))
	}
	rounds, err := strconv.Atoi(os.Getenv("HOMENODE_KILL_ROUNDS"))
	if err != nil {
		rounds = 2
	}
	dir := t.TempDir()
	acked, next := map[int64]bool{}, int64(0)
	for round := range rounds {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "HOMENODE_TEST_RECORD="+dir, "HOMENODE_TEST_FROM="+strconv.FormatInt(next, 10))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		take := func() {
			n, err := strconv.ParseInt(lines.Text(), 10, 64)
			if err != nil {
				t.Fatalf("the recorder says %q", lines.Text())
			}
			acked[n] = true
			next = n + 60
		}
		for n := 0; n < 20+13*round%40 && lines.Scan(); n++ {
			take()
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			take()
		}
		_ = cmd.Wait() // killed
		next += 60     // of the one that was under way
	}
	found := map[int64]bool{}
	for _, at := range read(t, dir, "esx_01") {
		found[int64(at.Sub(begin)/time.Second)] = true
	}
	lost := 0
	for at := range acked {
		if !found[at] {
			lost++
		}
	}
	if lost > 0 || len(acked) == 0 {
		t.Errorf("%d of %d answers lost", lost, len(acked))
	}
	t.Logf("%d rounds: %d answers acknowledged, %d lost", rounds, len(acked), lost)
}

// recordForEver records an answer a minute of its own time, and says which it has written.
func recordForEver(dir, from string) {
	at, err := strconv.ParseInt(from, 10, 64)
	if err != nil {
		panic(err)
	}
	r, err := record.Open(dir, record.Options{Every: time.Minute}, begin)
	if err != nil {
		panic(err)
	}
	s := &source{w: fetchstats.Writer{Boot: begin.Add(-time.Hour)}, r: r}
	s.columns()
	for ; ; at += 60 {
		s.answer(begin.Add(time.Duration(at) * time.Second))
		if err := r.Err(); err != nil {
			panic(err)
		}
		fmt.Println(at)
	}
}
