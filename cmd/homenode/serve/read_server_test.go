package serve

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestServerBounds sends a body that never ends, and an address that is too long.
func TestServerBounds(t *testing.T) {
	h := newServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	if h.ReadTimeout <= 0 || h.ReadTimeout > 2*time.Minute {
		t.Fatalf("a body may take %v", h.ReadTimeout)
	}
	h.ReadTimeout = 200 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = h.Serve(l) }()
	defer func() { _ = h.Close() }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := fmt.Fprint(c, "POST /captures HTTP/1.1\r\nHost: x\r\nContent-Length: 8000\r\n\r\nname=a"); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("the connection is held: %v", err)
	}
	for size, want := range map[int]int{30_000: http.StatusOK, 100_000: http.StatusRequestHeaderFieldsTooLarge} {
		res, err := http.Get("http://" + l.Addr().String() + "/?x=" + strings.Repeat("a", size))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("an address of %d bytes: %s", size, res.Status)
		}
	}
}
