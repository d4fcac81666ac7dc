import { Figure, Figures } from "../../ui/Figure";
import { Card } from "../../ui/Page";
import { catalogue, full } from "../../base/words/catalogue";
import { term } from "../../base/words/glossary";
import { nextVerdict, useReport } from "./Overview";
import css from "./Report.module.css";

const words = catalogue({
	title: "First opens and clicks",
	opened: "Opened",
	clicked: "Clicked",
	pending: (n: number) => `${full(n)} not yet judged`,
	next: (at: string) => `The next verdicts are due about ${at}.`,
});

/** FirstResults shows the opens and clicks of a send that is under way. */
export function FirstResults({ id }: { id: string }) {
	const report = useReport(id, true);
	const r = report.data;
	if (!r || r.apparent_opened + r.total_clicked + r.pending_clicked === 0) return null;
	const people = (event: string) => `/broadcasts/${id}?${new URLSearchParams({ tab: "people", who: event })}`;
	const next = nextVerdict(r);
	return (
		<Card title={words.title}>
			<Figures>
				<Figure
					name={words.opened}
					value={full(r.verified_opened)}
					detail={words.pending(r.pending_opened)}
					about={{ definition: term("verified").definition, people: people("opened") }}
				/>
				<Figure
					name={words.clicked}
					value={full(r.total_clicked)}
					detail={words.pending(r.pending_clicked)}
					about={{ definition: term("clicked").definition, people: people("clicked") }}
				/>
			</Figures>
			{r.pending_opened + r.pending_clicked > 0 && next && <p className={css.muted}>{words.next(next)}</p>}
		</Card>
	);
}
