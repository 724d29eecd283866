//go:build linux

package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// source is the program in C. Its commands are listed at the top.
//
//go:embed peer/peer.c
var source []byte

// A peer is the running program in C, which waits for commands.
type peer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	folder string
}

// startPeer compiles the program and starts it. The caller closes it.
func startPeer(ctx context.Context, cc string) (*peer, error) {
	folder, err := os.MkdirTemp("", "measurebench")
	if err != nil {
		return nil, err
	}
	p := &peer{folder: folder}
	if err := p.start(ctx, cc); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return p, nil
}

func (p *peer) start(ctx context.Context, cc string) error {
	file, binary := filepath.Join(p.folder, "peer.c"), filepath.Join(p.folder, "peer")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, cc, "-O2", "-pthread", "-o", binary, file).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cc, err, out)
	}
	p.cmd = exec.CommandContext(ctx, binary)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	p.out = bufio.NewScanner(out)
	return p.cmd.Start()
}

// close ends the program and removes its files.
func (p *peer) close() error {
	return errors.Join(p.in.Close(), p.cmd.Wait(), os.RemoveAll(p.folder))
}

// line sends a command and returns the answer.
func (p *peer) line(format string, args ...any) (string, error) {
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		return "", err
	}
	if !p.out.Scan() {
		return "", fmt.Errorf("the program in C ended: %w", errors.Join(p.out.Err(), io.ErrUnexpectedEOF))
	}
	if strings.HasPrefix(p.out.Text(), "error") {
		return "", errors.New("the program in C: " + p.out.Text())
	}
	return p.out.Text(), nil
}

// do sends a command and returns the numbers of the answer.
func (p *peer) do(format string, args ...any) ([]float64, error) {
	text, err := p.line(format, args...)
	if err != nil {
		return nil, err
	}
	var out []float64
	for field := range strings.FieldsSeq(text) {
		x, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
