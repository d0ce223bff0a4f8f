package auth

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const pemType = "PRIVATE KEY"

// Key is a signing key.
type Key struct{ private ed25519.PrivateKey }

// NewKey makes a key that lives as long as the process.
func NewKey() (*Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("auth: make a key: %w", err)
	}
	return &Key{private}, nil
}

// LoadKey reads the key at path (PEM, PKCS #8) and makes one there when there
// is none: mode 0600, in a folder of mode 0700, durable on return. Two
// processes that do so at once end with the same key. It refuses a key that
// others can read.
func LoadKey(path string) (*Key, error) {
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := createKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("auth: make the key %s: %w", path, err)
	}
	return readKey(path)
}

// Issuer signs with the key.
func (k *Key) Issuer() *Issuer { return &Issuer{key: k.private, kid: keyID(k.Public())} }

// Verifier checks what Issuer signed.
func (k *Key) Verifier() *Verifier { return NewVerifier(k.Public()) }

// Public returns the public half.
func (k *Key) Public() ed25519.PublicKey { return k.private.Public().(ed25519.PublicKey) }

func readKey(path string) (*Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("auth: read the key: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("auth: read the key: %w", err)
	}
	if mode := info.Mode(); runtime.GOOS != "windows" && (mode.Perm()&0o077 != 0 || !mode.IsRegular()) {
		return nil, fmt.Errorf("auth: the key %s must be a file that only you can read, it is %v; run: chmod 600 %s", path, mode, path)
	}
	data, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return nil, fmt.Errorf("auth: read the key: %w", err)
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != pemType {
		return nil, fmt.Errorf("auth: %s is not a key (PEM, %s); move it away and a new one is made, which ends the tokens issued so far", path, pemType)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("auth: %s is not an Ed25519 key; move it away and a new one is made, which ends the tokens issued so far", path)
	}
	return &Key{private}, nil
}

// createKey writes a new key beside path and links it there, which fails with
// fs.ErrExist when another process was faster.
func createKey(path string) error {
	key, err := NewKey()
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key.private)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".key-*") // created 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // the link stays
	_, err = tmp.Write(pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}))
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
