package picture_test

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"earshot/internal/picture"
)

func TestSVG(t *testing.T) {
	svg := picture.SVG("\x1b[1;36mAnn\x1b[0m: <hi> & 日本\n\x1b[7m x \x1b[27m\x1b[31;2mno\x1b[m\x1b[2K", 20, "a \"screen\"")
	for _, want := range []string{
		`text{white-space:pre}`, `font-weight="bold">Ann</text>`, `fill="#42b3c2"`, `textLength="25.2"`, `: &lt;hi&gt; &amp; 日本</text>`,
		`aria-label="a &#34;screen&#34;"`, `<rect x="14.0" y="32.0" width="25.2" height="18.0" fill="#d7dae0"/>`, `fill="#8b919d" textLength="16.8">no<`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
