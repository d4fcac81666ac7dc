package render

import "github.com/packetboat/packetboat/internal/account/tenant"

// brand is {{ brand }}.
type brand struct{ *env }

// Field returns one part.
func (b brand) Field(name string) any {
	s := &b.Sender.Tenant.Settings
	switch name {
	case "colors":
		return brandColors{&s.Brand}
	case "fonts":
		return brandFonts{&s.Brand}
	case "button":
		return brandButton{&s.Brand}
	case "logo_url":
		if s.Brand.LogoPath == "" {
			return s.LogoURL
		}
		return b.scheme + "://" + b.Sender.ContentHost() + s.Brand.LogoPath
	case "width":
		return int64(s.Brand.Width)
	case "footer":
		return b.footer()
	}
	return nil
}

// footer renders the text of the footer.
func (b brand) footer() any {
	if b.inFooter || b.Sender.Footer == nil { // the footer refers to itself, or there is none
		return nil
	}
	b.inFooter = true
	defer func() { b.inFooter = false }()
	out, err := b.Sender.Footer.Append(b.ctx, nil, b.env, b.budget)
	if err != nil {
		b.err = err
	}
	return string(out)
}

// Names returns the names of the parts.
func (brand) Names() []string {
	return []string{"colors", "fonts", "logo_url", "button", "width", "footer"}
}

// fieldAndBrand is {{ brand }} in an account with a custom field of that key: the contact's value if it stands alone,
// else the brand. Accounts had such fields before there were brands.
type fieldAndBrand struct{ brand }

// Value returns the contact's value of the custom field.
func (b fieldAndBrand) Value() any {
	v, _ := b.custom("brand")
	return v
}

// brandColors is {{ brand.colors }}.
type brandColors struct{ *tenant.Brand }

// Field returns one colour.
func (b brandColors) Field(name string) any {
	switch name {
	case "primary":
		return &b.Colors.Primary
	case "secondary":
		return b.Secondary()
	case "text":
		return &b.Colors.Text
	case "background":
		return &b.Colors.Background
	case "surface":
		return &b.Colors.Surface
	}
	return nil
}

// Names returns the names of the colours.
func (brandColors) Names() []string {
	return []string{"primary", "secondary", "text", "background", "surface"}
}

// brandFonts is {{ brand.fonts }}.
type brandFonts struct{ *tenant.Brand }

// Field returns one list of families.
func (b brandFonts) Field(name string) any {
	switch name {
	case "heading":
		return &b.Fonts.Heading
	case "body":
		return &b.Fonts.Body
	}
	return nil
}

// Names returns the names of the lists.
func (brandFonts) Names() []string { return []string{"heading", "body"} }

// brandButton is {{ brand.button }}.
type brandButton struct{ *tenant.Brand }

// Field returns one property.
func (b brandButton) Field(name string) any {
	switch name {
	case "color":
		return b.ButtonColor()
	case "text_color":
		return &b.Button.TextColor
	case "radius":
		return int64(b.Button.Radius)
	}
	return nil
}

// Names returns the names of the properties.
func (brandButton) Names() []string { return []string{"color", "text_color", "radius"} }
