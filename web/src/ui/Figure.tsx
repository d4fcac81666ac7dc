import type { ReactNode } from "react";
import { Link } from "wouter";
import { catalogue } from "../base/words/catalogue";
import { exactNumber, percent } from "../base/words/formats";
import css from "./Figure.module.css";
import { Popup } from "./Popup";

const words = catalogue("shell.figure", {
	about: "What “{name}” means",
	asOf: "As of {at, time}.",
	people: "Show people",
	report: "Open report",
});

export type About = {
	definition: string;
	/** The sum with real values, such as "2,060 verified openers ÷ 5,000 recipients". */
	sum?: string;
	asOf?: string | null;
	/** Where the people behind it are. */
	people?: string | null;
	/** Where a report of it is. */
	report?: string;
};

/** Explained is a word that opens its definition. */
export function Explained({ name, description }: { name: string; description: About }) {
	return (
		<Popup label={words.about({ name })} button={name} className={css.name}>
			{() => (
				<div className={css.about}>
					<p>
						<b>{name}</b>
					</p>
					<p>{description.definition}</p>
					{description.sum && <p className={css.sum}>{description.sum}</p>}
					{description.asOf && <p>{words.asOf({ at: description.asOf })}</p>}
					{description.report && (
						<p>
							<Link href={description.report}>{words.report}</Link>
						</p>
					)}
					{description.people && (
						<p>
							<Link href={description.people}>{words.people}</Link>
						</p>
					)}
				</div>
			)}
		</Popup>
	);
}

/** Heading is the name of a column of figures. With a definition, it opens that. */
export function Heading({ name, description }: { name: string; description?: string }) {
	return description ? <Explained name={name} description={{ definition: description }} /> : name;
}

/** Figure is a number with its name. With `about`, the name opens its definition. */
export function Figure({
	name,
	value,
	detail,
	tone,
	description,
}: {
	name: ReactNode;
	value: ReactNode;
	detail?: ReactNode;
	tone?: "danger" | "warning";
	description?: About;
}) {
	return (
		<div className={css.figure} data-tone={tone}>
			<dt>{description && typeof name === "string" ? <Explained name={name} description={description} /> : name}</dt>
			<dd>
				{value}
				{detail && <small>{detail}</small>}
			</dd>
		</div>
	);
}

type RateProps = {
	name: ReactNode;
	part: number;
	total: number;
	totalName: string;
	decimals?: number;
	tone?: "danger" | "warning";
	description?: About;
	more?: ReactNode;
};

/** Rate is a share of a whole, with both beside it. Of fewer than a hundred, the count comes first. */
export function Rate({ name, part, total, totalName, decimals, tone, description, more }: RateProps) {
	const share = percent(total > 0 ? part / total : null, decimals);
	const counts = `${exactNumber(part)} ${totalName} ${exactNumber(total)}`;
	const isSmallSample = total > 0 && total < 100;
	return (
		<Figure
			name={name}
			value={isSmallSample ? counts : share}
			detail={
				<>
					{isSmallSample ? share : counts}
					{more}
				</>
			}
			tone={tone}
			description={description}
		/>
	);
}

/** Figures stand beside each other. */
export function Figures({ children }: { children: ReactNode }) {
	return (
		<div className={css.box}>
			<dl className={css.figures}>{children}</dl>
		</div>
	);
}
