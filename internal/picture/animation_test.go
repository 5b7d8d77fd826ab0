package picture_test

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"earshot/internal/picture"
)

// TestAnimation: text that stays is drawn once. Text that comes and goes has its times, in percent
// of the whole. Where animations are off, the last frame is shown.
func TestAnimation(t *testing.T) {
	svg := picture.Animation([]picture.Frame{
		{At: 0, Screen: "stays\n> a", Row: 1, Column: 3},
		{At: 2 * time.Second, Screen: "stays\n> a & b", Row: 1, Column: 3},
		{At: 5 * time.Second, Screen: "stays\n\x1b[1m> done", Column: -1},
	}, 20, 4, 5*time.Second, "a \"talk\"")
	for _, want := range []string{
		`width="196" height="100"`, `aria-label="a &#34;talk&#34;"`, "animation:10s step-end infinite", "prefers-reduced-motion",
		"<g id=\"k0\">\n<text x=\"14.0\" y=\"27.5\" fill=\"#d7dae0\" textLength=\"42.0\">stays</text>\n</g>",
		"@keyframes k1{0.000%{visibility:visible}20.000%{visibility:hidden}}", `<g id="k1" class="o">`, ">&gt; a</text>",
		"@keyframes k2{0.000%{visibility:visible}50.000%{visibility:hidden}}", `<rect x="39.2" y="32.0" width="8.4"`, // the cursor
		"@keyframes k3{20.000%{visibility:visible}50.000%{visibility:hidden}}", "&gt; a &amp; b</text>",
		"@keyframes k4{0%{visibility:hidden}50.000%{visibility:visible}}", "<g id=\"k4\">", `font-weight="bold">&gt; done</text>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(svg, "keyframes k0") || strings.Contains(svg, `"k5"`) {
		t.Error("what stays is animated, or drawn again")
	}
	if t.Failed() {
		t.Log(svg)
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
