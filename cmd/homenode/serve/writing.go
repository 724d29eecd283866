package serve

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/rules/policy"
	"homenode/serve/plans"
	"homenode/source/open/vcenter"
)

// writing is what carries plans out: the account that collects never writes.
type writing struct{ folder, credentials string }

func (w *writing) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&w.folder, "plans", "", "folder of plans and journals: operators can then keep plans and carry them out with the account of --write-credentials")
	fl.StringVar(&w.credentials, "write-credentials", "", "file (mode 0600) of lines \"host user password\" of the account that may write; collecting never uses it")
}

// desk returns what keeps plans; nil where it is not asked for. The demo keeps its own, in the folder of its data.
func (w *writing) desk(cmd *cobra.Command, src *flags.Source, newRoot func() *cobra.Command, judging func() *policy.Policy, lives []target, demo *demoLab, data string) (*plans.Desk, error) {
	if demo != nil && w.folder == "" && w.credentials == "" {
		w.folder = filepath.Join(data, "plans")
		if err := os.MkdirAll(w.folder, 0o700); err != nil {
			return nil, err
		}
		w.credentials = filepath.Join(w.folder, "account") // of a vCenter that this process simulates
		password, _ := demo.vc.URL.User.Password()
		if err := os.WriteFile(w.credentials, fmt.Appendf(nil, "%s %s %s\n", demo.vc.URL.Host, demo.vc.URL.User.Username(), password), 0o600); err != nil {
			return nil, err
		}
	}
	switch {
	case w.folder == "" && w.credentials == "":
		return nil, nil
	case w.folder == "" || w.credentials == "":
		return nil, errors.New("--plans and --write-credentials: give both, or neither")
	}
	addresses := map[string]*url.URL{} // by the name of the vCenter, without the account that collects
	dialer := src.Dialer(cmd)
	for _, t := range lives {
		at := t.url
		if at == "" {
			own := *demo.vc.URL
			own.User = nil
			at = own.String()
		}
		u, err := dialer.Address(at)
		if err != nil {
			return nil, err
		}
		addresses[t.name] = u
		if err := vcenter.CheckCredentials(w.credentials, u); err != nil {
			return nil, fmt.Errorf("--write-credentials: %w", err)
		}
	}
	address := func(name string) (string, error) {
		if u := addresses[name]; u != nil {
			return u.String(), nil
		}
		return "", fmt.Errorf("no vCenter is named %q", name)
	}
	more := flags.Typed(cmd, nil, []string{"nodes-per-socket", "product", "assume-host", "insecure"})
	return plans.New(w.folder, fixer(newRoot, address, w.credentials, judging, more))
}
