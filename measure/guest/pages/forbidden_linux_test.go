package pages_test

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"example.org/homenode/internal/testdeps"
	"example.org/homenode/measure/guest/pages"
)

// What profiles of containers forbid, and what is said of the memory then.
var profiles = []struct {
	name   string
	forbid []uint32
	doubt  []string // parts of it; none: the placement is confirmed
}{
	{"nothing", nil, nil},
	{"mbind", []uint32{unix.SYS_MBIND}, nil}, // move_pages confirms what the touch placed
	{"mbind and move_pages", []uint32{unix.SYS_MBIND, unix.SYS_MOVE_PAGES}, nil},
	{"queries", []uint32{unix.SYS_MOVE_PAGES, unix.SYS_GET_MEMPOLICY}, []string{"placement not verified: move_pages: operation not permitted; get_mempolicy: operation not permitted"}},
	{"all", []uint32{unix.SYS_MBIND, unix.SYS_MOVE_PAGES, unix.SYS_GET_MEMPOLICY}, []string{"placement not verified: mbind: operation not permitted", "touched first on a processor"}},
}

const profileVariable = "HOMENODE_TEST_PROFILE"

func TestForbiddenCalls(t *testing.T) {
	if profile := os.Getenv(profileVariable); profile != "" {
		underProfile(t, profile)
		return
	}
	m, err := pages.Take(context.Background(), pages.Ask{Bytes: 1 << 20, Node: 0})
	if err != nil {
		t.Skip("no nodes here: ", err)
	}
	if m.Close(); m.Doubt != "" {
		t.Skip(m.Doubt)
	}
	for i, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			again := exec.Command(os.Args[0], "-test.run=^TestForbiddenCalls$", "-test.v")
			again.Env = append(os.Environ(), profileVariable+"="+strconv.Itoa(i))
			out, err := again.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "PASS: TestForbiddenCalls") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// underProfile runs in a process of its own: it forbids itself the calls, for good.
func underProfile(t *testing.T, number string) {
	i, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	p := profiles[i]
	if err := testdeps.Forbid(p.forbid); err != nil {
		t.Fatal(err)
	}
	m := take(t, pages.Ask{Bytes: 1 << 20, Node: 0, Processors: []int{0}})
	if (m.Doubt == "") != (p.doubt == nil) {
		t.Errorf("doubt: %q", m.Doubt)
	}
	for _, part := range p.doubt {
		if !strings.Contains(m.Doubt, part) {
			t.Errorf("doubt %q lacks %q", m.Doubt, part)
		}
	}
	if len(p.forbid) == 0 || p.forbid[0] != unix.SYS_MBIND {
		return
	}
	if _, err := pages.Take(context.Background(), pages.Ask{Bytes: 1 << 20, Node: 0}); err == nil || !strings.Contains(err.Error(), "no processor of it") {
		t.Errorf("without a processor of the node: %v", err)
	}
}
