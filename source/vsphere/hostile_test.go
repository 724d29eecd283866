package vsphere_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/homenode/source/vsphere"
)

const (
	envelope = `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" ` +
		`xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>`
	envelopeEnd = `</soapenv:Body></soapenv:Envelope>`
	// The library panics over a cause that is no fault.
	crashingFault = envelope + `<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring/><detail>` +
		`<NoPermissionFault xmlns="urn:vim25" xsi:type="NoPermission"><faultCause><fault xsi:type="Permission"/></faultCause></NoPermissionFault>` +
		`</detail></soapenv:Fault>` + envelopeEnd
)

// page returns an answer with these objects.
func page(response, token, objects string) string {
	if token != "" {
		token = "<token>" + token + "</token>"
	}
	return envelope + `<` + response + ` xmlns="urn:vim25"><returnval>` + token + objects + `</returnval></` + response + `>` + envelopeEnd
}

func answerWith(method, body string) func(http.ResponseWriter, request) bool {
	return func(w http.ResponseWriter, r request) bool {
		if r.method == method {
			w.Header().Set("Content-Type", "text/xml")
			fmt.Fprint(w, body)
		}
		return r.method == method
	}
}

// vmPage answers further pages of VMs.
func vmPage(token, objects string) func(http.ResponseWriter, request) bool {
	return answerWith("ContinueRetrievePropertiesEx", page("ContinueRetrievePropertiesExResponse", token, objects))
}

const oneVM = `<objects><obj type="VirtualMachine">vm-7</obj><propSet><name>name</name><val xsi:type="xsd:string">x</val></propSet></objects>`

// TestHostileAnswers checks that no answer ends the program, takes all memory or lasts for
// ever, and that the session is closed all the same.
func TestHostileAnswers(t *testing.T) {
	vc := startLab(t, newFleet(20))
	huge := strings.Repeat("<a>some text</a>", 8<<20/16)
	for _, tt := range []struct {
		name      string
		intercept func(http.ResponseWriter, request) bool
		want      string // HOST: …
	}{
		{"a typed fault inside a missing property", vmPage("", `<objects><obj type="VirtualMachine">vm-7</obj><missingSet><path>name</path>`+
			`<fault><fault xsi:type="Permission"/></fault></missingSet></objects>`),
			"HOST: read VMs after 6 of 20: vm-7: the answer cannot be decoded: "},
		{"a cause that is no fault", answerWith("CreateContainerView", crashingFault), "HOST: read folders: the answer cannot be decoded: "},
		{"a cause that is no fault of a page", answerWith("ContinueRetrievePropertiesEx", crashingFault), "HOST: read VMs after 6 of 20: the answer cannot be decoded: "},
		{"a cause that is no fault before the login", answerWith("RetrieveServiceContent", crashingFault), "HOST: connect: the answer cannot be decoded: "},
		{"a cause that is no fault at the end", answerWith("DestroyView", crashingFault), "HOST: read folders after 6 of 6: the answer cannot be decoded: "},
		{"a huge list of versions", func(w http.ResponseWriter, r request) bool {
			if r.Method == http.MethodGet {
				fmt.Fprint(w, "<namespaces>"+strings.Repeat("<namespace><name>urn:vim25</name></namespace>", 200_000)+"</namespaces>")
			}
			return r.Method == http.MethodGet
		}, "HOST: connect: /sdk/vimServiceVersions.xml is no list of API versions: found more than 1 MB in one answer"},
		{"a huge content", answerWith("RetrieveServiceContent", envelope+huge+envelopeEnd), "HOST: connect: found more than 1 MB in one answer"},
		{"a huge view", answerWith("CreateContainerView", envelope+huge+envelopeEnd), "HOST: read folders: found more than 1 MB in one answer"},
		{"tokens without end", vmPage("again", oneVM), "HOST: read VMs after 35 of 20: found more than 30 answers for 20 objects"},
		{"empty pages without end", vmPage("again", ""), "HOST: read VMs after 6 of 20: found more than 30 answers for 20 objects"},
		{"an ID of 2 MB", vmPage("", strings.Replace(oneVM, "vm-7", strings.Repeat("vm-7", 1<<19), 1)), "HOST: read VMs after 7 of 20: found an ID of 2097152 bytes"},
		{"objects without end", vmPage("", strings.Repeat(oneVM, 5000)), "HOST: read VMs after 1,041 of 20: found more than twice the 20 objects of the view"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := sessions(t, vc.URL)
			s := httptest.NewTLSServer(proxy(vc, tt.intercept))
			t.Cleanup(s.Close)
			got := readError(t, t.Context(), serverURL(t, s, vc.URL.User), vsphere.Options{PageSize: 6, CallTimeout: 5 * impatient, Insecure: true})
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("Read() = %q\nwant %q", got, tt.want)
			}
			if after := sessions(t, vc.URL); after != before {
				t.Errorf("%d sessions before the read, %d after", before, after)
			}
		})
	}
}

