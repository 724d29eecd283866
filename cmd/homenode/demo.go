package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"homenode/source/demo"
	"homenode/source/vsphere/lab"
)

func newDemo() *cobra.Command {
	var text bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Serves the demo fleet by a simulated vCenter on loopback until Ctrl-C",
		Long: `demo starts the simulated vCenter that the SOURCE demo reads, and prints how to reach it,
so that homenode, govc or PowerCLI can be tried on it. It listens on 127.0.0.1 only.`,
		Example: `  homenode demo
  homenode demo --text > fleet.txtar`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			if text {
				_, err := fmt.Fprint(w, demo.Text)
				return err
			}
			fleet, err := demo.Fleet()
			if err != nil {
				return err
			}
			vc, err := lab.Start(fleet)
			if err != nil {
				return err
			}
			defer vc.Close()
			password, _ := vc.URL.User.Password()
			fmt.Fprintf(w, "simulated vCenter with %d hosts and %d VMs, until Ctrl-C:\n\n", len(fleet.Hosts), len(fleet.VMs))
			fmt.Fprintf(w, "  export GOVC_URL=%s://%s/sdk GOVC_USERNAME=%s GOVC_PASSWORD=%s GOVC_INSECURE=true\n",
				vc.URL.Scheme, vc.URL.Host, vc.URL.User.Username(), password)
			fmt.Fprintf(w, "  homenode assess vcenter\n")
			<-cmd.Context().Done()
			return nil
		},
	}
	cmd.Flags().BoolVar(&text, "text", false, "print the demo fleet as a scenario instead")
	return cmd
}
