package pages_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"example.org/homenode/internal/golden"
	"example.org/homenode/measure/guest/pages"
)

// take returns memory that the test gives back.
func take(t *testing.T, a pages.Ask) *pages.Memory {
	t.Helper()
	m, err := pages.Take(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestSmallPages(t *testing.T) {
	const size = 20<<20 + 5
	page := os.Getpagesize()
	m := take(t, pages.Ask{Bytes: size, Node: pages.Anywhere})
	if want := (size + page - 1) / page * page; len(m.Bytes) != want || m.Pages() != want/page {
		t.Fatalf("%d bytes, %d pages; want %d bytes", len(m.Bytes), m.Pages(), want)
	}
	if m.HugeBytes != 0 || m.Doubt != "" || m.ReadOnly {
		t.Errorf("huge %d, doubt %q, read only %v", m.HugeBytes, m.Doubt, m.ReadOnly)
	}
	for i := range m.Pages() {
		if got := binary.NativeEndian.Uint32(m.Bytes[i*page:]); got != uint32(i)+1 {
			t.Fatalf("page %d starts with %d", i, got)
		}
	}
	if start := uintptr(unsafe.Pointer(&m.Bytes[0])); start%uintptr(page) != 0 {
		t.Errorf("starts at %x", start)
	}
	in, err := m.Resident()
	if err != nil || len(in) != m.Pages() {
		t.Errorf("%d of %d pages in memory, %v", len(in), m.Pages(), err)
	}
}

func TestHugePages(t *testing.T) {
	m, err := pages.Take(context.Background(), pages.Ask{Bytes: 8 << 20, Node: pages.Anywhere, Huge: true})
	if err != nil {
		t.Skip(err) // switched off, none left, or none in this kernel
	}
	defer m.Close()
	if m.HugeBytes < len(m.Bytes)/10*9 {
		t.Errorf("%d of %d bytes are huge", m.HugeBytes, len(m.Bytes))
	}
}

// areas counts the areas of this process of at least so many bytes: what was not given back is one of them.
func areas(t *testing.T, size uint64) int {
	t.Helper()
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		var from, to uint64
		if _, err := fmt.Sscanf(s.Text(), "%x-%x", &from, &to); err == nil && to-from == size {
			n++
		}
	}
	return n
}

func TestStepStops(t *testing.T) {
	const size = 49 << 20
	full := errors.New("memory is short")
	var steps []int
	_, err := pages.Take(context.Background(), pages.Ask{Bytes: size, Node: pages.Anywhere, Step: func(touched int) error {
		steps = append(steps, touched)
		if areas(t, size) != 1 {
			t.Errorf("%d areas of %d bytes while they are touched", areas(t, size), size)
		}
		if touched >= 32<<20 {
			return full
		}
		return nil
	}})
	if !errors.Is(err, full) || !slices.Equal(steps, []int{0, 16 << 20, 32 << 20}) {
		t.Errorf("steps %v, error %v", steps, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = pages.Take(ctx, pages.Ask{Bytes: size, Node: pages.Anywhere, Step: func(int) error { cancel(); return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if n := areas(t, size); n != 0 {
		t.Errorf("%d areas are left", n)
	}
}

func TestCloseGivesBack(t *testing.T) {
	const size = 51 << 20
	m := take(t, pages.Ask{Bytes: size, Node: pages.Anywhere})
	if err := m.Close(); err != nil || m.Bytes != nil || areas(t, size) != 0 {
		t.Errorf("error %v, %d bytes, %d areas", err, len(m.Bytes), areas(t, size))
	}
}

func TestNodeZero(t *testing.T) {
	m := take(t, pages.Ask{Bytes: 4 << 20, Node: 0, Processors: []int{0}})
	nodes, err := m.Nodes()
	if err != nil {
		if m.Doubt == "" { // an emulation, or a kernel without NUMA
			t.Errorf("nodes are unknown (%v) and the memory says nothing of it", err)
		}
		return
	}
	if m.Doubt != "" {
		t.Error(m.Doubt)
	}
	for i, n := range nodes {
		if n != 0 {
			t.Fatalf("page %d is on node %d", i, n)
		}
	}
}

func TestUnknownNode(t *testing.T) {
	for _, node := range []int{-2, 1000, 1 << 20} {
		m, err := pages.Take(context.Background(), pages.Ask{Bytes: 1 << 20, Node: node})
		if err == nil {
			t.Errorf("node %d gave memory, doubt %q", node, m.Doubt)
		}
	}
	if _, err := pages.Take(context.Background(), pages.Ask{Node: pages.Anywhere}); err == nil {
		t.Error("memory of 0 bytes")
	}
}

func TestOwnFile(t *testing.T) {
	m, err := pages.Map("")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if !m.ReadOnly || string(m.Bytes[:4]) != "\x7fELF" {
		t.Errorf("read only %v, starts with %q", m.ReadOnly, m.Bytes[:4])
	}
	in, err := m.Resident()
	if err != nil || !slices.Contains(in, 0) { // it was just read
		t.Errorf("%d pages in the page cache, %v", len(in), err)
	}
}

func TestPageCache(t *testing.T) {
	page := os.Getpagesize()
	path := filepath.Join(t.TempDir(), "file")
	content := make([]byte, 64*page)
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	m, err := pages.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	all, err := m.Resident()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d pages of a file just written, %v", len(all), err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Skip(err)
	}
	none, err := m.Resident()
	if err != nil || len(none) == len(all) {
		t.Skipf("this file system keeps its pages: %d, %v", len(none), err)
	}
	if m.Bytes[40*page] != content[40*page] {
		t.Error("another byte")
	}
	if one, err := m.Resident(); err != nil || !slices.Contains(one, 40) {
		t.Errorf("pages %v after one was read, %v", one, err)
	}
}

func TestNoFile(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	golden.Write(t, empty, nil)
	for _, path := range []string{empty, t.TempDir(), "/dev/null", filepath.Join(t.TempDir(), "none")} {
		if _, err := pages.Map(path); err == nil {
			t.Errorf("%s is mapped", path)
		}
	}
}
