package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"homenode/numa"
	"homenode/source/demo"
	"homenode/source/rvtools"
	"homenode/source/scenario"
	"homenode/source/snapshot"
	"homenode/source/vsphere"
	"homenode/source/vsphere/lab"
)

// sourceFlags are the flags of every command that reads a SOURCE.
type sourceFlags struct {
	nodesPerSocket []string
	passwordFile   string
	knownHosts     string
	caCerts        string
	insecure       bool
	timeout        time.Duration
}

func (f *sourceFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.nodesPerSocket, "nodes-per-socket", nil, "NUMA nodes per package for sources that know none: 'esx*=1', then 'esx07=2' (the later wins), or @FILE with such lines")
	fl.StringVar(&f.passwordFile, "password-file", "", "file that holds the password (mode 0600)")
	fl.StringVar(&f.knownHosts, "tls-known-hosts", "", "file of lines \"host thumbprint\" to trust (GOVC_TLS_KNOWN_HOSTS)")
	fl.StringVar(&f.caCerts, "tls-ca-certs", "", "file of CA certificates to trust (GOVC_TLS_CA_CERTS)")
	fl.BoolVar(&f.insecure, "insecure", false, "accept any certificate (GOVC_INSECURE)")
	fl.DurationVar(&f.timeout, "timeout", 2*time.Minute, "longest wait for one answer of a vCenter")
}

// read reads the fleet that the SOURCE argument names.
func (f *sourceFlags) read(cmd *cobra.Command, source string) (*numa.Fleet, error) {
	fleet, err := f.open(cmd, source)
	if err != nil {
		return nil, err
	}
	if err := f.divide(fleet); err != nil {
		return nil, err
	}
	return fleet, nil
}

