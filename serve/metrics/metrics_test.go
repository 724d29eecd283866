package metrics_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/serve/access"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/metrics"
	"example.org/homenode/serve/routes"
)

// twins returns a Board of a host with two VMs of one name, and names that strangers chose.
func twins() *board.Board {
	b := board.New(rules.Options{}, time.Hour)
	f := &numa.Fleet{Hosts: []numa.Host{{ID: "h", Name: "esx01"}}}
	for i, name := range []string{"twin", "twin", "a|b", "q\"uote\\", "line\nbreak"} {
		f.VMs = append(f.VMs, numa.VM{ID: "vm-" + string(rune('1'+i)), Name: name, Host: "h"})
	}
	b.Fleet("vc", f)
	t := numa.Tick{Host: "esx01", Time: time.Now(), Nodes: []numa.NodeTick{{ID: 0}, {ID: 1}}}
	for i := range f.VMs {
		t.VMs = append(t.VMs, numa.VMTick{GID: int64(i + 10), Name: f.VMs[i].Name, Has: numa.HasHomes | numa.HasMemory, Homes: numa.SetOf(0), Local: 1 << 30})
	}
	b.Tick("vc", "h", &t)
	return b
}

// TestTwins tells two VMs of one name apart, and keeps every sample on a line of its own.
func TestTwins(t *testing.T) {
	b := twins()
	for _, form := range []metrics.Form{metrics.Text, metrics.OpenMetrics} {
		p := metrics.NewPage(form)
		p.AddHosts(b, "")
		var out bytes.Buffer
		if _, err := p.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			series, _, ok := strings.Cut(line, "} ")
			if !ok || seen[series] {
				t.Errorf("twice, or not a sample: %q", line)
			}
			seen[series] = true
		}
		for _, want := range []string{`vm="twin",vm_id="",gid="10"`, `vm="twin",vm_id="",gid="11"`, `vm="a|b",vm_id="vm-3"`, `vm="q\"uote\\",vm_id="vm-4"`, `vm="line\nbreak"`} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %s in %s", want, out.String())
			}
		}
	}
}

// TestPrivate is granted memory that is not shared, where both are known.
func TestPrivate(t *testing.T) {
	b := board.New(rules.Options{}, time.Hour)
	b.Tick("vc", "h", &numa.Tick{Host: "esx01", Time: time.Now(), VMs: []numa.VMTick{
		{GID: 1, Name: "both", Has: numa.HasGranted | numa.HasShared, Granted: 5000, Shared: 2000},
		{GID: 2, Name: "later", Has: numa.HasGranted | numa.HasShared, Granted: 5000, Shared: 6000}, // counters of two instants
		{GID: 3, Name: "granted", Has: numa.HasGranted, Granted: 5000},
		{GID: 4, Name: "shared", Has: numa.HasShared | numa.HasCompressed, Shared: 2000, Compressed: 700}}})
	p := metrics.NewPage(metrics.Text)
	p.AddHosts(b, "")
	var out bytes.Buffer
	if _, err := p.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	for vm, want := range map[string]string{"both": " 3000\n", "later": " 0\n", "granted": "", "shared": ""} {
		_, line, ok := strings.Cut(out.String(), `homenode_vm_memory_private_bytes{vcenter="vc",cluster="",host="esx01",vm="`+vm+`"`)
		if ok != (want != "") || !strings.HasPrefix(line[strings.Index(line, "}")+1:], want) {
			t.Errorf("%s: want %q in\n%s", vm, want, out.String())
		}
	}
	if !strings.Contains(out.String(), `homenode_vm_memory_compressed_bytes{vcenter="vc",cluster="",host="esx01",vm="shared",vm_id="",gid="4"} 700`) {
		t.Errorf("no compressed memory in\n%s", out.String())
	}
}

