package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.org/homenode/capture/export/esxtop"
	"example.org/homenode/cmd/homenode/serve"
	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/numa"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/open"
	"example.org/homenode/source/vsphere/lab"
)

func newDemo() *cobra.Command {
	var (
		text     bool
		captures string
		live     bool
		faults   string
	)
	cmd := described("demo", &cobra.Command{
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			if len(args) > 0 && (text || captures != "") {
				return errors.New("--text and --captures are of the demo, not of a SOURCE")
			}
			if faults != "" && !live || live && (len(args) > 0 || text || captures != "") {
				return errors.New("--faults is for --live, which takes no SOURCE, --text or --captures")
			}
			if live {
				return serve.ServeLab(cmd.Context(), w, faults)
			}
			if text {
				_, err := fmt.Fprint(w, demo.Text)
				return err
			}
			if captures != "" {
				return writeDemoCaptures(w, captures)
			}
			// A user who tries the command on the simulated vCenter must not reach a real one.
			fleet, _, err := open.Fleet(cmd.Context(), append(args, open.Demo)[:1], open.Options{})
			if err != nil {
				return err
			}
			vc, err := lab.Start(fleet)
			if err != nil {
				return err
			}
			defer vc.Close()
			vc.AtPowerOn(serve.AtPowerOn)
			password, _ := vc.URL.User.Password()
			fmt.Fprintf(w, "simulated vCenter with %d hosts and %d VMs, until Ctrl-C:\n\n", len(fleet.Hosts), len(fleet.VMs))
			fmt.Fprintf(w, "  export GOVC_URL=%s://%s/sdk GOVC_USERNAME=%s GOVC_PASSWORD=%s GOVC_INSECURE=true\n",
				vc.URL.Scheme, vc.URL.Host, vc.URL.User.Username(), password)
			fmt.Fprintf(w, "  homenode assess vcenter\n")
			<-cmd.Context().Done()
			return nil
		},
	})
	cmd.Flags().BoolVar(&text, "text", false, "print the demo fleet as a scenario instead")
	cmd.Flags().BoolVar(&live, "live", false, "serve the vCenter of homenode serve demo instead, whose hosts live and answer with esxtop's counters")
	cmd.Flags().StringVar(&faults, "faults", "", "with --live: hosts that fail, such as esx02.demo=hang,epyc01.demo=cut; build, cut, hang, junk, refuse")
	cmd.Flags().StringVar(&captures, "captures", "", "write what homenode capture demo reads to this folder, as esxtop batch files, instead")
	return cmd
}

// writeDemoCaptures writes one batch file per host. They lack memory by node, for which esxtop
// has no column.
func writeDemoCaptures(out io.Writer, dir string) error {
	night, err := demo.Capture()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, host := range night.Hosts() {
		name := filepath.Join(dir, host+".csv")
		err := atomicfile.Write(name, func(w io.Writer) error {
			b := esxtop.NewWriter(w)
			err := night.Ticks(func(t *numa.Tick) error {
				if t.Host != host {
					return nil
				}
				return b.Add(t)
			})
			return cmp.Or(err, b.Flush())
		})
		if err != nil {
			return err
		}
		fmt.Fprintln(out, name)
	}
	return nil
}
