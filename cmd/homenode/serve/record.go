package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/version"
	"example.org/homenode/internal/words"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/record"
)

// NewRecord returns the command that records the answers of hosts to files.
func NewRecord() *cobra.Command {
	var (
		in             input
		dir            string
		hours          float64
		raw, anonymise bool
		key            string
	)
	cmd := &cobra.Command{
		Use:  "record SOURCE...",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case dir == "":
				return errors.New("-o DIR is missing: the folder to write to")
			case !(hours >= 0 && hours <= 24*366):
				return fmt.Errorf("--hours: found %v, want 0 to 8784", hours)
			case anonymise && raw:
				return errors.New("--anonymise: not with --raw: a whole answer has names in places that homenode does not know")
			case !anonymise && key != "":
				return errors.New("--key is for --anonymise")
			case anonymise && key == "":
				key = filepath.Clean(dir) + ".key.json"
			}
			if err := in.check(); err != nil {
				return err
			}
			lives, demo, err := in.targets(cmd, args)
			if err != nil {
				return err
			}
			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			var all sync.WaitGroup
			if demo != nil {
				defer demo.close()
				demo.past = nil
				all.Go(func() { demo.run(ctx) })
			}
			defer all.Wait()
			defer stop()
			return runRecord(ctx, cmd, dir, time.Duration(hours*float64(time.Hour)), record.Options{Every: in.collect.Every, Raw: raw, Key: key, Version: version.String()}, lives, in.collect)
		},
	}
	in.register(cmd, "record")
	flags.Group(cmd, "what is written", func(cmd *cobra.Command) {
		fl := cmd.Flags()
		fl.StringVarP(&dir, "output", "o", "", "folder to write to; one of an earlier recording goes on")
		fl.Float64Var(&hours, "hours", 0, "end after so many hours; 0 goes on until Ctrl-C")
		fl.BoolVar(&raw, "raw", false, "keep answers whole, not only the rows that homenode reads (three times as large)")
		fl.BoolVar(&anonymise, "anonymise", false, "write pseudonyms for names, UUIDs, addresses and paths")
		fl.StringVar(&key, "key", "", "with --anonymise: file for the key to the names, mode 0600; one that is there goes on, also that of a snapshot (default DIR.key.json)")
	})
	return cmd
}

// noteEvery is the interval of reports about missing hosts.
const noteEvery = time.Minute

func runRecord(ctx context.Context, cmd *cobra.Command, dir string, length time.Duration, to record.Options, lives []target, o collect.Options) error {
	r, err := record.Open(dir, to, time.Now())
	if err != nil {
		return err
	}
	o.Answers = r.Answer
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if length > 0 {
		ctx, stop = context.WithTimeout(ctx, length)
		defer stop()
	}
	var all sync.WaitGroup
	var collectors []*collect.Collector
	for _, t := range lives {
		c := collect.New(t.name, t.dial, r, o)
		collectors = append(collectors, c)
		all.Go(func() { c.Run(ctx) })
	}
	fmt.Fprintf(cmd.OutOrStdout(), "homenode: recording to %s until Ctrl-C\n", texttab.Clean(dir))
	told := map[string]string{}
	note := func() {
		var status []collect.Status
		for _, c := range collectors {
			status = append(status, c.Status())
		}
		r.Note(status, time.Now())
		tellNew(cmd.ErrOrStderr(), status, told)
	}
	for wait := min(noteEvery, o.Every); ctx.Err() == nil && r.Err() == nil; wait = noteEvery {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			note()
		}
	}
	stop()
	all.Wait()
	note()
	if err := r.Close(time.Now()); err != nil {
		return err
	}
	if to.Key != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: the key to %d names; keep it to yourself\n", to.Key, r.Names())
	}
	return recorded(cmd.OutOrStdout(), r, dir)
}

// tellNew prints errors and advice of vCenters that were not printed before.
func tellNew(w io.Writer, status []collect.Status, told map[string]string) {
	for i := range status {
		s := &status[i]
		if why := s.Error; why != told[s.Name] {
			told[s.Name] = why
			if why != "" {
				fmt.Fprintf(w, "homenode: %s: %s\n", texttab.Clean(s.Name), texttab.Clean(why))
			}
		}
		if s.Advice != "" && s.Advice != told["advice "+s.Name] {
			told["advice "+s.Name] = s.Advice
			fmt.Fprintf(w, "homenode: %s: %s\n", texttab.Clean(s.Name), s.Advice)
		}
	}
}

// recorded prints the amount of recorded data. A host without an answer is an error.
func recorded(w io.Writer, r *record.Recorder, dir string) error {
	answers, silent := 0, 0
	for _, h := range r.Hosts() {
		answers += h.Answers
		if h.Answers == 0 {
			silent++
		}
	}
	fmt.Fprintf(w, "%s of %s\n", words.Plural(answers, "answer"), words.Plural(len(r.Hosts())-silent, "host"))
	if silent > 0 || answers == 0 {
		return fmt.Errorf("%s gave no answer: %s/meta.json says why", words.Plural(silent, "host"), texttab.Clean(dir))
	}
	return nil
}
