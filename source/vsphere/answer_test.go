package vsphere

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
	"github.com/vmware/govmomi/vim25/xml"

	"example.org/homenode/numa"
)

const testResponse = "RetrievePropertiesExResponse"

// envelope returns an answer as vCenter writes it.
func envelope(result string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/" xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" ` +
		`xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<soapenv:Body>
<RetrievePropertiesExResponse xmlns="urn:vim25"><returnval>` + result + `</returnval></RetrievePropertiesExResponse>
</soapenv:Body>
</soapenv:Envelope>
`
}

// aVM returns an object with every kind of property; i makes it another VM.
func aVM(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<objects><obj type="VirtualMachine">vm-%d</obj>`, i)
	p := func(path, kind, value string) {
		fmt.Fprintf(&b, `<propSet><name>%s</name><val xsi:type="%s">%s</val></propSet>`, path, kind, value)
	}
	p("name", "xsd:string", fmt.Sprintf("db%04d &amp; &#228;&#x20ac; &lt;ü&gt;", i))
	fmt.Fprintf(&b, `<propSet><name>runtime.host</name><val type="HostSystem" xsi:type="ManagedObjectReference">host-%d</val></propSet>`, i%7)
	p("runtime.powerState", "VirtualMachinePowerState", "poweredOn")
	p("runtime.connectionState", "VirtualMachineConnectionState", "connected")
	p("config.template", "xsd:boolean", "false")
	p("config.version", "xsd:string", "vmx-21")
	p("config.hardware.numCPU", "xsd:int", fmt.Sprint(1+i%64))
	p("config.hardware.memoryMB", "xsd:int", "65536")
	p("config.cpuAllocation.limit", "xsd:long", "-1")
	p("config.numaInfo", "VirtualMachineVirtualNumaInfo", "<coresPerNumaNode>8</coresPerNumaNode><autoCoresPerNumaNode>true</autoCoresPerNumaNode><vnumaOnCpuHotaddExposed>0</vnumaOnCpuHotaddExposed>")
	p("config.cpuAffinity", "VirtualMachineAffinityInfo", "<affinitySet>1</affinitySet><affinitySet>2</affinitySet>")
	p("config.latencySensitivity", "LatencySensitivity", "<level>normal</level>")
	var options strings.Builder
	for k := range 60 {
		fmt.Fprintf(&options, `<OptionValue xsi:type="OptionValue"><key>guestinfo.key%d</key><value xsi:type="xsd:string">some value &quot;%d&quot;</value></OptionValue>`, k, k)
	}
	p("config.extraConfig", "ArrayOfOptionValue", options.String()+
		`<OptionValue xsi:type="OptionValue"><key>numa.autosize.cookie</key><value xsi:type="xsd:string">160082</value></OptionValue>`)
	b.WriteString(`</objects>`)
	return b.String()
}

// specification decodes an answer with the library alone.
func specification(b []byte) (token string, objects []content, err error) {
	var body methods.RetrievePropertiesExBody
	d := xml.NewDecoder(bytes.NewReader(b))
	d.TypeFunc = types.TypeFunc()
	if err := d.Decode(&soap.Envelope{Body: &body}); err != nil {
		return "", nil, err
	}
	if body.Fault_ != nil {
		return "", nil, soap.WrapSoapFault(body.Fault_)
	}
	if body.Res == nil || body.Res.Returnval == nil {
		return "", nil, nil
	}
	for _, o := range body.Res.Returnval.Objects {
		c := content{ref: o.Obj, props: map[string]any{}, missing: o.MissingSet}
		for _, p := range o.PropSet {
			switch v := p.Val.(type) {
			case nil:
			case types.ArrayOfOptionValue:
				list := optionList{total: len(v.OptionValue)}
				for _, e := range v.OptionValue {
					if e == nil {
						continue
					}
					if o := e.GetOptionValue(); p.Name != "config.extraConfig" || keepSetting(o.Key) {
						list.kept = append(list.kept, numa.Setting{Key: o.Key, Value: optionText(o.Value)})
					}
				}
				c.props[p.Name] = list
			case types.ArrayOfManagedObjectReference:
				c.props[p.Name] = v
				if p.Name == "view" {
					c.props[p.Name] = len(v.ManagedObjectReference)
				}
			default:
				c.props[p.Name] = v
			}
		}
		objects = append(objects, c)
	}
	return body.Res.Returnval.Token, objects, nil
}

