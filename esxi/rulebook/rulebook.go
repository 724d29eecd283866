// Package rulebook contains the statements that predictions and rules cite by id (B-15, C-13): each
// in one or two sentences, with its public source. The points on which sources contradict each
// other (F-…) are vnuma.ChoiceList.
package rulebook

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strings"
)

// A Statement is one rule of ESX's NUMA behaviour or, with the letter G, of that of KVM.
type Statement struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Source string `json:"source"` // public; "inferred" where no source states it
}

//go:embed statements.md
var table string

// Statements lists the statements by ID.
var Statements = parseStatements(table)

// parseStatements parses the rows of a Markdown table below its header.
func parseStatements(table string) (out []Statement) {
	for _, row := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		out = append(out, Statement{cells[0], cells[1], cells[2]})
	}
	return out
}

// Version returns the edition of the statements: the beginning of their SHA-256.
func Version() string {
	sum := sha256.Sum256([]byte(table))
	return hex.EncodeToString(sum[:4])
}

// Find returns the statement with this ID, ignoring case.
func Find(id string) (Statement, bool) {
	for _, s := range Statements {
		if strings.EqualFold(s.ID, id) {
			return s, true
		}
	}
	return Statement{}, false
}
