//go:build !unix

package bounded

// nonblocking is nothing: a file is no pipe here.
const nonblocking = 0
