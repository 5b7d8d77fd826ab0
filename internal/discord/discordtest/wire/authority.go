package wire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// An Authority is a certificate authority for the voice gateway on loopback.
type Authority struct {
	File string
	Pool *x509.CertPool
	leaf tls.Certificate
}

// NewAuthority makes one, and writes its certificate to a directory.
func NewAuthority(dir string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: "A Discord for tests"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true, // it signs itself: every client takes that from a file
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	a := &Authority{
		File: filepath.Join(dir, "ca.pem"),
		Pool: x509.NewCertPool(),
		leaf: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
	}
	a.Pool.AddCert(parsed)
	return a, os.WriteFile(a.File, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
}

// Config returns the TLS configuration of a listener. Websockets need HTTP/1.1.
func (a *Authority) Config() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{a.leaf}, NextProtos: []string{"http/1.1"}}
}
