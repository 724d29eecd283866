package open

import (
	"fmt"
	"io"
	"os"

	"homenode/source/evidence"
	"homenode/source/tables"
	"homenode/source/text"
	"homenode/source/ticks"
)

// Elsewhere says what the file at path is and which command reads it, for the error of a command that does not; empty for a file
// that no command reads.
func Elsewhere(path string) string {
	if !isFile(path) {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, text.HeadSize)) // what could be read tells
	if ticks.Detect(head) == "" && tables.Holds(path) {
		return inventoryWay(path)
	}
	return ElsewhereOf(path, head)
}

func inventoryWay(name string) string {
	return fmt.Sprintf("%s is an inventory: homenode assess %[1]s reads it, homenode serve --fleet %[1]s shows it in a browser", name)
}

// ElsewhereOf is Elsewhere for a file of which the name and the beginning are known. What happened over time is for homenode
// capture and the pages of captures.
func ElsewhereOf(name string, head []byte) string {
	plain := text.Decoded(head)
	format := evidence.Format(plain)
	switch {
	case ticks.Detect(head) != "":
		return fmt.Sprintf("%s shows what happened over time: homenode capture %[1]s reads it", name)
	case tables.Workbook(name, head), fleetLine.Match(plain):
		return inventoryWay(name)
	case format != "":
		return fmt.Sprintf("%s is evidence about a host or guest (%s): homenode explain %[1]s prints it, --evidence %[1]s adds it to a fleet", name, format)
	case tables.HeadHolds(name, head):
		return inventoryWay(name)
	}
	return ""
}
