package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/spf13/cobra"

	"homenode/capture/archive"
	"homenode/change/sweep"
	"homenode/cmd/homenode/flags"
	"homenode/internal/queue"
	"homenode/internal/version"
	"homenode/rules/rule"
)

func newWork() *cobra.Command {
	var q flags.Queue
	here := archive.Here{Version: version.String()}
	cmd := described("work", &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.URL == "" {
				return errors.New("want --queue URL, and --root DIR for an archive")
			}
			if err := checkRoot(&here); err != nil {
				return err
			}
			if here.AtOnce < 1 {
				return fmt.Errorf("--at-once: found %d, want 1 or more", here.AtOnce)
			}
			c, err := q.Dial(cmd, flags.Teller(cmd))
			if err != nil {
				return err
			}
			defer c.Close()
			var done, back atomic.Int64
			handlers := sweep.Handlers(here.Version, c.Input)
			if here.Root != "" {
				maps.Copy(handlers, archive.Handlers(here))
			}
			err = c.Work(cmd.Context(), queue.WorkOptions{Handlers: handlers, AtOnce: here.AtOnce, Name: flags.ProcessName(), Did: func(gaveBack bool) {
				if gaveBack {
					back.Add(1)
				} else {
					done.Add(1)
				}
			}})
			noun := "file"
			if here.Root == "" {
				noun = "point"
			}
			text := "homenode: worked on " + rule.Plural(int(done.Load()), noun)
			if n := back.Load(); n > 0 {
				text += fmt.Sprintf(", gave %d back for other workers", n)
			}
			fmt.Fprintln(cmd.ErrOrStderr(), text)
			return err
		},
	})
	q.Register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&here.Root, "root", "", "folder of the archive; without it no captures are read")
	fl.StringVar(&here.Parquet, "parquet", "", "also write all counters as Parquet files to this folder (docs/parquet.md)")
	fl.IntVar(&here.AtOnce, "at-once", runtime.GOMAXPROCS(0), "files or points at a time")
	return cmd
}

// checkRoot looks at the folder of the archive, which whoever simulates does not need.
func checkRoot(here *archive.Here) error {
	if here.Root == "" {
		if here.Parquet != "" {
			return errors.New("--parquet: only with --root DIR")
		}
		return nil
	}
	info, err := os.Stat(here.Root)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("--root %s: found a file, want the folder of the archive", here.Root)
	}
	return err
}
