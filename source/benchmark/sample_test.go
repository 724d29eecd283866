package benchmark

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// loadedValues joins the columns of a loaded latency table as metrics stand.
func loadedValues(rows string) string { return strings.Join(strings.Fields(rows), " ") }

// TestSamples checks every value of the real results: figures as their tools
// printed them, in the order of the file.
func TestSamples(t *testing.T) {
	dir := shared(t)
	for _, tt := range []struct {
		file     string
		runs     []string // label, and all values
		warnings int
	}{
		{"mlc/mlc_v3.9a_2node_smt_on.txt", []string{"Intel MLC: 78.5 134.8 133.7 79.2 " +
			"222557.1 207303.4 205252.9 197367.3 184524.3 111388 51085.7 51081 111529.8 " + loadedValues(`
			252.82 222894 253.5 222858.7 252.77 222957.4 253.5 223114.1 251.09 223272.7 244.21 222969.8 125.49 188404.7
			101.84 131250.4 97.61 100028 95.99 80892.6 94.6 58536.7 91.29 41548.5 86.04 32326.8 84.35 24986.2
			82.65 17299.8 82.38 12600.9 81.76 9074.8 81.45 5396.7 79.83 2878.4`) +
			" 50.3 50.3 112.8 112.7 176.5 177.3"}, 0},
		{"mlc/mlc_v3.9a_2node_smt_off.txt", []string{"Intel MLC: 78.5 134.8 133.7 79.2 " +
			"226326.3 209234.5 207599.9 197546.5 191025 113227.2 51342.8 51358.3 113237.1 " + loadedValues(`
			266 226520 263.08 226417 262.86 226524.5 264.75 227171.4 238.83 230500.5 178.15 226078.4 118.28 169321.7
			106.08 124954.8 102.56 97018.4 99.12 78967.9 92.49 57617.3 89.2 41099.2 88.05 32030.6 85.31 24785.1
			84.55 17195.3 84.22 12542.8 84.63 9017.4 83.73 5354.9 82.04 2852.6`) +
			" 50.3 50.3 112.7 112.7 177.2 177.2"}, 0},
		{"mlc/mlc_loaded_latency_denneman2016_numa.txt", []string{"Intel MLC: " + loadedValues(`
			185.58 113083.7 185.87 112884.8 185.26 113111.4 186.11 113034.6 183.58 113029.8 122.92 99408.9 102.24 55891.9
			93.07 38191.1 89.69 29032.2 88.05 23541.1 85.45 17160.6 82.93 12318.5 81.63 9689.6 80.36 7619.5
			79.27 5456.5 78.57 4138.9 78.1 3148.7 77.5 2120.9 77.21 1412.2`)}, 0},
		{"mlc/mlc_loaded_latency_denneman2016_suma_node_interleaving_on.txt", []string{"Intel MLC: " + loadedValues(`
			237.05 92409.7 236.75 92665 235.69 92711.9 235.23 92763.6 226.35 92989.1 170.99 92309.9 127.43 55652.6
			119.45 38017.2 116.09 28854.3 114.01 23370.6 112.23 16978.5 110.62 12123.8 109.66 9488.6 108.9 7412.9
			108.4 5238.6 108.24 3915.9 108.15 2909.7 108.07 1885.9 108.04 1175.6`)}, 0},
		{"mlc/fdio_csit_skx_calibration.rst", []string{
			"Intel MLC: 107947.7 50951.5 50834.6 108183.4",
			"Intel MLC: 215733.9 182141.9 178615.7 149911.3 159533.6",
			"Intel MLC: 216875.73 182615.14 178745.67 149485.27 180057.87",
			"Intel MLC: 81.4 131.1 131.1 81.3",
			"Intel MLC: 80.8",
			"Intel MLC: " + loadedValues(`
			282.66 215712.8 282.14 215757.4 280.21 215868.1 279.2 216313.2 275.25 216643 227.05 215075 121.92 160242.9
			101.21 111587.4 95.48 85019.7 94.46 68717.3 92.27 49742.2 91.03 35264.8 90.11 27396.3 89.34 21178.7
			90.15 14672.8 89 10715.7 82 7788.2 81.46 4684 81.4 2541.9`),
			"Intel MLC: 53.7 53.7 113.9 113.9 177.9 177.6",
		}, 8}, // the words of the document around them
		{"passmark/performancetest_linux_cpu_memory.txt", []string{
			"PassMark: 21648 65484 47066 73.2 32004 14543 238101 3859 1497 14551 3633 8054 34741 25803 16511 61733 41 44226"}, 0},
		{"hammerdb/result_lines_current.txt", []string{
			"HammerDB TPROC-C PostgreSQL: 42332 97427", "HammerDB TPROC-C PostgreSQL: 38385 88486", "HammerDB TPROC-C PostgreSQL: 2779 6611"}, 0},
		{"fio/fio-3.42.json", []string{
			"fio /dev/nvme8n13, rw randwrite, bs 4096B, iodepth 1, numjobs 1: 5.096143 1244.175582 800.770079563 794.090278389 749.568 1089.536 1695.744 2768.896"}, 0},
		{"hcibench/hcibench283_res_from_seed.txt", []string{
			"HCIBench fio-8vmdk-90ws-32k-100rdpct-100randompct-2500lt: 721317.28 22540 2.03 2",
			"HCIBench fio-8vmdk-90ws-32k-0rdpct-100randompct-2500lt: 285892.55 8934 1.74 2",
			"HCIBench fio-8vmdk-90ws-32k-70rdpct-100randompct-2500lt: 602702.73 18834 1.55 1.99 2 2",
			"HCIBench fio-8vmdk-90ws-1024k-100rdpct-0randompct-2500lt: 22575.5 22574 6.38 6",
			"HCIBench fio-8vmdk-90ws-1024k-0rdpct-0randompct-2500lt: 15174.08 15171 8.3 12",
			"HCIBench: 19740.9 19738 5.38 8.68 7 12",
		}, 1}, // a block without a name
		{"iometer/results_header_1.1.0.csv", nil, 1}, // a header alone
	} {
		t.Run(filepath.Base(tt.file), func(t *testing.T) {
			f, err := os.Open(filepath.Join(dir, filepath.FromSlash(tt.file)))
			if err != nil {
				t.Skipf("no such sample beside the checkout: %v", err)
			}
			defer f.Close()
			res, err := Read(tt.file, f)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range res.Runs {
				s := r.Label() + ":"
				for _, m := range r.Metrics {
					s += fmt.Sprint(" ", m.Value)
				}
				got = append(got, s)
			}
			if g, w := strings.Join(got, "\n"), strings.Join(tt.runs, "\n"); g != w {
				t.Errorf("got\n%s\nwant\n%s", g, w)
			}
			if n := len(res.AllWarnings()); n != tt.warnings {
				t.Errorf("%d warnings, want %d: %v", n, tt.warnings, res.AllWarnings())
			}
		})
	}
}
