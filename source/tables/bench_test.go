package tables

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// largeExport is an export of vms VMs on a host for each 20 of them, with the
// columns of export4 and as many others as vInfo has in 4.7.
func largeExport(b *testing.B, vms int) testSheets {
	b.Helper()
	s := readExport4(b)
	grow := func(sheet string, n int, fill func(row []string, i int)) {
		rows, model := s[sheet][:1:1], s[sheet][1]
		for _, row := range s[sheet] {
			if row[0] == "db01" { // the same VM in all sheets
				model = row
			}
		}
		for i := range n {
			row := slices.Clone(model)
			fill(row, i)
			rows = append(rows, row)
		}
		s[sheet] = rows
	}
	// A custom column Host stands before the real one.
	column := func(sheet, header string) int {
		for i, h := range slices.Backward(s[sheet][0]) {
			if h == header {
				return i
			}
		}
		b.Fatalf("no column %q in %s", header, sheet)
		return 0
	}
	for i := range 70 { // vInfo of 4.7 has 90 columns
		s["vInfo"][0] = append(s["vInfo"][0], fmt.Sprintf("Custom %d", i))
		s["vInfo"][1] = append(s["vInfo"][1], "notConfigured")
	}
	for _, sheet := range []string{"vInfo", "vCPU", "vMemory"} {
		name, id := column(sheet, "VM"), column(sheet, "VM ID")
		grow(sheet, vms, func(row []string, i int) {
			row[name], row[id] = fmt.Sprintf("vm%05d", i), fmt.Sprintf("vm-%d", i)
			if sheet == "vInfo" {
				row[column(sheet, "Host")] = fmt.Sprintf("esx%04d", i/20)
			}
		})
	}
	name, id := column("vHost", "Host"), column("vHost", "Object ID")
	grow("vHost", vms/20, func(row []string, i int) {
		row[name], row[id] = fmt.Sprintf("esx%04d", i), fmt.Sprintf("host-%d", i)
	})
	return s
}

func BenchmarkRead(b *testing.B) {
	for _, vms := range []int{1000, 10000} {
		s := largeExport(b, vms)
		dir := tempFolder(b, s.csvs(","))
		book := tempFile(b, "fleet.xlsx", s.xlsx(b))
		for _, form := range []struct{ name, path string }{{"csv", dir}, {"xlsx", book}} {
			b.Run(fmt.Sprintf("%s/vms=%d", form.name, vms), func(b *testing.B) {
				b.SetBytes(size(b, form.path))
				b.ReportAllocs()
				other := time.Duration(0)
				if form.name == "xlsx" {
					other = byExcelize(b, form.path)
				}
				for b.Loop() {
					f, err := Read(form.path)
					if err != nil {
						b.Fatal(err)
					}
					if len(f.VMs) != vms || len(f.Notes) != 1 || f.VMs[vms-1].CoresPerSocket.Value != 12 || f.VMs[vms-1].Host == "" {
						b.Fatalf("found %d VMs with notes %v", len(f.VMs), f.Notes)
					}
				}
				if other > 0 {
					b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/other.Seconds(), "of-excelize")
				}
			})
		}
	}
}

// byExcelize returns how long excelize takes to yield the same rows.
func byExcelize(b *testing.B, path string) time.Duration {
	b.Helper()
	begun := time.Now()
	book, err := excelize.OpenFile(path, excelize.Options{RawCellValue: true})
	if err != nil {
		b.Fatal(err)
	}
	defer book.Close()
	for _, sheet := range []string{"vHost", "vInfo", "vCPU", "vMemory"} {
		rows, err := book.Rows(sheet)
		if err != nil {
			b.Fatal(err)
		}
		for rows.Next() {
			if _, err := rows.Columns(); err != nil {
				b.Fatal(err)
			}
		}
	}
	return time.Since(begun)
}

// size returns the bytes of a file or of the files in a folder.
func size(b *testing.B, path string) int64 {
	b.Helper()
	var n int64
	err := filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}
