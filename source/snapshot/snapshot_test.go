package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario/given"
)

// fullFleet returns a fleet with every field of every type set, by reflection: a
// field that is added to package numa is in the tests of this package at once.
func fullFleet(t testing.TB) *numa.Fleet {
	t.Helper()
	var f numa.Fleet
	n := 0
	fill(reflect.ValueOf(&f).Elem(), &n)
	for i := range f.Hosts {
		f.Hosts[i].Cluster = f.Clusters[i].ID
	}
	f.Hypervisor = numa.KVM
	for i := range f.VMs {
		v := &f.VMs[i]
		for _, p := range []*int{&v.Stated.Pins[0].VCPU, &v.Stated.Pins[1].VCPU} {
			*p = 1
		}
		for j := range v.Stated.Modules {
			v.Stated.Modules[j].Cell = 1
		}
		v.Cluster, v.Host, v.Power.Value = f.Clusters[i].ID, f.Hosts[i].ID, numa.Suspended
		for j := range v.Observed {
			v.Observed[j].Config.Power.Value = numa.PoweredOff
		}
	}
	if paths := unset(reflect.ValueOf(f), "fleet"); paths != nil {
		t.Fatalf("not set: %s", strings.Join(paths, ", "))
	}
	return &f
}

// fill sets everything below v to values that differ from each other, lists to two
// items. The origins take turns.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d: ä, <&>, \"\\ \u2028 😀", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 8)
	case reflect.Uint8: // OriginKind
		v.SetUint(uint64(1 + *n%3))
	case reflect.Uint32: // Release; updates have two digits
		v.SetUint(uint64(numa.NewRelease(7, *n%100, *n/100%100)))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("no value for " + v.Type().String())
	}
}

// unset returns the paths below v that are zero.
func unset(v reflect.Value, path string) []string {
	var out []string
	switch {
	case v.IsZero():
		return []string{path}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			out = append(out, unset(v.Index(i), fmt.Sprintf("%s[%d]", path, i))...)
		}
	case v.Kind() == reflect.Pointer:
		return unset(v.Elem(), path)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			out = append(out, unset(v.Field(i), path+"."+v.Type().Field(i).Name)...)
		}
	}
	return out
}

func write(t testing.TB, f *numa.Fleet) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fleet *numa.Fleet
	}{
		{"every field set", fullFleet(t)},
		{"demo", given.Demo(t)},
		{"empty", &numa.Fleet{}},
		{"nothing known", &numa.Fleet{
			Source: "vc.example.com", Clusters: []numa.Cluster{{ID: "c", Name: "prod"}},
			Hosts: []numa.Host{{ID: "h", Name: "esx01"}}, VMs: []numa.VM{{ID: "v", Name: "db01"}},
		}},
		{"known to be zero, false, none and empty", &numa.Fleet{
			Hosts: []numa.Host{{ID: "h", Name: "esx01", Maintenance: numa.ReadAt(false, ""), Options: numa.ReadAt(numa.Settings(nil), "config")}},
			VMs: []numa.VM{{ID: "v", Name: "db01", Config: numa.Config{CPULimit: numa.ReadAt(-1, "limit"), CPUReservation: numa.DerivedFrom(0, "reservation"),
				CPUAffinity: numa.ReadAt([]int{}, "affinity"), MemoryAffinity: numa.ReadAt[[]int](nil, "affinity"),
				GuestOS: numa.AssumedFor("", "no tools")}}},
		}},
		{"a NUL, and a name of 10 MB", &numa.Fleet{Source: "a\x00b", VMs: []numa.VM{{ID: "v", Name: strings.Repeat("x", 10<<20) + "ä"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := write(t, tt.fleet)
			for name, r := range map[string]io.Reader{
				"at once": bytes.NewReader(b), "byte by byte": iotest.OneByteReader(bytes.NewReader(b)), "data with EOF": iotest.DataErrReader(bytes.NewReader(b)),
				"with a byte order mark": io.MultiReader(strings.NewReader("\ufeff"), bytes.NewReader(b)),
				"with CRLF":              bytes.NewReader(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))),
			} {
				if name == "byte by byte" && len(b) > 1<<20 {
					continue
				}
				got, err := Read("fleet.json", r)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !reflect.DeepEqual(got, tt.fleet) {
					t.Errorf("%s: what was read differs from what was written", name)
				}
			}
		})
	}
}

