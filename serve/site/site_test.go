package site

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/turns"
	"example.org/homenode/serve/captures"
	"example.org/homenode/serve/held"
)

// get returns what the site answers.
func get(t *testing.T, s *Site, address string) (status int, header http.Header, body string) {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, h := range s.Handlers() {
		mux.Handle(pattern, h)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	return w.Code, w.Result().Header, w.Body.String()
}

func TestNoFleet(t *testing.T) {
	s := &Site{Fleets: func() []*held.Fleet { return nil }}
	for address, want := range map[string]int{
		"/": http.StatusServiceUnavailable, "/vm?vm=x": http.StatusServiceUnavailable, "/?fleet=vc09": http.StatusNotFound, "/nosuch": http.StatusNotFound, "/calculator?vm=@/etc/passwd": http.StatusBadRequest,
	} {
		if status, _, body := get(t, s, address); status != want || !strings.Contains(body, "<h1>") {
			t.Errorf("%s: status %d, want %d\n%s", address, status, want, body)
		}
	}
}

// TestLongSearch refuses a search that would look for thousands of words in every name.
func TestLongSearch(t *testing.T) {
	s := &Site{Fleets: func() []*held.Fleet { return nil }}
	for words, want := range map[int]int{400: http.StatusOK, 30_000: http.StatusBadRequest} {
		if status, _, body := get(t, s, "/search?q="+strings.Repeat("a+", words)); status != want {
			t.Errorf("%d words: status %d, want %d\n%s", words, status, want, body)
		}
	}
}

func TestEscaped(t *testing.T) {
	status, header, body := get(t, &Site{Fleets: func() []*held.Fleet { return nil }}, `/calculator?vcpus=%22%3E%3Cscript%3E`)
	if status != http.StatusBadRequest || strings.Contains(body, "<script>") || !strings.Contains(body, "&lt;script&gt;") {
		t.Errorf("status %d\n%s", status, body)
	}
	if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self';") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
}

// TestUploadOfOthers says what a file lacks that is no capture, names the command for it, and keeps nothing.
func TestUploadOfOthers(t *testing.T) {
	shelf, err := captures.Open("", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer shelf.Close()
	s := &Site{Fleets: func() []*held.Fleet { return nil }, Captures: shelf}
	for name, text := range map[string]string{"export.xlsx": "PK\x03\x04", "vms.csv": "Name,NumCpu,MemoryMB\ndb01,8,4096\n", "fleet.txt": "host h nodes=2 cores=18 memory=512GB\n",
		"RVTools_tabvInfo.csv": "VM,CPUs\ndb01,8\n", "lscpu.txt": "NUMA node(s): 1\nCPU(s): 2\nOn-line CPU(s) list: 0-1\n", "attr.xml": "<domain type='kvm'><name>db01</name><vcpu>8</vcpu></domain>\n"} {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("file", name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte(text))
		_ = form.Close()
		r := httptest.NewRequest(http.MethodPost, "/captures", &body)
		r.Header.Set("Content-Type", form.FormDataContentType())
		w := httptest.NewRecorder()
		s.upload(w, r)
		all, _, err := shelf.List()
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "has no counters over time") || !strings.Contains(w.Body.String(), "homenode ") || strings.Contains(w.Body.String(), "of the command "+name[:4]) || len(all) > 0 || err != nil {
			t.Errorf("%s: status %d, %d kept, %v\n%s", name, w.Code, len(all), err, w.Body)
		}
	}
}

// TestOneUploadRead reads one upload at a time: another one is kept, and read when it is shown.
func TestOneUploadRead(t *testing.T) {
	before := reading
	reading = turns.New(1, 0)
	t.Cleanup(func() { reading = before })
	end, err := reading.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{http.StatusSeeOther, http.StatusBadRequest} { // while another is read, and after it
		shelf, err := captures.Open("", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer shelf.Close()
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("file", "disks.csv")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte("\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\e\\Physical Disk(v1)\\Reads/sec\"\n\"11/21/2026 10:00:00\",\"1\"\n"))
		_ = form.Close()
		r := httptest.NewRequest(http.MethodPost, "/captures", &body)
		r.Header.Set("Content-Type", form.FormDataContentType())
		w := httptest.NewRecorder()
		s := &Site{Fleets: func() []*held.Fleet { return nil }, Captures: shelf}
		s.upload(w, r)
		if w.Code != want {
			t.Errorf("status %d, want %d\n%s", w.Code, want, w.Body)
		}
		if end != nil {
			end()
			end = nil
		}
	}
}

// TestUploadTooLarge takes no capture that is larger than the limit.
func TestUploadTooLarge(t *testing.T) {
	shelf, err := captures.Open("", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer shelf.Close()
	s := &Site{Fleets: func() []*held.Fleet { return nil }, Captures: shelf}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "large.csv")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write(make([]byte, 2<<20))
	_ = form.Close()
	r := httptest.NewRequest(http.MethodPost, "/captures", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	w := httptest.NewRecorder()
	s.upload(w, r)
	if want := "larger than this server takes: at most 1 MB"; w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
		t.Errorf("status %d, want %q\n%s", w.Code, want, w.Body)
	}
}

// TestOneFile offers homenode.html where there is one, and does not name it where there is none.
func TestOneFile(t *testing.T) {
	s := &Site{Fleets: func() []*held.Fleet { return nil }}
	if status, _, body := get(t, s, "/"+oneFile); status != http.StatusNotFound || strings.Contains(body, `href="/`+oneFile) {
		t.Errorf("without the file: status %d\n%s", status, body)
	}
	s.OneFile = filepath.Join(t.TempDir(), oneFile)
	golden.Write(t, s.OneFile, []byte("the page"))
	status, header, body := get(t, s, "/"+oneFile)
	if status != http.StatusOK || body != "the page" || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment;") {
		t.Errorf("status %d, %v, %q", status, header, body)
	}
	if _, _, body := get(t, s, "/calculator"); !strings.Contains(body, `href="/`+oneFile+`" download`) {
		t.Errorf("the footer does not offer it:\n%s", body)
	}
}