// TestScrapers lets twenty scrape at a time while ticks come: every page is whole.
func TestScrapers(t *testing.T) {
	b := twins()
	s := routes.Server{Board: b, Gate: access.New(access.Options{Listen: "127.0.0.1:80"}), Status: func() []collect.Status { return nil }}
	h := s.Handler()
	var all sync.WaitGroup
	stop := make(chan struct{})
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				b.Tick("vc", "h", &numa.Tick{Host: "esx01", Time: time.Now(), VMs: []numa.VMTick{{GID: 1, Name: "one", Has: numa.HasMemory, Local: 1 << 30}}})
			}
		}
	})
	var scrapers sync.WaitGroup
	for range 20 {
		scrapers.Go(func() {
			for range 20 {
				r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80/metrics", nil)
				r.Header.Set("Accept", "application/openmetrics-text")
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				b, err := io.ReadAll(w.Body)
				if err != nil || w.Code != http.StatusOK || !bytes.HasSuffix(b, []byte("# EOF\n")) || !bytes.Contains(b, []byte("homenode_vm_numa_local_bytes{")) {
					t.Errorf("%d, %v: %s", w.Code, err, b)
				}
			}
		})
	}
	scrapers.Wait()
	close(stop)
	all.Wait()
}

// whole returns a Board of a VM of which everything is known, on a host with two nodes.
func whole() *board.Board {
	b := board.New(rules.Options{}, time.Hour)
	b.Fleet("vc", &numa.Fleet{Hosts: []numa.Host{{ID: "h", Name: "esx01"}}, VMs: []numa.VM{{ID: "vm-1", Name: "sql01", Host: "h"}}})
	t := numa.Tick{Host: "esx01", Time: time.Now(), Since: time.Second, Has: ^numa.Counters(0), Nodes: []numa.NodeTick{{ID: 0, Has: ^numa.Counters(0)}, {ID: 1, Has: ^numa.Counters(0)}}}
	vm := numa.VMTick{GID: 10, Name: "sql01", Has: ^numa.Counters(0), Homes: numa.SetOf(0), Local: 1 << 30, VCPUs: 8, OnNode: []numa.MemoryOnNode{{Node: 0}, {Node: 1}}}
	t.VMs = append(t.VMs, vm)
	b.Tick("vc", "h", &t)
	return b
}

// TestGroups asks for each group alone: together they have what all have, and each costs a VM as many series as the page says.
func TestGroups(t *testing.T) {
	page := golden.Read(t, "../../docs/reference/metrics.md")
	s := routes.Server{Board: whole(), Gate: access.New(access.Options{Listen: "127.0.0.1:80"}), Status: func() []collect.Status { return nil }}
	h := s.Handler()
	scrape := func(query string) (lines []string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80/metrics"+query, nil))
		for line := range strings.Lines(w.Body.String()) {
			if !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	together, all := 0, len(scrape(""))
	for _, g := range metrics.Groups {
		lines := scrape("?group=" + g.Name)
		together += len(lines)
		ofVM := 0
		for _, line := range lines {
			if strings.Contains(line, `vm="sql01"`) {
				ofVM++
			}
		}
		if row := fmt.Sprintf("| `%s` | %s | %d |", g.Name, g.About, ofVM); !strings.Contains(string(page), row) {
			t.Errorf("docs/reference/metrics.md lacks the row %s", row)
		}
	}
	if together != all || all < 20 {
		t.Errorf("the groups have %d series, all together %d", together, all)
	}
	if two := len(scrape("?group=cpu&group=memory")); two != len(scrape("?group=cpu"))+len(scrape("?group=memory")) {
		t.Errorf("two groups have %d series", two)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80/metrics?group=nonsense", nil))
	if w.Code != http.StatusBadRequest || w.Body.String() != "found the group \"nonsense\", want one of locality, migrations, cpu, memory, nodes, hosts, findings, collector\n" {
		t.Errorf("%d %s", w.Code, w.Body.String())
	}
	build := strings.Join(scrape("?group=collector"), "")
	for _, want := range []string{"homenode_build_info{version=", "process_start_time_seconds{} ", "process_resident_memory_bytes{} "} {
		if !strings.Contains(build, want) && runtime.GOOS == "linux" {
			t.Errorf("lacks %s:\n%s", want, build)
		}
	}
}