// readAnswer reads an answer with the code under test.
func readAnswer(r io.Reader) (token string, objects []content, err error) {
	a := newAnswer(map[string]func(string) bool{"config.extraConfig": keepSetting})
	token, err = a.read(r, testResponse, func(c *content) error {
		one := content{ref: c.ref, props: map[string]any{}, missing: append([]types.MissingProperty(nil), c.missing...)}
		for k, v := range c.props {
			one.props[k] = v
		}
		objects = append(objects, one)
		return nil
	})
	return token, objects, err
}

// sameAsLibrary checks that an answer means the same to both, unless only the
// library takes it; it returns the error.
func sameAsLibrary(t testing.TB, b []byte) error {
	t.Helper()
	token, objects, err := readAnswer(bytes.NewReader(b))
	if err != nil {
		return err
	}
	wantToken, want, wantErr := specification(b)
	if wantErr != nil {
		t.Errorf("the library refuses what was read: %v\n%q", wantErr, b)
		return nil
	}
	if token != wantToken || len(objects) != len(want) {
		t.Errorf("token %q and %d objects, the library has %q and %d\n%q", token, len(objects), wantToken, len(want), b)
		return nil
	}
	for i := range objects {
		if !same(objects[i], want[i]) {
			t.Errorf("object %d\n%+v\nthe library has\n%+v\n%q", i, objects[i], want[i], b)
		}
	}
	return nil
}

// same compares what is read; NaN is like NaN, and all empty lists are alike.
func same(a, b content) bool {
	return fmt.Sprintf("%#v", a.ref) == fmt.Sprintf("%#v", b.ref) && len(a.missing) == len(b.missing) &&
		(len(a.missing) == 0 || reflect.DeepEqual(a.missing, b.missing)) &&
		(reflect.DeepEqual(a.props, b.props) || fmt.Sprintf("%T %#v", a.props, a.props) == fmt.Sprintf("%T %#v", b.props, b.props))
}

// answers are results that vSphere sends or could send.
var answers = []struct{ name, result string }{
	{"empty", ""},
	{"two pages", "<token>7</token>" + aVM(1) + aVM(2)},
	{"token last", aVM(3) + "<token>x &amp; y</token>"},
	{"a prefix of its own in every value, as the simulator writes", strings.NewReplacer(`<val `, `<val xmlns:_x="http://www.w3.org/2001/XMLSchema-instance" `, `<OptionValue `, `<OptionValue xmlns:_x="http://www.w3.org/2001/XMLSchema-instance" `,
		`<value `, `<value xmlns:_x="http://www.w3.org/2001/XMLSchema-instance" `, `xsi:type`, `_x:type`).Replace(aVM(4))},
	{"a property withheld", `<objects><obj type="HostSystem">host-1</obj><missingSet><path>config.option</path><fault><fault xsi:type="NoPermission">` +
		`<object type="HostSystem">host-1</object><privilegeId>System.Read</privilegeId></fault><localizedMessage>no &lt;way&gt;</localizedMessage></fault></missingSet>` +
		`<propSet><name>name</name><val xsi:type="xsd:string">esx01</val></propSet></objects>`},
	{"types that the library reads", `<objects><obj type="HostSystem">host-1</obj>` +
		`<propSet><name>hardware.numaInfo</name><val xsi:type="HostNumaInfo"><type>NUMA</type><numNodes>2</numNodes><numaNode><typeId>0</typeId><cpuID>0</cpuID><cpuID>1</cpuID><memoryRangeBegin>0</memoryRangeBegin><memoryRangeLength>17179869184</memoryRangeLength></numaNode></val></propSet>` +
		`<propSet><name>when</name><val xsi:type="xsd:dateTime">2026-11-02T10:00:00Z</val></propSet>` +
		`<propSet><name>byte</name><val xsi:type="xsd:byte">-7</val></propSet><propSet><name>other</name><val xsi:type="xs:int">5</val></propSet>` +
		`<propSet><name>unheard</name><val xsi:type="NewInTenPointZero"><a>1</a></val></propSet><propSet><name>untyped</name><val>1</val></propSet></objects>`},
	{"a newer structure", `<objects><obj type="VirtualMachine">vm-1</obj><propSet><name>config.numaInfo</name><val xsi:type="VirtualMachineVirtualNumaInfo">` +
		`<coresPerNumaNode> 8 </coresPerNumaNode><newer><deep>1</deep></newer></val></propSet><propSet><name>name</name><val xsi:type="xsd:string">x</val></propSet></objects>`},
	{"odd numbers", `<objects><obj type="VirtualMachine">vm-1</obj><propSet><name>a</name><val xsi:type="xsd:int"> 8
</val></propSet><propSet><name>b</name><val xsi:type="xsd:int"></val></propSet><propSet><name>c</name><val xsi:type="xsd:boolean">T</val></propSet>` +
		`<propSet><name>d</name><val xsi:type="xsd:boolean"/></propSet><propSet><name>e</name><val xsi:type="xsd:long">+9</val></propSet></objects>`},
	{"options of all kinds", `<objects><obj type="HostSystem">host-1</obj><propSet><name>config.option</name><val xsi:type="ArrayOfOptionValue">` +
		`<OptionValue xsi:type="OptionValue"><key>Numa.PreferHT</key><value xsi:type="xsd:long">0</value></OptionValue>` +
		`<OptionValue><key>Mem.AllocGuestLargePage</key><value xsi:type="xsd:int">-1</value></OptionValue>` +
		`<OptionValue xsi:type="OptionValue"><key>b</key><value xsi:type="xsd:boolean">true</value></OptionValue>` +
		`<OptionValue xsi:type="OptionValue"><key>s</key><value xsi:type="xsd:string"/></OptionValue></val></propSet></objects>`},
	{"an option of another kind", `<objects><obj type="HostSystem">host-1</obj><propSet><name>config.option</name><val xsi:type="ArrayOfOptionValue">` +
		`<OptionValue xsi:type="OptionValue"><key>a</key><value xsi:type="xsd:double">1.5</value></OptionValue>` +
		`<OptionValue xsi:type="OptionValue"><key>b</key></OptionValue><OptionValue xsi:type="OptionValue"><value xsi:type="xsd:int">1</value><key>c</key></OptionValue></val></propSet></objects>`},
	{"text in pieces", `<objects><obj type="VirtualMachine">vm-<!-- no - matter -->1</obj><propSet><name>na<![CDATA[me]]></name>` +
		`<val xsi:type="xsd:string">a<![CDATA[<b>&amp;]]>c` + "\r\n\r" + `&#13;&#xA;</val></propSet></objects>`},
	{"a view", `<objects><obj type="ContainerView">session[1]2</obj><propSet><name>view</name><val xsi:type="ArrayOfManagedObjectReference">` +
		strings.Repeat(`<ManagedObjectReference type="VirtualMachine" xsi:type="ManagedObjectReference">vm-1</ManagedObjectReference>`, 3) + `</val></propSet>` +
		`<propSet><name>vm</name><val xsi:type="ArrayOfManagedObjectReference"><ManagedObjectReference type="VirtualMachine" serverGuid="5-6">vm-1</ManagedObjectReference></val></propSet></objects>`},
	{"unknown elements", `<extra><a b="c">1</a></extra><objects><obj type="VirtualMachine">vm-1</obj><more/></objects>`},
}

