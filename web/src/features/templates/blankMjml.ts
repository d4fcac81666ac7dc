import type { QueryClient } from "@tanstack/react-query";
import { catalogue } from "../../base/words/catalogue";
import { footerOf, headOf, type Look, readBrand } from "../settings/brandCode";

const words = catalogue("templates.blankMjml", { greeting: "Hello {name}", nobody: "there" });

/** greeting returns the first words of a mail, in the language of the application. */
const greeting = () => words.greeting({ name: `{{ contact.first_name | default: "${words.nobody}" }}` });

/** blankMjml returns the code that new mails begin with if the brand is not known. */
const blankMjml = () => `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>${greeting()}</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;

/** brandedMjml returns the code that new mails begin with. */
export const brandedMjml = (look: Look) => `<mjml>
${headOf(look)}  <mj-body background-color="${look.colors.background}" width="${look.width}px">
    <mj-section padding="32px 24px 8px">
      <mj-column>
${
	look.logo_url
		? `        <mj-image src="{{ brand.logo_url }}" alt="{{ account.name }}" width="160px" align="left" />`
		: `        <mj-text font-weight="bold">{{ account.name }}</mj-text>`
}
      </mj-column>
    </mj-section>
    <mj-section>
      <mj-column>
        <mj-text>${greeting()}</mj-text>
      </mj-column>
    </mj-section>
${footerOf(look)}  </mj-body>
</mjml>
`;

/** newMjml returns the code that a new mail begins with: in the brand of the account, if that can be read. */
export const newMjml = (client: QueryClient): Promise<string> => readBrand(client).then(brandedMjml, blankMjml);
