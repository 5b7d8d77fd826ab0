package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"earshot/server/wire"
)

// ListenLoopback opens a port of this machine for [Server.ServeLoopback]: address is a host and a
// port, and port 0 is any free one. It refuses a host that other machines can reach, also if that
// turns out only after listening.
func ListenLoopback(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := splitAddress(address)
	if err != nil {
		return nil, fmt.Errorf("server.listen %w", err)
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("finding out where server.listen is: %w", err)
	}
	for _, at := range all {
		if !at.Unmap().IsLoopback() {
			return nil, &wire.Refusal{
				Problem: fmt.Sprintf("server.listen is %s, which other machines can reach at %s", address, at),
				Mend:    "listen at 127.0.0.1, and reach it from elsewhere through ssh -L; see docs/api.md",
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("server.listen is %s, and %s cannot be found", address, host)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", netip.AddrPortFrom(first(all), port).String())
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &wire.Refusal{
			Problem: fmt.Sprintf("another program already listens at %s", address),
			Mend:    "set server.listen to another port, or stop that program",
		}
	}
	if err != nil {
		return nil, fmt.Errorf("opening the port: %w", err)
	}
	if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		l.Close()
		return nil, errors.New("opening the port: other machines can reach it")
	}
	return l, nil
}

// first returns the first IPv4 address, which everybody means by localhost, or else the first
// address.
func first(all []netip.Addr) netip.Addr {
	for _, at := range all {
		if at.Unmap().Is4() {
			return at.Unmap()
		}
	}
	return all[0]
}

// splitAddress reads a host and a port.
func splitAddress(address string) (host string, port uint16, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return "", 0, fmt.Errorf("is %q; must be a host of this machine and a port, such as 127.0.0.1:8765", address)
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("is %q; the port must be a number up to 65535", address)
	}
	if at, err := netip.ParseAddr(host); err == nil && !at.Unmap().IsLoopback() {
		return "", 0, fmt.Errorf("is %q, which other machines can reach; must be on this machine only, such as 127.0.0.1:%d", address, n)
	}
	return host, uint16(n), nil
}