func TestAnswerIsThatOfTheLibrary(t *testing.T) {
	for _, tt := range answers {
		t.Run(tt.name, func(t *testing.T) {
			b := envelope(tt.result)
			if err := sameAsLibrary(t, []byte(b)); err != nil {
				t.Fatal(err)
			}
			// However the bytes arrive.
			_, want, err := readAnswer(strings.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			_, got, err := readAnswer(iotest.OneByteReader(strings.NewReader(b)))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("byte by byte: %+v, %v\nwant %+v", got, err, want)
			}
		})
	}
}

// TestAnswerReadsHere checks that the values of VMs do not go through the library.
func TestAnswerReadsHere(t *testing.T) {
	_, objects, err := readAnswer(strings.NewReader(envelope(aVM(5))))
	if err != nil || len(objects) != 1 {
		t.Fatal(objects, err)
	}
	o := objects[0]
	if list := o.props["config.extraConfig"].(optionList); list.total != 61 || len(list.kept) != 1 || list.kept[0] != (numa.Setting{Key: "numa.autosize.cookie", Value: "160082"}) {
		t.Errorf("options %+v", list)
	}
	if o.props["name"] != "db0005 & ä€ <ü>" || o.props["config.cpuAllocation.limit"] != int64(-1) {
		t.Errorf("properties %v", o.props)
	}
	allocs := testing.AllocsPerRun(10, func() {
		if _, _, err := readAnswer(strings.NewReader(envelope(""))); err != nil {
			t.Fatal(err)
		}
	})
	all := testing.AllocsPerRun(10, func() {
		if _, _, err := readAnswer(strings.NewReader(envelope(aVM(5)))); err != nil {
			t.Fatal(err)
		}
	})
	if all-allocs > 400 { // the library needs about 3,000
		t.Errorf("%v allocations for a VM", all-allocs)
	}
}

