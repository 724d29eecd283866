package queue

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"
)

// workers starts n workers in this process; they stop with the test.
func workers(t testing.TB, n int, url string, h Handler) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range n {
		c := dial(t, Access{URL: url})
		all.Go(func() {
			if err := c.Work(ctx, WorkOptions{Name: "w", Handlers: map[string]Handler{"fake": h}}); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		all.Wait()
	})
}

func TestCollect(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	workers(t, 3, url, fake)
	c := dial(t, Access{URL: url})
	for range 2 { // the second time nothing is left of the first
		got, err := collect(t.Context(), c, fakeTasks())
		if err != nil {
			t.Fatal(err)
		}
		if want := transcript(fakes()); !bytes.Equal(got, want) {
			t.Errorf("collected %d bytes, want %d: %s", len(got), len(want), firstDifference(got, want))
		}
		if n := left(t, c); n != 0 {
			t.Errorf("%d messages are left in the queue, want 0", n)
		}
	}
}

func firstDifference(got, want []byte) string {
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			return "line " + string(g[i][:min(80, len(g[i]))]) + ", want " + string(w[i][:min(80, len(w[i]))])
		}
	}
	return "one is the beginning of the other"
}

// Two runs on one queue at a time, with tasks that are the same, do not mix.
func TestTwoRuns(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	workers(t, 2, url, fake)
	var both sync.WaitGroup
	for _, list := range [][]fakeTask{fakes()[:30], fakes()[20:50]} {
		c := dial(t, Access{URL: url})
		both.Go(func() {
			got, err := collect(t.Context(), c, tasksOf(list))
			if err != nil {
				t.Error(err)
			}
			if want := transcript(list); !bytes.Equal(got, want) {
				t.Error(firstDifference(got, want))
			}
		})
	}
	both.Wait()
	if n := left(t, dial(t, Access{URL: url})); n != 0 {
		t.Errorf("%d messages are left in the queue, want 0", n)
	}
}

// Two collectors of the same tasks share the work, and the one that ends first does not
// take it from the other.
func TestSameRunTwice(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	workers(t, 2, url, fake)
	var both sync.WaitGroup
	for range 2 {
		c := dial(t, Access{URL: url})
		both.Go(func() {
			got, err := collect(t.Context(), c, fakeTasks())
			if err != nil {
				t.Error(err)
			}
			if want := transcript(fakes()); !bytes.Equal(got, want) {
				t.Error(firstDifference(got, want))
			}
		})
	}
	both.Wait()
}

// A task that a worker refuses goes to another worker; its reason is told.
func TestRefusal(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	said := make(chan string, 1000)
	c := dial(t, Access{URL: url, Log: func(s string) { said <- s }})
	workers(t, 1, url, func(context.Context, []byte) ([]byte, error) {
		return nil, &Refusal{Reason: "a.csv: no such file"}
	})
	told := make(chan bool, 1)
	go func() {
		for s := range said {
			if s == "worker w gave a task back: a.csv: no such file" {
				told <- true
				workers(t, 1, url, fake)
			}
		}
	}()
	list := fakes()[:4]
	got, err := collect(t.Context(), c, tasksOf(list))
	if err != nil {
		t.Fatal(err)
	}
	if want := transcript(list); !bytes.Equal(got, want) {
		t.Error(firstDifference(got, want))
	}
	if len(told) != 1 {
		t.Error("the reason of the worker was not told once")
	}
}

