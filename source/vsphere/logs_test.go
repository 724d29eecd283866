package vsphere_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"homenode/source/vsphere"
	"homenode/source/vsphere/lab"
)

// startWithLogs serves three VMs: the first with a short log, the second with a long one, the
// third without any.
func startWithLogs(t *testing.T) (vc *lab.VCenter, short, long []byte) {
	t.Helper()
	fleet := newFleet(3)
	fleet.VMs[0].ID = "vm a"
	vc = startLab(t, fleet)
	folder := t.TempDir()
	short = []byte("first line\nsecond line\n")
	long = []byte("head\n" + strings.Repeat(strings.Repeat("x", 99)+"\n", 30_000) + "tail\n") // 3 MB
	for vm, data := range map[string][]byte{"vm a": short, "vm-1": long, "vm-2": nil} {
		if err := vc.PutLog(folder, vm, data); err != nil {
			t.Fatal(err)
		}
	}
	return vc, short, long
}

func TestLogs(t *testing.T) {
	vc, short, long := startWithLogs(t)
	logins, logouts := 0, 0
	u := startProxy(t, vc, func(_ http.ResponseWriter, r request) bool {
		switch r.method {
		case "Login":
			logins++
		case "Logout":
			logouts++
		}
		return false
	})
	logs, notes, err := vsphere.Logs(context.Background(), u, vsphere.Options{}, []string{"vm a", "vm-1", "vm-2"})
	if err != nil || len(logs) != 2 {
		t.Fatalf("%d logs, notes %v, %v", len(logs), notes, err)
	}
	if l := logs[0]; l.VM != "vm a" || l.Name != "[datastore1] vm a/vmware.log" || !bytes.Equal(l.Data, short) || l.Cut {
		t.Errorf("short log: %s %s, cut %v: %q", l.VM, l.Name, l.Cut, l.Data)
	}
	l := logs[1]
	if !l.Cut || len(l.Data) > 2<<20 || len(l.Data) < 2<<20-300 || !bytes.HasPrefix(l.Data, []byte("head\nxxx")) || !bytes.HasSuffix(l.Data, long[len(long)-105:]) {
		t.Errorf("long log: %d bytes of %d, cut %v", len(l.Data), len(long), l.Cut)
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(l.Data, []byte("\n")), []byte("\n")) {
		if n := len(line); n != 99 && n != 4 {
			t.Fatalf("line %d has %d bytes: it is half a line", i+1, n)
		}
	}
	if len(notes) != 1 || notes[0].Text != "vmware.log was not fetched: [datastore1] vm-2/vmware.log: not found" {
		t.Errorf("notes %v", notes)
	}
	if logins != 1 || logouts != 1 {
		t.Errorf("%d logins and %d logouts, want one of each", logins, logouts)
	}
}

func TestLogsRefused(t *testing.T) {
	vc, _, _ := startWithLogs(t)
	logouts := 0
	ctx, cancel := context.WithCancel(context.Background())
	cancelled := false
	u := startProxy(t, vc, func(w http.ResponseWriter, r request) bool {
		if r.method == "Logout" {
			logouts++
		}
		if !strings.HasPrefix(r.URL.Path, "/folder/") {
			return false
		}
		if cancelled {
			cancel()
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	_, notes, err := vsphere.Logs(ctx, u, vsphere.Options{}, []string{"vm a"})
	want := "vmware.log was not fetched: [datastore1] vm a/vmware.log: 403 Forbidden: the account needs Datastore.Browse and Datastore.FileManagement on the datastore"
	if err != nil || len(notes) != 1 || notes[0].Text != want {
		t.Errorf("notes %v, %v", notes, err)
	}
	cancelled = true
	if _, _, err := vsphere.Logs(ctx, u, vsphere.Options{}, []string{"vm a", "vm-1"}); err == nil {
		t.Error("a fetch that was cancelled gave no error")
	}
	if logouts != 2 {
		t.Errorf("%d logouts, want one for each session, the cancelled one too", logouts)
	}
}