func TestAnswerFault(t *testing.T) {
	b := `<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>` +
		`<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>no</faultstring><detail><InvalidPropertyFault xmlns="urn:vim25" xsi:type="InvalidProperty"><name>config.x</name></InvalidPropertyFault></detail></soapenv:Fault></soapenv:Body></soapenv:Envelope>`
	_, _, err := readAnswer(strings.NewReader(b))
	if !soap.IsSoapFault(err) {
		t.Fatalf("read = %v, want a fault", err)
	}
	if f, ok := soap.ToSoapFault(err).VimFault().(types.InvalidProperty); !ok || f.Name != "config.x" {
		t.Errorf("fault %+v", soap.ToSoapFault(err))
	}
}

// TestAnswerRefuses checks the texts of errors: hostile and broken answers end
// with one, and without much memory.
func TestAnswerRefuses(t *testing.T) {
	object := func(s string) string {
		return envelope(`<objects><obj type="VirtualMachine">vm-1</obj>` + s + `</objects>`)
	}
	value := func(s string) string {
		return object(`<propSet><name>name</name><val xsi:type="xsd:string">` + s + `</val></propSet>`)
	}
	whole := envelope(aVM(1))
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", "unexpected EOF"},
		{"a page of HTML", "<!DOCTYPE html><html></html>", "XML at byte 0: found a document type or the like, want elements and text"},
		{"entities of one's own", `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>`,
			"XML at byte 21: found a document type or the like, want elements and text"},
		{"an unknown entity", value("&lol;"), `name: XML at byte 446: found "&lol;", want an entity of XML`},
		{"another encoding", `<?xml version="1.0" encoding="UTF-16"?><x/>`, `XML at byte 0: found the declaration "xml version=\"1.0\" encoding=\"UTF-16\"", want version 1.0 and UTF-8`},
		{"a stylesheet", `<?xml version="1.0"?><?xml-stylesheet href="x"?><x/>`, "XML at byte 21: found a processing instruction"},
		{"another document", "<html></html>", "found <html>, want <Envelope>"},
		{"another namespace", `<Envelope xmlns="urn:x"></Envelope>`, "found <Envelope>, want <Envelope>"},
		{"no body", `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"></Envelope>`, "found no body in the answer"},
		{"another response", strings.ReplaceAll(whole, testResponse, "LoginResponse"), "found <LoginResponse>, want <RetrievePropertiesExResponse>"},
		{"cut off", whole[:len(whole)/2], "config.extraConfig: unexpected EOF"},
		{"cut off in a tag", whole[:len(whole)-3], "unexpected EOF"},
		{"a wrong end", value("</value>"), "name: XML at byte 446: found </value>, want </val>"},
		{"bytes that are not UTF-8", value("\xff"), "name: XML at byte 446: found bytes that are not UTF-8, or no character of XML"},
		{"a control character", value("\x00"), "name: XML at byte 446: found the control character 0x00"},
		{"]]>", value("]]>"), "name: XML at byte 446: found ]]> outside CDATA"},
		{"a number that is none", object(`<propSet><name>n</name><val xsi:type="xsd:int">many</val></propSet>`), `n: strconv.ParseInt: parsing "many": invalid syntax`},
		{"a number out of range", object(`<propSet><name>n</name><val xsi:type="xsd:int">2147483648</val></propSet>`), `n: strconv.ParseInt: parsing "2147483648": value out of range`},
		{"an attribute twice", object(`<propSet a="1" a="2"/>`), "XML at byte 393: found the attribute \"a\" twice"},
		{"a type of another namespace", object(`<propSet><name>n</name><val q:type="xsd:int">1</val></propSet>`), `n: XML at byte 438: found the attribute "q" of an unknown namespace`},
		{"an object without a reference", envelope(`<objects></objects>`), "found an object without a reference"},
		{"an object with two", object(`<obj type="x">y</obj>`), "found an object with two references"},
		{"a value without a name", object(`<propSet><val xsi:type="xsd:int">1</val></propSet>`), "found <val> in a property, want <name> and <val>"},
		{"text between", object("hello"), "found text, want an element"},
		{"something after", whole + "<x/>", "XML at byte 10350: found a second root element"},
		{"a list of something else", object(`<propSet><name>vm</name><val xsi:type="ArrayOfManagedObjectReference"><x/></val></propSet>`), "vm: a list of references: found another element than expected"},
		{"nesting", value(strings.Repeat("<a>", 100_000)), "name: XML at byte 1025: found more than 200 levels of elements"},
		{"many attributes", object(`<propSet ` + strings.Repeat("a", 20) + strings.Repeat(` b="1"`, 2) + `/>`), "XML at byte 393: found an attribute without a quoted value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := readAnswer(strings.NewReader(tt.in))
			if err == nil || err.Error() != tt.want {
				t.Errorf("read = %v\nwant   %s", err, tt.want)
			}
		})
	}
}

