package queue

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// The tests here kill real processes as kill -9 does: a queue, workers, and the one that
// collects. What is collected has every task once, in order, as transcript says.

func faults(t *testing.T) (url string, server *child, store string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts and kills processes")
	}
	store = t.TempDir()
	server = start(t, "server", "127.0.0.1:0", store)
	return strings.TrimPrefix(server.ready, "ready "), server, store
}

// collected waits for what the collecting process wrote.
func collected(t *testing.T, p *child, file string) []byte {
	t.Helper()
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("collect: %v", err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func checkTranscript(t *testing.T, got []byte) {
	t.Helper()
	if want := transcript(fakes()); !bytes.Equal(got, want) {
		t.Error(firstDifference(got, want))
	}
}

func checkNothingLeft(t *testing.T, url string) {
	t.Helper()
	if n := left(t, dial(t, Access{URL: url})); n != 0 {
		t.Errorf("%d messages are left in the queue, want 0", n)
	}
}

// One worker dies in the middle of a task, one between storing a result and
// acknowledging the task.
func TestKillWorkers(t *testing.T) {
	t.Parallel()
	url, _, _ := faults(t)
	file := tempFile(t)
	inTheMiddle := start(t, "worker", url, "")
	afterStoring := start(t, "worker-dies-after-store", url, "")
	start(t, "worker", url, "")
	collecting := start(t, "collect", url, file)
	inTheMiddle.wait(t, "began")
	inTheMiddle.kill()
	afterStoring.wait(t, "stored")
	afterStoring.kill()
	checkTranscript(t, collected(t, collecting, file))
	checkNothingLeft(t, url)
}

// The collecting process dies and is started again: what was done stays done.
func TestKillCollector(t *testing.T) {
	t.Parallel()
	url, _, _ := faults(t)
	file := tempFile(t)
	first := start(t, "collect", url, file)
	worker := start(t, "worker", url, "")
	for range 20 {
		worker.wait(t, "began")
	}
	first.kill()
	second := start(t, "collect", url, file)
	checkTranscript(t, collected(t, second, file))
	checkNothingLeft(t, url)
	worker.kill()
	if got := len(worker.runs()); got != len(fakes()) {
		t.Errorf("%d tasks were done, want each of %d once", got, len(fakes()))
	}
}

// The queue dies and is started again on its store.
func TestKillServer(t *testing.T) {
	t.Parallel()
	url, server, store := faults(t)
	file := tempFile(t)
	workers := []*child{start(t, "worker", url, ""), start(t, "worker", url, ""), start(t, "worker", url, "")}
	collecting := start(t, "collect", url, file)
	for range 5 {
		workers[0].wait(t, "began")
	}
	server.kill()
	start(t, "server", strings.TrimPrefix(url, "nats://"), store)
	checkTranscript(t, collected(t, collecting, file))
	checkNothingLeft(t, url)
}

// The queue dies and is started again without its store.
func TestLoseStore(t *testing.T) {
	t.Parallel()
	url, server, _ := faults(t)
	file := tempFile(t)
	worker := start(t, "worker", url, "")
	collecting := start(t, "collect", url, file)
	for range 5 {
		worker.wait(t, "began")
	}
	server.kill()
	start(t, "server", strings.TrimPrefix(url, "nats://"), t.TempDir())
	checkTranscript(t, collected(t, collecting, file))
	checkNothingLeft(t, url)
}

// A task over which every worker dies counts as failed after some, and the others are
// done.
func TestPoison(t *testing.T) {
	t.Parallel()
	url, _, _ := faults(t)
	list := fakes()[:6]
	list[2] = fakeTask{Seed: 2, Die: true}
	c, err := Dial(t.Context(), Access{URL: url, AckWait: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
	defer cancel()
	go func() { // workers that are started again when they die
		for ctx.Err() == nil {
			_ = startQuietly(ctx, "worker", url).Wait() // they die: that is the test
		}
	}()
	got, err := collect(ctx, c, tasksOf(list))
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	list[2] = fakeTask{Fail: "5 workers died over it"}
	if want := transcript(list); !bytes.Equal(got, want) {
		t.Error(firstDifference(got, want))
	}
}
