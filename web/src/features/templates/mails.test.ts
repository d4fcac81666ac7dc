import type { AnyTemplateRow, TemplateStarter } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import { chosenOf, type Mails, optionsOf, starterOf } from "./mails";

const starter = (slug: string, name: string) => ({ slug, name }) as TemplateStarter;
const template = (slug: string, name: string) => ({ slug, name }) as AnyTemplateRow;
const ids = (mails: Mails) => optionsOf(mails).map(({ id }) => id);

const tests: Tests = {
	"the choice of a starter becomes that of the template that was made of it"() {
		const starters = [starter("offer", "Offer"), starter("welcome", "Welcome")];
		const before = { templates: [], starters };
		const after = { templates: [template("news", "News"), template("welcome", "Welcome")], starters };
		equals(ids(before), ["starter offer", "starter welcome"]);
		equals(ids(after), ["template news", "template welcome", "starter offer"]);
		equals(chosenOf(before, null)?.id, "starter offer");
		equals(chosenOf(before, "starter welcome")?.id, "starter welcome");
		const made = chosenOf(after, "starter welcome");
		equals(made?.id, "template welcome");
		equals(made && starterOf(after, made)?.slug, "welcome");
		equals(chosenOf(after, "template gone")?.id, "template news");
		equals(chosenOf({ templates: [], starters: [] }, "starter welcome"), undefined);
	},
	"a template is of no starter because of its slug alone"() {
		const mails = { templates: [template("offer", "Mine")], starters: [starter("offer", "Offer")] };
		equals(ids(mails), ["template offer", "starter offer"]);
		equals(chosenOf(mails, "starter offer")?.id, "starter offer");
		const own = chosenOf(mails, "template offer");
		equals(own && starterOf(mails, own), undefined);
	},
};

export default tests;
