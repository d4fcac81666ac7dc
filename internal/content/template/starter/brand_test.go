package starter_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/content/template/starter"
)

func TestStartersAreInTheBrandOfTheAccount(t *testing.T) {
	plain := tenant.DefaultBrand()
	b := tenant.Brand{
		Colors: tenant.BrandColors{Primary: "#a00001", Text: "#a00002", Background: "#a00003", Surface: "#a00004"},
		Fonts:  tenant.BrandFonts{Heading: "Impact, serif", Body: "Verdana, sans-serif"},
		Button: tenant.BrandButton{Color: new("#a00005"), TextColor: "#a00006", Radius: 31}, Width: 640,
	}
	var p fault.Problems
	if b.Normalize(&p); p.Any() {
		t.Fatal(p.Err())
	}
	for _, s := range starter.All() {
		t.Run(s.Slug, func(t *testing.T) {
			if same := s.Branded(plain); same.MJML != s.MJML || string(same.Schema) != string(s.Schema) {
				t.Error("the brand of a new account changes it")
			}
			made := s.Branded(b)
			for _, want := range []string{
				`width="640px"`, `"#a00002"`, `background-color="#a00003"`, `background-color="#a00004"`, `font-family="Verdana, sans-serif"`, `font-family="Impact, serif"`,
				`border-radius="31px" font-size="16px" line-height="20px" font-weight="bold" color="#a00006" background-color="#a00005"`,
			} {
				if !strings.Contains(made.MJML, want) {
					t.Errorf("no %s", want)
				}
			}
			if !strings.Contains(string(made.Schema), `"default": "#a00001"`) {
				t.Error("the main colour is not the default of its parameter")
			}
			if strings.Contains(made.MJML, *plain.ButtonColor()) || strings.Contains(made.MJML, plain.Colors.Text) || strings.Contains(made.MJML, "Georgia") {
				t.Error("a part has the look of before")
			}
			withSample(t, made) // it fits the schema
		})
	}
}

// What stands on the main colour is white, or black where white could not be read.
func TestTextsOnTheMainColourCanBeRead(t *testing.T) {
	for _, colour := range []string{"#12507b", "#000000", "#ffd400", "#ffffff", "#777777", "#767676", "#e0457b"} {
		b := tenant.DefaultBrand()
		b.Colors.Primary = colour
		for _, s := range starter.All() {
			made := s.Branded(b)
			for _, text := range []string{"#ffffff", "#000000"} {
				on := strings.Contains(made.MJML, `css-class="plain" color="`+text+`"`) || strings.Contains(made.MJML, `css-class="plain title" color="`+text+`"`)
				if c := contrast(text, colour); on && c < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", s.Slug, text, colour, c)
				}
			}
		}
	}
}
