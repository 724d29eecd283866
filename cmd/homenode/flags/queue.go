package flags

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/internal/queue"
	"homenode/rules/rule"
	"homenode/source/open/vcenter"
)

// TokenVariable holds the token of a queue.
const TokenVariable = "HOMENODE_QUEUE_TOKEN"

// QueueToken returns the token in a file, or else that of the environment; empty for
// none.
func QueueToken(file string) (string, error) {
	if file == "" {
		return os.Getenv(TokenVariable), nil
	}
	b, err := vcenter.ReadSecret(file)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s: want one word, the token", file)
	}
	return token, nil
}

// Teller returns what prints messages of a queue.
func Teller(cmd *cobra.Command) func(string) {
	w := cmd.ErrOrStderr()
	return func(text string) { fmt.Fprintf(w, "homenode: %s\n", ErrorText(errors.New(text))) }
}

// Queue has the flags of commands that use a queue.
type Queue struct {
	URL       string
	tokenFile string
	creds     string
	ca        string
}

// Register adds the flags to a command.
func (q *Queue) Register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&q.URL, "queue", "", "nats://host:port or tls://host:port of a homenode queue or a NATS server with JetStream")
	fl.StringVar(&q.tokenFile, "token-file", "", "file with mode 0600 that holds the token of the queue (or "+TokenVariable+")")
	fl.StringVar(&q.creds, "creds", "", "credentials file of a NATS server")
	fl.StringVar(&q.ca, "queue-ca", "", "file of the certificate authority of the queue; without it those of the system")
}

// Dial connects to the queue. Its messages go to say.
func (q *Queue) Dial(cmd *cobra.Command, say func(string)) (*queue.Client, error) {
	token, err := QueueToken(q.tokenFile)
	if err != nil {
		return nil, err
	}
	if q.creds != "" {
		if _, err := vcenter.ReadSecret(q.creds); err != nil {
			return nil, err
		}
	}
	role := queue.Collects
	if cmd.Name() == "work" {
		role = queue.Works
	}
	return queue.Dial(cmd.Context(), queue.Access{URL: q.URL, Role: role, Token: token, Creds: q.creds, CA: q.ca, Name: "homenode " + cmd.Name() + " " + ProcessName(), Log: say})
}

// ProcessName tells processes on all machines apart.
func ProcessName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}

// A QueueProgress shows how far an archive or a sweep is: on one line of a terminal, elsewhere a
// line a minute.
type QueueProgress struct {
	w        io.Writer
	did      string // to how many of what
	noun     string
	start    string // the command of a worker
	terminal bool
	Workers  bool // of a queue
	began    time.Time
	shown    time.Time
}

// NewQueueProgress returns one that says what was done to how many of a noun; start is the
// command of a worker.
func NewQueueProgress(cmd *cobra.Command, did, noun, start string) *QueueProgress {
	w := cmd.ErrOrStderr()
	return &QueueProgress{w: w, did: did, noun: noun, start: start, terminal: IsTerminal(w), began: time.Now()}
}

// Show shows it, some times a second at most.
func (p *QueueProgress) Show(now queue.Progress) {
	every := time.Minute
	if p.terminal {
		every = time.Second / 4
	}
	if time.Since(p.shown) < every || time.Since(p.began) < time.Second {
		return
	}
	p.shown = time.Now()
	text := fmt.Sprintf("%s %d of %s", p.did, now.Done, rule.Plural(now.Total, p.noun))
	switch {
	case p.Workers && now.Taken == 0 && now.Waiting == 0 && now.Done < now.Total:
		text += "; no worker is there: start " + p.start
	case p.Workers && now.Done < now.Total:
		text += fmt.Sprintf("; workers have taken %d", now.Taken)
	}
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintf(p.w, "homenode: %s\n", text)
}

// Clear makes room on a terminal.
func (p *QueueProgress) Clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