// endless repeats a text without end.
type endless struct {
	head io.Reader
	text string
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	if n, err := e.head.Read(b); err == nil {
		return n, nil
	}
	for n := range b {
		b[n] = e.text[e.at%len(e.text)]
		e.at++
	}
	return len(b), nil
}

// TestAnswerWithoutEnd reads a text, a tag and a comment that never end.
func TestAnswerWithoutEnd(t *testing.T) {
	head := `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><RetrievePropertiesExResponse xmlns="urn:vim25"><returnval><objects><obj type="V">vm-1</obj><propSet><name>`
	for _, tail := range []string{"x", "<![CDATA[", `<a b="`, "<!-- "} {
		r := &endless{head: strings.NewReader(head + tail), text: "x"}
		_, _, err := readAnswer(r)
		if err == nil || !strings.HasSuffix(err.Error(), "found more than 16 MB in one piece") {
			t.Errorf("%q without end: %v", tail, err)
		}
		if r.at > 32<<20 {
			t.Errorf("%q without end: %d bytes were read", tail, r.at)
		}
	}
}

// TestAnswerStops checks that an error of the receiver ends the read.
func TestAnswerStops(t *testing.T) {
	want := errors.New("enough")
	a, n := newAnswer(nil), 0
	_, err := a.read(strings.NewReader(envelope(aVM(1)+aVM(2))), testResponse, func(*content) error { n++; return want })
	if err != want || n != 1 {
		t.Errorf("read = %v after %d objects", err, n)
	}
	// The same one reads the next answer.
	token, err := a.read(strings.NewReader(envelope("<token>2</token>"+aVM(1))), testResponse, func(*content) error { n++; return nil })
	if err != nil || token != "2" || n != 2 {
		t.Errorf("read again = %q, %v after %d objects", token, err, n)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, tt := range answers {
		if len(tt.result) < 3000 {
			f.Add(envelope(tt.result))
		}
	}
	f.Add(envelope(`<objects><obj type="V">v</obj><propSet><name>n</name><val xsi:type="xsd:string" type="t" a:b='&#65;'>&#x41;]] ></val></propSet></objects>`))
	f.Fuzz(func(t *testing.T, s string) {
		_ = sameAsLibrary(t, []byte(s))
	})
}

func BenchmarkAnswer(b *testing.B) {
	const vms = 500
	var all strings.Builder
	for i := range vms {
		all.WriteString(aVM(i))
	}
	page := []byte(envelope(all.String()))
	b.Run("here", func(b *testing.B) {
		b.SetBytes(int64(len(page)))
		b.ReportAllocs()
		a := newAnswer(map[string]func(string) bool{"config.extraConfig": keepSetting})
		for b.Loop() {
			n := 0
			if _, err := a.read(bytes.NewReader(page), testResponse, func(*content) error { n++; return nil }); err != nil || n != vms {
				b.Fatal(n, err)
			}
		}
		b.ReportMetric(float64(vms)*float64(b.N)/b.Elapsed().Seconds(), "VMs/s")
	})
	b.Run("library", func(b *testing.B) {
		b.SetBytes(int64(len(page)))
		b.ReportAllocs()
		for b.Loop() {
			if _, objects, err := specification(page); err != nil || len(objects) != vms {
				b.Fatal(len(objects), err)
			}
		}
		b.ReportMetric(float64(vms)*float64(b.N)/b.Elapsed().Seconds(), "VMs/s")
	})
	// The JSON form of the API, which a vCenter has since 8.0 U1. Few VMs: the time
	// grows with their square.
	b.Run("library_JSON", func(b *testing.B) {
		const vms = 20
		few, _, _ := strings.Cut(all.String(), "<objects><obj type=\"VirtualMachine\">vm-20<")
		var body methods.RetrievePropertiesExBody
		d := xml.NewDecoder(strings.NewReader(envelope(few)))
		d.TypeFunc = types.TypeFunc()
		if err := d.Decode(&soap.Envelope{Body: &body}); err != nil {
			b.Fatal(err)
		}
		var buf bytes.Buffer
		if err := types.NewJSONEncoder(&buf).Encode(body.Res.Returnval); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(buf.Len()))
		b.ReportAllocs()
		for b.Loop() {
			var result types.RetrieveResult
			if err := types.NewJSONDecoder(bytes.NewReader(buf.Bytes())).Decode(&result); err != nil || len(result.Objects) != vms {
				b.Fatal(len(result.Objects), err)
			}
		}
		b.ReportMetric(float64(vms)*float64(b.N)/b.Elapsed().Seconds(), "VMs/s")
	})
}
