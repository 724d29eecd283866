//go:build linux

// Command capturebench measures how fast an esxtop capture is read. It compares homenode with
// encoding/csv, polars, DuckDB and esx-doctor, which all answer one question about one
// generated file, and with the limits of the machine for the same bytes. The contenders run in
// turns, each in its own process; the results are medians.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "capturebench:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "generate":
			return generateFile(args[1:])
		case "answer":
			return answer(args[1:])
		case "limit":
			return limit(args[1:])
		}
	}
	s := settings{}
	fl := flag.NewFlagSet("capturebench", flag.ContinueOnError)
	fl.Int64Var(&s.megabytes, "mb", 500, "size of the capture in MB (10^6 bytes)")
	fl.Int64Var(&s.longMB, "long-mb", 2000, "size of a longer one, for the memory of homenode; 0 leaves it out")
	fl.IntVar(&s.columns, "columns", 50_000, "columns of the capture")
	fl.IntVar(&s.cores, "cores", 2, "most cores that a contender gets, 1 or 2")
	fl.IntVar(&s.rounds, "rounds", 5, "rounds; each one runs every contender once")
	fl.IntVar(&s.slowRounds, "slow-rounds", 1, "rounds of contenders that take more than 5 s")
	fl.StringVar(&s.folder, "folder", "", "where the captures are written and removed again; empty means the temporary folder")
	fl.StringVar(&s.homenode, "homenode", "", "binary of homenode; empty leaves the whole command out")
	fl.StringVar(&s.python, "python", "", "Python that has polars and duckdb; empty leaves them out")
	fl.Int64Var(&s.duckMB, "duckdb-mb", 0, "size of a shorter capture for DuckDB alone; 0 gives it the same file")
	fl.StringVar(&s.esxDoctor, "esx-doctor", "", "folder of a clone of github.com/haoyifan/esx-doctor; empty leaves it out")
	fl.BoolVar(&s.markdown, "markdown", false, "print the tables as Markdown")
	only := fl.String("only", "", "run only contenders whose name holds this text")
	if err := fl.Parse(args); err != nil {
		return err
	}
	if fl.NArg() > 0 {
		return fmt.Errorf("found the argument %q, want flags only", fl.Arg(0))
	}
	s.only = strings.ToLower(*only)
	return measure(&s)
}

// settings has the flags.
type settings struct {
	megabytes, longMB, duckMB   int64
	columns, rounds, slowRounds int
	cores                       int
	folder                      string
	homenode                    string
	python, esxDoctor           string
	only                        string
	markdown                    bool
}

// generateFile is the process that writes one capture: generate [-mb N] [-columns N] FILE.
func generateFile(args []string) error {
	fl := flag.NewFlagSet("generate", flag.ContinueOnError)
	megabytes := fl.Int64("mb", 500, "size in MB (10^6 bytes)")
	columns := fl.Int("columns", 50_000, "columns")
	if err := fl.Parse(args); err != nil {
		return err
	}
	if fl.NArg() != 1 {
		return errors.New("generate: want one file")
	}
	made, err := generate(filepath.Clean(fl.Arg(0)), *columns, *megabytes*1e6)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(made)
}
