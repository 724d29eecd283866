package hidden

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"unsafe"

	"example.org/homenode/internal/golden"
	"example.org/homenode/measure/guest/chase"
	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/pages"
)

// TestRecording records latencies of this machine, as recorded reads them, into the file that HOMENODE_RECORDING names: 96 rounds in
// which the logical processors 0 and 1 take turns to probe 256 small pages, in random order.
func TestRecording(t *testing.T) {
	to := os.Getenv("HOMENODE_RECORDING")
	if to == "" {
		t.Skip("HOMENODE_RECORDING is not set to a file")
	}
	const rounds, count, size = 96, 256, 64 << 20
	m, err := pages.Take(t.Context(), pages.Ask{Bytes: size, Node: pages.Anywhere})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	prober, err := chase.NewProber(chase.PageBytes, chase.PageLines, 1)
	if err != nil {
		t.Fatal(err)
	}
	var at []unsafe.Pointer
	for _, page := range rng.Perm(size / chase.PageBytes)[:count] {
		at = append(at, unsafe.Pointer(&m.Bytes[page*chase.PageBytes]))
	}
	words := make([]uint16, 0, rounds*2*count)
	for r := range rounds {
		var round [2][count]uint16
		for turn := range round {
			processor := (turn + r) % 2
			if err := cpu.On(processor, func() error {
				overhead := prober.Overhead(at[0])
				for _, i := range rng.Perm(count) {
					round[processor][i] = uint16(min(max(0, 10*(prober.Page(at[i])-overhead)), 65530))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		words = append(words, slices.Concat(round[0][:], round[1][:])...)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := binary.Write(z, binary.LittleEndian, words); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, to, b.Bytes())
}
