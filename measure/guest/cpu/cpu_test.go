package cpu_test

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"example.org/homenode/measure/guest/cpu"
)

func TestOnEveryProcessor(t *testing.T) {
	ran := 0
	for n := range 64 {
		err := cpu.On(n, func() error {
			now, err := cpu.Current()
			if err != nil || now != n {
				t.Errorf("pinned to processor %d, runs on %d, %v", n, now, err)
			}
			ran++
			return nil
		})
		if err != nil && !strings.Contains(err.Error(), "processor "+strconv.Itoa(n)+": ") && !strings.Contains(err.Error(), "pins no threads") {
			t.Errorf("the error does not name processor %d: %v", n, err)
		}
	}
	if _, err := cpu.Current(); ran == 0 && err == nil {
		t.Error("no processor takes a thread")
	}
}

func TestOnUnknownProcessor(t *testing.T) {
	for _, n := range []int{-1, 4095, 100_000, 1 << 30} { // 4,095 and more are outside of the fixed mask of x/sys
		called := false
		if err := cpu.On(n, func() error { called = true; return nil }); err == nil || called {
			t.Errorf("processor %d: error %v, called %v", n, err, called)
		}
	}
}

func TestOnReturnsWhatTheFunctionReturns(t *testing.T) {
	here := usable(t)
	want := errors.New("full")
	if err := cpu.On(here, func() error { return want }); err != want {
		t.Errorf("got %v", err)
	}
	if err := cpu.On(here, func() error { runtime.Goexit(); return nil }); err == nil {
		t.Error("a function that ended its goroutine gave no error")
	}
}

// usable returns a processor that this process may use.
func usable(t *testing.T) int {
	t.Helper()
	for n := range 64 {
		if cpu.On(n, func() error { return nil }) == nil {
			return n
		}
	}
	t.Skip("no processor takes a thread here")
	return 0
}

func TestCounterGoesOn(t *testing.T) {
	err := cpu.On(usable(t), func() error {
		last := cpu.Start()
		for range 10_000 {
			now := cpu.End()
			if now < last {
				return errors.New("the counter went back from " + strconv.FormatUint(last, 10) + " to " + strconv.FormatUint(now, 10))
			}
			last = now
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestFrequency(t *testing.T) {
	stated, measured := cpu.Hz(), cpu.Calibrate()
	if r := measured / stated; r < 0.9 || r > 1.1 {
		t.Errorf("the counter has %.0f Hz, measured again %.0f", stated, measured)
	}
	if ns := cpu.NS(uint64(stated)); ns < 0.999e9 || ns > 1.001e9 {
		t.Errorf("a second of ticks is %v ns", ns)
	}
	if hz, ok := cpu.CoreHz(); ok != cpu.Precise || ok && hz <= 0 {
		t.Errorf("the core has %v Hz, %v", hz, ok)
	}
}

// A flushed line still has what was written to it, in memory that may be written and in memory that may not.
func TestFlushKeepsWhatIsWritten(t *testing.T) {
	if !cpu.CanFlush() {
		t.Skip("no flush on this system")
	}
	lines := make([]byte, 64*cpu.LineBytes())
	for i := range lines {
		lines[i] = byte(i)
		cpu.Flush(unsafe.Pointer(&lines[i]))
	}
	cpu.Fence()
	for i := range lines {
		if lines[i] != byte(i) {
			t.Fatalf("byte %d is %d", i, lines[i])
		}
	}
	text := "a constant is in memory that is read only"
	cpu.Flush(unsafe.Pointer(unsafe.StringData(text)))
	cpu.Fence()
	if !strings.HasPrefix(text, "a constant") {
		t.Error(text)
	}
}

func TestNoPinnedThreadIsLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc/self/task")
	}
	var id string
	err := cpu.On(usable(t), func() error {
		link, err := os.Readlink("/proc/thread-self")
		id = link[strings.LastIndexByte(link, '/')+1:]
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if id == strconv.Itoa(os.Getpid()) {
		t.Skip("Go took the main thread of the process, which it parks instead of ending it")
	}
	for { // the thread ends a moment after On returned
		if _, err := os.Stat("/proc/self/task/" + id); err != nil {
			return
		}
		runtime.Gosched()
	}
}

func BenchmarkCounter(b *testing.B) {
	var sum uint64
	for range b.N {
		sum += cpu.End() - cpu.Start()
	}
	_ = sum
}
