package reader

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
)

// TestTwoCollectors shows what one of two collectors says of a host, and says that both see it.
func TestTwoCollectors(t *testing.T) {
	now := time.Now()
	age := map[string]time.Duration{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var all []string
		add := func(name, labels string, number float64) {
			all = append(all, fmt.Sprintf(`{"metric":{"__name__":%q,"vcenter":"vc",%s},"value":[%d,"%f"]}`, name, labels, now.Unix(), number))
		}
		_ = r.ParseForm()
		if r.Form.Get("query") == what {
			for i, c := range []string{"a", "b"} {
				for _, host := range []string{"both", "only-" + c} {
					of := fmt.Sprintf(`"collector":%q,"host":%q`, c, host)
					add("homenode_last_tick_timestamp_seconds", of, float64(now.Add(-age[c]).Unix()))
					add("homenode_vm_numa_local_bytes", of+`,"vm":"db","vm_id":"vm-1"`, float64(i+1))
					add("homenode_vm_numa_home_node", fmt.Sprintf(`%s,"vm":"db","vm_id":"vm-1","node":"%d"`, of, i), 1)
				}
			}
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, strings.Join(all, ","))
	}))
	defer server.Close()
	for _, want := range []string{"a", "b"} {
		b := board.New(rules.Options{}, time.Hour)
		r, err := New(server.URL, b)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Read(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		if s := r.Status(); len(s) != 1 || len(s[0].Hosts) != 3 || s[0].Advice != "the collectors a and b see the same both: one is shown; let one alone collect from a host" {
			t.Errorf("status %+v", s)
		}
		var got []string
		b.Each(func(h *board.Host) {
			got = append(got, fmt.Sprint(h.Name, int64(h.Tick.VMs[0].Local), h.Tick.VMs[0].Homes))
		})
		one := map[string]string{"a": "both1 0", "b": "both2 1"}[want]
		if text := strings.Join(got, ", "); text != one+", only-a1 0, only-b2 1" {
			t.Errorf("%s: %s", want, text)
		}
		age["a"] = 5 * time.Minute // it ended, and a database still shows what it saw last
	}
}

// TestLastLeaves shows a host without VMs once its last one has left.
func TestLastLeaves(t *testing.T) {
	now, there := time.Now(), true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := ""
		if _ = r.ParseForm(); r.Form.Get("query") == what {
			text = fmt.Sprintf(`{"metric":{"__name__":"homenode_last_tick_timestamp_seconds","vcenter":"vc","host":"esx01"},"value":[%d,"%d"]}`, now.Unix(), now.Unix())
			if there {
				text += fmt.Sprintf(`,{"metric":{"__name__":"homenode_vm_numa_local_bytes","vcenter":"vc","host":"esx01","vm":"db","vm_id":"vm-1"},"value":[%d,"1"]}`, now.Unix())
			}
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, text)
	}))
	defer server.Close()
	b := board.New(rules.Options{}, time.Hour)
	r, err := New(server.URL, b)
	if err != nil {
		t.Fatal(err)
	}
	for want := 1; want >= 0; want-- {
		there = want == 1
		if err := r.Read(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		b.Each(func(h *board.Host) {
			if len(h.Tick.VMs) != want {
				t.Errorf("%d VMs, want %d", len(h.Tick.VMs), want)
			}
		})
	}
}
