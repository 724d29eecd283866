package flags

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules/rule"
	"homenode/source/open"
	"homenode/source/open/vcenter"
	"homenode/source/vsphere"
)

// A Source has the flags of every command that reads a SOURCE.
type Source struct {
	nodesPerSocket []string
	products       []string
	insecure       bool
	credentialFile string
	AssumeHost     string
	evidence       []string

	Logs func(*numa.VM) bool // VMs whose vmware.log is fetched from a vCenter; nil for none
	// KVM: the command takes a fleet of KVM. Others predict what ESXi does, and refuse one.
	KVM bool

	failed int // sources that could not be read; set by Read
	unread int // files of bundles that could not be read, or not whole; set by Read
}

// SourceSession are the flags of a command that reads nothing but vCenters, and asks them again and again.
var SourceSession = []string{"credentials", "insecure"}

// Register adds the flags to a command.
func (f *Source) Register(cmd *cobra.Command) { f.RegisterOnly(cmd) }

// RegisterOnly adds those of these names; all without names.
func (f *Source) RegisterOnly(cmd *cobra.Command, only ...string) {
	var fl pflag.FlagSet
	fl.StringArrayVar(&f.nodesPerSocket, "nodes-per-socket", nil, "NUMA nodes per package for sources that know none: 'esx*=1', then 'esx07=2' (the later wins), or @FILE with such lines")
	fl.StringArrayVar(&f.products, "product", nil, "software in guests: 'sql*=SQL Server 2022 Standard', or @FILE with such lines (docs/reference/guests.md)")
	fl.StringArrayVar(&f.evidence, "evidence", nil, "file with what was seen, compared with the prediction: vmware.log, .vmx, lscpu, numactl -H, Coreinfo, homenode measure, sched-stats, esxtop screen, the end of a recording; NAME=FILE says whose it is")
	fl.StringVar(&f.AssumeHost, "assume-host", "", "host to take where no source states one, such as a folder of logs: 'nodes=2 cores=18 memory=1024GB release=7.0U3', or what hosts lack: release=8.0U3")
	fl.StringVar(&f.credentialFile, "credentials", "", "file of lines \"host user password\" (mode 0600); \"* user password\" is for every vCenter without a line")
	fl.BoolVar(&f.insecure, "insecure", false, "accept any certificate (GOVC_INSECURE)")
	add(cmd, &fl, only)
}

// AddEvidence adds files as --evidence does.
func (f *Source) AddEvidence(files ...string) { f.evidence = append(f.evidence, files...) }

// Read reads the fleet that the SOURCE arguments name. Those of several that cannot be
// read are named on stderr; Incomplete then returns an error.
func (f *Source) Read(cmd *cobra.Command, sources ...string) (*numa.Fleet, error) {
	fleet, unread, err := open.Fleet(cmd.Context(), sources, f.Options(cmd))
	f.failed += len(unread) // diff reads twice
	if fleet != nil {
		f.unread += len(fleet.Unread)
	}
	for _, n := range unread {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "homenode: %s\n", texttab.Clean(n.String())); err != nil {
			return nil, err
		}
	}
	if err == nil && fleet.Hypervisor == numa.KVM && !f.KVM {
		return nil, fmt.Errorf("%s: found hosts of KVM, whose definitions state the layouts; this command predicts those of ESXi: assess, explain, compare and snapshot take KVM", fleet.Source)
	}
	return fleet, err
}

// Incomplete returns an error when Read had to leave a source out, or a file of one: "no findings"
// about half of a fleet is no good news.
func (f *Source) Incomplete() error {
	if f.failed == 0 {
		return Unread(f.unread)
	}
	return fmt.Errorf("not everything was read: %s failed", rule.Plural(f.failed, "source"))
}

// Unread returns an error when files of a bundle could not be read, or not whole.
func Unread(files int) error {
	if files == 0 {
		return nil
	}
	return fmt.Errorf("not everything was read: %s could not be, or not whole: see the notes", rule.Plural(files, "file"))
}

// Dialer returns what the flags say about vCenters.
func (f *Source) Dialer(cmd *cobra.Command) vcenter.Options {
	return vcenter.Options{
		Options:         vsphere.Options{Insecure: f.insecure},
		Env:             os.Getenv,
		CredentialsFile: f.credentialFile,
		Logs:            f.Logs,
		Ask:             func(host string, a *vcenter.Account) error { return askAccount(cmd, host, a) },
	}
}

// Options returns what the flags say about sources.
func (f *Source) Options(cmd *cobra.Command) open.Options {
	o := open.Options{Dial: f.Dialer(cmd).Dial, NodesPerSocket: f.nodesPerSocket, Products: f.products, AssumeHost: f.AssumeHost, Evidence: f.evidence}
	if w := cmd.ErrOrStderr(); IsTerminal(w) {
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
	done := make(chan result, 1) // the receiver may be gone
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

// SourceHelp says what a SOURCE is, in the help of commands.
const SourceHelp = `SOURCE is a vCenter, a file or demo: homenode help sources lists them.`

// SourceTopic lists what a SOURCE can be, for homenode help sources.
const SourceTopic = `SOURCE is one of
  https://vc01.example.com   a vCenter or ESXi host (GOVC_USERNAME and GOVC_PASSWORD, or a prompt)
  vcenter                    the one that GOVC_URL (or VSPHERE_SERVER) names
  export.xlsx                an RVTools export; also a folder or .zip of its CSV files
  fleet.json                 a snapshot, from homenode snapshot
  fleet.txtar                a scenario or story: a fleet written by hand
  esx01-vm-support.tgz       a vm-support bundle, .vmx or vmware.log; also a folder or archive of them
  kvm                        XML of virsh: hosts of KVM and their VMs, a file or a folder (assess, explain, compare, snapshot)
  demo                       a simulated vCenter with 24 hosts and 300 VMs
  @sources.txt               a file with one SOURCE a line; several are read in parallel as one fleet

The account of a vCenter comes from --credentials, a file of lines "host user password" (mode 0600); from GOVC_USERNAME and
GOVC_PASSWORD, or those of Terraform and Ansible (VSPHERE_USER, VSPHERE_PASSWORD); or from a prompt. The
role Read-only is enough. Certificates are verified: GOVC_TLS_CA_CERTS names further authorities, GOVC_TLS_KNOWN_HOSTS a file of
thumbprints to trust; --insecure accepts any certificate.`
