package ui

import "net"

// IsLocal reports whether a host name or address is a loopback one, reachable from this machine only.
func IsLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
