package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/internal/hostile"
	"polkrepro/internal/testutil"
)

// packed writes a finished record into one folder and packs it into another.
func packed(t *testing.T) (plain, packed string) {
	t.Helper()
	from, to := t.TempDir(), t.TempDir()
	r := mustRead(t, write(t, from, abc))
	testutil.NoError(t, r.WritePacked(to))
	return r.Path, filepath.Join(to, filepath.Base(r.Path)+packedSuffix)
}

func TestPacked(t *testing.T) {
	plain, path := packed(t)
	want := mustRead(t, plain)
	c, err := ReadDir(filepath.Dir(path))
	if err != nil || len(c.Errors) > 0 {
		t.Fatal(err, c.Errors)
	}
	got := c.Records[want.Header.ID]
	if got == nil || got.Path != path {
		t.Fatalf("read %v, want that of %s", got, path)
	}
	// Packed again it is the same file.
	again := t.TempDir()
	testutil.NoError(t, got.WritePacked(again))
	first, second := contents(t, path), contents(t, filepath.Join(again, filepath.Base(path)))
	if !bytes.Equal(first, second) {
		t.Error("a packed record was changed by packing it again")
	}
	if got.Final.Digest != want.Final.Digest || got.Final.Sum != want.Final.Sum {
		t.Errorf("packed and read: sum %s, want %s", got.Final.Sum, want.Final.Sum)
	}
}

// The record of a rerun replaces a damaged packed record.
func TestPackedDamagedIsReplaced(t *testing.T) {
	_, path := packed(t)
	dir := filepath.Dir(path)
	b := contents(t, path)
	b[len(b)/2] ^= 1
	put(t, path, string(b))
	if c, err := ReadDir(dir); err != nil || len(c.Errors) != 1 {
		t.Fatal(err, c.Errors)
	}
	again := write(t, dir, abc)
	c, err := ReadDir(dir)
	if err != nil || len(c.Errors) > 0 {
		t.Fatal(err, c.Errors)
	}
	if r := c.Records[abc]; r == nil || r.Path != again {
		t.Errorf("read %v, want that of %s", r, again)
	}
}

// TestPackedDamage flips a bit of every byte of a packed record, and cuts it at every byte. Reading
// the result must not panic or return another record.
func TestPackedDamage(t *testing.T) {
	plain, path := packed(t)
	want := mustRead(t, plain)
	whole := contents(t, path)
	read := func(b []byte) (string, error) {
		text, err := new(packing).unpack(b)
		if err != nil {
			return "", err
		}
		r, err := parse(path, abc, "final", text)
		if err != nil {
			return "", err
		}
		return r.Final.Sum, nil
	}
	if sum, err := read(whole); err != nil || sum != want.Final.Sum {
		t.Fatal(sum, err)
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1 << (i % 8)
		// The header of a gzip file has bits that do not affect the contents.
		if sum, err := read(b); err == nil && sum != want.Final.Sum {
			t.Errorf("bit of byte %d: another record was read", i)
		}
		if _, err := read(whole[:i]); err == nil {
			t.Errorf("cut at %d: read", i)
		}
	}
	put(t, path, string(whole[:len(whole)/2]))
	_, err := Read(path)
	if e := (*Error)(nil); !errors.As(err, &e) || e.Path != path || !errors.Is(err, ErrIncomplete) {
		t.Errorf("half a file: %v", err)
	}
}

func TestPackedLimit(t *testing.T) {
	bomb, err := pack(make([]byte, MaxSize+1))
	testutil.NoError(t, err)
	hostile.AtMost(t, 6*MaxSize, func() {
		if _, err := new(packing).unpack(bomb); err == nil {
			t.Error("unpacked more than the limit")
		}
	})
	most, err := pack(make([]byte, MaxSize))
	testutil.NoError(t, err)
	if text, err := new(packing).unpack(most); err != nil || len(text) != MaxSize {
		t.Errorf("up to the limit of one: %d bytes, %v", len(text), err)
	}
	p := packing{size: MaxUnpacked - 5}
	small, err := pack([]byte("12345"))
	testutil.NoError(t, err)
	if text, err := p.unpack(small); err != nil || string(text) != "12345" {
		t.Errorf("up to the limit of all: %q, %v", text, err)
	}
	if _, err := p.unpack(small); err == nil || !strings.Contains(err.Error(), "packed records of the folder") {
		t.Errorf("beyond it: %v", err)
	}
}

// TestTwoOfOneRun: a run has one record, packed or not.
func TestTwoOfOneRun(t *testing.T) {
	plain, path := packed(t)
	testutil.NoError(t, os.Rename(path, plain+packedSuffix))
	c, err := ReadDir(filepath.Dir(plain))
	if err != nil || len(c.Errors) != 1 || len(c.Records) != 1 {
		t.Errorf("%v, %d errors, %d records; want one of each", err, len(c.Errors), len(c.Records))
	}
}

func contents(t testutil.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	testutil.NoError(t, err)
	return b
}
