import { equals, type Tests } from "../testing";
import { readable } from "./placeholders";

const tests: Tests = {
	"places are named, or show their default"() {
		const texts: [text: string, want: string][] = [
			["", ""],
			["Hello", "Hello"],
			["Hello {{ contact.first_name }}", "Hello ‹first name›"],
			["{{param:headline}}", "‹headline›"],
			["{{ param : main_headline }}!", "‹main headline›!"],
			['Hello {{ contact.first_name | default: "there" }}', "Hello there"],
			["Hello {{contact.first_name|default:'there'}},", "Hello there,"],
			['{{ contact.company | default: "" }}', "‹company›"],
			["{{ contact.first_name | upcase }}", "‹first name›"],
			["{{ a }} and {{ b.c }}", "‹a› and ‹c›"],
			["{{ }}", ""],
			["{{}}", ""],
			["{ no place }", "{ no place }"],
			["{{ open", "{{ open"],
			['price: $1 {{ x | default: "$&" }}', "price: $1 $&"],
		];
		for (const [text, expected] of texts) equals(readable(text), expected, text);
	},
};

export default tests;
