package main

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

	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules/rule"
	"homenode/source/open"
	"homenode/source/open/vcenter"
	"homenode/source/vsphere"
)

// sourceFlags are the flags of every command that reads a SOURCE.
type sourceFlags struct {
	nodesPerSocket []string
	passwordFile   string
	knownHosts     string
	caCerts        string
	insecure       bool
	timeout        time.Duration
	credentialFile string
	assumeHost     string
	evidence       []string

	failed int // sources that could not be read; set by read
}

func (f *sourceFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.nodesPerSocket, "nodes-per-socket", nil, "NUMA nodes per package for sources that know none: 'esx*=1', then 'esx07=2' (the later wins), or @FILE with such lines")
	fl.StringArrayVar(&f.evidence, "evidence", nil, "file with what was seen, compared with the prediction: vmware.log, .vmx, lscpu, numactl -H, Coreinfo, sched-stats, esxtop screen; NAME=FILE says whose it is")
	fl.StringVar(&f.assumeHost, "assume-host", "", "host to take where no source states one, such as a folder of logs: 'nodes=2 cores=18 memory=1024GB release=7.0U3'")
	fl.StringVar(&f.passwordFile, "password-file", "", "file that holds the password (mode 0600)")
	fl.StringVar(&f.credentialFile, "credentials", "", "file of lines \"host user password\" for several vCenters (mode 0600)")
	fl.StringVar(&f.knownHosts, "tls-known-hosts", "", "file of lines \"host thumbprint\" to trust (GOVC_TLS_KNOWN_HOSTS)")
	fl.StringVar(&f.caCerts, "tls-ca-certs", "", "file of CA certificates to trust (GOVC_TLS_CA_CERTS)")
	fl.BoolVar(&f.insecure, "insecure", false, "accept any certificate (GOVC_INSECURE)")
	fl.DurationVar(&f.timeout, "timeout", 2*time.Minute, "longest wait for one answer of a vCenter")
}

// read reads the fleet that the SOURCE arguments name. Those of several that cannot be
// read are named on stderr; incomplete then returns an error.
func (f *sourceFlags) read(cmd *cobra.Command, sources ...string) (*numa.Fleet, error) {
	fleet, unread, err := open.Fleet(cmd.Context(), sources, f.options(cmd))
	f.failed += len(unread) // diff reads twice
	for _, n := range unread {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "homenode: %s\n", texttab.Clean(n.String())); err != nil {
			return nil, err
		}
	}
	return fleet, err
}

// incomplete returns an error when read had to leave a source out: "no findings"
// about half of a fleet is no good news.
func (f *sourceFlags) incomplete() error {
	if f.failed == 0 {
		return nil
	}
	return fmt.Errorf("not everything was read: %s failed", rule.Plural(f.failed, "source"))
}

// options returns what the flags say about sources.
func (f *sourceFlags) options(cmd *cobra.Command) open.Options {
	dialer := vcenter.Options{
		Options:         vsphere.Options{Insecure: f.insecure, CACerts: f.caCerts, KnownHosts: f.knownHosts, CallTimeout: f.timeout},
		Env:             os.Getenv,
		CredentialsFile: f.credentialFile,
		PasswordFile:    f.passwordFile,
		Ask:             func(host string, a *vcenter.Account) error { return askAccount(cmd, host, a) },
	}
	o := open.Options{Dial: dialer.Dial, NodesPerSocket: f.nodesPerSocket, AssumeHost: f.assumeHost, Evidence: f.evidence}
	if w := cmd.ErrOrStderr(); isTerminal(w) {
		o.Progress = func(s open.Step) { showProgress(w, s) }
	}
	return o
}

// showProgress shows how far the sources are, on one line of a terminal.
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

// askAccount asks at the terminal for what is missing.
func askAccount(cmd *cobra.Command, host string, a *vcenter.Account) error {
	ctx, w := cmd.Context(), cmd.ErrOrStderr()
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return fmt.Errorf("%s: no credentials: set GOVC_USERNAME and GOVC_PASSWORD, or pass --password-file or --credentials", host)
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

// reply returns what read returns, or the error of ctx when that ends first.
// Nothing ends a read from a terminal: it is left behind for the process to end.
func reply(ctx context.Context, read func() (string, error)) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1) // nobody may be there to take it
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
