package ask_test

import (
	"context"
	"fmt"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/numa"
	"example.org/homenode/source/open"
	"example.org/homenode/source/scenario"
)

// A front end asks a question: it sets fields by their names, and provides the reader of fleets.
func Example() {
	env := &ask.Env{Today: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC), Open: func(_ context.Context, sources []string, _ open.Options) (*numa.Fleet, []numa.Note, error) {
		f, err := scenario.Read(sources[0], []byte("release 7.0U3\nhost esx01 nodes=2 cores=18 memory=1024GB\nvm sql01 host=esx01 vcpus=32 memory=256GB hotAdd=on\n"))
		return f, nil, err
	}}
	question := fleet.AssessEntry.Ask()
	for _, f := range ask.Fields(question) {
		if f.Name == "source" {
			if err := f.Set("fleet.txtar"); err != nil {
				fmt.Println(err)
			}
		}
	}
	reply, err := fleet.AssessEntry.Answer(context.Background(), question, env)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Answers[0].Verdict[0])
	fmt.Println(reply.Answers[0].Findings.Findings[0].Rule, reply.Found)
	// Output:
	// NUMA slows 1 of 1 VM.
	// N001 true
}
