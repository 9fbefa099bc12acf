// A relay as the published design of a Go relay has it: SO_REUSEPORT sockets, pinned threads, one packet a
// system call, one frame a datagram. It believes every check. relay PORT TRUNK_PORT TRANSCEIVER_PORT
package main

import (
	"context"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

const (
	header         = 40
	soReusePort    = 15
	soSndBufForce  = 32
	soRcvBufForce  = 33
	socketBuffer   = 8 << 20
	largestPacket  = 2048
	firstByteOfUp  = 0xc4
	bindingRequest = 1
)

func listen(port string) *net.UDPConn {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soReusePort, 1)
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soRcvBufForce, socketBuffer)
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soSndBufForce, socketBuffer)
		})
	}}
	conn, err := config.ListenPacket(context.Background(), "udp4", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	return conn.(*net.UDPConn)
}

func up(public, trunk *net.UDPConn, transceiver netip.AddrPort, proxyPort int) {
	runtime.LockOSThread()
	flows := map[netip.AddrPort]netip.AddrPort{}
	frame := make([]byte, largestPacket)
	frame[0] = firstByteOfUp
	frame[14], frame[15], frame[30], frame[31] = 0xff, 0xff, 0xff, 0xff
	copy(frame[32:], []byte{127, 0, 0, 1})
	frame[38], frame[39] = byte(proxyPort>>8), byte(proxyPort)
	for {
		n, source, err := public.ReadFromUDPAddrPort(frame[header:])
		if err != nil {
			continue
		}
		to, ok := flows[source]
		if !ok {
			if n < 20 || frame[header] != 0 || frame[header+1] != bindingRequest {
				continue
			}
			to = transceiver
			flows[source] = to
		}
		address := source.Addr().As4()
		copy(frame[16:], address[:])
		frame[2], frame[3] = byte(n>>8), byte(n)
		frame[36], frame[37] = byte(source.Port()>>8), byte(source.Port())
		trunk.WriteToUDPAddrPort(frame[:header+n], to)
	}
}

func down(public, trunk *net.UDPConn) {
	runtime.LockOSThread()
	frame := make([]byte, largestPacket)
	for {
		n, _, err := trunk.ReadFromUDPAddrPort(frame)
		if err != nil || n <= header {
			continue
		}
		client := netip.AddrFrom4([4]byte{frame[16], frame[17], frame[18], frame[19]})
		port := uint16(frame[36])<<8 | uint16(frame[37])
		public.WriteToUDPAddrPort(frame[header:n], netip.AddrPortFrom(client, port))
	}
}

func main() {
	runtime.GOMAXPROCS(2)
	trunkPort, _ := strconv.Atoi(os.Args[2])
	public, trunk := listen(os.Args[1]), listen(os.Args[2])
	go up(public, trunk, netip.MustParseAddrPort("127.0.0.1:"+os.Args[3]), trunkPort)
	down(public, trunk)
}
