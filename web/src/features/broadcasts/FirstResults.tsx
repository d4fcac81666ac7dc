import { Figure, Figures } from "../../ui/Figure";
import { Card } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { nextVerdict, useReport } from "./Overview";
import css from "./Report.module.css";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.firstResults", {
	title: "First opens and clicks",
	opened: "Opened",
	clicked: "Clicked",
	pending: "{count, number} not yet classified",
	next: "The next results are due about {at}.",
});

/** FirstResults shows the opens and clicks of a send that is under way. */
export function FirstResults({ id }: { id: string }) {
	const report = useReport(id, true);
	const r = report.data;
	if (!r || r.apparent_opened + r.total_clicked + r.pending_clicked === 0) return null;
	const people = (event: string) => to.broadcast(id, { tab: "people", who: event });
	const next = nextVerdict(r);
	return (
		<Card title={words.title}>
			<Figures>
				<Figure
					name={words.opened}
					value={exactNumber(r.verified_opened)}
					detail={words.pending({ count: r.pending_opened })}
					description={{ definition: term("verified").definition, people: people("opened") }}
				/>
				<Figure
					name={words.clicked}
					value={exactNumber(r.total_clicked)}
					detail={words.pending({ count: r.pending_clicked })}
					description={{ definition: term("clicked").definition, people: people("clicked") }}
				/>
			</Figures>
			{r.pending_opened + r.pending_clicked > 0 && next && <p className={css.muted}>{words.next({ at: next })}</p>}
		</Card>
	);
}
