import type { QueryClient } from "@tanstack/react-query";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import type { BrandView } from "../../api/schema";
import { answer } from "../../base/queries";
import { equal } from "../../sync/merge";

/** brandQuery reads how the mails of the account look. */
export const brandQuery = () =>
	queryOptions({ ...answer("brand"), queryFn: ({ signal }) => api("GET /settings/brand", { signal }) });

// How mails of a new account look, as the server has it.
const colors = { primary: "#12507b", secondary: null, text: "#1f2a35", background: "#f5f3ee", surface: "#ffffff" };
const areDefault = ({ heading, body }: Look["fonts"]) =>
	heading === "Georgia, Times New Roman, serif" && body === "Helvetica Neue, Helvetica, Arial, sans-serif";

/** isUnset tells whether nothing of a brand that starters show was chosen. */
export const isUnset = ({ logo_url, footer, colors: chosen, fonts }: Look) =>
	!logo_url && !footer && equal(chosen, colors) && areDefault(fonts);

/** readBrand returns the brand. */
export const readBrand = (client: QueryClient) => client.fetchQuery(brandQuery());

/** Look is what of a brand the code of a mail contains. */
export type Look = Pick<BrandView, "colors" | "fonts" | "button" | "width" | "logo_url" | "footer">;

const liquid = /(\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\})/;

/** printed returns code that prints a text with Liquid as {{ brand.footer | newline_to_br }} does: characters outside its Liquid are no code, and its lines are kept. */
export function printed(text: string): string {
	const pieces = text
		.split(liquid)
		.map((piece, i) =>
			i % 2 ? piece : piece.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
		);
	return `{% capture footer %}${pieces.join("")}{% endcapture %}{{ footer | newline_to_br }}`;
}

/** footerOf returns the section of a mail in MJML that ends it with the footer of a brand, which some code prints; nothing if the brand has none. */
export const footerOf = ({ colors, footer }: Look, code = "{{ brand.footer | newline_to_br }}") =>
	footer.trim() === ""
		? ""
		: `    <mj-section background-color="${colors.background}">
      <mj-column>
        <mj-text align="center" font-size="13px">${code}</mj-text>
      </mj-column>
    </mj-section>
`;

/** headOf returns the head of a mail in MJML that looks like a brand. */
export const headOf = ({ colors, fonts, button }: Look) => `  <mj-head>
    <mj-attributes>
      <mj-all font-family="${fonts.body}" />
      <mj-section background-color="${colors.surface}" padding="16px 24px" />
      <mj-text color="${colors.text}" font-size="16px" line-height="1.5" />
      <mj-button background-color="${button.color ?? colors.primary}" color="${button.text_color}" border-radius="${button.radius}px" font-size="16px" />
      <mj-divider border-color="${colors.secondary ?? colors.primary}" border-width="1px" />
      <mj-class name="heading" font-family="${fonts.heading}" font-size="28px" line-height="1.25" font-weight="bold" />
    </mj-attributes>
    <mj-style>a { color: ${colors.primary} }</mj-style>
  </mj-head>
`;
