//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"example.org/homenode/cmd/bench/contest"
)

// command measures the duration of the whole process.
func command(ctx context.Context, s *settings, _ *peer, w io.Writer) (goals []goal, err error) {
	if s.homenode == "" {
		return nil, nil
	}
	t := contest.Table{Markdown: s.markdown}
	t.Row("", "seconds", "exit code")
	for _, run := range []struct {
		args []string
		most float64
	}{{[]string{"measure", "--quick", "--force"}, 5}, {[]string{"measure", "--force"}, 60}} {
		cmd := exec.CommandContext(ctx, s.homenode, run.args...)
		start := time.Now()
		err := cmd.Run()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 { // 1: unreliable results, for example on a busy machine
			return nil, fmt.Errorf("%s: %w", cmd, err)
		}
		seconds, name := time.Since(start).Seconds(), "homenode "+strings.Join(run.args, " ")
		t.Row(name, contest.Figure(seconds), fmt.Sprint(cmd.ProcessState.ExitCode()))
		goals = append(goals, goal{"`" + name + "`", fmt.Sprintf("at most %g s", run.most), contest.Figure(seconds) + " s", seconds <= run.most})
	}
	return goals, t.Write(w, "The whole command")
}
