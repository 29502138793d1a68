package engine

import (
	"bytes"
	"encoding/binary"
	"runtime"

	"golang.org/x/sys/unix"
)

// A network namespace keeps a check from the network, but not from the sockets
// of this machine: who may connect to those of a desktop bus, a terminal
// multiplexer or a container engine has things done for it outside of every
// sandbox. They are files, and a file system that can't be written does not stop
// a connection. So such a check gets no sockets but those of the network that it
// has to itself.

// socketFilter is a program of the kernel's packet filter that bubblewrap loads,
// nil where none is known for this machine. Any family of sockets but IPv4, IPv6
// and netlink is one that the kernel does not have; pairs of sockets are not
// concerned.
func socketFilter() []byte {
	var arch uint32
	switch runtime.GOARCH {
	case "amd64":
		arch = unix.AUDIT_ARCH_X86_64
	case "arm64":
		arch = unix.AUDIT_ARCH_AARCH64
	case "riscv64":
		arch = unix.AUDIT_ARCH_RISCV64
	default:
		return nil
	}
	// Offsets into what the filter sees of a call: its number, the
	// architecture, and the lower half of the first argument.
	const nr, kind, family = 0, 4, 16
	const foreign = 0x40000000 // of a call in the form x32
	fail := func(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	skip := func(test uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, []unix.SockFilter{ // a buffer takes everything
		load(kind),
		skip(unix.BPF_JEQ, arch, 1, 0),
		ret(fail(unix.ENOSYS)), // calls in the form of another architecture
		load(nr),
		skip(unix.BPF_JGE, foreign, 6, 0),
		skip(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 5, 0), // it opens sockets, too
		skip(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 5),
		load(family),
		skip(unix.BPF_JEQ, unix.AF_INET, 3, 0),
		skip(unix.BPF_JEQ, unix.AF_INET6, 2, 0),
		skip(unix.BPF_JEQ, unix.AF_NETLINK, 1, 2),
		ret(fail(unix.ENOSYS)),
		ret(unix.SECCOMP_RET_ALLOW),
		ret(fail(unix.EAFNOSUPPORT)),
	})
	return b.Bytes()
}
