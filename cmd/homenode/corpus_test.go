package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
)

// The corpus: questions, one command line each, and the data of their answers. docs/architecture.md says how to change it.
const (
	corpusQuestions = "cmd/homenode/testdata/corpus/questions.txt"
	corpusAnswers   = "cmd/homenode/testdata/corpus/answers.txt"
)

// TestCorpus asks every question of the corpus and compares the data of each answer with what was recorded: layouts, findings, numbers
// and plans, but no sentences. make corpus records the answers anew and prints the difference.
func TestCorpus(t *testing.T) {
	t.Chdir("../..") // questions name files from the root of the project
	text := golden.Read(t, corpusQuestions)
	questions := questionsOf(string(text))
	if len(questions) < 300 {
		t.Fatalf("found %d questions in %s", len(questions), corpusQuestions)
	}
	answers := map[string]string{}
	checked := newSchemas(t)
	var all strings.Builder
	for _, q := range questions {
		if answers[q] != "" {
			t.Fatalf("%s: asked twice", q)
		}
		answers[q] = corpusAnswer(t, q, checked)
		fmt.Fprintf(&all, "$ homenode %s\n%s\n", q, answers[q])
	}
	checked.compare(t)
	if golden.Updating() {
		golden.Write(t, corpusAnswers, []byte(all.String()))
		return
	}
	recorded := golden.Read(t, corpusAnswers)
	was := map[string]string{}
	for block := range strings.SplitSeq("\n"+string(recorded), "\n$ homenode ") {
		q, answer, _ := strings.Cut(block, "\n")
		was[q] = answer
	}
	delete(was, "")
	for _, q := range questions {
		if got, want := strings.TrimSpace(answers[q]), strings.TrimSpace(was[q]); got != want {
			t.Errorf("homenode %s\n%s", q, lineDifference(want, got))
		}
		delete(was, q)
	}
	for q := range was {
		t.Errorf("an answer is recorded of a question that is not asked: %s", q)
	}
}

// questionsOf returns the command lines of a list of questions.
func questionsOf(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// corpusAnswer asks a question and returns the data of its answer, a value or a short object a line.
func corpusAnswer(t *testing.T, question string, checked *schemas) string {
	t.Helper()
	words := shellWords(question)
	if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--format") }) {
		words = append(words, "--format=json")
	}
	var stdin []byte
	if at := slices.Index(words, "<"); at > 0 && at+1 < len(words) {
		var err error
		if stdin, err = os.ReadFile(words[at+1]); err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		words = slices.Delete(words, at, at+2)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), words, bytes.NewReader(stdin), &out, &errs)
	var value any
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &value); err != nil {
			t.Errorf("%s: %v", question, err)
		}
		checked.check(t, question, out.Bytes())
	} else if code != exitError {
		t.Errorf("%s: no answer, exit code %d: %s", question, code, errs.String())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "exit code %d\n", code)
	if data := dataOf(value); data != nil {
		writeData(&b, "", "", data)
	}
	return b.String()
}

// notData are members of answers that depend on the build, on the clock or on where a fact stands in its file.
var notData = []string{"homenode", "command", "question", "collected", "made", "at", "origin", "took", "next", "checksum", "version", "whole"}

// dataOf returns what of an answer is data: without sentences, places, times of the run, and what is empty then; nil for nothing.
func dataOf(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, member := range v {
			if data := dataOf(member); data != nil && !slices.Contains(notData, key) {
				out[key] = data
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		var out []any
		for _, element := range v {
			if data := dataOf(element); data != nil {
				out = append(out, data)
			}
		}
		if out == nil {
			return nil
		}
		return out
	case string:
		if v == "" || len(strings.Fields(v)) > 3 {
			return nil
		}
	}
	return value
}

// writeData writes a value: as one line when it is short, else its members or elements a line each.
func writeData(b *strings.Builder, indent, name string, value any) {
	const long = 150
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was read from JSON
	}
	if name != "" {
		name += " "
	}
	if len(indent)+len(name)+len(text) <= long {
		fmt.Fprintf(b, "%s%s%s\n", indent, name, text)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		fmt.Fprintf(b, "%s%s{\n", indent, name)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			writeData(b, indent+" ", key, v[key])
		}
	case []any:
		fmt.Fprintf(b, "%s%s[\n", indent, name)
		for _, element := range v {
			writeData(b, indent+" ", "", element)
		}
	default:
		fmt.Fprintf(b, "%s%s%s\n", indent, name, text)
	}
}

// lineDifference returns the lines that one text has and the other lacks, some dozens at most.
func lineDifference(want, got string) string {
	count := map[string]int{}
	for line := range strings.SplitSeq(want, "\n") {
		count[line]++
	}
	var b strings.Builder
	most := 40
	add := func(sign, line string) {
		if most--; most >= 0 {
			fmt.Fprintf(&b, "  %s %s\n", sign, line)
		}
	}
	for line := range strings.SplitSeq(got, "\n") {
		if count[line]--; count[line] < 0 {
			add("+", line)
		}
	}
	for line := range strings.SplitSeq(want, "\n") {
		if count[line] > 0 {
			count[line]--
			add("-", line)
		}
	}
	if most < 0 {
		fmt.Fprintf(&b, "  and %d more lines\n", -most)
	}
	return b.String()
}
