import type { QueryClient } from "@tanstack/react-query";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import type { BrandView } from "../../api/schema";
import { answer } from "../../base/queries";

/** brandQuery reads how the mails of the account look. */
export const brandQuery = () =>
	queryOptions({ ...answer("brand"), queryFn: ({ signal }) => api("GET /settings/brand", { signal }) });

/** readBrand returns the brand. */
export const readBrand = (client: QueryClient) => client.fetchQuery(brandQuery());

/** Look is what of a brand the code of a mail contains. */
export type Look = Pick<BrandView, "colors" | "fonts" | "button" | "width" | "logo_url">;

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