func (f *sourceFlags) open(cmd *cobra.Command, source string) (*numa.Fleet, error) {
	switch {
	case source == "demo":
		return f.readDemo(cmd)
	case source == "vcenter":
		env := os.Getenv("GOVC_URL")
		if env == "" {
			return nil, errors.New("vcenter: GOVC_URL is not set")
		}
		if !strings.Contains(env, "://") {
			env = "https://" + env
		}
		return f.readVCenter(cmd, env, true)
	case strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://"):
		return f.readVCenter(cmd, source, false)
	}
	info, err := os.Stat(source)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) && strings.Contains(source, ".") && !strings.ContainsAny(source, `/\`) {
			return nil, fmt.Errorf("%w (a vCenter is named by its URL: https://%s)", err, source)
		}
		return nil, err
	}
	switch {
	case !info.IsDir() && strings.HasSuffix(strings.ToLower(source), ".json"):
		return snapshot.ReadFile(source)
	case rvtools.Detect(source):
		return rvtools.Read(source)
	case info.IsDir():
		return nil, fmt.Errorf("%s: found no RVTools CSV files in the folder", source)
	}
	return readScenario(source)
}

// readScenario reads a scenario, unless the file is plainly something else.
func readScenario(path string) (*numa.Fleet, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	head, err := bufio.NewReader(f).Peek(512)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return nil, errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if strings.ContainsRune(string(head), 0) {
		return nil, fmt.Errorf("%s: found a binary file, want an RVTools export (.xlsx, .zip), a snapshot (.json) or a scenario", path)
	}
	return scenario.ReadFile(path)
}

// readDemo serves the demo fleet by a simulated vCenter on loopback and reads it
// like any other.
func (f *sourceFlags) readDemo(cmd *cobra.Command) (*numa.Fleet, error) {
	fleet, err := demo.Fleet()
	if err != nil {
		return nil, err
	}
	vc, err := lab.Start(fleet)
	if err != nil {
		return nil, err
	}
	defer vc.Close()
	o := f.options(cmd)
	o.Insecure = true // the simulator makes its certificate anew each time
	got, err := vsphere.Read(cmd.Context(), vc.URL, o)
	if err != nil {
		return nil, err
	}
	got.Source = "demo (simulated vCenter)"
	// The simulator serves an inventory; what was seen comes beside it, as with
	// --evidence.
	for i := range got.VMs {
		v := &got.VMs[i]
		for _, same := range fleet.FindVMs(v.Name) {
			v.Observed = same.Observed
		}
	}
	renameSource(got, vc.URL.Host, "demo")
	return got, nil
}

// renameSource gives the simulator, whose port differs each time, one name.
func renameSource(f *numa.Fleet, from, to string) {
	rename := func(at *string) { *at = strings.Replace(*at, from, to, 1) }
	for i := range f.Clusters {
		rename(&f.Clusters[i].At)
	}
	for i := range f.Hosts {
		rename(&f.Hosts[i].At)
	}
	for i := range f.VMs {
		rename(&f.VMs[i].At)
	}
	for i := range f.Notes {
		rename(&f.Notes[i].At)
	}
}

func (f *sourceFlags) options(cmd *cobra.Command) vsphere.Options {
	o := vsphere.Options{
		Insecure:    f.insecure,
		CACerts:     f.caCerts,
		KnownHosts:  f.knownHosts,
		CallTimeout: f.timeout,
	}
	if w := cmd.ErrOrStderr(); isTerminal(w) {
		o.Progress = func(stage string, done, total int) {
			fmt.Fprintf(w, "\r\x1b[Kread %s %d of %d", stage, done, total)
			if done >= total {
				fmt.Fprint(w, "\r\x1b[K")
			}
		}
	}
	return o
}

// readVCenter reads from a vCenter or ESXi host, with the govc variables for what
// no flag says. Credentials in GOVC_URL are taken, in an argument refused: other
// users of the machine can see arguments.
func (f *sourceFlags) readVCenter(cmd *cobra.Command, raw string, fromEnv bool) (*numa.Fleet, error) {
	u, err := url.Parse(raw)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // parse.URL may hold a password
		}
		return nil, fmt.Errorf("the URL is malformed: %w", err)
	}
	if _, has := u.User.Password(); has && !fromEnv {
		return nil, errors.New("found a password in the URL: other users can see it there; use GOVC_PASSWORD, --password-file or the prompt")
	}
	o := f.options(cmd)
	o.Username, o.Password = u.User.Username(), ""
	if p, has := u.User.Password(); has {
		o.Password = p
	}
	u.User = nil
	if v := os.Getenv("GOVC_USERNAME"); v != "" {
		o.Username = v
	}
	if v := os.Getenv("GOVC_PASSWORD"); v != "" {
		o.Password = v
	}
	if o.KnownHosts == "" {
		o.KnownHosts = os.Getenv("GOVC_TLS_KNOWN_HOSTS")
	}
	if o.CACerts == "" {
		o.CACerts = os.Getenv("GOVC_TLS_CA_CERTS")
	}
	if v, err := strconv.ParseBool(strings.ToLower(os.Getenv("GOVC_INSECURE"))); err == nil && v {
		o.Insecure = true
	}
	if err := f.credentials(cmd, u.Host, &o); err != nil {
		return nil, err
	}
	return vsphere.Read(cmd.Context(), u, o)
}

// credentials fills in what is still missing: from the password file, then by
// asking, without echo.
func (f *sourceFlags) credentials(cmd *cobra.Command, host string, o *vsphere.Options) error {
	if f.passwordFile != "" {
		info, err := os.Stat(f.passwordFile)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			return fmt.Errorf("%s: others may read it (mode %04o): chmod 600 it", f.passwordFile, info.Mode().Perm())
		}
		b, err := os.ReadFile(f.passwordFile)
		if err != nil {
			return err
		}
		o.Password = strings.TrimRight(string(b), "\r\n")
	}
	if o.Username != "" && o.Password != "" {
		return nil
	}
	return askCredentials(cmd, host, o)
}

// askCredentials asks at the terminal for what is missing.
func askCredentials(cmd *cobra.Command, host string, o *vsphere.Options) error {
	ctx, w := cmd.Context(), cmd.ErrOrStderr()
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return fmt.Errorf("%s: no credentials: set GOVC_USERNAME and GOVC_PASSWORD, or pass --password-file", host)
	}
	if o.Username == "" {
		fmt.Fprintf(w, "user for %s: ", host)
		line, err := answer(ctx, func() (string, error) { return bufio.NewReader(in).ReadString('\n') })
		if err != nil {
			return err
		}
		o.Username = strings.TrimSpace(line)
	}
	if o.Password != "" {
		return nil
	}
	fd := int(in.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "password for %s at %s: ", o.Username, host)
	o.Password, err = answer(ctx, func() (string, error) {
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

// answer returns what read returns, or the error of ctx when that ends first.
// Nothing ends a read from a terminal: it is left behind for the process to end.
func answer(ctx context.Context, read func() (string, error)) (string, error) {
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

// divide applies --nodes-per-socket.
func (f *sourceFlags) divide(fleet *numa.Fleet) error {
	for _, arg := range f.nodesPerSocket {
		items := strings.Split(arg, ",")
		if path, ok := strings.CutPrefix(arg, "@"); ok {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			items = strings.Split(string(b), "\n")
		}
		for _, item := range items {
			item, _, _ = strings.Cut(item, "#")
			item = strings.TrimSpace(item)
			if item == "" {
				continue
			}
			pattern, n, ok := strings.Cut(item, "=")
			k, err := strconv.Atoi(strings.TrimSpace(n))
			if !ok || err != nil || k < 1 {
				return fmt.Errorf("--nodes-per-socket: found %q, want HOST=NUMBER", item)
			}
			if err := fleet.SetNodesPerSocket(strings.TrimSpace(pattern), k, "--nodes-per-socket "+item); err != nil {
				return err
			}
		}
	}
	return nil
}
