package queue

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// TestFullStore ends the store as a full disk does, in the middle of a run: the queue and the
// one that collects say so, and go on when there is room.
func TestFullStore(t *testing.T) {
	servers := make(chan *server.Server, 1)
	started = func(s *server.Server) { servers <- s }
	defer func() { started = func(*server.Server) {} }()
	var mu sync.Mutex
	said := ""
	say := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said += text + "\n"
		println(text)
	}
	store := t.TempDir()
	small := os.Getenv("HOMENODE_TEST_SMALL_DISK") // an empty file system of some 20 MB
	if small != "" {
		store = filepath.Join(small, "store")
	}
	url := serve(t, ServerOptions{Store: store, Log: say})
	c := dial(t, Access{URL: url, Log: say})
	s := <-servers
	if small != "" {
		fill := filepath.Join(small, "fill")
		if err := os.WriteFile(fill, make([]byte, 64<<20), 0o600); err == nil {
			t.Fatal("the disk is not small")
		}
		time.AfterFunc(8*time.Second, func() { os.Remove(fill) })
	} else if err := s.ShutdownJetStream(); err != nil {
		t.Fatal(err)
	}
	workers(t, 1, url, fake)
	list := fakes()[:20]
	got, err := collect(t.Context(), c, tasksOf(list))
	if err != nil {
		t.Fatal(err)
	}
	if want := transcript(list); !bytes.Equal(got, want) {
		t.Error(firstDifference(got, want))
	}
	time.Sleep(3 * time.Second) // the queue looks every 2 seconds
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"the store " + store + " takes nothing more", "the store " + store + " takes tasks and results again"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q was not said, but\n%s", want, said)
		}
	}
}
