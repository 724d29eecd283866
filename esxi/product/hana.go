package product

// Supported sizes of production VMs of SAP HANA on vSphere (limits.md, S12 to S16).
const (
	HANALeastCores  = 8   // “at least 8 physical cores”
	HANALeastMemory = 128 // GB
	// Limits for vSphere 7.0 U2 and U3.
	HANAMostVCPUs  = 448
	HANAMostMemory = 12 * 1024 // GB
)

// HANASize reports whether so many vCPUs are a size documented as supported: whole sockets, or half a socket. socket is the size of
// a socket; 0 or less where it is unknown, and then any size is accepted.
func HANASize(vcpus, socket int) bool {
	return socket <= 0 || vcpus%socket == 0 || 2*vcpus == socket
}

// HANASockets reports whether VMs of so many vCPUs are whole sockets, or fit half a socket; socket is the size of one. odd reports
// an odd multiple of half a socket, 1.5 or 2.5, which is documented as unsupported. Sizes between half a socket and a whole one are
// not documented, and count as whole.
func HANASockets(vcpus, socket int) (whole, odd bool) {
	if socket <= 0 || vcpus <= socket || vcpus%socket == 0 {
		return true, false
	}
	return false, 2*vcpus%socket == 0
}
