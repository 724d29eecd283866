package keep_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/storage"
	"go.yaml.in/yaml/v4"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/keep"
	"example.org/homenode/serve/query"
)

// TestPeaks demands of random nodes that what homenode foresees is what the alert shipped for Prometheus finds in the
// same samples.
func TestPeaks(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{Retain: 1000 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const nodes, minFree = 40, 2e9
	r := rand.New(rand.NewPCG(15, 1))
	now := time.Now().Truncate(time.Minute)
	free := map[board.Node]numa.Bytes{}
	type one struct {
		series         *store.Series
		level, peak    float64
		from, to, gone int
		stays          float64 // that is never given back
	}
	var all []one
	for i := range nodes {
		host := fmt.Sprintf("esx%02d", i/2)
		l := []string{"vcenter", "vc", "cluster", "c", "host", host, "node", fmt.Sprint(i % 2), "job", "j", "instance", "i"}
		at := r.IntN(200)
		all = append(all, one{s.Series("homenode_node_memory_free_bytes", l...), 9e9 + float64(r.IntN(12))*1e9, float64(r.IntN(12)) * 1e9, at, at + 1 + r.IntN(30), r.IntN(400), 0})
		all[i].stays = all[i].peak * float64(r.IntN(3)) / 2
		free[board.Node{VCenter: "vc", Host: host, Number: i % 2}] = numa.Bytes(all[i].level - all[i].stays)
	}
	var keepFree []*store.Series
	for i := range nodes / 2 {
		keepFree = append(keepFree, s.Series("homenode_host_memory_minfree_bytes", "vcenter", "vc", "cluster", "c", "host", fmt.Sprintf("esx%02d", i), "job", "j", "instance", "i"))
	}
	begin := now.Add(-24*time.Hour - 30*time.Minute)
	for m := 0; !begin.Add(time.Duration(m) * time.Minute).After(now); m++ {
		if m > 180 && m < 24*60 { // what lies between says nothing
			continue
		}
		var x []store.Sample
		for i := range all {
			number := all[i].level
			if m >= all[i].from && m < all[i].to {
				number -= all[i].peak
			} else if m >= all[i].to {
				number -= all[i].stays
			}
			if m == all[i].gone {
				number = store.Stale
			}
			x = append(x, store.Sample{Series: all[i].series, Number: number})
		}
		for _, k := range keepFree {
			x = append(x, store.Sample{Series: k, Number: minFree})
		}
		if _, err := s.Append(t.Context(), begin.Add(time.Duration(m)*time.Minute), x); err != nil {
			t.Fatal(err)
		}
	}
	peaks, err := keep.PeaksOf(t.Context(), s, now)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for n, p := range peaks {
		if left := free[n] - p.Took; p.Took > numa.GiB && left < 4*minFree {
			got = append(got, fmt.Sprintf("%s %d %d", n.Host, n.Number, left))
		}
	}
	slices.Sort(got)
	want := alert(t, s, now)
	if !slices.Equal(got, want) || len(want) < 5 || len(want) > nodes-5 {
		t.Errorf("foreseen\n%s\nthe alert\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// alert evaluates the shipped alert.
func alert(t *testing.T, s *store.Store, now time.Time) (found []string) {
	t.Helper()
	data := golden.Read(t, "../../deploy/prometheus/alerts.yaml")
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	expr := ""
	for _, g := range file.Groups {
		for _, one := range g.Rules {
			if one.Alert == "HomenodeNoRoomBeforePeak" {
				expr = one.Expr
			}
		}
	}
	api := query.API{Store: func() (storage.Queryable, error) { return s.Queryable(), nil }}
	w := httptest.NewRecorder()
	api.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/query?"+url.Values{"query": {expr}, "time": {fmt.Sprint(now.Unix())}}.Encode(), nil))
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 {
		t.Fatal(err, w.Body)
	}
	for _, one := range answer.Data.Result {
		var left float64
		if _, err := fmt.Sscan(one.Value[1].(string), &left); err != nil {
			t.Fatal(err)
		}
		found = append(found, fmt.Sprintf("%s %s %d", one.Metric["host"], one.Metric["node"], int64(left)))
	}
	slices.Sort(found)
	return found
}
