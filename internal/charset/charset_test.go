package charset

import "testing"

func TestUTF8(t *testing.T) {
	tests := []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", false},
		{"C", "en_US.UTF-8", "en_US.UTF-8", false},
		{"POSIX", "", "en_US.UTF-8", false},
		{"C.UTF-8", "", "C", true},
		{"", "en_US.utf8", "C", true},
		{"", "C", "de_DE.UTF-8", false},
		{"", "", "de_DE.UTF-8@euro", true},
		{"", "", "de_DE.ISO-8859-15", false},
		{"", "", "de_DE", false},
	}
	for _, tt := range tests {
		t.Setenv("LC_ALL", tt.all)
		t.Setenv("LC_CTYPE", tt.ctype)
		t.Setenv("LANG", tt.lang)
		if got := UTF8(); got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}

func TestASCII(t *testing.T) {
	for s, want := range map[string]string{
		"0.385 → 0.143 ≠":   "0.385 -> 0.143 !=",
		"✓ – ? plain":       "ok - ? plain",
		"Nyström, η = 0.3":  "Nystrom, eta = 0.3",
		"2.40 ± 0.09, −0.2": "2.40 +- 0.09, -0.2",
		"数据, \xff":          "??, ?",
	} {
		if got := ASCII(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
	t.Setenv("LC_ALL", "C")
	if got := Text("→"); got != "->" {
		t.Errorf("locale C: %q", got)
	}
	t.Setenv("LC_ALL", "C.UTF-8")
	if got := Text("→"); got != "→" {
		t.Errorf("locale C.UTF-8: %q", got)
	}
}
