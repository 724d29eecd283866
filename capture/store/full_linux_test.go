package store_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/golden"
)

// TestFullDisk fills the disk under a store, on a small disk of its own: nothing that was kept is lost, and it goes on
// when there is room. make prove runs it; it needs the right to mount.
func TestFullDisk(t *testing.T) {
	if os.Getenv("HOMENODE_KILL_ROUNDS") == "" {
		t.Skip("make prove runs it")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1200m"); err != nil {
		t.Skipf("no right to mount: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	data := dir + "/data"
	begin := time.Now().Add(-3 * time.Hour).Truncate(time.Second)
	kept, refused := map[int64]bool{}, 0
	tick := int64(0)
	var samples []store.Sample
	session := func(s *store.Store, ticks int) {
		samples = samples[:0]
		for i := range series {
			samples = append(samples, store.Sample{Series: s.Series("m", "i", fmt.Sprint(i))})
		}
		for range ticks {
			for i := range samples {
				samples[i].Number = float64(tick) + 1/float64(i+3)
			}
			ok, err := s.Append(t.Context(), begin.Add(time.Duration(tick)*time.Second), samples)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				kept[tick] = true
			} else {
				refused++
			}
			tick++
		}
	}
	open := func() *store.Store {
		s, err := store.Open(data, store.Options{Reserve: 300 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	session(s, 200)
	// Others fill the disk.
	other := dir + "/other"
	for n := 0; ; n++ {
		var st syscall.Statfs_t
		if err := syscall.Statfs(dir, &st); err != nil {
			t.Fatal(err)
		}
		if int64(st.Bavail)*st.Bsize < 250<<20 {
			break
		}
		golden.Write(t, fmt.Sprint(other, n), make([]byte, 20<<20))
	}
	session(s, 100)
	if refused != 100 || !s.State().Full {
		t.Fatalf("%d refused, %+v", refused, s.State())
	}
	for n := 0; ; n++ {
		if os.Remove(fmt.Sprint(other, n)) != nil { // the last is gone
			break
		}
	}
	session(s, 200)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer s.Close()
	got := values(t, s, "m")
	lost := 0
	for at := range kept {
		for i := range series {
			if _, ok := got[fmt.Sprint(i)][begin.Unix()+at]; !ok {
				lost++
				break
			}
		}
	}
	if lost > 0 || len(kept) != 400 {
		t.Errorf("%d of %d ticks lost", lost, len(kept))
	}
	t.Logf("%d ticks kept, %d refused while the disk was full, %d lost", len(kept), refused, lost)
}
