package tables

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRelatives reads one table of two VMs as programs and people in many countries write it: no VM is lost, none is made up, and each
// number is the same.
func TestRelatives(t *testing.T) {
	const head, a, b = "VM,Powerstate,CPUs,Memory MB,Host,Cluster\r\n", "a,poweredOn,4,8192,esx1,c\r\n", "b,poweredOn,8,16384,esx1,c\r\n"
	const plain = head + a + b
	semicolon := strings.NewReplacer(",", ";")
	for name, text := range map[string]string{
		"commas":                   plain,
		"tabs":                     strings.ReplaceAll(plain, ",", "\t"),
		"bars":                     strings.ReplaceAll(plain, ",", "|"),
		"semicolons and a mark":    "\ufeff" + semicolon.Replace(plain),
		"sep=":                     "sep=;\r\n" + semicolon.Replace(plain),
		"UTF-16":                   string(utf16LE([]byte(plain))),
		"narrow spaces":            semicolon.Replace(head) + "a;poweredOn;4;8\u202f192;esx1;c\r\nb;poweredOn;8;16\u202f384;esx1;c\r\n",
		"spaces that do not break": semicolon.Replace(head) + "a;poweredOn;4;8\u00a0192;esx1;c\r\nb;poweredOn;8;16\u00a0384;esx1;c\r\n",
		"apostrophes":              semicolon.Replace(head) + "a;poweredOn;4;8'192;esx1;c\r\nb;poweredOn;8;16\u2019384;esx1;c\r\n",
		"quoted thousands":         head + "a,poweredOn,4,\"8,192\",esx1,c\r\nb,poweredOn,8,\"16,384\",esx1,c\r\n",
		"spaces and commas":        "Name;NumCpu;MemoryMB\r\na;4;8\u00a0192,00\r\nb;8;16\u00a0384,00\r\n",
		"sockets and cores":        "VM,Sockets,Cores/Socket,Memory MB\r\na,2,2,8192\r\nb,2,4,16384\r\n",
		"decimal commas":           "Name;NumCpu;MemoryGB\r\na;4;8,0\r\nb;8;16,0\r\n",
		"units in cells":           "Name,CPUs,Memory Size\r\na,4,8 GB\r\nb,8,16.00 GB\r\n",
		"headers twice":            "VM,CPUs,Memory MB,CPUs\r\na,4,8192,9\r\nb,8,16384,9\r\n",
		"line breaks in headers":   "\"VM\",\"Number of\nCPUs\",\"Memory\n(MB)\"\r\na,4,8192\r\nb,8,16384\r\n",
		"line breaks in cells":     "VM,Annotation,CPUs,Memory MB\r\na,\"one\ntwo, 3\n\",4,8192\r\nb,\"x \"\"y\"\" z\",8,16384\r\n",
		"spaces before quotes":     "\"VM\", \"CPUs\", \"Memory MB\"\r\n\"a\", \"4\", \"8192\"\r\n\"b\", \"8\", \"16384\"\r\n",
		"a title":                  "Inventory Report, all of it\r\nGenerated: 2026-01-01\r\n\r\n" + semicolon.Replace(plain),
		"a total":                  plain + "Total,,12,24576,,\r\n",
		"a total elsewhere":        plain + "Summe (2),,12,24576,,\r\n",
		"a total of others too":    plain + "Total,,16,32768,,\r\n",
		"a total of all VMs":       plain + "Grand Total: 2 VMs,,13,,,\r\n",
		"a total of a pivot":       plain + "Gesamtergebnis,,12,24576,,\r\n",
		"a total, in German":       plain + "Insgesamt,,12,24576,,\r\n",
		"physical by platform":     "Name,vCPUs,Memory MB,Hypervisor\r\na,4,8192,VMware ESXi\r\nb,8,16384,VMware ESXi\r\nc,64,786432,Physical\r\n",
		"physical by kind":         "Name,Type,vCPUs,Memory MB\r\na,Virtual,4,8192\r\nb,Virtual,8,16384\r\nc,Physical,64,786432\r\nd,Bare Metal,64,786432\r\n",
		"an average":               plain + "Average,,6,12288,,\r\n",
		"a sum and a mean":         plain + "Sum,,14,,,\r\nMittelwert,,6,12288,,\r\n",
		"a sum of memory":          plain + "Total,,,24 GB,,\r\n",
		"a count":                  plain + "Anzahl VMs: 2,,2,,,\r\n",
		"a total without a name":   plain + ",,12,24576,,\r\n",
		"a remark":                 plain + "\r\nReport generated 2026-01-01 by admin\r\n",
		"a remark in a row":        plain + "2 rows,,,,,\r\n",
		"a header again":           head + a + head + b,
		"empty lines":              strings.ReplaceAll(plain, "\r\n", "\r\n\r\n"),
		"old line ends":            strings.ReplaceAll(plain, "\r\n", "\r"),
		"an end of DOS":            plain + "\x1a",
	} {
		f := mustRead(t, tempFile(t, "vms.csv", []byte(text)))
		var got []string
		for _, v := range f.VMs {
			got = append(got, fmt.Sprintf("%s %d %s", v.Name, v.VCPUs.Value, v.Memory.Value))
		}
		if want := []string{"a 4 8 GB", "b 8 16 GB"}; !slices.Equal(got, want) {
			t.Errorf("%s: found %v, want %v; notes %v", name, got, want, f.Notes)
		}
	}
	for _, name := range []string{"totals", "total", "summer", "average", "max", "count01"} { // a VM may be called so
		f := mustRead(t, tempFile(t, "vms.csv", []byte(head+a+b+name+",poweredOn,2,4096,esx1,c\r\n")))
		if len(f.VMs) != 3 {
			t.Errorf("%s: %d VMs, want 3", name, len(f.VMs))
		}
	}
}
