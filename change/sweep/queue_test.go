package sweep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"homenode/internal/queue"
)

// TestMain makes the test binary the processes of a queue too, so that tests can kill
// them: the role is in the environment.
func TestMain(m *testing.M) {
	role := os.Getenv("HOMENODE_SWEEP_TEST_ROLE")
	if role == "" {
		os.Exit(m.Run())
	}
	// A process whose test died does not stay.
	time.AfterFunc(2*time.Minute, func() { os.Exit(3) })
	if err := play(role, os.Getenv("HOMENODE_SWEEP_TEST_ARG")); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(2)
	}
}

func play(role, arg string) error {
	ctx := context.Background()
	if role == "server" {
		return queue.Serve(ctx, queue.ServerOptions{Listen: "127.0.0.1:0", Store: arg}, func(url string) { fmt.Println(url) })
	}
	c, err := queue.Dial(ctx, queue.Access{URL: arg, AckWait: ackWait})
	if err != nil {
		return err
	}
	defer c.Close()
	h := Handlers("test", c.Input)
	inner := h[Kind]
	n := 0
	h[Kind] = func(ctx context.Context, payload []byte) ([]byte, error) {
		fmt.Println("began")
		if n++; n > 1 && role == "slow" {
			select {} // until the test kills it
		}
		return inner(ctx, payload)
	}
	return c.Work(ctx, queue.WorkOptions{Name: role, Handlers: h})
}

// ackWait is short enough for a test and long enough for a sign of life on a busy machine.
const ackWait = 2 * time.Second

// start runs the test binary in a role until the test ends, and returns its lines.
func start(t *testing.T, role, arg string) (cmd *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self)
	cmd.Env = append(os.Environ(), "HOMENODE_SWEEP_TEST_ROLE="+role, "HOMENODE_SWEEP_TEST_ARG="+arg)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	return cmd, bufio.NewScanner(out)
}

// kill ends a process as kill -9 does.
func kill(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended by itself
		_ = cmd.Wait()                          // its status is that of a killed one
	}
}

// TestQueue shares a sweep between two processes, of which one is killed in the middle of
// its second point: the bytes are those of this process alone.
func TestQueue(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes")
	}
	p := newPlan(t, "vm=web* vcpus=2,4,8", "nodesPerSocket=today,2,3", "seed=1..2")
	want := transcript(t, do(t, p, How{}))
	_, lines := start(t, "server", t.TempDir())
	if !lines.Scan() {
		t.Fatal("the queue did not start")
	}
	url := lines.Text()
	slow, began := start(t, "slow", url)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := queue.Dial(ctx, queue.Access{URL: url, AckWait: ackWait})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	type outcome struct {
		r   *Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := p.Run(ctx, How{Queue: c})
		done <- outcome{r, err}
	}()
	for range 2 {
		if !began.Scan() {
			t.Fatal("the first worker did not begin")
		}
	}
	kill(slow)
	start(t, "fast", url)
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	if transcript(t, got.r) != want {
		t.Error("the sweep by a queue is another one than that of one process")
	}
	var refusal *queue.Refusal
	if _, err := c.Input(ctx, queue.NewInput(encoded(t, p.Story)).ID); !errors.As(err, &refusal) {
		t.Errorf("the story is still in the queue: %v", err)
	}
}

// TestHandler checks what a worker does with tasks that it cannot do.
func TestHandler(t *testing.T) {
	p := newPlan(t, "seed=1..2")
	body := encoded(t, p.Story)
	id := queue.NewInput(body).ID
	h := Handlers("test", func(_ context.Context, asked string) ([]byte, error) {
		if asked != id {
			return nil, &queue.Refusal{Reason: "gone"}
		}
		return body, nil
	})[Kind]
	for _, tt := range []struct{ payload, want string }{
		{`{"options":{"version":"other"}}`, "is homenode test, the task wants other"},
		{`{"options":{"version":"test"},"base":"x"}`, "gone"},
		{`{`, "task: unexpected end of JSON input"},
		{`{"options":{"version":"test","config":"x"},"base":"x"}`, `task: parsing time "" as "2006-01-02": cannot parse "" as "2006"`},
		{`{"options":{"version":"test"},"base":"` + id + `","steps":[{"do":"what-if","text":"vm=web* vcpus=0"}]}`, `found vcpus="0", want a number from 1 to 4096`},
	} {
		if _, err := h(t.Context(), []byte(tt.payload)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.payload, err, tt.want)
		}
	}
}

// TestBaseOnce checks that the story of a sweep is asked for once.
func TestBaseOnce(t *testing.T) {
	p := newPlan(t)
	body := encoded(t, p.Story)
	given := 0
	h := Handlers("test", func(context.Context, string) ([]byte, error) {
		given++
		return body, nil
	})[Kind]
	for range 3 {
		if _, err := h(t.Context(), []byte(`{"options":{"version":"test"},"base":"x"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if given != 1 {
		t.Errorf("the story was asked for %d times, want once", given)
	}
}

// TestConfig checks that workers judge by the configuration of the sweep.
func TestConfig(t *testing.T) {
	p := newPlan(t)
	plain := do(t, p, How{}).Points[0].Runs[0].Record.Findings
	p.Options.ConfigName, p.Options.Today = "homenode.yaml", "2026-03-02"
	p.Options.Config = "severities:\n  " + plain[0].Rule + ": off\n"
	got := do(t, p, How{}).Points[0].Runs[0]
	if got.Failed != "" {
		t.Fatal(got.Failed)
	}
	for _, c := range got.Record.Findings {
		if c.Rule == plain[0].Rule {
			t.Errorf("%+v is there although the rule is off", c)
		}
	}
}
