package pipe

import (
	"io"
	"net"
	"testing"
	"time"
)

// BenchmarkRoundTrip sends 32 bytes there and back, with the deadlines a client
// sets for every command.
func BenchmarkRoundTrip(b *testing.B) {
	client, server := pair(b, DefaultBuffer)
	benchmarkRoundTrip(b, client, server)
}

func BenchmarkRoundTripNetPipe(b *testing.B) {
	client, server := net.Pipe()
	b.Cleanup(func() { client.Close(); server.Close() })
	benchmarkRoundTrip(b, client, server)
}

func benchmarkRoundTrip(b *testing.B, client, server net.Conn) {
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	msg := make([]byte, 32)
	b.ReportAllocs()
	for b.Loop() {
		now := time.Now()
		client.SetWriteDeadline(now.Add(3 * time.Second))
		if _, err := client.Write(msg); err != nil {
			b.Fatal(err)
		}
		client.SetReadDeadline(now.Add(3 * time.Second))
		if _, err := io.ReadFull(client, msg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkThroughput(b *testing.B) {
	client, server := pair(b, DefaultBuffer)
	go func() {
		block := make([]byte, 64<<10)
		for {
			if _, err := client.Write(block); err != nil {
				return
			}
		}
	}()
	block := make([]byte, 64<<10)
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		if _, err := io.ReadFull(server, block); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDial(b *testing.B) {
	l := Listen(nodeAddr)
	defer l.Close()
	b.ReportAllocs()
	for b.Loop() {
		client, server := connect(b, l)
		client.Close()
		server.Close()
	}
}
