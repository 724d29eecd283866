package iocost

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/alike"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// Asked is a workload as requested.
type Asked struct {
	Workload
	// Open marks a workload without traffic: the question is how much of it an amount of CPU
	// allows. Its traffic only gives the ratio of the directions.
	Open bool
	// ByThroughput marks a workload given by throughput, not by I/Os: with larger blocks it has fewer of them.
	ByThroughput bool
	// Assumed are the keys that were not given.
	Assumed []string
}

// A Word is one key of a workload with its value: {"block", "32k"}.
type Word struct{ Key, Value string }

// The shares of a workload that states none.
const (
	DefaultRead   unit.Share = 0.7
	DefaultRandom unit.Share = 1
)

var (
	paths    = []string{string(NVMe), string(VSANESA), string(Network), string(RAM)}
	policies = []string{string(RAID0), string(RAID1), string(RAID5), string(RAID6)}
	// keys are the valid keys of each path.
	keys = map[Path][]string{
		NVMe:    {"iops", "throughput", "block", "read", "random", "ipc"},
		VSANESA: {"iops", "throughput", "block", "read", "random", "ipc", "policy"},
		Network: {"tx", "rx", "ipc"},
		RAM:     {"throughput", "ipc"},
	}
)

// ParseWorkload parses the words of a workload: "vsan-esa iops=100k block=32k read=70".
func ParseWorkload(text string) (Asked, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return Asked{}, fmt.Errorf("found no words, want a path and its traffic: vsan-esa iops=100k block=32k read=70")
	}
	var words []Word
	for _, f := range fields[1:] {
		key, value, ok := strings.Cut(f, "=")
		if !ok {
			return Asked{}, fmt.Errorf("found %q, want key=value such as block=32k", f)
		}
		words = append(words, Word{key, value})
	}
	return Ask(fields[0], words, "")
}

// Ask returns the workload that the words describe. Errors name a key with the prefix.
func Ask(path string, words []Word, prefix string) (Asked, error) {
	if err := among(path, paths); err != nil {
		return Asked{}, fmt.Errorf("%spath: %w", prefix, err)
	}
	a := Asked{Workload: Workload{Kind: Kind{Path: Path(path)}}}
	if a.storage() {
		a.Read, a.Random = DefaultRead, DefaultRandom
	}
	given := map[string]bool{}
	var throughput unit.BitRate
	for _, w := range words {
		if given[w.Key] {
			return Asked{}, fmt.Errorf("%s%s: given twice", prefix, w.Key)
		}
		given[w.Key] = true
		if err := a.known(w.Key, prefix); err != nil {
			return Asked{}, err
		}
		var err error
		switch w.Key {
		case "iops":
			a.Rate, err = unit.ParseIORate(w.Value)
		case "throughput":
			throughput, err = unit.ParseBitRate(w.Value)
		case "block":
			a.Block, err = parseBlock(w.Value)
		case "read":
			a.Read, err = unit.ParsePercent(w.Value)
		case "random":
			a.Random, err = unit.ParsePercent(w.Value)
		case "tx":
			a.TX, err = unit.ParseBitRate(w.Value)
		case "rx":
			a.RX, err = unit.ParseBitRate(w.Value)
		case "ipc":
			a.IPC, err = ParseIPC(w.Value)
		case "policy":
			a.Policy, err = Policy(w.Value), among(w.Value, policies)
		}
		if err != nil {
			return Asked{}, fmt.Errorf("%s%s: %w", prefix, w.Key, err)
		}
	}
	return a.complete(given, throughput, prefix)
}

// Blocks of an I/O, as an operating system issues them.
const (
	leastBlock = 512
	mostBlock  = 64 * numa.MiB
)

// parseBlock parses the size of an I/O: "32k".
func parseBlock(s string) (numa.Bytes, error) {
	b, err := unit.ParseSize(s)
	if err == nil && (b < leastBlock || b > mostBlock) {
		return 0, fmt.Errorf("found %q, want the size of an I/O, 512B to 64MiB, such as 32k", s)
	}
	return b, err
}

