package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/spf13/cobra"

	"homenode/queue"
	"homenode/rule"
)

func newWork() *cobra.Command {
	var q queueAccess
	here := queue.Here{Version: version()}
	cmd := &cobra.Command{
		Use:   "work --queue URL --root DIR",
		Short: "Reads files of an archive of captures for whoever put them into a queue",
		Long: `work takes files of an archive from a queue, reads them and stores what they hold there, until it is stopped.
Any number of these processes on any number of machines work on the same archive: --root is the folder that
homenode capture --archive DIR names, as this machine sees it.

A file is acknowledged when its result is stored. A worker that is stopped gives its files back; one that is
killed loses them after half a minute, and others read them. Nothing counts twice. A worker that does not see a
file as the archive listed it, or that is another version of homenode, gives it back too and says why.`,
		Example: `  homenode work --queue nats://127.0.0.1:4222 --root /mnt/esxtop
  homenode work --queue tls://queue.example.com:4222 --token-file token --queue-ca ca.pem --root /mnt/esxtop --parquet /mnt/lake`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.url == "" || here.Root == "" {
				return errors.New("want --queue URL and --root DIR")
			}
			if info, err := os.Stat(here.Root); err != nil {
				return err
			} else if !info.IsDir() {
				return fmt.Errorf("--root %s: found a file, want the folder of the archive", here.Root)
			}
			if here.AtOnce < 1 {
				return fmt.Errorf("--at-once: found %d, want 1 or more", here.AtOnce)
			}
			c, err := q.dial(cmd, teller(cmd))
			if err != nil {
				return err
			}
			defer c.Close()
			var done, back atomic.Int64
			err = c.Work(cmd.Context(), queue.WorkOptions{Handlers: queue.Handlers(here), AtOnce: here.AtOnce, Name: processName(), Did: func(gaveBack bool) {
				if gaveBack {
					back.Add(1)
				} else {
					done.Add(1)
				}
			}})
			text := "homenode: worked on " + rule.Plural(int(done.Load()), "file")
			if n := back.Load(); n > 0 {
				text += fmt.Sprintf(", gave %d back for other workers", n)
			}
			fmt.Fprintln(cmd.ErrOrStderr(), text)
			return err
		},
	}
	q.register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&here.Root, "root", "", "folder of the archive")
	fl.StringVar(&here.Parquet, "parquet", "", "also write all counters as Parquet files to this folder (docs/parquet.md)")
	fl.IntVar(&here.AtOnce, "at-once", runtime.GOMAXPROCS(0), "files at a time")
	return cmd
}
