import { AlertTriangle } from "lucide-react";
import { Link } from "wouter";
import type { Answer } from "../../api/client";
import { to } from "../../base/paths";
import { catalogue } from "../../base/words/catalogue";
import { Card } from "../../ui/Page";
import { Time } from "../../ui/Time";
import css from "./Home.module.css";
import { noticeText } from "./noticeTexts";

const words = catalogue("home.attention", { title: "Needs attention" });

type Notice = Answer<"GET /overview">["attention"][number];

const pages: { [type: string]: (id: string) => string } = {
	domain: to.domain,
	sending_domain: to.domain,
	mta: to.mta,
	mta_config: to.mta,
	broadcast: (id) => to.broadcast(id),
	job: () => to.jobs(),
	form: (id) => to.form(id),
	sequence: (id) => to.sequence(id),
	webhook: to.webhook,
	seed_list: to.seedList,
};

/** Attention lists what needs attention, each with the page where it is dealt with. */
export default function Attention({ notices }: { notices: Notice[] }) {
	return (
		<Card title={words.title} tone="warning">
			<ul className={css.list}>
				{notices.map((a) => (
					<li key={a.kind + a.target_id}>
						<AlertTriangle aria-hidden size={16} />
						<Link href={pages[a.target_type]?.(a.target_id) ?? to.sending()}>{noticeText(a)}</Link>
						<span className={css.muted}>
							<Time at={a.since} />
						</span>
					</li>
				))}
			</ul>
		</Card>
	);
}
