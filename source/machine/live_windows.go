//go:build amd64 || arm64

package machine

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"example.org/homenode/numa"
)

var (
	kernel32             = windows.NewLazySystemDLL("kernel32.dll")
	processorInformation = kernel32.NewProc("GetLogicalProcessorInformationEx")
	highestNode          = kernel32.NewProc("GetNumaHighestNodeNumber")
	nodeMemory           = kernel32.NewProc("GetNumaAvailableMemoryNodeEx")
	globalMemory         = kernel32.NewProc("GlobalMemoryStatusEx")
	processAffinity      = kernel32.NewProc("GetProcessAffinityMask")
	processGroups        = kernel32.NewProc("GetProcessGroupAffinity")
)

const (
	allRelations = 0xffff
	mostRecords  = 64 << 20 // bytes
)

func read() (*Machine, error) {
	m := &Machine{}
	m.windowsIdentity()
	records, err := processorRecords(allRelations)
	if err != nil {
		return nil, err
	}
	if whole, err := processorRecords(wholeNodeRelation); err == nil { // from Server 2022 on
		records = append(records, whole...)
	}
	m.Topology.From = "GetLogicalProcessorInformationEx"
	if err := m.Topology.byRecords(records); err != nil {
		return nil, fmt.Errorf("GetLogicalProcessorInformationEx: %w", err)
	}
	if len(m.Topology.Caches) == 0 {
		m.missing("caches", "Windows lists none: the hypervisor states none", "")
	}
	m.windowsNodes()
	m.missing("distances", "Windows shows no SLIT and no HMAT", "measure memory")
	m.windowsLimits()
	return m, nil
}

// processorRecords returns records of GetLogicalProcessorInformationEx.
func processorRecords(relation uintptr) ([]byte, error) {
	var size uint32
	for range 4 { // processors may be added between the two calls
		buffer := make([]byte, size)
		ok, _, err := processorInformation.Call(relation, uintptr(unsafe.Pointer(unsafe.SliceData(buffer))), uintptr(unsafe.Pointer(&size)))
		if ok != 0 {
			return buffer[:size], nil
		}
		if !errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) || size > mostRecords {
			return nil, fmt.Errorf("GetLogicalProcessorInformationEx %d: %w", relation, err)
		}
	}
	return nil, errors.New("GetLogicalProcessorInformationEx: the records grow")
}

// windowsNodes adds the nodes without processors, and the free memory of each node: Windows does not report their size.
func (m *Machine) windowsNodes() {
	var highest uint32
	if ok, _, err := highestNode.Call(uintptr(unsafe.Pointer(&highest))); ok == 0 || highest >= maxNode {
		m.missing("nodes without processors", fmt.Sprintf("GetNumaHighestNodeNumber: %d, %v", highest, err), "")
		return
	}
	free := make([]numa.Fact[numa.Bytes], highest+1)
	for id := range free {
		var bytes uint64
		if ok, _, _ := nodeMemory.Call(uintptr(id), uintptr(unsafe.Pointer(&bytes))); ok != 0 && bytes < 1<<60 {
			free[id] = numa.ReadAt(numa.Bytes(bytes), "GetNumaAvailableMemoryNodeEx")
		}
	}
	m.Topology.addMemory(free)
	m.missing("size of nodes", "Windows tells the free memory of a node, not its size", "")
}

func (m *Machine) windowsIdentity() {
	id := &m.Identity
	v := windows.RtlGetVersion()
	id.OS = "Windows"
	id.Kernel = fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
	id.Architecture = runtime.GOARCH
	windowsKey := `SOFTWARE\Microsoft\Windows NT\CurrentVersion`
	if product := registryText(windowsKey, "ProductName"); product != "" {
		id.OS = product
	}
	if leaf := leaves(); leaf != nil {
		id.byCPUID(leaf)
	} else {
		processor := `HARDWARE\DESCRIPTION\System\CentralProcessor\0`
		id.CPU, id.Vendor = registryText(processor, "ProcessorNameString"), registryText(processor, "VendorIdentifier")
	}
	bios := `HARDWARE\DESCRIPTION\System\BIOS`
	id.byDMI(registryText(bios, "SystemManufacturer"), registryText(bios, "SystemProductName"), `HKLM\`+bios)
}

// registryText returns a text of HKEY_LOCAL_MACHINE; empty when it is missing.
func registryText(path, name string) string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	value, _, err := key.GetStringValue(name)
	if err != nil {
		return ""
	}
	return clean(value)
}

// memoryStatus is MEMORYSTATUSEX.
type memoryStatus struct {
	length, load                                                                          uint32
	totalPhys, availPhys, totalPage, availPage, totalVirtual, availVirtual, availExtended uint64
}

// cpuRate is JOBOBJECT_CPU_RATE_CONTROL_INFORMATION.
type cpuRate struct{ flags, rate uint32 }

const (
	rateEnabled, rateHardCap = 1, 4
	wholeRate                = 10_000 // of all processors, in hundredths of a percent
)

// windowsLimits reads the affinity of the process and its job.
func (m *Machine) windowsLimits() {
	l := &m.Limits
	own := processMask()
	for i := range m.Topology.Processors {
		p := &m.Topology.Processors[i]
		if mask, limited := own[p.Number/perGroup]; !limited || mask>>(p.Number%perGroup)&1 == 1 {
			p.Allowed = true
			l.CPUs = append(l.CPUs, p.Number)
		}
	}
	status := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	var total numa.Fact[numa.Bytes]
	if ok, _, err := globalMemory.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		m.missing("available memory", "GlobalMemoryStatusEx: "+err.Error(), "")
	} else {
		l.Available = numa.ReadAt(numa.Bytes(status.availPhys), "GlobalMemoryStatusEx")
		total = numa.ReadAt(numa.Bytes(status.totalPhys), "GlobalMemoryStatusEx")
	}
	var extended windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	err := windows.QueryInformationJobObject(0, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&extended)), uint32(unsafe.Sizeof(extended)), nil)
	if err == nil && extended.BasicLimitInformation.LimitFlags&windows.JOB_OBJECT_LIMIT_JOB_MEMORY != 0 {
		l.MemoryLimit = numa.ReadAt(numa.Bytes(extended.JobMemoryLimit), "job: JobMemoryLimit")
	}
	var rate cpuRate
	err = windows.QueryInformationJobObject(0, windows.JobObjectCpuRateControlInformation, uintptr(unsafe.Pointer(&rate)), uint32(unsafe.Sizeof(rate)), nil)
	if err == nil && rate.flags&(rateEnabled|rateHardCap) == rateEnabled|rateHardCap && rate.rate > 0 {
		l.CPUQuota = numa.ReadAt(float64(rate.rate)/wholeRate*float64(len(m.Topology.Processors)), "job: CpuRate")
	}
	l.partial(&m.Topology, total)
}

// processMask returns the mask of processors that the process may use in its group. A process of several groups has
// none, and its threads may run in groups with unknown limits.
func processMask() map[int]uint64 {
	process := uintptr(windows.CurrentProcess())
	groups, count := [maxCPU / perGroup]uint16{}, uint16(maxCPU/perGroup)
	if ok, _, _ := processGroups.Call(process, uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(&groups))); ok == 0 || count != 1 {
		return nil
	}
	var mask, system uintptr
	if ok, _, _ := processAffinity.Call(process, uintptr(unsafe.Pointer(&mask)), uintptr(unsafe.Pointer(&system))); ok == 0 || mask == 0 {
		return nil
	}
	return map[int]uint64{int(groups[0]): uint64(mask)}
}
