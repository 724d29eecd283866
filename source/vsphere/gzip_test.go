package vsphere_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"example.org/homenode/source/vsphere"
)

// TestGzip reads from a server that compresses its answers, as the request offers.
func TestGzip(t *testing.T) {
	vc := startLab(t, newFleet(20))
	var pages atomic.Int32
	u := startProxy(t, vc, func(w http.ResponseWriter, r request) bool {
		if !strings.HasSuffix(r.method, "RetrievePropertiesEx") || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			return false
		}
		out := r.onward()
		out.Header.Del("Accept-Encoding") // the transport then undoes what the lab may compress
		res, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		pages.Add(1)
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.WriteHeader(res.StatusCode)
		z := gzip.NewWriter(w)
		if _, err := io.Copy(z, res.Body); err != nil {
			t.Error(err)
		}
		if err := z.Close(); err != nil {
			t.Error(err)
		}
		return true
	})
	got, err := vsphere.Read(t.Context(), u, vsphere.Options{PageSize: 6})
	if err != nil {
		t.Fatal(err)
	}
	want, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.VMs {
		want.VMs[i].At = strings.Replace(want.VMs[i].At, vc.URL.Host, u.Host, 1)
	}
	if !reflect.DeepEqual(got.VMs, want.VMs) || len(got.Notes) != 0 {
		t.Errorf("Read() of compressed answers = %d VMs and the notes %v; want %d, the same, and none", len(got.VMs), got.Notes, len(want.VMs))
	}
	if pages.Load() < 8 { // a view and a list for each of folders, clusters, usage and hosts, and four pages of VMs
		t.Errorf("%d answers were compressed", pages.Load())
	}
}
