package natsserver

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"time"

	"earshot/internal/atomicfile"
	"earshot/internal/field"
	"earshot/internal/keyfile"
)

// valid is how long a certificate is valid: nobody looks at that, since it is pinned, and a daemon
// outlives every date.
const valid = 100 * 365 * 24 * time.Hour

// A Certificate is what a server shows to those who connect. Those that are paired know its SHA-256.
type Certificate struct {
	PEM []byte       // of the certificate
	Key field.Secret // in PEM
}

// LoadCertificate reads a certificate and its key from a file that only this user may read, or makes
// them and writes that file. Several processes may do so at the same time.
func LoadCertificate(path string) (Certificate, error) {
	c, err := readCertificate(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	unlock, err := certificateFile(path).Lock()
	if err != nil {
		return c, err
	}
	defer unlock()
	if c, err = readCertificate(path); errors.Is(err, fs.ErrNotExist) {
		return newCertificate(path)
	}
	return c, err // that another process has made meanwhile
}

func certificateFile(path string) keyfile.File {
	const again = "move it away, and pair all satellites again"
	return keyfile.File{Path: path, What: "keys of the bus", Most: 64 << 10, Secret: true, Create: again, Review: again + ", if others had it"}
}

func readCertificate(path string) (Certificate, error) {
	data, _, err := certificateFile(path).Read()
	if err != nil {
		return Certificate{}, err
	}
	block, rest := pem.Decode(data)
	if _, err := tls.X509KeyPair(data, data); err != nil || block == nil || block.Type != "CERTIFICATE" {
		return Certificate{}, fmt.Errorf("%s has no certificate of the bus in it; restore it from a backup, or move it away, and pair all satellites again", path)
	}
	return Certificate{PEM: pem.EncodeToMemory(block), Key: field.Secret(rest)}, nil
}

// newCertificate makes a certificate and writes it to a file.
func newCertificate(path string) (Certificate, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Certificate{}, err
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "earshot"},
		DNSNames:     []string{"earshot", "localhost"},
		NotBefore:    time.Now().AddDate(-1, 0, 0), // clocks may be wrong
		NotAfter:     time.Now().Add(valid),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, // the latter to others of a cluster
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, public, private)
	if err != nil {
		return Certificate{}, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return Certificate{}, err
	}
	c := Certificate{
		PEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key: field.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
	}
	if err := atomicfile.Write(path, append(c.PEM[:len(c.PEM):len(c.PEM)], c.Key.Reveal()...)); err != nil {
		return Certificate{}, fmt.Errorf("keeping the certificate of the bus: %w", err)
	}
	return c, nil
}

// SHA256 returns the SHA-256 of the certificate, in hexadecimal, by which it is pinned.
func (c Certificate) SHA256() string { return hex.EncodeToString(c.Sum()) }

// Sum returns the same as bytes; nil if there is no certificate.
func (c Certificate) Sum() []byte {
	block, _ := pem.Decode(c.PEM)
	if block == nil {
		return nil
	}
	sum := sha256.Sum256(block.Bytes)
	return sum[:]
}
