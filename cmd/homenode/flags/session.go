package flags

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"example.org/homenode/ask"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/version"
	"example.org/homenode/numa"
	"example.org/homenode/source/open"
	"example.org/homenode/source/open/vcenter"
	"example.org/homenode/source/vsphere"
)

// A Session has the flags about connecting to vCenters.
type Session struct {
	insecure        bool
	credentialsFile string
}

// SessionNames are the names of these flags.
var SessionNames = []string{"credentials", "insecure"}

// Register adds the flags to a command.
func (f *Session) Register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.credentialsFile, "credentials", "", "file of lines \"host user password\" (mode 0600); \"* user password\" is for every vCenter without a line")
	fl.BoolVar(&f.insecure, "insecure", false, "accept any certificate (GOVC_INSECURE)")
}

// Dialer returns the options for connecting to vCenters.
func (f *Session) Dialer(cmd *cobra.Command) vcenter.Options {
	return vcenter.Options{
		Options:         vsphere.Options{Insecure: f.insecure},
		Env:             os.Getenv,
		CredentialsFile: f.credentialsFile,
		Ask:             func(host string, a *vcenter.Account) error { return askAccount(cmd, host, a) },
	}
}

// Env returns the resources for reading sources.
func (f *Session) Env(cmd *cobra.Command) *ask.Env {
	return &ask.Env{
		Open: func(ctx context.Context, sources []string, o open.Options) (*numa.Fleet, []numa.Note, error) {
			o.Dial = f.Dialer(cmd).Dial
			if w := cmd.ErrOrStderr(); IsTerminal(w) {
				o.Progress = func(s open.Step) { showProgress(w, s) }
			}
			return open.Fleet(ctx, sources, o)
		},
		In: cmd.InOrStdin(), Today: time.Now(), Version: version.String(), Flags: given(cmd, "config", "credentials", "insecure"),
		Warn:     func(text string) { Warn(cmd.ErrOrStderr(), text) },
		Progress: func(did, noun string) (func(done, total int), func()) { return progress(cmd, did, noun) },
	}
}

// showProgress shows the progress of reading sources on one line of a terminal.
func showProgress(w io.Writer, s open.Step) {
	const clear = "\r\x1b[K"
	if s.Stage == "" {
		fmt.Fprint(w, clear)
		return
	}
	line := fmt.Sprintf("read %s %d of %d", s.Stage, s.Done, s.Total)
	if s.Sources > 1 {
		line = fmt.Sprintf("%s: %s (%d of %d sources done)", texttab.Clean(s.Source), line, s.Ended, s.Sources)
	}
	fmt.Fprint(w, clear+line)
	if s.Done >= s.Total {
		fmt.Fprint(w, clear)
	}
}

// askAccount prompts for missing credentials.
func askAccount(cmd *cobra.Command, host string, a *vcenter.Account) error {
	ctx, w := cmd.Context(), cmd.ErrOrStderr()
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return fmt.Errorf("%s: no credentials: set GOVC_USERNAME and GOVC_PASSWORD, or pass --credentials", host)
	}
	if a.User == "" {
		fmt.Fprintf(w, "user for %s: ", host)
		line, err := reply(ctx, func() (string, error) { return bufio.NewReader(in).ReadString('\n') })
		if err != nil {
			return err
		}
		a.User = strings.TrimSpace(line)
	}
	if a.Password != "" {
		return nil
	}
	fd := int(in.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "password for %s at %s: ", a.User, host)
	a.Password, err = reply(ctx, func() (string, error) {
		b, err := term.ReadPassword(fd)
		return string(b), err
	})
	fmt.Fprintln(w)
	if ctx.Err() != nil {
		// Ctrl-C during the prompt must not leave the terminal without echo.
		return errors.Join(ctx.Err(), term.Restore(fd, state))
	}
	return err
}

// reply returns the result of read, or the error of ctx if that ends first. A read from a
// terminal cannot be interrupted; its goroutine remains until the process ends.
func reply(ctx context.Context, read func() (string, error)) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1) // buffered: the receiver may be gone
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-done:
		return r.text, r.err
	}
}
