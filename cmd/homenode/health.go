package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/internal/loopback"
)

// newHealth returns the command that containers run to learn whether the server in them is up.
func newHealth() *cobra.Command {
	return &cobra.Command{
		Use:   "health [ADDRESS]",
		Short: "Asks homenode serve on this machine, at 127.0.0.1:9275 or ADDRESS, whether it is up",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			address := "127.0.0.1:9275"
			if len(args) > 0 {
				address = args[0]
			}
			if host, _, err := net.SplitHostPort(address); err != nil || !loopback.Host(host) {
				return fmt.Errorf("found the address %q, want one of this machine such as 127.0.0.1:9275", address)
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), 4*time.Second)
			defer cancel()
			err := healthy(ctx, "https://"+address)
			if err != nil {
				err = healthy(ctx, "http://"+address)
			}
			return err
		},
	}
}

// healthy asks a server of this machine. Its certificate, which names another host, is not checked: nothing secret is sent.
func healthy(ctx context.Context, url string) error {
	client := http.Client{Transport: &http.Transport{DialContext: loopback.Dial, DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz", nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, 100))
	if err == nil && (answer.StatusCode != http.StatusOK || strings.TrimSpace(string(b)) != "ok") {
		err = fmt.Errorf("%s answered %s", url, answer.Status)
	}
	return err
}
