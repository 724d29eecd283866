package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/queue"
)

func newQueue() *cobra.Command {
	var o queue.ServerOptions
	var tokenFile, tokenFor string
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Runs the queue over which machines share an archive of captures",
		Long: `queue runs a NATS server with JetStream, until it is stopped. homenode capture --archive DIR --queue URL puts the
files of an archive into it, and any number of homenode work processes read them, on this machine or on others
that see the same folder. A NATS server or cluster that exists already does as well.

It listens for this machine alone. Whoever listens for others (--listen 0.0.0.0:4222) needs a token and a
certificate with its key; tokens come from a file or from ` + flags.TokenVariable + `, never from an argument.

Workers and clients have tokens of their own, made of that of the queue (--token-for): a worker's takes tasks and
stores results, a client's puts tasks there and takes results out. The token of the queue serves as any of them.

The store holds tasks and results until the archive is read. A queue that was killed goes on with its store
where it was; without it the files that were not collected are read again.`,
		Example: `  homenode queue
  homenode queue --listen 0.0.0.0:4222 --token-file token --tls-cert queue.pem --tls-key queue.key`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.Token, err = flags.QueueToken(tokenFile); err != nil {
				return err
			}
			if tokenFor != "" {
				return printToken(cmd, o.Token, queue.Role(tokenFor))
			}
			if o.Store == "" {
				cache, err := os.UserCacheDir()
				if err != nil {
					return fmt.Errorf("%w; name a folder with --store", err)
				}
				o.Store = filepath.Join(cache, "homenode", "queue")
			}
			o.Log = flags.Teller(cmd)
			return queue.Serve(cmd.Context(), o, func(url string) {
				fmt.Fprintf(cmd.OutOrStdout(), "homenode: queue on %s, store %s\n", url, o.Store)
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.Listen, "listen", "127.0.0.1:4222", "address and port")
	fl.StringVar(&o.Store, "store", "", "folder of tasks and results (default homenode/queue in the cache folder of the user)")
	fl.StringVar(&tokenFile, "token-file", "", "file with mode 0600 that holds the token workers need (or "+flags.TokenVariable+")")
	fl.StringVar(&tokenFor, "token-for", "", "print the token of a role and end: "+strings.Join(roleNames(), ", "))
	fl.StringVar(&o.Cert, "tls-cert", "", "file of the certificate")
	fl.StringVar(&o.Key, "tls-key", "", "file of its key")
	return cmd
}

// printToken prints the token of a role, for a machine that needs no more.
func printToken(cmd *cobra.Command, token string, role queue.Role) error {
	switch {
	case !slices.Contains(queue.Roles, role):
		return fmt.Errorf("--token-for: found %q, want one of %s", string(role), strings.Join(roleNames(), ", "))
	case token == "":
		return errors.New("--token-for: want --token-file or " + flags.TokenVariable)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), role.Token(token))
	return err
}

func roleNames() []string {
	var names []string
	for _, r := range queue.Roles {
		names = append(names, string(r))
	}
	return names
}
