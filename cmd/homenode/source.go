package main

import (
	"bufio"
	"cmp"
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

	"homenode/internal/alike"
	"homenode/numa"
	"homenode/source/bundle"
	"homenode/source/demo"
	"homenode/source/rvtools"
	"homenode/source/scenario"
	"homenode/source/snapshot"
	"homenode/source/story"
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

// prepare checks the SOURCE argument and asks for what is missing to read it.
func (f *sourceFlags) prepare(cmd *cobra.Command, source string) (reading, error) {
	switch {
	case source == "demo":
		return reading{[]string{source}, func(o vsphere.Options) (*numa.Fleet, error) { return f.readDemo(cmd, o) }}, nil
	case source == "vcenter":
		env := os.Getenv("GOVC_URL")
		if env == "" {
			return reading{}, errors.New("vcenter: GOVC_URL is not set")
		}
		if !strings.Contains(env, "://") {
			env = "https://" + env
		}
		return f.prepareVCenter(cmd, env, true)
	case strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://"):
		return f.prepareVCenter(cmd, source, false)
	}
	info, err := os.Stat(source)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) && strings.Contains(source, ".") && !strings.ContainsAny(source, `/\`) {
			return reading{}, fmt.Errorf("%w (a vCenter is named by its URL: https://%s)", err, source)
		}
		return reading{}, err
	}
	return reading{fileNames(source), func(vsphere.Options) (*numa.Fleet, error) { return readFile(source, info.IsDir()) }}, nil
}

// readFile reads a file or folder of whatever kind it is.
func readFile(path string, folder bool) (*numa.Fleet, error) {
	if err := readable(path); err != nil {
		return nil, err
	}
	switch {
	case !folder && strings.HasSuffix(strings.ToLower(path), ".json"):
		return snapshot.ReadFile(path)
	case rvtools.Detect(path):
		return rvtools.Read(path)
	case bundle.Detect(path):
		return bundle.Read(path)
	case folder:
		return nil, fmt.Errorf("%s: found no RVTools CSV files, no .vmx and no vmware.log in the folder", path)
	}
	return readScenario(path)
}

// readable returns why nothing of path can be read: the readers tell by the content what
// it is, and would say that it is none of theirs.
func readable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil // a pipe is opened once
	case !info.IsDir() && info.Size() == 0:
		return fmt.Errorf("%s: the file is empty", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if _, err = f.ReadDir(1); err == io.EOF {
			err = fmt.Errorf("%s: the folder is empty", path)
		}
	}
	return errors.Join(err, f.Close())
}

// readScenario reads a scenario, or the fleet of a story, unless the file is plainly
// something else.
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
		return nil, fmt.Errorf("%s: found a binary file, want an RVTools export (.xlsx, .zip), a vm-support bundle or other archive, a snapshot (.json) or a scenario", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !story.Is(b) {
		return scenario.Read(path, b)
	}
	s, err := story.Read(path, b)
	if err != nil {
		return nil, err
	}
	return s.Fleet, nil
}

// readDemo serves the demo fleet by a simulated vCenter on loopback and reads it
// like any other.
func (f *sourceFlags) readDemo(cmd *cobra.Command, o vsphere.Options) (*numa.Fleet, error) {
	fleet, err := demo.Fleet()
	if err != nil {
		return nil, err
	}
	vc, err := lab.Start(fleet)
	if err != nil {
		return nil, err
	}
	defer vc.Close()
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

// options returns the options of all vCenters, without credentials.
func (f *sourceFlags) options() vsphere.Options {
	return vsphere.Options{
		Insecure:    f.insecure,
		CACerts:     f.caCerts,
		KnownHosts:  f.knownHosts,
		CallTimeout: f.timeout,
	}
}

// prepareVCenter takes the govc variables for what no flag says. Credentials in
// GOVC_URL are taken, in an argument refused: other users of the machine can see
// arguments.
func (f *sourceFlags) prepareVCenter(cmd *cobra.Command, raw string, fromEnv bool) (reading, error) {
	u, err := url.Parse(raw)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // parse.URL may hold a password
		}
		return reading{}, fmt.Errorf("the URL is malformed: %w", err)
	}
	password, has := u.User.Password()
	if has && !fromEnv {
		return reading{}, errors.New("found a password in the URL: other users can see it there; use GOVC_PASSWORD, --password-file, --credentials or the prompt")
	}
	account := vsphere.Options{Username: u.User.Username(), Password: password}
	names := hostNames(u)
	u.User = nil
	if err := f.credentials(cmd, u.Host, &account); err != nil {
		return reading{}, err
	}
	return reading{names, func(o vsphere.Options) (*numa.Fleet, error) {
		o.Username, o.Password = account.Username, account.Password
		o.KnownHosts = cmp.Or(o.KnownHosts, os.Getenv("GOVC_TLS_KNOWN_HOSTS"))
		o.CACerts = cmp.Or(o.CACerts, os.Getenv("GOVC_TLS_CA_CERTS"))
		if v, err := strconv.ParseBool(strings.ToLower(os.Getenv("GOVC_INSECURE"))); err == nil && v {
			o.Insecure = true
		}
		return vsphere.Read(cmd.Context(), u, o)
	}}, nil
}

// credentials fills in what is missing: from the credentials file, the govc
// variables and the password file, then by asking, without echo.
func (f *sourceFlags) credentials(cmd *cobra.Command, host string, o *vsphere.Options) error {
	if f.credentialFile != "" {
		list, err := readCredentials(f.credentialFile)
		if err != nil {
			return err
		}
		if c, ok := findCredential(list, host, o.Username); ok {
			o.Username, o.Password = c.user, c.password
			return nil
		}
	}
	o.Username = cmp.Or(os.Getenv("GOVC_USERNAME"), o.Username)
	o.Password = cmp.Or(os.Getenv("GOVC_PASSWORD"), o.Password)
	if f.passwordFile != "" {
		b, err := readSecret(f.passwordFile)
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
		return fmt.Errorf("%s: no credentials: set GOVC_USERNAME and GOVC_PASSWORD, or pass --password-file or --credentials", host)
	}
	if o.Username == "" {
		fmt.Fprintf(w, "user for %s: ", host)
		line, err := reply(ctx, func() (string, error) { return bufio.NewReader(in).ReadString('\n') })
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
	o.Password, err = reply(ctx, func() (string, error) {
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
			pattern = strings.TrimSpace(pattern)
			err = fleet.SetNodesPerSocket(pattern, k, "--nodes-per-socket "+item)
			if errors.Is(err, numa.ErrNoHost) {
				return fmt.Errorf("%w%s", err, alike.After(strings.Trim(pattern, "*?"), namesOfHosts(fleet)))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
