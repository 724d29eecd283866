package vsphere_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

// The account of the lab; its password must be in no error.
const labPassword = "lab-password"

// newFleet returns a fleet of one cluster with four hosts of two nodes and as
// many VMs.
func newFleet(vms int) *numa.Fleet {
	f := &numa.Fleet{Clusters: []numa.Cluster{{ID: "domain-c1", Name: "prod-a"}}}
	for i := range 4 {
		var nodes []numa.Node
		for n := range 2 {
			nodes = append(nodes, numa.Node{ID: n, Package: n, Cores: 16, Threads: 32, Memory: numa.ReadAt(256*numa.GiB, "test")})
		}
		f.Hosts = append(f.Hosts, numa.Host{
			ID: fmt.Sprintf("host-%d", i), Name: fmt.Sprintf("esx%02d", i), Cluster: "domain-c1",
			Release: numa.ReadAt(numa.ESXi80+3, "test"), Build: numa.ReadAt(24022510, "test"), Connection: numa.ReadAt("connected", "test"),
			Packages: numa.ReadAt(2, "test"), Cores: numa.ReadAt(32, "test"), Threads: numa.ReadAt(64, "test"),
			Memory: numa.ReadAt(512*numa.GiB, "test"), Nodes: numa.ReadAt(nodes, "test"),
		})
	}
	for i := range vms {
		f.VMs = append(f.VMs, numa.VM{
			ID: fmt.Sprintf("vm-%d", i), Name: fmt.Sprintf("db%04d", i), Cluster: "domain-c1", Host: fmt.Sprintf("host-%d", i%4),
			Folder: "/DC0/vm/prod", Config: numa.Config{Power: numa.ReadAt(numa.PoweredOn, "test"), Hardware: numa.ReadAt(20, "test"),
				VCPUs: numa.ReadAt(24, "test"), CoresPerSocket: numa.ReadAt(12, "test"), Memory: numa.ReadAt(128*numa.GiB, "test"),
				AutoCoresPerSocket: numa.ReadAt(false, "test"), AutoCoresPerNUMANode: numa.ReadAt(true, "test"),
				Settings: numa.ReadAt(numa.Settings{{Key: "numa.autosize.cookie", Value: "240122"}, {Key: "sched.cpu.latencySensitivity", Value: "normal"}}, "test")},
		})
	}
	return f
}

// startLab serves the fleet until the test ends.
func startLab(t testing.TB, f *numa.Fleet) *lab.VCenter {
	t.Helper()
	vc, err := lab.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vc.Close)
	return vc
}

// A request is a SOAP request on its way through a proxy.
type request struct {
	*http.Request
	lab    *lab.VCenter
	method string // such as RetrievePropertiesEx
	body   string
}

var soapMethod = regexp.MustCompile(`<Body><(\w+)`)

// proxy returns a handler in front of a lab. It answers what intercept answers,
// by reporting true, and passes on the rest.
func proxy(vc *lab.VCenter, intercept func(w http.ResponseWriter, r request) bool) http.Handler {
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: vc.URL.Scheme, Host: vc.URL.Host})
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client went away
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		method := ""
		if m := soapMethod.FindSubmatch(body); m != nil {
			method = string(m[1])
		}
		if intercept == nil || !intercept(w, request{r, vc, method, string(body)}) {
			forward.ServeHTTP(w, r)
		}
	})
}

// onward returns the request as it would go to the lab.
func (r request) onward() *http.Request {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = r.lab.URL.Scheme, r.lab.URL.Host
	out.RequestURI = ""
	return out
}

// startProxy serves a proxy on loopback and returns its URL with the account of
// the lab.
func startProxy(t testing.TB, vc *lab.VCenter, intercept func(http.ResponseWriter, request) bool) *url.URL {
	t.Helper()
	s := httptest.NewServer(proxy(vc, intercept))
	t.Cleanup(s.Close)
	return serverURL(t, s, vc.URL.User)
}

func serverURL(t testing.TB, s *httptest.Server, user *url.Userinfo) *url.URL {
	t.Helper()
	u, err := url.Parse(s.URL + "/sdk")
	if err != nil {
		t.Fatal(err)
	}
	u.User = user
	return u
}

// readError reads from u, which must fail, and returns the text of the error
// with HOST for the address of the server.
func readError(t testing.TB, ctx context.Context, u *url.URL, o vsphere.Options) string {
	t.Helper()
	f, err := vsphere.Read(ctx, u, o)
	if err == nil {
		t.Fatalf("Read() = a fleet with %d VMs, want an error", len(f.VMs))
	}
	if f != nil {
		t.Errorf("Read() returned a fleet along with the error %v", err)
	}
	if strings.Contains(err.Error(), labPassword) {
		t.Errorf("error %q shows the password", err)
	}
	return strings.ReplaceAll(err.Error(), u.Host, "HOST")
}

// noteTexts returns the notes of a fleet with HOST for the address of the server.
func noteTexts(f *numa.Fleet, u *url.URL) []string {
	var texts []string
	for _, n := range f.Notes {
		texts = append(texts, strings.ReplaceAll(n.String(), u.Host, "HOST"))
	}
	return texts
}

// fault writes a SOAP fault as vCenter does.
func fault(w http.ResponseWriter, kind, detail string) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(http.StatusInternalServerError)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<soapenv:Body><soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring></faultstring>
<detail><%[1]sFault xmlns="urn:vim25" xsi:type="%[1]s">%[2]s</%[1]sFault></detail>
</soapenv:Fault></soapenv:Body></soapenv:Envelope>`, kind, detail)
}

// TestLabels checks that tags and custom attributes of VMs arrive.
func TestLabels(t *testing.T) {
	f := newFleet(3)
	f.VMs[0].Tags = []string{"sql", "tier 1"}
	f.VMs[2].Tags = []string{"sql"}
	f.VMs[0].Attributes = []numa.Attribute{{Name: "cost centre", Value: "4711"}, {Name: "owner", Value: "db team"}}
	vc := startLab(t, f)
	got, err := vsphere.Read(context.Background(), vc.URL, vsphere.Options{Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.VMs {
		if !slices.Equal(got.VMs[i].Tags, f.VMs[i].Tags) || !slices.Equal(got.VMs[i].Attributes, f.VMs[i].Attributes) {
			t.Errorf("VM %d: %v %v, want %v %v", i, got.VMs[i].Tags, got.VMs[i].Attributes, f.VMs[i].Tags, f.VMs[i].Attributes)
		}
	}
}
