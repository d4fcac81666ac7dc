import { equals, holds, type Tests } from "../../base/testing";
import { missing, optional, type Step, stepWords } from "./steps";

const step = (key: string, done: boolean, detail?: string) => ({ key, done, detail }) as Step;

const tests: Tests = {
	"a step says what the account lacks, as a sentence"() {
		equals(
			missing(step("account", false, "the account has no postal address")),
			"The workspace has no postal address.",
		);
		equals(missing(step("sending_domain", false, "a.example is not verified")), "a.example is not verified.");
		equals(missing(step("account", false, "unheard of")), stepWords("account").description, "another text");
		equals(missing(step("account", false)), stepWords("account").description);
		equals(missing(step("account", true, "all is well")), stepWords("account").description, "a step that is done");
	},
	"steps that are optional have words, and an unknown one its name"() {
		for (const key of optional)
			holds(stepWords(key).description !== "" && stepWords(key).name !== key, `${key} has no words`);
		equals(stepWords("unheard_of"), { name: "unheard_of", description: "" });
	},
};

export default tests;
