package queue

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes the test binary the processes of a queue too, so that tests can kill
// them: the role is in the environment.
func TestMain(m *testing.M) {
	role := os.Getenv("HOMENODE_QUEUE_TEST_ROLE")
	if role == "" {
		os.Exit(m.Run())
	}
	// A process whose test died does not stay.
	time.AfterFunc(time.Minute, func() { os.Exit(3) })
	if err := play(role); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(2)
	}
}

func play(role string) error {
	ctx := context.Background()
	url, arg := os.Getenv("HOMENODE_QUEUE_TEST_URL"), os.Getenv("HOMENODE_QUEUE_TEST_ARG")
	if role == "server" {
		return Serve(ctx, ServerOptions{Listen: url, Store: arg}, func(url string) { fmt.Println("ready", url) })
	}
	c, err := Dial(ctx, Access{URL: url, AckWait: testAckWait})
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println("ready")
	switch role {
	case "worker":
		return c.Work(ctx, WorkOptions{Name: "w", Handlers: map[string]Handler{"fake": fake}})
	case "worker-dies-after-store":
		afterStore = func() {
			fmt.Println("stored")
			select {} // until the test kills it
		}
		return c.Work(ctx, WorkOptions{Name: "w", Handlers: map[string]Handler{"fake": fake}})
	case "collect":
		out, err := collect(ctx, c, fakeTasks())
		if err != nil {
			return err
		}
		return os.WriteFile(arg, out, 0o600)
	}
	return fmt.Errorf("no role %q", role)
}

// testAckWait is short enough for a test and long enough for three signs of life on a
// busy machine.
const testAckWait = 2 * time.Second

// A fakeTask stands for a file: Size bytes that Seed gives, after Pause.
type fakeTask struct {
	Seed  uint64        `json:"seed"`
	Size  int           `json:"size"`
	Pause time.Duration `json:"pause"`
	Fail  string        `json:"fail,omitempty"`
	Die   bool          `json:"die,omitempty"`
}

func fake(ctx context.Context, payload []byte) ([]byte, error) {
	var f fakeTask
	if err := json.Unmarshal(payload, &f); err != nil {
		return nil, err
	}
	fmt.Println("began", f.Seed)
	if f.Die {
		os.Exit(7)
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(f.Pause):
	}
	if f.Fail != "" {
		return nil, errors.New(f.Fail)
	}
	return f.bytes(), nil
}

func (f *fakeTask) bytes() []byte {
	b := make([]byte, f.Size)
	r := rand.New(rand.NewPCG(f.Seed, 0))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// fakes is an archive: small files, some slow, one whose result takes several messages,
// one that cannot be read.
func fakes() []fakeTask {
	var list []fakeTask
	for i := range 60 {
		f := fakeTask{Seed: uint64(i), Size: 200 + i, Pause: time.Duration(i%5) * 20 * time.Millisecond}
		switch i {
		case 7:
			f.Size = 3<<20 + 5
		case 11:
			f.Fail = "found no header"
		}
		list = append(list, f)
	}
	return list
}

func fakeTasks() []Task { return tasksOf(fakes()) }

func tasksOf(list []fakeTask) []Task {
	var out []Task
	for _, f := range list {
		t, err := NewTask("fake", f)
		if err != nil {
			panic(err)
		}
		out = append(out, t)
	}
	return out
}

// transcript is what collect returns for these tasks: every outcome once, in order.
func transcript(list []fakeTask) []byte {
	var b bytes.Buffer
	for i := range list {
		if list[i].Fail != "" {
			fmt.Fprintf(&b, "%d failed %s\n", i, list[i].Fail)
			continue
		}
		fmt.Fprintf(&b, "%d %x\n", i, list[i].bytes())
	}
	return b.Bytes()
}

func collect(ctx context.Context, c *Client, tasks []Task) ([]byte, error) {
	var b bytes.Buffer
	err := c.Collect(ctx, tasks, CollectOptions{}, func(i int, out Outcome) error {
		if out.Failed != "" {
			fmt.Fprintf(&b, "%d failed %s\n", i, out.Failed)
		} else {
			fmt.Fprintf(&b, "%d %x\n", i, out.Result)
		}
		return nil
	})
	return b.Bytes(), err
}

// serve starts a queue in this process and returns its URL.
func serve(t testing.TB, o ServerOptions) string {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Store == "" {
		o.Store = t.TempDir()
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- Serve(ctx, o, func(url string) { ready <- url }) }()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	select {
	case url := <-ready:
		return url
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
		return ""
	}
}

func dial(t testing.TB, a Access) *Client {
	t.Helper()
	if a.AckWait == 0 {
		a.AckWait = testAckWait
	}
	c, err := Dial(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// left returns how many messages the queue holds.
func left(t testing.TB, c *Client) (n uint64) {
	t.Helper()
	for _, name := range []string{workStream, resultStream} {
		s, err := c.js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		n += s.CachedInfo().State.Msgs
	}
	return n
}

// A child is a process of a test.
type child struct {
	cmd   *exec.Cmd
	lines chan string
	read  chan bool // closed when it says no more
	ready string    // what it said when it was
	began []string  // tasks, as far as read
}

func command(ctx context.Context, role, url, arg string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), "HOMENODE_QUEUE_TEST_ROLE="+role, "HOMENODE_QUEUE_TEST_URL="+url, "HOMENODE_QUEUE_TEST_ARG="+arg)
	cmd.Stderr = os.Stderr
	return cmd
}

// startQuietly runs the test binary in a role until ctx ends.
func startQuietly(ctx context.Context, role, url string) *exec.Cmd {
	cmd := command(ctx, role, url, "")
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

// start runs the test binary in a role and waits until it says that it is ready.
func start(t *testing.T, role, url, arg string) *child {
	t.Helper()
	cmd := command(context.Background(), role, url, arg)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &child{cmd: cmd, lines: make(chan string, 1000), read: make(chan bool)}
	go func() {
		in := bufio.NewScanner(out)
		for in.Scan() {
			p.lines <- in.Text()
		}
		close(p.lines)
		close(p.read)
	}()
	t.Cleanup(p.kill)
	p.ready = p.wait(t, "ready")
	return p
}

// wait reads what the process says until a line begins with word.
func (p *child) wait(t *testing.T, word string) string {
	t.Helper()
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("the process ended before it said %q", word)
			}
			p.note(line)
			if strings.HasPrefix(line, word) {
				return line
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("the process did not say %q", word)
		}
	}
}

// kill ends the process as kill -9 does.
func (p *child) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Signal(syscall.SIGKILL) // it may have ended by itself
		<-p.read                                  // Wait closes what is not read yet
		_ = p.cmd.Wait()                          // its status is that of a killed one
	}
}

// note keeps which task a process begins.
func (p *child) note(line string) {
	if task, ok := strings.CutPrefix(line, "began "); ok {
		p.began = append(p.began, task)
	}
}

// runs returns the tasks that a process began before it was killed.
func (p *child) runs() []string {
	for line := range p.lines {
		p.note(line)
	}
	return p.began
}

func tempFile(t *testing.T) string { return filepath.Join(t.TempDir(), "out") }