// TestHostileLogin covers logins whose answer cannot be read: the server has opened the
// session all the same.
func TestHostileLogin(t *testing.T) {
	vc := startLab(t, newFleet(4))
	for name, body := range map[string]string{
		"the answer cannot be decoded: ":     crashingFault,
		"found more than 1 MB in one answer": envelope + strings.Repeat("<a>some text</a>", 8<<20/16) + envelopeEnd,
	} {
		t.Run(name, func(t *testing.T) {
			before := sessions(t, vc.URL)
			u := startProxy(t, vc, func(w http.ResponseWriter, r request) bool {
				if r.method != "Login" {
					return false
				}
				res, err := http.DefaultTransport.RoundTrip(r.onward())
				if err != nil {
					t.Error(err)
					return false
				}
				defer res.Body.Close()
				if _, err := io.Copy(io.Discard, res.Body); err != nil {
					t.Error(err)
				}
				w.Header()["Set-Cookie"] = res.Header["Set-Cookie"]
				fmt.Fprint(w, body)
				return true
			})
			if got, want := readError(t, t.Context(), u, vsphere.Options{CallTimeout: 5 * impatient}), "HOST: log in: "+name; !strings.HasPrefix(got, want) {
				t.Errorf("Read() = %q, want %q", got, want)
			}
			if after := sessions(t, vc.URL); after != before {
				t.Errorf("%d sessions before the read, %d after", before, after)
			}
		})
	}
}

// TestLargeAnswerMemory checks that what is beyond the bound is not kept.
func TestLargeAnswerMemory(t *testing.T) {
	vc := startLab(t, newFleet(4))
	u := startProxy(t, vc, func(w http.ResponseWriter, r request) bool {
		if r.method != "RetrieveServiceContent" {
			return false
		}
		fmt.Fprint(w, envelope+`<soapenv:Fault><faultcode>x</faultcode><faultstring/><detail><NoPermissionFault xmlns="urn:vim25" xsi:type="NoPermission">`)
		for range 1 << 20 { // 32 MB
			if _, err := fmt.Fprint(w, `<faultMessage><key/></faultMessage>`); err != nil {
				break
			}
		}
		return true
	})
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.TotalAlloc
	readError(t, t.Context(), u, vsphere.Options{CallTimeout: 5 * impatient})
	runtime.ReadMemStats(&m)
	if got := (m.TotalAlloc - before) >> 20; got > 100 {
		t.Errorf("the read allocated %d MB, want less than 100", got)
	}
}

// TestWholeReadInTime checks that a read as a whole has a limit, and not only each call: the server never sends the second page, and the limit of a
// call is far away.
func TestWholeReadInTime(t *testing.T) {
	t.Parallel()
	vc := startLab(t, newFleet(20))
	u := startProxy(t, vc, func(_ http.ResponseWriter, r request) bool {
		if r.method == "ContinueRetrievePropertiesEx" {
			<-r.Context().Done()
			return true
		}
		return false
	})
	const want = "the read as a whole takes longer than 1s"
	got := readError(t, t.Context(), u, vsphere.Options{PageSize: 6, CallTimeout: time.Hour, ReadTimeout: time.Second})
	if !strings.HasSuffix(got, want) { // on a busy machine the limit may be reached before the page
		t.Errorf("Read() = %q, want %q at its end", got, want)
	}
}

// TestViewsDestroyed checks that every view is taken away again.
func TestViewsDestroyed(t *testing.T) {
	vc := startLab(t, newFleet(20))
	var mu sync.Mutex
	made, gone := 0, 0
	u := startProxy(t, vc, func(_ http.ResponseWriter, r request) bool {
		mu.Lock()
		defer mu.Unlock()
		switch r.method {
		case "CreateContainerView":
			made++
		case "DestroyView":
			gone++
		}
		return false
	})
	if _, err := vsphere.Read(t.Context(), u, vsphere.Options{PageSize: 6}); err != nil {
		t.Fatal(err)
	}
	if made == 0 || gone != made {
		t.Errorf("%d views made, %d destroyed", made, gone)
	}
}
