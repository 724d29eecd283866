package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"homenode/internal/queue"
	"homenode/source/open/vcenter"
)

// tokenVariable holds the token of a queue.
const tokenVariable = "HOMENODE_QUEUE_TOKEN"

func newQueue() *cobra.Command {
	var o queue.ServerOptions
	var tokenFile string
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Runs the queue over which machines share an archive of captures",
		Long: `queue runs a NATS server with JetStream, until it is stopped. homenode capture --archive DIR --queue URL puts the
files of an archive into it, and any number of homenode work processes read them, on this machine or on others
that see the same folder. A NATS server or cluster that exists already does as well.

It listens for this machine alone. Whoever listens for others (--listen 0.0.0.0:4222) needs a token and a
certificate with its key; tokens come from a file or from ` + tokenVariable + `, never from an argument.

The store holds tasks and results until the archive is read. A queue that was killed goes on with its store
where it was; without it the files that were not collected are read again.`,
		Example: `  homenode queue
  homenode queue --listen 0.0.0.0:4222 --token-file token --tls-cert queue.pem --tls-key queue.key`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.Token, err = queueToken(tokenFile); err != nil {
				return err
			}
			if o.Store == "" {
				cache, err := os.UserCacheDir()
				if err != nil {
					return fmt.Errorf("%w; name a folder with --store", err)
				}
				o.Store = filepath.Join(cache, "homenode", "queue")
			}
			o.Log = teller(cmd)
			return queue.Serve(cmd.Context(), o, func(url string) {
				fmt.Fprintf(cmd.OutOrStdout(), "homenode: queue on %s, store %s\n", url, o.Store)
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.Listen, "listen", "127.0.0.1:4222", "address and port")
	fl.StringVar(&o.Store, "store", "", "folder of tasks and results (default homenode/queue in the cache folder of the user)")
	fl.StringVar(&tokenFile, "token-file", "", "file with mode 0600 that holds the token workers need (or "+tokenVariable+")")
	fl.StringVar(&o.Cert, "tls-cert", "", "file of the certificate")
	fl.StringVar(&o.Key, "tls-key", "", "file of its key")
	return cmd
}

// queueToken returns the token in a file, or else that of the environment; empty for
// none.
func queueToken(file string) (string, error) {
	if file == "" {
		return os.Getenv(tokenVariable), nil
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

// teller returns what prints messages of a queue.
func teller(cmd *cobra.Command) func(string) {
	w := cmd.ErrOrStderr()
	return func(text string) { fmt.Fprintf(w, "homenode: %s\n", errorText(errors.New(text))) }
}

// queueAccess are the flags of commands that use a queue.
type queueAccess struct {
	url       string
	tokenFile string
	creds     string
	ca        string
}

func (q *queueAccess) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&q.url, "queue", "", "nats://host:port or tls://host:port of a homenode queue or a NATS server with JetStream")
	fl.StringVar(&q.tokenFile, "token-file", "", "file with mode 0600 that holds the token of the queue (or "+tokenVariable+")")
	fl.StringVar(&q.creds, "creds", "", "credentials file of a NATS server")
	fl.StringVar(&q.ca, "queue-ca", "", "file of the certificate authority of the queue; without it those of the system")
}

// dial connects to the queue. Its messages go to say.
func (q *queueAccess) dial(cmd *cobra.Command, say func(string)) (*queue.Client, error) {
	token, err := queueToken(q.tokenFile)
	if err != nil {
		return nil, err
	}
	if q.creds != "" {
		if _, err := vcenter.ReadSecret(q.creds); err != nil {
			return nil, err
		}
	}
	return queue.Dial(cmd.Context(), queue.Access{URL: q.url, Token: token, Creds: q.creds, CA: q.ca, Name: "homenode " + cmd.Name() + " " + processName(), Log: say})
}

// processName tells processes on all machines apart.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}
