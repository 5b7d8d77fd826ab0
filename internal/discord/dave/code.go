package dave

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/crypto/scrypt"
)

// codeGroup is how many digits, and how many bytes, make a group of a displayable code;
// 10^codeGroup bounds one.
const (
	codeGroup = 5
	codeLimit = 100_000
)

// code writes the first groups*5 bytes of secret as groups of five digits, with a
// space between them ("Displayable Codes").
func code(secret []byte, groups int) string {
	var b strings.Builder
	for i := range groups {
		var n uint64
		for _, c := range secret[i*codeGroup:][:codeGroup] {
			n = n<<8 | uint64(c)
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%0*d", codeGroup, n%codeLimit)
	}
	return b.String()
}

// How many groups the two codes have that people compare.
const (
	privacyGroups     = 6 // of the 32 bytes of an epoch's authenticator
	fingerprintGroups = 9 // of the 64 bytes of a fingerprint
)

// fingerprint returns what two users compare to prove that each has the other's key ("Verification
// Fingerprint"). The order of the users does not matter.
func fingerprint(a uint64, keyA []byte, b uint64, keyB []byte) (string, error) {
	first, second := identityOf(a, keyA), identityOf(b, keyB)
	if bytes.Compare(first, second) > 0 {
		first, second = second, first
	}
	// Salt, cost and length are given by the protocol.
	hash, err := scrypt.Key(append(first, second...), fingerprintSalt, 1<<14, 8, 2, 64)
	if err != nil {
		return "", err
	}
	return code(hash, fingerprintGroups), nil
}

var fingerprintSalt = []byte("\x24\xca\xb1\x7a\x7a\xf8\xec\x2b\x82\xb4\x12\xb9\x2d\xab\x19\x2e")

// identityOf writes version 0 of the data that a fingerprint is made of.
func identityOf(user uint64, key []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, 0)
	b = append(b, key...)
	return binary.BigEndian.AppendUint64(b, user)
}
