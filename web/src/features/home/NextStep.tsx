import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { catalogue } from "../../base/words/catalogue";
import { missing, optional, stepWords } from "./steps";
import { overviewQuery } from "./queries";

const words = catalogue("home.nextStep", {
	open: "Before your email can go out",
	ready: "Everything is set up. What you write can be sent immediately.",
});

/** NextStep names the first step of the checklist that is left before mail can go out. */
export function NextStep() {
	const overview = useQuery(overviewQuery());
	const steps = overview.data?.setup.filter((step) => !optional.includes(step.key)) ?? [];
	const next = steps.find((step) => !step.done);
	if (steps.length > 0 && !next) return <p>{words.ready}</p>;
	return (
		<p data-whole aria-busy={overview.isPending || undefined}>
			{words.open}
			<br />
			{next ? (
				<>
					<Link href={`/?${new URLSearchParams({ step: next.key })}`}>{stepWords(next.key).name}</Link>: {missing(next)}
				</>
			) : (
				"\u00a0"
			)}
		</p>
	);
}
