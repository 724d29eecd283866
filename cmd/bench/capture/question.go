//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// answer is the process of a contender written in Go: answer READER FILE. It prints the answer
// and the seconds since opening the file.
func answer(args []string) error {
	if len(args) != 2 {
		return errors.New("answer: want a reader and a file")
	}
	read, ok := readers[args[0]]
	if !ok {
		return fmt.Errorf("answer: no reader %q", args[0])
	}
	f, err := os.Open(args[1])
	if err != nil {
		return err
	}
	defer f.Close()
	start := time.Now()
	got, err := read(f)
	if err != nil {
		return err
	}
	fmt.Printf("%s seconds=%.6f\n", got, time.Since(start).Seconds())
	return nil
}

// readers are the contenders written in Go.
var readers = map[string]func(*os.File) (fmt.Stringer, error){
	"reader":  byReader,
	"ticks":   byTicks,
	"all":     allByReader,
	"csv":     byEncodingCSV,
	"csv-all": allByEncodingCSV,
}

// A total is the answer when every column is converted: the sum and the count of all numbers in
// the file, in hundredths. Home nodes are not numbers.
type total struct {
	rows, columns int
	sum           int64
}

func (t total) String() string {
	return fmt.Sprintf("rows=%d columns=%d total=%d", t.rows, t.columns, t.sum)
}