// TestForm shows the form of a file.
func TestForm(t *testing.T) {
	golden.Equal(t, write(t, &numa.Fleet{
		Source: "vc.example.com", Collected: "2026-05-01T10:00:00Z",
		Notes:    []numa.Note{{At: "esx02", Text: "not responding"}},
		Clusters: []numa.Cluster{{ID: "domain-c8", Name: "prod"}},
		Hosts: []numa.Host{{ID: "host-9", Name: "esx01", Cluster: "domain-c8",
			Release: numa.ReadAt(numa.ESXi70+3, "config.product.version"),
			Nodes: numa.ReadAt([]numa.Node{
				{ID: 0, Package: 0, Cores: 18, Threads: 36, Memory: numa.ReadAt(512*numa.GiB, "memoryRangeLength")},
				{ID: 1, Package: 1, Cores: 18, Threads: 36},
			}, "hardware.numaInfo")}},
		VMs: []numa.VM{{ID: "vm-1", Name: "db01", Host: "host-9",
			Config: numa.Config{VCPUs: numa.ReadAt(32, "config.hardware.numCPU"), Memory: numa.DerivedFrom(384*numa.GiB, "memoryMB"),
				Power: numa.AssumedFor(numa.PoweredOn, "the view does not show it")}}},
	}), "testdata/form.json")
}

// TestTruncated cuts a snapshot after every byte, in make test after every eleventh: each part is an error with a
// place, none a fleet.
func TestTruncated(t *testing.T) {
	whole := bytes.TrimRight(write(t, fullFleet(t)), "\n")
	step := 11 // the parts are as many as bytes, and each is read from the start
	if testdeps.Proof() {
		step = 1
	}
	for i := 0; i < len(whole); i += step {
		f, err := Read("fleet.json", bytes.NewReader(whole[:i]))
		line := 1 + bytes.Count(whole[:i], []byte("\n"))
		col := i - bytes.LastIndexByte(whole[:i], '\n')
		var e *numa.SyntaxError
		if f != nil || !errors.As(err, &e) || e.Line != line || e.Col != col || !strings.HasSuffix(e.Msg, "found the end of the file: it is cut short") {
			t.Fatalf("after %d bytes: %v, %v; want the end of the file at %d:%d", i, f, err, line, col)
		}
	}
}

// TestReadError passes on what the reader below says, and names the file.
func TestReadError(t *testing.T) {
	broken := errors.New("input/output error")
	for _, n := range []int{0, 1, 100, 3000} {
		whole := write(t, fullFleet(t))
		_, err := Read("fleet.json", io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || err.Error() != "fleet.json: input/output error" {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	whole := write(t, fullFleet(t))
	if _, err := Read("fleet.json", io.MultiReader(bytes.NewReader(whole), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("after the end: %v", err)
	}
}

func TestReadFileMissing(t *testing.T) {
	if _, err := ReadFile("testdata/none.json"); err == nil || !strings.HasPrefix(err.Error(), "open testdata/none.json: ") {
		t.Errorf("ReadFile of nothing: %v", err)
	}
	if f, err := ReadFile("testdata/form.json"); err != nil || len(f.VMs) != 1 {
		t.Errorf("ReadFile: %v, %v", f, err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWriteError(t *testing.T) {
	for _, f := range []*numa.Fleet{{}, given.Demo(t)} {
		if err := Write(fullDisk{}, f); err == nil || err.Error() != "no space left on device" {
			t.Errorf("Write on a full disk: %v", err)
		}
	}
}
