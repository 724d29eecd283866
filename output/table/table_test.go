package table_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.org/homenode/output/table"
)

func TestGuard(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"sql01", "sql01"}, {"", ""}, {"a=b", "a=b"}, {"=1", "'=1"}, {"+1", "'+1"}, {"-1", "'-1"}, {"@a", "'@a"}, {"\t=1", "'\t=1"}, {" =1", "' =1"},
		{"\r@", "'\r@"}, {"'a", "''a"}, {"''", "'''"}, {"＝1", "'＝1"}, {" ＋1", "' ＋1"}, {"\u3000－1", "'\u3000－1"}, {"＠a", "'＠a"}, {" a", " a"},
		{"-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"},
	} {
		got := table.Guard(tt.in)
		if got != tt.want || strings.TrimPrefix(got, "'") != tt.in {
			t.Errorf("Guard(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// Every kind of cell as it stands in CSV: numbers are never guarded, texts and names of
// columns are.
func TestCSV(t *testing.T) {
	at := time.Date(2026, 11, 20, 22, 5, 30, 0, time.UTC)
	for _, tt := range []struct {
		cell table.Cell
		want string
	}{
		{table.Cell{}, ""}, {table.Text(""), ""}, {table.Text("sql,01"), `"sql,01"`}, {table.Text("-1"), "'-1"}, {table.Text("\t=1"), "' =1"}, {table.Text("a\r\nb\x1b\uffff"), "a b\ufffd\ufffd"},
		{table.Number(-12), "-12"}, {table.Number(0.25), "0.25"}, {table.YesNo(true), "True"}, {table.YesNo(false), "False"}, {table.Time(at), "2026-11-20T22:05:30Z"}, {table.Time(time.Time{}), ""},
		{table.Figure("-12"), "-12"}, {table.Figure("+38 %"), "+38 %"}, {table.Figure("+23%"), "+23%"}, {table.Figure("-1,234.5 GHz"), `"-1,234.5 GHz"`}, {table.Figure("-80 % VMs"), "-80 % VMs"}, {table.Figure("12 %"), "12 %"},
		{table.Figure("-"), "'-"}, {table.Figure(" =1+1"), "' =1+1"}, {table.Figure("＝1+1"), "'＝1+1"}, {table.Figure("@x"), "'@x"}, {table.Figure("'x"), "''x"},
		{table.Figure("-4.2 GiB"), "-4.2 GiB"}, {table.Figure("+25 % VMs"), "+25 % VMs"}, {table.Figure("+cmd"), "'+cmd"}, {table.Figure("+1|cmd!A1"), "'+1|cmd!A1"}, {table.Figure("-2=3"), "'-2=3"}, {table.Figure("+1(2)"), "'+1(2)"},
		{table.Numeric("1,234.5"), "1234.5"}, {table.Numeric("-12"), "-12"}, {table.Numeric("8 + 1"), "8 + 1"}, {table.Numeric("1,2"), `"1,2"`}, {table.Numeric("+38 %"), "+38 %"}, {table.Numeric("=1"), "'=1"}, {table.Numeric("1e5"), "1e5"}, {table.Numeric(""), ""},
		{table.Figure("-1+1"), "'-1+1"}, {table.Figure("-1*A1"), "'-1*A1"}, {table.Figure("+1 A1"), "'+1 A1"}, {table.Figure("-1+cmd|' /C calc'!A0"), "'-1+cmd|' /C calc'!A0"}, {table.Figure("＋38 %"), "'＋38 %"},
	} {
		var b strings.Builder
		if err := table.CSV(&b, table.Of("t", []table.Column{{Name: "=x"}, {Name: "y"}}, [][]table.Cell{{tt.cell, {}}})); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), "'=x,y\r\n"+tt.want+",\r\n"; got != want {
			t.Errorf("%#v: wrote %q, want %q", tt.cell, got, want)
		}
	}
}

func TestCSVOfSeveral(t *testing.T) {
	var b strings.Builder
	verdict := table.Of("verdict", []table.Column{{Name: "text"}}, [][]table.Cell{{table.Text("-1 fits")}})
	fit := table.Of("fit", []table.Column{{Name: "VM"}, {Name: "vCPUs"}}, [][]table.Cell{{table.Text("a"), table.Number(2)}, {table.Text("@b"), {}}})
	if err := table.CSV(&b, verdict, fit); err != nil {
		t.Fatal(err)
	}
	const want = "text\r\n'-1 fits\r\nVM,vCPUs\r\na,2\r\n'@b,\r\n"
	if got := b.String(); got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

// A writer that fails ends the rows.
func TestCSVStops(t *testing.T) {
	full := errors.New("disk full")
	rows := 0
	endless := table.Table{Columns: []table.Column{{Name: "n"}}, Rows: func(yield func([]table.Cell) bool) {
		for yield([]table.Cell{table.Number(rows)}) {
			rows++
		}
	}}
	if err := table.CSV(failing{full}, endless); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestNamed(t *testing.T) {
	all := []table.Table{{Name: "vms"}, {Name: "hosts", Len: 2}}
	if got, ok := table.Named(all, "hosts"); !ok || got.Len != 2 {
		t.Errorf("hosts: %+v, %v", got, ok)
	}
	if _, ok := table.Named(all, "nodes"); ok {
		t.Error("found a table nodes")
	}
}
