// Package serve has the command that shows locality live.
package serve

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/ask"
	"example.org/homenode/capture/store"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/numa/unit"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/captures"
	"example.org/homenode/serve/config"
	"example.org/homenode/source/open/vcenter"
)

// A command has the flags of serve.
type command struct {
	in          input
	judgement   flags.Config
	data        string
	check       bool
	keep        store.Options
	retainBytes string
	sendFile    string
	queryURL    string
	fleet       []string
	reading     reading // of fleet
	asks        flags.Asking
	door        door
	folder      string // with captures
}

// A reading has the fields about reading a fleet from files.
type reading struct {
	ask.Asked
	ask.Source `only:"nodes-per-socket product assume-host" group:"pages"`
}

var readingNames = []string{"nodes-per-socket", "product", "assume-host"}

// New returns the command.
func New() *cobra.Command {
	c := &command{}
	cmd := &cobra.Command{
		Use: "serve SOURCE...",
		Args: func(cmd *cobra.Command, args []string) error {
			if c.queryURL != "" || c.fleet != nil {
				return nil
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: c.run,
	}
	c.register(cmd)
	return cmd
}

func (c *command) register(cmd *cobra.Command) {
	c.in.register(cmd, "collect from")
	fl := cmd.Flags()
	flags.Group(cmd, "what is collected", func(*cobra.Command) {
		fl.BoolVar(&c.check, "check", false, "test the account and estimate the volume, then exit: log in, test the privileges, ask one host of each cluster, say how many bytes a day")
	})
	flags.Group(cmd, "pages", func(cmd *cobra.Command) {
		fl.StringArrayVar(&c.fleet, "fleet", nil, "show the pages of this SOURCE, such as an RVTools export, instead of collecting (repeatable: as one fleet)")
		fl.StringVar(&c.queryURL, "query-url", "", "Prometheus or another database with its query API: show what other collectors sent there, instead of collecting; env reads the URL, which may have a password, from HOMENODE_QUERY_URL")
		fl.StringVar(&c.folder, "captures", "", "folder of captures that pages list and open; nothing outside of it is read")
		c.judgement.Register(cmd)
	})
	c.asks.Register(cmd, &c.reading)
	flags.Group(cmd, "what is kept and sent", func(*cobra.Command) {
		fl.StringVar(&c.data, "data", "", "folder to keep what is seen in, for queries by time; without one only the present is known (demo: a folder that is removed at the end)")
		fl.DurationVar(&c.keep.Retain, "retain", 30*24*time.Hour, "how long --data keeps it")
		fl.StringVar(&c.retainBytes, "retain-bytes", "", "how large --data may become, such as 50GB: the oldest goes")
		fl.StringVar(&c.sendFile, "send", "", "file of the addresses for findings and samples (mode 0600): webhooks, remote write (docs/watch.md)")
	})
	flags.Group(cmd, "who may look", c.door.register)
}

// run shows a fleet that is read once, the data of other collectors, or data that it collects
// itself.
func (c *command) run(cmd *cobra.Command, args []string) error {
	policy, err := c.judgement.Policy()
	options := rules.Options{Policy: policy, Today: time.Now()}
	if err != nil {
		return err
	}
	if err := c.in.check(); err != nil {
		return err
	}
	if _, err := c.door.check(); err != nil {
		return err
	}
	kept, err := captures.Open(c.folder, captures.UploadLimit)
	if err != nil {
		return fmt.Errorf("--captures: %w", err)
	}
	defer kept.Close()
	every := c.in.collect.Every
	switch shown := len(args) > 0 || c.check || c.data != "" || c.sendFile != ""; {
	case c.fleet != nil && (shown || c.queryURL != ""):
		return errors.New("--fleet shows a fleet without collecting: it takes no SOURCE, --check, --data, --send or --query-url")
	case c.fleet != nil:
		return c.serveFleet(cmd, options, kept)
	case c.reading.Refuse("only with --fleet", readingNames...) != nil:
		return c.reading.Refuse("only with --fleet", readingNames...)
	case c.queryURL != "" && shown:
		return errors.New("--query-url shows what others collect: it takes no SOURCE, --check, --data or --send")
	case c.queryURL != "":
		return read(cmd, c.queryURL, &c.door, min(every, 15*time.Second), board.New(options, 3*every+10*time.Second), kept)
	}
	s := &server{captures: kept, door: &c.door, rules: options}
	return c.collect(cmd, args, s)
}

// collect completes the configuration of the server and runs it.
func (c *command) collect(cmd *cobra.Command, args []string, s *server) (err error) {
	if s.send, err = readSend(c.sendFile); err != nil {
		return fmt.Errorf("--send: %w", err)
	}
	if c.keep.Retain < time.Hour {
		return fmt.Errorf("--retain: found %v, want 1h or more", c.keep.Retain)
	}
	if c.data != "" {
		if err := os.MkdirAll(c.data, 0o700); err != nil {
			return fmt.Errorf("--data: %w", err)
		}
	}
	if c.retainBytes != "" {
		size, err := unit.ParseSize(c.retainBytes)
		if err != nil {
			return fmt.Errorf("--retain-bytes: %w", err)
		}
		c.keep.RetainBytes = int64(size)
	}
	if s.lives, s.demo, err = c.in.targets(cmd, args); err != nil {
		return err
	}
	if s.demo != nil {
		defer s.demo.close()
		account := s.demo.vc.URL.User
		password, _ := account.Password()
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: to carry out a plan on the simulated vCenter: export GOVC_USERNAME=%s GOVC_PASSWORD=%s\n", account.Username(), password)
	}
	if c.check {
		return checkAll(cmd, s.lives, c.in.collect)
	}
	if c.data == "" && s.demo != nil {
		if c.data, err = os.MkdirTemp("", "homenode-demo-"); err != nil {
			return err
		}
		defer os.RemoveAll(c.data)
	}
	if c.data == "" && len(s.send.Samples) > 0 {
		return errors.New("--send: samples are sent from the store: give it a folder with --data")
	}
	s.options, s.data, s.keep = c.in.collect, c.data, c.keep
	s.board = board.New(s.rules, 3*s.options.Every+10*time.Second)
	return run(cmd, s)
}

// readSend reads the file of --send; without a file nothing is sent.
func readSend(path string) (config.Config, error) {
	if path == "" {
		return config.Config{}, nil
	}
	b, err := vcenter.ReadSecret(path)
	if err != nil {
		return config.Config{}, err
	}
	c, err := config.Parse(path, b)
	if err != nil {
		return config.Config{}, err
	}
	return *c, nil
}