// A task that is refused with good reason fails with what the collector finds.
func TestRefusalConfirmed(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	workers(t, 1, url, func(context.Context, []byte) ([]byte, error) { return nil, &Refusal{Reason: "mtime"} })
	c := dial(t, Access{URL: url})
	opt := CollectOptions{Check: func(Task, string) error { return &Refusal{Reason: "a.csv changed since it was listed"} }}
	var got Outcome
	err := c.Collect(t.Context(), fakeTasks()[:1], opt, func(_ int, out Outcome) error { got = out; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if want := "a.csv changed since it was listed"; got.Failed != want || got.Result != nil {
		t.Errorf("the outcome is %+v, want the failure %q", got, want)
	}
	if n := left(t, c); n != 0 {
		t.Errorf("%d messages are left in the queue, want 0", n)
	}
}

// A worker that is told to stop gives its task back at once: it does not wait for
// another one until its time is over.
func TestStop(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	began := make(chan bool, 10)
	ctx, stop := context.WithCancel(context.Background())
	slow := dial(t, Access{URL: url, AckWait: time.Hour})
	ended := make(chan error)
	go func() {
		ended <- slow.Work(ctx, WorkOptions{Name: "slow", Handlers: map[string]Handler{"fake": func(ctx context.Context, _ []byte) ([]byte, error) {
			began <- true
			<-ctx.Done()
			return nil, ctx.Err()
		}}})
	}()
	c := dial(t, Access{URL: url})
	list := fakes()[:1]
	var got []byte
	collected := make(chan error)
	go func() {
		var err error
		got, err = collect(context.Background(), c, tasksOf(list))
		collected <- err
	}()
	<-began
	stop()
	if err := <-ended; err != nil {
		t.Errorf("a worker that was told to stop returned %v, want nil", err)
	}
	workers(t, 1, url, fake)
	if err := <-collected; err != nil {
		t.Fatal(err)
	}
	if want := transcript(list); !bytes.Equal(got, want) {
		t.Error(firstDifference(got, want))
	}
}

// Progress counts to the end, and says when there are no workers.
func TestProgress(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	c := dial(t, Access{URL: url})
	var seen []Progress
	err := c.Collect(t.Context(), fakeTasks()[:3], CollectOptions{Progress: func(p Progress) {
		seen = append(seen, p)
		if len(seen) == 1 {
			workers(t, 1, url, fake)
		}
	}}, func(int, Outcome) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) == 0 || seen[0] != (Progress{Total: 3}) {
		t.Errorf("the first progress is %+v, want 0 of 3 without a worker", seen)
	}
}

// What the store lost is put there again.
func TestLostStreams(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	c := dial(t, Access{URL: url})
	other := dial(t, Access{URL: url})
	list := fakes()[:8]
	var once sync.Once
	var got bytes.Buffer
	workers(t, 1, url, fake)
	err := c.Collect(t.Context(), tasksOf(list), CollectOptions{}, func(i int, out Outcome) error {
		once.Do(func() {
			for _, name := range []string{workStream, resultStream} {
				if err := other.js.DeleteStream(t.Context(), name); err != nil {
					t.Error(err)
				}
			}
		})
		got.Write(out.Result)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for i := range list {
		want.Write(list[i].bytes())
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("the results are not those of the tasks, each once")
	}
}

// A task whose worker stored the result and died is not worked out again.
func TestStoredTask(t *testing.T) {
	t.Parallel()
	c := dial(t, Access{URL: serve(t, ServerOptions{})})
	tasks := fakeTasks()[:1]
	k := &collector{Client: c, run: runOf(tasks), tasks: tasks}
	if err := k.store(t.Context(), k.run, tasks[0].ID, k.key, Outcome{Result: []byte("stored")}); err != nil {
		t.Fatal(err)
	}
	if err := k.post(t.Context(), []int{0}); err != nil {
		t.Fatal(err)
	}
	w := &worker{Client: c, opt: WorkOptions{Handlers: map[string]Handler{"fake": func(context.Context, []byte) ([]byte, error) {
		t.Error("it is worked out again")
		return nil, nil
	}}}}
	msg, err := w.take(t.Context())
	if err != nil || msg == nil {
		t.Fatalf("took %v, %v; want the task", msg, err)
	}
	if gaveBack, err := w.do(t.Context(), msg); gaveBack || err != nil {
		t.Errorf("did the task: given back %v, error %v", gaveBack, err)
	}
	if n := left(t, c); n != 1 {
		t.Errorf("%d messages are left, want the result alone", n)
	}
	if out, err := c.load(t.Context(), k.run, tasks[0].ID, k.key); err != nil || string(out.Result) != "stored" {
		t.Errorf("the result is %q, %v; want the stored one", out.Result, err)
	}
}