// complete checks the words together and fills in the missing ones.
func (a Asked) complete(given map[string]bool, throughput unit.BitRate, prefix string) (Asked, error) {
	if a.storage() {
		switch {
		case given["iops"] && given["throughput"]:
			return Asked{}, fmt.Errorf("%siops and %sthroughput: found both, want one: the other follows from the block", prefix, prefix)
		case a.Block == 0:
			return Asked{}, fmt.Errorf("%sblock: found none, want the size of an I/O such as 32k", prefix)
		}
		for _, key := range []string{"read", "random"} {
			if !given[key] {
				a.Assumed = append(a.Assumed, key)
			}
		}
	}
	switch {
	case a.storage() && given["throughput"]:
		a.Rate, a.ByThroughput = throughput.Rate(a.Block), true
	case a.storage() && !given["iops"]:
		a.Open, a.Rate = true, 1
	case a.Path == Network && a.TX+a.RX == 0:
		a.Open, a.TX, a.RX = true, 1, 1
		a.Assumed = append(a.Assumed, "tx")
	case a.Path == RAM && throughput == 0:
		a.Open, a.Traffic = true, 1
	case a.Path == RAM:
		a.Traffic = throughput
	}
	return a, nil
}

// known returns an error unless the path has such a key.
func (a *Asked) known(key, prefix string) error {
	if slices.Contains(keys[a.Path], key) {
		return nil
	}
	for _, path := range paths {
		if slices.Contains(keys[Path(path)], key) {
			return fmt.Errorf("%s%s: nothing for path %s, which has %s", prefix, key, a.Path, strings.Join(keys[a.Path], ", "))
		}
	}
	return among(key, keys[a.Path])
}

// among returns an error for a word that is not one of the known ones, with the most similar one.
func among(word string, known []string) error {
	if near, exact := alike.Of(word, known); exact && near == word {
		return nil
	} else if near != "" && strings.TrimRight(near, "0123456789") != strings.TrimRight(word, "0123456789") {
		return fmt.Errorf("found %q, want %s?", word, near)
	}
	for _, k := range known {
		if word != "" && strings.Contains(k, strings.ToLower(word)) {
			return fmt.Errorf("found %q, want %s?", word, k)
		}
	}
	return fmt.Errorf("found %q, want one of %s", word, strings.Join(known, ", "))
}

// ParseIPC parses the work per cycle relative to the measured CPU: 1.2.
func ParseIPC(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(v >= 0.1 && v <= 10) {
		return 0, fmt.Errorf("found %q, want a factor from 0.1 to 10 such as 1.2", s)
	}
	return v, nil
}

// Text formats the workload: "100,000 IOPS of 32 KiB, 70/30 random, on vsan-esa".
func (a *Asked) Text() string {
	traffic := func(b unit.BitRate) string {
		if a.Open {
			return "how much"
		}
		return b.String()
	}
	switch {
	case a.Path == Network:
		var parts []string
		if a.TX > 0 {
			parts = append(parts, "sending "+traffic(a.TX))
		}
		if a.RX > 0 {
			parts = append(parts, "receiving "+traffic(a.RX))
		}
		return "network " + strings.Join(parts, ", ")
	case a.Path == RAM:
		if a.Open {
			return "how much RAM traffic"
		}
		return a.Traffic.Bytes() + " of RAM traffic"
	}
	rate := a.Rate.String()
	if a.Open {
		rate = "how many IOPS"
	}
	return fmt.Sprintf("%s of %s %s %s on %s", rate, Size(a.Block), direction(a.Read), pattern(a.Random), a.Path)
}

// Name returns the kind of the workload without its traffic: "vsan-esa 32 KiB 70/30 random".
func (w *Workload) Name() string {
	if w.storage() {
		return w.Kind.String()
	}
	return string(w.Path)
}
