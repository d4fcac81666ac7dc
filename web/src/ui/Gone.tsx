import { catalogue } from "../words/catalogue";
import { LinkButton } from "./Button";
import { Page } from "./Page";
import { Empty } from "./States";

const words = catalogue({
	title: "It does not exist any more",
	text: "The record was deleted, or the address is mistyped.",
	back: (name: string) => `Back to ${name}`,
});

/** Gone is the page of a record that does not exist. */
export function Gone({ list, to }: { list: string; to: string }) {
	return (
		<Page title={words.title} trail={[{ name: list, to }]}>
			<Empty title={words.title} action={<LinkButton to={to}>{words.back(list)}</LinkButton>}>
				{words.text}
			</Empty>
		</Page>
	);
}
