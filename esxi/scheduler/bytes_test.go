package scheduler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	stdhash "hash"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/homenode/esxi/scheduler/benchstory"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// TestSameBytes checks that the outcome does not depend on the number of workers. With
// HOMENODE_DIGESTS=FILE it also writes the digest of each story to the file, so that
// builds for other processors can be compared: make same-bytes.
func TestSameBytes(t *testing.T) {
	var lines strings.Builder
	for _, s := range digestStories(t) {
		one, two := digest(t, s, 1), digest(t, s, 2)
		if one != two {
			t.Errorf("%s: digest %s with one worker, %s with two", s.Name, one, two)
		}
		fmt.Fprintln(&lines, s.Name, one)
	}
	if path := os.Getenv("HOMENODE_DIGESTS"); path != "" {
		golden.Write(t, path, []byte(lines.String()))
	}
}

func digestStories(t *testing.T) (all []*numa.Story) {
	stories := uint64(60)
	if n := os.Getenv("HOMENODE_STORIES"); n != "" {
		var err error
		if stories, err = strconv.ParseUint(n, 10, 32); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range stories {
		all = append(all, randomStory(seed))
	}
	for _, kind := range benchstory.Kinds {
		s := benchstory.Story(kind, 3, 120, time.Hour)
		s.Every = 100 * time.Second
		all = append(all, s)
	}
	return all
}

// digest runs a story and hashes all ticks of each host, the decisions and the sums.
func digest(t *testing.T, s *numa.Story, workers int) string {
	t.Helper()
	ticks := make([]stdhash.Hash, len(s.Fleet.Hosts))
	for i := range ticks {
		ticks[i] = sha256.New()
	}
	out, err := Run(context.Background(), s, Options{Workers: workers, Log: true, Observe: func(host int, x *numa.Tick, _ *Look) {
		fmt.Fprintf(ticks[host], "%+v\n", *x)
	}})
	if err != nil {
		t.Fatal(err)
	}
	all := sha256.New()
	for _, h := range ticks {
		all.Write(h.Sum(nil))
	}
	fmt.Fprintf(all, "%+v", *out)
	return hex.EncodeToString(all.Sum(nil))
}
